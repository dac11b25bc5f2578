"""Values written into cells of a user's own table, whose kind and types stay.

A number goes into a column of whole numbers rounded, into one of bools as True from 0.5 on; dates and
durations are microseconds here, as in a `Table`, and leave as what they were.
"""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from weald.arrays import AnyEstimator, AnyTable, TableLike
from weald.data.adapters import array_of_rows
from weald.data.frames import from_pandas as pandas_frame
from weald.data.frames.forms import as_given, plain_table
from weald.data.frames.from_sparse import is_sparse
from weald.data.frames.write_arrow import (
    arrow_column_with,
    arrow_rows,
    arrow_values,
    decimals_of,
    foreign_level,
)
from weald.data.levels import is_missing_singleton, level_key, level_positions, plain_levels
from weald.data.table import Unit
from weald.data.times import ticks_of
from weald.errors import DataError, DataTypeError

if TYPE_CHECKING:
    import pandas
    import pyarrow

_EPOCH = dt.datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class ObjectType:
    """What the objects of a column are, as far as its values tell."""

    example: object  # None: no value is known
    whole: bool  # all are whole numbers

    @classmethod
    def of(cls, values: Iterable[Any]) -> ObjectType:
        """The type of a column's objects, by those that are not missing."""
        known = [value for value in values if not is_missing_singleton(type(value)) and value == value]
        return cls(known[0] if known else None, bool(known) and all(isinstance(v, Integral) for v in known))


@dataclass(frozen=True, slots=True)
class Cells:
    """New values for some rows of one column."""

    rows: NDArray[np.intp]
    values: Sequence[Any] | NDArray[Any]  # numbers (microseconds for dates and durations), or levels
    unit: Unit | None  # None: levels
    objects: ObjectType | None = None  # of a column of objects; None: as its other values are

    def numbers(self) -> NDArray[np.float64]:
        """The values as float64."""
        return np.asarray(self.values, np.float64)

    def plain(self, *, whole: bool = False) -> list[Any]:
        """The values as plain Python ones."""
        if self.unit is None:
            return list(self.values)
        numbers = self.numbers()
        if self.unit == "bool":
            return [bool(value) for value in numbers >= 0.5]
        if self.unit == "number":
            return [int(value) for value in np.rint(numbers)] if whole else numbers.tolist()
        try:
            spans = [dt.timedelta(microseconds=value) for value in np.rint(numbers).tolist()]
            dates: list[Any] = spans if self.unit == "duration" else [_EPOCH + span for span in spans]
        except OverflowError:  # beyond Python's own
            return list(ticks_of(numbers, "us").view("m8[us]" if self.unit == "duration" else "M8[us]"))
        return dates if self.unit != "instant" else [date.replace(tzinfo=dt.UTC) for date in dates]


def write_cells(X: TableLike, cells: Mapping[int, Cells]) -> Any:
    """A copy of a table with new values in some cells of the columns at these positions.

    Parameters
    ----------
    X : table
        A pandas or polars frame, a pyarrow table, a mapping, records, an array or a list of rows (which
        becomes an array).
    cells : mapping of int to Cells
        The position of a column → what to write.

    Raises
    ------
    DataTypeError
        For any other kind of table.
    """
    cells = {j: found for j, found in cells.items() if len(found.rows)}
    if not pandas_frame.is_frame(X) and (plain := plain_table(X)) is not X:
        return as_given(X, write_cells(plain, cells))
    if pandas_frame.is_frame(X):
        out = X.copy()
        for j, found in cells.items():
            out.isetitem(j, _pandas_column(X.iloc[:, j], found))
        return out
    if _is_of("polars", "DataFrame", X):
        columns = [_polars_column(X.to_series(j), found) for j, found in cells.items()]
        return X.with_columns(columns)
    if _is_of("pyarrow", "Table", X):
        table = X
        for j, found in cells.items():
            table = table.set_column(j, table.schema.field(j), arrow_column_with(table.column(j), found))
        return table
    if isinstance(X, Mapping):
        return {
            name: _column(values, cells[j]) if j in cells else values
            for j, (name, values) in enumerate(X.items())
        }
    check_writable(X)
    array = array_of_rows(X).copy()
    for j, found in cells.items():
        write_array(array[array.dtype.names[j]] if array.dtype.names else array[:, j], found)
    return array


def take_rows(X: TableLike, rows: NDArray[np.intp]) -> Any:
    """Some rows of a table, as a table of its own kind; of a sparse matrix as a dense array."""
    if pandas_frame.is_frame(X):
        return _pandas_rows(X, rows)
    table: AnyTable = plain_table(X)
    if _is_of("polars", "DataFrame", table):
        return table[rows]
    if _is_of("pyarrow", "Table", table):
        return arrow_rows(table, rows)
    if isinstance(table, Mapping):
        return {name: take_sequence(values, rows) for name, values in table.items()}
    if is_sparse(table):
        return table.tocsr()[rows].toarray()
    check_writable(table)
    return array_of_rows(table)[rows]


