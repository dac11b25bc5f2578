"""The weights of the rows, as whole numbers of units of 2^-52 of their sum, and samples drawn by them.

Units are integers, so that errors are exact and neither the order of rows nor the number of threads shows
(docs/methods/adaboost.md, A1). A row that counts has at least one unit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.data.target import total_weight
from weald.random import Purpose, draw

#: all weights together, in units; sums of so many are exact in float64
TOTAL = 2.0**52


class RowWeights:
    """What each row weighs now. `values` has fractions of units, which the next round needs.

    Parameters
    ----------
    weight : ndarray of shape (n_rows,) or None
        What rows weigh at the start; those of weight 0 are absent in every round. None: all alike.
    n_rows : int
        How many rows.
    """

    def __init__(self, weight: NDArray[np.float64] | None, n_rows: int) -> None:
        self.start = _scaled(np.ones(n_rows) if weight is None else weight)
        self.start_units = in_units(self.start)
        #: whether all rows that count weigh the same at the start
        self.even = bool(np.all(self.start_units[self.start_units > 0] == self.start_units.max()))
        self.reset()

    def reset(self) -> None:
        """Back to the start."""
        self.take(self.start.copy(), self.start_units.copy())

    def take(self, values: NDArray[np.float64], units: NDArray[np.int64]) -> None:
        """New weights, and the same in units."""
        self.values, self.units = values, units

    @property
    def at_start(self) -> bool:
        """Whether no row has changed."""
        return np.array_equal(self.units, self.start_units)

    @property
    def present(self) -> NDArray[np.bool_]:
        """The rows that count."""
        found: NDArray[np.bool_] = self.start > 0
        return found


def _scaled(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights with the sum TOTAL, each at least 1 if it is above 0."""
    largest = float(weight.max(initial=0.0))
    scaled = weight / largest  # so that huge weights have a sum
    scaled *= TOTAL / total_weight(scaled)
    return np.maximum(scaled, (weight > 0).astype(np.float64))


def in_units(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """The nearest whole numbers, half to even; nothing above 0 becomes 0 where values are at least 1."""
    return np.rint(values).astype(np.int64)


def drawn_counts(units: NDArray[np.int64], n_draws: int, seed: int, attempt: int) -> NDArray[np.int64]:
    """How often each row is in a sample, drawn by weight with replacement.

    Draw i of attempt a takes the row in whose share of all units the hash of (seed, a, i) falls; equation A7.
    """
    words = draw(seed, Purpose.ADABOOST_ROWS, attempt, np.arange(n_draws, dtype=np.uint64))
    return np.bincount(rows_by_units(units, words), minlength=len(units))


def rows_by_units(units: NDArray[np.int64], words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """For each of some random words the row in whose share of all units it falls."""
    ends = np.cumsum(units)
    return np.searchsorted(ends, _scaled_down(words, int(ends[-1])), side="right")


def weight_units(weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """Weights as whole numbers of units; what is above 0 has at least one."""
    return in_units(_scaled(weight))


def drawn_units(values: NDArray[np.float64], counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """`weight_units` of rows, each as often as it was drawn; those that were not cost next to nothing."""
    rows = np.flatnonzero(counts != 0)
    units = np.zeros(len(values), np.int64)
    units[rows] = weight_units(values[rows] * counts[rows])
    return units


def _scaled_down(words: NDArray[np.uint64], total: int) -> NDArray[np.int64]:
    """floor(word · total / 2^64), exactly."""
    low_bits, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    high, low = words >> half, words & low_bits
    total_high, total_low = np.uint64(total >> 32), np.uint64(total & 0xFFFFFFFF)
    middle = high * total_low + ((low * total_low) >> half)
    carried = low * total_high + (middle & low_bits)
    found: NDArray[np.int64] = (high * total_high + (middle >> half) + (carried >> half)).astype(np.int64)
    return found


def share(part: NDArray[np.int64], whole: NDArray[np.int64]) -> float:
    """The sum of some units as a share of the sum of others, rounded once."""
    return int(part.sum()) / int(whole.sum())


def log(value: float) -> float:
    """The natural logarithm, with the same bits on every machine."""
    return float(engine.map_values("log", np.array([value]))[0])


def exp(value: float) -> float:
    """The exponential, with the same bits on every machine."""
    return float(engine.map_values("exp", np.array([value]))[0])
