"""Rows for tests of bagging."""

import numpy as np
from unit.io import boosters


def mixed(n=200, seed=0):
    """Rows of every kind of column, with missing values."""
    return boosters.rows(n, seed)


def labels(n=200, seed=0):
    length = np.array([0.0 if v is None else v for v in mixed(n, seed)["length"]])
    return np.array(["low", "mid", "high"])[np.digitize(length, [-0.5, 0.5])]


def numbers(n=200, k=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, k))
    return X, X[:, 0] * 2 + X[:, 1] ** 2 + 0.1 * rng.normal(size=n)
