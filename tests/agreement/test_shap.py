"""SHAP values of the same trees as xgboost and shap tell them, and shap's drawings of our Explanation."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.ensemble import RandomForestRegressor

import weald
from weald.data.adapters import to_table
from weald.inspection.shap.trees import Background, shap_values
from weald.model.forest import Forest


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).astype(np.float32)
    return X, X[:, 0] * X[:, 1] + X[:, 2] + np.sin(3 * X[:, 3])


def forest_of(trees, n_columns, base_score):
    """A Forest of lists of nodes: (column, threshold, missing left, left, right, value, cover)."""
    start, slot, cover, inner, value = [0], [], [], [], []
    for nodes in trees:
        first = len(slot)
        stack = [(0, None)]
        while stack:
            at, parent = stack.pop()
            if parent is not None:
                inner[parent][3] = len(slot) - first
            column, threshold, missing_left, left, right, leaf, weight = nodes[at]
            cover.append(weight)
            if left < 0:
                slot.append(~len(value))
                value.append([leaf])
                continue
            slot.append(len(inner))
            inner.append([column, threshold, missing_left, 0])
            stack += [(right, len(inner) - 1), (left, None)]
        start.append(len(slot))
    n, arrays = len(trees), [np.array(each) for each in zip(*inner, strict=True)]
    return Forest(
        n_columns=n_columns,
        base_score=np.array([base_score]),
        link="identity",
        tree_start=np.array(start, np.int64),
        tree_output=np.zeros(n, np.int32),
        tree_weight=np.ones(n),
        tree_round=np.arange(n, dtype=np.int32),
        slot=np.array(slot, np.int32),
        cover=np.array(cover, np.float64),
        count=np.ones(len(slot), np.int64),
        impurity=None,
        column=arrays[0].astype(np.int32),
        threshold=arrays[1].astype(np.float64),
        kind=np.zeros(len(inner), np.uint8),
        missing_left=arrays[2].astype(np.bool_),
        right=arrays[3].astype(np.int32),
        gain=np.zeros(len(inner)),
        side=np.full(len(inner), -1, np.int32),
        value=np.array(value),
    )


def from_xgboost(booster, n_columns):
    """The trees of a booster; xgboost sends values below the threshold left, weald those up to it."""
    model = json.loads(booster.save_raw("json"))["learner"]
    base = float(model["learner_model_param"]["base_score"].strip("[]"))
    trees = [
        list(
            zip(
                tree["split_indices"],
                np.nextafter(np.float32(tree["split_conditions"]), np.float32(-np.inf)).astype(float),
                tree["default_left"],
                tree["left_children"],
                tree["right_children"],
                np.float32(tree["base_weights"]).astype(float),
                tree["sum_hessian"],
                strict=True,
            )
        )
        for tree in model["gradient_booster"]["model"]["trees"]
    ]
    leaves = [tree["split_conditions"] for tree in model["gradient_booster"]["model"]["trees"]]
    trees = [
        [
            node if node[3] >= 0 else (*node[:5], float(np.float32(leaf)), node[6])
            for node, leaf in zip(tree, values, strict=True)
        ]
        for tree, values in zip(trees, leaves, strict=True)
    ]
    return forest_of(trees, n_columns, base)


def from_sklearn(model, n_columns):
    trees = []
    for each in model.estimators_:
        tree = each.tree_
        columns = (
            tree.feature,
            tree.threshold,
            tree.missing_go_to_left,
            tree.children_left,
            tree.children_right,
        )
        values = tree.value[:, 0, 0] / len(model.estimators_)
        trees.append(list(zip(*columns, values, tree.weighted_n_node_samples, strict=True)))
    return forest_of(trees, n_columns, 0.0)


@pytest.mark.parametrize("depth", [3, 6, 10])
def test_values_are_those_of_xgboost_on_the_same_trees(depth):
    X, y = rows()
    X[::7, 1] = np.nan
    matrix = xgboost.DMatrix(X, y)
    booster = xgboost.train({"max_depth": depth, "tree_method": "exact", "eta": 0.3}, matrix, 8)
    forest, table = from_xgboost(booster, 5), to_table(X)
    values, rest = shap_values(forest, table)
    theirs = booster.predict(matrix, pred_contribs=True)
    size = np.abs(theirs).max()
    assert np.abs(values[:, 0] - theirs[:, :-1]).max() < 1e-6 * size
    assert abs(rest[0] + forest.base_score[0] - theirs[0, -1]) < 1e-6 * size
    pairs, _ = shap_values(forest, table, interactions=True)
    theirs = booster.predict(matrix, pred_interactions=True)
    assert np.abs(pairs[:, 0] - theirs[:, :-1, :-1]).max() < 1e-5 * size  # theirs adds up in float32
    rough, _ = shap_values(forest, table, approximate=True)
    theirs = booster.predict(matrix, pred_contribs=True, approx_contribs=True)
    assert np.abs(rough[:, 0] - theirs[:, :-1]).max() < 1e-6 * size


def imported():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("shap")


def test_values_are_those_of_shap_on_the_same_trees():
    shap = imported()
    X, y = rows(120)
    model = RandomForestRegressor(5, max_depth=7, random_state=0).fit(X, y)
    forest, table = from_sklearn(model, 5), to_table(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        paths = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
        theirs, their_pairs = paths.shap_values(X), paths.shap_interaction_values(X)
        against = shap.TreeExplainer(model, X[:40], feature_perturbation="interventional").shap_values(X)
    assert np.abs(shap_values(forest, table)[0][:, 0] - theirs).max() < 1e-6
    assert np.abs(shap_values(forest, table, interactions=True)[0][:, 0] - their_pairs).max() < 1e-6
    ours, _ = shap_values(forest, table, background=Background.of(to_table(X[:40])))
    assert np.abs(ours[:, 0] - against).max() < 1e-6


def test_the_drawings_of_shap_take_an_explanation():
    shap = imported()
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X, y = rows(60)
    F = pd.DataFrame(X, columns=list("abcde"))
    told = weald.explain(weald.XGBRegressor(n_estimators=5).fit(F, y), F)
    assert isinstance(told, shap.Explanation)
    assert isinstance(told, weald.Explanation)
    assert type(told.to_shap()) is shap.Explanation
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shap.plots.beeswarm(told, show=False)
        shap.plots.waterfall(told[0], show=False)
        shap.plots.scatter(told[:, "a"], color=told, show=False)
        shap.plots.bar(told, show=False)
        shap.plots.bar(told.abs.mean(0), show=False)
        pyplot.close("all")
        assert told.hclust().shape == (60,)  # what only shap's class can do
