"""Medians of dense tables: those of NumPy, whatever the number of threads, with gaps left out."""

import numpy as np
import pytest

from weald.engine.dense_columns import dense_medians


@pytest.mark.parametrize("n_rows", [1, 2, 7, 4096, 20_001])
@pytest.mark.parametrize("kind", ["numbers", "few values", "gaps", "sorted"])
def test_medians_are_those_of_numpy(n_rows, kind):
    random = np.random.default_rng(n_rows)
    X = random.standard_normal((n_rows, 19))
    if kind == "few values":
        X = random.integers(0, 3, (n_rows, 19)).astype(float)
    elif kind == "gaps":
        X[random.random(X.shape) < 0.3] = np.nan
        X[0] = 1.0  # no column without a value
    elif kind == "sorted":
        X.sort(axis=0)
    found, finite = dense_medians(X, n_threads=2)
    np.testing.assert_allclose(found, np.nanmedian(X, axis=0), rtol=1e-15, atol=1e-16)
    assert finite
    assert found.tobytes() == dense_medians(X, n_threads=1)[0].tobytes()


def test_nothing_known_and_infinite_values():
    X = np.array([[np.nan, 1.0], [np.nan, np.inf]])
    found, finite = dense_medians(X, n_threads=1)
    assert found[0] == 0.0
    assert not finite
    largest = np.full((2, 1), np.finfo(float).max)
    assert dense_medians(largest, n_threads=1)[0].tolist() == [np.finfo(float).max]
    zeros, _ = dense_medians(np.full((3, 1), -0.0), n_threads=1)
    assert not np.signbit(zeros[0])
