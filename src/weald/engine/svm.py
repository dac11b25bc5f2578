"""Kernel machines: kernel values and scores, sources of kernel rows, the dual solver; see core/svm."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald import _core

DualSolver: TypeAlias = _core.DualSolver
GivenRows: TypeAlias = _core.GivenRows
RowSource: TypeAlias = _core.RowSource
#: what a native matrix is made of: shape and values, or shape, indptr, indices and data
Parts: TypeAlias = tuple[Any, ...]


class Matrix(Protocol):
    """Rows of float64 numbers, an array or a compressed sparse matrix."""

    @property
    def n_rows(self) -> int: ...
    @property
    def n_columns(self) -> int: ...
    @property
    def is_sparse(self) -> bool: ...
    @property
    def values(self) -> Any: ...


#: the program of x · z
LINEAR = np.zeros((1, 4))


def matrix_parts(X: Matrix, *, as_sparse: bool) -> Parts:
    """The arrays of a matrix as the core reads them; it must be dense unless `as_sparse`."""
    if not as_sparse:
        return (X.n_rows, X.n_columns, X.values)
    values: Any = X.values if X.is_sparse else sparse.csr_array(X.values)
    indptr = np.ascontiguousarray(values.indptr, np.int64)
    return (X.n_rows, X.n_columns, indptr, np.ascontiguousarray(values.indices, np.int32), values.data)


def kernel_values(
    program: NDArray[np.float64], A: Matrix, B: Matrix, *, n_threads: int
) -> NDArray[np.float64]:
    """The kernel of each row of A with each row of B, (n, m), in float64 all the way."""
    as_sparse = A.is_sparse or B.is_sparse
    left, right = matrix_parts(A, as_sparse=as_sparse), matrix_parts(B, as_sparse=as_sparse)
    return _core.kernel_values(program, left, right, n_threads)


def kernel_scores(
    program: NDArray[np.float64],
    X: Matrix,
    support: Matrix,
    coefficients: NDArray[np.float64],
    *,
    n_threads: int,
) -> NDArray[np.float64]:
    """The sums of coefficients (n_outputs, n_support) times kernels with the support rows, (n, n_outputs).

    In float64 all the way and within bounded memory. The score of a row does not depend on the others that
    come with it.
    """
    as_sparse = X.is_sparse or support.is_sparse
    rows, left = matrix_parts(X, as_sparse=as_sparse), matrix_parts(support, as_sparse=as_sparse)
    return _core.kernel_scores(program, rows, left, np.ascontiguousarray(coefficients), n_threads)


def products(
    values: NDArray[np.float64], lines: NDArray[np.float64], *, n_threads: int
) -> NDArray[np.float64]:
    """The products of rows with lines, (n, n_lines): sums in one order, whatever stands beside them."""
    left = (*values.shape, np.ascontiguousarray(values))
    return _core.kernel_values(LINEAR, left, (*lines.shape, lines), n_threads)


def pivoted_root(
    kernel: NDArray[np.float64], floor: float, *, n_threads: int
) -> tuple[NDArray[np.float64], bool]:
    """What makes columns of kernel values with landmarks, and whether their matrix is one of a kernel."""
    return _core.pivoted_root(np.ascontiguousarray(kernel), floor, n_threads)


def program_rows(
    program: NDArray[np.float64], X: Matrix, cache_bytes: int, *, n_threads: int
) -> _core.ProgramRows:
    """Kernel rows of a program on a matrix, with a cache."""
    return _core.program_rows(program, matrix_parts(X, as_sparse=X.is_sparse), cache_bytes, n_threads)


def dual_solver(
    source: RowSource,
    rows: NDArray[np.int32],
    signs: NDArray[np.int8],
    linear: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    tolerance: float,
    max_steps: int,
    shrinking: bool,
    n_threads: int,
    working_set: int = 512,
) -> DualSolver:
    """A solver of the dual problem on a source of kernel rows; see core/svm/dual/solver.h."""
    return _core.dual_solver(
        source, rows, signs, linear, upper, tolerance, max_steps, shrinking, working_set, n_threads
    )
