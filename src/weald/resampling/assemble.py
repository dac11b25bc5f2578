"""A user's table with new rows after its own: of the same kind, every column of its own type."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.arrays import AnyTable, TableLike
from weald.data.adapters import array_of_rows
from weald.data.frames.by_column import form_of, with_columns_of
from weald.data.frames.forms import plain_table
from weald.data.frames.write import Cells, object_types
from weald.data.table import LevelColumn, Table
from weald.engine.resampling import copy_rows
from weald.resampling.made import Between, MadeRows, Rows, blend, is_exact, is_native, known_numbers
from weald.resampling.noise import Around


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
    taken = dict(made.levels)
    cells = {} if made.numbers is None else _cells(X, table, made, taken)
    others = {j: np.concatenate((own, rows)) for j, rows in taken.items()}
    return with_columns_of(X, np.concatenate((own, made.base)), others, cells)


def _array(array: NDArray[Any], made: MadeRows) -> NDArray[Any]:
    n_rows = len(array)
    out = np.empty((n_rows + len(made.base), array.shape[1]), array.dtype)
    new = out[n_rows:]
    if isinstance(made.numbers, Between) and is_native(array):
        copy_rows(array, out[:n_rows], n_threads=made.numbers.n_threads)
    else:
        out[:n_rows] = array
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


def _cells(X: TableLike, table: Table, made: MadeRows, taken: dict[int, Rows]) -> dict[int, Cells]:
    """What is written into the numeric columns of new rows; where that is no number, rows to take from."""
    numbers = made.numbers
    assert numbers is not None
    objects = object_types(X)
    found = {}
    for j, column in enumerate(table.columns):
        if isinstance(column, LevelColumn) or j in made.levels:
            continue
        if isinstance(numbers, Between) and column.values.dtype.kind in "iu" and not is_exact(column.values):
            taken[j] = numbers.nearer
            continue
        values = known_numbers(column)
        old, new = values[made.base], numbers.of_column(j, values)
        gone = np.isnan(new) & ~np.isnan(old)
        if isinstance(numbers, Between) and gone.any():
            taken[j] = np.where(gone, numbers.other, made.base)
        # What is as it was is not written: times may be finer than float64 tells.
        at = np.flatnonzero((new != old) & ~np.isnan(new))
        if len(at):
            found[j] = Cells(table.n_rows + at, new[at], column.unit, objects.get(j))
    return found


# --------------------------------------------------------------------------- sparse matrices


def _sparse(X: AnyTable, made: MadeRows) -> Any:
    """Sparse rows stay sparse: between two rows only what one of them stores can be other than 0."""
    matrix = sparse.csr_array(X)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    new = matrix[made.base].astype(np.float64)
    if isinstance(made.numbers, Between):
        new = _sparse_between(matrix, made.numbers)
    elif isinstance(made.numbers, Around):
        new = _sparse_around(new, made.numbers)
    if made.levels:
        new = _with_levels(matrix, new, made)
    if X.dtype.kind != "f":
        new.data = np.rint(new.data)
    new.eliminate_zeros()
    stacked = sparse.vstack([matrix, new.astype(X.dtype)], format=X.format)
    return stacked if isinstance(X, sparse.sparray) else getattr(sparse, f"{X.format}_matrix")(stacked)


def _sparse_between(matrix: sparse.csr_array, numbers: Between) -> sparse.csr_array:
    x, z = matrix[numbers.base].tocoo(), matrix[numbers.other].tocoo()
    shape = x.shape
    keys = [each.row.astype(np.int64) * shape[1] + each.col for each in (x, z)]
    cells, at = np.unique(np.concatenate(keys), return_inverse=True)
    values = np.zeros((2, len(cells)))
    values[0, at[: len(keys[0])]], values[1, at[len(keys[0]) :]] = x.data, z.data
    rows, columns = np.divmod(cells, shape[1])
    made = blend(values[0], values[1], numbers.step[rows])
    return sparse.coo_array((made, (rows, columns)), shape=shape).tocsr()


def _sparse_around(new: sparse.csr_array, numbers: Around) -> sparse.csr_array:
    """Noise on what is stored alone: what is not stored stays 0."""
    by_column = new.tocsc()
    for j in range(by_column.shape[1]):
        part = slice(by_column.indptr[j], by_column.indptr[j + 1])
        noise = numbers.noise(j)[by_column.indices[part]]
        by_column.data[part] += noise
    return by_column.tocsr()


def _with_levels(matrix: sparse.csr_array, new: sparse.csr_array, made: MadeRows) -> sparse.csr_array:
    """The columns that are read as categories, from the rows whose levels they take."""
    entries = new.tocoo()
    own = ~np.isin(entries.col, list(made.levels))
    rows, columns, data = [entries.row[own]], [entries.col[own]], [entries.data[own]]
    by_column = matrix.tocsc()
    for j, taken in made.levels.items():
        values = by_column[:, [j]].toarray()[taken, 0].astype(np.float64)
        at = np.flatnonzero(values)
        rows.append(at)
        columns.append(np.full(len(at), j))
        data.append(values[at])
    places = (np.concatenate(rows), np.concatenate(columns))
    return sparse.coo_array((np.concatenate(data), places), shape=new.shape).tocsr()
