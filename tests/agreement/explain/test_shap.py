"""SHAP values of the same trees as xgboost and shap tell them, and shap's drawings of our Explanation."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.ensemble import RandomForestRegressor

import weald
from weald.data.adapters import to_table
from weald.inspection.shap.trees import Background, shap_values
from weald.testing.foreign_trees import forest_of_sklearn, forest_of_xgboost


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).astype(np.float32)
    return X, X[:, 0] * X[:, 1] + X[:, 2] + np.sin(3 * X[:, 3])


@pytest.mark.parametrize("depth", [3, 6, 10])
def test_values_are_those_of_xgboost_on_the_same_trees(depth):
    X, y = rows()
    X[::7, 1] = np.nan
    matrix = xgboost.DMatrix(X, y)
    booster = xgboost.train({"max_depth": depth, "tree_method": "exact", "eta": 0.3}, matrix, 8)
    forest, table = forest_of_xgboost(booster, 5), to_table(X)
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
    forest, table = forest_of_sklearn(model, 5), to_table(X)
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
