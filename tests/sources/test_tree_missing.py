"""Missing values: a side learnt by every split, the same side at prediction, or a side of their own."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from support.losses import CLASS_CRITERIA, NUMBER_CRITERIA, gain

from weald import DecisionTreeClassifier, DecisionTreeRegressor

CRITERIA = [*CLASS_CRITERIA, *NUMBER_CRITERIA]


def model_of(criterion: str, **parameters) -> DecisionTreeClassifier | DecisionTreeRegressor:
    model = DecisionTreeClassifier if criterion in CLASS_CRITERIA else DecisionTreeRegressor
    return model(criterion=criterion, **parameters)


def mixed(criterion: str, seed: int, n: int = 150) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, ranks and categories with missing values that tell something of the target."""
    rng = np.random.default_rng(seed)
    number, rank, town = rng.normal(size=n), rng.integers(0, 4, n), rng.integers(0, 5, n)
    gone = rng.random((3, n)) < 0.25
    signal = np.where(gone[0], 1.5, number) + np.where(gone[1], -1, rank / 2) + (town % 2) * ~gone[2]
    signal = signal + rng.normal(size=n) / 2
    X = pd.DataFrame(
        {
            "number": np.where(gone[0], np.nan, number),
            "rank": pd.Categorical.from_codes(np.where(gone[1], -1, rank), list("abcd"), ordered=True),
            "town": pd.Categorical.from_codes(np.where(gone[2], -1, town), list("vwxyz")),
        }
    )
    if criterion in CLASS_CRITERIA:
        return X, (signal > np.median(signal)).astype(int)
    return X, rng.poisson(np.exp(signal / 2)) + 0.5 if criterion == "poisson" else signal


@pytest.mark.parametrize("criterion", CRITERIA)
def test_no_side_of_missing_rows_would_gain_more(criterion):
    """At every split of the tree, on columns of every kind: turning the missing rows over never helps."""
    X, y = mixed(criterion, seed=1, n=400)
    model = model_of(criterion, min_samples_leaf=3).fit(X, y)
    passes, tree = model.decision_path(X).toarray().T.astype(bool), model.tree_
    turned = {0: 0, 1: 0, 2: 0}
    for node in np.flatnonzero(tree.children_left >= 0):
        rows = passes[node]
        column = int(tree.feature[node])
        left = passes[tree.children_left[node]][rows]
        missing = X.iloc[rows, column].isna().to_numpy()
        assert len(set(left[missing].tolist())) <= 1  # all on one side
        if not missing.any():
            continue
        assert bool(left[missing][0]) is bool(tree.missing_go_to_left[node])
        other = np.where(missing, ~left, left)
        if min(other.sum(), (~other).sum()) < 3:
            continue
        here = gain(criterion, y[rows], left)
        assert here == pytest.approx(model.forest_.gain[model.forest_.slot[node]], rel=1e-9, abs=1e-9)
        assert gain(criterion, y[rows], other) <= here + 1e-9
        turned[column] += 1
    assert min(turned.values()) > 0


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(4))
def test_best_of_all_thresholds_and_sides_is_taken(criterion, seed):
    X, y = mixed(criterion, seed)
    x = X["number"].to_numpy()
    model = model_of(criterion, max_depth=1).fit(X[["number"]], y)
    tries = [gain(criterion, y, ~np.isnan(x))]  # missing against present
    for cut in np.unique(x[~np.isnan(x)])[:-1]:
        tries += [gain(criterion, y, x <= cut), gain(criterion, y, (x <= cut) | np.isnan(x))]
    assert model.forest_.gain[0] == pytest.approx(max(tries), rel=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_rows_missing_at_prediction_follow_the_side_learnt(criterion):
    X, y = mixed(criterion, seed=2)
    model = model_of(criterion, min_samples_leaf=3).fit(X, y)
    tree, nothing = model.tree_, X.reindex([-1])
    node, path = 0, [0]
    while tree.children_left[node] >= 0:
        node = int((tree.children_left if tree.missing_go_to_left[node] else tree.children_right)[node])
        path.append(node)
    assert len(path) > 2
    assert model.decision_path(nothing).indices.tolist() == path
    assert model.apply(nothing).tolist() == [node]


@pytest.mark.parametrize("kind", ["number", "rank", "town"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_split_may_separate_missing_from_present_under_every_criterion(criterion, kind):
    X, _ = mixed("gini", seed=3)
    y = X[kind].isna().to_numpy().astype(int) + 1
    model = model_of(criterion).fit(X[[kind]], y)
    assert model.tree_.node_count == 3
    assert model.predict(X[[kind]]).tolist() == y.tolist()
    assert not model.tree_.missing_go_to_left[0]
    if kind != "town":
        assert model.tree_.threshold[0] == math.inf


def test_no_imputation_is_needed():
    rng = np.random.default_rng(4)
    X = pd.DataFrame(
        {
            "number": np.where(rng.random(400) < 0.3, np.nan, rng.normal(size=400)),
            "whole": pd.array(np.where(rng.random(400) < 0.3, None, rng.integers(0, 5, 400)), dtype="Int64"),
            "text": np.where(rng.random(400) < 0.3, None, rng.choice(list("xyz"), 400)),
            "rank": pd.Categorical(rng.choice(["lo", "hi"], 400), ["lo", "mid", "hi"], ordered=True),
            "nothing": np.full(400, np.nan),
        }
    )
    y = rng.integers(0, 2, 400)
    for model in (DecisionTreeClassifier(), DecisionTreeRegressor()):
        model.fit(X, y)
        assert np.isfinite(model.predict(X).astype(float)).all()
        assert np.isfinite(model.predict(X.iloc[::-1].map(lambda _: None)).astype(float)).all()
        assert 4 not in model.tree_.feature


@pytest.mark.parametrize(("missing_label", "side"), [(0, "left"), (1, "right")])
def test_each_split_learns_the_side_of_missing_rows(missing_label, side):
    x = np.array([1.0, 2.0, 3.0, 7.0, 8.0, 9.0, np.nan, np.nan])[:, None]
    y = np.array([0, 0, 0, 1, 1, 1, missing_label, missing_label])
    model = DecisionTreeClassifier().fit(x, y)
    assert model.tree_.threshold[0] == 5.0
    assert bool(model.tree_.missing_go_to_left[0]) is (side == "left")
    assert model.predict([[np.nan]]).tolist() == [missing_label]


def test_a_split_may_separate_missing_from_present():
    x = np.array([1.0, 2.0, 3.0, 4.0, np.nan, np.nan])[:, None]
    model = DecisionTreeClassifier().fit(x, [0, 0, 0, 0, 1, 1])
    assert model.tree_.threshold[0] == math.inf
    assert model.tree_.node_count == 3
    assert model.predict([[1e300], [-1e300], [np.nan]]).tolist() == [0, 0, 1]
    text = pd.DataFrame({"x": ["a", "b", "a", "b", None, None]})
    model = DecisionTreeClassifier().fit(text, [0, 0, 0, 0, 1, 1])
    assert model.tree_.node_count == 3
    assert model.predict(pd.DataFrame({"x": ["b", None]})).tolist() == [0, 1]


def test_missing_where_training_saw_none_follows_the_heavier_child():
    x = np.array([1.0, 2.0, 3.0, 9.0])[:, None]
    assert DecisionTreeClassifier().fit(x, [0, 0, 0, 1]).predict([[np.nan]]).tolist() == [0]
    assert DecisionTreeClassifier().fit(-x, [0, 0, 0, 1]).predict([[np.nan]]).tolist() == [0]
