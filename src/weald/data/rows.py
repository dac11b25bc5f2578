"""Some rows of a table, as a table of the same columns; other columns in the place of some."""

from __future__ import annotations

from collections.abc import Mapping
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
        return Table(tuple(take_values(column, rows) for column in columns), len(rows), table.named)
    placed = {j: take_values(column, rows) for j, column in columns.placed.items()}
    block = columns.block
    if isinstance(block, ArrayBlock):
        return Table(
            BlockColumns(ArrayBlock(block.array[rows]), placed, columns.names), len(rows), table.named
        )
    return Table(BlockColumns(_sparse_rows(block, rows), placed, columns.names), len(rows), table.named)


def with_columns(table: Table, columns: Mapping[int, Column]) -> Table:
    """The same table with other columns at some positions; nothing else is copied, not even of a block.

    >>> from weald.data.adapters import to_table
    >>> table = to_table({"x": [1.0, 2.0], "y": [3.0, 4.0]})
    >>> turned = take_values(table.columns[1], np.array([1, 0]))
    >>> [column.values.tolist() for column in with_columns(table, {1: turned}).columns]
    [[1.0, 2.0], [4.0, 3.0]]
    """
    given = table.columns
    if isinstance(given, BlockColumns):
        return replace(table, columns=BlockColumns(given.block, {**given.placed, **columns}, given.names))
    return replace(table, columns=tuple(columns.get(j, column) for j, column in enumerate(given)))


def take_values(column: Column, rows: NDArray[np.int64]) -> Column:
    """The values of a column in these rows, in their order."""
    if isinstance(column, LevelColumn):
        return replace(column, indices=column.indices[rows])
    missing = None if column.missing is None else column.missing[rows]
    nanoseconds = None if column.nanoseconds is None else column.nanoseconds[rows]
    return replace(column, values=column.values[rows], missing=missing, nanoseconds=nanoseconds)


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
