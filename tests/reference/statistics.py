"""What a set of rows adds up to (its *cell*), and what the cell is worth (its *score*).

A split is judged by score(left) + score(right): larger is better. Both criteria of classification are minus
the impurity of the cell times its weight; that of regression is the sum of squares that the cell's mean
explains. All sums and differences are of integers; a score is one fixed float64 expression of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from reference.fixed_point import Units, power_of_two, target_offset, weight_units, weighted_units

Rows = NDArray[np.intp]
Cell = tuple[int, ...]
Log2 = Callable[[float], float]


def weald_log2() -> Log2:
    """weald's own base-2 logarithm (the same bits on every machine); the C library's where there is none."""
    try:
        from weald import engine
    except ImportError:
        return math.log2
    native = getattr(engine, "log2", None)
    return math.log2 if native is None else lambda x: float(native(np.array([x], dtype=np.float64))[0])


class Statistic(Protocol):
    """The one thing in which trees differ."""

    weights: Units

    def cell(self, rows: Rows) -> Cell:
        """The integers that the rows add up to."""

    def weight(self, cell: Cell) -> int:
        """The weight of a cell, in units."""

    def score(self, cell: Cell) -> float:
        """The worth of a cell; its unit is that of `real_gain`'s argument."""

    def real_gain(self, gain: float) -> float:
        """A difference of scores, in the scale of the user's weights and targets."""

    def mean(self, cell: Cell) -> Fraction | None:
        """What categories are ordered by; None where no single number orders them (three classes or more)."""

    def pure(self, rows: Rows) -> bool:
        """Whether nothing is left to tell apart."""

    def value(self, rows: Rows) -> tuple[float, ...]:
        """What a leaf predicts."""

    def impurity(self, rows: Rows) -> float:
        """Impurity of the rows, per unit of weight; for readers of the tree, not for the search."""


@dataclass(frozen=True)
class ClassWeights:
    """Classification: a cell is the weight of each class."""

    labels: NDArray[np.int32]
    n_classes: int
    weights: Units
    criterion: str
    log2: Log2

    @classmethod
    def of(
        cls,
        labels: NDArray[np.int32],
        n_classes: int,
        weight: NDArray[np.float64] | None,
        criterion: str,
        log2: Log2 | None = None,
    ) -> ClassWeights:
        """The statistic of these rows; none may have weight 0."""
        return cls(labels, n_classes, weight_units(weight, len(labels)), criterion, log2 or weald_log2())

    def cell(self, rows: Rows) -> Cell:
        labels, units = self.labels[rows], self.weights.units[rows]
        return tuple(int(units[labels == c].sum()) for c in range(self.n_classes))

    def weight(self, cell: Cell) -> int:
        return sum(cell)

    def score(self, cell: Cell) -> float:
        if self.criterion == "misclassification":
            return -float(sum(cell) - max(cell))
        return self._gini(cell) if self.criterion == "gini" else self._entropy(cell)

    def _gini(self, cell: Cell) -> float:
        """-(Σ_c n_c · (n - n_c)) / n."""
        n = sum(cell)
        total = 0.0
        for n_c in cell:
            total += float(n_c) * float(n - n_c)
        return -total / float(n)

    def _entropy(self, cell: Cell) -> float:
        """-(n log2 n - Σ_c n_c log2 n_c) = n · Σ_c p_c log2 p_c."""
        total = 0.0
        for n_c in cell:
            total += self._n_log_n(n_c)
        return -(self._n_log_n(sum(cell)) - total)

    def _n_log_n(self, n: int) -> float:
        return 0.0 if n == 0 else float(n) * self.log2(float(n))

    def real_gain(self, gain: float) -> float:
        return math.ldexp(gain, -self.weights.power)

    def mean(self, cell: Cell) -> Fraction | None:
        return Fraction(cell[1], sum(cell)) if self.n_classes == 2 else None

    def pure(self, rows: Rows) -> bool:
        return len(np.unique(self.labels[rows])) <= 1

    def value(self, rows: Rows) -> tuple[float, ...]:
        cell = self.cell(rows)
        return tuple(float(n_c) / float(sum(cell)) for n_c in cell)

    def impurity(self, rows: Rows) -> float:
        cell = self.cell(rows)
        shares = [n_c / sum(cell) for n_c in cell if n_c > 0]
        if self.criterion == "misclassification":
            return 1.0 - max(shares)
        if self.criterion == "gini":
            return 1.0 - sum(p * p for p in shares)
        return -sum(p * math.log2(p) for p in shares)


def poisson_deviance(target: list[float], weight: list[int]) -> float:
    """Half the deviance around the mean: Σ w y ln(y / mean)."""
    mean = math.fsum(w * y for w, y in zip(weight, target, strict=True)) / sum(weight)
    return math.fsum(w * y * math.log(y / mean) for w, y in zip(weight, target, strict=True) if y > 0)


