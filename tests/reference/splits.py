"""The splits of one column: which candidates there are, which are allowed, and which one wins.

Every split, of numbers or of categories, is the same thing here: a set of the codes present in the node that
goes left, and a side for the missing rows. The kinds of column differ only in which sets they propose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from reference.principal_axis import positions
from reference.statistics import Cell, Rows, Statistic

#: All partitions of up to so many categories are tried; of more, a chain of them.
MOST_FOR_SUBSETS = 10

Codes = frozenset[int]


@dataclass(frozen=True)
class ReferenceColumn:
    """A column as codes: 0 is missing, 1 … n_codes are values in ascending order, levels, or categories.

    `values` holds the distinct values of an exact numeric column, `cuts` the upper cut of every code but the
    last of a binned one; levels have neither.
    """

    kind: Literal["numeric", "ordinal", "categorical"]
    codes: NDArray[np.int64]
    n_codes: int
    values: NDArray[np.float64] | None = None
    cuts: NDArray[np.float64] | None = None

    def threshold(self, below: int, above: int | None) -> float:
        """The number that separates the codes up to `below` from those from `above` on; no `above`: +inf."""
        if above is None:
            return math.inf
        if self.values is not None:
            low, high = float(self.values[below - 1]), float(self.values[above - 1])
            middle = low + (high - low) / 2
            return low if middle >= high else middle
        if self.cuts is not None:
            return float(self.cuts[below - 1])
        return float(below)


@dataclass(frozen=True)
class Limits:
    """What a child must have: rows, and weight in units."""

    min_rows_leaf: int = 1
    min_units_leaf: int = 0


@dataclass(frozen=True)
class Split:
    """A way to part the rows of a node in two. `missing_left` is None where the node has no missing row."""

    left_codes: Codes
    missing_left: bool | None
    left: Rows
    right: Rows
    left_cell: Cell
    right_cell: Cell
    score: float

    def allowed(self, statistic: Statistic, limits: Limits) -> bool:
        """Whether both children are large enough."""
        return all(
            len(rows) >= limits.min_rows_leaf and statistic.weight(cell) >= limits.min_units_leaf
            for rows, cell in ((self.left, self.left_cell), (self.right, self.right_cell))
        )


def best_split(column: ReferenceColumn, rows: Rows, statistic: Statistic, limits: Limits) -> Split | None:
    """The allowed split of largest score; the first proposed one on ties. None if no split is allowed."""
    codes = column.codes[rows]
    present = sorted(int(c) for c in np.unique(codes) if c != 0)

    def search(sets: Iterator[Codes], under: Limits) -> Split | None:
        best = None
        for left_codes, missing_left in with_missing(sets, present, has_missing=bool((codes == 0).any())):
            split = part(column, rows, statistic, left_codes, missing_left)
            # strictly larger: among equals, the first stays
            least = -math.inf if best is None else best.score
            if split.allowed(statistic, under) and split.score > least:
                best = split
        return best

    if column.kind != "categorical":
        return search(prefixes(present), limits)
    ordered = by_mean(column, rows, statistic, present)
    refused = any(statistic.score(statistic.cell(rows[codes == code])) == -math.inf for code in present)
    if refused and len(present) <= MOST_FOR_SUBSETS:
        return search(subsets(present), limits)
    if ordered is None:
        if len(present) <= MOST_FOR_SUBSETS:
            return search(subsets(present), limits)
        ordered = along_principal_axis(column, rows, statistic, present)
    best = search(prefixes(ordered), Limits())
    if best is None or best.allowed(statistic, limits):
        return best
    # a limit binds: the chain of prefixes is no longer sure to hold the best allowed partition
    if len(present) <= MOST_FOR_SUBSETS:
        return search(subsets(present), limits)
    return search(prefixes(ordered), limits)


def prefixes(ordered: Sequence[int]) -> Iterator[Codes]:
    """The first code goes left, the first two, …, all but the last."""
    for length in range(1, len(ordered)):
        yield frozenset(ordered[:length])


def subsets(present: Sequence[int]) -> Iterator[Codes]:
    """Every two-way partition once: the proper subsets that hold the lowest code, by ascending bit mask."""
    for mask in range(1, 2 ** len(present) - 1, 2):
        yield frozenset(code for bit, code in enumerate(present) if mask >> bit & 1)


def with_missing(
    sets: Iterator[Codes], present: Sequence[int], *, has_missing: bool
) -> Iterator[tuple[Codes, bool | None]]:
    """Missing rows are tried on the left, then on the right, of every set; at last, alone on the right."""
    for left_codes in sets:
        if has_missing:
            yield left_codes, True
            yield left_codes, False
        else:
            yield left_codes, None
    if has_missing and present:
        yield frozenset(present), False


def along_principal_axis(
    column: ReferenceColumn, rows: Rows, statistic: Statistic, present: Sequence[int]
) -> list[int]:
    """Codes by their place on the first principal axis of the class shares; equal places by code."""
    cells = [statistic.cell(rows[column.codes[rows] == code]) for code in present]
    place = dict(zip(present, positions(cells), strict=True))
    return sorted(present, key=lambda code: (place[code], code))


def by_mean(
    column: ReferenceColumn, rows: Rows, statistic: Statistic, present: Sequence[int]
) -> list[int] | None:
    """The categories from the lowest mean to the highest, compared as exact fractions; lower code on ties.

    For two classes and for squared error the best partition of all is then one of the prefixes.
    """
    means = {}
    for code in present:
        mean = statistic.mean(statistic.cell(rows[column.codes[rows] == code]))
        if mean is None:
            return None
        means[code] = mean
    return sorted(present, key=lambda code: (means[code], code))


def part(
    column: ReferenceColumn, rows: Rows, statistic: Statistic, left_codes: Codes, missing_left: bool | None
) -> Split:
    """Part the rows, and judge the parts by adding both up from nothing."""
    codes = column.codes[rows]
    goes_left = np.isin(codes, list(left_codes))
    if missing_left:
        goes_left |= codes == 0
    left, right = rows[goes_left], rows[~goes_left]
    left_cell, right_cell = statistic.cell(left), statistic.cell(right)
    score = statistic.score(left_cell) + statistic.score(right_cell)
    return Split(left_codes, missing_left, left, right, left_cell, right_cell, score)
