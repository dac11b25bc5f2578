"""The values that a column is set to: numbers, levels, and a missing value as one of its own.

A column of few values has a point for each; one of many has points at equal distances between two quantiles,
as in scikit-learn. Whole numbers stay whole.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from weald.arrays import ColumnLike, Floats
from weald.data.adapters import column_of
from weald.data.levels import level_key, level_positions, missing_rows, numeric_as_levels, plain_levels
from weald.data.table import Column, Kind, LevelColumn, NumericColumn, Unit
from weald.errors import DataError, ParameterError, infinite_value, listing, nearest, told

#: points of a column that has more values than that
MOST_POINTS = 100
#: the quantiles between which these stand, by the rule that scikit-learn takes
ENDS = (0.05, 0.95)


@dataclass(frozen=True, eq=False)
class Axis:
    """The points of one column, ascending, levels by their number; a missing value comes last."""

    name: Hashable
    kind: Kind
    unit: Unit
    whole: bool  # a column of whole numbers
    levels: tuple[Any, ...]  # all levels the column knows; empty for numbers
    codes: Floats  # ascending numbers, or positions of levels
    missing: bool
    #: of a numeric column, where tenths of the rows are; else empty
    deciles: Floats

    @property
    def n_points(self) -> int:
        """How many points."""
        return len(self.codes) + self.missing

    @cached_property
    def values(self) -> NDArray[Any]:
        """The points as users know them: numbers, dates or levels; NaN, NaT or None where missing."""
        if self.kind != "numeric":
            out = np.empty(self.n_points, object)
            out[: len(self.codes)] = [self.levels[int(code)] for code in self.codes]
            return out
        if self.unit in ("number", "bool"):
            return np.append(self.codes, [np.nan] * self.missing)
        ticks = np.rint(self.codes).astype(np.int64).view("m8[us]" if self.unit == "duration" else "M8[us]")
        return np.append(ticks, np.array(["NaT"] * self.missing, ticks.dtype))

    def column(self, points: NDArray[np.integer[Any]]) -> Column:
        """A column that has the value of a point in each row, by number."""
        lacks = points >= len(self.codes)
        if self.kind == "numeric":
            values = np.where(
                lacks, np.nan, self.codes[np.where(lacks, 0, points)] if len(self.codes) else 0.0
            )
            return NumericColumn(self.name, values, unit=self.unit)
        codes = np.append(self.codes, -1.0).astype(np.int32)
        return LevelColumn(self.name, codes[points], self.levels, ordered=self.kind == "ordinal")

    def places(self, column: Column) -> NDArray[np.intp]:
        """For each row of a column the point it is at; -1 where it is at none."""
        lacks = lacking(column)
        values = _codes(column)
        inside = np.minimum(np.searchsorted(self.codes, values), max(0, len(self.codes) - 1))
        exact = self.codes[inside] == values if len(self.codes) else np.zeros(len(values), np.bool_)
        found = np.where(exact, inside, -1)
        return found if lacks is None else np.where(lacks, len(self.codes) if self.missing else -1, found)


def axis_of(column: Column, most: int = MOST_POINTS) -> Axis:
    """The points of a column by its own values: each of them if there are at most `most`."""
    some, present = lacking(column) is not None, _present(column)
    distinct = _distinct(present)
    if isinstance(column, LevelColumn):
        return _axis(column, distinct, some, present)
    _check_finite(column, distinct)
    if len(distinct) > most:
        low, high = _quantiles(present, np.array(ENDS), 0.4)
        if low == high:
            low, high = distinct[0], distinct[-1]
        points = np.linspace(low, high, most)
        distinct = np.unique(np.rint(points)) if _is_whole(column) else points
    return _axis(column, distinct, some, present)


def axis_at(column: Column, given: ColumnLike, *, of: str = "grid") -> Axis:
    """The points that a user gives, in ascending order; None and NaN are a missing value."""
    if isinstance(given, str | bytes) or not hasattr(given, "__len__"):
        raise ParameterError(
            f"`{of}` for column {told(column.name)} must be a list or an array of values; got {told(given)}."
        )
    points = column_of(column.name, given)
    if isinstance(points, LevelColumn) and not points.levels:  # nothing but None
        points = NumericColumn(column.name, np.full(len(points.indices), np.nan), unit=_unit(column))
    lacks = lacking(points)
    some = lacks is not None
    present = np.zeros(0) if lacks is not None and lacks.all() else _codes_among(column, points, of)
    if not len(present) and not some:
        raise ParameterError(f"`{of}` for column {told(column.name)} is empty. Give at least one value.")
    distinct = _distinct(present)
    return _axis(column, distinct, some, _present(column))


def axis_of_thresholds(column: Column, thresholds: Floats) -> Axis:
    """A point on each step of a tree model's curve: its thresholds, and a value above the last."""
    if isinstance(column, LevelColumn):
        return axis_of(column)
    plain = axis_of(column)
    finite = np.unique(thresholds[np.isfinite(thresholds)])
    present = _present(column)
    top = max([*present.max(initial=-np.inf, keepdims=True).tolist(), *finite[-1:].tolist()])
    above = top if not len(finite) or top > finite[-1] else np.nextafter(finite[-1], np.inf)
    return _axis(column, np.append(finite, above), plain.missing, present)


