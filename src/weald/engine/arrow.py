"""Arrow streams, as the core reads them."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald import _core


class ArrowColumn(NamedTuple):
    """One column as the core read it.

    `values` are numbers, or int32 positions (-1 missing) in `levels` (unit "text") or in the values of
    `dictionary` (unit "dictionary"). `missing` marks null rows of numbers; None: no nulls. `nanoseconds` are
    there if times have parts of microseconds. A column of unit "unsupported" has no values, and `type` says
    what it was.
    """

    name: str
    type: str
    unit: Literal["number", "bool", "datetime", "instant", "duration", "text", "dictionary", "unsupported"]
    values: NDArray[Any]
    missing: NDArray[np.bool_] | None
    levels: list[str] | None
    dictionary: ArrowColumn | None
    ordered: bool
    nanoseconds: NDArray[np.int64] | None = None


class ArrowTable(NamedTuple):
    """Every column of an Arrow stream; `is_table` is False when the stream was one bare column."""

    columns: list[ArrowColumn]
    n_rows: int
    is_table: bool


def read_arrow_stream(capsule: object) -> ArrowTable:
    """Read an "arrow_array_stream" capsule to its end."""
    return _arrow_table(*_core.read_arrow_stream(capsule))


def read_arrow_array(schema: object, array: object) -> ArrowTable:
    """Read an "arrow_schema" and an "arrow_array" capsule."""
    return _arrow_table(*_core.read_arrow_array(schema, array))


def _arrow_table(columns: list[tuple[Any, ...]], n_rows: int, is_table: bool) -> ArrowTable:
    return ArrowTable([_arrow_column(column) for column in columns], n_rows, is_table)


def _arrow_column(fields: tuple[Any, ...]) -> ArrowColumn:
    column = ArrowColumn(*fields)
    if column.dictionary is None:
        return column
    return column._replace(dictionary=_arrow_column(tuple(column.dictionary)))
