"""Partial dependence equals asking again and again, for every family and kind of column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from reference.dependence import curves
from support.dependence import CLASSIFIERS, LABELS, REGRESSORS, WEIGHT, N, X, Y, check, matrix

import weald
from weald.errors import DataError
from weald.insight.dependence.any_model import AnyModel
from weald.insight.dependence.responses import ask
from weald.inspection.dependence.curves import TreeSum


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_of_trees(name):
    model = REGRESSORS[name].fit(X, Y - Y.min())
    asked = ask(model, X)
    apart = name in ("median of members", "from another model")
    assert isinstance(asked.summed, AnyModel if apart else TreeSum)
    for found in weald.partial_dependence(model, X, kind="both", grid=6, sample_weight=WEIGHT):
        check(found, lambda table: matrix(model.predict(table)), WEIGHT)
    pair = weald.partial_dependence(model, X, ("size", "city"), kind="both", grid=3)
    check(pair, lambda table: matrix(model.predict(table)))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_of_trees(name):
    model = CLASSIFIERS[name].fit(X, LABELS)
    assert isinstance(ask(model, X).summed, TreeSum)
    found = weald.partial_dependence(model, X, ["size", "state", ("city", "rooms")], kind="both", grid=4)
    for each in found:
        assert each.targets == tuple(model.classes_)
        check(each, model.predict_proba)
    two = CLASSIFIERS[name].fit(X, LABELS == "high")
    for target in (None, True, False):
        one = weald.partial_dependence(two, X, "city", kind="both", target=target)
        k = int(target is not False)
        assert one.targets == (bool(k),)
        check(one, lambda table: two.predict_proba(table)[:, [k]])  # noqa: B023


@pytest.mark.parametrize("name", ["gradient boosting", "xgboost", "AdaBoost"])
@pytest.mark.parametrize("labels", [LABELS, LABELS == "low"], ids=["three", "two"])
def test_decision_functions_and_centred_curves(name, labels):
    model = CLASSIFIERS[name].fit(X, labels)
    for centred in (False, True):
        found = weald.partial_dependence(
            model, X, "size", kind="both", grid=5, response="decision_function", centred=centred
        )
        check(found, lambda table: matrix(model.decision_function(table)), centred=centred)
    pair = weald.partial_dependence(model, X, ("rooms", "city"), kind="both", centred=True)
    wanted = slice(1, None) if len(np.unique(labels)) == 2 else slice(None)
    check(pair, lambda table: model.predict_proba(table)[:, wanted], centred=True)


def test_several_outputs():
    both = np.column_stack([Y, -2 * Y])
    model = weald.RandomForestRegressor(4, random_state=0).fit(X, both)
    found = weald.partial_dependence(model, X, "size", kind="both", grid=4)
    assert found.targets == (0, 1)
    check(found, model.predict)
    second = weald.partial_dependence(model, X, "size", grid=4, target=1)
    np.testing.assert_array_equal(second.values[0], found.values[1])
    labels = np.column_stack([LABELS, np.where(Y > 2, "yes", "no")])
    forest = weald.RandomForestClassifier(4, random_state=0).fit(X, labels)
    several = weald.partial_dependence(forest, X, "size", kind="both", grid=4)
    assert several.targets[:2] == ((0, "high"), (0, "low"))
    check(several, lambda table: np.concatenate(forest.predict_proba(table), axis=1))


def test_a_forest_that_splits_by_combinations_is_asked_again():
    numbers = X[["size", "noise"]].fillna(0.0).to_numpy()
    model = weald.RandomForestRegressor(3, feature_combinations=2, random_state=0).fit(numbers, Y)
    assert isinstance(ask(model, numbers).summed, AnyModel)
    found = weald.partial_dependence(model, numbers, 0, grid=4)
    moved = numbers.copy()
    moved[:, 0] = found.grid[0][2]
    np.testing.assert_allclose(found.values[0, 2], model.predict(moved).mean())


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_over_random_tables(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 90))
    table = pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 5, n)),
            "k": rng.choice([None, *"abcdefgh"], n),
            "z": rng.normal(size=n),
        }
    )
    table.loc[0, "k"] = "a"  # a column of nothing but None has no type
    kind = [weald.ExtraTreesRegressor, weald.RandomForestRegressor][seed % 2]
    model = kind(3, random_state=seed).fit(table, rng.normal(size=n))
    predict = lambda rows: matrix(model.predict(rows))  # noqa: E731
    for columns in ("x", "k", ("x", "k"), ("k", "z")):
        found = weald.partial_dependence(model, table, columns, kind="both", grid={"x": [4, None, -1.0, 2.0]})
        expected = curves(predict, table, found.columns, found.grid)
        np.testing.assert_allclose(found.individual, expected, rtol=0, atol=1e-9)


def test_more_categories_than_bits_in_a_word():
    rng = np.random.default_rng(0)
    names = np.array([f"level {i}" for i in range(150)])
    table = pd.DataFrame({"k": np.concatenate([names, rng.choice(names, 450)]), "z": rng.normal(size=600)})
    target = table["k"].str[6:].astype(int) % 7 + table["z"]
    model = weald.DecisionTreeRegressor(cat_penalty=0.0).fit(table, target)
    found = weald.partial_dependence(model, table, "k", kind="both")
    expected = curves(lambda rows: matrix(model.predict(rows)), table, ["k"], found.grid)
    np.testing.assert_allclose(found.individual, expected, rtol=0, atol=1e-9)


def test_points_of_each_kind_of_column():
    model = REGRESSORS["forest"].fit(X, Y)
    size, rooms, city, state, noise = weald.partial_dependence(model, X, grid=50)
    assert len(size.grid[0]) == 51
    assert size.missing == (True,)
    present = X["size"].dropna()
    np.testing.assert_allclose(size.grid[0][[0, 49]], np.quantile(present, [0.05, 0.95]), atol=0.1)
    assert rooms.grid[0].tolist() == [0, 1, 2, 3, 4, 5]
    assert city.grid[0].tolist() == ["Basel", "Bern", "Chur", "Genf", None]
    assert state.grid[0].tolist() == ["poor", "fair", "good"]
    assert noise.missing == (False,)


def test_whole_numbers_stay_whole():
    many = pd.DataFrame({"n": np.arange(500)})
    model = weald.DecisionTreeRegressor(max_depth=3).fit(many, np.arange(500) % 50)
    points = weald.partial_dependence(model, many, "n", grid=20).grid[0]
    assert (points == np.rint(points)).all()
    assert len(points) == 20


def test_every_step_of_the_curve():
    model = weald.DecisionTreeRegressor(max_depth=4).fit(X, Y)
    found = weald.partial_dependence(model, X, "noise", grid="thresholds")
    points = found.grid[0]
    assert len(points) > 2
    # Between two thresholds the curve does not move; above the last it has a point too.
    fine = np.sort(np.concatenate([points, (points[1:] + points[:-1]) / 2]))
    dense = weald.partial_dependence(model, X, "noise", grid=fine)
    steps = found.values[0][np.searchsorted(points, fine)]
    np.testing.assert_allclose(dense.values[0], steps, atol=1e-12)
    with pytest.raises(DataError, match="made of trees"):
        weald.partial_dependence(lambda table: table[:, 0], np.zeros((3, 2)), 0, grid="thresholds")


def test_dates():
    days = pd.date_range("2024-01-01", periods=N)
    table = pd.DataFrame({"day": days, "x": X["noise"]})
    model = weald.DecisionTreeRegressor(max_depth=3).fit(table, np.arange(N) > 50)
    given = [days[3], days[90]]
    found = weald.partial_dependence(model, table, "day", grid=given)
    assert found.grid[0].dtype.kind == "M"
    assert found.values[0].tolist() == [0.0, 1.0]
    assert str(found.to_frame()["day"][0])[:10] == "2024-01-04"
