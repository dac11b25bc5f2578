"""What rows add up to, where sums tell all: classes, means, gradients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.inspection.trace.columns import Ints
from weald.inspection.trace.judges import Judge
from weald.inspection.trace.sides import Bounds, Parts, Rows, Sides


class Statistic(Protocol):
    """The one thing in which trees differ."""

    @property
    def names(self) -> tuple[str, ...]:
        """What the sums of a node are called."""

    @property
    def ordered(self) -> bool:
        """Whether rows have one mean, by which categories stand in order."""

    def seen(self, rows: Rows) -> Rows:
        """The rows whose codes count as present in a node."""

    def sums(self, rows: Rows) -> tuple[float, ...]:
        """The sums of a node, for reading, as `names` calls them."""

    def weight(self, rows: Rows) -> int:
        """In units."""

    def score(self, rows: Rows, bounds: Bounds) -> float:
        """What the rows are worth unsplit, in units."""

    def pure(self, rows: Rows) -> bool:
        """Whether no split can help, by the sums."""

    def alike(self, rows: Rows) -> bool:
        """Whether no split can help, row by row."""

    def impurity(self, rows: Rows, score: float) -> float | None:
        """Per unit of weight, if the method has one."""

    def order(self, parts: Parts) -> list[int]:
        """The codes as categories are put in order, by place."""

    def prefixes(self, parts: Parts, order: list[int], bounds: Bounds, *, missing_left: bool) -> Sides:
        """The first code to the left, the first two, … and all of them."""

    def sets(self, parts: Parts, sets: NDArray[np.bool_], bounds: Bounds, *, missing_left: bool) -> Sides:
        """Sets of codes to the left: (candidates, codes)."""

    def real(self, score: float) -> float:
        """A score, or a difference of scores, in real units."""

    def cover(self, weight: int) -> float:
        """A weight in real units."""

    def real_value(self, value: float) -> float:
        """What rows predict in the units of bounds, in those of the model."""


@dataclass(frozen=True, slots=True, eq=False)
class LaneStatistic:
    """Rows as whole numbers that add up.

    Parameters
    ----------
    names : tuple of str
        What the lanes are called.
    lanes : ndarray of int64, shape (n_rows, lanes)
        What each row brings, times how often the tree has it.
    lane_powers : tuple of int
        Of two: lane · 2^-power is in real units.
    judge : Judge
        What sums are worth.
    score_power, weight_power, value_power : int
        Of two, from units to real ones.
    factor : float
        What scores are multiplied with besides: one over the outputs, ln 2 of Poisson.
    offset, offsets : float, tuple of float
        What was taken off the target; of each output.
    squares, square_power : ndarray of int64 of shape (n_rows,), int
        What loss is told by where scores do not: w·y² and the like.
    """

    names: tuple[str, ...]
    lanes: Ints
    lane_powers: tuple[int, ...]
    judge: Judge
    score_power: int
    weight_power: int
    value_power: int = 0
    factor: float = 1.0
    offset: float = 0.0
    offsets: tuple[float, ...] = ()
    squares: Ints | None = None
    square_power: int = 0
    has_impurity: bool = True
    sees_zeros: bool = True
    #: boosting: w·g² of every row in units, how many rows that is, and a unit in those of Σ g squared
    row_squares: Ints | None = None
    row_times: Ints | None = None
    square_unit: float = 0.0

    @property
    def ordered(self) -> bool:
        """As the judge says."""
        return self.judge.ordered

    def seen(self, rows: Rows) -> Rows:
        """All, but for packed sums, which know rows by what they add."""
        return rows if self.sees_zeros else rows[self.lanes[rows].any(axis=1)]

    def cell(self, rows: Rows) -> Ints:
        """What the rows add up to."""
        return np.asarray(self.lanes[rows].sum(axis=0))

    def sums(self, rows: Rows) -> tuple[float, ...]:
        """In real units."""
        cell = self.cell(rows).tolist()
        real = [math.ldexp(float(n), -p) for n, p in zip(cell, self.lane_powers, strict=True)]
        for k, offset in enumerate(self.offsets):
            real[k] += offset * real[-1]
        return tuple(real)

    def weight(self, rows: Rows) -> int:
        """In units."""
        return int(self.judge.weight(self.cell(rows)[np.newaxis])[0])

    def score(self, rows: Rows, bounds: Bounds) -> float:
        """Of a node that predicts within its bounds, where these hold scores."""
        return float(self._score(self.cell(rows)[np.newaxis], bounds)[0])

    def _score(self, cells: Ints, bounds: Bounds) -> Floats:
        if self.judge.holds_scores and (math.isfinite(bounds.lower) or math.isfinite(bounds.upper)):
            value = np.clip(self.judge.value(cells), bounds.lower, bounds.upper)
            return self.judge.score_at(cells, value)
        return self.judge.score(cells)

    def pure(self, rows: Rows) -> bool:
        """By the sums."""
        return self.judge.pure(self.cell(rows))

    def alike(self, rows: Rows) -> bool:
        """Row by row."""
        return self.judge.alike(self.lanes[rows])

    def impurity(self, rows: Rows, score: float) -> float | None:
        """Minus the score, or what it leaves of the squares."""
        if not self.has_impurity:
            return None
        weight = float(self.weight(rows))
        mean_score = math.ldexp(score / weight, self.score_power - self.weight_power)
        if self.squares is None:
            return 0.0 - mean_score * self.factor
        squares = float(int(self.squares[rows].sum()))
        loss = math.ldexp(squares / weight, self.square_power - self.weight_power) - mean_score
        return max(0.0, loss * self.factor)

    def cells(self, parts: Parts) -> Ints:
        """The sums of every code present: (codes, lanes)."""
        if not parts.n:
            return np.zeros((0, self.lanes.shape[1]), np.int64)
        return np.add.reduceat(self.lanes[parts.rows], parts.start[:-1], axis=0)

    def order(self, parts: Parts) -> list[int]:
        """As the judge puts them."""
        return self.judge.order(self.cells(parts))

    def prefixes(self, parts: Parts, order: list[int], bounds: Bounds, *, missing_left: bool) -> Sides:
        """By running sums."""
        left = np.cumsum(self.cells(parts)[order], axis=0)
        n_left = np.cumsum(parts.sizes[order])
        ordered = np.arange(len(order)) < len(order) - 1
        return self.sides(parts, left, n_left, bounds, ordered, missing_left=missing_left)

    def sets(self, parts: Parts, sets: NDArray[np.bool_], bounds: Bounds, *, missing_left: bool) -> Sides:
        """By sums over each set."""
        chosen = sets.astype(np.int64)
        left = chosen @ self.cells(parts)
        ordered: NDArray[np.bool_] = ~np.all(sets, axis=1)
        return self.sides(parts, left, chosen @ parts.sizes, bounds, ordered, missing_left=missing_left)

    def sides(
        self,
        parts: Parts,
        left: Ints,
        n_left: Ints,
        bounds: Bounds,
        ordered: NDArray[np.bool_],
        *,
        missing_left: bool,
        judge: Judge | None = None,
        total: Ints | None = None,
    ) -> Sides:
        """The sides of candidates whose left sums are known; `judge`, `total`: others than the node's own."""
        judge = judge or self.judge
        if total is None:
            total = self.cell(np.concatenate((parts.rows, parts.missing)))
        if missing_left:
            left, n_left = left + self.cell(parts.missing), n_left + len(parts.missing)
        right = total - left
        values = self._values(left, right, bounds, judge)
        held = judge.holds_scores and bounds.bounded
        scores = [
            judge.score_at(cells, value) if held else judge.score(cells)
            for cells, value in zip((left, right), values, strict=True)
        ]
        kept = np.ones(len(left), np.bool_)
        if bounds.direction != 0:
            kept = bounds.keeps(*values, ordered)
        return Sides(
            score=scores[0] + scores[1],
            left_score=scores[0],
            right_score=scores[1],
            left_weight=judge.weight(left),
            right_weight=judge.weight(right),
            n_left=n_left,
            n_right=parts.n_rows - n_left,
            left_value=values[0],
            right_value=values[1],
            kept=kept,
        )

    def _values(self, left: Ints, right: Ints, bounds: Bounds, judge: Judge) -> tuple[Floats, Floats]:
        if not (judge.ordered and bounds.bounded):
            return np.zeros(len(left)), np.zeros(len(left))
        with np.errstate(invalid="ignore", divide="ignore"):  # a side without rows is no candidate
            values = judge.value(left), judge.value(right)
        if judge.holds_scores:
            return tuple(np.clip(each, bounds.lower, bounds.upper) for each in values)  # type: ignore[return-value]
        return values

    def real(self, score: float) -> float:
        """In real units."""
        return math.ldexp(score, self.score_power) * self.factor

    def cover(self, weight: int) -> float:
        """In real units."""
        return math.ldexp(float(weight), self.weight_power)

    def real_value(self, value: float) -> float:
        """With what was taken off the target."""
        return math.ldexp(value, self.value_power) + self.offset
