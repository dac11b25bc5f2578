"""Columns as users name them, by name or position, and the points that each is set to."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np

from weald.arrays import ColumnLike
from weald.data.table import Column, Table
from weald.errors import DataError, ParameterError, listing, nearest, told
from weald.insight.dependence.any_model import AnyModel
from weald.inspection.dependence.axes import MOST_POINTS, Axis, axis_at, axis_of, axis_of_thresholds
from weald.inspection.dependence.curves import TreeSum

#: how many points, "thresholds", the values of one column, or those of several by name
Grid: TypeAlias = int | str | ColumnLike | Mapping[Any, ColumnLike] | None
#: the name or the position of a column
ColumnName: TypeAlias = Hashable
#: one column, or two together
OneOrTwo: TypeAlias = Hashable | tuple[Hashable, Hashable]
#: several of these
Several: TypeAlias = list[str] | list[int] | list[tuple[Hashable, Hashable]] | list[OneOrTwo]


def position_of(table: Table, asked: Hashable) -> int:
    """The position of a column; raises with the nearest name."""
    names = table.names
    if asked in names and not isinstance(asked, bool):
        return list(names).index(asked)
    if isinstance(asked, Integral) and not isinstance(asked, bool):
        if 0 <= int(asked) < table.n_columns:
            return int(asked)
        raise DataError(
            f"There is no column {int(asked)}: X has {table.n_columns} columns, 0 to {table.n_columns - 1}."
        )
    if not table.named:
        raise DataError(
            f"There is no column {told(asked)}: the columns of X have no names, but positions from 0 to "
            f"{table.n_columns - 1}."
        )
    close = nearest(str(asked), [str(name) for name in names])
    hint = f" Did you mean {close!r}?" if close else f" The columns are {listing(names)}."
    raise DataError(f"There is no column {told(asked)} in X.{hint}")


def read_columns(table: Table, columns: object) -> tuple[list[tuple[int, ...]], bool]:
    """The positions of one or two columns for each curve, and whether a list was asked for."""
    several = columns is None or isinstance(columns, list | range | np.ndarray)
    if columns is None:
        return [(j,) for j in range(table.n_columns)], True
    asked: Sequence[Any] = list(columns) if several else [columns]  # type: ignore[call-overload]
    if not asked:
        raise ParameterError("`columns` is empty. Name a column, a pair of columns, or a list of these.")
    return [_one_or_two(table, each) for each in asked], several


def read_pairs(table: Table, pairs: object) -> list[tuple[int, int]]:
    """Pairs of columns; None for all pairs."""
    if pairs is None:
        return [(a, b) for a in range(table.n_columns) for b in range(a + 1, table.n_columns)]
    if (
        isinstance(pairs, tuple)
        and len(pairs) == 2
        and not any(isinstance(each, tuple | list) for each in pairs)
    ):
        pairs = [pairs]
    if isinstance(pairs, str | bytes) or not hasattr(pairs, "__iter__"):
        raise ParameterError(
            f"`pairs` must be a list of pairs of columns, or None for all; got {told(pairs)}."
        )
    found = [_one_or_two(table, tuple(pair) if isinstance(pair, list) else pair) for pair in pairs]
    for pair in found:
        if len(pair) != 2:
            raise ParameterError(
                f"`pairs` must hold two columns each; got {told(table.names[pair[0]])} alone. "
                "Use `columns` for one column against all the rest."
            )
    return [(pair[0], pair[1]) for pair in found]


def _one_or_two(table: Table, asked: object) -> tuple[int, ...]:
    if not isinstance(asked, tuple) or asked in table.names:
        return (position_of(table, asked.item() if isinstance(asked, np.generic) else asked),)
    if len(asked) != 2:
        raise ParameterError(
            f"A tuple names two columns that are set together; got {told(asked)}. Use a list for "
            "several curves."
        )
    first, second = position_of(table, asked[0]), position_of(table, asked[1])
    if first == second:
        raise ParameterError(f"Column {told(asked[0])} is named twice. A pair is of two different columns.")
    return first, second


def read_axis(summed: TreeSum | AnyModel, position: int, grid: Grid, *, n_free: int) -> Axis:
    """The points of a column; `n_free`: how many columns are set together."""
    column: Column = summed.table.columns[position]
    name = column.name
    if isinstance(grid, Mapping):
        given = next((grid[key] for key in (name, position) if key in grid), None)
        _check_names(summed.table, grid)
        return read_axis(summed, position, given, n_free=n_free)
    if grid is None:
        return axis_of(column, MOST_POINTS if n_free == 1 else 25)
    if isinstance(grid, str):
        if grid != "thresholds":
            raise ParameterError(
                f"`grid` must be None, a number of points, 'thresholds', values, or a mapping of column to "
                f"these; got {told(grid)}."
            )
        return axis_of_thresholds(column, summed.thresholds(position))
    if isinstance(grid, Integral) and not isinstance(grid, bool):
        if grid < 2:
            raise ParameterError(f"`grid` must be at least 2 points; got {int(grid)}. Use 100.")
        return axis_of(column, int(grid))
    return axis_at(column, grid)


def _check_names(table: Table, grid: Mapping[Any, Any]) -> None:
    for key in grid:
        position_of(table, key)