@dataclass(frozen=True)
class Moments:
    """Regression: a cell is S = Σ w (y - offset) and W = Σ w, each in units of its own power of two."""

    target: NDArray[np.float64]
    offset: float
    sums: Units
    weights: Units
    criterion: str = "squared_error"
    log2: Log2 = math.log2

    @classmethod
    def of(
        cls,
        target: NDArray[np.float64],
        weight: NDArray[np.float64] | None,
        criterion: str = "squared_error",
    ) -> Moments:
        """The statistic of these rows; none may have weight 0."""
        offset = target_offset(target) if criterion == "squared_error" else 0.0
        weights = weight_units(weight, len(target))
        sums = weighted_units(target - offset, weight, weights)
        return cls(target, offset, sums, weights, criterion, weald_log2())

    def cell(self, rows: Rows) -> Cell:
        return int(self.sums.units[rows].sum()), int(self.weights.units[rows].sum())

    def weight(self, cell: Cell) -> int:
        return cell[1]

    def score(self, cell: Cell) -> float:
        """S² / W: the sum of squares that predicting the mean explains. Poisson: S log2(S / W)."""
        s, w = cell
        if self.criterion == "poisson":
            if s <= 0:
                return -math.inf
            shift = self.weights.power - self.sums.power
            return float(s) * (self.log2(float(s)) - self.log2(float(w)) + shift)
        return float(s) * float(s) / float(w)

    def real_gain(self, gain: float) -> float:
        if self.criterion == "poisson":
            return math.ldexp(gain, -self.sums.power) * math.log(2)
        return math.ldexp(gain, self.weights.power - 2 * self.sums.power)

    def mean(self, cell: Cell) -> Fraction | None:
        return Fraction(cell[0], cell[1])

    def pure(self, rows: Rows) -> bool:
        """Every row has the same mean in units: targets closer than that are alike."""
        return len({self.mean(self.cell(np.array([row]))) for row in rows}) == 1

    def value(self, rows: Rows) -> tuple[float, ...]:
        """The mean target, in fixed point of these rows alone: 62 bits for the largest of them."""
        y = self.target[rows].tolist()
        if len(set(y)) == 1:
            return (y[0],)
        exponent = math.frexp(max(abs(v) for v in y))[1]
        fixed = [round(Fraction(v) * Fraction(2) ** (62 - exponent)) for v in y]
        weights = self.weights.units[rows].tolist()
        total = sum(w * v for w, v in zip(weights, fixed, strict=True))
        return (math.ldexp(float(total) / float(sum(weights)), exponent - 62),)

    def impurity(self, rows: Rows) -> float:
        """The variance, from the definition and without rounding on the way; Poisson: half the deviance."""
        if self.criterion == "poisson":
            units = self.weights.units[rows].tolist()
            return poisson_deviance(self.target[rows].tolist(), units) / sum(units)
        y = [Fraction(v) for v in self.target[rows].tolist()]
        w = [int(u) for u in self.weights.units[rows]]
        mean = sum(a * b for a, b in zip(w, y, strict=True)) / sum(w)
        return float(sum(a * (b - mean) ** 2 for a, b in zip(w, y, strict=True)) / sum(w))


@dataclass(frozen=True)
class Medians:
    """Absolute error: no sum tells it, so a cell is (weight, -loss, lower median), all in units.

    Scores are whole numbers here: the loss is exact.
    """

    target: NDArray[np.float64]
    values: NDArray[np.object_]  # targets in units, Python's own integers
    power: int
    weights: Units

    @classmethod
    def of(cls, target: NDArray[np.float64], weight: NDArray[np.float64] | None) -> Medians:
        """The statistic of these rows; none may have weight 0."""
        largest = max(abs(v) for v in target.tolist())
        power = 61 - math.frexp(largest)[1] if largest > 0 else 0
        weights = weight_units(weight, len(target))
        if weights.repeats and largest > 0:  # then sums over rows stay below 2^61
            power = power_of_two(target.tolist(), weights.units.tolist()) - 1
        values = np.array([round(Fraction(v) * Fraction(2) ** power) for v in target.tolist()], dtype=object)
        return cls(target, values, power, weights)

    def cell(self, rows: Rows) -> Cell:
        values, weights = self.values[rows].tolist(), self.weights.units[rows].tolist()
        total = sum(weights)
        median = self._lower_median(values, weights)
        loss = sum(w * abs(v - median) for v, w in zip(values, weights, strict=True))
        return total, -loss, median

    @staticmethod
    def _lower_median(values: list[int], weights: list[int]) -> int:
        reached = 0
        for value, weight in sorted(zip(values, weights, strict=True)):
            reached += weight
            if 2 * reached >= sum(weights):
                return value
        raise AssertionError("no rows")

    def weight(self, cell: Cell) -> int:
        return cell[0]

    def score(self, cell: Cell) -> float:
        return cell[1]

    def real_gain(self, gain: float) -> float:
        return math.ldexp(float(gain), -self.power - self.weights.power)

    def mean(self, cell: Cell) -> Fraction | None:
        return Fraction(cell[2])

    def pure(self, rows: Rows) -> bool:
        return len(set(self.values[rows].tolist())) == 1

    def value(self, rows: Rows) -> tuple[float, ...]:
        """The weighted median; halfway to the next target where exactly half of the weight ends at it."""
        ordered = sorted(zip(self.target[rows].tolist(), self.weights.units[rows].tolist(), strict=True))
        total, reached = sum(weight for _, weight in ordered), 0
        for at, (value, weight) in enumerate(ordered):
            reached += weight
            if 2 * reached == total:
                return (value + (ordered[at + 1][0] - value) / 2,)
            if 2 * reached > total:
                return (value,)
        raise AssertionError("no rows")

    def impurity(self, rows: Rows) -> float:
        weight, score, _ = self.cell(rows)
        return math.ldexp(float(Fraction(-score, weight)), -self.power)
