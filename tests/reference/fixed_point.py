"""Fixed point: weights and targets become whole numbers, so that sums do not depend on their order.

A value v becomes the integer nearest to v · 2^k, called its *units*. One power k serves a whole vector, the
largest for which no sum of rows can leave 63 bits; so the rounding error of a value is far below that of
float64 sums, and adding in any order, on any number of threads, gives the same integer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

#: Sums of units stay below 2^62: one bit for the sign, one to spare.
SUM_BITS = 62

#: Whole numbers up to here are exact in float64.
EXACT_WHOLE = 2**53

#: A table holds no more rows; whole weights of a smaller total are numbers of repeated rows.
MOST_ROWS = 2**31


@dataclass(frozen=True)
class Units:
    """Integers that stand for `units · 2^-power`."""

    units: NDArray[np.int64]
    power: int
    repeats: bool = False

    def real(self, total: int) -> float:
        """A sum of units, back in the scale of the values."""
        return math.ldexp(float(total), -self.power)


def power_of_two(values: Sequence[float], times: Sequence[int] | None = None) -> int:
    """The largest k with Σ times · 2^(e(v) + k) < 2^62, where |v| < 2^e(v) as `frexp` gives it.

    Only the counts of the exponents enter, so the order of the values cannot. Zeros do not count, and
    all-zero values need no room: their power is 0.
    """
    exponents: Counter[int] = Counter()
    for v, n in zip(values, times or [1] * len(values), strict=True):
        if v != 0.0 and n > 0:
            exponents[math.frexp(v)[1]] += n
    if not exponents:
        return 0
    lowest = min(exponents)
    # Σ 2^e = room · 2^lowest, and room · 2^(lowest + k) < 2^62 just when room has ≤ 62 - lowest - k bits
    room = sum(count << (exponent - lowest) for exponent, count in exponents.items())
    return SUM_BITS - lowest - room.bit_length()


def to_units(values: NDArray[np.float64], times: NDArray[np.int64] | None = None) -> Units:
    """Every value times 2^k, rounded to the nearest integer, halves to even; each stands `times` times."""
    copies = [1] * len(values) if times is None else times.tolist()
    power = power_of_two(values.tolist(), copies)
    # Python's round() of a Fraction is exact and takes halves to even
    units = [
        round(Fraction(v) * Fraction(2) ** power) * n for v, n in zip(values.tolist(), copies, strict=True)
    ]
    return Units(np.array(units, dtype=np.int64), power)


def weight_units(weight: NDArray[np.float64] | None, n_rows: int) -> Units:
    """Weights as units: whole numbers as they are, others in fixed point, none of them ever 0.

    Rows of weight 0 were dropped before. Whole weights keep power 0, so a row of weight 3 is three rows.
    """
    if weight is None:
        return Units(np.ones(n_rows, dtype=np.int64), 0, repeats=True)
    total = sum(Fraction(v) for v in weight.tolist())
    if total < EXACT_WHOLE and all(v.is_integer() for v in weight.tolist()):
        return Units(weight.astype(np.int64), 0, repeats=total < MOST_ROWS)
    scaled = to_units(weight)
    return Units(np.maximum(scaled.units, 1), scaled.power)


def weighted_units(values: NDArray[np.float64], weight: NDArray[np.float64] | None, weights: Units) -> Units:
    """Weight times value as units. A whole weight repeats its row: each copy has the units of the value."""
    return to_units(values, weights.units) if weights.repeats else to_units(weight * values)


def target_offset(target: NDArray[np.float64]) -> float:
    """What is taken off a regression target first: its middle, when that is far larger than its spread.

    A target like 1e9 ± 1 would otherwise spend its bits on the part that all rows share.
    """
    low, high = float(target.min()), float(target.max())
    middle, half = low + (high - low) / 2, (high - low) / 2
    return middle if abs(middle) > 16 * half else 0.0


def least_units(minimum: float, power: int) -> int:
    """The smallest whole number of units that reaches the real weight `minimum`."""
    return math.ceil(Fraction(minimum) * Fraction(2) ** power)
