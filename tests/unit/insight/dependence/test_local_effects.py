"""Accumulated local effects: equal to their definition, the terms of additive models, their errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from reference.dependence import joint_effects, level_effects, local_effects
from sklearn.linear_model import LinearRegression

import weald
from weald.data.adapters import to_table
from weald.errors import DataError, ParameterError
from weald.inspection.dependence.likeness import order_by_likeness

RNG = np.random.default_rng(3)
N = 240
X = pd.DataFrame(
    {
        "a": RNG.normal(size=N),
        "b": RNG.normal(size=N),
        "n": RNG.integers(0, 5, N),
        "k": RNG.choice(list("uvwx"), N),
        "o": pd.Categorical(RNG.choice(["lo", "mid", "hi"], N), ["lo", "mid", "hi"], ordered=True),
    }
)
Y = (X["a"] * X["b"] + X["n"] + 2 * (X["k"] == "v") + (X["o"] == "hi")).to_numpy()
WEIGHT = RNG.random(N)
MODEL = weald.XGBRegressor(n_estimators=20, max_depth=4).fit(X, Y)
FOREST = weald.RandomForestClassifier(5, random_state=0).fit(X, np.digitize(Y, [1, 3]))


def predict(table):
    return MODEL.predict(table)[:, None]


@pytest.mark.parametrize("column", ["a", "n"])
@pytest.mark.parametrize("bins", [1, 7, 500])
def test_numbers(column, bins):
    found = weald.accumulated_local_effects(MODEL, X, column, bins=bins, sample_weight=WEIGHT)
    edges = found.grid[0]
    assert edges[0] == X[column].min()
    assert edges[-1] == X[column].max()
    assert np.isin(edges, X[column]).all()
    assert len(edges) <= bins + 1
    np.testing.assert_allclose(
        found.values, local_effects(predict, X, column, edges, WEIGHT), rtol=0, atol=1e-9
    )
    assert found.counts.sum() == N


@pytest.mark.parametrize("column", ["k", "o"])
def test_levels(column):
    for model, ask in ((MODEL, predict), (FOREST, FOREST.predict_proba)):
        found = weald.accumulated_local_effects(model, X, column, sample_weight=WEIGHT)
        levels = found.grid[0].tolist()
        assert sorted(levels) == sorted(X[column].unique())
        expected = level_effects(ask, X, column, levels, WEIGHT)
        np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-9)
    if column == "o":
        assert levels == ["lo", "mid", "hi"]


def test_two_columns():
    found = weald.accumulated_local_effects(MODEL, X, ("a", "b"), bins=4, sample_weight=WEIGHT)
    expected = joint_effects(predict, X, ("a", "b"), found.grid, WEIGHT)
    np.testing.assert_allclose(found.values[0], expected, rtol=0, atol=1e-9)
    assert found.counts.sum() == N
    # The effect of a · b, which is all that they do together, is in it: positive in two corners.
    assert found.values[0, 0, 0] > 0.2 < found.values[0, -1, -1]
    assert found.values[0, 0, -1] < -0.2 > found.values[0, -1, 0]


def test_any_model_is_asked_the_same():
    numbers = X[["a", "b", "n"]]
    model = weald.GradientBoostingRegressor(n_estimators=10, random_state=0).fit(numbers, Y)
    for columns in ("a", "n", ("a", "n")):
        by_trees = weald.accumulated_local_effects(model, numbers, columns, bins=5)
        by_asking = weald.accumulated_local_effects(model.predict, numbers, columns, bins=5)
        np.testing.assert_allclose(by_trees.values, by_asking.values, rtol=0, atol=1e-9)
        np.testing.assert_allclose(by_trees.standard_error, by_asking.standard_error, rtol=0, atol=1e-9)


def test_additive_models_give_their_terms():
    numbers = np.column_stack([X["a"], X["a"] + 0.1 * X["b"], X["n"]])  # the first two are nearly the same
    model = LinearRegression().fit(numbers, numbers @ [2.0, -3.0, 0.5])
    for j, slope in enumerate([2.0, -3.0, 0.5]):
        found = weald.accumulated_local_effects(model, numbers, j, bins=10)
        np.testing.assert_allclose(np.diff(found.values[0]), slope * np.diff(found.grid[0]), atol=1e-9)
        np.testing.assert_allclose(found.standard_error, 0.0, atol=1e-9)
    joint = weald.accumulated_local_effects(model, numbers, (0, 1), bins=6)
    np.testing.assert_allclose(joint.values, 0.0, atol=1e-9)
    stumps = weald.XGBRegressor(n_estimators=40, max_depth=1).fit(X, Y)
    for column in ("a", "k", "o"):
        effect = weald.accumulated_local_effects(stumps, X, column, bins=1000)
        curve = weald.partial_dependence(stumps, X, column, grid=effect.grid[0])
        order = [curve.grid[0].tolist().index(point) for point in effect.grid[0]]
        moved = effect.values - curve.values[:, order]
        np.testing.assert_allclose(moved, moved[0, 0], atol=1e-9)
    np.testing.assert_allclose(weald.accumulated_local_effects(stumps, X, ("k", "n")).values, 0.0, atol=1e-9)


def test_effects_are_zero_on_average():
    found = weald.accumulated_local_effects(MODEL, X, "k", sample_weight=WEIGHT)
    shares = [WEIGHT[X["k"] == level].sum() for level in found.grid[0]]
    assert abs(np.average(found.values[0], weights=shares)) < 1e-12


def test_standard_errors_are_those_of_other_rows():
    """Between tables drawn anew, effects at the same edges spread as the errors say."""
    rng = np.random.default_rng(0)

    def function(table):
        return table[:, 0] * table[:, 1]

    found, told = [], []
    for _ in range(150):
        rows = np.column_stack([rng.integers(0, 4, 400), rng.normal(size=400)]).astype(float)
        effect = weald.accumulated_local_effects(function, rows, 0)
        found.append(effect.values[0])
        told.append(effect.standard_error[0])
    ratio = np.mean(told, axis=0) / np.std(found, axis=0)
    assert (np.abs(np.log(ratio)) < 0.22).all(), ratio


def test_missing_values_have_a_point_of_their_own():
    table = X.copy()
    table.loc[::6, "a"] = np.nan
    table.loc[::7, "k"] = None
    model = weald.RandomForestRegressor(5, random_state=0).fit(table, Y)
    for column in ("a", "k"):
        found = weald.accumulated_local_effects(model, table, column, bins=5)
        lacks = table[column].isna()
        assert found.missing == (True,)
        assert found.counts[-1] == lacks.sum()
        rows = table[lacks]
        edges, n = found.grid[0][:-1], found.counts[:-1].astype(float)
        if column == "a":  # half of a bin counts at either end
            by_bin = n[1:] + np.append(n[0], np.zeros(len(n) - 2))
            n = np.append(by_bin, 0) / 2 + np.append(0, by_bin) / 2
        at_edges = [model.predict(rows.assign(**{column: edge})) for edge in edges]
        expected = (model.predict(rows) - np.average(at_edges, axis=0, weights=n)).mean()
        np.testing.assert_allclose(found.values[0, -1], expected, atol=1e-9)
    pair = weald.accumulated_local_effects(model, table, ("a", "k"))
    assert pair.missing == (False, False)


def test_categories_that_are_alike_stand_side_by_side():
    rng = np.random.default_rng(0)
    place = {"far": 10.0, "near": 0.0, "middle": 5.0, "next": 2.0}
    level = rng.choice(list(place), 400)
    table = to_table({"k": level.tolist(), "z": [place[each] + rng.normal() for each in level]})
    names = table.columns[0].levels
    found = order_by_likeness(table, 0, np.arange(4), np.ones(400))
    order = [names[i] for i in found]
    assert order in (["near", "next", "middle", "far"], ["far", "middle", "next", "near"])


def test_threads_and_libraries_do_not_show():
    polars = pytest.importorskip("polars")
    table = X[["a", "b", "n", "k"]]
    model = weald.XGBClassifier(n_estimators=5).fit(table, Y > 1)
    first = weald.accumulated_local_effects(model, table, ["a", "k", ("a", "k")], n_jobs=1)
    for other, n_jobs in ((table, 2), (table, 5), (polars.from_pandas(table), 1)):
        again = weald.accumulated_local_effects(model, other, ["a", "k", ("a", "k")], n_jobs=n_jobs)
        for a, b in zip(first, again, strict=True):
            assert a.values.tobytes() == b.values.tobytes()
            assert a.standard_error.tobytes() == b.standard_error.tobytes()
    frame = again[2].to_frame()
    assert isinstance(frame, polars.DataFrame)
    assert frame.columns == ["a", "k", "value", "standard_error", "count"]


def test_columns_without_anything_to_step_over():
    table = X.assign(same=1.0, one="x")
    model = weald.DecisionTreeRegressor(max_depth=2).fit(table, X["n"])
    for column in ("same", "one", "b"):
        found = weald.accumulated_local_effects(model, table, column)
        np.testing.assert_array_equal(found.values, 0.0)
    pair = weald.accumulated_local_effects(model, table, ("same", "one"))
    assert pair.values.shape == (1, 1, 1)
    assert weald.accumulated_local_effects(model, table[:1], "n").values.tolist() == [[0.0]]


def test_bad_input():
    with pytest.raises(DataError, match="Did you mean 'k'"):
        weald.accumulated_local_effects(MODEL, X, "K")
    with pytest.raises(ParameterError, match="`bins`"):
        weald.accumulated_local_effects(MODEL, X, "a", bins=0)
    with pytest.raises(DataError, match="0 sample"):
        weald.accumulated_local_effects(MODEL, X[:0], "a")


def test_progress_is_shown_on_demand(capsys):
    weald.accumulated_local_effects(MODEL, X, ["a", "k"], progress=True)
    assert "column 2/2" in capsys.readouterr().err
