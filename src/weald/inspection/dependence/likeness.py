"""The order in which categories are stepped through: alike ones stand side by side (equation E8)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.data.levels import missing_rows
from weald.data.table import Column, LevelColumn, NumericColumn, Table

#: quantiles at which numbers are compared
_N_QUANTILES = 20


def order_by_likeness(
    table: Table, position: int, levels: NDArray[np.intp], weight: Floats
) -> NDArray[np.intp]:
    """Levels of a column in an order in which neighbours are alike in the other columns.

    The distance of two levels adds up, column by column, how far their distributions are apart: the largest
    difference of distribution functions for numbers, half the sum of differences of shares for levels. The
    order is that of the first coordinate of classical scaling, turned so that the first level comes before
    the last.

    Parameters
    ----------
    table : Table
        The rows.
    position : int
        The column.
    levels : ndarray of int
        Those of its levels that are to be ordered.
    weight : ndarray of shape (n_rows,)
        The weights of the rows.
    """
    own = table.columns[position]
    assert isinstance(own, LevelColumn)
    n = len(levels)
    if n < 3:
        return levels
    place = np.full(len(own.levels) + 1, -1)
    place[levels] = np.arange(n)
    group = place[own.indices]
    distance = np.zeros((n, n))
    for j in range(table.n_columns):
        if j != position:
            distance += _apart(table.columns[j], group, n, weight)
    return levels[_scaled(distance)]


def _scaled(distance: Floats) -> NDArray[np.intp]:
    n = len(distance)
    centre = np.eye(n) - 1.0 / n
    _, vectors = np.linalg.eigh(-0.5 * centre @ np.square(distance) @ centre)
    first = np.round(vectors[:, -1], 9)  # so that what rounding leaves decides no tie
    if first[0] > first[-1]:
        first = -first
    return np.lexsort((np.arange(n), first))


def _apart(column: Column, group: NDArray[np.intp], n: int, weight: Floats) -> Floats:
    """How far the groups' distributions of a column are apart: (groups, groups)."""
    codes, numeric = _coded(column)
    n_codes = int(codes.max(initial=0)) + 1
    inside = group >= 0
    sums = np.bincount(group[inside] * n_codes + codes[inside], weight[inside], n * n_codes).reshape(
        n, n_codes
    )
    shares = sums / np.maximum(sums.sum(axis=1, keepdims=True), 1e-300)
    if numeric:
        shares = shares.cumsum(axis=1)
    out = np.empty((n, n))
    for i in range(n):
        gap = np.abs(shares - shares[i])
        out[i] = gap.max(axis=1) if numeric else gap.sum(axis=1) / 2
    return out


def _coded(column: Column) -> tuple[NDArray[np.intp], bool]:
    """Small whole numbers, 0 for missing: levels, or quantiles of numbers; whether they have an order."""
    if isinstance(column, LevelColumn):
        return column.indices.astype(np.intp) + 1, column.ordered
    assert isinstance(column, NumericColumn)
    lacks = missing_rows(column)
    values = np.asarray(column.values, np.float64)
    present = values if lacks is None else values[~lacks]
    if not len(present):
        return np.zeros(len(values), np.intp), True
    cuts = np.unique(np.quantile(present, np.arange(1, _N_QUANTILES) / _N_QUANTILES))
    codes = np.searchsorted(cuts, values, side="left") + 1
    return codes if lacks is None else np.where(lacks, 0, codes), True
