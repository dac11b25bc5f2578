"""New values in columns of Arrow, in the column's own type; rows of them, also where Arrow cannot take any.

pyarrow is there whenever a column of it is.
"""

from __future__ import annotations

import decimal
import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from weald.data.levels import level_key, level_positions, plain_levels
from weald.data.times import ticks_of
from weald.errors import DataError, told

if TYPE_CHECKING:
    import pyarrow

    from weald.data.frames.write import Cells


def arrow_column_with(column: pyarrow.ChunkedArray | pyarrow.Array, cells: Cells) -> pyarrow.Array:
    """A copy of an array or chunked array with new values in some cells."""
    arrow = sys.modules["pyarrow"]
    if isinstance(column, arrow.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
        if isinstance(column, arrow.ChunkedArray):  # of no or one chunk, by version
            column = column.chunk(0)
    kinds = arrow.types
    if kinds.is_dictionary(column.type):
        return _dictionary_with(column, cells)
    if kinds.is_temporal(column.type):
        return _times_with(column, cells)
    if cells.unit == "number" and (kinds.is_floating(column.type) or kinds.is_integer(column.type)):
        return _numbers_with(column, cells)
    values = column.to_pylist()
    if kinds.is_decimal(column.type):
        news = decimals_of(cells.numbers(), column.type.scale)
    else:
        news = cells.plain(whole=kinds.is_integer(column.type))
    for row, value in zip(cells.rows.tolist(), news, strict=True):
        values[row] = value
    return arrow.array(values, type=column.type)


def _numbers_with(column: pyarrow.Array, cells: Cells) -> pyarrow.Array:
    """Numbers, rounded where the column holds whole ones."""
    arrow = sys.modules["pyarrow"]
    missing = column.is_null().to_numpy(zero_copy_only=False).copy()
    values = column.fill_null(0).to_numpy(zero_copy_only=False).copy()
    whole = arrow.types.is_integer(column.type)
    values[cells.rows] = np.rint(cells.numbers()) if whole else cells.numbers()
    missing[cells.rows] = False
    return arrow.array(values, mask=missing).cast(column.type)


def decimals_of(numbers: NDArray[np.float64], scale: int) -> list[Decimal]:
    """Numbers as decimals with so many digits after the point.

    >>> decimals_of(np.array([1.239]), 2)
    [Decimal('1.24')]
    """
    unit = Decimal(1).scaleb(-scale)
    with decimal.localcontext(prec=400):
        return [Decimal(repr(value)).quantize(unit) for value in numbers.tolist()]


def foreign_level(name: object, level: object) -> DataError:
    """The error for a category that a column's type does not know."""
    return DataError(
        f"Column {name!r} should be filled with {told(level)}, which is not among the categories of its "
        "type. Give it the categories of the training table."
    )


def _dictionary_with(column: pyarrow.DictionaryArray, cells: Cells) -> pyarrow.Array:
    arrow = sys.modules["pyarrow"]
    # As weald reads them: Arrow's own Python values round times to microseconds.
    position = level_positions(plain_levels(_python_values(column.dictionary)))
    codes = np.array([-1 if code is None else code for code in column.indices.to_pylist()], np.int64)
    for row, level in zip(cells.rows.tolist(), cells.values, strict=True):
        if level_key(level) not in position:
            raise foreign_level("of categories", level)
        codes[row] = position[level_key(level)]
    indices = arrow.array(codes, type=column.type.index_type, mask=codes < 0)
    return arrow.DictionaryArray.from_arrays(indices, column.dictionary, ordered=column.type.ordered)


def _python_values(values: pyarrow.Array) -> list[Any]:
    """The values of an array; times of nanoseconds as NumPy's own."""
    arrow = sys.modules["pyarrow"]
    if arrow.types.is_timestamp(values.type) or arrow.types.is_duration(values.type):
        kind = "M8" if arrow.types.is_timestamp(values.type) else "m8"
        return list(_ticks(values).view(f"{kind}[{values.type.unit}]"))
    found: list[Any] = values.to_pylist()
    return found


def _times_with(column: pyarrow.Array, cells: Cells) -> pyarrow.Array:
    """Dates, durations and times of day, by their ticks."""
    arrow = sys.modules["pyarrow"]
    ticks = _ticks(column)
    missing = column.is_null().to_numpy(zero_copy_only=False)
    ticks[cells.rows] = ticks_of(cells.numbers(), _step(column.type))
    missing[cells.rows] = False
    if arrow.types.is_date64(column.type):
        ticks -= ticks % 86_400_000  # its milliseconds are whole days
    return arrow.array(ticks.astype(_storage(column.type)), mask=missing).cast(column.type)


def _ticks(column: pyarrow.Array) -> NDArray[np.int64]:
    arrow = sys.modules["pyarrow"]
    whole = column.cast(arrow.int32() if _storage(column.type) == "int32" else arrow.int64())
    found: NDArray[np.int64] = whole.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def _step(kind: pyarrow.DataType) -> str:
    """What one tick of a type is, as NumPy names it."""
    types = sys.modules["pyarrow"].types
    if types.is_date32(kind):
        return "D"
    return "ms" if types.is_date64(kind) else str(kind.unit)


def _storage(kind: pyarrow.DataType) -> str:
    types = sys.modules["pyarrow"].types
    return "int32" if types.is_date32(kind) or types.is_time32(kind) else "int64"


# --------------------------------------------------------------------------- rows


def is_arrow_table(X: object) -> TypeGuard[pyarrow.Table]:
    """Whether X is a pyarrow table; never imports pyarrow."""
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(X, arrow.Table)


def arrow_rows(table: pyarrow.Table, rows: NDArray[Any]) -> pyarrow.Table:
    """Some rows of a table, which may repeat."""
    try:
        return table.take(rows)
    except NotImplementedError:  # string views, in some versions
        arrow = sys.modules["pyarrow"]
        return arrow.Table.from_arrays(
            [arrow_values(each, rows) for each in table.columns], schema=table.schema
        )


def arrow_values(
    column: pyarrow.ChunkedArray | pyarrow.Array, rows: NDArray[Any]
) -> pyarrow.ChunkedArray | pyarrow.Array:
    """Some values of an array or chunked array, which may repeat."""
    arrow = sys.modules["pyarrow"]
    try:
        return column.take(arrow.array(rows))
    except NotImplementedError:
        values = column.to_pylist()
        return arrow.array([values[row] for row in rows.tolist()], type=column.type)
