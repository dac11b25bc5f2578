"""How a machine compares rows: by a kernel of ours, by a user's function, or by a matrix the user gave.

A source holds the training rows and gives the solver rows of the kernel matrix; a support holds the rows that
a fitted machine keeps and compares new rows with them. Neither ever makes a whole kernel matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.data.matrix.matrix import Matrix
from weald.engine.svm import LINEAR, kernel_scores
from weald.svm.kernels.gram import called
from weald.svm.kernels.text_rows import TextRows
from weald.svm.problem import KernelRows

RowNumbers: TypeAlias = NDArray[np.int32]

#: numbers that a user's function gives at once, at most, when new rows are scored
_MOST_AT_ONCE = 1 << 22


class Support(Protocol):
    """The rows that a fitted machine compares new ones with."""

    def scores(self, rows: Any, coefficients: Floats, n_threads: int) -> Floats:
        """Σ coefficient · kernel over the support, for each row and each line of `coefficients`."""

    def part(self, start: int, stop: int) -> Support:
        """Some of the rows, next to each other."""


class KernelSource(Protocol):
    """The training rows, and the kernel between them."""

    @property
    def n_rows(self) -> int:
        """How many rows."""

    @property
    def centre(self) -> Floats | None:
        """What is taken off every row before a linear kernel sees it, or None."""

    def kernel_rows(self, cache_bytes: int, n_threads: int) -> KernelRows:
        """Rows of the kernel matrix, for solvers."""

    def support(self, rows: RowNumbers) -> Support:
        """These rows, as a machine keeps them."""

    def batch(self, rows: RowNumbers) -> Any:
        """These rows, as `Support.scores` takes new ones."""


# --------------------------------------------------------------------------- kernels of ours


@dataclass(frozen=True, slots=True, eq=False)
class NativeSupport:
    """Rows of a matrix, compared by a program of the core."""

    program: Floats
    matrix: Matrix

    def scores(self, rows: Matrix, coefficients: Floats, n_threads: int) -> Floats:
        """As `Support` says."""
        return kernel_scores(self.program, rows, self.matrix, coefficients, n_threads=n_threads)

    def part(self, start: int, stop: int) -> NativeSupport:
        """As `Support` says."""
        return NativeSupport(self.program, self.matrix.block(start, stop))


def column_scores(rows: Matrix, weights: Floats, intercept: Floats | float, n_threads: int) -> Floats:
    """X · w + b of every row and every line of weights."""
    lines = NativeSupport(LINEAR, Matrix(np.ascontiguousarray(weights)))
    found: Floats = lines.scores(rows, np.eye(len(weights)), n_threads) + intercept
    return found


@dataclass(frozen=True, slots=True, eq=False)
class NativeSource:
    """Rows of a matrix, compared by a program of the core.

    A linear kernel of dense rows has a centre: machines with an intercept are the same for moved rows, and
    products of rows far from 0 would lose the digits that tell them apart.
    """

    program: Floats
    matrix: Matrix
    centre: Floats | None = None

    @classmethod
    def of(cls, program: Floats, matrix: Matrix) -> NativeSource:
        """With a centre where it helps: the median of each column."""
        if matrix.is_sparse or not np.array_equal(program, LINEAR):
            return cls(program, matrix)
        return cls(program, matrix, np.median(matrix.values, axis=0))

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return self.matrix.n_rows

    def kernel_rows(self, cache_bytes: int, n_threads: int) -> KernelRows:
        """As `KernelSource` says."""
        return KernelRows.native(self.program, self.moved(self.matrix), cache_bytes, n_threads)

    def moved(self, rows: Matrix) -> Matrix:
        """Rows without the centre."""
        return rows if self.centre is None else Matrix(rows.values - self.centre)

    def support(self, rows: RowNumbers) -> NativeSupport:
        """As `KernelSource` says."""
        return NativeSupport(self.program, self.matrix.take(rows))

    def batch(self, rows: RowNumbers) -> Matrix:
        """As `KernelSource` says."""
        return self.matrix.take(rows)


# --------------------------------------------------------------------------- a user's function


@dataclass(frozen=True, slots=True, eq=False)
class CalledSupport:
    """Rows of a matrix, compared by a function.

    A function of texts is asked with all training texts, as scikit-learn asks it, and `among` them those that
    the machine keeps: it may look at the texts together.
    """

    function: Callable[..., Any]
    matrix: Matrix | TextRows
    among: RowNumbers | None = None

    def scores(self, rows: Matrix | TextRows, coefficients: Floats, n_threads: int) -> Floats:
        """As `Support` says, some rows at a time."""
        out = np.zeros((rows.n_rows, len(coefficients)))
        size = max(1, _MOST_AT_ONCE // max(1, self.matrix.n_rows))
        if not coefficients.shape[1]:
            return out
        for start in range(0, rows.n_rows, size):
            block = rows.block(start, min(start + size, rows.n_rows))
            values = called(self.function, block.values, self.matrix.values)
            if self.among is not None:
                values = values.take(self.among, axis=1)
            out[start : start + size] = column_scores(Matrix(values), coefficients, 0.0, n_threads)
        return out

    def part(self, start: int, stop: int) -> CalledSupport:
        """As `Support` says."""
        if self.among is not None:
            return CalledSupport(self.function, self.matrix, self.among[start:stop])
        return CalledSupport(self.function, self.matrix.block(start, stop))


@dataclass(frozen=True, slots=True, eq=False)
class CalledSource:
    """Rows of a matrix, or texts, compared by a function."""

    function: Callable[..., Any]
    matrix: Matrix | TextRows

    @property
    def centre(self) -> None:
        """As `KernelSource` says."""
        return None

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return self.matrix.n_rows

    def kernel_rows(self, cache_bytes: int, n_threads: int) -> KernelRows:
        """As `KernelSource` says; the function is asked for so many rows at once as fit into the budget."""
        values, n_rows = self.matrix.values, self.n_rows
        size = max(1, cache_bytes // (8 * n_rows))

        def rows(ids: RowNumbers) -> Floats:
            parts = [
                called(self.function, values[ids[k : k + size]], values) for k in range(0, len(ids), size)
            ]
            return parts[0] if len(parts) == 1 else np.concatenate(parts)

        return KernelRows.called(rows, n_rows, cache_bytes, n_threads)

    def support(self, rows: RowNumbers) -> CalledSupport:
        """As `KernelSource` says."""
        if isinstance(self.matrix, TextRows):
            return CalledSupport(self.function, self.matrix, rows)
        return CalledSupport(self.function, self.matrix.take(rows))

    def batch(self, rows: RowNumbers) -> Matrix | TextRows:
        """As `KernelSource` says."""
        return self.matrix.take(rows)


# --------------------------------------------------------------------------- a given matrix


@dataclass(frozen=True, slots=True, eq=False)
class GivenSupport:
    """Training rows by their number: new rows come as kernel values with all training rows."""

    rows: RowNumbers

    def scores(self, rows: Floats, coefficients: Floats, n_threads: int) -> Floats:
        """As `Support` says."""
        return column_scores(Matrix(rows.take(self.rows, axis=1)), coefficients, 0.0, n_threads)

    def part(self, start: int, stop: int) -> GivenSupport:
        """As `Support` says."""
        return GivenSupport(self.rows[start:stop])


@dataclass(frozen=True, slots=True, eq=False)
class GivenSource:
    """The kernel matrix of the rows that count, and their numbers in the whole training table."""

    gram: Floats
    numbers: RowNumbers
    n_train: int

    @property
    def centre(self) -> None:
        """As `KernelSource` says."""
        return None

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.gram)

    def kernel_rows(self, cache_bytes: int, n_threads: int) -> KernelRows:
        """As `KernelSource` says."""
        return KernelRows.given(self.gram, n_threads)

    def support(self, rows: RowNumbers) -> GivenSupport:
        """As `KernelSource` says."""
        return GivenSupport(self.numbers[rows])

    def batch(self, rows: RowNumbers) -> Floats:
        """As `KernelSource` says: kernel values with all training rows, 0 with those that do not count."""
        found = np.zeros((len(rows), self.n_train))
        found[:, self.numbers] = self.gram[rows]
        return found
