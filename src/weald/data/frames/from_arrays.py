"""NumPy arrays → columns: numbers as they are, dates as microseconds, text and mixed objects by inference.

An object column is read by the types of its values, one look-up a distinct type and no Python loop a row.
"""

from __future__ import annotations

import datetime as dt
import numbers
from collections.abc import Hashable
from decimal import Decimal
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.data.levels import is_missing_singleton, numeric_as_levels, text_levels, unified
from weald.data.table import Column, LevelColumn, NumericColumn, Unit
from weald.data.times import object_times, split_date, split_span, split_time, time_column
from weald.errors import DataError, DataTypeError, told

# The part of a message that makes no sense for a target; `target.py` leaves it out.
CATEGORICAL_WAY_OUT: Final = ", or name it in categorical_features"

_NUMPY_TIMES: Final = (np.datetime64, np.timedelta64)
_MISSING, _BOOL, _NUMBER, _TEXT, _DATE, _SPAN, _TIME, _COMPLEX, _OTHER = range(9)
_WORDS: Final = {
    _BOOL: "bools",
    _NUMBER: "numbers",
    _TEXT: "text",
    _DATE: "dates",
    _SPAN: "durations",
    _TIME: "times of day",
}


def array_column(name: Hashable, values: NDArray[Any], *, categorical: bool = False) -> Column:
    """One column from a 1-D array of any dtype.

    Parameters
    ----------
    name : hashable
        The column's name, for messages and for the result.
    values : ndarray of shape (n_rows,)
        Kept as a view where its dtype is a native number type.
    categorical : bool
        Read the values as categories whatever their type.
    """
    if values.ndim != 1:
        raise DataError(
            f"Column {name!r} holds an array of shape {values.shape[1:]} in every row; one value per row is "
            "expected. Take its parts as columns of their own."
        )
    column = _column_of_dtype(name, values, categorical)
    if not categorical:
        return column
    return as_categorical(column)


def as_categorical(column: Column) -> LevelColumn:
    """The column with its values as categories without order."""
    if isinstance(column, NumericColumn):
        return numeric_as_levels(column)
    return LevelColumn(column.name, column.indices, column.levels) if column.ordered else column


def _column_of_dtype(name: Hashable, values: NDArray[Any], categorical: bool) -> Column:
    if isinstance(values, np.ma.MaskedArray):
        return _masked_column(name, values, categorical)
    kind = values.dtype.kind
    if kind in "biuf":
        return NumericColumn(name, native_numbers(values), unit="bool" if kind == "b" else "number")
    if kind in "Mm":
        if np.datetime_data(values.dtype)[0] == "generic" and not np.isnat(values).all():
            raise DataTypeError(
                f"Column {name!r} has the dtype {values.dtype} without a unit. Give it one, as in {kind}8[s]."
            )
        return time_column(name, values, "datetime" if kind == "M" else "duration")
    if kind == "O":
        return _object_column(name, values, categorical)
    if kind == "U":
        return text_levels(name, values.tolist())
    if kind == "S":
        return text_levels(name, _decoded(name, values.tolist()))
    if kind == "T":
        return _object_column(name, values.astype(object), categorical)
    if kind == "c":
        raise DataError(f"Complex data not supported: column {name!r} is {values.dtype}. Take its real part.")
    way_out = "Take its fields as columns of their own." if values.dtype.names else "Convert it."
    raise DataTypeError(
        f"Column {name!r} has the dtype {values.dtype}, which is no number, text, date or bool. {way_out}"
    )


def _decoded(name: Hashable, rows: list[bytes]) -> list[str]:
    """Bytes as the text they stand for."""
    try:
        return [row.decode() for row in rows]
    except UnicodeDecodeError as error:
        row = next(i for i, value in enumerate(rows) if value == error.object)
        raise DataError(
            f"Column {name!r}, row {row}: {rows[row]!r} is no text in UTF-8. Decode the column, as in "
            "np.char.decode(column, 'latin-1')."
        ) from None


def _masked_column(name: Hashable, values: Any, categorical: bool) -> Column:
    mask = np.ma.getmaskarray(values)
    if values.dtype.kind in "Mm":
        # Not through objects: dates finer than Python's would become plain numbers.
        return _column_of_dtype(name, values.filled(np.array("NaT", values.dtype)), categorical)
    if values.dtype.kind == "S":
        return text_levels(name, _decoded(name, values.filled(b"").tolist()), mask)
    if values.dtype.kind not in "biuf":
        filled = np.asarray(values.data, dtype=object).copy()
        filled[mask] = None
        return _object_column(name, filled, categorical)
    unit: Unit = "bool" if values.dtype.kind == "b" else "number"
    return NumericColumn(name, native_numbers(values.data), mask if mask.any() else None, unit)


