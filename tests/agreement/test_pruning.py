"""Agreement with scikit-learn's pruning on tables where both grow the same tree.

Weights break ties between splits, and so between the cuts of the path.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import tree as peers

from weald import DecisionTreeClassifier, DecisionTreeRegressor

CASES = [
    (DecisionTreeClassifier, peers.DecisionTreeClassifier, "gini"),
    (DecisionTreeClassifier, peers.DecisionTreeClassifier, "entropy"),
    (DecisionTreeRegressor, peers.DecisionTreeRegressor, "squared_error"),
]


def table(seed: int, n_columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct values that are exact in float32, a target with some signal, whole weights."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(60, 200))
    X = np.column_stack([rng.permutation(8 * n_rows)[:n_rows] for _ in range(n_columns)]) / 8.0
    signal = X[:, 0] / n_rows + np.sin(X[:, -1] * 8 / n_rows) + rng.normal(size=n_rows)
    return X, signal, rng.integers(500, 2000, n_rows).astype(float)


def labels(signal: np.ndarray, seed: int) -> np.ndarray:
    """Two, three or four classes."""
    return np.digitize(signal, np.quantile(signal, np.linspace(0, 1, 3 + seed % 3)[1:-1]))


def pair(case, seed: int):
    ours, theirs, criterion = case
    # One column: the full tree. More: leaves so large that no two columns offer the same split.
    n_columns, least = ((1, 1), (4, 8))[seed % 2]
    X, y, weight = table(seed, n_columns)
    y = y if criterion == "squared_error" else labels(y, seed)
    parameters = {"criterion": criterion, "min_samples_leaf": least}
    return ours(**parameters), theirs(**parameters, random_state=0), X, y, weight


def assert_same_tree(ours, theirs):
    for name in ("feature", "threshold", "children_left", "children_right", "n_node_samples"):
        np.testing.assert_array_equal(getattr(ours.tree_, name), getattr(theirs.tree_, name), err_msg=name)
    np.testing.assert_allclose(ours.tree_.value, theirs.tree_.value, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.tree_.impurity, theirs.tree_.impurity, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(102))
def test_same_path(seed):
    ours, theirs, X, y, weight = pair(CASES[seed % 3], seed // 3)
    assert_same_tree(ours.fit(X, y, weight), theirs.fit(X, y, weight))
    assert ours.get_n_leaves() > 4
    expected = theirs.cost_complexity_pruning_path(X, y, weight)
    for path in (ours.cost_complexity_pruning_path(X, y, weight), ours.cost_complexity_pruning_path()):
        np.testing.assert_allclose(path.ccp_alphas, expected.ccp_alphas, rtol=1e-9, atol=1e-14)
        np.testing.assert_allclose(path.impurities, expected.impurities, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("case", CASES, ids=[case[2] for case in CASES])
@pytest.mark.parametrize("seed", range(6))
def test_same_pruned_tree(case, seed):
    ours, theirs, X, y, weight = pair(case, seed)
    alphas = theirs.cost_complexity_pruning_path(X, y, weight).ccp_alphas
    between = (alphas[:-1] + alphas[1:]) / 2  # at an alpha itself rounding decides
    for alpha in [*between[:: max(1, len(between) // 8)], between[-1], 2 * alphas[-1]]:
        ours.set_params(ccp_alpha=alpha)
        theirs.set_params(ccp_alpha=alpha)
        assert_same_tree(ours.fit(X, y, weight), theirs.fit(X, y, weight))
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
        np.testing.assert_allclose(
            ours.feature_importances_, theirs.feature_importances_, rtol=1e-9, atol=1e-12
        )


def test_same_path_of_unweighted_rows_up_to_ties():
    """Rounding orders tied cuts in scikit-learn, so both are compared as steps: impurity by alpha."""
    X, y, _ = table(1, 4)
    y = labels(y, 0)
    parameters = {"min_samples_leaf": 8}
    ours = DecisionTreeClassifier(**parameters).cost_complexity_pruning_path(X, y)
    theirs = peers.DecisionTreeClassifier(random_state=0, **parameters).cost_complexity_pruning_path(X, y)
    at = np.linspace(0, 1.1 * theirs.ccp_alphas[-1], 1000)
    found = ours.impurities[np.searchsorted(ours.ccp_alphas, at, side="right") - 1]
    expected = theirs.impurities[np.searchsorted(theirs.ccp_alphas, at, side="right") - 1]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
