"""Metrics that users bring: functions f(y_true, y_pred) in the manner of scikit-learn."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from weald.arrays import Floats
from weald.boosting.records import BoostTarget
from weald.errors import DataError, DataTypeError


def function_name(function: Callable[..., Any]) -> str:
    """What results call the metric of a function: its own name, of an object with `__call__` its class's."""
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def custom_measure(function: Callable[..., Any], name: str) -> Callable[[Floats, BoostTarget], float]:
    """The metric of a function; it sees read-only arrays, and weights if it has a parameter `sample_weight`.

    A function that takes no weights sees the rows whose weight is above 0. Of a ranking it sees one query at
    a time, and the mean, weighted by the queries' weights, counts; a query of one row counts 1, as in
    xgboost.
    """
    takes_weight = _takes_weight(function)

    def measure(predictions: Floats, target: BoostTarget) -> float:
        values = target.values.reshape(-1) if target.values.size == len(target.values) else target.values
        if target.group_start is not None:
            return _over_queries(predictions, values, target)
        if target.weight is None:
            return ask(values, predictions)
        if takes_weight:
            return ask(values, predictions, sample_weight=_read_only(target.weight))
        present = target.weight > 0.0
        return ask(values[present], predictions[present])

    def _over_queries(predictions: Floats, values: Floats, target: BoostTarget) -> float:
        assert target.group_start is not None
        start = target.group_start
        weight = query_weights(target)
        scores = [1.0 if b - a <= 1 else ask(values[a:b], predictions[a:b]) for a, b in pairwise(start)]
        return float(np.sum(np.array(scores) * weight) / np.sum(weight))

    def ask(values: Floats, predictions: Floats, **weight: Floats) -> float:
        answer = function(_read_only(values), _read_only(predictions), **weight)
        return _number(answer, name)

    return measure


def query_weights(target: BoostTarget) -> Floats:
    """One weight for each query: that of its first row, for all are equal; 0 for a query without rows."""
    assert target.group_start is not None
    start = target.group_start
    present = np.diff(start) > 0
    weight = present.astype(np.float64)
    if target.weight is not None:
        weight[present] = target.weight[start[:-1][present]]
    return weight


def _takes_weight(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some compiled functions tell nothing of themselves
        return False
    return "sample_weight" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _read_only(values: Floats) -> Floats:
    """A view a user's function cannot write through: the loop owns the array."""
    view = values.view()
    view.flags.writeable = False
    return view


def _number(answer: object, name: str) -> float:
    if isinstance(answer, np.ndarray) and answer.ndim == 0:
        answer = answer.item()
    if not isinstance(answer, Real):
        raise DataTypeError(
            f"The metric {name!r} gave {_shown(answer)}. A function f(y_true, y_pred) must give one number."
        )
    if np.isnan(float(answer)):
        raise DataError(
            f"The metric {name!r} gave NaN, which compares with nothing. Its inputs are finite predictions "
            "after the link: see what it does where a class or a weight is absent."
        )
    return float(answer)


def _shown(answer: object) -> str:
    if answer is None:
        return "nothing: None"
    text = repr(answer)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(answer).__name__})"
