"""Agreement with scikit-learn where both define the same tree: no ties between splits, nothing missing.

scikit-learn casts a table to float32 and breaks ties between columns at random, so values here are distinct
multiples of 1/8, and leaves have so many rows that no two columns offer the same split.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import tree as peers
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.utils.class_weight import compute_sample_weight

from weald import DecisionTreeClassifier, DecisionTreeRegressor

PEERS = {
    DecisionTreeClassifier: peers.DecisionTreeClassifier,
    DecisionTreeRegressor: peers.DecisionTreeRegressor,
}


def distinct(rng: np.random.Generator, n_rows: int, n_columns: int) -> np.ndarray:
    """Distinct values in every column, exact in float32."""
    return np.column_stack([rng.permutation(8 * n_rows)[:n_rows] for _ in range(n_columns)]) / 8.0


def data(
    model: type, seed: int, n_rows: int = 1000, n_columns: int = 4
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A table with some signal, its target, and rows never seen."""
    rng = np.random.default_rng(seed)
    X = distinct(rng, n_rows, n_columns)
    signal = X[:, 0] / n_rows + np.sin(X[:, -1] * 8 / n_rows) + rng.normal(size=n_rows) / 2
    y = signal if model is DecisionTreeRegressor else np.digitize(signal, np.quantile(signal, [0.3, 0.7]))
    return X, y, rng.uniform(-10, n_rows + 10, (300, n_columns)).astype(np.float32).astype(np.float64)


def assert_agree(model, X, y, new, weight=None, **parameters):
    """Same structure, thresholds, impurities and predictions."""
    ours = model(**parameters).fit(X, y, sample_weight=weight)
    theirs = PEERS[model](random_state=0, **parameters).fit(X, y, sample_weight=weight)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    assert ours.get_depth() == theirs.get_depth()
    if parameters.get("max_leaf_nodes") is None:  # scikit-learn numbers best-first nodes by birth
        for name in ("feature", "threshold", "children_left", "children_right", "n_node_samples"):
            np.testing.assert_array_equal(
                getattr(ours.tree_, name), getattr(theirs.tree_, name), err_msg=name
            )
        for name in ("impurity", "weighted_n_node_samples", "value"):
            np.testing.assert_allclose(
                getattr(ours.tree_, name), getattr(theirs.tree_, name), rtol=1e-9, atol=1e-12, err_msg=name
            )
    for rows in (X, new):
        if model is DecisionTreeClassifier:
            np.testing.assert_allclose(
                ours.predict_proba(rows), theirs.predict_proba(rows), rtol=0, atol=1e-12
            )
        np.testing.assert_allclose(ours.predict(rows), theirs.predict(rows), rtol=1e-12)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-9, atol=1e-12)


CRITERIA = [
    (DecisionTreeClassifier, "gini"),
    (DecisionTreeClassifier, "entropy"),
    (DecisionTreeClassifier, "log_loss"),
    (DecisionTreeRegressor, "squared_error"),
]
LIMITS = [
    {},
    {"max_depth": 4},
    {"max_leaf_nodes": 12},
    {"min_impurity_decrease": 0.005},
    {"min_samples_split": 200},
    {"min_samples_split": 0.2},
    {"min_samples_leaf": 0.05},
    {"min_weight_fraction_leaf": 0.04},
]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize(("model", "criterion"), CRITERIA)
@pytest.mark.parametrize("weighted", [False, True])
def test_same_tree(model, criterion, limits, weighted):
    X, y, new = data(model, seed=3)
    weight = np.random.default_rng(1).uniform(0.2, 3.0, len(X)) if weighted else None
    parameters = {"criterion": criterion, "min_samples_leaf": 40, **limits}
    assert_agree(model, X, y, new, weight, **parameters)


@pytest.mark.parametrize(("model", "criterion"), CRITERIA)
@pytest.mark.parametrize("seed", range(3))
def test_same_full_tree_on_one_column(model, criterion, seed):
    X, y, new = data(model, seed, n_rows=150, n_columns=1)
    # Weights break ties between thresholds. Whole ones: with others, rounding makes scikit-learn go on
    # splitting some nodes of a single class.
    weight = np.random.default_rng(seed).integers(500, 2000, len(X)).astype(float)
    assert_agree(model, X, y, new, weight, criterion=criterion)


def test_same_class_weights():
    X, y, new = data(DecisionTreeClassifier, seed=4)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, len(X))  # without weights there are ties
    parameters = {"class_weight": {0: 1.0, 1: 4.0, 2: 0.5}, "min_samples_leaf": 40}
    assert_agree(DecisionTreeClassifier, X, y, new, weight, **parameters)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1.0, 1: 4.0, 2: 0.5}])
def test_class_weights_are_the_factors_of_scikit_learn(class_weight):
    X, y, new = data(DecisionTreeClassifier, seed=4)
    ours = DecisionTreeClassifier(class_weight=class_weight, min_samples_leaf=40).fit(X, y)
    factors = compute_sample_weight(class_weight, y)
    same = DecisionTreeClassifier(min_samples_leaf=40).fit(X, y, sample_weight=factors)
    np.testing.assert_allclose(ours.predict_proba(new), same.predict_proba(new), rtol=1e-12)


def test_rows_of_weight_zero_do_not_count():
    X, y, new = data(DecisionTreeRegressor, seed=6)
    weight = np.ones(len(X))
    weight[::3] = 0.0
    kept = weight > 0
    ours = DecisionTreeRegressor(min_samples_leaf=12).fit(X, y, sample_weight=weight)
    theirs = peers.DecisionTreeRegressor(min_samples_leaf=12).fit(X[kept], y[kept])
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-12)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_same_accuracy_on_classification_tables(load):
    X, y = load(return_X_y=True)
    ours = cross_val_score(DecisionTreeClassifier(min_samples_leaf=3), X, y, cv=5).mean()
    theirs = cross_val_score(
        peers.DecisionTreeClassifier(min_samples_leaf=3, random_state=0), X, y, cv=5
    ).mean()
    assert ours == pytest.approx(theirs, abs=0.02)


def test_same_error_on_a_regression_table():
    X, y = load_diabetes(return_X_y=True)
    ours = cross_val_score(DecisionTreeRegressor(min_samples_leaf=20), X, y, cv=5).mean()
    theirs = cross_val_score(
        peers.DecisionTreeRegressor(min_samples_leaf=20, random_state=0), X, y, cv=5
    ).mean()
    assert ours == pytest.approx(theirs, abs=0.03)


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_close_with_missing_values(share):
    X, y = load_breast_cancer(return_X_y=True)
    X = np.where(np.random.default_rng(3).random(X.shape) < share, np.nan, X)
    ours = cross_val_score(DecisionTreeClassifier(min_samples_leaf=5), X, y, cv=5).mean()
    theirs = cross_val_score(
        peers.DecisionTreeClassifier(min_samples_leaf=5, random_state=0), X, y, cv=5
    ).mean()
    assert ours > theirs - 0.02


@pytest.mark.parametrize("model", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_binned_tree_is_close_to_the_exact_one(model):
    X, y, _ = data(model, seed=9, n_rows=1500)
    exact, binned = (
        cross_val_score(model(min_samples_leaf=20, max_bins=max_bins), X, y, cv=5).mean()
        for max_bins in (None, 64)
    )
    assert binned == pytest.approx(exact, abs=0.03)
