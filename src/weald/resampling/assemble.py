"""A user's table with new rows after its own: of the same kind, every column of its own type."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.arrays import Floats, TableLike
from weald.data.adapters import array_of_rows
from weald.data.frames.by_column import form_of, with_columns_of
from weald.data.frames.forms import plain_table
from weald.data.frames.write import Cells, ObjectType, object_types
from weald.data.levels import missing_rows
from weald.data.table import LevelColumn, NumericColumn, Table
from weald.resampling.made import Around, Between, MadeRows

_EXACT_WHOLE = 2.0**53


def with_made_rows(X: TableLike, table: Table, made: MadeRows) -> Any:
    """The rows of X, and after them the made ones.

    Parameters
    ----------
    X : table
        As the user gave it.
    table : Table
        The same, read; its columns stand where those of X do.
    made : MadeRows
        The new rows.
    """
    form = form_of(X)
    if form == "array":
        return _as_given_list(X, _array(array_of_rows(plain_table(X)), made))
    if form == "sparse":
        return _sparse(plain_table(X), made)
    own = np.arange(table.n_rows)
    levels = {j: np.concatenate((own, rows)) for j, rows in made.levels.items()}
    cells = {} if made.numbers is None else _cells(X, table, made)
    return with_columns_of(X, np.concatenate((own, made.base)), levels, cells)


def _array(array: NDArray[Any], made: MadeRows) -> NDArray[Any]:
    n_rows = len(array)
    out = np.empty((n_rows + len(made.base), array.shape[1]), array.dtype)
    out[:n_rows] = array
    new = out[n_rows:]
    if made.numbers is None:
        new[:] = array[made.base]
    else:
        made.numbers.of_block(array, new)
    for j, rows in made.levels.items():
        new[:, j] = array[rows, j]
    return out


def _as_given_list(X: TableLike, array: NDArray[Any]) -> Any:
    return array.tolist() if isinstance(X, list | tuple) else array


# --------------------------------------------------------------------------- columns of their own types


def _cells(X: TableLike, table: Table, made: MadeRows) -> dict[int, Cells]:
    """What is written into the numeric columns of the new rows."""
    assert made.numbers is not None
    objects = object_types(X)
    found = {}
    for j, column in enumerate(table.columns):
        if isinstance(column, LevelColumn) or j in made.levels:
            continue
        values = _numbers(column)
        new = _new_numbers(column, values, made, j)
        found[j] = _changed(new, values[made.base], column, table.n_rows, objects.get(j))
    return {j: cells for j, cells in found.items() if len(cells.rows)}


def _numbers(column: NumericColumn) -> Floats:
    """The numbers of a column, NaN where missing."""
    values = column.values.astype(np.float64)
    missing = missing_rows(column)
    if missing is not None:
        values[missing] = np.nan
    return values


def _new_numbers(column: NumericColumn, values: Floats, made: MadeRows, j: int) -> Floats:
    assert made.numbers is not None
    return made.numbers.of_column(j, values)


def _changed(
    new: Floats, old: Floats, column: NumericColumn, n_rows: int, objects: ObjectType | None
) -> Cells:
    """The cells that are not as in the row they stand on: times finer than float64 tells stay as they are.

    A number that is missing in the new row, and not in the row it stands on, cannot be written as a number.
    """
    at = np.flatnonzero((new != old) & ~np.isnan(new))
    return Cells(n_rows + at, new[at], column.unit, objects)


# --------------------------------------------------------------------------- sparse matrices


def _sparse(X: Any, made: MadeRows) -> Any:
    """Sparse rows stay sparse: only what one of two rows stores can be other than 0 between them."""
    matrix = sparse.csr_array(X)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    new = matrix[made.base]
    if isinstance(made.numbers, Between):
        new = _sparse_between(matrix, made.numbers)
    elif isinstance(made.numbers, Around):
        new = _sparse_around(new, made.numbers)
    if made.levels:
        new = _with_levels(matrix, new, made)
    kind = X.dtype.kind
    if kind != "f":
        new.data = np.rint(new.data)
    stacked = sparse.vstack([matrix, new.astype(X.dtype)], format="csr")
    stacked.eliminate_zeros()
    out = stacked.asformat(X.format)
    return out if isinstance(X, sparse.sparray) else _as_matrix(out)


def _as_matrix(array: Any) -> Any:
    """The same as one of SciPy's older matrices."""
    return getattr(sparse, f"{array.format}_matrix")(array)
