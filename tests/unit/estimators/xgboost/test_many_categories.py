"""`cat_smooth="auto"`: many categories are believed as far as their spread allows (boosting.md, 11)."""

import io
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import Ridge

from weald import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    XGBClassifier,
    XGBRegressor,
    load,
)


def grouped(n_levels, effect, n=4000, seed=0):
    """A category of so many levels beside a number; how much of the target's spread is the levels'."""
    random = np.random.default_rng(seed)
    level = random.integers(n_levels, size=n)
    x = random.normal(size=n)
    y = effect * random.normal(size=n_levels)[level] + np.sin(2 * x) + random.normal(size=n) * 0.3
    return pd.DataFrame({"x": x, "shop": pd.Categorical(level.astype(str))}), y


def held_out(model, X, y, n_train):
    return model.fit(X[:n_train], y[:n_train]).score(X[n_train:], y[n_train:])


@pytest.mark.parametrize("estimator", [XGBRegressor, GradientBoostingRegressor])
def test_levels_that_carry_the_answer_are_believed(estimator):
    X, y = grouped(800, 1.0)
    auto = held_out(estimator(n_estimators=60), X, y, 3000)
    by_rows = held_out(estimator(n_estimators=60, cat_smooth="rows"), X, y, 3000)
    assert auto > by_rows + 0.3


def test_levels_of_chance_are_hardly_used():
    X, y = grouped(500, 0.0)
    auto = held_out(XGBRegressor(n_estimators=60), X, y, 3000)
    greedy = held_out(XGBRegressor(n_estimators=60, cat_smooth=0, cat_l2=0), X, y, 3000)
    without = held_out(XGBRegressor(n_estimators=60), X[["x"]], y, 3000)
    assert auto > without - 0.01
    assert auto > greedy + 0.05


def test_an_id_does_no_harm():
    random = np.random.default_rng(0)
    x = random.normal(size=2000)
    X = pd.DataFrame({"id": pd.Categorical([f"row {i}" for i in range(2000)]), "x": x})
    assert held_out(XGBClassifier(n_estimators=20), X, x > 0, 1000) > 0.99


def test_shrinkage_is_told_by_column():
    X, y = grouped(200, 1.0)
    X["noise"] = pd.Categorical(np.random.default_rng(1).integers(100, size=len(X)).astype(str))
    X["few"] = pd.Categorical((np.arange(len(X)) % 64).astype(str))
    told = XGBRegressor(n_estimators=2).fit(X, y).category_shrinkage_
    assert set(told) == {"shop", "noise"}  # columns of at most 64 categories keep the rule of rows
    noise_of_a_row = 0.3**2 + np.var(np.sin(2 * np.asarray(X["x"])))
    assert told["shop"] == pytest.approx(noise_of_a_row, rel=0.3)  # the effects have a variance of 1
    assert told["noise"] > 30
    assert not hasattr(XGBRegressor(n_estimators=2, cat_smooth=5.0).fit(X, y), "category_shrinkage_")


def test_gradient_boosting_tells_the_same_until_it_is_saved():
    X, y = grouped(100, 1.0, n=1500)
    X["few"] = pd.Categorical((np.arange(len(X)) % 64).astype(str))
    weight = np.random.default_rng(1).integers(0, 3, size=len(y))
    for ours, theirs, target in (
        (GradientBoostingRegressor, XGBRegressor, y),
        (GradientBoostingClassifier, XGBClassifier, np.digitize(y, [-0.5, 0.5])),
    ):
        model = ours(n_estimators=2).fit(X, target, sample_weight=weight)
        told = theirs(n_estimators=2).fit(X, target, sample_weight=weight).category_shrinkage_
        assert model.category_shrinkage_ == told
        assert set(told) == {"shop"}
        assert not hasattr(load(model.to_bytes()), "category_shrinkage_")
        assert model.fit(X[["x"]], target).category_shrinkage_ == {}
        assert not hasattr(model.set_params(cat_smooth="rows").fit(X, target), "category_shrinkage_")
    other = GradientBoostingRegressor(n_estimators=2, estimator=Ridge()).fit(X[["x"]], y)
    assert not hasattr(other, "category_shrinkage_")


