"""What is known of each objective: its loss in the core, its link, its targets, its parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.errors import DataError, ParameterError, told
from weald.numbers import as_float

#: xgboost's `max_delta_step` for Poisson where the user gives none
POISSON_MAX_DELTA_STEP = 0.7


@dataclass(frozen=True, slots=True)
class TargetRule:
    """What every value of a target must be, and what to do where one is not."""

    good: Callable[[Floats], NDArray[np.bool_]]
    must: str
    way_out: str


@dataclass(frozen=True, slots=True)
class Loss:
    """One objective. `base` names the rule of `weald.boosting.newton.base_scores` that its start follows."""

    native: str  # its name in core/boosting/losses/gradients.h
    link: str
    base: Literal["mean", "newton", "quantile", "priors"]
    rule: TargetRule | None = None
    parameters: Callable[[Mapping[str, Any]], tuple[float, ...]] = lambda given: ()


def check_target(name: str, values: Floats, rule: TargetRule | None) -> None:
    """Raise for the first value that is NaN, infinite, or breaks the rule."""
    finite = TargetRule(np.isfinite, "be finite numbers", "Drop the row, or fill the value in.")
    for each in (finite, rule):
        if each is None:
            continue
        good = each.good(values)
        if good.all():
            continue
        at = np.unravel_index(int(np.argmin(good)), good.shape)
        where = f"row {at[0]}" if len(at) == 1 else f"row {at[0]} of output {at[1]}"
        raise DataError(
            f"The target y of {name!r} must {each.must}; {where} holds {float(values[at])}. {each.way_out}"
        )


_SHARE = TargetRule(
    lambda y: (y >= 0) & (y <= 1),
    "be between 0 and 1",
    'Scale it, or use "reg:squarederror" for other numbers.',
)
_TWO = TargetRule(
    lambda y: (y == 0) | (y == 1),
    "be 0 or 1",
    "Number the two classes 0 and 1, or use a classifier, which does.",
)
_NOT_NEGATIVE = TargetRule(
    lambda y: y >= 0, "not be negative", 'Use "reg:squarederror" for targets of either sign.'
)
_POSITIVE = TargetRule(
    lambda y: y > 0, "be positive", 'Use "reg:tweedie", which takes zeros, or "reg:squarederror".'
)
_ABOVE_MINUS_1 = TargetRule(
    lambda y: y > -1, "be above -1, so that log(1 + y) exists", 'Use "reg:squarederror" for other targets.'
)


def class_rule(n_classes: int) -> TargetRule:
    """Whole numbers from 0 to n_classes − 1."""
    return TargetRule(
        lambda y: (y >= 0) & (y < n_classes) & (y == np.floor(y)),
        f"be class numbers from 0 to {n_classes - 1}",
        "Number the classes from 0, or use a classifier, which does.",
    )


def number(
    given: Mapping[str, Any], name: str, default: float, must: str, good: Callable[[float], bool]
) -> float:
    """A parameter of the loss; None, and a name that is not there, mean the default."""
    value = given.get(name)
    if value is None:
        return default
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        raise ParameterError(f"`{name}` must be a number {must}; got {value!r}. The default is {default}.")
    if not (math.isfinite(as_float(value)) and good(float(value))):
        raise ParameterError(f"`{name}` must be {must}; got {told(value)}. The default is {default}.")
    return float(value)


def _huber(given: Mapping[str, Any]) -> tuple[float, ...]:
    return (number(given, "huber_slope", 1.0, "above 0", lambda v: v > 0),)


def _positive_weight(given: Mapping[str, Any]) -> tuple[float, ...]:
    return (number(given, "scale_pos_weight", 1.0, "above 0", lambda v: v > 0),)


def _poisson(given: Mapping[str, Any]) -> tuple[float, ...]:
    step = number(
        given, "max_delta_step", POISSON_MAX_DELTA_STEP, "between 0 and 500", lambda v: 0 <= v <= 500
    )
    return (step,)


def _tweedie(given: Mapping[str, Any]) -> tuple[float, ...]:
    must = "at least 1 and below 2"
    return (number(given, "tweedie_variance_power", 1.5, must, lambda v: 1 <= v < 2),)


def _alphas(given: Mapping[str, Any]) -> tuple[float, ...]:
    alpha = given.get("quantile_alpha")
    way_out = "Use a number from 0 to 1 such as 0.5, or several in ascending order, such as [0.1, 0.5, 0.9]."
    if alpha is None:
        raise ParameterError(f"'reg:quantileerror' needs `quantile_alpha`, and it is not given. {way_out}")
    try:
        found = np.atleast_1d(np.asarray(alpha, np.float64))
    except (TypeError, ValueError):
        raise ParameterError(f"`quantile_alpha` must be numbers; got {alpha!r}. {way_out}") from None
    inside = found.ndim == 1 and len(found) > 0 and bool(np.all((found >= 0) & (found <= 1)))
    if not inside or not np.all(np.diff(found) > 0):
        raise ParameterError(f"`quantile_alpha` must ascend from 0 to 1; got {alpha!r}. {way_out}")
    return tuple(float(each) for each in found)


_LOGISTIC = Loss("logistic", "logistic", "mean", _SHARE, _positive_weight)

LOSSES: Mapping[str, Loss] = {
    "reg:squarederror": Loss("squared_error", "identity", "mean"),
    "reg:squaredlogerror": Loss("squared_log_error", "identity", "newton", _ABOVE_MINUS_1),
    "reg:pseudohubererror": Loss("pseudo_huber", "identity", "newton", None, _huber),
    "reg:absoluteerror": Loss("absolute_error", "identity", "quantile"),
    "reg:quantileerror": Loss("quantile", "sorted", "quantile", None, _alphas),
    "reg:logistic": _LOGISTIC,
    "binary:logistic": _LOGISTIC,
    "binary:logitraw": Loss("logistic", "identity", "mean", _SHARE, _positive_weight),
    "binary:hinge": Loss("hinge", "sign", "newton", _TWO),
    "multi:softmax": Loss("softmax", "softmax", "priors"),
    "multi:softprob": Loss("softmax", "softmax", "priors"),
    "count:poisson": Loss("poisson", "exp", "mean", _NOT_NEGATIVE, _poisson),
    "reg:gamma": Loss("gamma", "exp", "mean", _POSITIVE),
    "reg:tweedie": Loss("tweedie", "exp", "mean", _NOT_NEGATIVE, _tweedie),
}
