"""The trees of `tree_method="exact"` equal xgboost's, split for split.

Structure, thresholds, gains, covers and leaf values agree over a grid of penalties, with missing values,
weights and several rounds. xgboost's gradients and gains are float32, so two candidates whose gains agree to
1e-6 of the scores may be taken either way; the comparison of a model ends there.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from support.boosted_trees import Penalties, TreeComparison, our_trees, xgboost_trees

import weald

xgboost = pytest.importorskip("xgboost")

OBJECTIVES = {"reg:squarederror": "XGBRegressor", "binary:logistic": "XGBClassifier"}
N_ROUNDS = 4
COMMON: dict[str, Any] = {"n_estimators": N_ROUNDS, "learning_rate": 0.5, "max_depth": 4}


def table(
    objective: str, seed: int, *, n_rows: int = 150, missing: bool = False, weighted: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Columns with repeated values, exact in float32; a noisy target; weights that are exact too."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 4)) * 16) / 16
    signal = X[:, 0] + np.sin(3 * X[:, 1]) * X[:, 2] + rng.normal(size=n_rows) / 2
    if missing:
        X[rng.random(X.shape) < [0.3, 0.1, 0.02, 0.0]] = np.nan
    y = signal if objective == "reg:squarederror" else (signal > 0.3).astype(int)
    weight = rng.integers(4, 24, n_rows) / 8 if weighted else None
    return X.astype(np.float32), y, weight


def gradients(objective: str, scores: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Any:
    """First and second derivative of the loss at raw scores."""
    w = np.ones(len(y)) if weight is None else weight
    if objective == "reg:squarederror":
        return (scores - y) * w, w
    p = 1 / (1 + np.exp(-scores))
    return (p - y) * w, p * (1 - p) * w


def fitted(objective: str, X: Any, y: Any, weight: Any, parameters: dict[str, Any]) -> tuple[Any, Any]:
    """Our model and xgboost's, from the same call."""
    given = COMMON | parameters | {"objective": objective, "tree_method": "exact", "n_jobs": 1}
    name = OBJECTIVES[objective]
    ours = getattr(weald, name)(**given).fit(X, y, sample_weight=weight)
    return ours, getattr(xgboost, name)(**given).fit(X, y, sample_weight=weight)


def leaf_values(tree: Any, X: np.ndarray) -> np.ndarray:
    """What a tree adds to each row."""
    if tree.is_leaf:
        return np.full(len(X), tree.value)
    return np.where(tree.goes_left(X), leaf_values(tree.left, X), leaf_values(tree.right, X))


def compare(objective: str, X: Any, y: Any, weight: Any, parameters: dict[str, Any]) -> tuple[int, bool]:
    """Compare both models tree by tree. Returns the splits that agree and whether a tie ended it."""
    ours, theirs = fitted(objective, X, y, weight, parameters)
    pairs = list(zip(our_trees(ours.forest_), xgboost_trees(theirs), strict=True))
    names = ("reg_lambda", "reg_alpha", "max_delta_step", "gamma")
    penalties = Penalties(**{name: parameters[name] for name in names if name in parameters})
    n_splits = 0
    added = [leaf_values(tree, X) for _, tree in pairs]
    scores = theirs.predict(X, output_margin=True) - np.sum(added, axis=0)
    for (mine, yours), step in zip(pairs, added, strict=True):
        g, h = gradients(objective, scores, y, weight)
        scores = scores + step
        comparison = TreeComparison(X, g, h, penalties)
        comparison.check(mine, yours)
        n_splits += comparison.n_splits
        if comparison.tied:
            return n_splits, True
    np.testing.assert_allclose(
        ours.predict(X, output_margin=True), theirs.predict(X, output_margin=True), rtol=1e-4, atol=1e-5
    )
    return n_splits, False


