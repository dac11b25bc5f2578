"""How a kernel machine reads tables: columns as numbers, texts as counts, or kernel values as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from scipy import sparse

from weald.arrays import CategoricalFeatures, Floats, TableLike
from weald.data.adapters import to_table
from weald.data.blocks import SparseBlock
from weald.data.matrix.columns import ColumnLayout
from weald.data.matrix.matrix import Matrix, MatrixPlan
from weald.data.schema import Schema
from weald.data.table import BlockColumns, LevelColumn, Table
from weald.errors import DataError
from weald.model.read import read_aligned
from weald.svm.kernels.choice import Chosen
from weald.svm.kernels.functions import Kernel
from weald.svm.kernels.gram import check_nonnegative
from weald.svm.kernels.spectrum import SpectrumPlan, as_text, text_table
from weald.svm.kernels.text_rows import TextRows

#: how far two numbers of one pair may be apart, in shares of the largest; rows that are looked at together
_SYMMETRIC, _BLOCK = 1e-6, 512


@dataclass(frozen=True, eq=False)
class TableReading:
    """Columns of any kind, as numbers."""

    plan: MatrixPlan
    declared: CategoricalFeatures
    #: the kernel, if it takes no negative numbers
    counting: Kernel | None = None

    @classmethod
    def of(cls, plan: MatrixPlan, declared: CategoricalFeatures, kernel: Chosen) -> TableReading:
        """What reads tables for a kernel."""
        return cls(plan, declared, kernel if takes_no_negatives(kernel) else None)

    @property
    def schema(self) -> Schema:
        """The columns of its tables."""
        return self.plan.schema

    def read(self, X: TableLike, owner: str) -> Matrix:
        """The matrix of a new table."""
        return self.matrix(read_aligned(X, self.schema, declared=self.declared, owner=owner))

    def matrix(self, table: Table) -> Matrix:
        """The matrix of a table that is aligned to the schema."""
        matrix = self.plan.apply(table)
        self.check(matrix)
        return matrix

    def check(self, matrix: Matrix) -> None:
        """Raise for a negative number if the kernel takes none."""
        if self.counting is not None and matrix.entries.size and matrix.entries.min() < 0:
            check_nonnegative(self.counting, matrix, ColumnLayout.of(self.schema).name)


def takes_no_negatives(kernel: object) -> TypeGuard[Kernel]:
    """Whether a kernel compares counts and shares."""
    return isinstance(kernel, Kernel) and kernel.nonnegative


@dataclass(frozen=True, eq=False)
class TextReading:
    """Texts, as counts of substrings."""

    plan: SpectrumPlan

    @property
    def schema(self) -> Schema:
        """The columns of its tables."""
        return self.plan.schema

    def read(self, X: TableLike, owner: str) -> Matrix:
        """The counts of new texts."""
        return self.plan.read(X, owner)


@dataclass(frozen=True, eq=False)
class CalledTextReading:
    """Texts as they are, for a function that compares them."""

    schema: Schema

    def read(self, X: TableLike, owner: str) -> TextRows:
        """New texts."""
        return self.rows(text_table(X), owner)

    def rows(self, table: Table, owner: str) -> TextRows:
        """The texts of a table that `text_table` gave; None where one is missing."""
        self.schema.order(table, owner)
        column = as_text(table.columns[0])
        levels = np.array([*column.levels, None], dtype=object)
        return TextRows(levels[column.indices])


@dataclass(frozen=True, eq=False)
class GivenReading:
    """Kernel values with every training row: (n_rows, n_train)."""

    schema: Schema

    def read(self, X: TableLike, owner: str) -> Floats:
        """The kernel values of new rows."""
        table = to_table(X)
        values = kernel_matrix(table)
        order = self.schema.order(table, owner)
        return values if isinstance(order, range) else values[:, order]


Reading: TypeAlias = TableReading | TextReading | CalledTextReading | GivenReading


def kernel_matrix(table: Table) -> Floats:
    """A table of kernel values as an array; none may be missing or infinite."""
    columns = table.columns
    if isinstance(columns, BlockColumns) and not columns.placed:
        block: Any = columns.block
        given = _dense(block) if isinstance(block, SparseBlock) else block.array
        values = np.ascontiguousarray(given, np.float64)
    else:
        values = np.empty((table.n_rows, table.n_columns))
        for j, column in enumerate(columns):
            if isinstance(column, LevelColumn):
                raise DataError(
                    f"Column {column.name!r} of a precomputed kernel matrix holds categories. It must hold "
                    "kernel values."
                )
            values[:, j] = column.values
            if column.missing is not None:
                values[column.missing, j] = np.nan
    finite = np.isfinite(values)
    if not finite.all():
        row, j = (int(k) for k in np.argwhere(~finite)[0])
        what = "NaN" if np.isnan(values[row, j]) else "infinity"
        raise DataError(
            f"Input X contains {what}: row {row}, column {table.names[j]!r} of the precomputed kernel "
            "matrix. A kernel must give a finite number for every pair of rows."
        )
    return values


def _dense(block: SparseBlock) -> Floats:
    """The numbers of a sparse matrix, with 0 where it holds none."""
    kind = sparse.csr_array if block.by_rows else sparse.csc_array
    dense: Floats = kind((block.data, block.indices, block.indptr), shape=block.shape).toarray()
    return dense


def check_symmetric(gram: Floats, owner: str) -> None:
    """Raise if a precomputed kernel matrix gives two rows two numbers, by more than rounding."""
    most = _SYMMETRIC * float(np.abs(gram).max())
    for start in range(0, len(gram), _BLOCK):
        part = slice(start, start + _BLOCK)
        apart = np.abs(gram[part] - gram[:, part].T)
        if apart.max() > most:
            i, j = (int(k) for k in np.argwhere(apart > most)[0])
            one, other = gram[start + i, j], gram[j, start + i]
            raise DataError(
                f"The precomputed kernel matrix of {owner} is not symmetric: row {start + i}, column {j} "
                f"holds {one:g}, and row {j}, column {start + i} {other:g}. A kernel gives a pair of rows "
                "one number; (K + K.T) / 2 makes one of two."
            )


def check_square(table: Table, owner: str) -> None:
    """Raise unless a precomputed kernel matrix has a column for each row."""
    if table.n_rows != table.n_columns:
        raise DataError(
            f"Precomputed matrix must be a square matrix. Input is a {table.n_rows}x{table.n_columns} "
            f"matrix. {owner} with kernel='precomputed' takes kernel values of all training rows with each "
            "other; give the table itself with the name of a kernel otherwise."
        )
