"""Poisson and absolute error, one output and several: scikit-learn's trees where both define the same.

Absolute losses tie often where rows weigh alike (a median row fits either side), so there rows have weights.
"""

from __future__ import annotations

import numpy as np
import pytest
from agreement.test_scikit_learn_trees import LIMITS, assert_agree, distinct
from sklearn import tree as peers

from weald import DecisionTreeClassifier, DecisionTreeRegressor


def data(criterion: str, seed: int, n_rows: int = 1000, n_columns: int = 4, n_outputs: int = 1):
    """A table with some signal, its target, and rows never seen."""
    rng = np.random.default_rng(seed)
    X = distinct(rng, n_rows, n_columns)
    waves = [np.sin(X[:, k % n_columns] * (4 + 3 * k) / n_rows) for k in range(n_outputs)]
    signal = np.stack(waves, axis=1) + X[:, :1] / n_rows + rng.normal(size=(n_rows, n_outputs)) / 2
    y = rng.poisson(np.exp(signal)).astype(float) if criterion == "poisson" else signal
    if criterion in ("gini", "entropy"):
        y = np.stack([np.digitize(column, np.quantile(column, [0.3, 0.7])) for column in signal.T], axis=1)
    new = rng.uniform(-10, n_rows + 10, (300, n_columns)).astype(np.float32).astype(np.float64)
    return X, y[:, 0] if n_outputs == 1 else y, new


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize(
    ("criterion", "weighted"), [("poisson", False), ("poisson", True), ("absolute_error", True)]
)
def test_same_tree(criterion, limits, weighted):
    X, y, new = data(criterion, seed=3)
    weight = np.random.default_rng(1).uniform(0.2, 3.0, len(X)) if weighted else None
    parameters = {"criterion": criterion, "min_samples_leaf": 40, **limits}
    assert_agree(DecisionTreeRegressor, X, y, new, weight, **parameters)


@pytest.mark.parametrize("criterion", ["poisson", "absolute_error"])
@pytest.mark.parametrize("seed", range(3))
def test_same_deep_tree_on_one_column(criterion, seed):
    X, y, new = data(criterion, seed, n_rows=200, n_columns=1)
    weight = np.random.default_rng(seed).integers(500, 2000, len(X)).astype(float)
    depth = {"max_depth": 6} if criterion == "poisson" else {}
    assert_agree(DecisionTreeRegressor, X, y, new, weight, criterion=criterion, **depth)


@pytest.mark.parametrize("criterion", ["poisson", "absolute_error"])
def test_rows_of_weight_zero_do_not_count(criterion):
    X, y, new = data(criterion, seed=6)
    weight = np.random.default_rng(6).integers(500, 2000, len(X)).astype(float)
    weight[::3] = 0.0
    kept = weight > 0
    parameters = {"criterion": criterion, "min_samples_leaf": 20}
    ours = DecisionTreeRegressor(**parameters).fit(X, y, sample_weight=weight)
    theirs = peers.DecisionTreeRegressor(**parameters).fit(X[kept], y[kept], sample_weight=weight[kept])
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-12)


@pytest.mark.parametrize("n_outputs", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson", "absolute_error"])
def test_same_tree_of_several_outputs(criterion, weighted, n_outputs):
    X, y, new = data(criterion, seed=4, n_outputs=n_outputs)
    weight = np.random.default_rng(2).uniform(0.2, 3.0, len(X)) if weighted else None
    parameters = {"criterion": criterion, "min_samples_leaf": 40}
    is_class = criterion in ("gini", "entropy")
    model = DecisionTreeClassifier if is_class else DecisionTreeRegressor
    ours = model(**parameters).fit(X, y, sample_weight=weight)
    theirs = getattr(peers, model.__name__)(random_state=0, **parameters).fit(X, y, sample_weight=weight)
    assert ours.get_n_leaves() > 10
    for name in ("feature", "threshold", "children_left", "children_right", "n_node_samples"):
        np.testing.assert_array_equal(getattr(ours.tree_, name), getattr(theirs.tree_, name), err_msg=name)
    for name in ("impurity", "weighted_n_node_samples", "value"):
        np.testing.assert_allclose(
            getattr(ours.tree_, name), getattr(theirs.tree_, name), rtol=1e-9, atol=1e-12, err_msg=name
        )
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-12)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-9, atol=1e-12)


def test_friedman_mse_is_squared_error_bit_for_bit():
    X, y, _ = data("squared_error", seed=5)
    many = np.column_stack([y, y[::-1]])
    for target in (y, many):
        for parameters in ({}, {"max_leaf_nodes": 30}, {"splitter": "random", "random_state": 1}):
            one, other = (
                DecisionTreeRegressor(criterion=name, **parameters).fit(X, target).forest_.arrays()
                for name in ("squared_error", "friedman_mse")
            )
            for name, array in one.items():
                assert array.tobytes() == other[name].tobytes(), name


def test_counts_that_poisson_refuses_as_scikit_learn_does():
    X = np.arange(4.0)[:, None]
    for y, words in (([1.0, 2, -1, 3], "negative"), ([0.0, 0, 0, 0], "not (strictly )?positive")):
        for model in (DecisionTreeRegressor, peers.DecisionTreeRegressor):
            with pytest.raises(ValueError, match=f"{words}.*Poisson"):
                model(criterion="poisson").fit(X, y)
