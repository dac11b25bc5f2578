"""Intervals of `Conformal`, against the definitions with members fitted by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, QuantileRegressor, Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from weald import (
    BaggingRegressor,
    Conformal,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
    XGBRegressor,
)


def data(n_rows=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, X[:, 0] - X[:, 1] ** 2 + rng.normal(0, 0.5, n_rows)


NEW = data(12, 9)[0]


def plus_interval(centres, errors, coverage):
    """The definition of jackknife+ and CV+, new row by new row; `centres` is (rows left out, new rows)."""
    n = len(errors)
    low = np.sort(centres - errors[:, None], axis=0)[math.floor(round((1 - coverage) * (n + 1), 9)) - 1]
    high = np.sort(centres + errors[:, None], axis=0)[math.ceil(round(coverage * (n + 1), 9)) - 1]
    return np.column_stack([low, high])


def test_split_is_the_definition():
    X, y = data()
    model = Conformal(Ridge(), calibration_size=19, random_state=3).fit(X, y)
    held = model.calibration_rows_
    train = np.setdiff1d(np.arange(60), held)
    assert len(held) == 19
    own = Ridge().fit(X[train], y[train])
    errors = np.sort(np.abs(y[held] - own.predict(X[held])))
    width = errors[math.ceil(20 * 0.9) - 1]
    predicted = own.predict(NEW)
    np.testing.assert_array_equal(model.predict(NEW), predicted)
    np.testing.assert_array_equal(
        model.predict_interval(NEW), np.column_stack([predicted - width, predicted + width])
    )
    np.testing.assert_array_equal(np.sort(model.conformity_scores_), errors)


def test_cv_plus_is_the_definition():
    X, y = data()
    folds = list(KFold(4, shuffle=True, random_state=1).split(X))
    model = Conformal(Ridge(), method="cv+", cv=folds).fit(X, y)
    centres, errors = np.empty((60, len(NEW))), np.empty(60)
    for train, held in folds:
        own = Ridge().fit(X[train], y[train])
        centres[held], errors[held] = own.predict(NEW), np.abs(y[held] - own.predict(X[held]))
    np.testing.assert_allclose(
        model.predict_interval(NEW, 0.8), plus_interval(centres, errors, 0.8), rtol=1e-14
    )
    np.testing.assert_array_equal(model.predict(NEW), Ridge().fit(X, y).predict(NEW))
    np.testing.assert_array_equal(model.calibration_rows_, np.arange(60))
    np.testing.assert_allclose(model.conformity_scores_, errors)
    assert len(model.estimators_) == 4


def test_jackknife_plus_is_the_definition():
    X, y = data(25)
    model = Conformal(LinearRegression(), method="jackknife+").fit(X, y)
    centres, errors = np.empty((25, len(NEW))), np.empty(25)
    for row in range(25):
        rest = np.arange(25) != row
        own = LinearRegression().fit(X[rest], y[rest])
        centres[row], errors[row] = own.predict(NEW), np.abs(y[row] - own.predict(X[row : row + 1])[0])
    np.testing.assert_allclose(
        model.predict_interval(NEW, 0.9), plus_interval(centres, errors, 0.9), rtol=1e-9
    )


@pytest.mark.parametrize(
    "member",
    [
        RandomForestRegressor(25, random_state=1),
        ExtraTreesRegressor(25, bootstrap=True, max_samples=0.7, random_state=1),
        BaggingRegressor(n_estimators=25, max_features=0.7, random_state=1),
        BaggingRegressor(Ridge(), n_estimators=25, random_state=1),
    ],
    ids=["forest", "extra trees", "bagged trees", "bagged others"],
)
def test_ensembles_are_judged_by_the_members_that_lack_a_row(member):
    X, y = data(38)
    model = Conformal(member, method="jackknife+").fit(X, y)
    own = clone(member).fit(X, y)
    columns = getattr(own, "estimators_features_", [np.arange(3)] * 25)
    lacks = np.array([~np.isin(np.arange(38), rows) for rows in own.estimators_samples_])
    ours, theirs = (
        np.stack([m.predict(table[:, c]) for m, c in zip(own.estimators_, columns, strict=True)])
        for table in (X, NEW)
    )
    centres = np.stack([theirs[lacks[:, i]].mean(axis=0) for i in range(38)])
    errors = np.array([abs(y[i] - ours[lacks[:, i], i].mean()) for i in range(38)])
    np.testing.assert_allclose(
        model.predict_interval(NEW, 0.8), plus_interval(centres, errors, 0.8), rtol=1e-10
    )
    np.testing.assert_array_equal(model.predict(NEW), own.predict(NEW))
    assert model.estimators_ == [model.estimator_]


def test_a_forest_gives_what_its_own_intervals_are():
    X, y = data(300)
    forest = RandomForestRegressor(20, random_state=1).fit(X, y)
    found = Conformal(forest, method="jackknife+", max_rows=100).fit(X, y)
    own = forest.predict_interval(NEW, train=(X, y), max_rows=100)
    np.testing.assert_allclose(found.predict_interval(NEW), own, rtol=1e-12)
    assert len(found.calibration_rows_) == 100
    again = Conformal(forest, method="jackknife+", max_rows=100).calibrate(X, y)
    assert again.estimator_ is forest
    np.testing.assert_array_equal(again.predict_interval(NEW), found.predict_interval(NEW))


def test_errors_scaled_by_the_spread_of_the_trees():
    X, y = data(80)
    forest = RandomForestRegressor(15, random_state=1)
    model = Conformal(forest, conformity_score="scaled", random_state=0).fit(X, y)
    own = model.estimator_

    def spread(table):
        values = np.stack([tree.predict(table) for tree in own.estimators_])
        return values.std(axis=0) + 0.01 * own.forest_.value.std()

    held = model.calibration_rows_
    scores = np.abs(y[held] - own.predict(X[held])) / spread(X[held])
    np.testing.assert_allclose(model.conformity_scores_, scores)
    width = np.sort(scores)[math.ceil(21 * 0.9) - 1] * spread(NEW)
    expected = np.column_stack([own.predict(NEW) - width, own.predict(NEW) + width])
    np.testing.assert_allclose(model.predict_interval(NEW), expected)


def test_scaled_out_of_bag_scores():
    X, y = data(30)
    model = Conformal(
        RandomForestRegressor(20, random_state=1), method="jackknife+", conformity_score="scaled"
    )
    own = model.fit(X, y).estimator_
    lacks = np.array([~np.isin(np.arange(30), rows) for rows in own.estimators_samples_])
    values = np.stack([tree.predict(X) for tree in own.estimators_])
    least = 0.01 * own.forest_.value.std()
    for i in range(30):
        without = values[lacks[:, i], i]
        expected = abs(y[i] - without.mean()) / (without.std() + least)
        assert model.conformity_scores_[i] == pytest.approx(expected)
    widths = np.diff(model.predict_interval(NEW), axis=1)
    assert widths.max() > 1.2 * widths.min()


# --------------------------------------------------------------------------- quantiles

QUANTILES = {
    "booster": XGBRegressor(n_estimators=8, objective="reg:quantileerror", quantile_alpha=[0.1, 0.5, 0.9]),
    "booster alone": XGBRegressor(n_estimators=8, objective="reg:quantileerror", quantile_alpha=0.5),
    "stages": GradientBoostingRegressor(loss="quantile", n_estimators=8),
    "scikit-learn's": HistGradientBoostingRegressor(loss="quantile", max_iter=8),
    "linear": QuantileRegressor(alpha=0.0),
    "in a pipeline": make_pipeline(StandardScaler(), QuantileRegressor(alpha=0.0)),
    "forest": RandomForestRegressor(15, min_samples_leaf=3, random_state=0),
}


@pytest.mark.parametrize("name", QUANTILES)
def test_cqr_is_the_definition(name):
    X, y = data(90)
    model = Conformal(QUANTILES[name], method="cqr", random_state=1).fit(X, y)
    held = model.calibration_rows_
    train = np.setdiff1d(np.arange(90), held)
    levels = (0.1, 0.9) if name == "booster" else (0.05, 0.95)

    def quantiles(table):
        if name == "forest":
            return model.estimator_.predict_quantiles(table, levels, train=(X[train], y[train]))
        if len(model.estimators_) == 1:
            return model.estimator_.predict(table)[:, [0, 2]]
        assert len(model.estimators_) == 3
        found = np.stack([each.predict(table) for each in model.estimators_], axis=1)
        return np.sort(found, axis=1)[:, [0, 2]]

    low, high = quantiles(X[held]).T
    width = np.sort(np.maximum(low - y[held], y[held] - high))[math.ceil((len(held) + 1) * 0.8) - 1]
    expected = np.sort(quantiles(NEW) + np.array([-width, width]), axis=1)
    np.testing.assert_allclose(model.predict_interval(NEW, 0.8), expected)
    assert model.predict(NEW).shape == (len(NEW),)


def test_two_levels_have_no_median_but_a_middle():
    X, y = data()
    model = Conformal(QuantileRegressor(alpha=0.0), method="cqr", quantiles=[0.2, 0.8]).fit(X, y)
    low, high = (each.predict(NEW) for each in model.estimators_)
    np.testing.assert_allclose(model.predict(NEW), (low + high) / 2)


def test_a_fitted_booster_of_quantiles_is_calibrated_as_it_is():
    X, y = data(200)
    booster = QUANTILES["booster"].fit(X[:100], y[:100])
    model = Conformal(booster, method="cqr").calibrate(X[100:], y[100:])
    assert model.estimator_ is booster
    low, _, high = booster.predict(X[100:]).T
    width = np.sort(np.maximum(low - y[100:], y[100:] - high))[math.ceil(101 * 0.9) - 1]
    expected = booster.predict(NEW)[:, [0, 2]] + np.array([-width, width])
    np.testing.assert_allclose(model.predict_interval(NEW), expected)


# --------------------------------------------------------------------------- tables, weights, tools


def test_a_fitted_estimator_is_calibrated_as_it_is_and_again():
    X, y = data(120)
    own = Ridge().fit(X[:60], y[:60])
    model = Conformal(own).calibrate(X[60:90], y[60:90])
    first = model.predict_interval(NEW)
    assert model.estimator_ is own
    model.calibrate(X[90:], y[90:] * 3)
    assert (np.diff(model.predict_interval(NEW)) > np.diff(first)).all()
    refit = Conformal(Ridge()).fit(X[:60], y[:60])
    before = refit.estimator_
    assert refit.calibrate(X[60:], y[60:]).estimator_ is before
    assert len(refit.conformity_scores_) == 60


def test_fitted_quantiles_are_calibrated_again():
    X, y = data(160)
    model = Conformal(QuantileRegressor(alpha=0.0), method="cqr").fit(X[:80], y[:80])
    before, members = model.predict_interval(NEW), model.estimators_
    model.calibrate(X[80:], y[80:] * 4)
    assert model.estimators_ == members
    assert len(model.conformity_scores_) == 80
    assert (np.diff(model.predict_interval(NEW)) > np.diff(before)).all()


def test_columns_of_a_calibration_are_matched_by_name():
    X, y = data(80)
    frame = pd.DataFrame(X, columns=list("abc"))
    model = Conformal(Ridge()).fit(frame[:40], y[:40])
    swapped = clone(model).fit(frame[:40], y[:40]).calibrate(frame.loc[40:, ["c", "a", "b"]], y[40:])
    model.calibrate(frame[40:], y[40:])
    np.testing.assert_array_equal(swapped.conformity_scores_, model.conformity_scores_)
    assert swapped.feature_names_in_.tolist() == list("abc")


METHODS = {
    "split": Conformal(RandomForestRegressor(8, random_state=0)),
    "cv+": Conformal(DecisionTreeRegressor(max_depth=3), method="cv+", cv=3),
    "jackknife+": Conformal(RandomForestRegressor(20, random_state=0), method="jackknife+"),
    "cqr": Conformal(XGBRegressor(n_estimators=4, objective="reg:quantileerror"), method="cqr"),
    "scaled": Conformal(RandomForestRegressor(8, random_state=0), conformity_score="scaled"),
}


@pytest.mark.parametrize("name", METHODS)
def test_tables_of_every_kind_give_the_same_intervals(name):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(80) < 0.1, np.nan, rng.normal(size=80)),
            "town": rng.choice(["rome", "oslo", "lima"], 80),
        }
    )
    y = frame["size"].fillna(0) + frame["town"].map({"rome": 0.0, "oslo": 2.0, "lima": 4.0})
    tables = [
        frame,
        frame.iloc[::-1].iloc[::-1].set_index(np.arange(80) + 7),
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame),
        {"size": frame["size"].tolist(), "town": frame["town"].tolist()},
    ]
    expected = clone(METHODS[name]).fit(frame, y).predict_interval(frame)
    assert np.isfinite(expected).all()
    for table in tables:
        model = clone(METHODS[name]).fit(table, y.tolist())
        np.testing.assert_array_equal(model.predict_interval(table), expected)
        assert model.feature_names_in_.tolist() == ["size", "town"]
    swapped = clone(METHODS[name]).fit(frame, y).predict_interval(frame[["town", "size"]])
    np.testing.assert_array_equal(swapped, expected)


@pytest.mark.parametrize("name", METHODS)
def test_lists_arrays_and_sparse_matrices(name):
    X, y = data(50)
    X[X < 0.3] = 0.0
    expected = clone(METHODS[name]).fit(X, y).predict_interval(X)
    for table in (X.tolist(), sparse.csr_matrix(X), sparse.coo_matrix(X)):
        np.testing.assert_array_equal(clone(METHODS[name]).fit(table, y).predict_interval(table), expected)


@pytest.mark.parametrize("name", METHODS)
def test_rows_of_weight_zero_count_as_absent(name):
    X, y = data(70)
    weight = np.where(np.arange(70) % 5 == 2, 0.0, 1.0 + np.arange(70) % 3)
    some = weight > 0
    model = clone(METHODS[name]).fit(X, y, sample_weight=weight)
    expected = clone(METHODS[name]).fit(X[some], y[some], sample_weight=weight[some])
    np.testing.assert_array_equal(model.predict_interval(NEW, 0.7), expected.predict_interval(NEW, 0.7))
    assert set(model.calibration_rows_) <= set(np.flatnonzero(some))
    np.testing.assert_array_equal(model.calibration_rows_, np.flatnonzero(some)[expected.calibration_rows_])


def test_folds_speak_of_the_rows_as_given():
    X, y = data(30)
    weight = np.ones(30)
    weight[[0, 7]] = 0.0
    folds = list(KFold(3).split(X))
    model = Conformal(Ridge(), method="cv+", cv=folds).fit(X, y, sample_weight=weight)
    assert model.calibration_rows_.tolist() == np.flatnonzero(weight).tolist()


@pytest.mark.parametrize(
    "model",
    [
        Conformal(DecisionTreeRegressor(max_depth=3), method="cv+"),
        Conformal(GradientBoostingRegressor(loss="quantile", n_estimators=3), method="cqr"),
    ],
    ids=["folds", "levels"],
)
def test_jobs_do_not_show(model):
    X, y = data(50)
    with parallel_config(backend="threading"):
        one, *others = (
            clone(model).set_params(n_jobs=n_jobs).fit(X, y).predict_interval(NEW) for n_jobs in (1, 2, 5)
        )
    for other in others:
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("method", ["split", "jackknife+", "cqr"])
def test_threads_of_a_forest_do_not_show(method):
    X, y = data(50)
    one, *others = (
        Conformal(RandomForestRegressor(20, n_jobs=n_jobs, random_state=0), method=method)
        .fit(X, y)
        .predict_interval(NEW)
        for n_jobs in (1, 2, 5)
    )
    for other in others:
        np.testing.assert_array_equal(one, other)


def test_the_seed_draws_the_rows_held_out():
    X, y = data(100)
    rows = [tuple(Conformal(Ridge(), random_state=seed).fit(X, y).calibration_rows_) for seed in (0, 0, 1)]
    assert rows[0] == rows[1] != rows[2]
    assert len(rows[0]) == 25
    nothing = [tuple(Conformal(Ridge()).fit(X, y).calibration_rows_) for _ in range(2)]
    assert nothing[0] == nothing[1]


def test_works_with_the_tools_of_scikit_learn():
    X, y = data(60)
    search = GridSearchCV(
        Conformal(KNeighborsRegressor()), {"estimator__n_neighbors": [3, 9], "calibration_size": [0.2]}, cv=2
    ).fit(X, y)
    assert np.isfinite(search.best_estimator_.predict_interval(NEW, 0.8)).all()
    pipeline = make_pipeline(StandardScaler(), Conformal(make_pipeline(StandardScaler(), Ridge())))
    pipeline.set_params(conformal__method="cv+").fit(X, y)
    assert pipeline.score(X, y) > 0.1
    inner = pipeline[-1].predict_interval(pipeline[:-1].transform(NEW))
    assert inner.shape == (len(NEW), 2)
