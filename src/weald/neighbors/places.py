"""`Places`: rows of a table where a `RowSpace` has put them, numbers and categories apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.arrays import Floats
from weald.data.blocks import ArrayBlock, SparseBlock
from weald.data.matrix.columns import ColumnLayout
from weald.data.matrix.rows import csr_of, dense_of
from weald.data.table import BlockColumns, LevelColumn, Table


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Rows where they stand.

    Parameters
    ----------
    numeric : ndarray of shape (n_rows, n_numeric), or scipy.sparse.csr_array
        Numbers and ranks of ordinal levels, scaled if the space scales them; NaN is missing. C-contiguous
        and never written to: it may be the user's own memory.
    codes : ndarray of int32 of shape (n_rows, n_categorical)
        Categories: level i of the schema is i + 1, 0 is missing.
    """

    numeric: Any
    codes: NDArray[np.int32]

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return int(self.codes.shape[0])

    @property
    def is_sparse(self) -> bool:
        """Whether the numbers are CSR."""
        return not isinstance(self.numeric, np.ndarray)

    def take(self, rows: NDArray[Any]) -> Places:
        """A copy of these rows, in their order; a row may be taken twice."""
        return Places(self.numeric[rows], np.ascontiguousarray(self.codes[rows]))


def raw_numbers(table: Table, layout: ColumnLayout, *, is_sparse: bool) -> Floats | sparse.csr_array:
    """The numeric and ordinal columns of an aligned table as they are; NaN is missing, infinity raises."""
    plain = layout.plain
    if is_sparse:
        matrix = csr_of(table, layout)
        layout.refuse_infinite_csr(matrix)
        return matrix[:, layout.starts[plain]] if layout.categorical else matrix
    if layout.categorical:
        table = _without_categories(table, plain)
        layout = ColumnLayout.of(layout.schema.take(plain.tolist()))
    if not len(plain):
        return np.empty((table.n_rows, 0))
    return dense_of(table, layout, np.full(len(plain), np.nan), None, None)


def category_codes(table: Table, layout: ColumnLayout) -> NDArray[np.int32]:
    """The categorical columns of an aligned table: 1 + the position of the level, 0 for missing."""
    codes = np.empty((table.n_rows, len(layout.categorical)), np.int32)
    for at, j in enumerate(layout.categorical):
        column = table.columns[j]
        assert isinstance(column, LevelColumn)
        np.add(column.indices, 1, out=codes[:, at], casting="unsafe")
    return codes


def _without_categories(table: Table, plain: NDArray[np.int64]) -> Table:
    columns, kept = table.columns, plain.tolist()
    if not (isinstance(columns, BlockColumns) and len(kept)):
        return Table(tuple(columns[j] for j in kept), table.n_rows, named=False)
    if isinstance(columns.block, SparseBlock):
        return Table(tuple(columns.take(kept)), table.n_rows, named=False)
    new = {j: i for i, j in enumerate(kept)}
    placed = {new[j]: column for j, column in columns.placed.items() if j in new}
    return Table(BlockColumns(ArrayBlock(columns.block.array[:, kept]), placed), table.n_rows, named=False)
