"""A number that stands for a missing value: the table with those values missing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data.blocks import ArrayBlock, SparseBlock
from weald.data.table import BlockColumns, Column, LevelColumn, Table


def mark_missing(table: Table, number: float) -> Table:
    """The table where `number` is missing too, also as a category; NaN changes nothing. Dates stay.

    What a sparse matrix does not store is 0, so with 0 it becomes missing.

    >>> from weald.data.adapters import to_table
    >>> mark_missing(to_table({"x": [1.0, -999.0]}), -999).columns[0].missing.tolist()
    [False, True]
    """
    if np.isnan(number):
        return table
    columns = table.columns
    if not isinstance(columns, BlockColumns):
        return replace(table, columns=tuple(_marked(column, number) for column in columns))
    placed = {j: _marked(column, number) for j, column in columns.placed.items()}
    block = columns.block
    if isinstance(block, ArrayBlock):
        return replace(
            table, columns=BlockColumns(ArrayBlock(_as_nan(block.array, number)), placed, columns.names)
        )
    return replace(table, columns=BlockColumns(_marked_block(block, number), placed, columns.names))


def _marked(column: Column, number: float) -> Column:
    if isinstance(column, LevelColumn):
        found = [isinstance(level, int | float) and level == number for level in column.levels]
        if not any(found):
            return column
        kept = np.where([*found, True], -1, np.arange(len(found) + 1)).astype(np.int32)
        return replace(column, indices=kept[column.indices])
    if column.unit not in ("number", "bool"):
        return column
    found = column.values == number
    return replace(column, missing=found if column.missing is None else column.missing | found)


def _as_nan(values: NDArray[Any], number: float) -> NDArray[Any]:
    found = values == number
    if not found.any():
        return values
    out = values.astype(values.dtype if values.dtype.kind == "f" else np.float64)
    out[found] = np.nan
    return out


def _marked_block(block: SparseBlock, number: float) -> SparseBlock:
    if number == 0:
        return replace(block, absent_missing=True)
    from scipy import sparse

    # Entries of one place count by their sum.
    form = sparse.csr_array if block.by_rows else sparse.csc_array
    matrix = form((block.data, block.indices, block.indptr), shape=block.shape, copy=True)
    matrix.sum_duplicates()
    indptr = matrix.indptr.astype(np.int64)
    return replace(block, indptr=indptr, indices=matrix.indices, data=_as_nan(matrix.data, number))
