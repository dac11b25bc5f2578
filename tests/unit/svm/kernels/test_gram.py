"""Kernel values by kernels and functions, and what is told about bad ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from weald.data.matrix.matrix import Matrix
from weald.errors import DataError, DataTypeError, ParameterError
from weald.kernels import RBF, ChiSquared, Intersection, Linear, Polynomial
from weald.svm.kernels.gram import check_gram, check_nonnegative, check_square, gram, kernel_of

X = np.arange(6.0).reshape(3, 2)


def test_names_kernels_and_functions_alike() -> None:
    want = X @ X.T
    for kernel in ("linear", Linear(), lambda A, B: A @ B.T, lambda A, B: sparse.csr_array(A @ B.T)):
        np.testing.assert_array_equal(gram(kernel, X), want)
    np.testing.assert_array_equal(gram("linear", X[:1], X), want[:1])
    np.testing.assert_array_equal(gram("linear", Matrix.of(X)), want)


def test_unknown_kernels_are_told() -> None:
    with pytest.raises(ParameterError, match=r"no kernel 'rfb'\. Did you mean 'rbf'\?"):
        kernel_of("rfb")
    with pytest.raises(ParameterError, match="got int"):
        kernel_of(3)


def test_rows_of_other_width_are_told() -> None:
    with pytest.raises(DataError, match="X has 2 columns and Z has 1"):
        gram("rbf", X, X[:, :1])


def wrong(result: Any) -> Any:
    def my_kernel(A: Any, B: Any) -> Any:
        return result

    return my_kernel


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        (
            np.ones((3, 2)),
            DataError,
            r"The kernel my_kernel returned an array of shape \(3, 2\) for 3 and 3 rows",
        ),
        (np.ones(3), DataError, r"shape \(3,\)"),
        (np.full((3, 3), np.nan), DataError, "The kernel my_kernel returned nan for a pair of rows"),
        (np.full((3, 3), np.inf), DataError, "returned inf"),
        (None, DataTypeError, "must be an array of real numbers; got NoneType"),
        (np.full((3, 3), 1j), DataTypeError, "must be an array of real numbers; got complex numbers"),
        ("text", DataTypeError, "The kernel my_kernel must be an array of real numbers; got str"),
    ],
)
def test_bad_functions_are_told(result: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        gram(wrong(result), X)


def test_given_matrices_are_checked() -> None:
    np.testing.assert_array_equal(check_gram([[1, 2]], 1, 2), [[1.0, 2.0]])
    with pytest.raises(DataError, match=r"The kernel matrix is an array of shape \(2, 2\) for 3 and 3 rows"):
        check_gram(np.eye(2), 3, 3)
    with pytest.raises(DataError, match="The kernel matrix holds nan in row 0, column 1"):
        check_gram([[1.0, np.nan]], 1, 2)
    with pytest.raises(DataError, match=r"Precomputed matrix must be a square matrix. Input is a 3x2 matrix"):
        check_square(X)


@pytest.mark.parametrize("kernel", [ChiSquared(), Intersection(), Linear() + ChiSquared()])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_negative_numbers_name_the_column_and_row(kernel: Any, form: Any) -> None:
    bad = np.array([[1.0, 0.0], [2.0, -3.0]])
    with pytest.raises(DataError, match=r"Column 1 holds -3 in row 1.*takes no negative values"):
        kernel(form(bad))
    with pytest.raises(DataError, match=r"Column 'b' holds -3 in row 1"):
        check_nonnegative(kernel, Matrix.of(form(bad)), ("a", "b").__getitem__)
    with pytest.raises(DataError, match="negative"):
        kernel(form(X[:2, :2]), form(bad))


def test_overflow_is_told() -> None:
    with pytest.raises(DataError, match=r"Polynomial\(degree=5, gamma=1.0\) leaves float64.*scale=True"):
        Polynomial(5, 1.0)(X * 1e200)


def test_gaps_are_told() -> None:
    with pytest.raises(DataError, match="NaN or infinite"):
        RBF(1.0)([[np.nan]])
