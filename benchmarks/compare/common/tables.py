"""Tables for the comparisons: made up from fixed seeds with enough noise for deep trees, or real ones.

Real tables are read from the folder that WEALD_DATA names, or from shared/data beside the clone.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common.jobs import Arrays, DataAbsent

N_COLUMNS = 28


def wide_columns(n_rows: int, random: np.random.Generator) -> NDArray[np.float32]:
    """28 continuous columns: 14 normal, 7 skewed, 7 that mix pairs of the first."""
    normal = random.standard_normal((n_rows, 14), dtype=np.float32)
    skewed = random.standard_exponential((n_rows, 7), dtype=np.float32)
    noise = random.standard_normal((n_rows, 7), dtype=np.float32)
    mixed = normal[:, :7] * normal[:, 7:] + np.float32(0.5) * noise
    return np.ascontiguousarray(np.hstack([normal, skewed, mixed]))


def signal(X: NDArray[np.float32]) -> NDArray[np.float64]:
    """A smooth function of ten columns with interactions; its standard deviation is about 2.1."""
    x = X.astype(np.float64)
    pairs = 0.8 * x[:, 0] * x[:, 1] - 0.6 * x[:, 2] * x[:, 14]
    curves = 0.7 * np.sin(2 * x[:, 3]) + 0.5 * np.abs(x[:, 21]) - 0.4 * np.log1p(x[:, 15])
    lines = 1.2 * x[:, 4] - 0.9 * x[:, 22] + 0.6 * x[:, 16]
    return np.asarray(pairs + curves + lines)


def classification(n_train: int, n_test: int, seed: int = 1) -> Arrays:
    """Two classes drawn by the logistic of the signal, so that even the best rule errs on many rows."""
    random = np.random.default_rng(seed)
    X = wide_columns(n_train + n_test, random)
    share = 1.0 / (1.0 + np.exp(-signal(X)))
    y = (random.random(n_train + n_test) < share).astype(np.int64)
    return {"X": X[:n_train], "y": y[:n_train], "X_test": X[n_train:], "y_test": y[n_train:]}


def regression(n_train: int, n_test: int, seed: int = 2) -> Arrays:
    """The signal plus normal noise of half its spread."""
    random = np.random.default_rng(seed)
    X = wide_columns(n_train + n_test, random)
    y = signal(X) + 1.15 * random.standard_normal(n_train + n_test)
    return {"X": X[:n_train], "y": y[:n_train], "X_test": X[n_train:], "y_test": y[n_train:]}


def columns_only(n_rows: int, seed: int = 3) -> Arrays:
    """Columns without a target, for coding."""
    return {"X": wide_columns(n_rows, np.random.default_rng(seed))}


def three_flowers(n_rows: int = 150, seed: int = 4) -> Arrays:
    """Three overlapping classes in four columns rounded to a tenth: the size of a textbook table."""
    random = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3
    centres = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]])
    X = np.round(centres[y] + random.normal(0.0, 0.35, (n_rows, 4)), 1)
    return {"X": X, "y": y.astype(np.int64)}


def data_file(name: str) -> Path:
    """A file of the folder of real tables."""
    beside = Path(__file__).resolve().parents[4] / "shared" / "data"
    path = Path(os.environ.get("WEALD_DATA", beside)) / name
    if not path.exists():
        raise DataAbsent(f"{name} is not in the data folder (set WEALD_DATA to it)")
    return path


def svmlight(name: str, n_columns: int | None = None) -> tuple[Any, NDArray[np.float64]]:
    """A sparse real table: its CSR matrix and labels."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(data_file(name)), n_features=n_columns)
    return X, y


def csr_parts(X: Any, suffix: str = "") -> Arrays:
    """The arrays of a CSR matrix, by names that `csr_of` knows."""
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    return {name + suffix: array for name, array in parts.items()}


def csr_of(arrays: Arrays, suffix: str = "") -> Any:
    """The matrix of `csr_parts`."""
    from scipy import sparse

    parts = tuple(arrays[name + suffix] for name in ("data", "indices", "indptr"))
    return sparse.csr_matrix(parts, shape=tuple(arrays["shape" + suffix]))
