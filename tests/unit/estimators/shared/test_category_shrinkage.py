"""`category_shrinkage_`: the variance components of every categorical column (docs/methods/trees.md, 8b)."""

from __future__ import annotations

import logging
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.naive_bayes import GaussianNB

import weald
from weald import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

N = 4000
STUMP = DecisionTreeRegressor(max_depth=1)
FEW = {"n_estimators": 2, "random_state": 0}


def levels(places: np.ndarray) -> pd.Categorical:
    """Categories of these numbers."""
    return pd.Categorical([f"level {k}" for k in places])


def simulated(n_levels: int, spread: float, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Levels whose means have this standard deviation, under noise of standard deviation 1."""
    rng = np.random.default_rng(seed)
    place = np.where(rng.random(N) < 0.5, rng.integers(0, n_levels, N), rng.integers(0, n_levels // 4 + 1, N))
    y = spread * rng.normal(size=n_levels)[place] + rng.normal(size=N)
    return pd.DataFrame({"level": levels(place), "x": rng.normal(size=N)}), y


def by_definition(level: pd.Series, y: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Equation (8b), line by line."""
    weight = np.ones(len(y)) if weight is None else weight * (weight > 0).sum() / weight.sum()
    cells = [
        (weight[rows], y[rows]) for rows in (np.asarray(level == k) & (weight > 0) for k in level.unique())
    ]
    cells = [(w, values) for w, values in cells if len(w)]
    n, n_means = sum(len(w) for w, _ in cells), len(cells)
    mean = np.average(y, weights=weight)
    within = sum((w * (v - np.average(v, weights=w)) ** 2).sum() for w, v in cells)
    between = sum(w.sum() * (np.average(v, weights=w) - mean) ** 2 for w, v in cells)
    noise = within / (n - n_means)
    spread = max(0.0, (between - (n_means - 1) * noise) / (n - sum(w.sum() ** 2 for w, _ in cells) / n))
    return noise / spread if spread else math.inf


@pytest.mark.parametrize("n_levels", [20, 300])
@pytest.mark.parametrize("spread", [0.3, 1.0, 3.0])
def test_it_recovers_what_was_simulated(n_levels, spread):
    X, y = simulated(n_levels, spread)
    found = STUMP.fit(X, y).category_shrinkage_
    assert list(found) == ["level"]
    np.testing.assert_allclose(found["level"], by_definition(X["level"], y), rtol=1e-9)
    # The variance between L levels is known within sqrt(2 / L) of itself, and that within them better.
    np.testing.assert_allclose(found["level"], spread**-2, rtol=3 * math.sqrt(2 / n_levels) + 0.1)


def test_weights_count_rows_and_absent_ones_do_not():
    X, y = simulated(50, 0.5)
    weight = np.random.default_rng(1).integers(0, 3, N).astype(float)
    found = STUMP.fit(X, y, weight).category_shrinkage_["level"]
    np.testing.assert_allclose(found, by_definition(X["level"], y, weight), rtol=1e-9)
    assert STUMP.fit(X, y, 8 * weight).category_shrinkage_["level"] == found
    kept = weight > 0
    assert STUMP.fit(X[kept], y[kept], weight[kept]).category_shrinkage_["level"] == found


def test_classes_add_their_indicators_and_outputs_add_up():
    X, y = simulated(50, 0.7)
    classes = np.digitize(y, [-1.0, 1.0])
    found = DecisionTreeClassifier(max_depth=1).fit(X, classes).category_shrinkage_["level"]
    indicators = np.eye(3)[classes]
    as_numbers = STUMP.fit(X, indicators).category_shrinkage_["level"]
    np.testing.assert_allclose(found, as_numbers, rtol=1e-9)
    # The first of two outputs is a thousand times the other, and decides.
    both = STUMP.fit(X, np.column_stack([1000 * y, X["x"]])).category_shrinkage_["level"]
    np.testing.assert_allclose(both, STUMP.fit(X, y).category_shrinkage_["level"], rtol=1e-3)


def test_chance_is_infinite_and_no_noise_is_zero():
    rng = np.random.default_rng(0)
    place = rng.integers(0, 400, N)
    X = pd.DataFrame(
        {
            "once": [f"row {i}" for i in range(N)],
            "same": ["only"] * N,
            "chance": levels(place),
            "number": rng.normal(size=N),
        }
    )
    X["tells all"] = levels(np.digitize(X["number"], [0.0]))
    found = STUMP.fit(X, (X["number"] > 0).astype(float)).category_shrinkage_
    assert found["once"] == found["same"] == math.inf
    assert found["chance"] > 100
    assert found["tells all"] == 0
    assert "number" not in found


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e140])
def test_no_order_of_rows_and_no_scale_shows(scale):
    X, y = simulated(80, 0.5)
    mixed = np.random.default_rng(1).permutation(N)
    one = STUMP.fit(X, scale * y).category_shrinkage_
    assert STUMP.fit(X.iloc[mixed], scale * y[mixed]).category_shrinkage_ == one
    np.testing.assert_allclose(one["level"], STUMP.fit(X, y).category_shrinkage_["level"], rtol=1e-9)