def axis_of_all(column: Column) -> Axis:
    """A point for every value that the column has."""
    present = _present(column)
    distinct = _distinct(present)
    if isinstance(column, NumericColumn):
        _check_finite(column, distinct)
    return _axis(column, distinct, lacking(column) is not None, present)


def axis_of_cells(column: Column, thresholds: Floats) -> tuple[Axis, NDArray[np.intp]]:
    """A point for every value that splits tell from others, and the point of each row."""
    every = axis_of_all(column)
    places = every.places(column)
    if isinstance(column, LevelColumn):
        return every, places
    cell = np.searchsorted(thresholds, every.codes)
    _, first, point = np.unique(cell, return_index=True, return_inverse=True)
    # A missing value stays the last point.
    return replace(every, codes=every.codes[first]), np.append(point, len(first))[places]


def _axis(column: Column, codes: Floats, missing: bool, present: Floats) -> Axis:
    numeric = isinstance(column, NumericColumn)
    deciles = _quantiles(present, np.arange(1, 10) / 10, 1.0) if numeric and len(present) else np.zeros(0)
    return Axis(
        column.name,
        column.kind,
        _unit(column),
        _is_whole(column),
        () if numeric else cast(LevelColumn, column).levels,
        np.ascontiguousarray(codes, np.float64),
        missing,
        deciles,
    )


def _present(column: Column) -> Floats:
    """The values that are there, ascending."""
    lacks, values = lacking(column), _codes(column)
    return np.sort(values if lacks is None else values[~lacks])


def _distinct(ordered: Floats) -> Floats:
    if not len(ordered):
        return ordered
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))]


def _quantiles(ordered: Floats, shares: Floats, plotting: float) -> Floats:
    """Quantiles of ascending values, by the plotting positions of Hyndman and Fan: 1 is NumPy's rule."""
    n = len(ordered)
    if n == 1:
        return np.repeat(ordered, len(shares))
    at = n * shares + plotting + shares * (1 - 2 * plotting)
    below = np.floor(np.clip(at, 1, n - 1)).astype(np.intp)
    rest = np.clip(at - below, 0.0, 1.0)
    found: Floats = (1 - rest) * ordered[below - 1] + rest * ordered[below]
    return found


def lacking(column: Column) -> NDArray[np.bool_] | None:
    """Which rows are missing; None when no row is."""
    if isinstance(column, NumericColumn):
        return missing_rows(column)
    lacks = column.indices < 0
    return lacks if bool(lacks.any()) else None


def _codes(column: Column) -> Floats:
    """Numbers, or positions of levels; what stands where a value is missing is of no meaning."""
    values = column.values if isinstance(column, NumericColumn) else column.indices
    return np.asarray(values, np.float64)


def _unit(column: Column) -> Unit:
    return column.unit if isinstance(column, NumericColumn) else "number"


def _is_whole(column: Column) -> bool:
    return isinstance(column, NumericColumn) and column.values.dtype.kind in "iub"


def _check_finite(column: NumericColumn, distinct: Floats) -> None:
    if len(distinct) and not np.isfinite(distinct[[0, -1]]).all():
        row = int(np.flatnonzero(np.isinf(_codes(column)))[0])
        raise infinite_value(column.name, row, float(column.values[row]))


def _codes_among(column: Column, points: Column, of: str) -> Floats:
    """A user's values as numbers or as positions among the levels of the column."""
    if isinstance(column, LevelColumn):
        return _level_codes(column, points, of)
    if isinstance(points, LevelColumn):
        raise DataError(
            f"`{of}` for column {told(column.name)} must hold numbers, as the column does; got "
            f"{listing(points.levels, most=3)}."
        )
    plain = ("number", "bool")
    if points.unit != column.unit and not (points.unit in plain and column.unit in plain):
        raise DataError(
            f"`{of}` for column {told(column.name)} holds {points.unit}s, and the column {column.unit}s. "
            "Give values of the column's own type."
        )
    values = _present(points)
    if np.isinf(values).any():
        raise DataError(f"`{of}` for column {told(column.name)} holds an infinite number. Leave it out.")
    return values


def _level_codes(column: LevelColumn, points: Column, of: str) -> Floats:
    given = points if isinstance(points, LevelColumn) else numeric_as_levels(points)
    position = level_positions(column.levels)
    found: list[float] = []
    used = np.unique(given.indices[given.indices >= 0]).tolist()
    for level in plain_levels([given.levels[i] for i in used]):
        at = position.get(level_key(level))
        if at is None:
            close = nearest(str(level), [str(each) for each in column.levels])
            hint = f"Did you mean {close!r}?" if close else f"It knows {listing(column.levels)}."
            raise DataError(
                f"`{of}` for column {told(column.name)} holds {told(level)}, a category that was never seen "
                f"there. {hint} None stands for a missing value."
            )
        found.append(float(at))
    return np.array(found)
