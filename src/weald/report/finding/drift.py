"""How far two tables are from each other, column by column, and which rows are in both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from weald.arrays import Floats
from weald.data.table import LevelColumn, NumericColumn, Table
from weald.report.subject import columns_at

_PRIME, _START = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xCBF29CE484222325)
#: rows of a level in both tables together from which on it is tested by itself
_FEW = 10


def number_drift(values: Floats, others: Floats) -> tuple[float, float, int]:
    """Kolmogorov and Smirnov's distance of the known values, or that of the missing shares; p-value; 0."""
    mine, theirs = values[~np.isnan(values)], others[~np.isnan(others)]
    found = [(abs(_share(mine, values) - _share(theirs, others)), _missing_p(mine, values, theirs, others))]
    if len(mine) and len(theirs):
        test = stats.ks_2samp(mine, theirs, method="asymp")
        found.append((float(test.statistic), float(test.pvalue)))
    # two tests of one column
    p_value = min(1.0, len(found) * min(p for _, p in found))
    return max(distance for distance, _ in found), p_value, 0


def level_drift(values: Sequence[str | None], others: Sequence[str | None]) -> tuple[float, float, int]:
    """The distance in total variation, a χ² test, and how many rows have levels that others lack."""
    mine, theirs = Counter(values), Counter(others)
    n, m = len(values), len(others)
    every = sorted({*mine, *theirs}, key=lambda level: (level is None, level or ""))
    distance = 0.5 * sum(abs(mine[level] / n - theirs[level] / m) for level in every)
    n_unseen = sum(count for level, count in mine.items() if level is not None and level not in theirs)
    common = [level for level in every if mine[level] + theirs[level] >= _FEW]
    cells = [(mine[level], theirs[level]) for level in common]
    rest = (n - sum(a for a, _ in cells), m - sum(b for _, b in cells))
    if sum(rest):
        cells.append(rest)
    if len(cells) < 2:
        return distance, 1.0, n_unseen
    return distance, float(stats.chi2_contingency(np.array(cells).T, correction=False).pvalue), n_unseen


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values for all of them together, by Holm.

    >>> holm([0.01, 0.5, 0.02])
    [0.03, 0.5, 0.04]
    """
    n = len(p_values)
    found, so_far = [0.0] * n, 0.0
    for k, j in enumerate(sorted(range(n), key=lambda j: p_values[j])):
        so_far = max(so_far, min(1.0, (n - k) * p_values[j]))
        found[j] = so_far
    return found


def hashed_rows(table: Table) -> NDArray[np.uint64]:
    """A number per row; rows that are equal in every value have the same.

    Levels count by what they are, not by where they stand among the levels of a table.
    """
    found = np.full(table.n_rows, _START, np.uint64)
    for j in range(table.n_columns):
        column = columns_at(table, [j])[0]
        if isinstance(column, LevelColumn):
            level = np.array([*(_of_text(str(each)) for each in column.levels), 0], np.uint64)
            codes = level[column.indices]
        else:
            codes = _of_numbers(column)
        found = _mixed((found ^ codes) * _PRIME)
    return found


def _of_numbers(column: NumericColumn) -> NDArray[np.uint64]:
    values = np.asarray(column.values, np.float64) + 0.0  # −0 is 0
    lacks = np.isnan(values)
    if column.missing is not None:
        lacks = lacks | column.missing
    codes = values.view(np.uint64).copy()
    codes[lacks] = 0x7FF8000000000001
    return codes


def _of_text(text: str) -> int:
    found = 0xCBF29CE484222325
    for byte in text.encode("utf-8", "surrogatepass"):
        found = ((found ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return found


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return values ^ (values >> np.uint64(29))


def _share(known: Floats, values: Floats) -> float:
    return 1 - len(known) / len(values)


def _missing_p(mine: Floats, values: Floats, theirs: Floats, others: Floats) -> float:
    cells = np.array([[len(mine), len(values) - len(mine)], [len(theirs), len(others) - len(theirs)]])
    if not cells.sum(axis=0).all():
        return 1.0
    return float(stats.chi2_contingency(cells, correction=False).pvalue)
