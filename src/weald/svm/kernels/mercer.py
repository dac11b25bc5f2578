"""Whether kernel values can come from a kernel in Mercer's sense: symmetric, and no eigenvalue below 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weald.arrays import Floats, TableLike
from weald.data.adapters import to_table
from weald.data.matrix.matrix import Matrix, MatrixPlan
from weald.data.schema import Schema
from weald.errors import ParameterError
from weald.svm.kernels.functions import Kernel, Linear, Spectrum
from weald.svm.kernels.gram import check_square, gram, kernel_of
from weald.svm.kernels.spectrum import SpectrumPlan

#: rows of which all eigenvalues are worked out in seconds
_MOST_ROWS = 2000
#: what rounding leaves in eigenvalues and differences, over the largest, of float64 and of float32
_ROUNDING, _ROUNDING_SINGLE = 1e-10, 1e-5


@dataclass(frozen=True, slots=True)
class MercerReport:
    """What `check_mercer` found; true if nothing speaks against the kernel.

    Attributes
    ----------
    ok : bool
        Whether the matrix is symmetric and has no eigenvalue below 0, up to rounding.
    symmetric : bool
        Whether K(x, z) = K(z, x), up to rounding.
    asymmetry : float
        The largest |K(x, z) - K(z, x)|.
    smallest : float
        The smallest eigenvalue (of the mean of K and its transpose).
    largest : float
        The largest eigenvalue.
    ratio : float
        How far below 0 the smallest eigenvalue is, over the largest absolute one; 0 if it is not.
    n_negative : int
        How many eigenvalues are below 0, beyond rounding.
    n_rows : int
        How many rows were looked at.
    n_rows_given : int
        How many there were.
    message : str
        All this in a sentence or two.

    Examples
    --------
    >>> import weald
    >>> report = weald.check_mercer("rbf", [[0.0], [1.0], [3.0]])
    >>> report.ok, report.n_negative
    (True, 0)
    """

    ok: bool
    symmetric: bool
    asymmetry: float
    smallest: float
    largest: float
    ratio: float
    n_negative: int
    n_rows: int
    n_rows_given: int
    message: str

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return self.message


def check_mercer(
    kernel: Kernel | str | Callable[..., Any] | ArrayLike,
    X: TableLike | None = None,
    *,
    max_rows: int = _MOST_ROWS,
    random_state: int = 0,
) -> MercerReport:
    """Tell whether a kernel matrix is symmetric and positive semi-definite, and by how much it is not.

    Only then has the problem of a support vector machine one minimum. A matrix that fails may still serve,
    but where the solver ends depends on where it starts.

    Parameters
    ----------
    kernel : array of shape (n_rows, n_rows), Kernel, name of one, or function f(X, Z)
        A kernel matrix, or a kernel with rows to try it on.
    X : table, default=None
        The rows, if a kernel was given: any table, or texts for `Spectrum`.
    max_rows : int, default=2000
        The most rows that are looked at; of more, so many are drawn. That can find a fault, and can miss one.
    random_state : int, default=0
        What the draw starts from.

    Returns
    -------
    MercerReport
        True if nothing was found; `print` it for the sentence.

    Examples
    --------
    >>> import weald
    >>> bool(weald.check_mercer("rbf", [[0.0], [1.0], [3.0]]))
    True
    >>> print(weald.check_mercer([[0.0, 1.0], [1.0, 0.0]]))
    Not a Mercer kernel: 1 of 2 eigenvalues is negative, down to -1, which is 100 % of the largest in size.
    """
    if not isinstance(max_rows, int | np.integer) or isinstance(max_rows, bool) or max_rows < 2:
        raise ParameterError(
            f"`max_rows` of check_mercer must be a whole number of at least 2; got {max_rows!r}."
        )
    if isinstance(kernel, str) and kernel == "precomputed":
        raise ParameterError(
            "'precomputed' is no kernel that check_mercer could try on rows. Give the kernel matrix itself: "
            "check_mercer(K)."
        )
    if isinstance(kernel, str) or callable(kernel):
        values, n_given = _values_of(kernel_of(kernel), X, max_rows, random_state)
    else:
        if X is not None:
            raise ParameterError(
                "check_mercer takes a kernel with rows, or a kernel matrix without. X is too much."
            )
        given = check_square(kernel)
        n_given = len(given)
        rows = _drawn(n_given, max_rows, random_state)
        values = given if rows is None else given[np.ix_(rows, rows)]
    single = getattr(kernel, "dtype", None) in (np.dtype(np.float32), np.dtype(np.float16))
    return _report(values, n_given, _ROUNDING_SINGLE if single else _ROUNDING)


def _values_of(
    kernel: Kernel | Callable[..., Any], X: TableLike | None, max_rows: int, seed: int
) -> tuple[Floats, int]:
    """The kernel values of the rows, or of some of them; gamma="scale" goes by all."""
    if X is None:
        raise ParameterError(
            "check_mercer needs rows to try a kernel on. Give them as X, or give the matrix."
        )
    if isinstance(kernel, Spectrum):
        matrix, kernel = SpectrumPlan.of(X, kernel).read(X), Linear()
    else:
        matrix = _matrix_of(X)
    if isinstance(kernel, Kernel):
        kernel = kernel.resolved(matrix)
    rows = _drawn(matrix.n_rows, max_rows, seed)
    some = matrix if rows is None else matrix.take(rows)
    return gram(kernel, some, some), matrix.n_rows


def _matrix_of(X: TableLike) -> Matrix:
    """Any table as numbers, not scaled."""
    table = to_table(X)
    schema = Schema.of(table)
    aligned = schema.align(table)
    return MatrixPlan.of(aligned, schema, scale=None).apply(aligned)


def _drawn(n_rows: int, max_rows: int, seed: int) -> NDArray[np.int64] | None:
    if n_rows <= max_rows:
        return None
    return np.sort(np.random.default_rng(seed).choice(n_rows, max_rows, replace=False))


def _report(values: Floats, n_given: int, rounding: float) -> MercerReport:
    scale = float(np.abs(values).max(initial=0.0))
    asymmetry = float(np.abs(values - values.T).max(initial=0.0))
    symmetric = asymmetry <= rounding * scale
    eigenvalues = np.linalg.eigvalsh(0.5 * values + 0.5 * values.T)
    smallest, largest = float(eigenvalues[0]), float(eigenvalues[-1])
    size = max(abs(smallest), abs(largest))
    floor = -rounding * size
    n_negative = int((eigenvalues < floor).sum())
    ratio = -smallest / size if smallest < 0 and size > 0 else 0.0
    message = _message(
        ""
        if symmetric
        else f"K(x, z) and K(z, x) differ by up to {asymmetry:.3g} (values go up to {scale:.3g})",
        n_negative,
        len(values),
        smallest,
        largest,
        ratio,
    )
    if n_given > len(values):
        message += f" {len(values):,} of {n_given:,} rows were drawn for this."
    ok = symmetric and n_negative == 0
    return MercerReport(
        ok, symmetric, asymmetry, smallest, largest, ratio, n_negative, len(values), n_given, message
    )


def _message(
    lopsided: str, n_negative: int, n_rows: int, smallest: float, largest: float, ratio: float
) -> str:
    faults = [lopsided] if lopsided else []
    if n_negative:
        verb = "is" if n_negative == 1 else "are"
        faults.append(
            f"{n_negative} of {n_rows} eigenvalues {verb} negative, down to {smallest:.3g}, which is "
            f"{100 * ratio:.3g} % of the largest in size"
        )
    if faults:
        return f"Not a Mercer kernel: {'; '.join(faults)}."
    return (
        f"Nothing speaks against a Mercer kernel: the matrix is symmetric, and its eigenvalues go from "
        f"{smallest:.3g} to {largest:.3g}."
    )
