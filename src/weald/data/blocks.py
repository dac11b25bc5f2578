"""Many columns of one dtype held together: an array of two dimensions, or a sparse matrix.

A table of a hundred thousand columns stays one object here; single columns are made when somebody asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

BlockUnit: TypeAlias = Literal["number", "bool"]


@dataclass(frozen=True, slots=True, eq=False)
class ArrayBlock:
    """The columns of an array of two dimensions, in a dtype and layout that the core reads."""

    array: NDArray[Any]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.array.shape[0], self.array.shape[1]

    @property
    def unit(self) -> BlockUnit:
        """What the numbers are."""
        return "bool" if self.array.dtype.kind == "b" else "number"

    def take(self, positions: Sequence[int]) -> list[NDArray[Any]]:
        """Some columns, as views."""
        return [self.array[:, j] for j in positions]


@dataclass(frozen=True, slots=True, eq=False)
class SparseBlock:
    """The columns of a sparse matrix, compressed by rows (CSR) or by columns (CSC).

    What it does not hold is 0, or missing if `absent_missing`; a 0 that it holds then is missing too.
    Entries of one place are added up, in the dtype of `data` and in the order
    they are stored; the order of indices is free. `indptr` is int64, `indices` int32 or int64.
    """

    by_rows: bool
    shape: tuple[int, int]
    indptr: NDArray[np.int64]
    indices: NDArray[Any]
    data: NDArray[Any]
    absent_missing: bool = False

    @property
    def unit(self) -> BlockUnit:
        """What the numbers are."""
        return "bool" if self.data.dtype.kind == "b" else "number"

    @property
    def parts(self) -> tuple[bool, int, int, NDArray[np.int64], NDArray[Any], NDArray[Any], bool]:
        """What the core reads."""
        return self.by_rows, *self.shape, self.indptr, self.indices, self.data, self.absent_missing

    def take(self, positions: Sequence[int]) -> list[NDArray[Any]]:
        """Some columns in full, in one pass over the indices."""
        out = [np.zeros(self.shape[0], self.data.dtype) for _ in positions]
        if not out:
            return out
        place = {j: i for i, j in enumerate(positions)}
        if self.by_rows:
            at = np.flatnonzero(np.isin(self.indices, list(positions)))
        else:
            at = np.concatenate([np.arange(self.indptr[j], self.indptr[j + 1]) for j in positions])
        rows, columns = self._rows_and_columns(at)
        order = np.argsort(columns, kind="stable")
        starts = np.flatnonzero(np.diff(columns[order], prepend=-1))
        add = np.logical_or if self.data.dtype.kind == "b" else np.add
        with np.errstate(over="ignore", invalid="ignore"):  # infinite sums are refused where they are read
            for entries in np.split(order, starts[1:]):
                if len(entries):
                    column = out[place[int(columns[entries[0]])]]
                    add.at(column, rows[entries], self.data[at[entries]])
        return [_zero_as_nan(column) for column in out] if self.absent_missing else out

    def _rows_and_columns(self, at: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Where the entries stand in the matrix."""
        line, other = np.searchsorted(self.indptr, at, side="right") - 1, self.indices[at]
        return (line, other) if self.by_rows else (other, line)

    def compressed_by_rows(self) -> SparseBlock:
        """The same matrix in CSR, which is how rows are predicted."""
        if self.by_rows:
            return self
        from scipy import sparse

        matrix = sparse.csc_array((self.data, self.indices, self.indptr), shape=self.shape).tocsr()
        indptr = matrix.indptr.astype(np.int64)
        return SparseBlock(True, self.shape, indptr, matrix.indices, matrix.data, self.absent_missing)

    def compressed_by_columns(self) -> SparseBlock:
        """The same matrix in CSC, which gives single columns at the cost of their entries."""
        if not self.by_rows:
            return self
        from scipy import sparse

        matrix = sparse.csr_array((self.data, self.indices, self.indptr), shape=self.shape).tocsc()
        indptr = matrix.indptr.astype(np.int64)
        return SparseBlock(False, self.shape, indptr, matrix.indices, matrix.data, self.absent_missing)

    def first_infinite(self) -> tuple[int, int, float] | None:
        """Column, row and value of the first infinite number: of the first such column its first such row."""
        if self.data.dtype.kind != "f" or not len(self.data):
            return None
        # Finite entries of one place may add up to infinity, if one of them is large enough.
        suspects = np.flatnonzero(np.abs(self.data) > np.finfo(self.data.dtype).max / len(self.data))
        columns = np.unique(self._rows_and_columns(suspects)[1])
        for j in columns.tolist():
            column = self.take([j])[0]
            infinite = np.isinf(column)
            if infinite.any():
                row = int(np.argmax(infinite))
                return j, row, float(column[row])
        return None


def _zero_as_nan(column: NDArray[Any]) -> NDArray[Any]:
    return np.where(column == 0, np.nan, column)


Block: TypeAlias = ArrayBlock | SparseBlock
