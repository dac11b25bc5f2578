"""Levels: the distinct values of a categorical or ordinal column, and how two of them are told apart.

Levels are plain Python values, and they match by value and type: 1 is 1.0, but neither True nor "1". A date
without a time is its midnight, since most libraries know no other. A date or duration with parts of
microseconds, which Python's own lack, is NumPy's, in nanoseconds.
"""

from __future__ import annotations

import datetime as dt
import itertools
import sys
from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data.table import LevelColumn, NumericColumn
from weald.errors import DataError, DataTypeError

_EPOCH = dt.datetime(1970, 1, 1)
# Up to here every whole number has one float64, so that a float level may safely become an int.
_EXACT_WHOLE = 2.0**53


def plain_level(value: object) -> object:
    """`value` as a plain Python value: NumPy scalars, pandas timestamps and decimals lose their wrapping."""
    kind = type(value)
    if kind is str or kind is int or kind is bool:
        return value
    if isinstance(value, np.datetime64 | np.timedelta64):
        return plain_time(value)
    if isinstance(value, np.generic):
        return plain_level(value.item()) if not isinstance(value, np.longdouble) else float(value)
    if isinstance(value, float | Decimal):
        number = float(value)
        return int(number) if number.is_integer() and abs(number) <= _EXACT_WHOLE else number
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dt.datetime):
        return _plain_instant(value)
    if isinstance(value, dt.timedelta) and kind is not dt.timedelta:
        return plain_time(value.to_timedelta64()) if hasattr(value, "to_timedelta64") else value
    if not isinstance(value, Hashable):
        raise DataTypeError(f"A level must be hashable; got {type(value).__name__}.")
    return value


def plain_time(value: np.datetime64 | np.timedelta64) -> object:
    """A date or duration of NumPy as Python's own, or as nanoseconds if it has parts of microseconds."""
    coarse = value.astype(f"{value.dtype.kind}8[us]")
    if coarse == value:
        return coarse.item()
    return value.astype(f"{value.dtype.kind}8[ns]")


def _plain_instant(value: dt.datetime) -> object:
    """An instant without time zone, in UTC."""
    if getattr(value, "nanosecond", 0):  # of pandas alone
        return plain_time(value.to_datetime64())  # type: ignore[attr-defined]
    if value.tzinfo is not None:
        try:
            value = value.astimezone(dt.UTC).replace(tzinfo=None)
        except OverflowError:
            raise DataError(
                f"{value} is beyond the years 1 to 9999 in UTC, and so no category. Replace it."
            ) from None
    if type(value) is dt.datetime:
        return value
    return dt.datetime(
        value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond
    )


def plain_levels(values: Iterable[Any]) -> tuple[Any, ...]:
    """Every value as `plain_level`; whole floats turn into ints only where all numbers are whole."""
    found = list(values)
    if set(map(type, found)) <= {str}:
        return tuple(found)
    plain = [plain_level(value) for value in found]
    if any(type(level) is float for level in plain):
        plain = [float(level) if type(level) is int else level for level in plain]
    return tuple(plain)


def type_word(level: object) -> str:
    """The type of a level as far as matching goes; ints and floats are one type, and all dates are."""
    if isinstance(level, bool):
        return "bool"
    if isinstance(level, int | float):
        return "number"
    if isinstance(level, dt.date | np.datetime64):
        return "datetime"
    return "timedelta" if isinstance(level, dt.timedelta | np.timedelta64) else type(level).__name__


def level_key(level: object) -> tuple[str, Any]:
    """What two levels must share to be the same level."""
    if type(level) is dt.date:
        level = dt.datetime(level.year, level.month, level.day)
    return (type_word(level), level)


def sorted_positions(levels: Sequence[Any]) -> list[int]:
    """The positions of `levels` in the order of (type, value), which no frame library can influence."""
    positions = list(range(len(levels)))
    if all(type(level) is str for level in levels):
        return sorted(positions, key=levels.__getitem__)
    try:
        return sorted(positions, key=lambda i: (type_word(levels[i]), order_value(levels[i])))
    except TypeError:
        return sorted(positions, key=lambda i: (type_word(levels[i]), repr(levels[i])))


def order_value(level: object) -> Any:
    """What a level is sorted by among those of its type: of times Python's own and nanoseconds."""
    if isinstance(level, np.datetime64 | np.timedelta64):
        coarse = level.astype(f"{level.dtype.kind}8[us]")  # rounds down
        return (coarse.item(), int((level - coarse).astype(np.int64)))
    if isinstance(level, dt.date | dt.timedelta):
        return (level_key(level)[1], 0)
    return level


def level_positions(levels: Sequence[Any]) -> dict[Any, int]:
    """Level key → position."""
    return {level_key(level): i for i, level in enumerate(levels)}


