"""check_mercer: what it finds, by how much, and what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import weald
from weald.errors import DataError, ParameterError
from weald.kernels import RBF, Sigmoid, Spectrum

X = np.random.default_rng(0).normal(size=(40, 3))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", RBF(0.1) + 1.0, lambda A, B: A @ B.T])
def test_kernels_pass(kernel: Any) -> None:
    report = weald.check_mercer(kernel, X)
    assert report
    assert report.symmetric
    assert report.n_negative == 0
    assert report.smallest > -1e-10
    assert str(report).startswith("Nothing speaks against a Mercer kernel")


def test_sigmoid_is_found_out_and_by_how_much() -> None:
    kernel = Sigmoid(1.0, -1.0)
    report = weald.check_mercer(kernel, X)
    eigenvalues = np.linalg.eigvalsh(kernel(X))
    assert not report
    assert report.smallest == pytest.approx(eigenvalues[0])
    assert report.ratio == pytest.approx(-eigenvalues[0] / np.abs(eigenvalues).max())
    assert f"{report.n_negative} of 40 eigenvalues are negative" in report.message


def test_a_gram_matrix_is_enough() -> None:
    K = RBF(0.5)(X)
    assert weald.check_mercer(K)
    assert weald.check_mercer(pd.DataFrame(K))
    assert weald.check_mercer(K.astype(np.float32))
    assert weald.check_mercer(np.zeros((3, 3)))
    assert not weald.check_mercer(K - 0.2 * np.eye(40))


def test_asymmetry_is_told() -> None:
    K = np.eye(3)
    K[0, 1] = 0.25
    report = weald.check_mercer(K)
    assert not report
    assert not report.symmetric
    assert report.asymmetry == 0.25
    assert "differ by up to 0.25" in report.message
    assert not weald.check_mercer(lambda A, B: A[:, :1] + 2 * B[:, 0], X)


def test_many_rows_are_drawn_and_that_is_said() -> None:
    report = weald.check_mercer("rbf", X, max_rows=10)
    assert (report.n_rows, report.n_rows_given) == (10, 40)
    assert report.message.endswith("10 of 40 rows were drawn for this.")
    again = weald.check_mercer("rbf", X, max_rows=10)
    assert again == report
    assert weald.check_mercer(RBF()(X), max_rows=10).n_rows == 10


def test_scale_goes_by_all_rows() -> None:
    wide = np.concatenate((X, 100 * X))
    gamma = 1 / (3 * wide.var())
    drawn = weald.check_mercer("rbf", wide, max_rows=20, random_state=3)
    assert drawn == weald.check_mercer(RBF(gamma), wide, max_rows=20, random_state=3)


def test_tables_and_texts() -> None:
    frame = pd.DataFrame({"x": [1.0, None, 3.0], "c": ["a", "b", "a"]})
    assert weald.check_mercer("rbf", frame).n_rows == 3
    assert weald.check_mercer(Spectrum(2), ["abc", "abd", "xyz"] * 20, max_rows=30)


def test_bad_calls_are_told() -> None:
    with pytest.raises(ParameterError, match="needs rows"):
        weald.check_mercer("rbf")
    with pytest.raises(ParameterError, match=r"matrix itself: check_mercer\(K\)"):
        weald.check_mercer("precomputed", np.eye(3))
    with pytest.raises(ParameterError, match="kernel matrix without"):
        weald.check_mercer(np.eye(3), X)
    with pytest.raises(DataError, match="square"):
        weald.check_mercer(X)
    with pytest.raises(DataError, match="holds nan"):
        weald.check_mercer([[np.nan]])
    with pytest.raises(ParameterError, match="max_rows"):
        weald.check_mercer(np.eye(3), max_rows=1)
