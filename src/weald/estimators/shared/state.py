"""One model an answer: a fit replaces all state in one assignment, and whatever reads it works on one state.

While one thread predicts, another may refit the same estimator: each answer is then wholly of the old model
or wholly of the new one. `fit` puts all it learned into a new `__dict__` and assigns that; whoever holds the
old one still has the old model. Every public method of weald's classes runs on an object that shares the
estimator's `__dict__` of the moment of the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from weald.data.schema import Schema
from weald.estimators.shared.blocks import ROW_BY_ROW, in_blocks, refuse_files, scan_of, write_answers
from weald.io.saved_state import LOADED
from weald.rows.dask import is_dask

_Model = TypeVar("_Model")

#: how the names of methods begin that bring a new state, and so must have the estimator itself
_WRITING = ("fit", "partial_fit", "calibrate", "set_", "load")
#: those that learn from the rows they are given
_LEARNING = frozenset(("fit", "fit_predict", "fit_resample", "fit_transform", "partial_fit", "calibrate"))
_MARK = "_on_one_model"


def set_fitted(
    model: object, learned: Mapping[str, Any], *, schema: Schema | None = None, forgotten: Iterable[str] = ()
) -> None:
    """Assign all that a fit, or a model file, brings at once, and forget what it does not bring.

    Parameters
    ----------
    model : estimator
        Its parameters, and what the user put beside them, stay.
    learned : mapping of name to value
        The attributes of the new model.
    schema : Schema, optional
        The columns of training, which `n_features_in_` and `feature_names_in_` tell.
    forgotten : iterable of str
        Attributes of the old model that the new one may lack.
    """
    learned = (column_attributes(schema) if schema is not None else {}) | dict(learned)
    gone = {LOADED, "feature_names_in_", "category_shrinkage_", *forgotten}
    state = {name: value for name, value in vars(model).copy().items() if name not in gone}
    state.update(learned)
    model.__dict__ = state


def column_attributes(schema: Schema) -> dict[str, Any]:
    """What scikit-learn wants to know of the columns of training; names only where all are texts."""
    told: dict[str, Any] = {"n_features_in_": len(schema.columns)}
    if schema.named and all(isinstance(name, str) for name in schema.names):
        told["feature_names_in_"] = np.array(schema.names, dtype=object)
    return told


def class_attributes(classes: Sequence[NDArray[Any]] | None) -> dict[str, Any]:
    """The labels and how many they are: by output, of a single output alone; nothing for numbers."""
    if classes is None:
        return {}
    n_classes = [len(labels) for labels in classes]
    if len(classes) == 1:
        return {"classes_": classes[0], "n_classes_": n_classes[0]}
    return {"classes_": list(classes), "n_classes_": n_classes}


def snapshot(model: _Model) -> _Model:
    """An object of the same class on the same state, which a refit of `model` does not change."""
    same = object.__new__(type(model))
    object.__setattr__(same, "__dict__", model.__dict__)
    return same


def _predicts(model: object) -> bool:
    return hasattr(model, "predict")


def answer_on_dask(model: object, name: str, X: object, *args: object, **kwargs: object) -> Any:
    """What a fitted model answers about rows on Dask, lazily."""
    from weald.rows.dask.lazily import answer

    return answer(model, name, X, *args, **kwargs)


class OneModel:
    """An estimator whose public methods and properties each work on one state.

    The classes of weald that a subclass is made of are looked through once; those of users stay as they are,
    since a method of theirs may fit. `OneModel` stands before scikit-learn's classes, which wrap `transform`.
    """

    def __init_subclass__(cls, **kwargs: object) -> None:
        """Let the methods of all parts of the class work on one state."""
        super().__init_subclass__(**kwargs)
        for part in cls.__mro__:
            if part.__module__.partition(".")[0] == "weald":
                _steady(part)

    @available_if(_predicts)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_to(
        self,
        X: object,
        path: str | Path,
        *,
        probabilities: bool = False,
        keep: Sequence[str] = (),
    ) -> int:
        """Predict rows in files into a file, some at a time.

        Parameters
        ----------
        X : Scan, str or Path
            What `weald.scan` gives, or the path of files.
        path : str or Path
            Ends in .parquet, .csv, .arrow or .feather. The file is there with all rows or not at all.
        probabilities : bool, default=False
            Whether to write the probability of each class too.
        keep : sequence of str, default=()
            Columns of the rows to write before the predictions.

        Returns
        -------
        int
            How many rows there were.
        """
        return write_answers(self, X, path, probabilities=probabilities, keep=keep)


def _steady(part: type) -> None:
    """Wrap what reads fitted state in one class, and what learns; what is wrapped already stays."""
    for name, value in list(vars(part).items()):
        if name in _LEARNING and isinstance(value, FunctionType):
            setattr(part, name, _on_a_table(value))
        if name.startswith(("_", *_WRITING)):
            continue
        if isinstance(value, FunctionType):
            setattr(part, name, _on_one_model(value))
        elif isinstance(value, property) and isinstance(value.fget, FunctionType):
            setattr(part, name, value.getter(_on_one_model(value.fget)))
        elif isinstance(getattr(value, "fn", None), FunctionType):  # scikit-learn's `available_if`
            value.fn = _on_one_model(value.fn)


def _on_one_model(function: Callable[..., Any]) -> Callable[..., Any]:
    """The method, called with a snapshot of its estimator."""
    if hasattr(function, _MARK):
        return function
    assert isinstance(function, FunctionType)
    shared, scanned, blockwise, on_dask, lazily = snapshot, scan_of, in_blocks, is_dask, answer_on_dask

    def method(self: object, /, *args: Any, **kwargs: Any) -> Any:
        return function(shared(self), *args, **kwargs)

    def row_by_row(self: object, /, *args: Any, **kwargs: Any) -> Any:
        X = args[0] if args else kwargs.get("X")
        scan = scanned(X)
        if scan is None and not on_dask(X):
            return function(shared(self), *args, **kwargs)
        kwargs.pop("X", None)
        if scan is None:
            return lazily(shared(self), function.__name__, X, *args[1:], **kwargs)
        return blockwise(shared(self), function, scan, *args[1:], **kwargs)

    return _placed(row_by_row if function.__name__ in ROW_BY_ROW else method, function)


def _on_a_table(function: Callable[..., Any]) -> Callable[..., Any]:
    """The method, which refuses rows in files before it looks at anything else."""
    if hasattr(function, _MARK):
        return function
    assert isinstance(function, FunctionType)
    refuse = refuse_files

    def learning(self: object, /, *args: Any, **kwargs: Any) -> Any:
        refuse(self, args[0] if args else kwargs.get("X"))
        return function(self, *args, **kwargs)

    return _placed(learning, function)


def _placed(method: Callable[..., Any], function: FunctionType) -> Callable[..., Any]:
    """With the names of the method's own module, by which doctest tells where its examples belong."""
    assert isinstance(method, FunctionType)
    placed = FunctionType(method.__code__, function.__globals__, function.__name__, None, method.__closure__)
    setattr(placed, _MARK, True)
    return wraps(function)(placed)
