"""Boosting gives the same model, to the byte, on any number of threads and on any vector unit.

All through the public estimators and their model files, one case for each way a tree can be grown.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from weald import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    XGBClassifier,
    XGBRanker,
    XGBRegressor,
)
from weald.boosting.newton.rows import BoostedRows
from weald.io.model_file import to_bytes

TESTS = str(Path(__file__).resolve().parents[1])
N_JOBS = (1, 2, 3, 8)
#: rows of a small case: several blocks of rows, so that threads have something to share
N_ROWS = 6000
#: enough rows for 16-bit statistics (`narrow_rows` in core/tree/newton/rows.h)
N_MANY = 70_000
#: from here on packed stages are narrow (boosting/stage/rows.py)
N_ALL_THREADS = 1 << 18


def numbers(n_rows: int = N_ROWS, n_columns: int = 5) -> tuple[NDArray[Any], NDArray[Any]]:
    """Columns with missing values and ties, and a noisy sum of them."""
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 1] = np.round(X[:, 1], 1)
    signal = X[:, 0] - np.sin(2 * X[:, 1]) * X[:, 2] + rng.normal(size=n_rows)
    X[rng.random(n_rows) < 0.2, 0] = np.nan
    return X, signal


def regressor(n_jobs: int, n_rows: int = N_ROWS, **parameters: Any) -> Any:
    X, y = numbers(n_rows)
    return XGBRegressor(**{"n_estimators": 6, **parameters}, n_jobs=n_jobs).fit(X, y)


def dense(n_jobs: int) -> Any:
    X, y = numbers()
    weight = np.random.default_rng(1).random(N_ROWS) + 0.1
    return XGBClassifier(n_estimators=8, tree_method="hist", n_jobs=n_jobs).fit(
        X, y > 0, sample_weight=weight
    )


def sparse(n_jobs: int) -> Any:
    rng = np.random.default_rng(2)
    X = sp.random(N_ROWS, 300, density=0.03, random_state=3, format="csr")
    y = np.asarray(X[:, :20].sum(axis=1)).ravel() + rng.normal(size=N_ROWS) / 10
    return XGBRegressor(n_estimators=5, tree_method="hist", n_jobs=n_jobs).fit(X, y)


def categorical(n_jobs: int) -> Any:
    rng = np.random.default_rng(4)
    X, y = numbers()
    town = rng.integers(0, 60, N_ROWS)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(
        town=pd.Categorical([f"town {i}" for i in town]), few=pd.Categorical(rng.choice(list("xyz"), N_ROWS))
    )
    return XGBRegressor(n_estimators=6, n_jobs=n_jobs).fit(frame, y + rng.normal(size=60)[town])


def ranking(n_jobs: int) -> Any:
    X, y = numbers()
    relevance = np.digitize(y, [-1.0, 0.0, 1.5])
    qid = np.sort(np.random.default_rng(5).integers(0, 150, N_ROWS))
    return XGBRanker(n_estimators=6, lambdarank_pair_method="mean", n_jobs=n_jobs).fit(X, relevance, qid=qid)


def multiclass(n_jobs: int, **parameters: Any) -> Any:
    X, y = numbers()
    return XGBClassifier(n_estimators=4, n_jobs=n_jobs, **parameters).fit(X, np.digitize(y, [-0.5, 0.8]))


def many_narrow(n_jobs: int) -> Any:
    X, y = numbers(N_MANY)
    return XGBClassifier(n_estimators=4, tree_method="hist", n_jobs=n_jobs).fit(X, y > 0.3)


def many_narrow_subsampled(n_jobs: int) -> Any:
    drawn = {"subsample": 0.97, "colsample_bynode": 0.6}
    return regressor(n_jobs, N_MANY, n_estimators=4, tree_method="hist", **drawn)


def many_wide(n_jobs: int) -> Any:
    """Gradients with a long tail do not fit into 16 bits."""
    X, y = numbers(N_MANY)
    return XGBRegressor(n_estimators=3, tree_method="hist", n_jobs=n_jobs).fit(X, np.exp(5 * y))


def many_sparse(n_jobs: int) -> Any:
    rng = np.random.default_rng(6)
    X = sp.random(N_MANY, 60, density=0.05, random_state=7, format="csr")
    y = np.asarray(X[:, :9].sum(axis=1)).ravel() + rng.normal(size=N_MANY) / 10
    return XGBRegressor(n_estimators=3, tree_method="hist", n_jobs=n_jobs).fit(X, y)


def stages(n_jobs: int, loss: str, n_rows: int = N_ROWS, **parameters: Any) -> Any:
    """Gradient boosting by leaf rules."""
    X, y = numbers(n_rows)
    settings = {"n_estimators": 4, "n_jobs": n_jobs, "random_state": 0, **parameters}
    if loss in ("log_loss", "exponential"):
        return GradientBoostingClassifier(loss=loss, **settings).fit(X, y > 0.3)
    if loss == "classes":
        return GradientBoostingClassifier(**settings).fit(X, np.digitize(y, [-0.5, 0.8]))
    return GradientBoostingRegressor(loss=loss, **settings).fit(X, y)


CASES: dict[str, Callable[[int], Any]] = {
    "stages, exact leaves": lambda n: stages(n, "log_loss", leaf="exact"),
    "stages, exponential": lambda n: stages(n, "exponential", leaf="exact", subsample=0.5),
    "stages, classes": lambda n: stages(n, "classes", max_bins=63),
    "stages, huber": lambda n: stages(n, "huber", leaf="exact"),
    "stages, quantile": lambda n: stages(n, "quantile", max_features=2),
    "stages, many rows": lambda n: stages(n, "log_loss", N_MANY, max_bins=255),
    "stages, all rows on threads": lambda n: stages(
        n, "squared_error", N_ALL_THREADS, max_bins=31, n_estimators=2, max_depth=2
    ),
    "dense": dense,
    "sparse": sparse,
    "categorical": categorical,
    "exact": lambda n: regressor(n, tree_method="exact"),
    "approx": lambda n: regressor(n, tree_method="approx"),
    "two-byte codes": lambda n: regressor(n, tree_method="hist", max_bin=1000),
    "best first": lambda n: regressor(n, grow_policy="lossguide", max_leaves=40, max_depth=0),
    "subsampled": lambda n: regressor(
        n, subsample=0.6, colsample_bytree=0.8, colsample_bylevel=0.8, colsample_bynode=0.8, random_state=3
    ),
    "drawn by gradient": lambda n: regressor(n, subsample=0.4, sampling_method="gradient_based"),
    "parallel trees": lambda n: regressor(n, n_estimators=3, num_parallel_tree=3, subsample=0.5),
    "dart": lambda n: regressor(n, n_estimators=12, booster="dart", rate_drop=0.3, one_drop=True),
    "multiclass": multiclass,
    "multi-output trees": lambda n: multiclass(n, multi_strategy="multi_output_tree"),
    "ranking": ranking,
    "quantiles": lambda n: regressor(n, objective="reg:quantileerror", quantile_alpha=[0.1, 0.5, 0.9]),
    "absolute error": lambda n: regressor(n, objective="reg:absoluteerror", subsample=0.7),
    "constraints": lambda n: regressor(
        n, monotone_constraints=(1, 0, -1, 0, 0), interaction_constraints=[[0, 1], [2, 3, 4]]
    ),
    "many rows, narrow": many_narrow,
    "many rows, narrow, subsampled": many_narrow_subsampled,
    "many rows, wide": many_wide,
    "many rows, sparse": many_sparse,
}


def digest(case: str, n_jobs: int) -> str:
    """The hash of the model file; `n_jobs` is no part of a model."""
    return hashlib.sha256(to_bytes(CASES[case](n_jobs).set_params(n_jobs=None))).hexdigest()


@pytest.fixture(scope="module")
def one_thread() -> dict[str, str]:
    return {case: digest(case, 1) for case in CASES}


@pytest.mark.parametrize("case", CASES)
def test_number_of_threads_does_not_matter(case, one_thread):
    assert [digest(case, n_jobs) for n_jobs in N_JOBS[1:]] == [one_thread[case]] * (len(N_JOBS) - 1)


def test_cases_are_models_of_their_own(one_thread):
    """A hash that two cases share would tell that a parameter does nothing."""
    assert len(set(one_thread.values())) == len(CASES)


@pytest.mark.parametrize(
    ("case", "narrow"),
    [("many_narrow", True), ("many_narrow_subsampled", True), ("many_sparse", True), ("many_wide", False)],
)
def test_cases_of_many_rows_are_as_wide_as_they_say(case, narrow, monkeypatch):
    seen = []

    def watched(grow: Any) -> Any:
        def watching(*args: Any, **kwargs: Any) -> Any:
            tree = grow(*args, **kwargs)
            seen.append(tree.narrow)
            return tree

        return watching

    for name in ("grow", "grow_loss"):
        monkeypatch.setattr(BoostedRows, name, watched(getattr(BoostedRows, name)))
    globals()[case](2)
    assert seen
    assert set(seen) == {narrow}


def test_vector_unit_does_not_matter(one_thread):
    script = (
        "import json; from weald.engine import simd_level\n"
        "from property.test_boosting_same_bits import CASES, digest\n"
        "print(json.dumps([simd_level(), {case: digest(case, 2) for case in CASES}]))"
    )
    paths = os.pathsep.join([TESTS, os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": paths, "WEALD_SIMD": "baseline"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    level, hashes = json.loads(done.stdout)
    assert level == "baseline"
    assert hashes == one_thread


def test_a_model_predicts_from_many_threads_at_once():
    X, y = numbers()
    model = XGBClassifier(n_estimators=10, n_jobs=2).fit(X, np.digitize(y, [-0.5, 0.8]))
    alone = model.predict_proba(X)
    with ThreadPoolExecutor(4) as pool:
        whole = [pool.submit(model.predict_proba, X) for _ in range(6)]
        rows = [pool.submit(model.predict_proba, X[i : i + 1]) for i in range(40)]
        for job in whole:
            np.testing.assert_array_equal(job.result(timeout=60), alone)
        np.testing.assert_array_equal(np.concatenate([job.result(timeout=60) for job in rows]), alone[:40])
