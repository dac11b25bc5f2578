"""Where gradient boosting starts: a constant, zero, or the predictions of an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from weald.arrays import Estimator, Floats, TableLike
from weald.boosting.links import apply_link, to_raw
from weald.boosting.stage.losses import LEAST_SHARE, StageLoss
from weald.data.frames.user_rows import outline
from weald.data.target import restore_labels
from weald.errors import DataError, ParameterError, naming_member
from weald.estimators.bagging.any_members import shares_of
from weald.estimators.gradient_boosting.rows import StageData
from weald.estimators.shared.members import check_predicted, fit_member, number_of_row


class ConstantStart:
    """What `init_` is without an estimator: it predicts the same for every row.

    Attributes
    ----------
    constant_ : ndarray of shape (n_outputs,)
        Raw scores.
    classes_ : ndarray
        The labels, of a classifier.
    """

    def __init__(self, raw: Floats, link: str, classes: NDArray[Any] | None) -> None:
        self.constant_ = raw
        self._link = link
        if classes is not None:
            self.classes_ = classes

    def predict(self, X: TableLike) -> NDArray[Any]:
        """The constant, or the label it favours, for every row."""
        n_rows = outline(X).n_rows
        classes = getattr(self, "classes_", None)
        if classes is None:
            return np.full(n_rows, self.constant_[0])
        return np.repeat(classes[np.argmax(self._shares())], n_rows)

    def predict_proba(self, X: TableLike) -> Floats:
        """The shares of the labels, for every row."""
        return np.tile(self._shares(), (outline(X).n_rows, 1))

    def _shares(self) -> Floats:
        shares: Floats = class_shares(self.constant_[np.newaxis, :], self._link)[0]
        return shares


def class_shares(raw: Floats, link: str, *, n_threads: int = 1) -> Floats:
    """Shares of the classes, (n_rows, n_classes), from raw scores, (n_rows, n_outputs)."""
    predicted = apply_link(link, raw, n_threads=n_threads)
    return predicted if predicted.shape[1] > 1 else np.concatenate([1.0 - predicted, predicted], axis=1)


class EstimatorStart:
    """Raw scores from what an estimator predicts."""

    def __init__(self, estimator: Estimator, link: str, classes: NDArray[Any] | None) -> None:
        self.estimator, self._link, self._classes = estimator, link, classes

    def raw(self, X: TableLike) -> Floats:
        """(n_rows, n_outputs)."""
        n_rows = outline(X).n_rows
        with naming_member(f"The {type(self.estimator).__name__} of `init`"):
            if self._classes is None:
                return number_of_row(self.estimator, X, n_rows).reshape(-1, 1)
            shares = shares_of(self.estimator, X, self._classes)
            check_predicted(shares, n_rows)
            shares = shares.clip(LEAST_SHARE, 1 - LEAST_SHARE)
            return to_raw(self._link, shares if self._link == "softmax" else shares[:, 1:])


def check_start_weighs(init: object, owner: str) -> None:
    """Refuse weights where `init` is an estimator that takes none."""
    if init is None or isinstance(init, str) or has_fit_parameter(init, "sample_weight"):
        return
    raise DataError(
        f"The initial estimator {type(init).__name__} does not support sample weights, and sample_weight was "
        f"given: use another `init` of {owner}, or leave sample_weight out."
    )


def fit_start(
    init: Estimator | str | None, loss: StageLoss, data: StageData, owner: str
) -> tuple[Floats, EstimatorStart | None]:
    """The constant raw scores to start from, and the fitted `init` if it is an estimator."""
    if init is None:
        return loss.start(), None
    zeros = np.zeros(loss.n_outputs)
    if isinstance(init, str):
        return zeros, None
    name = type(init).__name__
    if data.classes is not None and not hasattr(init, "predict_proba"):
        raise ParameterError(
            f"`init` of {owner} is a {name}, which has no predict_proba: raw scores come from probabilities. "
            "Use another classifier, 'zero', or None."
        )
    extra = {}
    if data.weight is not None:
        extra["sample_weight"] = data.weight
    y = data.target if data.classes is None else restore_labels(data.classes, data.target.astype(np.intp))
    with naming_member(f"The {name} of `init`"):
        fitted = fit_member(clone(init), data.X, y, **extra)
    return zeros, EstimatorStart(fitted, loss.link, data.classes)
