"""Where the columns of a table stand in its matrix: one column each, a category one for every level."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from weald.data.column_schema import Positions
from weald.data.schema import Schema
from weald.data.table import Column, LevelColumn
from weald.errors import DataError, infinite_value

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """The columns of a matrix in terms of a schema.

    `starts[j]` is the first column of the matrix that column j of the table has; `categorical` are the
    positions of the table's columns that are expanded.
    """

    schema: Schema
    starts: NDArray[np.int64]  # (n_in + 1,)
    categorical: tuple[int, ...]

    @classmethod
    def of(cls, schema: Schema) -> ColumnLayout:
        """The layout of a schema; plain columns named by position are not looked at one by one."""
        columns = schema.columns
        others = columns.others.items() if isinstance(columns, Positions) else enumerate(columns)
        levels = {j: len(column.levels) for j, column in others if column.kind == "categorical"}
        width = np.ones(len(columns), np.int64)
        width[list(levels)] = list(levels.values())
        return cls(schema, np.concatenate(([0], np.cumsum(width))), tuple(levels))

    @staticmethod
    def width_of(schema: Schema) -> int:
        """How many columns the matrix of a schema has, told without any work for plain columns."""
        columns = schema.columns
        others = columns.others.values() if isinstance(columns, Positions) else columns
        return len(columns) + sum(len(c.levels) - 1 for c in others if c.kind == "categorical")

    @property
    def n_in(self) -> int:
        """Columns of the table."""
        return len(self.starts) - 1

    @property
    def n_out(self) -> int:
        """Columns of the matrix."""
        return int(self.starts[-1])

    @property
    def is_level(self) -> NDArray[np.bool_]:
        """Which columns of the matrix are levels of a category."""
        out = np.zeros(self.n_out, np.bool_)
        for j in self.categorical:
            out[self.starts[j] : self.starts[j + 1]] = True
        return out

    @property
    def plain(self) -> NDArray[np.int64]:
        """The positions of the table's columns that are numbers or ranks."""
        return np.delete(np.arange(self.n_in), list(self.categorical))

    def source(self, column: int) -> int:
        """The column of the table that a column of the matrix comes from."""
        return int(np.searchsorted(self.starts, column, side="right")) - 1

    def name(self, column: int) -> Hashable:
        """The name of one column of the matrix."""
        j = self.source(column)
        found = self.schema.columns[j]
        if found.kind != "categorical":
            return found.name
        return f"{found.name}={found.levels[column - int(self.starts[j])]}"

    def names(self) -> tuple[Hashable, ...]:
        """The names of all columns of the matrix."""
        if not self.categorical:
            return tuple(self.schema.names)
        return tuple(
            name
            for column in self.schema.columns
            for name in (
                [f"{column.name}={level}" for level in column.levels]
                if column.kind == "categorical"
                else [column.name]
            )
        )

    def refuse_infinite(self, block: NDArray[np.float64], first_row: int) -> None:
        """Raise if rows of a dense matrix hold an infinite number."""
        rows, columns = np.nonzero(np.isinf(block))
        if len(rows):
            name = self.schema.columns[self.source(int(columns[0]))].name
            raise infinite_value(name, first_row + int(rows[0]), float(block[rows[0], columns[0]]))

    def refuse_infinite_csr(self, matrix: sparse.csr_array) -> None:
        """Raise if a CSR matrix holds an infinite number."""
        at = np.flatnonzero(np.isinf(matrix.data))
        if len(at):
            row = int(np.searchsorted(matrix.indptr, at[0], side="right")) - 1
            name = self.schema.columns[self.source(int(matrix.indices[at[0]]))].name
            raise infinite_value(name, row, float(matrix.data[at[0]]))

    def beyond(self, column: int) -> DataError:
        """The error for a number that scaling carries out of float64."""
        name = self.schema.columns[self.source(column)].name
        return DataError(
            f"Column {name!r} holds a number that is too large to be scaled as in training: the result is "
            "beyond float64. Replace it, or mark it missing (NaN)."
        )


def numbers_of(column: Column) -> NDArray[np.float64]:
    """A numeric or ordinal column as float64; NaN is missing, levels are ranks from 0. May be a view."""
    if isinstance(column, LevelColumn):
        ranks = column.indices.astype(np.float64)
        ranks[column.indices < 0] = np.nan
        return ranks
    if column.missing is None:
        return column.values.astype(np.float64, copy=False)
    return np.where(column.missing, np.nan, column.values.astype(np.float64, copy=False))