def test_every_kind_of_table_and_missing_levels():
    X, y = simulated(30, 0.5)
    X["level"] = X["level"].astype(object).where(np.arange(N) % 7 > 0)
    one = STUMP.fit(X, y).category_shrinkage_
    assert STUMP.fit(pl.from_pandas(X), y).category_shrinkage_ == one
    assert STUMP.fit(X.to_numpy(object), y).category_shrinkage_ == {0: one["level"]}
    known = X["level"].notna()
    assert STUMP.fit(X[known], y[known]).category_shrinkage_["level"] == pytest.approx(one["level"])


MODELS = [
    DecisionTreeRegressor(max_depth=2),
    RandomForestRegressor(max_depth=2, **FEW),
    ExtraTreesRegressor(max_depth=2, **FEW),
    BaggingRegressor(DecisionTreeRegressor(max_depth=2), **FEW),
    AdaBoostRegressor(**FEW),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_all_of_them_tell_it_until_they_are_saved(model):
    X, y = simulated(30, 0.5)
    model.fit(X, y)
    assert model.category_shrinkage_ == STUMP.fit(X, y).category_shrinkage_
    assert pickle.loads(pickle.dumps(model)).category_shrinkage_ == model.category_shrinkage_
    loaded = weald.load(model.to_bytes())
    assert not hasattr(loaded, "category_shrinkage_")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert model.fit(X[["x"]], y).category_shrinkage_ == {}


def test_members_of_another_kind_have_none():
    X, y = simulated(30, 0.5)
    for make in (AdaBoostClassifier, BaggingClassifier):
        model = make(**FEW).fit(X, y > 0)
        assert model.category_shrinkage_
        model.set_params(estimator=GaussianNB()).fit(X[["x"]], y > 0)
        assert not hasattr(model, "category_shrinkage_")


@pytest.mark.parametrize("make", [DecisionTreeClassifier, RandomForestClassifier, AdaBoostClassifier])
def test_a_hundred_thousand_levels_and_none_of_them_new(make, caplog):
    n = 100_000
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    X = pd.DataFrame({"id": pd.Categorical.from_codes(np.arange(n), [f"row {i}" for i in range(n)]), "x": x})
    few = {} if make is DecisionTreeClassifier else {"n_estimators": 2, "random_state": 0}
    model = make(**few).fit(X, x > 0)
    assert model.category_shrinkage_ == {"id": math.inf}
    new = pd.DataFrame({"id": [f"new {i}" for i in range(500)], "x": rng.normal(size=500)})
    with caplog.at_level(logging.WARNING, logger="weald"):
        predicted = model.predict(new)
    assert np.mean(predicted == (new["x"] > 0)) > 0.99
    assert "No category of column 'id' was there" in caplog.text


def test_several_labels_outputs_and_weights_of_zero_beside_an_id():
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    X = pd.DataFrame({"id": [f"row {i}" for i in range(600)], "x": x})
    three = np.digitize(x, [-0.5, 0.5])
    weight = (np.arange(600) % 3 > 0).astype(float)
    y = np.column_stack([three, x > 0])
    for make in (
        DecisionTreeClassifier,
        DecisionTreeRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    ):
        few = {"n_estimators": 10, "random_state": 0} if "Forest" in make.__name__ else {}
        model = make(**few).fit(X, y, sample_weight=weight)
        new = rng.normal(size=500)
        table = pd.DataFrame({"id": ["new"] * 500, "x": new})
        truth = np.column_stack([np.digitize(new, [-0.5, 0.5]), new > 0])
        assert np.mean(np.round(model.predict(table)) == truth) > 0.98
        assert model.category_shrinkage_ == {"id": math.inf}
