"""Kernel values of two tables, by a kernel of weald or by a user's function, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weald.arrays import Floats, SparseMatrix, TableLike
from weald.data.matrix.matrix import Matrix
from weald.engine.svm import kernel_values
from weald.engine.threads import thread_count
from weald.errors import DataError, DataTypeError, ParameterError, nearest
from weald.svm.kernels.functions import BY_NAME, Kernel, Spectrum


def gram(
    kernel: Kernel | str | Callable[..., Any],
    X: TableLike | Matrix,
    Z: TableLike | Matrix | None = None,
    *,
    n_jobs: int | None = None,
) -> Floats:
    """The kernel values of all rows of X with all rows of Z, checked.

    Parameters
    ----------
    kernel : Kernel, name of one, or function f(X, Z)
        gamma="scale" and "auto" go by Z.
    X, Z : Matrix, array or SciPy matrix; texts for `Spectrum`
        Rows; Z is X if not given.
    n_jobs : int, default=None
        Threads; None for every CPU of the process.

    Returns
    -------
    ndarray of shape (rows of X, rows of Z)
        Finite numbers.
    """
    kernel = kernel_of(kernel)
    if isinstance(kernel, Spectrum):
        from weald.svm.kernels.spectrum import SpectrumPlan

        plan = SpectrumPlan.of(X if Z is None else Z, kernel)
        rows = plan.read(X)
        others = rows if Z is None else plan.read(Z)
    else:
        rows = _matrix(X)
        others = rows if Z is None else _matrix(Z)
    if rows.n_columns != others.n_columns:
        raise DataError(f"X has {rows.n_columns} columns and Z has {others.n_columns}. Give both the same.")
    if not isinstance(kernel, Kernel):
        return called(kernel, rows.values, others.values)
    return checked_values(kernel.resolved(others), rows, others, n_jobs=n_jobs)


def _matrix(X: TableLike | Matrix) -> Matrix:
    return X if isinstance(X, Matrix) else Matrix.of(X)


def kernel_of(kernel: object) -> Kernel | Callable[..., Any]:
    """The kernel of a name, with its default numbers; a kernel or function as it is."""
    if isinstance(kernel, str):
        if kernel in BY_NAME:
            return BY_NAME[kernel]()  # type: ignore[no-any-return]
        close = nearest(kernel, BY_NAME)
        hint = f" Did you mean {close!r}?" if close else f" Names are {', '.join(BY_NAME)}."
        raise ParameterError(f"There is no kernel {kernel!r}.{hint}")
    if callable(kernel):
        return kernel
    raise ParameterError(
        f"A kernel is one of weald.kernels, its name, or a function f(X, Z); got {type(kernel).__name__}."
    )


def checked_values(kernel: Kernel, A: Matrix, B: Matrix, *, n_jobs: int | None = None) -> Floats:
    """The values of a kernel whose numbers are known, or an error that says why they are not finite."""
    if kernel.nonnegative:
        check_nonnegative(kernel, A)
        check_nonnegative(kernel, B)
    with np.errstate(over="ignore", invalid="ignore"):
        values = kernel_values(kernel.program(), A, B, n_threads=thread_count(n_jobs))
    if not np.isfinite(values).all():
        raise beyond_float64(kernel)
    return values


def beyond_float64(kernel: Kernel) -> DataError:
    """The error for kernel values that overflow."""
    return DataError(
        f"The kernel {kernel} leaves float64 for some pairs of rows: its columns are too large. Scale them "
        "(scale=True), or lower gamma or degree."
    )


def check_nonnegative(kernel: Kernel, X: Matrix, name_of: Callable[[int], Hashable] | None = None) -> None:
    """Raise if a kernel of counts and shares gets a negative number, and say in which column and row."""
    entries = X.entries
    if not entries.size or entries.min() >= 0:
        return
    at = int(np.argmax(entries < 0))
    row, j = X.place(at)
    name = j if name_of is None else name_of(j)
    raise DataError(
        f"Column {name!r} holds {float(entries.flat[at]):g} in row {row}, and "
        f"{type(kernel).__name__} is a kernel of counts and shares: it takes no negative values. Shift the "
        "column, or use another kernel."
    )


def called(
    function: Callable[..., Any], A: SparseMatrix | NDArray[Any], B: SparseMatrix | NDArray[Any]
) -> Floats:
    """What a user's function gives for the rows of A and B, checked."""
    name = getattr(function, "__name__", type(function).__name__)
    return check_gram(function(A, B), A.shape[0], B.shape[0], name=name)


def _kind(found: object) -> str:
    return "complex numbers" if np.iscomplexobj(cast("ArrayLike", found)) else type(found).__name__


def check_gram(K: Any, n: int, m: int, *, name: str | None = None) -> Floats:
    """Kernel values as float64 of shape (n, m), or an error that says what is wrong.

    Parameters
    ----------
    K : array-like
        What a function returned, or what a user gave.
    n, m : int
        How many rows are compared with how many.
    name : str, optional
        The function's name; without it, the matrix was given.
    """
    found = K.toarray() if hasattr(K, "toarray") else K
    who = "The kernel matrix" if name is None else f"The kernel {name}"
    verb = "is" if name is None else "returned"
    try:
        if found is None or np.iscomplexobj(found):
            raise TypeError
        values = np.ascontiguousarray(found, np.float64)
    except (TypeError, ValueError):
        raise DataTypeError(f"{who} must be an array of real numbers; got {_kind(found)}.") from None
    if values.shape != (n, m):
        raise DataError(
            f"{who} {verb} an array of shape {values.shape} for {n} and {m} rows; one number per pair is "
            f"needed, shape {(n, m)}."
        )
    if not np.isfinite(values).all():
        i, j = (int(k) for k in np.argwhere(~np.isfinite(values))[0])
        where = f"in row {i}, column {j}" if name is None else "for a pair of rows"
        raise DataError(
            f"{who} {'holds' if name is None else 'returned'} {values[i, j]} {where}. A kernel gives a "
            "finite number for every pair: look for divisions by 0, overflow and logarithms."
        )
    return values


def check_square(K: ArrayLike) -> Floats:
    """The kernel values of all rows with each other, or an error if that cannot be."""
    shape = np.shape(K)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise DataError(
            f"Precomputed matrix must be a square matrix. Input is a {'x'.join(map(str, shape))} matrix. "
            "Give the kernel values of all training rows with each other."
        )
    return check_gram(K, shape[0], shape[0])
