"""Absolute error: no sum tells the loss of rows, so both sides of every candidate are put in order.

Equation 12 of docs/methods/trees.md, by its definition: a table of candidates × rows, some at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.inspection.trace.columns import Ints
from weald.inspection.trace.sides import Bounds, Parts, Rows, Sides, empty_sides

#: cells of the table that are there at once
_CELLS = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class MedianStatistic:
    """Rows in the order of their targets.

    Parameters
    ----------
    names : tuple of str
        What the sums are called.
    target : ndarray of float64, shape (n_rows, n_outputs)
        The targets.
    values : ndarray of int64 or float64, shape (n_rows, n_outputs)
        The same in units: whole numbers if their sums fit 64 bits.
    weights : ndarray of int64, shape (n_rows,)
        In units, times how often the tree has each row.
    value_power, weight_power : int
        Of two, from units to real ones.
    """

    names: tuple[str, ...]
    target: Floats
    values: NDArray[np.int64] | Floats
    weights: Ints
    value_power: int
    weight_power: int

    @property
    def ordered(self) -> bool:
        """Categories stand in order of medians."""
        return True

    def seen(self, rows: Rows) -> Rows:
        """All."""
        return rows

    @property
    def factor(self) -> float:
        """Losses are means over the outputs."""
        return 1.0 / int(self.values.shape[1])

    def sums(self, rows: Rows) -> tuple[float, ...]:
        """The weight and the loss."""
        return self.cover(self.weight(rows)), -self.real(self.score(rows, Bounds()))

    def weight(self, rows: Rows) -> int:
        """In units."""
        return int(self.weights[rows].sum())

    def score(self, rows: Rows, bounds: Bounds) -> float:
        """Minus the loss around the medians."""
        chosen = np.ones((1, len(rows)), np.bool_)
        return -float(self._losses(rows, chosen)[0][0])

    def pure(self, rows: Rows) -> bool:
        """Never known from sums."""
        return False

    def alike(self, rows: Rows) -> bool:
        """Equal targets."""
        return bool((self.values[rows] == self.values[rows[0]]).all())

    def impurity(self, rows: Rows, score: float) -> float | None:
        """The mean loss."""
        weight = float(self.weight(rows))
        return math.ldexp(-score / weight, self.value_power) * self.factor

    def order(self, parts: Parts) -> list[int]:
        """By the weight of the node's targets below the median of each code, added over the outputs."""
        rows = np.concatenate((parts.rows, parts.missing))
        places = [0] * parts.n
        for k in range(self.values.shape[1]):
            values, weight = self.values[:, k], self.weights
            for i in range(parts.n):
                own = parts.of_code(i)
                own = own[np.argsort(values[own], kind="stable")]
                reached = np.cumsum(weight[own])
                median = values[own[_half(reached)]]
                places[i] += int(weight[rows[values[rows] < median]].sum())
        return sorted(range(parts.n), key=lambda i: (places[i], i))

    def prefixes(self, parts: Parts, order: list[int], bounds: Bounds, *, missing_left: bool) -> Sides:
        """As sets, which they are."""
        place = np.empty(parts.n, np.int64)
        place[order] = np.arange(parts.n)
        of_row = np.repeat(place, parts.sizes)
        return self._sides(parts, bounds, missing_left, parts.n, lambda i: of_row <= i[:, np.newaxis])

    def sets(self, parts: Parts, sets: NDArray[np.bool_], bounds: Bounds, *, missing_left: bool) -> Sides:
        """Each by itself."""
        of_row = np.repeat(np.arange(parts.n), parts.sizes)
        return self._sides(parts, bounds, missing_left, len(sets), lambda i: sets[i][:, of_row])

    def _sides(self, parts: Parts, bounds: Bounds, missing_left: bool, n: int, left_of: object) -> Sides:
        """The sides of `n` candidates; left_of(numbers): which present rows go left, (numbers, rows)."""
        assert callable(left_of)
        if n == 0:
            return empty_sides()
        rows = np.concatenate((parts.rows, parts.missing))
        found: list[list[NDArray[np.float64] | Ints]] = []
        at_once = max(1, _CELLS // max(1, len(rows)))
        for first in range(0, n, at_once):
            numbers = np.arange(first, min(n, first + at_once))
            missing = np.full((len(numbers), len(parts.missing)), missing_left)
            left = np.concatenate((left_of(numbers), missing), axis=1)
            (left_loss, left_median), (right_loss, right_median) = (
                self._losses(rows, side) for side in (left, ~left)
            )
            weight = (left * self.weights[rows]).sum(axis=1)
            found.append([left_loss, right_loss, weight, left.sum(axis=1), left_median, right_median])
        joined = [np.concatenate([each[k] for each in found]) for k in range(6)]
        left_loss, right_loss, weight, n_left, left_median, right_median = joined
        kept = np.ones(n, np.bool_)
        if bounds.direction != 0:
            ordered = n_left - len(parts.missing) * missing_left < len(parts.rows)
            kept = bounds.keeps(left_median, right_median, ordered)
        return Sides(
            score=-(left_loss + right_loss).astype(np.float64),
            left_score=-left_loss.astype(np.float64),
            right_score=-right_loss.astype(np.float64),
            left_weight=weight.astype(np.int64),
            right_weight=int(self.weights[rows].sum()) - weight.astype(np.int64),
            n_left=n_left.astype(np.int64),
            n_right=len(rows) - n_left.astype(np.int64),
            left_value=left_median,
            right_value=right_median,
            kept=kept,
        )

    def _losses(self, rows: Rows, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.float64] | Ints, Floats]:
        """Of sets of rows, (sets, rows): the loss over all outputs, and the median of the first, in units."""
        loss: NDArray[Any] = np.zeros(len(chosen), self.values.dtype)
        first = np.zeros(len(chosen))
        for k in range(self.values.shape[1]):
            order = np.argsort(self.values[rows, k], kind="stable")
            values = self.values[rows[order], k]
            weight = chosen[:, order] * self.weights[rows[order]]
            reached = np.cumsum(weight, axis=1)
            total = reached[:, -1:]
            at = np.argmax(reached >= total - reached, axis=1)
            median = values[at]
            loss = loss + (np.abs(values - median[:, np.newaxis]) * weight).sum(axis=1)
            if k == 0:
                first = median.astype(np.float64)
                so_far = reached[np.arange(len(at)), at]
                half = np.flatnonzero((so_far == total[:, 0] - so_far) & (so_far > 0))
                after = np.argmax(reached[half] > reached[half, at[half]][:, np.newaxis], axis=1)
                first[half] += (values[after].astype(np.float64) - first[half]) / 2
        return loss, first

    def medians(self, rows: Rows) -> tuple[float, ...]:
        """What a leaf predicts, per output: halfway to the next target where half of the weight ends."""
        found = []
        for k in range(self.target.shape[1]):
            order = rows[np.argsort(self.target[rows, k], kind="stable")]
            reached = np.cumsum(self.weights[order])
            at = _half(reached)
            median = float(self.target[order[at], k])
            if 2 * int(reached[at]) == int(reached[-1]):
                median += (float(self.target[order[at + 1], k]) - median) / 2
            found.append(median)
        return tuple(found)

    def real(self, score: float) -> float:
        """In real units."""
        return math.ldexp(score, self.value_power + self.weight_power) * self.factor

    def cover(self, weight: int) -> float:
        """In real units."""
        return math.ldexp(float(weight), self.weight_power)

    def real_value(self, value: float) -> float:
        """In the units of the target."""
        return math.ldexp(value, self.value_power)


def _half(reached: Ints) -> int:
    """Where running weights first have half of all."""
    return int(np.argmax(reached >= reached[-1] - reached))
