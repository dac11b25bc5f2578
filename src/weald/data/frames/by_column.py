"""Rows of a user's table where some columns take other rows than the rest: kinds, types and levels stay.

What comes out is of the kind that went in. Lists of rows come back as lists, sparse matrices in their format.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.arrays import AnyTable, TableLike, TargetLike
from weald.data.adapters import array_of_rows
from weald.data.frames import from_pandas as pandas_frame
from weald.data.frames.forms import as_given, is_one_row, plain_table
from weald.data.frames.from_sparse import is_sparse
from weald.data.frames.user_rows import indexable, take
from weald.data.frames.write import Cells, take_rows, take_sequence, write_cells
from weald.data.frames.write_arrow import arrow_values, is_arrow_table
from weald.errors import DataTypeError

Rows: TypeAlias = NDArray[np.intp]
#: how the rows of a table are held
Form: TypeAlias = Literal["frame", "array", "sparse"]


def form_of(X: TableLike) -> Form:
    """Whether a table is one array of numbers, a sparse matrix, or columns that each have their own type."""
    if pandas_frame.is_frame(X):
        return "frame"
    plain: object = plain_table(X)
    if is_sparse(plain):
        return "sparse"
    if isinstance(plain, Mapping) or hasattr(plain, "__arrow_c_stream__"):
        return "frame"
    array = array_of_rows(plain)
    numbers = array.dtype.kind in "biuf" and not isinstance(array, np.ma.MaskedArray)
    return "array" if numbers else "frame"


def rows_of(X: TableLike, rows: Rows) -> Any:
    """Some rows, which may repeat, of a table of any kind, as a table of its own kind."""
    if is_one_row(X):
        raise DataTypeError("X is a mapping of names to single values: one row, of which none can be drawn.")
    if is_sparse(X):
        return X.tocsr()[rows].asformat(X.format)
    taken = take_rows(X, rows) if _is_writable(X) else take(indexable(X), rows)
    return _as_list(X, as_given(X, taken))


def with_columns_of(X: TableLike, rows: Rows, others: Mapping[int, Rows], cells: Mapping[int, Cells]) -> Any:
    """Rows of a table of columns, with other rows' values and new numbers in some columns.

    Parameters
    ----------
    X : table
        Of the form "frame".
    rows : ndarray of int
        The rows to take, which may repeat.
    others : mapping of position to ndarray of int
        For some columns other rows to take.
    cells : mapping of position to Cells
        For some columns values to write then; rows are counted as in the result.
    """
    plain: AnyTable = X if pandas_frame.is_frame(X) else plain_table(X)
    if is_one_row(X) or not _is_writable(plain):
        raise DataTypeError(
            f"New rows can be made of pandas, polars and pyarrow tables, arrays, sparse matrices, lists and "
            f"mappings of columns; got {type(X).__name__}. Convert it, for example with pyarrow.table(X)."
        )
    taken = _with_others(plain, take_rows(plain, rows), others)
    written = write_cells(taken, cells) if cells else taken
    if pandas_frame.is_frame(written):
        return written.reset_index(drop=True)
    return _as_list(X, as_given(X, written))


def rows_of_target(y: TargetLike, rows: Rows, *, new_index: bool) -> Any:
    """Some values of a target of any kind, of one column or several; `new_index` counts pandas rows anew."""
    if pandas_frame.is_frame(y) or pandas_frame.is_series(y):
        known: Any = y
        taken = known.iloc[rows] if hasattr(known, "iloc") else known.take(rows)
        return taken.reset_index(drop=True) if new_index and hasattr(taken, "reset_index") else taken
    if is_sparse(y):
        return y.tocsr()[rows].asformat(y.format)
    if is_arrow_table(y) or _polars_is(y, "DataFrame"):
        return take_rows(y, rows)
    return take_sequence(y, rows)


def _with_others(plain: AnyTable, taken: Any, others: Mapping[int, Rows]) -> Any:
    """The rows taken, with the columns that take other rows."""
    if not others:
        return taken
    if pandas_frame.is_frame(plain):
        for j, rows in others.items():
            column = plain.iloc[:, j : j + 1]
            taken.isetitem(j, take_rows(column, rows).iloc[:, 0].array)
        return taken
    if _polars_is(plain, "DataFrame"):
        return taken.with_columns([plain.to_series(j).gather(rows) for j, rows in others.items()])
    if is_arrow_table(plain):
        for j, rows in others.items():
            taken = taken.set_column(j, plain.schema.field(j), arrow_values(plain.column(j), rows))
        return taken
    if isinstance(plain, Mapping):
        names = list(plain)
        return taken | {names[j]: take_sequence(plain[names[j]], rows) for j, rows in others.items()}
    array = array_of_rows(plain)
    for j, rows in others.items():
        if array.dtype.names:
            taken[array.dtype.names[j]] = array[array.dtype.names[j]][rows]
        else:
            taken[:, j] = array[rows, j]
    return taken


def _is_writable(X: AnyTable) -> bool:
    """Whether rows and columns of X can be put together: not of streams that no library here knows."""
    if pandas_frame.is_frame(X):
        return True
    plain: AnyTable = plain_table(X)
    return not hasattr(plain, "__arrow_c_stream__") or is_arrow_table(plain) or _polars_is(plain, "DataFrame")


def _polars_is(X: object, name: str) -> bool:
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(X, getattr(polars, name))


def _as_list(X: TableLike, table: object) -> Any:
    """An array that was made of a list of rows, as a list of rows again."""
    is_list = isinstance(X, Sequence) and not isinstance(X, str | bytes)
    return table.tolist() if is_list and isinstance(table, np.ndarray) else table
