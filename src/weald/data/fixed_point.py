"""From float64 to the integers that trees add up: sums of integers do not depend on their order.

A value v becomes the integer nearest to v · 2^power. The power is the largest for which no sum over any rows
can leave 62 bits, for bags of `n_draws` rows no sum over any of those; it is found from counts of the values'
exponents, so the order of rows does not matter (docs/methods/trees.md, 6).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald import engine

SUM_BITS = 62
EXACT_FLOAT = 2.0**53
MOST_ROWS = 2.0**31  # in memory
MOST_POWER = 2000  # of two, beyond any that values of float64 ask for


@dataclass(frozen=True, slots=True)
class Units:
    """Integers and the power of two they were multiplied with: value ≈ units · 2^-power.

    `repeats`: they are whole weights, few enough in all to be read as numbers of repeated rows.
    """

    units: NDArray[np.int64]
    power: int
    repeats: bool = False


def common_power(
    values: NDArray[np.float64], times: NDArray[np.int64] | None = None, *, spare_bits: int = 0
) -> int:
    """The largest power for which the sum of 2^(exponent + power) over all values < 2^(62 − spare_bits).

    A value counts `times` times, once if that is not given.

    >>> common_power(np.array([1.0, 0.0, 3.0]))  # 2^1 + 2^2 = 6, and 6 · 2^59 < 2^62
    59
    """
    counts = engine.count_exponents(values, times)
    found = np.flatnonzero(counts)
    if not len(found):
        return 0
    lowest = int(found[0])
    total = sum(int(counts[e]) << (int(e) - lowest) for e in found)
    return SUM_BITS - spare_bits - total.bit_length() - (lowest + engine.LOWEST_EXPONENT)


def room_power(largest: float, n_draws: int) -> int:
    """The largest power for which `n_draws` times the largest value, in units, stay within 62 bits.

    Without draws no value is taken twice, and there is no such limit.
    """
    if n_draws == 0 or largest == 0.0:
        return MOST_POWER
    return SUM_BITS - int(np.frexp(largest)[1]) - n_draws.bit_length()


def to_units(values: NDArray[np.float64], *, n_draws: int = 0) -> Units:
    """Values as integers with their common power."""
    power = min(common_power(values), room_power(float(np.abs(values).max(initial=0.0)), n_draws))
    return Units(engine.to_units(values, power), power)


def weight_units(weight: NDArray[np.float64], *, n_draws: int = 0) -> Units:
    """Weights as integers: whole numbers as they are, others scaled; a positive weight never becomes 0."""
    with np.errstate(over="ignore"):  # a total beyond float64 is not below the limit either
        total = float(weight.sum())
    if total < EXACT_FLOAT and bool(np.all(weight == np.floor(weight))):
        return Units(weight.astype(np.int64), 0, repeats=total < MOST_ROWS)
    scaled = to_units(weight, n_draws=n_draws)
    return Units(np.maximum(scaled.units, (weight > 0).astype(np.int64)), scaled.power)


def weighted_units(
    values: NDArray[np.float64], weight: NDArray[np.float64], weights: Units, *, n_draws: int = 0
) -> Units:
    """Weight times value in units, for weights that `weight_units` made from `weight`.

    Whole weights multiply the units of the value, so that a row of weight 3 is three rows to the last bit.
    Where their total exceeds what a table can hold, that would leave each value too few bits: they multiply
    first.
    """
    if not weights.repeats:
        return to_units(weight * values, n_draws=n_draws)
    largest = float(np.abs(weight * values).max(initial=0.0))
    power = min(common_power(values, weights.units), room_power(largest, n_draws))
    return Units(weights.units * engine.to_units(values, power), power)
