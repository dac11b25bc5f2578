"""The best partition of all, without ordering, rounding or cleverness: exact fractions over every subset.

It checks the claim that ordering the categories by their mean loses nothing.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from reference.splits import ReferenceColumn
from reference.statistics import Cell, ClassWeights, Moments, Rows


def exact_score(statistic: ClassWeights | Moments, cell: Cell) -> Fraction | float:
    """The score as a fraction, without rounding; logarithms, which are irrational, in float64."""
    if isinstance(statistic, Moments) and statistic.criterion == "squared_error":
        return Fraction(cell[0] ** 2, cell[1])
    if isinstance(statistic, ClassWeights) and statistic.criterion == "gini":
        n = sum(cell)
        return -Fraction(sum(n_c * (n - n_c) for n_c in cell), n)
    return statistic.score(cell)


def best_partition_bruteforce(
    column: ReferenceColumn,
    rows: Rows,
    statistic: ClassWeights | Moments,
    *,
    min_rows_leaf: int = 1,
    min_units_leaf: int = 0,
) -> Fraction | float | None:
    """The largest score(left) + score(right) over every way to part the codes present, missing being one.

    None if no way leaves both sides large enough.
    """
    codes = column.codes[rows]
    present = [int(c) for c in np.unique(codes)]
    best = None
    for mask in range(1, 2 ** len(present) - 1):
        goes_left = np.isin(codes, [code for bit, code in enumerate(present) if mask >> bit & 1])
        sides = rows[goes_left], rows[~goes_left]
        cells = [statistic.cell(side) for side in sides]
        if min(len(side) for side in sides) < min_rows_leaf:
            continue
        if min(statistic.weight(cell) for cell in cells) < min_units_leaf:
            continue
        score = exact_score(statistic, cells[0]) + exact_score(statistic, cells[1])
        if best is None or score > best:
            best = score
    return best


def smallest_residual_bruteforce(values: list[float], target: list[float]) -> Fraction | None:
    """The smallest sum of squared residuals of one threshold on one column, from the textbook definition."""

    def residual(y: list[Fraction]) -> Fraction:
        mean = sum(y, Fraction(0)) / len(y)
        return sum(((v - mean) ** 2 for v in y), Fraction(0))

    y = [Fraction(v) for v in target]
    best = None
    for cut in sorted(set(values))[:-1]:
        left = [v for x, v in zip(values, y, strict=True) if x <= cut]
        right = [v for x, v in zip(values, y, strict=True) if x > cut]
        total = residual(left) + residual(right)
        if best is None or total < best:
            best = total
    return best