def object_types(X: TableLike) -> dict[int, ObjectType]:
    """The position of each column of objects → what they are; some of the rows alone may not tell."""
    table: object = X if pandas_frame.is_frame(X) else plain_table(X)
    columns: Iterable[Any]
    if pandas_frame.is_frame(table):
        columns = (table.iloc[:, j] for j in range(table.shape[1]))
    elif isinstance(table, Mapping):
        columns = table.values()
    elif hasattr(table, "__arrow_c_stream__"):
        return {}
    else:
        array = array_of_rows(table)
        columns = (array[name] for name in array.dtype.names) if array.dtype.names else array.T
    return {
        j: ObjectType.of(values)
        for j, values in enumerate(columns)
        if isinstance(values, list | tuple) or _holds_objects(values)
    }


def _holds_objects(values: object) -> bool:
    """Whether a column is an array, or a pandas Series on one, of Python objects."""
    dtype = getattr(values, "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def _pandas_rows(X: pandas.DataFrame, rows: NDArray[np.intp]) -> pandas.DataFrame:
    try:
        return X.iloc[rows]
    except NotImplementedError:  # columns of string views, in some versions of pyarrow
        pandas = sys.modules["pandas"]
        taken = {
            j: _of_arrow(arrow_values(column.array.__arrow_array__(), rows), X.index[rows], column.name)
            if isinstance(column.dtype, pandas.ArrowDtype)
            else column.iloc[rows]
            for j, (_, column) in enumerate(X.items())
        }
        return pandas.DataFrame(taken).set_axis(X.columns, axis=1)


def _of_arrow(array: pyarrow.Array, index: pandas.Index, name: object) -> pandas.Series:
    """A pandas Series on an Arrow array."""
    pandas = sys.modules["pandas"]
    return pandas.Series(pandas.arrays.ArrowExtensionArray(array), index=index, name=name)


def places(names: Sequence[Hashable], given: Sequence[Hashable]) -> Sequence[int]:
    """For each column of a model its position in a table that its schema takes: by name, or as it comes."""
    place = {name: j for j, name in enumerate(given)}
    return [place[name] for name in names] if place.keys() == set(names) else range(len(names))


def take_sequence(values: Any, rows: NDArray[np.intp]) -> Any:
    """Some values of a sequence of any library."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if isinstance(values, np.ndarray):
        return values[rows]
    if _is_of("pyarrow", "ChunkedArray", values) or _is_of("pyarrow", "Array", values):
        return arrow_values(values, rows)
    for name in ("gather", "take"):  # of polars; of pandas' arrays
        if hasattr(values, name):
            return getattr(values, name)(rows)
    return [values[row] for row in rows.tolist()]


def check_writable(X: TableLike) -> None:
    """Raise for tables whose cells cannot be written."""
    X = X if pandas_frame.is_frame(X) else plain_table(X)
    if is_sparse(X):
        raise DataTypeError(
            "A sparse matrix is given, and missing values are filled in dense tables only. Convert it with "
            "X.toarray()."
        )
    if hasattr(X, "__arrow_c_stream__") and not (
        pandas_frame.is_frame(X) or _is_of("polars", "DataFrame", X) or _is_of("pyarrow", "Table", X)
    ):
        raise DataTypeError(
            f"Values can be written into pandas, polars and pyarrow tables, arrays and lists; got "
            f"{type(X).__name__}. Convert it, for example with pyarrow.table(X)."
        )


def _is_of(library: str, name: str, value: object) -> TypeGuard[Any]:
    """Whether the value is an object of a library's class; never imports it."""
    found = sys.modules.get(library)
    return found is not None and isinstance(value, getattr(found, name))


def _column(values: object, cells: Cells) -> Any:
    """One sequence of any library with new values."""
    if pandas_frame.is_series(values):
        pandas = sys.modules["pandas"]
        return _pandas_column(values if isinstance(values, pandas.Series) else pandas.Series(values), cells)
    if _is_of("polars", "Series", values):
        return _polars_column(values, cells)
    if _is_of("pyarrow", "ChunkedArray", values) or _is_of("pyarrow", "Array", values):
        return arrow_column_with(values, cells)
    array = values.copy() if isinstance(values, np.ndarray) else np.array(values, dtype=object)
    write_array(array, cells)
    return array.tolist() if isinstance(values, list) else array


def write_array(array: NDArray[Any], cells: Cells) -> None:
    """Write into a column of an array, in its dtype."""
    kind, rows = array.dtype.kind, cells.rows
    if kind == "O":
        array[rows] = _as_objects(array, cells)
    elif cells.unit is None or kind == "f":
        array[rows] = cells.values
    elif kind == "b":
        array[rows] = cells.numbers() >= 0.5
    elif kind in "Mm":
        array[rows] = ticks_of(cells.numbers(), *np.datetime_data(array.dtype)).view(array.dtype)
    else:
        array[rows] = np.rint(cells.numbers()).astype(array.dtype)


def _as_objects(array: NDArray[Any], cells: Cells) -> NDArray[Any]:
    """The values as objects of the type that the column has."""
    objects = cells.objects or ObjectType.of(array.tolist())
    example = objects.example
    if isinstance(example, np.datetime64 | np.timedelta64) and cells.unit is not None:
        values = list(ticks_of(cells.numbers(), *np.datetime_data(example.dtype)).view(example.dtype))
    elif cells.unit is not None:
        whole = cells.unit == "number" and objects.whole
        values = [_like(value, example) for value in cells.plain(whole=whole)]
    else:
        values = cells.plain()
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _like(value: Any, example: object) -> Any:
    """A number, date, time or decimal as the column's own kind of it."""
    if isinstance(example, Decimal):
        return Decimal(repr(float(value)))
    if isinstance(example, np.generic | Fraction):
        return type(example)(value)
    if isinstance(example, dt.time) and isinstance(value, dt.timedelta):
        return (_EPOCH + value).time()
    if isinstance(example, dt.date) and not isinstance(example, dt.datetime):
        return value.date()
    if isinstance(example, dt.datetime) and example.tzinfo is not None:
        value = value.astimezone(example.tzinfo)
    own: AnyEstimator = type(example)
    if isinstance(value, np.datetime64 | np.timedelta64) and own in (dt.datetime, dt.timedelta):
        return _to_microseconds(value)
    if isinstance(example, dt.datetime | dt.timedelta) and own is not type(value):
        return own(value)  # of pandas
    return value


def _to_microseconds(value: np.datetime64 | np.timedelta64) -> dt.datetime | dt.timedelta:
    """A time of NumPy as Python's own, which knows no nanoseconds and no years beyond 9999."""
    found = value.astype(f"{value.dtype.kind}8[us]").item()
    if not isinstance(found, dt.datetime | dt.timedelta):
        raise DataError(
            f"A fill of {value} is beyond what Python's datetime holds. Use a column of NumPy times."
        )
    return found


def _pandas_column(series: pandas.Series, cells: Cells) -> pandas.Series:
    pandas = sys.modules["pandas"]
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        array = series.to_numpy(copy=True)
        write_array(array, cells)
        return pandas.Series(array, index=series.index, name=series.name, dtype=dtype)
    if isinstance(dtype, pandas.CategoricalDtype):
        return _pandas_categories(series, cells)
    if isinstance(dtype, pandas.SparseDtype):
        return _pandas_column(series.sparse.to_dense(), cells).astype(dtype)
    if isinstance(dtype, pandas.ArrowDtype):
        array = arrow_column_with(series.array.__arrow_array__(), cells)
        return _of_arrow(array, series.index, series.name)
    whole = getattr(dtype, "kind", "O") in "iu"
    if isinstance(dtype, pandas.PeriodDtype):
        values = pandas.PeriodIndex(pandas.DatetimeIndex(cells.plain()), freq=dtype.freq)
    else:
        values = pandas.array(cells.plain(whole=whole), dtype=dtype)
    out = series.copy()
    out.iloc[cells.rows] = values
    return out


def _pandas_categories(series: pandas.Series, cells: Cells) -> pandas.Series:
    pandas = sys.modules["pandas"]
    categories = series.cat.categories
    position = level_positions(plain_levels(categories.tolist()))
    for level in cells.values:
        if level_key(level) not in position:
            if series.cat.ordered:
                raise foreign_level(series.name, level)
            position[level_key(level)] = len(categories)
            categories = categories.append(pandas.Index([level]))
    codes = series.cat.codes.to_numpy().astype(np.int64)
    codes[cells.rows] = [position[level_key(level)] for level in cells.values]
    made = pandas.Categorical.from_codes(codes, categories=categories, ordered=series.cat.ordered)
    return pandas.Series(made, index=series.index, name=series.name)


def _polars_column(series: AnyTable, cells: Cells) -> Any:
    polars = sys.modules["polars"]
    try:
        fill = _polars_values(polars, series.dtype, cells)
    except polars.exceptions.PolarsError:
        if not isinstance(series.dtype, polars.Enum):
            raise
        known = set(series.dtype.categories.to_list())
        level = next(level for level in cells.values if level not in known)
        raise foreign_level(series.name, level) from None
    place = np.zeros(len(series), np.int64)
    keep = np.ones(len(series), np.bool_)
    place[cells.rows] = np.arange(len(cells.rows))
    keep[cells.rows] = False
    if series.dtype == polars.Null:
        series = series.cast(fill.dtype)
    return series.zip_with(polars.Series(keep), fill.gather(place))


def _polars_values(polars: Any, dtype: Any, cells: Cells) -> Any:
    """The new values as a Series of this type; dates by way of microseconds."""
    if cells.unit == "number" and dtype.is_float():
        return polars.Series(cells.numbers()).cast(dtype)
    if cells.unit in (None, "number", "bool"):
        values = cells.plain(whole=dtype.is_integer())
        if dtype == polars.Null:
            return polars.Series(values)
        if dtype.is_decimal():
            values = decimals_of(cells.numbers(), dtype.scale)
        return polars.Series(values, dtype=dtype)
    step = {polars.Time: "ns", polars.Date: "D"}.get(dtype.base_type()) or dtype.time_unit
    return polars.Series(ticks_of(cells.numbers(), step)).cast(dtype)
