"""Arrow streams (polars, pyarrow and anything else that exports one) → columns, read by the core.

Numbers of one chunk stay in the exporter's memory; text is hashed natively.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import SupportsArrowArray, SupportsArrowStream
from weald.data.frames.forms import one_column
from weald.data.levels import missing_rows, numeric_as_levels, plain_levels, unified
from weald.data.table import Column, LevelColumn, NumericColumn
from weald.errors import DataTypeError


def has_arrow(value: object) -> TypeGuard[SupportsArrowStream | SupportsArrowArray]:
    """Whether `value` offers its data as an Arrow stream or array."""
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def arrow_columns(frame: SupportsArrowStream | SupportsArrowArray) -> tuple[list[Column], int]:
    """Every column of a table that exports an Arrow stream, and its number of rows."""
    read = _read(frame)
    if not read.is_table:
        raise one_column()
    return [_column(raw.name, raw) for raw in read.columns], read.n_rows


def columns_of(values: SupportsArrowStream | SupportsArrowArray, name: Hashable) -> list[Column]:
    """The columns of a table, or the one column, by `name`, of a Series or array."""
    read = _read(values)
    return [_column(raw.name if read.is_table else name, raw) for raw in read.columns]


def arrow_column(name: Hashable, values: SupportsArrowStream | SupportsArrowArray) -> Column:
    """One column from a Series or array that exports an Arrow stream."""
    read = _read(values)
    if read.is_table:
        raise DataTypeError(f"Column {name!r} holds a table (an Arrow struct). Take one of its fields.")
    return _column(name, read.columns[0])


def _read(value: SupportsArrowStream | SupportsArrowArray) -> engine.ArrowTable:
    if hasattr(value, "__arrow_c_stream__"):
        return engine.read_arrow_stream(value.__arrow_c_stream__())
    schema, array = value.__arrow_c_array__()
    return engine.read_arrow_array(schema, array)


def _column(name: Hashable, raw: engine.ArrowColumn) -> Column:
    if raw.unit == "text":
        assert raw.levels is not None
        return LevelColumn(name, raw.values, tuple(raw.levels), raw.ordered)
    if raw.unit == "unsupported":
        raise DataTypeError(
            f"Column {name!r} has the Arrow type {raw.type}, which is no number, text, date, bool or "
            "category. Take its parts as columns of their own, or drop it."
        )
    if raw.unit == "dictionary":
        assert raw.dictionary is not None
        return _dictionary_column(name, raw, raw.dictionary)
    return NumericColumn(name, raw.values, raw.missing, raw.unit, raw.nanoseconds)


def _dictionary_column(name: Hashable, raw: engine.ArrowColumn, values: engine.ArrowColumn) -> Column:
    """A dictionary of numbers, bools or dates: its values become levels."""
    distinct = _column(name, values)
    assert isinstance(distinct, NumericColumn)
    as_levels = numeric_as_levels(distinct)
    if not raw.ordered:
        return LevelColumn(name, _through(as_levels.indices, raw.values), as_levels.levels)
    # numeric_as_levels sorts; an ordered dictionary keeps the order in which it lists its values.
    listed = [as_levels.levels[i] for i in as_levels.indices.tolist() if i >= 0]
    missing = missing_rows(distinct)
    kept = np.cumsum(as_levels.indices >= 0, dtype=np.int32) - np.int32(1)
    if missing is not None:
        kept[missing] = -1
    return unified(name, _through(kept, raw.values), plain_levels(listed), ordered=True)


def _through(table: NDArray[np.int32], indices: NDArray[Any]) -> NDArray[np.int32]:
    """`table[indices]` where an index of -1 stays -1."""
    found: NDArray[np.int32] = np.append(table, np.int32(-1)).astype(np.int32, copy=False)[indices]
    return found
