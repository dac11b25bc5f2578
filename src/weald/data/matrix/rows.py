"""The rows of a table as dense or sparse numbers, block by block: no loop over rows, little memory beside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.arrays import Floats
from weald.data.blocks import ArrayBlock, SparseBlock
from weald.data.matrix.columns import ColumnLayout, numbers_of
from weald.data.table import BlockColumns, Column, LevelColumn, Table

#: numbers that are made together: they fit the second-level cache
_BLOCK = 1 << 16
_FEWEST_ROWS = 128


def row_blocks(n_rows: int, width: int) -> Iterator[tuple[int, int]]:
    """Starts and ends of blocks of rows of `width` numbers."""
    step = max(_FEWEST_ROWS, _BLOCK // max(1, width))
    return ((start, min(start + step, n_rows)) for start in range(0, n_rows, step))


# --------------------------------------------------------------------------- dense


def dense_of(
    table: Table, layout: ColumnLayout, fill: Floats, centre: Floats | None, divisor: Floats | None
) -> Floats:
    """The table as a C-contiguous array: gaps filled, minus `centre`, over `divisor`."""
    as_it_is = _whole_array(table) if divisor is None else None
    if as_it_is is not None:
        return as_it_is
    write = _writer(table, layout)
    out = np.empty((table.n_rows, layout.n_out))
    for start, stop in row_blocks(table.n_rows, layout.n_out):
        block = out[start:stop]
        write(start, stop, block)
        known = np.isfinite(block)
        if not known.all():
            layout.refuse_infinite(block, start)
            rows, columns = np.nonzero(~known)
            block[rows, columns] = fill[columns]
        if divisor is not None:
            _scale(block, centre, divisor, layout)
    return out


def _whole_array(table: Table) -> Floats | None:
    """The user's own array, if it has what a matrix needs and no gaps."""
    columns = table.columns
    if not (isinstance(columns, BlockColumns) and isinstance(columns.block, ArrayBlock)) or columns.placed:
        return None
    array = columns.block.array
    if array.dtype != np.float64 or not array.flags.c_contiguous:
        return None
    whole = all(np.isfinite(array[start:stop]).all() for start, stop in row_blocks(*array.shape))
    return array if whole else None


def _scale(block: Floats, centre: Floats | None, divisor: Floats, layout: ColumnLayout) -> None:
    with np.errstate(over="ignore"):
        if centre is not None:
            block -= centre
        block /= divisor
    finite = np.isfinite(block)
    if not finite.all():
        raise layout.beyond(int(np.argmin(finite.all(axis=0))))


def _writer(table: Table, layout: ColumnLayout) -> Callable[..., None]:
    """A function that writes the rows of the table from `start` to `stop` into a block."""
    columns, starts = table.columns, layout.starts
    if not isinstance(columns, BlockColumns):
        each = list(enumerate(columns))

        def write_columns(start: int, stop: int, out: Floats) -> None:
            for j, column in each:
                _write_column(column, start, stop, out[:, starts[j] : starts[j + 1]])

        return write_columns
    if isinstance(columns.block, SparseBlock):
        matrix = csr_of(table, layout)

        def write_sparse(start: int, stop: int, out: Floats) -> None:
            out[:] = matrix[start:stop].toarray()

        return write_sparse
    array, placed = columns.block.array, columns.placed
    plain = np.delete(np.arange(layout.n_in), list(placed))

    def write_array(start: int, stop: int, out: Floats) -> None:
        if not placed:
            out[:] = array[start:stop]
            return
        out[:, starts[plain]] = array[start:stop][:, plain]
        for j, column in placed.items():
            _write_column(column, start, stop, out[:, starts[j] : starts[j + 1]])

    return write_array


def _write_column(column: Column, start: int, stop: int, out: Floats) -> None:
    """Rows of one column into its part of a block."""
    if isinstance(column, LevelColumn):
        indices = column.indices[start:stop]
        known = np.flatnonzero(indices >= 0)
        if column.ordered:
            out[:, 0] = np.nan
            out[known, 0] = indices[known]
        else:
            out[:] = 0.0
            out[known, indices[known]] = 1.0
        return
    out[:, 0] = column.values[start:stop]
    if column.missing is not None:
        out[column.missing[start:stop], 0] = np.nan


