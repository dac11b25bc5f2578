"""Entropy, Gini, thresholds, ranks and regression trees: the figures and rules that the sources state.

Criteria, categories, pruning and missing values have files of their own beside this one.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from reference.brute_force import smallest_residual_bruteforce
from reference.columns import exact_column
from reference.statistics import Moments
from reference.tree import Options, grow

from weald import DecisionTreeClassifier, DecisionTreeRegressor


def root_gain(model: DecisionTreeClassifier | DecisionTreeRegressor) -> float:
    """How much the first split lowers the criterion, per unit of weight."""
    return float(model.forest_.gain[0] / model.forest_.cover[0])


# entropy, information gain


def test_entropy_and_information_gain_of_the_worked_example():
    # labels Y, Y, N, N, Y with x = Y, N, Y, N, Y
    x = pd.DataFrame({"x": ["Y", "N", "Y", "N", "Y"]})
    model = DecisionTreeClassifier(criterion="entropy", max_depth=1).fit(x, ["Y", "Y", "N", "N", "Y"])
    impurity = dict(zip(model.tree_.n_node_samples.tolist(), model.tree_.impurity.tolist(), strict=True))
    assert impurity[5] == pytest.approx(0.971, abs=5e-4)
    assert impurity[3] == pytest.approx(0.918, abs=5e-4)  # given yes
    assert impurity[2] == 1.0  # given no
    assert root_gain(model) == pytest.approx(0.02, abs=5e-4)
    assert root_gain(model) == pytest.approx(
        impurity[5] - 3 / 5 * impurity[3] - 2 / 5 * impurity[2], abs=1e-15
    )


def test_entropy_of_equal_shares_is_the_logarithm_of_their_number():
    for k in (2, 4, 8):
        model = DecisionTreeClassifier(criterion="entropy").fit(np.zeros((k, 1)), np.arange(k))
        assert model.tree_.impurity.tolist() == [math.log2(k)]


def test_log_loss_is_entropy():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 3, 200)
    one = DecisionTreeClassifier(criterion="entropy").fit(X, y).forest_
    other = DecisionTreeClassifier(criterion="log_loss").fit(X, y).forest_
    np.testing.assert_array_equal(one.threshold, other.threshold)
    np.testing.assert_array_equal(one.value, other.value)


# Gini and squared error


@pytest.mark.parametrize("seed", range(25))
def test_gini_and_squared_error_on_0_and_1_choose_the_same_splits(seed):
    """Gini of two classes is twice the variance of the 0/1 target, so the gains differ by a factor of 2.

    Between splits of equal worth rounding may choose differently: then each must be best under both.
    """
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"a": rng.integers(0, 9, 60).astype(float), "b": rng.normal(size=60), "c": rng.integers(0, 5, 60)}
    )
    X["c"] = X["c"].map(str)
    X.loc[rng.random(60) < 0.2, "a"] = np.nan
    y = rng.integers(0, 2, 60)
    by_gini = DecisionTreeClassifier(max_depth=1).fit(X, y)
    by_error = DecisionTreeRegressor(max_depth=1).fit(X, y.astype(float))
    assert root_gain(by_gini) == pytest.approx(2 * root_gain(by_error), rel=1e-12)
    leaves = by_error.apply(X)
    share = np.array([y[leaves == leaf].mean() for leaf in np.unique(leaves)])
    size = np.array([(leaves == leaf).sum() for leaf in np.unique(leaves)])
    gini = 2 * y.mean() * (1 - y.mean()) - np.sum(size / 60 * 2 * share * (1 - share))
    assert gini == pytest.approx(root_gain(by_gini), rel=1e-9)


# numeric thresholds


@pytest.mark.parametrize("seed", range(5))
def test_every_threshold_is_the_midpoint_of_neighbours_in_the_node(seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=300), rng.integers(0, 20, 300), rng.exponential(size=300) * 1e9])
    model = DecisionTreeRegressor().fit(X, rng.normal(size=300))
    passes = model.decision_path(X).toarray().astype(bool)
    tree = model.tree_
    for node in np.flatnonzero(tree.feature >= 0):
        values = np.unique(X[passes[:, node], tree.feature[node]])
        below, above = values[values <= tree.threshold[node]], values[values > tree.threshold[node]]
        assert tree.threshold[node] == below[-1] + (above[0] - below[-1]) / 2


def test_candidates_are_all_midpoints():
    x = np.array([[1.0], [2.0], [4.0], [8.0]])
    found = set()
    for cut in range(1, 4):
        target = (np.arange(4) >= cut).astype(float)
        found.add(float(DecisionTreeRegressor(max_depth=1).fit(x, target).tree_.threshold[0]))
    assert found == {1.5, 3.0, 6.0}


# rank columns


def test_ranks_1_to_4_give_three_candidates():
    rank = pd.Categorical(
        ["first", "second", "third", "fourth"], ["first", "second", "third", "fourth"], ordered=True
    )
    X = pd.DataFrame({"rank": rank})
    partitions = set()
    for labels in (labels for size in range(1, 4) for labels in combinations(range(4), size)):
        y = np.isin(np.arange(4), labels).astype(int)
        model = DecisionTreeClassifier(max_depth=1).fit(X, y)
        left = frozenset(np.flatnonzero(model.apply(X) == 1).tolist())
        partitions.add(left)
    assert partitions == {frozenset({0}), frozenset({0, 1}), frozenset({0, 1, 2})}


def test_distances_of_ranks_do_not_count():
    rng = np.random.default_rng(1)
    index, y = rng.integers(0, 4, 80), rng.normal(size=80)
    models = []
    for levels in ([1, 2, 3, 4], [1, 10, 11, 1000]):
        X = pd.DataFrame({"rank": pd.Categorical(np.array(levels)[index], levels, ordered=True)})
        models.append(DecisionTreeRegressor().fit(X, y))
    np.testing.assert_array_equal(models[0].forest_.threshold, models[1].forest_.threshold)
    np.testing.assert_array_equal(models[0].forest_.value, models[1].forest_.value)


# regression trees


@pytest.mark.parametrize("seed", range(5))
def test_regression_tree_equals_brute_force_with_20_rows_to_split(seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(70, 3)), 2)
    y = np.round(X[:, 0] ** 2 + np.sign(X[:, 1]) + rng.normal(size=70) / 4, 3)
    model = DecisionTreeRegressor(min_samples_split=20).fit(X, y)
    tree = model.tree_
    passes = model.decision_path(X).toarray().astype(bool)
    for node in range(tree.node_count):
        rows = passes[:, node]
        residual = np.sum((y[rows] - y[rows].mean()) ** 2)
        assert tree.value[node, 0, 0] == pytest.approx(y[rows].mean(), rel=1e-12, abs=1e-12)
        if tree.feature[node] < 0:
            assert rows.sum() < 20 or residual == 0
            continue
        children = (passes[:, tree.children_left[node]], passes[:, tree.children_right[node]])
        reached = sum(np.sum((y[side] - y[side].mean()) ** 2) for side in children)
        tries = [smallest_residual_bruteforce(X[rows, j].tolist(), y[rows].tolist()) for j in range(3)]
        assert reached == pytest.approx(float(min(t for t in tries if t is not None)), rel=1e-9, abs=1e-12)


def test_regression_tree_equals_the_reference_with_20_rows_to_split():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(150, 2)), rng.normal(size=150)
    model = DecisionTreeRegressor(min_samples_split=20).fit(X, y)
    columns = [exact_column(X[:, j]) for j in range(2)]
    records = grow(columns, Moments.of(y, None), Options(min_rows_split=20))
    expected = [-2.0 if node.threshold is None else node.threshold for node in records]
    assert model.tree_.threshold.tolist() == expected
