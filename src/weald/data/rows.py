"""Some rows of a table, as a table of the same columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from weald.data.blocks import ArrayBlock, SparseBlock
from weald.data.table import BlockColumns, Column, LevelColumn, Table


def take_rows(table: Table, rows: NDArray[np.int64]) -> Table:
    """The rows of these numbers, in their order; a row may be taken twice.

    >>> from weald.data.adapters import to_table
    >>> take_rows(to_table({"x": [1.0, 2.0, 3.0]}), np.array([2, 0])).columns[0].values.tolist()
    [3.0, 1.0]
    """
    columns = table.columns
    if not isinstance(columns, BlockColumns):
        return Table(tuple(_taken(column, rows) for column in columns), len(rows), table.named)
    placed = {j: _taken(column, rows) for j, column in columns.placed.items()}
    block = columns.block
    if isinstance(block, ArrayBlock):
        return Table(
            BlockColumns(ArrayBlock(block.array[rows]), placed, columns.names), len(rows), table.named
        )
    return Table(BlockColumns(_sparse_rows(block, rows), placed, columns.names), len(rows), table.named)


def _taken(column: Column, rows: NDArray[np.int64]) -> Column:
    if isinstance(column, LevelColumn):
        return replace(column, indices=column.indices[rows])
    missing = None if column.missing is None else column.missing[rows]
    return replace(column, values=column.values[rows], missing=missing)


def _sparse_rows(block: SparseBlock, rows: NDArray[np.int64]) -> SparseBlock:
    block = block.compressed_by_rows()
    lengths = np.diff(block.indptr)[rows]
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    at = np.arange(indptr[-1]) + np.repeat(block.indptr[rows] - indptr[:-1], lengths)
    return replace(
        block,
        shape=(len(rows), block.shape[1]),
        indptr=indptr,
        indices=np.ascontiguousarray(block.indices[at]),
        data=np.ascontiguousarray(block.data[at]),
    )
