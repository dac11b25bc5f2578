"""Where boosting starts: base scores as xgboost estimates them, and those a user gives.

The rules, one per objective, are equation L12 of docs/methods/boosting.md. Sums are integers, so the order of
rows does not matter and a whole weight equals repeated rows.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import ArrayLike

from weald import engine
from weald.arrays import Floats
from weald.boosting.links import to_raw
from weald.data.fixed_point import Units, to_units, weight_units, weighted_units
from weald.errors import ParameterError, told

#: no share or mean is taken for smaller: its logarithm is where an absent class or count starts
LEAST = 1e-6


class RowSums:
    """Σ w·v over rows, the same for every order of rows; the weights become integers once."""

    def __init__(self, weight: Floats | None) -> None:
        self._weight = weight
        self._units = None if weight is None else weight_units(weight)

    def of(self, values: Floats) -> float:
        """Σ w·v."""
        if self._weight is None or self._units is None:
            return _sum(to_units(values))
        return _sum(weighted_units(values, self._weight, self._units))

    def mean(self, values: Floats) -> float:
        """Σ w·v / Σ w, of values and weights whose sums may leave float64."""
        if self._weight is None or self._units is None:
            top, shift, bottom, power = to_units(values), 0, len(values), 0
        elif self._units.repeats:
            top, shift = weighted_units(values, self._weight, self._units), 0
            bottom, power = int(self._units.units.sum()), self._units.power
        else:
            shift = -int(np.frexp(self._weight.max())[1])
            top = to_units(np.ldexp(self._weight, shift) * values)
            bottom, power = int(self._units.units.sum()), self._units.power
        ratio = float(int(top.units.sum())) / float(bottom)
        with np.errstate(over="ignore"):
            found = np.ldexp(ratio, power - top.power - shift)
        return float(np.clip(found, values.min(), values.max()))  # rounding may go past both

    def total(self, n_rows: int) -> float:
        """Σ w."""
        return float(n_rows) if self._units is None else _sum(self._units)

    def by_class(self, classes: Floats, n_classes: int) -> Floats:
        """Σ w of each class."""
        order = np.argsort(classes, kind="stable")
        bounds = np.searchsorted(classes[order], np.arange(n_classes + 1))
        if self._units is None:
            return np.diff(bounds).astype(np.float64)
        units = self._units.units[order]
        parts = [int(units[a:b].sum()) for a, b in itertools.pairwise(bounds)]
        return np.array([math.ldexp(part, -self._units.power) for part in parts])


def _sum(scaled: Units) -> float:
    return math.ldexp(int(scaled.units.sum()), -scaled.power)


def mean_start(target: Floats, weight: Floats | None, link: str) -> Floats:
    """The weighted mean of each output, as a raw score; target: (n_outputs, n_rows)."""
    sums = RowSums(weight)
    means = np.array([sums.mean(y) for y in target])
    if link == "logistic":
        means = means.clip(LEAST, 1 - LEAST)
    return to_raw(link, means.clip(min=LEAST) if link == "exp" else means)


def newton_start(g: Floats, h: Floats, weight: Floats | None) -> Floats:
    """One Newton step of all rows from 0, −Σ w·g / Σ w·h, for each output."""
    sums = RowSums(weight)
    return np.array([-sums.of(first) / sums.of(second) for first, second in zip(g, h, strict=True)])


def prior_start(classes: Floats, weight: Floats | None, n_classes: int) -> Floats:
    """The logarithms of the classes' shares, with mean 0."""
    sums = RowSums(weight)
    shares = sums.by_class(classes, n_classes) / sums.total(len(classes))
    logs = engine.map_values("log", np.maximum(shares, LEAST))
    mean = math.fsum(logs) / n_classes
    return np.array([each - mean for each in logs])


def given_start(base_score: ArrayLike, *, n_outputs: int, link: str) -> Floats:
    """The user's `base_score`, a number or one per output, as raw scores.

    It is given as a prediction; that of softmax is a raw score already. Both as in xgboost.
    """
    try:
        values = np.atleast_1d(np.asarray(base_score, np.float64))
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(
            f"`base_score` must be a number; got {told(base_score)}. Use 0.5 or None."
        ) from None
    if values.ndim != 1 or len(values) not in (1, n_outputs):
        raise ParameterError(
            f"`base_score` must be one number, or one for each of {n_outputs} outputs; "
            f"got shape {values.shape}. None estimates it."
        )
    if not np.isfinite(values).all():
        raise ParameterError(f"`base_score` must be finite; got {base_score!r}. None estimates it.")
    if link == "logistic" and np.all((values >= 0) & (values <= 1)):
        values = values.clip(LEAST, 1 - LEAST)
    raw = values if link == "softmax" else to_raw(link, values)
    return np.array(np.broadcast_to(raw, n_outputs))