GRID = [
    dict(zip(("reg_lambda", "reg_alpha", "gamma", "min_child_weight"), values, strict=True))
    for values in product((0.0, 1.0, 10.0), (0.0, 0.75), (0.0, 0.6), (0.0, 1.0, 6.0))
]


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
@pytest.mark.parametrize("missing", [False, True], ids=["", "missing"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_grid_of_penalties(objective, missing, weighted):
    n_splits, n_tied = 0, 0
    for seed, parameters in enumerate(GRID):
        X, y, weight = table(objective, seed, missing=missing, weighted=weighted)
        agreed, tied = compare(objective, X, y, weight, parameters)
        n_splits += agreed
        n_tied += tied
    assert n_splits > 20 * len(GRID)  # the trees are not stumps
    assert n_tied <= len(GRID) // 6  # and hardly ever is a tie an excuse


@pytest.mark.parametrize("max_depth", [1, 2, 6, 20])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_depths(objective, max_depth):
    """Down to leaves of one row."""
    X, y, _ = table(objective, seed=100 + max_depth, missing=True)
    parameters = {"max_depth": max_depth, "min_child_weight": 0.0, "reg_lambda": 0.5}
    n_splits, _ = compare(objective, X, y, None, parameters)
    assert n_splits >= (2**max_depth - 1 if max_depth in (1, 2) else 30)


@pytest.mark.parametrize("reg_lambda", [0.0, 1.0])
@pytest.mark.parametrize("max_delta_step", [0.05, 0.3, 5.0])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_steps_of_limited_size(objective, max_delta_step, reg_lambda):
    """Without alpha: with both, xgboost leaves alpha out of the gain, though not out of the leaf values."""
    X, y, weight = table(objective, seed=7, missing=True, weighted=True)
    parameters = {"max_delta_step": max_delta_step, "reg_lambda": reg_lambda}
    n_splits, _ = compare(objective, X, y, weight, parameters)
    assert n_splits >= 5


@pytest.mark.parametrize("missing", [False, True], ids=["", "missing"])
@pytest.mark.parametrize("gamma", [0.3, 1.0, 3.0, 10.0, 30.0, 1e4])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_pruning_by_gamma(objective, gamma, missing):
    """Branches go from the bottom, also where a weak split is kept by a strong one below it."""
    X, y, _ = table(objective, seed=8, missing=missing)
    whole = len(fitted(objective, X, y, None, {"max_depth": 6})[0].forest_.value)
    n_splits, tied = compare(objective, X, y, None, {"max_depth": 6, "gamma": gamma})
    assert tied or N_ROUNDS + n_splits < whole
    assert n_splits == 0 or gamma < 1e4


def test_a_weak_split_stays_above_a_strong_one():
    """The four corners: the first split gains nothing to speak of, those below everything."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10, np.float32)
    y = np.where(X[:, 0] == X[:, 1], 1.0, 0.0) + 0.01 * X[:, 0]
    parameters = {"gamma": 1.0, "n_estimators": 1, "max_depth": 2}
    n_splits, tied = compare("reg:squarederror", X, y, None, parameters)
    ours, _ = fitted("reg:squarederror", X, y, None, parameters)
    assert n_splits == 3
    assert not tied
    assert our_trees(ours.forest_)[0].gain < 1.0


@pytest.mark.parametrize("base_score", [None, 0.5, 0.2])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_base_scores(objective, base_score):
    X, y, weight = table(objective, seed=9, weighted=True)
    n_splits, tied = compare(objective, X, y, weight, {"base_score": base_score})
    assert n_splits > 20
    assert not tied


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_columns_that_are_hardly_known(objective):
    """One column is missing in most rows, one tells only by being missing, one is constant."""
    rng = np.random.default_rng(10)
    X, y, _ = table(objective, seed=10, n_rows=300)
    X[rng.random(300) < 0.9, 0] = np.nan
    X[:, 2] = np.where(y > np.median(y), np.float32(2.0), np.nan)
    X[rng.random(300) < 0.4, 2] = np.nan
    X[:, 3] = 1.0
    n_splits, _ = compare(objective, X, y, None, {})
    assert n_splits > 20


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_many_rounds_of_a_larger_table(objective):
    X, y, weight = table(objective, seed=11, n_rows=3000, missing=True, weighted=True)
    parameters = {"n_estimators": 20, "learning_rate": 0.3, "max_depth": 3, "min_child_weight": 5.0}
    n_splits, _ = compare(objective, X, y, weight, parameters)
    assert n_splits > 100
