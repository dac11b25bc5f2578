"""The same tree grown by both libraries has the same text."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import tree as peers
from sklearn.datasets import load_iris

from weald import DecisionTreeClassifier, DecisionTreeRegressor, export_text


def table(seed: int, n_rows: int = 1000, n_columns: int = 4) -> np.ndarray:
    """Distinct values in every column, exact in float32, so that both grow the same tree."""
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.permutation(8 * n_rows)[:n_rows] for _ in range(n_columns)]) / 8.0


OPTIONS = [
    {},
    {"decimals": 0, "spacing": 1},
    {"decimals": 5, "show_weights": True},
    {"max_depth": 1},
    {"max_depth": 2, "spacing": 5, "show_weights": True, "feature_names": ["a", "b b", "c", "d"]},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_same_text(seed, options):
    X = table(seed)
    noise = np.random.default_rng(seed).normal(size=len(X)) / 2
    target = X[:, 0] / len(X) + np.sin(X[:, -1] * 8 / len(X)) + noise
    classes = np.digitize(target, np.quantile(target, [0.3, 0.6])) * 10
    limits = {"max_depth": 4, "min_samples_leaf": 40}
    ours = DecisionTreeClassifier(**limits).fit(X, classes)
    theirs = peers.DecisionTreeClassifier(random_state=0, **limits).fit(X, classes)
    np.testing.assert_array_equal(ours.tree_.feature, theirs.tree_.feature)
    assert export_text(ours, **options) == peers.export_text(theirs, **options)
    ours = DecisionTreeRegressor(**limits).fit(X, target)
    theirs = peers.DecisionTreeRegressor(random_state=0, **limits).fit(X, target)
    np.testing.assert_array_equal(ours.tree_.feature, theirs.tree_.feature)
    assert export_text(ours, **options) == peers.export_text(theirs, **options)


def test_same_text_with_class_names_and_without_splits():
    X, y = load_iris(return_X_y=True)
    names = {"class_names": ["setosa", "versicolor", "virginica"]}
    ours = DecisionTreeClassifier(max_leaf_nodes=2).fit(X[:, 3:], y)
    theirs = peers.DecisionTreeClassifier(max_leaf_nodes=2).fit(X[:, 3:], y)
    assert export_text(ours, **names) == peers.export_text(theirs, **names)
    ours, theirs = DecisionTreeClassifier().fit(X, y * 0), peers.DecisionTreeClassifier().fit(X, y * 0)
    assert export_text(ours) == peers.export_text(theirs)
