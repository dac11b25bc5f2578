"""Machines give a row the same bits alone and among others, for any number of threads, weald's or BLAS's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from weald import SVC, SVR, Landmarks, LinearSVC, LinearSVR
from weald.kernels import RBF, Sigmoid

RNG = np.random.default_rng(3)
X = RNG.normal(size=(500, 6))
Y = np.digitize(X @ RNG.normal(size=6) + 0.3 * X[:, 0] ** 2, [-1, 1])


def answers(model: Any, rows: Any) -> np.ndarray:
    for name in ("transform", "decision_function", "predict"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name)(rows))
    raise AssertionError


def fitted(model: Any, rows: Any) -> np.ndarray:
    """All that a fit leaves, and what it says of the rows."""
    model.fit(rows, Y)
    facts = [getattr(model, name) for name in ("dual_coef_", "intercept_", "coef_") if hasattr(model, name)]
    if hasattr(model, "primal_objective_"):
        facts += [model.primal_objective_, model.dual_objective_]
    return np.concatenate([np.ravel(each) for each in (*facts, answers(model, rows))])


def name_of(model: Any) -> str:
    kernel = model.get_params().get("kernel", "")
    return f"{type(model).__name__}-{getattr(kernel, '__name__', kernel)}-{getattr(model, 'solver', '')}"


LANDMARKS = {"solver": "landmarks", "n_landmarks": 200, "random_state": 0}
MODELS = [
    SVC(**LANDMARKS),
    SVR(**LANDMARKS),
    Landmarks(300, random_state=0),
    Landmarks(50, kernel="laplacian", features="similarity", random_state=0),
    SVC(C=0.1),
    SVC(kernel="linear"),
    SVR(),
    LinearSVC(),
    LinearSVR(),
]


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_threads_do_not_show(model: Any) -> None:
    found = []
    for n_blas, n_jobs in ((1, 1), (2, 2)):
        with threadpool_limits(n_blas, user_api="blas"):
            found.append(fitted(model.set_params(n_jobs=n_jobs), X))
    np.testing.assert_array_equal(found[0], found[1])


def by_products(A: Any, B: Any) -> Any:
    """A kernel of a user's own that gives each pair its bits whatever the others are."""
    return np.einsum("ik,jk->ij", A, B) + 1.0


@pytest.mark.parametrize(
    "model", [*MODELS, SVC(kernel=by_products), SVC(kernel=Sigmoid(0.1, 0.0), **LANDMARKS)], ids=name_of
)
def test_a_row_alone_is_the_row_among_others(model: Any) -> None:
    model.fit(X, Y)
    whole = answers(model, X)
    for i in (0, 7, 250, 499):
        np.testing.assert_array_equal(answers(model, X[i : i + 1])[0], whole[i])
    np.testing.assert_array_equal(answers(model, X[100:353]), whole[100:353])


def test_a_precomputed_row_alone_is_the_row_among_others() -> None:
    gram = RBF(0.2)(X, X)
    for model in (SVC(kernel="precomputed"), SVR(kernel="precomputed")):
        model.fit(gram, Y)
        whole = answers(model, gram)
        for i in range(0, 500, 50):
            np.testing.assert_array_equal(answers(model, gram[i : i + 1])[0], whole[i])


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_every_kind_of_table_gives_linear_machines_the_same_bits(seed: int, scale: bool) -> None:
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.integers(-300, 150, 4)
    rows = rng.normal(size=(60, 4)) * sizes
    rows[rng.random(rows.shape) < 0.1] = np.nan if seed % 2 else 5e-324
    columns = {f"c{j}": rows[:, j].copy() for j in range(4)}
    tables = [rows, np.asfortranarray(rows), pd.DataFrame(columns), pl.DataFrame(columns), rows.tolist()]
    for model in (LinearSVC(scale=scale), LinearSVR(scale=scale), LinearSVC(loss="hinge", scale=scale)):
        found = [fitted_small(model, table) for table in tables]
        for other in found[1:]:
            np.testing.assert_array_equal(other, found[0])


def fitted_small(model: Any, rows: Any) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.set_params(max_iter=100).fit(rows, Y[:60])
    return np.concatenate([np.ravel(each) for each in (model.coef_, model.intercept_, answers(model, rows))])
