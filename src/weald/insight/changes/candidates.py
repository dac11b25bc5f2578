"""The values that a column of a row could have instead: one between every two thresholds of the model.

All of them are values that some row of the user's table has, so nothing is proposed that nobody has seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Flags, Floats, Integers
from weald.data.levels import missing_rows
from weald.data.table import Column, LevelColumn, NumericColumn

#: values of a column for a model without thresholds
_QUANTILES = 32


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What may stand in a column: rows of the known table that have these values, the cheapest first."""

    column: int
    rows: Integers  # (m,) a row with the value
    cost: Floats  # (m,) ascending, above 0
    forward: Flags  # (m,) whether the value is larger; all True for categories


@dataclass(frozen=True, slots=True, eq=False)
class ColumnLimits:
    """What a user allows in a column."""

    direction: int = 0  # 1: only more; -1: only less
    low: float = -np.inf
    high: float = np.inf
    levels: frozenset[Any] | None = None


def candidates_of(
    position: int,
    known: Column,
    own: Column,
    limits: ColumnLimits,
    thresholds: NDArray[np.float64] | None,
    quantiles: tuple[float, float],
    cost: str,
) -> Candidates:
    """The candidates of one column.

    Parameters
    ----------
    position : int
        The column's.
    known : Column
        Its values in the known rows.
    own : Column
        Its one value in the row that is asked about; levels as in `known`.
    limits : ColumnLimits
        What is allowed.
    thresholds : ndarray, or None
        Those of the model, ascending; None for a model without.
    quantiles : (float, float)
        Numbers beyond these quantiles of the known ones are not proposed.
    cost : {"quantile", "spread"}
        How far apart two numbers are: by the share of known rows between them, or in deviations.
    """
    if isinstance(known, LevelColumn) and not known.ordered:
        return _levels(position, known, own, limits)
    values, present = _numbers(known)
    mine, has = _numbers(own)
    rows = np.flatnonzero(present)
    # Each value once, by its first row.
    distinct, first = np.unique(values[rows], return_index=True)
    at, scale = _scale(values[rows], cost)
    low, high = np.quantile(values[rows], quantiles, method="nearest") if len(rows) else (0.0, 0.0)
    allowed = (distinct >= max(low, limits.low)) & (distinct <= min(high, limits.high))
    if isinstance(known, LevelColumn) and limits.levels is not None:
        allowed &= np.array([known.levels[int(k) - 1] in limits.levels for k in distinct.tolist()], np.bool_)
    if bool(has[0]):
        away = np.abs(at(distinct) - at(mine)[0]) / scale
        forward = distinct > mine[0]
        allowed &= (distinct != mine[0]) & ((forward * 2 - 1) * limits.direction >= 0)
    else:
        away, forward = np.ones(len(distinct)), np.ones(len(distinct), np.bool_)
    kept = np.flatnonzero(allowed)
    cells = _cells(distinct[kept], mine[0] if has[0] else None, thresholds)
    order = kept[np.lexsort((distinct[kept], away[kept]))]
    inside = cells[np.lexsort((distinct[kept], away[kept]))]
    # The nearest of every interval; what stays in the row's own changes nothing.
    _, nearest = np.unique(inside, return_index=True)
    nearest = np.sort(nearest[inside[nearest] >= 0])
    chosen = order[nearest]
    paid = np.maximum(away[chosen], np.finfo(np.float64).tiny)
    return Candidates(position, rows[first[chosen]], paid, forward[chosen])


def _cells(values: Floats, own: float | None, thresholds: NDArray[np.float64] | None) -> Integers:
    """The interval of each value; -1 for that of the row itself."""
    if thresholds is None:
        few = len(values) <= _QUANTILES
        cells = np.arange(len(values)) if few else np.arange(len(values)) * _QUANTILES // len(values)
        return cells.astype(np.int64)
    cells = np.searchsorted(thresholds, values, side="left").astype(np.int64)
    if own is not None:
        cells[cells == np.searchsorted(thresholds, own, side="left")] = -1
    return cells


def _numbers(column: Column) -> tuple[Floats, Flags]:
    """Numbers, or ranks of levels from 1, and which rows have one."""
    if isinstance(column, LevelColumn):
        return column.indices.astype(np.float64) + 1, column.indices >= 0
    assert isinstance(column, NumericColumn)
    values = np.asarray(column.values, np.float64)
    gaps = missing_rows(column)
    return values, np.ones(len(values), np.bool_) if gaps is None else ~gaps


def _scale(values: Floats, cost: str) -> tuple[Any, float]:
    """What numbers are told apart by, and its unit."""
    if cost == "quantile":
        ordered = np.sort(values)

        def share(x: Floats) -> Floats:
            """The middle of the shares of values below and not above."""
            below, upto = (np.searchsorted(ordered, x, side=side) for side in ("left", "right"))
            return (below + upto) / max(1, 2 * len(ordered))

        return share, 1.0
    middle = np.median(values) if len(values) else 0.0
    spread = 1.4826 * float(np.median(np.abs(values - middle))) if len(values) else 0.0
    if spread == 0:
        spread = float(values.std()) if len(values) else 0.0
    return (lambda x: x), spread if spread > 0 else 1.0


def _levels(position: int, known: LevelColumn, own: Column, limits: ColumnLimits) -> Candidates:
    assert isinstance(own, LevelColumn)
    first = np.full(len(known.levels), -1, np.int64)
    first[known.indices[known.indices >= 0][::-1]] = np.flatnonzero(known.indices >= 0)[::-1]
    there = [
        k
        for k in np.flatnonzero(first >= 0).tolist()
        if k != int(own.indices[0]) and (limits.levels is None or known.levels[k] in limits.levels)
    ]
    return Candidates(position, first[there], np.ones(len(there)), np.ones(len(there), np.bool_))


def in_levels_of(known: Column, own: Column) -> Column:
    """The row's column with levels by the numbers of the known rows; -1 for a level that none of them has."""
    if not isinstance(known, LevelColumn) or not isinstance(own, LevelColumn):
        return own
    place: Mapping[Any, int] = {level: k for k, level in enumerate(known.levels)}
    numbers = [place.get(level, -1) for level in own.levels]
    indices = np.array([*numbers, -1], np.int32)[own.indices]
    return LevelColumn(own.name, indices, known.levels, known.ordered)
