"""A grid of rows through a table: one or two columns vary, the others are held, for pictures of models."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, TableLike
from weald.data.adapters import to_table
from weald.data.frames import from_pandas as pandas_frame
from weald.data.matrix.columns import numbers_of
from weald.data.table import Column, LevelColumn, Table
from weald.errors import DataError, ParameterError, listing, nearest
from weald.pictures.dependence.panels import number

#: of the range of the rows, on each side
_ROOM = 0.07


@dataclass(frozen=True, slots=True)
class Held:
    """A column that does not vary: its value, and where that comes from."""

    name: Hashable
    value: object
    source: str  # "given", "median" or "most frequent"


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """The columns that vary, with their values in the user's rows, and those that are held."""

    table: Table
    columns: tuple[int, ...]
    values: Floats  # (n_rows, n_varied)
    held: tuple[Held, ...]
    like: TableLike  # the user's table

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that vary, as axes show them."""
        names = [self.table.names[j] for j in self.columns]
        return tuple(name if isinstance(name, str) else f"column {name}" for name in names)

    def limits(self, axis: int) -> tuple[float, float]:
        """The range that a picture shows."""
        known = self.values[:, axis][np.isfinite(self.values[:, axis])]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        room = _ROOM * (high - low) if high > low else max(1.0, abs(high)) * 0.5
        return low - room, high + room

    def rows(self, points: Floats) -> TableLike:
        """Rows at these places, (n_points, n_varied), as a table like the user's."""
        held = {column.name: column.value for column in self.held}
        varied = {self.table.names[j]: points[:, k] for k, j in enumerate(self.columns)}
        columns = {
            name: varied[name] if name in varied else _repeated(held[name], len(points))
            for name in self.table.names
        }
        if pandas_frame.is_frame(self.like) or type(self.like).__module__.partition(".")[0] == "polars":
            frame: Callable[..., TableLike] = type(self.like)
            return frame(columns)
        if self.table.named:
            return columns
        numbers = all(column.dtype.kind == "f" for column in columns.values())
        return np.column_stack([each if numbers else each.astype(object) for each in columns.values()])


def plane_of(
    X: TableLike,
    columns: str | int | Sequence[Hashable] | None,
    held: Mapping[str, object] | Mapping[int, object] | None,
    n_varied: int,
    *,
    owner: str,
) -> Plane:
    """The plane through a table.

    Parameters
    ----------
    X : table
        The user's rows.
    columns : sequence of names or positions, a single one, or None
        Those that vary; None for the first numeric ones.
    held : mapping of name or position to value, or None
        Values of the others; medians and most frequent levels where nothing is given.
    n_varied : int
        How many vary.
    owner : str
        The function that asks, for messages.
    """
    table = to_table(X)
    found = tuple(table.columns)
    chosen = _chosen(table, found, columns, n_varied, owner)
    given = {_position(table, name, "held", owner): value for name, value in dict(held or {}).items()}
    for j in given:
        if j in chosen:
            raise ParameterError(
                f"`held` of {owner} names {table.names[j]!r}, which is a column that varies."
            )
    values = np.stack([numbers_of(found[j]) for j in chosen], axis=1)
    others = tuple(
        Held(table.names[j], given[j], "given") if j in given else _usual(found[j])
        for j in range(table.n_columns)
        if j not in chosen
    )
    return Plane(table, chosen, values, others, X)


def _chosen(
    table: Table,
    found: Sequence[Column],
    columns: str | int | Sequence[Hashable] | None,
    n_varied: int,
    owner: str,
) -> tuple[int, ...]:
    if columns is None:
        numeric = [j for j, column in enumerate(found) if _is_number(column)][:n_varied]
        if len(numeric) < n_varied:
            raise DataError(
                f"{owner} draws {n_varied} numeric column{'s' * (n_varied > 1)}, and X has {len(numeric)}."
            )
        return tuple(numeric)
    asked = [columns] if isinstance(columns, str | int | np.integer) else list(columns)
    chosen = tuple(_position(table, name, "columns", owner) for name in asked)
    if len(set(chosen)) != n_varied:
        what = "one column" if n_varied == 1 else "two different columns"
        raise ParameterError(f"`columns` of {owner} must name {what} for this model; got {columns!r}.")
    for j in chosen:
        if not _is_number(found[j]):
            raise DataError(
                f"Column {table.names[j]!r} holds no plain numbers, which {owner} draws. Hold it instead."
            )
    return chosen


def _is_number(column: Column) -> bool:
    return not isinstance(column, LevelColumn) and column.unit in ("number", "bool")


def _position(table: Table, name: object, parameter: str, owner: str) -> int:
    names = list(table.names)
    if name in names:
        return names.index(name)
    if isinstance(name, int | np.integer) and not isinstance(name, bool) and 0 <= name < len(names):
        return int(name)
    close = nearest(str(name), [str(each) for each in names])
    hint = f" Did you mean {close!r}?" if close else f" The columns are {listing(names)}."
    raise ParameterError(f"`{parameter}` of {owner} names {name!r}, which X does not have.{hint}")


def _usual(column: Column) -> Held:
    """The median of numbers, the most frequent level of categories."""
    if isinstance(column, LevelColumn):
        used = column.indices[column.indices >= 0]
        value = column.levels[int(np.bincount(used).argmax())] if len(used) else None
        return Held(column.name, value, "most frequent")
    if column.unit not in ("number", "bool"):
        return Held(column.name, _middle(column.values, column.unit), "median")
    numbers = numbers_of(column)
    known = numbers[~np.isnan(numbers)]
    return Held(column.name, float(np.median(known)) if len(known) else np.nan, "median")


def _middle(microseconds: Floats, unit: str) -> object:
    """The median of dates or durations, as one."""
    known = microseconds[~np.isnan(microseconds)]
    middle = int(np.median(known)) if len(known) else 0
    kind = "timedelta64[us]" if unit == "duration" else "datetime64[us]"
    return np.array(middle if len(known) else "NaT", kind if not len(known) else np.int64).astype(kind)[()]


def _repeated(value: object, n_rows: int) -> NDArray[Any]:
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return np.full(n_rows, float(value))
    if isinstance(value, np.datetime64 | np.timedelta64):
        return np.full(n_rows, value)
    out = np.empty(n_rows, dtype=object)
    out[:] = [value] * n_rows
    return out


def in_words(held: Mapping[Hashable, Held] | Sequence[Held], most: int = 4) -> str:
    """The columns that are held, for a line under a picture; empty if none is."""
    each = list(held.values()) if isinstance(held, Mapping) else list(held)
    if not each:
        return ""
    shown = ", ".join(
        f"{one.name} = {number(one.value)}" if isinstance(one.value, float) else f"{one.name} = {one.value}"
        for one in each[:most]
    )
    more = f" and {len(each) - most} more" if len(each) > most else ""
    sources = sorted({one.source for one in each})
    how = "" if sources == ["given"] else f" ({' or '.join(sources)})"
    return f"held: {shown}{more}{how}"
