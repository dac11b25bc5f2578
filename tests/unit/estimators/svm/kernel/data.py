"""Tables for tests of kernel machines."""

from __future__ import annotations

import numpy as np


def blobs(n_rows=60, n_classes=2, n_columns=3, spread=1.0, seed=0):
    """Clouds of rows around centres, and the number of each row's cloud."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n_classes, n_columns)) * 2
    labels = np.arange(n_rows) % n_classes
    return centres[labels] + rng.normal(size=(n_rows, n_columns)) * spread, labels


def waves(n_rows=80, n_columns=2, seed=0):
    """Rows and a number that waves over the first column."""
    X = np.random.default_rng(seed).normal(size=(n_rows, n_columns))
    return X, np.sin(2 * X[:, 0]) + 0.1 * X[:, -1]
