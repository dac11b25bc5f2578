"""Tables for the core: their columns as plain arrays, and the words for an infinite number that it meets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from weald import engine
from weald.data.blocks import SparseBlock
from weald.data.table import BlockColumns, Column, NumericColumn, Table
from weald.engine import NativeColumn, NativeColumns, native_values
from weald.errors import infinite_value


def native_columns(table: Table, *, by_rows: bool = False) -> NativeColumns:
    """The columns as arrays; `by_rows`: a sparse block row after row, as prediction reads it."""
    columns = table.columns
    if not isinstance(columns, BlockColumns):
        return NativeColumns({j: _native(column) for j, column in enumerate(columns)})
    placed = {j: _native(column) for j, column in columns.placed.items()}
    block = columns.block
    if not isinstance(block, SparseBlock):
        return NativeColumns(placed, block.array)
    return NativeColumns(placed, (block.compressed_by_rows() if by_rows else block).parts, sparse=True)


def _native(column: Column) -> NativeColumn:
    if isinstance(column, NumericColumn):
        return NativeColumn(native_values(column.values), column.missing)
    return NativeColumn(column.indices, n_levels=len(column.levels), ordered=column.ordered)


@contextmanager
def naming_infinite(table: Table) -> Iterator[None]:
    """Name the first infinite value, by column and row, when the core has met one."""
    try:
        yield
    except engine.InfiniteValue:
        block = table.columns.block if isinstance(table.columns, BlockColumns) else None
        if isinstance(block, SparseBlock) and (at := block.first_infinite()) is not None:
            raise infinite_value(table.names[at[0]], *at[1:]) from None
        floats = [c for c in table.columns if isinstance(c, NumericColumn) and c.values.dtype.kind == "f"]
        values = [native_values(c.values) for c in floats]
        found = engine.first_infinite(values, [c.missing for c in floats], table.n_rows)
        assert found is not None, "the core met an infinite number that no column has"
        column, row = found
        raise infinite_value(floats[column].name, row, float(values[column][row])) from None
