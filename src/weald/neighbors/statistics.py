"""What a training table tells of its columns: means, deviations, and where a missing number stands.

Only known values count. Equal numbers give equal bits, whatever library held them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.arrays import Flags, Floats
from weald.data.matrix.statistics import moments, weighted_median

#: numbers that are looked at together
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """Of every column that has numbers: mean and deviation of the known ones, and the middle for power p.

    `middle` is the mean for p = 2 and the median for others; `spread` is the p-th root of the mean power of
    the differences from it, for p = ∞ the largest. A column without any known value has zeros.
    """

    known: Flags
    mean: Floats
    deviation: Floats
    middle: Floats
    spread: Floats

    @classmethod
    def empty(cls, n_columns: int) -> ColumnStatistics:
        """Nothing known of any column."""
        return cls(np.zeros(n_columns, np.bool_), *np.zeros((4, n_columns)))


def dense_statistics(numbers: Floats, weight: Floats | None, p: float) -> ColumnStatistics:
    """The statistics of an array whose NaN are gaps; rows of weight 0 do not count."""
    n_rows, n_columns = numbers.shape
    found = ColumnStatistics.empty(n_columns)
    used = None if weight is None else np.flatnonzero(weight > 0)
    kept = None if weight is None or used is None else weight[used]
    step = max(1, _BLOCK // max(1, n_rows))
    for start in range(0, n_columns, step):
        lines = np.ascontiguousarray(numbers[:, start : start + step].T)
        if used is not None:
            lines = lines[:, used]
        gapped = np.isnan(lines).any(axis=1)
        whole = np.flatnonzero(~gapped)
        if len(whole) and lines.shape[1]:
            _put(found, start + whole, lines[whole] if gapped.any() else lines, kept, p)
        for line in np.flatnonzero(gapped).tolist():
            known = ~np.isnan(lines[line])
            if known.any():
                some = None if kept is None else kept[known]
                _put(found, np.array([start + line]), lines[line : line + 1, known], some, p)
    return found


def _put(
    found: ColumnStatistics, at: NDArray[np.intp], lines: Floats, weight: Floats | None, p: float
) -> None:
    """Statistics of columns without gaps, each a line, into their places."""
    mean, deviation, _ = moments(lines, weight)
    found.known[at], found.mean[at], found.deviation[at] = True, mean, deviation
    if p == 2:
        found.middle[at], found.spread[at] = mean, deviation
        return
    for j, line in zip(at.tolist(), lines, strict=True):
        found.middle[j] = weighted_median(line, weight)
        found.spread[j] = _spread(np.abs(line - found.middle[j]), weight, p)


def _spread(away: Floats, weight: Floats | None, p: float) -> float:
    """The p-th root of the mean p-th power."""
    largest = float(away.max())
    if largest == 0 or np.isinf(p):
        return largest
    return largest * float(np.average((away / largest) ** p, weights=weight) ** (1 / p))


def sparse_statistics(matrix: sparse.csr_array, weight: Floats | None, p: float) -> ColumnStatistics:
    """The statistics of a CSR matrix whose stored NaN are gaps; what it does not store is 0."""
    n_rows, n_columns = matrix.shape
    rows = np.repeat(np.arange(n_rows), np.diff(matrix.indptr))
    gap = np.isnan(matrix.data)
    of_row = np.ones(n_rows) if weight is None else weight
    columns, values, shares = matrix.indices[~gap], matrix.data[~gap], of_row[rows[~gap]]

    def total(of_entries: Floats) -> Floats:
        return np.bincount(columns, weights=of_entries, minlength=n_columns).astype(np.float64)

    stored = total(shares)
    lost = np.bincount(matrix.indices[gap], weights=of_row[rows[gap]], minlength=n_columns)
    weighed = np.maximum(of_row.sum() - lost, 0.0)
    known = weighed > 0
    per = 1.0 / np.where(known, weighed, 1.0)
    zeros = np.maximum(weighed - stored, 0.0)
    mean = total(shares * values) * per
    away = values - mean[columns]
    deviation = np.sqrt((total(shares * away * away) + zeros * mean * mean) * per)
    if p == 2:
        return ColumnStatistics(known, mean, deviation, mean, deviation)
    middle = _sparse_medians(columns, values, shares, stored, zeros)
    away = np.abs(values - middle[columns])
    if np.isinf(p):
        spread = np.where(zeros > 0, np.abs(middle), 0.0)
        np.maximum.at(spread, columns[shares > 0], away[shares > 0])
    else:
        spread = ((total(shares * away**p) + zeros * np.abs(middle) ** p) * per) ** (1 / p)
    return ColumnStatistics(known, mean, deviation, middle, spread)


def _sparse_medians(
    columns: NDArray[Any], values: Floats, shares: Floats, stored: Floats, zeros: Floats
) -> Floats:
    """The median of each column, zeros included: 0 unless half of the weight is stored."""
    middle = np.zeros(len(stored))
    order = np.argsort(columns, kind="stable")
    starts = np.searchsorted(columns[order], np.arange(len(stored) + 1))
    for j in np.flatnonzero((stored > 0) & (stored >= zeros * (1 - 1e-9))).tolist():
        at = order[starts[j] : starts[j + 1]]
        one = np.append(values[at], 0.0)
        middle[j] = weighted_median(one, np.append(shares[at], zeros[j]))
    return middle