def native_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers in a type the core reads: machine byte order, aligned, floats of 4 or 8 bytes."""
    dtype = values.dtype
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        with np.errstate(over="ignore"):  # what float64 cannot hold is refused as infinite
            return values.astype(np.float32 if dtype.itemsize == 2 else np.float64)
    whole_strides = all(stride % dtype.itemsize == 0 for stride in values.strides)
    if not dtype.isnative or not values.flags.aligned or not whole_strides:
        return values.astype(dtype.newbyteorder("="))
    return values


class _ClassOfType(dict[type, int]):
    """What values of a type are to a table; asked once per distinct type."""

    def __missing__(self, kind: type) -> int:
        self[kind] = found = _class_of_type(kind)
        return found


def _class_of_type(kind: type) -> int:
    if is_missing_singleton(kind):
        return _MISSING
    for base, found in (
        (bool | np.bool_, _BOOL),
        (str, _TEXT),
        (dt.date | np.datetime64, _DATE),
        (dt.timedelta | np.timedelta64, _SPAN),
        (dt.time, _TIME),
        (numbers.Real | Decimal, _NUMBER),
        (numbers.Complex, _COMPLEX),
    ):
        if issubclass(kind, base):
            return found
    return _OTHER


def _object_column(name: Hashable, values: NDArray[Any], categorical: bool) -> Column:
    rows = values.tolist()
    classes = np.fromiter(map(_ClassOfType().__getitem__, map(type, rows)), dtype=np.uint8, count=len(rows))
    count = np.bincount(classes, minlength=9)
    present = {i for i in range(9) if count[i] and i != _MISSING}
    if _NUMBER in present and len(present) > 1:
        # A NaN among text or dates is a missing value, not a number.
        at = np.flatnonzero(classes == _NUMBER)
        gone = at[[_is_nan(value) for value in values[at].tolist()]]
        classes[gone] = _MISSING
        for row in gone.tolist():
            rows[row] = None  # a signaling NaN cannot even be hashed
        present = set(np.unique(classes).tolist()) - {_MISSING}
    _refuse(name, rows, classes, present, categorical)
    missing = classes == _MISSING
    if present <= {_BOOL, _NUMBER} and not (categorical and len(present) > 1):
        return _object_numbers(name, values, missing, present)
    if present == {_TEXT}:
        return text_levels(name, rows, missing)
    if len(present) == 1 and present <= {_DATE, _SPAN, _TIME}:
        return _object_times(name, values, missing, present.pop())
    return _object_categories(name, rows, missing)


def _is_nan(value: object) -> bool:
    # A signaling NaN of decimals compares with nothing.
    return value.is_nan() if isinstance(value, Decimal) else bool(value != value)


def _refuse(
    name: Hashable, rows: list[Any], classes: NDArray[np.uint8], present: set[int], categorical: bool
) -> None:
    """Raise when the values of an object column cannot stand in one column."""
    if _COMPLEX in present:
        raise DataError(f"Complex data not supported: column {name!r} holds complex numbers.")
    if _OTHER in present and not categorical:
        row = int(np.argmax(classes == _OTHER))
        raise DataTypeError(
            f"Column {name!r}, row {row}: the argument must be a string or a real number, a date or a bool; "
            f"got {type(rows[row]).__name__}. Convert the column."
        )
    if len(present) > 1 and not present <= {_BOOL, _NUMBER} and not categorical:
        rows_of = sorted((int(np.argmax(classes == c)), c) for c in present)
        (first, usual), (row, other) = rows_of[0], rows_of[1]
        raise DataError(
            f"Column {name!r} mixes {_WORDS[usual]} and {_WORDS[other]}: row {first} holds "
            f"{told(rows[first])} and row {row} holds {told(rows[row])}. Convert the column to one "
            f"type{CATEGORICAL_WAY_OUT}."
        )


def _object_numbers(
    name: Hashable, values: NDArray[Any], missing: NDArray[np.bool_], present: set[int]
) -> NumericColumn:
    if not missing.any():
        if present == {_BOOL}:
            return NumericColumn(name, values.astype(np.bool_), unit="bool")
        if set(map(type, values.tolist())) == {int}:
            try:
                return NumericColumn(name, values.astype(np.int64))
            except OverflowError:
                pass  # beyond int64: float64 below
    result = np.full(len(values), np.nan)
    try:
        result[~missing] = values[~missing].astype(np.float64)
    except (OverflowError, ValueError, TypeError):
        raise _no_float(name, values, np.flatnonzero(~missing).tolist()) from None
    return NumericColumn(name, result, unit="bool" if present == {_BOOL} else "number")


def _no_float(name: Hashable, values: NDArray[Any], rows: list[int]) -> DataError:
    """The error for the first of the values that float64 cannot hold."""
    for row in rows:
        where = f"Column {name!r}, row {row}: {told(values[row])}"
        try:
            float(values[row])
        except OverflowError:
            return DataError(f"{where} is too large for float64. Scale the column, or read it as text.")
        except (ValueError, TypeError):
            return DataError(f"{where} is no number. Replace it, or mark it missing (None).")
    return DataError(f"Column {name!r} holds numbers that float64 cannot hold. Convert it.")


def _object_times(
    name: Hashable, values: NDArray[Any], missing: NDArray[np.bool_], kind: int
) -> NumericColumn:
    missing = missing | np.array([isinstance(each, _NUMPY_TIMES) and np.isnat(each) for each in values])
    split = {_DATE: split_date, _SPAN: split_span, _TIME: split_time}[kind]
    result, nanoseconds = object_times(name, values, missing, split)
    if kind != _DATE:
        return NumericColumn(name, result, unit="duration", nanoseconds=nanoseconds)
    zoned = [getattr(value, "tzinfo", None) is not None for value in values[~missing].tolist()]
    if any(zoned) and not all(zoned):
        raise DataError(
            f"Column {name!r} mixes dates with and without a time zone. Give all of them one, or none."
        )
    unit: Unit = "instant" if any(zoned) else "datetime"
    return NumericColumn(name, result, unit=unit, nanoseconds=nanoseconds)


def _object_categories(name: Hashable, rows: list[Any], missing: NDArray[np.bool_]) -> LevelColumn:
    """Values of several types, or of a type of the user's own, as categories told apart by value and type."""
    indices = np.full(len(rows), -1, dtype=np.int32)
    position: dict[Any, int] = {}
    for row in np.flatnonzero(~missing).tolist():
        value = rows[row]
        try:
            indices[row] = position.setdefault((type(value), value), len(position))
        except TypeError:
            raise DataTypeError(
                f"Column {name!r}, row {row}: a category must be hashable; got {type(value).__name__}."
            ) from None
    return unified(name, indices, [value for _, value in position])
