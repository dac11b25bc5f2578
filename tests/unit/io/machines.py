"""Fitted kernel machines of every kind, for tests of model files; each with rows to use it on."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse
from unit.io.boosters import rows, target

from weald import SVC, SVR, KNeighborsClassifier, KNeighborsRegressor, Landmarks
from weald.errors import ScaleWarning
from weald.kernels import RBF, Linear, Spectrum


def words():
    return np.array(["low", "mid", "high"])[target(3)]


def numbers(n_rows=80):
    return np.arange(n_rows * 4.0).reshape(n_rows, 4) % 7 - 1


def texts():
    return [f"row {'long' if t else 'short'} {i % 7}" for i, t in enumerate(target(2))]


def counts():
    return sparse.csr_matrix(np.where(numbers() > 3, numbers(), 0))


def likeness(X=None):
    X = numbers() if X is None else X
    return X @ X.T


#: name → rows, and a model fitted on them
MACHINES = {
    "two classes": (rows, lambda X: SVC(scale=True).fit(X, np.array(["no", "yes"])[target(2)])),
    "pairs": (rows, lambda X: SVC(C=3.0, class_weight={"low": 2.0}, unknown="error").fit(X, words())),
    "each against the rest": (
        rows,
        lambda X: SVC(multi_class="ovr", probability="isotonic", random_state=1).fit(X, words()),
    ),
    "sigmoids": (numbers, lambda X: SVC(probability=True, random_state=1).fit(X, target(4) * 10)),
    "hard margin": (numbers, lambda X: SVC(C=np.inf, gamma=3.0).fit(X[:7], [0, 1, 0, 1, 1, 0, 0])),
    "given": (likeness, lambda X: SVC(kernel="precomputed").fit(X, words())),
    "counts": (counts, lambda X: SVC(kernel="chi2", scale=True).fit(X, words())),
    "texts": (texts, lambda X: SVC(kernel="spectrum", degree=2).fit(X, target(2) == 1)),
    "texts by an object": (texts, lambda X: SVC(kernel=Spectrum(3, all_lengths=True)).fit(X, target(2))),
    "sum of kernels": (numbers, lambda X: SVC(kernel=RBF(sigma=2.0) + 0.5 * Linear() ** 2).fit(X, words())),
    "numbers": (rows, lambda X: SVR(C=2.0, categorical_features=["code"]).fit(X, target())),
    "numbers without support": (numbers, lambda X: SVR(epsilon=100.0).fit(X, target())),
    "numbers of sparse rows": (counts, lambda X: SVR(kernel="linear").fit(X, target())),
    "neighbours": (rows, lambda X: KNeighborsClassifier(metric="mixed", weights="distance").fit(X, words())),
    "neighbours of two outputs": (
        rows,
        lambda X: KNeighborsClassifier(3, p=1.5, categorical_features=["code"]).fit(
            X, np.column_stack([words(), words()[::-1]])
        ),
    ),
    "neighbours of sparse rows": (counts, lambda X: KNeighborsRegressor(3, metric="cosine").fit(X, target())),
    "landmarks": (numbers, lambda X: Landmarks(9, random_state=0).fit(X)),
}


def machine(name):
    """The fitted model of a name, and its rows."""
    make, fit = MACHINES[name]
    X = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScaleWarning)  # dates beside flags, on purpose
        return fit(X), X