def test_rows_held_out_are_not_asked():
    X, y = grouped(100, 1.0, n=1500)
    model = GradientBoostingRegressor(n_estimators=3, n_iter_no_change=2, random_state=0).fit(X, y)
    assert model.category_shrinkage_ != XGBRegressor(n_estimators=1).fit(X, y).category_shrinkage_
    went_on = model.set_params(warm_start=True, n_iter_no_change=None, n_estimators=9).fit(X, y)
    assert went_on.category_shrinkage_ == XGBRegressor(n_estimators=1).fit(X, y).category_shrinkage_


def test_columns_of_64_categories_keep_the_rule_of_rows():
    for n_levels, same in ((64, True), (65, False)):
        X, y = grouped(n_levels, 1.0)
        auto = XGBRegressor(n_estimators=5).fit(X, y).predict(X)
        by_rows = XGBRegressor(n_estimators=5, cat_smooth="rows").fit(X, y).predict(X)
        assert np.array_equal(auto, by_rows) == same


@pytest.mark.parametrize("tree_method", ["exact", "hist", "approx"])
def test_threads_row_order_and_frames_do_not_show(tree_method):
    X, y = grouped(150, 0.7)
    settings = {"n_estimators": 5, "tree_method": tree_method}
    one = XGBRegressor(n_jobs=1, **settings).fit(X, y)
    expected = one.predict(X)
    assert np.array_equal(XGBRegressor(n_jobs=5, **settings).fit(X, y).predict(X), expected)
    assert np.array_equal(XGBRegressor(**settings).fit(pl.from_pandas(X), y).predict(X), expected)
    if tree_method == "exact":
        order = np.random.default_rng(2).permutation(len(y))
        turned = XGBRegressor(**settings).fit(X.iloc[order].reset_index(drop=True), y[order])
        assert np.array_equal(turned.predict(X), expected)


def test_whole_weights_are_repeated_rows():
    X, y = grouped(90, 0.7, n=600)
    weight = np.random.default_rng(3).integers(0, 4, size=len(y))
    twice = np.repeat(np.arange(len(y)), weight)
    settings = {"n_estimators": 4, "tree_method": "exact"}
    weighted = XGBRegressor(**settings).fit(X, y, sample_weight=weight)
    repeated = XGBRegressor(**settings).fit(X.iloc[twice].reset_index(drop=True), y[twice])
    assert np.array_equal(weighted.predict(X), repeated.predict(X))


@pytest.mark.parametrize("n_levels", [1, 2000, 100_000])
def test_one_level_all_alone_and_very_many(n_levels):
    random = np.random.default_rng(0)
    n = max(2000, n_levels)
    level = random.permutation(n) % n_levels
    X = pd.DataFrame({"x": random.normal(size=n), "c": pd.Categorical(level.astype(str))})
    model = XGBClassifier(n_estimators=2).fit(X, X["x"] > 0)
    assert model.score(X, X["x"] > 0) > 0.99
    assert n_levels == 1 or model.category_shrinkage_ == {"c": math.inf}


def test_several_classes_and_outputs():
    X, y = grouped(80, 1.0, n=1500)
    classes = np.digitize(y, [-0.5, 0.5])
    assert XGBClassifier(n_estimators=5).fit(X, classes).category_shrinkage_["shop"] < 30
    both = np.column_stack([y, -y])
    for strategy in ("one_output_per_tree", "multi_output_tree"):
        model = XGBRegressor(n_estimators=5, multi_strategy=strategy).fit(X, both)
        assert np.isfinite(model.predict(X)).all()


def test_the_rule_is_a_parameter_of_model_files():
    X, y = grouped(90, 1.0, n=500)
    for rule in ("auto", "rows", 3.0, None):
        file = io.BytesIO()
        XGBRegressor(n_estimators=2, cat_smooth=rule).fit(X, y).save(file)
        assert load(file.getvalue()).get_params()["cat_smooth"] == rule
    with pytest.raises(ValueError, match="cat_smooth"):
        XGBRegressor(cat_smooth="some").fit(X, y)
