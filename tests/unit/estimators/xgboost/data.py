"""Small tables for the tests of boosters."""

from __future__ import annotations

import numpy as np


def numbers(seed=0, n=200, n_columns=4):
    """A table of numbers and a target that depends on the first two columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    return X, X[:, 0] - 2 * (X[:, 1] > 0) + 0.1 * rng.normal(size=n)


def two_classes(seed=0, n=200, n_columns=4):
    X, y = numbers(seed, n, n_columns)
    return X, np.where(y > 0, "yes", "no")


def three_classes(seed=0, n=240, n_columns=4):
    X, y = numbers(seed, n, n_columns)
    return X, np.digitize(y, [-1.0, 0.5])


def queries(seed=0, n_queries=20, size=10):
    """Rows of queries with relevances 0 to 4, and their ids."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * size, 4))
    y = np.clip(np.round(X[:, 0] + 2), 0, 4)
    return X, y, np.repeat(np.arange(n_queries), size)