def unified(
    name: Hashable, indices: NDArray[Any], values: Sequence[Any], *, ordered: bool = False
) -> LevelColumn:
    """A level column from indices into `values`, where equal values may stand more than once."""
    levels = plain_levels(values)
    both_dates = {dt.date, dt.datetime} <= set(map(type, levels))  # the same day may be there as either
    if len(set(levels)) == len(levels) and not both_dates:
        return LevelColumn(name, indices.astype(np.int32, copy=False), levels, ordered)
    first: dict[Any, int] = {}
    target = np.empty(len(levels) + 1, dtype=np.int32)
    kept: list[Any] = []
    for i, level in enumerate(levels):
        key = level_key(level)
        if key not in first:
            first[key] = len(kept)
            kept.append(level)
        target[i] = first[key]
    target[-1] = -1
    return LevelColumn(name, target[indices], tuple(kept), ordered)


def numeric_as_levels(column: NumericColumn) -> LevelColumn:
    """A numeric column as categories: each distinct value is a level; NaN and masked rows are missing."""
    values = column.values if column.nanoseconds is None else column.nanoseconds
    missing = missing_rows(column)
    present = values if missing is None else values[~missing]
    distinct, inverse = distinct_numbers(present)
    if distinct.dtype.kind == "f" and not np.isfinite(distinct).all():
        raise DataError(f"Column {column.name!r} holds infinite values. Replace them, or mark them missing.")
    if missing is None:
        indices = inverse
    else:
        indices = np.full(len(values), -1, dtype=np.int32)
        indices[~missing] = inverse
    return LevelColumn(column.name, indices, _levels_of_unit(column, distinct))


def distinct_numbers(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Distinct values in ascending order and each row's position among them.

    Whole numbers that lie close together are counted; everything else is sorted.
    """
    if values.dtype.kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        if high < 2**62 and high - low < max(1024, len(values)):
            offset = values.astype(np.int64) - low
            present = np.bincount(offset) > 0
            rank = np.cumsum(present, dtype=np.int32) - np.int32(1)
            return (np.flatnonzero(present) + low).astype(values.dtype), rank[offset]
    distinct, inverse = np.unique(values, return_inverse=True)
    return distinct, inverse.astype(np.int32)


def _levels_of_unit(column: NumericColumn, distinct: NDArray[Any]) -> tuple[Any, ...]:
    if column.unit == "bool":
        return tuple(bool(value) for value in distinct.tolist())
    if column.unit == "number":
        return plain_levels(distinct.tolist())
    if column.nanoseconds is not None:
        kind = "timedelta64" if column.unit == "duration" else "datetime64"
        return tuple(plain_time(value) for value in distinct.view(f"{kind}[ns]"))
    try:
        spans = [dt.timedelta(microseconds=value) for value in distinct.tolist()]
        return tuple(spans) if column.unit == "duration" else tuple(_EPOCH + span for span in spans)
    except OverflowError:
        what = (
            "durations beyond a billion days" if column.unit == "duration" else "dates beyond the year 9999"
        )
        raise DataError(
            f"Column {column.name!r} holds {what}, which cannot be categories. Leave it out of "
            "categorical_features."
        ) from None


def missing_rows(column: NumericColumn) -> NDArray[np.bool_] | None:
    """Which rows are missing, NaN included; None when no row is."""
    missing = column.missing
    if column.values.dtype.kind == "f":
        nan = np.isnan(column.values)
        missing = nan if missing is None else missing | nan
    return missing if missing is not None and bool(missing.any()) else None


def text_levels(name: Hashable, rows: list[Any], missing: NDArray[np.bool_] | None = None) -> LevelColumn:
    """Text by row → levels in order of appearance. The loops are those of dict, fromkeys and map, in C."""
    position: dict[Any, int] = {level: i for i, level in enumerate(dict.fromkeys(rows))}
    indices = np.fromiter(map(position.__getitem__, rows), dtype=np.int32, count=len(rows))
    if missing is None or not bool(missing.any()):
        return LevelColumn(name, indices, plain_levels(position))
    indices[missing] = -1
    used = np.zeros(len(position), dtype=np.bool_)
    used[indices[~missing]] = True
    new = np.full(len(position) + 1, -1, dtype=np.int32)
    new[:-1][used] = np.arange(int(used.sum()), dtype=np.int32)
    levels = plain_levels(itertools.compress(position, used.tolist()))
    return LevelColumn(name, new[indices], levels)


def is_missing_singleton(kind: type) -> bool:
    """Whether values of this type stand for a missing one (None, pandas.NA, pandas.NaT)."""
    if kind is type(None):
        return True
    pandas = sys.modules.get("pandas")
    return pandas is not None and kind in (type(pandas.NA), type(pandas.NaT))
