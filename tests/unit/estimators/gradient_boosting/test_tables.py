"""Gradient boosting on categories: missing against all, weights, caution where nothing is to be found."""

import numpy as np
import pandas as pd
import pytest

from weald import GradientBoostingClassifier, GradientBoostingRegressor, XGBClassifier, XGBRegressor

STUMP = {"n_estimators": 1, "learning_rate": 1.0, "max_depth": 1}


def column(values):
    return pd.DataFrame({"town": pd.Categorical(values)})


@pytest.mark.parametrize("n_rows", [60, 6000])
@pytest.mark.parametrize("max_bins", [None, 63])
@pytest.mark.parametrize("levels", [["a"], ["a", "b"], ["a", "b", "c", "d", "e"]])
def test_missing_rows_are_parted_from_all_categories(levels, max_bins, n_rows):
    frame = column(np.resize(np.array([*levels, None], object), n_rows))
    y = 10.0 * frame["town"].isna().to_numpy()
    model = GradientBoostingRegressor(max_bins=max_bins, **STUMP).fit(frame, y)
    assert model.predict(frame) == pytest.approx(y, abs=1e-9)
    assert model.predict(column(["never seen", None]))[1] == pytest.approx(10.0)
    labels = GradientBoostingClassifier(max_bins=max_bins, **STUMP).fit(frame, y > 0)
    assert labels.score(frame, y > 0) == 1.0


@pytest.mark.parametrize("tree_method", ["exact", "hist"])
def test_missing_rows_are_parted_by_newton_trees_too(tree_method):
    frame = column(np.resize(np.array([*"abcdef", None], object), 700))
    y = 10.0 * frame["town"].isna().to_numpy()
    model = XGBRegressor(reg_lambda=0, tree_method=tree_method, **STUMP).fit(frame, y)
    assert model.predict(frame) == pytest.approx(y, abs=1e-5)
    labels = XGBClassifier(tree_method=tree_method, **STUMP).fit(frame, y > 0)
    assert labels.score(frame, y > 0) == 1.0


def test_few_missing_rows_are_no_side_of_their_own():
    frame = column([*"a" * 50, None, None, None])
    y = frame["town"].isna().to_numpy() * 10.0
    careful = GradientBoostingRegressor(**STUMP).fit(frame, y)
    assert careful.estimators_[0, 0].get_n_leaves() == 1
    trusting = GradientBoostingRegressor(cat_smooth=0, cat_l2=5, **STUMP).fit(frame, y)
    assert trusting.predict(frame) == pytest.approx(y, abs=1e-9)


def town_rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    town = rng.integers(0, 25, n)
    frame = column(np.array(list("abcdefghijklmnopqrstuvwxy"), object)[town])
    frame["size"] = rng.normal(size=n)
    return frame, rng.normal(size=25)[town] + 0.5 * frame["size"].to_numpy() + rng.normal(size=n), rng


@pytest.mark.parametrize("settings", [{}, {"cat_smooth": 9.0, "cat_l2": 3.0}, {"subsample": 0.7}])
def test_the_scale_of_weights_does_not_matter(settings):
    frame, y, rng = town_rows()
    weight = rng.random(len(y)) + 0.2
    said = []
    for scale in (1.0, 2.0**-10, 1e-3, 2.0**40):
        model = GradientBoostingRegressor(n_estimators=10, random_state=0, **settings)
        said.append(model.fit(frame, y, sample_weight=scale * weight).predict(frame))
    assert said[1].tolist() == said[0].tolist() == said[3].tolist()
    assert said[2] == pytest.approx(said[0], abs=1e-9)


def test_whole_weights_are_repeated_rows_to_the_caution_too():
    frame, y, rng = town_rows()
    times = rng.integers(0, 4, len(y))
    weighted = GradientBoostingRegressor(n_estimators=10).fit(frame, y, sample_weight=times)
    repeated = GradientBoostingRegressor(n_estimators=10).fit(
        frame.loc[np.repeat(np.arange(len(y)), times)], np.repeat(y, times)
    )
    assert weighted.predict(frame).tolist() == repeated.predict(frame).tolist()


def test_categories_that_the_penalty_refuses_are_not_split_at_no_gain():
    size = np.repeat([0.0, 1.0], 40)
    frame = column(list("abcd") * 20).assign(size=size)
    y = 20 * size + 0.1 * np.random.default_rng(0).normal(size=80)
    two_levels = {**STUMP, "max_depth": 2}
    careful = GradientBoostingRegressor(**two_levels).fit(frame, y).estimators_[0, 0]
    assert careful.get_n_leaves() == 2
    trusting = GradientBoostingRegressor(cat_smooth=0, cat_l2=0, **two_levels).fit(frame, y)
    assert trusting.estimators_[0, 0].get_n_leaves() == 4


def test_refused_categories_leave_the_node_to_numbers():
    a, b = np.resize([0.0, 0.0, 1.0, 1.0], 80), np.resize([0.0, 1.0], 80)
    frame = column(np.repeat(["x", "y"], 40)).assign(a=a, b=b)
    y = (a != b).astype(float)
    model = GradientBoostingRegressor(n_estimators=1, learning_rate=1.0, max_depth=2).fit(frame, y)
    assert model.predict(frame) == pytest.approx(y, abs=1e-9)


@pytest.mark.parametrize("weight", [0.1, 0.059, 0.27])
def test_categories_of_just_enough_rows_are_not_rare_by_rounding(weight):
    rng = np.random.default_rng(2)
    frame = column(np.repeat(list("abcdefghijkl"), 5))
    y = np.repeat(rng.normal(size=12), 5) + 0.1 * rng.normal(size=60)
    plain = GradientBoostingRegressor(n_estimators=3, cat_smooth=5).fit(frame, y)
    assert plain.estimators_[0, 0].get_n_leaves() > 1
    weighted = GradientBoostingRegressor(n_estimators=3, cat_smooth=5)
    weighted.fit(frame, y, sample_weight=np.full(60, weight))
    assert weighted.predict(frame) == pytest.approx(plain.predict(frame), abs=1e-9)
