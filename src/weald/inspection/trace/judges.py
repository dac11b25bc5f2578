"""What sums of rows are worth: the scores of docs/methods, from integers, by the expressions written there.

Cells are whole numbers of shape (k, lanes), one row per set of rows. A score is higher where rows are more
alike; a split is worth score(left) + score(right) − score(node).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats
from weald.inspection.trace.columns import Ints
from weald.inspection.trace.principal_axis import positions


class Judge(Protocol):
    """One way to score sums."""

    @property
    def ordered(self) -> bool:
        """Whether a cell has one mean, which puts categories in order."""

    @property
    def holds_scores(self) -> bool:
        """Whether the bounds of a monotone constraint lower scores, not only values."""

    def score(self, cells: Ints) -> Floats:
        """What each cell is worth, in units."""

    def score_at(self, cells: Ints, value: Floats) -> Floats:
        """The same if it must predict so much."""

    def weight(self, cells: Ints) -> Ints:
        """The weight of each cell, in units."""

    def value(self, cells: Ints) -> Floats:
        """What a cell predicts, in units; only where cells have one mean."""

    def order(self, cells: Ints) -> list[int]:
        """The cells as their categories are put in order."""

    def refused(self, cells: Ints) -> NDArray[np.bool_]:
        """The cells that no side may be."""

    def pure(self, cell: Ints) -> bool:
        """Whether no split of these rows can help, by their sums."""

    def alike(self, lanes: Ints) -> bool:
        """Whether no split of these rows can help, by the lanes of each."""


def _none_refused(cells: Ints) -> NDArray[np.bool_]:
    return np.zeros(len(cells), np.bool_)


def _times_log2(values: Ints) -> Floats:
    """Every n · log2 n; 0 for 0."""
    numbers = values.astype(np.float64)
    logs = engine.log2(np.maximum(numbers, 1.0).ravel()).reshape(numbers.shape)
    return np.asarray(numbers * logs)


def _by_ratio(above: Ints, below: Ints) -> list[int]:
    """Places in order of above / below, compared as fractions; the lower place on ties."""
    keys = [(Fraction(a, b), i) for i, (a, b) in enumerate(zip(above.tolist(), below.tolist(), strict=True))]
    return [i for _, i in sorted(keys)]


def _along_axis(profile: Floats, weight: Floats) -> list[int]:
    """Places along the first principal axis of the profiles; the lower place on ties."""
    return np.argsort(positions(profile, weight), kind="stable").tolist()  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class ClassJudge:
    """Weights of classes: equations 1, 2 and 10 of docs/methods/trees.md."""

    criterion: str
    start: tuple[int, ...]  # where the classes of each output begin; the last: how many lanes

    @property
    def ordered(self) -> bool:
        """Two classes are ordered by the share of the second."""
        return self.start == (0, 2)

    @property
    def holds_scores(self) -> bool:
        """Bounds forbid splits and hold values."""
        return False

    def weight(self, cells: Ints) -> Ints:
        """Of all classes of the first output."""
        return np.asarray(cells[:, : self.start[1]].sum(axis=1))

    def score(self, cells: Ints) -> Floats:
        """Minus the loss, added over the outputs."""
        total = np.zeros(len(cells))
        for first, last in zip(self.start[:-1], self.start[1:], strict=True):
            total -= self._loss(cells[:, first:last])
        return total

    def _loss(self, counts: Ints) -> Floats:
        n = counts.sum(axis=1)
        if self.criterion == "misclassification":
            return np.asarray(n - counts.max(axis=1), np.float64)
        loss = np.zeros(len(counts))
        if self.criterion == "gini":
            for k in range(counts.shape[1]):  # in the order of classes, which rounding depends on
                loss += counts[:, k].astype(np.float64) * (n - counts[:, k]).astype(np.float64)
            return np.asarray(np.divide(loss, n.astype(np.float64), out=np.zeros(len(n)), where=n > 0))
        for k in range(counts.shape[1]):
            loss += _times_log2(counts[:, k])
        return _times_log2(n) - loss

    def score_at(self, cells: Ints, value: Floats) -> Floats:
        """The score does not depend on the value."""
        return self.score(cells)

    def value(self, cells: Ints) -> Floats:
        """The share of the second class."""
        return cells[:, 1].astype(np.float64) / self.weight(cells).astype(np.float64)

    def order(self, cells: Ints) -> list[int]:
        """By the share of the second class, or along the axis of all shares."""
        weight = self.weight(cells)
        if self.ordered:
            return _by_ratio(cells[:, 1], weight)
        return _along_axis(cells / weight.astype(np.float64)[:, np.newaxis], weight.astype(np.float64))

    refused = staticmethod(_none_refused)

    def pure(self, cell: Ints) -> bool:
        """One class in every output."""
        n = cell[: self.start[1]].sum()
        return int((cell == n).sum()) == len(self.start) - 1

    def alike(self, lanes: Ints) -> bool:
        """Sums tell already."""
        return False


@dataclass(frozen=True, slots=True)
class MomentJudge:
    """Sums of targets and of weights: equations 3 and 11 of docs/methods/trees.md."""

    poisson: bool
    sum_powers: tuple[int, ...]  # of two, per output: a sum is units · 2^-power
    weight_power: int

    @property
    def ordered(self) -> bool:
        """One target has one mean."""
        return len(self.sum_powers) == 1

    @property
    def holds_scores(self) -> bool:
        """Bounds forbid splits and hold values."""
        return False

    def weight(self, cells: Ints) -> Ints:
        """The last lane."""
        return cells[:, -1]

    def score(self, cells: Ints) -> Floats:
        """The sum of squares that the mean explains, or S log2(S / W); of several outputs in real units."""
        weight = cells[:, -1].astype(np.float64)
        if self.ordered:
            sums = cells[:, 0].astype(np.float64)
            if self.poisson:
                return self._deviance(cells[:, 0], weight, 0)
            return np.divide(sums * sums, weight, out=np.zeros(len(sums)), where=weight > 0)
        total = np.zeros(len(cells))
        for k, power in enumerate(self.sum_powers):
            if self.poisson:
                total += self._deviance(cells[:, k], weight, k) * 2.0**-power
            else:
                total += (cells[:, k].astype(np.float64) * 2.0**-power) ** 2
        return total if self.poisson else np.divide(total, weight, out=np.zeros(len(total)), where=weight > 0)

    def _deviance(self, sums: Ints, weight: Floats, k: int) -> Floats:
        there = sums > 0
        s = np.where(there, sums, 1).astype(np.float64)
        shift = self.weight_power - self.sum_powers[k]
        found = s * (engine.log2(s) - engine.log2(np.maximum(weight, 1.0)) + shift)
        return np.where(there, found, -np.inf)

    def score_at(self, cells: Ints, value: Floats) -> Floats:
        """The score does not depend on the value."""
        return self.score(cells)

    def value(self, cells: Ints) -> Floats:
        """The mean, in units of sum / weight."""
        return cells[:, 0].astype(np.float64) / cells[:, 1].astype(np.float64)

    def order(self, cells: Ints) -> list[int]:
        """By the mean, or along the axis of all means."""
        if self.ordered:
            return _by_ratio(cells[:, 0], cells[:, 1])
        weight = cells[:, -1].astype(np.float64)
        scale = np.array([2.0**-power for power in self.sum_powers])
        return _along_axis(cells[:, :-1].astype(np.float64) * scale / weight[:, np.newaxis], weight)

    def refused(self, cells: Ints) -> NDArray[np.bool_]:
        """Poisson: no side may predict 0. Of several outputs the score says so."""
        return cells[:, 0] <= 0 if self.poisson and self.ordered else _none_refused(cells)

    def pure(self, cell: Ints) -> bool:
        """Never known from sums."""
        return False

    def alike(self, lanes: Ints) -> bool:
        """The same mean in every row, in units."""
        first, weight = lanes[0].astype(object), lanes[:, -1].astype(object)
        return all(
            bool((lanes[:, k].astype(object) * first[-1] == first[k] * weight).all())
            for k in range(len(self.sum_powers))
        )


@dataclass(frozen=True, slots=True)
class NewtonJudge:
    """Sums of gradients and hessians: equations 1 and 2 of docs/methods/boosting.md; parameters in units."""

    reg_lambda: float
    alpha: float
    max_step: float  # of G / H; 0: no limit
    smooth: float  # added to H where categories are put in order
    category_lambda: float  # added to λ where their splits are judged

    ordered = True
    holds_scores = True

    @property
    def cautious(self) -> bool:
        """Whether splits by categories are held back."""
        return self.smooth > 0 or self.category_lambda > 0

    def for_categories(self) -> NewtonJudge:
        """The stricter judge of splits by categories."""
        return replace(self, reg_lambda=self.reg_lambda + self.category_lambda)

    def weight(self, cells: Ints) -> Ints:
        """H."""
        return cells[:, 1]

    def _shrunk(self, cells: Ints) -> Floats:
        g = cells[:, 0].astype(np.float64)
        if self.alpha == 0:
            return g
        return np.where(g > self.alpha, g - self.alpha, np.where(g < -self.alpha, g + self.alpha, 0.0))

    def value(self, cells: Ints) -> Floats:
        """−T(G) / (H + λ), within the largest step."""
        h = cells[:, 1].astype(np.float64) + self.reg_lambda
        w = np.divide(-self._shrunk(cells), h, out=np.zeros(len(h)), where=h > 0)
        return np.clip(w, -self.max_step, self.max_step) if self.max_step > 0 else w

    def score(self, cells: Ints) -> Floats:
        """T(G)² / (H + λ): the similarity."""
        if self.max_step > 0:
            return self.score_at(cells, self.value(cells))
        g, h = self._shrunk(cells), cells[:, 1].astype(np.float64) + self.reg_lambda
        return np.divide(g * g, h, out=np.zeros(len(h)), where=h > 0)

    def score_at(self, cells: Ints, value: Floats) -> Floats:
        """What a value that was held back saves, times 2."""
        g, h = cells[:, 0].astype(np.float64), cells[:, 1].astype(np.float64) + self.reg_lambda
        saved = -(2 * g * value + h * (value * value) + 2 * self.alpha * np.abs(value))
        return np.where(h > 0, saved, 0.0)

    def order(self, cells: Ints) -> list[int]:
        """By G / H; H = 0 stands at ±∞ by the sign of G, or at 0."""
        keys = []
        for i, (g, h) in enumerate(cells[:, :2].tolist()):
            end = 0 if h > 0 else (g > 0) - (g < 0)
            keys.append((end, Fraction(g, max(1, h)) if end == 0 else Fraction(0), i))
        return [i for _, _, i in sorted(keys)]

    def place(self, cells: Ints) -> Floats:
        """G / (H + s), by which cautious splits order categories."""
        h = cells[:, 1].astype(np.float64) + self.smooth
        return np.divide(cells[:, 0].astype(np.float64), h, out=np.zeros(len(h)), where=h > 0)

    refused = staticmethod(_none_refused)

    def pure(self, cell: Ints) -> bool:
        """Never known from sums."""
        return False

    def alike(self, lanes: Ints) -> bool:
        """The same g / h in every row, but for the rounding of each lane to a unit."""
        g, h = lanes[:, 0].astype(object), lanes[:, 1].astype(object)
        difference = np.abs(g[0] * h - g * h[0])
        return bool((difference <= np.abs(g) + abs(g[0]) + h + h[0]).all())


@dataclass(frozen=True, slots=True)
class NewtonManyJudge:
    """One tree for several outputs: G of each, then H of each."""

    n_outputs: int
    one: NewtonJudge
    min_weight: float  # an output of less H is worth nothing in a node

    ordered = False
    holds_scores = False

    def weight(self, cells: Ints) -> Ints:
        """The mean of H over the outputs, rounded down."""
        return np.asarray(cells[:, self.n_outputs :].sum(axis=1) // self.n_outputs)

    def _pair(self, cells: Ints, k: int) -> tuple[Ints, NDArray[np.bool_]]:
        pair = cells[:, [k, self.n_outputs + k]]
        return pair, pair[:, 1].astype(np.float64) >= self.min_weight

    def score(self, cells: Ints) -> Floats:
        """Added over the outputs that speak."""
        total = np.zeros(len(cells))
        for k in range(self.n_outputs):
            pair, speaks = self._pair(cells, k)
            total += np.where(speaks, self.one.score(pair), 0.0)
        return total

    def score_at(self, cells: Ints, value: Floats) -> Floats:
        """There are no bounds on several outputs."""
        return self.score(cells)

    def values(self, cells: Ints) -> Floats:
        """What each output predicts: (k, n_outputs)."""
        columns = []
        for k in range(self.n_outputs):
            pair, speaks = self._pair(cells, k)
            columns.append(np.where(speaks, self.one.value(pair), 0.0))
        return np.stack(columns, axis=1)

    def value(self, cells: Ints) -> Floats:
        """There is no single one: `values` has them."""
        raise TypeError("Several outputs have no single value.")

    def order(self, cells: Ints) -> list[int]:
        """Along the axis of all values."""
        return _along_axis(self.values(cells), self.weight(cells).astype(np.float64))

    refused = staticmethod(_none_refused)

    def pure(self, cell: Ints) -> bool:
        """Never known from sums."""
        return False

    def alike(self, lanes: Ints) -> bool:
        """Never asked."""
        return False
