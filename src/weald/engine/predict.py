"""Walking a forest with new rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.data.blocks import SparseBlock
from weald.data.table import BlockColumns, Column, NumericColumn, Table
from weald.engine.codes import naming_infinite, native_values


class Predictor:
    """A forest laid out for walking."""

    def __init__(self, arrays: dict[str, NDArray[Any]], n_columns: int, width: int) -> None:
        kept = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        for name in ("missing_left", "set_left"):
            kept[name] = kept[name].view(np.uint8)
        self._native = _core.make_predictor(kept, n_columns, width)

    def scores(self, table: Table, *, n_threads: int) -> NDArray[np.float64]:
        """Raw scores: (n_rows, n_outputs)."""
        with naming_infinite(table):
            return self._native.scores(_predict_table(table), table.n_rows, n_threads)

    def leaves(self, table: Table, *, n_threads: int) -> NDArray[np.int32]:
        """Leaf node ids: (n_rows, n_trees)."""
        with naming_infinite(table):
            return self._native.leaves(_predict_table(table), table.n_rows, n_threads)


def _predict_table(table: Table) -> list[tuple[Any, ...]] | tuple[Any, list[tuple[Any, ...]]]:
    columns = table.columns
    if not isinstance(columns, BlockColumns):
        return [_predict_column(column) for column in columns]
    block = columns.block
    values = block.compressed_by_rows().parts if isinstance(block, SparseBlock) else block.array
    return values, [(j, *_predict_column(column)) for j, column in columns.placed.items()]


def _predict_column(column: Column) -> tuple[Any, ...]:
    if isinstance(column, NumericColumn):
        return native_values(column.values), column.missing, False
    return column.indices, None, True
