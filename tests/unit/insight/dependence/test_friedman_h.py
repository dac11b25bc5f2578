"""Friedman's H²: equal to its definition, 0 where columns add up."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from reference.dependence import h_squared, h_squared_against_rest

import weald
from weald.errors import DataError, ParameterError
from weald.insight.dependence import interaction

RNG = np.random.default_rng(5)
N = 45
X = pd.DataFrame(
    {
        "a": RNG.normal(size=N),
        "b": RNG.normal(size=N).round(1),
        "k": RNG.choice(list("uvw"), N),
        "c": RNG.normal(size=N),
    }
)
X.loc[::8, "a"] = np.nan
X.loc[::9, "k"] = None
Y = (np.nan_to_num(X["a"]) * X["b"] + X["c"] + (X["k"] == "u") * X["b"]).to_numpy()
WEIGHT = RNG.random(N)
PAIRS = [("a", "b"), ("k", "b"), ("a", "c")]


@pytest.mark.parametrize("response", ["raw", "predict_proba"])
def test_equals_its_definition(response):
    regression = weald.XGBRegressor(n_estimators=15, max_depth=3).fit(X, Y)
    labels = weald.XGBClassifier(n_estimators=8, max_depth=3).fit(X, np.digitize(Y, [-0.5, 0.7]))
    if response == "raw":
        model, predict = regression, lambda table: regression.predict(table)[:, None]
    else:
        model, predict = labels, labels.predict_proba
    found = weald.friedman_h(model, X, PAIRS, ["a", "k"], sample_weight=WEIGHT, response=response)
    assert found.h2.shape == (len(found.targets), 3)
    for k, pair in enumerate(found.pairs):
        expected = h_squared(predict, X, pair, WEIGHT)
        np.testing.assert_allclose(found.h2[:, k], expected, rtol=0, atol=1e-9)
    for k, column in enumerate(found.columns):
        expected = h_squared_against_rest(predict, X, column, WEIGHT)
        np.testing.assert_allclose(found.h2_all[:, k], expected, rtol=0, atol=1e-9)


def test_points_in_parts_and_any_model_give_the_same(monkeypatch):
    model = weald.RandomForestRegressor(4, random_state=0).fit(X, Y)
    found = weald.friedman_h(model, X, PAIRS, ["a", "k"])
    asked = weald.friedman_h(model.predict, X, PAIRS, ["a", "k"])
    np.testing.assert_allclose(asked.h2, found.h2, rtol=0, atol=1e-9)
    np.testing.assert_allclose(asked.h2_all, found.h2_all, rtol=0, atol=1e-9)
    monkeypatch.setattr(interaction, "_POINTS", 40)
    monkeypatch.setattr(interaction, "_CURVES", 200)
    parts = weald.friedman_h(model, X, PAIRS, ["a", "k"])
    np.testing.assert_allclose(parts.h2, found.h2, rtol=0, atol=1e-12)
    np.testing.assert_allclose(parts.h2_all, found.h2_all, rtol=0, atol=1e-12)


def test_additive_models_have_none():
    stumps = weald.GradientBoostingRegressor(n_estimators=30, max_depth=1).fit(X, Y)
    found = weald.friedman_h(stumps, X)
    assert len(found.pairs) == 6
    assert found.columns == ("a", "b", "k", "c")
    np.testing.assert_array_equal(found.h2, 0.0)
    np.testing.assert_array_equal(found.h2_all, 0.0)
    numbers = X[["b", "c"]].to_numpy()
    linear = weald.friedman_h(lambda table: table @ [1.0, 2.0], numbers)
    np.testing.assert_allclose(linear.h2, 0.0, atol=1e-20)
    probabilities = weald.GradientBoostingClassifier(n_estimators=30, max_depth=1).fit(X, Y > 0)
    assert weald.friedman_h(probabilities, X, [("a", "b")]).h2.max() == 0.0  # of the sum of trees
    assert weald.friedman_h(probabilities, X, [("a", "b")], response="predict_proba").h2.max() > 0


def test_a_product_is_all_interaction():
    grid = np.array([[a, b] for a in (-1.0, 0.0, 1.0) for b in (-1.0, 0.0, 1.0)])
    found = weald.friedman_h(lambda table: table[:, 0] * table[:, 1], grid)
    np.testing.assert_allclose(found.h2, 1.0)
    np.testing.assert_allclose(found.h, 1.0)
    np.testing.assert_allclose(found.h2_all, 1.0)
    np.testing.assert_allclose(found.strength, np.sqrt(4 / 9))


def test_a_constant_has_none():
    model = weald.DecisionTreeRegressor().fit(X, np.ones(N))
    found = weald.friedman_h(model, X)
    assert found.h2.max() == found.h2_all.max() == 0.0


def test_threads_do_not_show():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(1500, 3))
    model = weald.XGBRegressor(n_estimators=10).fit(table, table[:, 0] * table[:, 1] + table[:, 2])
    first = weald.friedman_h(model, table, n_jobs=1)
    for n_jobs in (2, 5):
        again = weald.friedman_h(model, table, n_jobs=n_jobs)
        assert again.h2.tobytes() == first.h2.tobytes()
        assert again.h2_all.tobytes() == first.h2_all.tobytes()
    assert first.h2[0].argmax() == 0


def test_matrix_and_frame():
    polars = pytest.importorskip("polars")
    model = weald.XGBRegressor(n_estimators=10).fit(X, Y)
    found = weald.friedman_h(model, polars.from_pandas(X), PAIRS, ["a"])
    names, matrix = found.matrix()
    assert names == ("a", "b", "k", "c")
    assert matrix[0, 1] == matrix[1, 0] == found.h2[0, 0]
    assert np.isnan(matrix[2, 3])
    frame = found.to_frame()
    assert isinstance(frame, polars.DataFrame)
    assert frame.columns == ["column", "other", "h2", "strength"]
    assert frame["other"].to_list()[-1] is None
    assert frame["h2"].to_list()[:3] == sorted(found.h2[0], reverse=True)


def test_bad_input():
    model = weald.DecisionTreeRegressor().fit(X, Y)
    with pytest.raises(DataError, match="There is no column"):
        weald.friedman_h(model, X, [("a", "nothing")])
    with pytest.raises(ParameterError, match="two columns each"):
        weald.friedman_h(model, X, ["a"])
    with pytest.raises(ParameterError, match="twice"):
        weald.friedman_h(model, X, [("a", "a")])
    with pytest.raises(ParameterError, match="list of columns"):
        weald.friedman_h(model, X, columns="a")
    with pytest.raises(ParameterError, match="list of pairs"):
        weald.friedman_h(model, X, "ab")


def test_one_pair_alone_and_progress(capsys):
    model = weald.DecisionTreeRegressor().fit(X, Y)
    found = weald.friedman_h(model, X, ("a", "b"), progress=True)
    assert found.pairs == (("a", "b"),)
    assert found.columns == ()
    assert "interaction 1/1" in capsys.readouterr().err
