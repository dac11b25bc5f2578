"""Predictions that are made once, and scikit-learn's scorers on any rows of them.

A scorer asks an estimator for predictions of rows. Here rows are their numbers, and the estimator stands for
the model: it answers from what the model said of the whole table. So every metric that scikit-learn can score
with works on resamples without another prediction.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer
from sklearn.utils import get_tags
from sklearn.utils.multiclass import type_of_target

from weald.arrays import Estimator, TableLike, TargetLike
from weald.data.frames.user_rows import count_rows
from weald.errors import DataError, ParameterError, nearest, told

RESPONSES = ("predict", "predict_proba", "decision_function", "predict_log_proba")
#: what functions of scikit-learn are given that do not say it by the name of their second parameter
_BY_FUNCTION = {"log_loss": "predict_proba", "d2_log_loss_score": "predict_proba"}
_SCORES = ("decision_function", "predict_proba")
_BY_PARAMETER = {"y_score": _SCORES, "y_proba": "predict_proba", "y_prob": "predict_proba"}


class Told(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Stands for a model on rows that are given by number."""

    def __init__(self, model: object, X: object) -> None:
        self.model, self.X = model, X
        self._answers: dict[str, NDArray[Any]] = {}

    @property
    def asked(self) -> frozenset[str]:
        """What the model was asked for so far."""
        return frozenset(self._answers)

    def answers(self, response: str) -> NDArray[Any]:
        """What the model says of all rows, asked once."""
        if response not in self._answers:
            self._answers[response] = np.asarray(getattr(self.model, response)(self.X))
        return self._answers[response]

    def __getattr__(self, name: str) -> Any:
        if name in RESPONSES and hasattr(self.model, name):
            answer = _Answer(self, name)
            answer.__name__ = name
            return answer
        if name == "classes_" and hasattr(self.model, "classes_"):
            return self.model.classes_
        raise AttributeError(name)

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.model)


class _Answer:
    """A method of `Told`: with a name, by which scikit-learn's scorers know it."""

    def __init__(self, told_model: Told, response: str) -> None:
        self.__name__ = response
        self._told = told_model

    def __call__(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        return self._told.answers(self.__name__)[rows]


class Given(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A model of which only the predictions are known: labels, numbers, scores or probabilities."""

    def __init__(self, predictions: NDArray[Any], y: NDArray[Any]) -> None:
        self.predictions = predictions
        self._labels = np.unique(y) if is_discrete(y) else None
        shape = predictions.shape
        if self._labels is not None and len(shape) == 2 and shape[1] != len(self._labels):
            raise DataError(
                f"The predictions have {shape[1]} columns and y has {len(self._labels)} labels. Give a "
                "probability for each label in ascending order, or one prediction per row."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor" if self._labels is None else "classifier"
        return tags

    def __getattr__(self, name: str) -> Any:
        labels = self.__dict__.get("_labels")
        if name == "classes_" and labels is not None:
            return labels
        values = self.__dict__.get("predictions")
        if labels is None or values is None:
            raise AttributeError(name)
        if name == "predict_proba" and values.ndim == 2:
            return lambda X: values
        if values.ndim == 1 and values.dtype.kind in "fiub" and len(labels) == 2:
            if name == "decision_function":
                return lambda X: values
            if name == "predict_proba" and values.min() >= 0 and values.max() <= 1:
                return lambda X: np.column_stack([1.0 - values, values])
        raise AttributeError(name)

    def predict(self, X: TableLike | None) -> NDArray[Any]:
        """The predictions, or the likeliest labels."""
        if self.predictions.ndim == 2 and self._labels is not None:
            likeliest: NDArray[Any] = self._labels[np.argmax(self.predictions, axis=1)]
            return likeliest
        return self.predictions


class Labelled(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier of which only the labels it predicts are known."""

    def __init__(self, labels: NDArray[Any], classes: NDArray[Any]) -> None:
        self.labels, self.classes_ = labels, classes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        return tags

    def predict(self, X: TableLike | None) -> NDArray[Any]:
        """The labels."""
        return self.labels


def is_discrete(y: NDArray[Any]) -> bool:
    """Whether y is labels, not numbers."""
    return y.ndim == 1 and type_of_target(y) in ("binary", "multiclass")


def read_told(model: object, X: TableLike | None, y: TargetLike, owner: str) -> tuple[Told, NDArray[Any]]:
    """The model on its rows, or the predictions that stand for it, and y as an array."""
    target = np.asarray(y)
    if target.ndim == 0 or len(target) < 2:
        raise DataError(f"y of {owner} needs at least 2 rows. Give one label or number per row.")
    if target.dtype.kind == "f" and np.isnan(target).any():
        raise DataError(f"y of {owner} has NaN in row {int(np.argmax(np.isnan(target)))}. Drop such rows.")
    if hasattr(model, "predict"):
        if X is None:
            raise DataError(f"{owner} needs X to predict with {model_name(model)}; got None. Give a table.")
        n_rows = count_rows(X)
        if n_rows != len(target):
            raise DataError(f"X of {owner} has {n_rows} rows and y {len(target)}. Give as many of both.")
        return Told(model, X), target
    predictions = np.asarray(model)
    if isinstance(model, str) or predictions.ndim == 0 or len(predictions) != len(target):
        raise DataError(
            f"{owner} needs a fitted estimator, or one prediction for each of the {len(target)} rows of y; "
            f"got {told(model)}."
        )
    return Told(Given(predictions, target), np.arange(len(target))), target


def scorer_of(
    metric: str | Callable[..., Any] | None, model: Told, response: str | None, owner: str
) -> tuple[Callable[..., float], str]:
    """Any metric as a scorer of scikit-learn's, and its name."""
    if metric is None:
        metric = "accuracy" if is_classifier(model) else "r2"
    if isinstance(metric, str):
        if metric not in get_scorer_names():
            close = nearest(metric, get_scorer_names())
            hint = f"Did you mean {close!r}?" if close else "sklearn.metrics.get_scorer_names() lists them."
            raise ParameterError(f"`metric` of {owner} is no scorer of scikit-learn: {told(metric)}. {hint}")
        return get_scorer(metric), metric
    if not callable(metric):
        raise ParameterError(
            f"`metric` of {owner} must be a scorer's name, a scorer or a function; got {told(metric)}. "
            "Use 'accuracy'."
        )
    names = _parameters(metric)
    if names and names[0] == "estimator":
        return metric, _name(metric)
    chosen: object = response
    if chosen is None:
        second = names[1] if len(names) > 1 else ""
        chosen = _BY_FUNCTION.get(_name(metric), _BY_PARAMETER.get(second, "predict"))
    return make_scorer(metric, response_method=chosen), _name(metric)


def _parameters(metric: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(metric).parameters)
    except (TypeError, ValueError):
        return []


def _name(metric: Callable[..., Any]) -> str:
    return str(getattr(metric, "__name__", None) or metric)


def model_name(model: Estimator | object) -> str:
    """What a model is called in a message."""
    return "predictions" if not hasattr(model, "predict") else type(model).__name__
