"""Predictions of the members of an ensemble whose bags lack a row: what the jackknife+ needs, without refits.

Equation Q8 of `docs/methods/conformal.md`, after Kim, Xu and Barber (2020). Which bags lack which rows is a
bit for each pair, and all that has to be kept besides the scores: no row of the training table.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from weald.uncertainty.intervals import Lacks
from weald.uncertainty.trees import CELLS


class LeftOut(Lacks):
    """Which bags lack which of some rows, from bits that were kept."""

    def __init__(self, bits: NDArray[np.uint8], n_rows: int) -> None:
        self.n_rows = n_rows
        self._bits = bits
        self.n_trees_without = np.zeros(n_rows)
        for _, lack in self._blocks():
            self.n_trees_without += lack.sum(axis=0)

    @classmethod
    def of_counts(cls, counts: Iterable[NDArray[np.integer]], rows: NDArray[np.int64]) -> LeftOut:
        """Of how often each bag has each row of the table, bag after bag."""
        return cls(np.stack([np.packbits(each[rows] == 0) for each in counts]), len(rows))

    @property
    def bits(self) -> NDArray[np.uint8]:
        """(members, ⌈rows / 8⌉), the first row in the highest bit."""
        return self._bits

    def own_means(self, values: NDArray[np.float64], places: slice) -> NDArray[np.float64]:
        """Of (members, rows, width), what the members that lack a row say of it: (rows, width).

        `places` are those of the rows among all.
        """
        sums: NDArray[np.float64] = np.einsum("br,brk->rk", self.of_rows(places), values)
        return sums / self.n_trees_without[places, None]

    def own_spread(self, values: NDArray[np.float64], places: slice) -> NDArray[np.float64]:
        """The standard deviation of the same, of (members, rows): (rows,)."""
        centred = values - values.mean(axis=0)
        both = self.own_means(np.stack([centred, centred * centred], axis=2), places)
        return _deviation(both[:, 0], both[:, 1])

    def spread(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of (members, new rows), the standard deviation among the members that lack a row: (rows, new)."""
        centred = values - values.mean(axis=0)
        return _deviation(self.means(centred), self.means(centred * centred))

    def together(self, width: int) -> int:
        """How many new rows make a block of (rows, new rows, width)."""
        return max(1, CELLS // max(1, self.n_rows * width))


def _deviation(mean: NDArray[np.float64], square: NDArray[np.float64]) -> NDArray[np.float64]:
    variance: NDArray[np.float64] = np.sqrt(np.maximum(square - mean * mean, 0.0))
    return variance