# --------------------------------------------------------------------------- sparse


def as_csr(values: sparse.sparray) -> sparse.csr_array:
    """A SciPy matrix as CSR of float64: indices of a row rise, no duplicates, no zeros. Never changes it."""
    matrix = sparse.csr_array(values)  # of CSR the same arrays
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()  # in the matrix's own dtype, as every other reader does
    matrix = matrix.astype(np.float64, copy=False)
    if (matrix.data == 0).any():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return csr_array(matrix.data, matrix.indices, matrix.indptr, matrix.shape)


def csr_array(
    data: Floats, indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]
) -> sparse.csr_array:
    """CSR of these arrays, with int32 indices where they can hold the number of entries."""
    dtype = np.int32 if len(data) < 2**31 else np.int64
    parts = (data, indices.astype(dtype, copy=False), indptr.astype(dtype, copy=False))
    return sparse.csr_array(parts, shape=shape)


def csr_of(table: Table, layout: ColumnLayout) -> sparse.csr_array:
    """The table as CSR with all columns of the matrix, nothing filled or scaled; stored NaN is missing."""
    columns = table.columns
    if not (isinstance(columns, BlockColumns) and isinstance(columns.block, SparseBlock)):
        return _csr_of_dense(table, layout)
    block = columns.block.compressed_by_rows()
    # SciPy would copy indices of four bytes to match an indptr of eight.
    matrix = as_csr(csr_array(block.data, block.indices, block.indptr, block.shape))
    if not columns.placed:
        return matrix
    kept = np.ones(layout.n_in, np.bool_)
    kept[list(columns.placed)] = False
    entries = kept[matrix.indices]
    indptr = np.concatenate(([0], np.cumsum(entries)))[matrix.indptr]
    indices = layout.starts[matrix.indices[entries]]
    shape = (table.n_rows, layout.n_out)
    plain = csr_array(matrix.data[entries], indices, indptr, shape)
    others = Table(tuple(columns.placed.values()), table.n_rows, named=False)
    return as_csr(plain + _csr_of_dense(others, layout, list(columns.placed)))


def _csr_of_dense(table: Table, layout: ColumnLayout, positions: list[int] | None = None) -> sparse.csr_array:
    """CSR from columns; `positions`: where they stand in the table of the layout."""
    at = layout.starts[:-1] if positions is None else layout.starts[positions]
    parts = [
        _csr_entries(table, at, start, stop) for start, stop in row_blocks(table.n_rows, table.n_columns)
    ]
    data, indices, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
    indptr = np.concatenate(([0], np.cumsum(counts)))
    return csr_array(data, indices, indptr, (table.n_rows, layout.n_out))


def _csr_entries(
    table: Table, at: NDArray[np.int64], start: int, stop: int
) -> tuple[Floats, NDArray[np.int32], NDArray[np.int64]]:
    """What is not 0 in some rows: the values and their columns row by row, and how many each row has."""
    values = np.empty((stop - start, table.n_columns))
    where = np.empty((stop - start, table.n_columns), np.int32)
    where[:] = at
    columns = table.columns
    if isinstance(columns, BlockColumns) and isinstance(columns.block, ArrayBlock):
        values[:] = columns.block.array[start:stop]
        each: Any = columns.placed.items()
    else:
        each = enumerate(columns)
    for j, column in each:
        if isinstance(column, LevelColumn) and not column.ordered:
            indices = column.indices[start:stop]
            values[:, j] = indices >= 0
            where[:, j] += np.maximum(indices, 0)
        else:
            values[:, j] = numbers_of(_rows(column, start, stop))
    stored = values != 0
    return values[stored], where[stored], stored.sum(axis=1)


def _rows(column: Column, start: int, stop: int) -> Column:
    if isinstance(column, LevelColumn):
        return LevelColumn(column.name, column.indices[start:stop], column.levels, column.ordered)
    missing = None if column.missing is None else column.missing[start:stop]
    return type(column)(column.name, column.values[start:stop], missing, column.unit)
