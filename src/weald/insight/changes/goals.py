"""What a prediction is to become: a label, any other label, or a number in a range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from weald.arrays import AnyEstimator, AnyTable, Flags, Floats
from weald.errors import DataError, ParameterError, listing, told
from weald.numbers import as_float

_OWNER = "counterfactual"


class Goal(Protocol):
    """Whether rows are where they should be, and how far away if not."""

    def reached(self, X: object) -> Flags:
        """Whether the model says what is wanted of each row."""

    def short(self, X: object) -> Floats:
        """By how much each row falls short: 0 where the goal is reached."""

    def told(self) -> str:
        """The goal in words."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelGoal:
    """A label, or (None) any but the label that the row has; perhaps with a least probability."""

    model: AnyEstimator
    target: object
    before: object
    least: float | None

    def reached(self, X: AnyTable) -> Flags:
        """By `predict`, and by the probability if one is asked for."""
        labels = np.asarray(self.model.predict(X))
        there: Flags = labels != self.before if self.target is None else labels == self.target
        if self.least is None or not there.any():
            return np.asarray(there, np.bool_)
        return np.asarray(there & (self._probability(X) >= self.least), np.bool_)

    def short(self, X: AnyTable) -> Floats:
        """What lacks to certainty; 0 and 1 where the model tells labels alone."""
        there = self.reached(X)
        lacking = 1.0 - self._probability(X) if hasattr(self.model, "predict_proba") else self._score(X)
        return np.where(there, 0.0, np.maximum(lacking, 1e-12))

    def _probability(self, X: AnyTable) -> Floats:
        shares = np.asarray(self.model.predict_proba(X), np.float64)
        own = shares[:, self._place(self.before if self.target is None else self.target)]
        return np.asarray(1.0 - own if self.target is None else own, np.float64)

    def _score(self, X: AnyTable) -> Floats:
        """By decision values where there are any: how far the wanted label is behind the best other."""
        if not hasattr(self.model, "decision_function"):
            return np.ones(len(np.asarray(self.model.predict(X))))
        scores = np.asarray(self.model.decision_function(X), np.float64)
        if scores.ndim == 1:
            scores = np.stack([-scores, scores], axis=1)
        if self.target is None:
            own = scores[:, self._place(self.before)].copy()
            scores[:, self._place(self.before)] = -np.inf
            return np.asarray(own - scores.max(axis=1), np.float64)
        wanted = scores[:, self._place(self.target)].copy()
        scores[:, self._place(self.target)] = -np.inf
        return np.asarray(scores.max(axis=1) - wanted, np.float64)

    def _place(self, label: object) -> int:
        return int(np.flatnonzero(np.asarray(self.model.classes_) == label)[0])

    def told(self) -> str:
        """In words."""
        wanted = f"another label than {told(self.before)}" if self.target is None else told(self.target)
        return wanted if self.least is None else f"{wanted} with a probability of {self.least:g}"


@dataclass(frozen=True, slots=True, eq=False)
class NumberGoal:
    """A number from `low` to `high`."""

    model: AnyEstimator
    low: float
    high: float

    def reached(self, X: object) -> Flags:
        """By `predict`."""
        values = self._values(X)
        return np.asarray((values >= self.low) & (values <= self.high), np.bool_)

    def short(self, X: object) -> Floats:
        """The distance to the range."""
        values = self._values(X)
        return np.maximum(0.0, np.maximum(self.low - values, values - self.high))

    def _values(self, X: AnyTable) -> Floats:
        return np.asarray(self.model.predict(X), np.float64)

    def told(self) -> str:
        """In words."""
        if np.isinf(self.high):
            return f"at least {self.low:g}"
        return f"at most {self.high:g}" if np.isinf(self.low) else f"from {self.low:g} to {self.high:g}"


def goal_of(model: object, target: object, before: NDArray[Any], least: float | None) -> Goal:
    """The goal that a user asks for, given what the model says now."""
    if before.ndim != 1:
        raise DataError(
            f"{_OWNER} is for models of one output; {type(model).__name__} predicts {before.shape[-1]}. Fit "
            "one for each."
        )
    if is_classifier(model):
        return _label_goal(model, target, before[0], least)
    if least is not None:
        raise ParameterError(f"`min_probability` of {_OWNER} is for labels; the model predicts numbers.")
    if target is None:
        raise ParameterError(
            f"`target` of {_OWNER} must say which numbers are wanted, as (low, high) with None for an open "
            f"end; the model predicts {float(before[0]):.4g} now. Use ({float(before[0]) * 1.1:.4g}, None)."
        )
    return _number_goal(model, target)


def _label_goal(model: AnyEstimator, target: object, before: object, least: float | None) -> LabelGoal:
    classes = np.asarray(model.classes_)
    if least is not None and not 0 < as_float(least) < 1:
        raise ParameterError(
            f"`min_probability` of {_OWNER} must be a number above 0 and below 1; got {told(least)}."
        )
    if least is not None and not hasattr(model, "predict_proba"):
        raise ParameterError(
            f"`min_probability` of {_OWNER} needs a model with predict_proba, which {type(model).__name__} "
            "does not have. Leave it out."
        )
    if target is None:
        others = classes[classes != before]
        only = others[0] if len(others) == 1 else None
        return LabelGoal(model, only, before, None if least is None else float(least))
    found = [
        label
        for label in classes.tolist()
        if label == target and isinstance(label, str) == isinstance(target, str)
    ]
    if not found:
        raise ParameterError(
            f"`target` of {_OWNER} is {told(target)}, which is none of the labels that the model knows: "
            f"{listing(classes.tolist())}."
        )
    return LabelGoal(model, found[0], before, None if least is None else float(least))


def _number_goal(model: object, target: object) -> NumberGoal:
    pair: Sequence[Any] = target if isinstance(target, tuple | list) and len(target) == 2 else ()
    low, high = (
        (-np.inf if pair[0] is None else as_float(pair[0]), np.inf if pair[1] is None else as_float(pair[1]))
        if pair
        else (np.nan, np.nan)
    )
    if np.isnan(low) or np.isnan(high) or low > high or (np.isinf(low) and np.isinf(high)):
        raise ParameterError(
            f"`target` of {_OWNER} must be a range (low, high), with None for an open end; got "
            f"{told(target)}. Use (100, None) for at least 100."
        )
    return NumberGoal(model, low, high)
