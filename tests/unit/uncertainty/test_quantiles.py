"""Quantile regression forests, against loops over trees and rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from weald import ExtraTreesRegressor, RandomForestRegressor
from weald.data.adapters import to_table
from weald.uncertainty import quantiles as module
from weald.uncertainty import trees
from weald.uncertainty.quantiles import row_weights
from weald.uncertainty.trees import Drawn, TrainingRows

ASKED = [0.0, 0.1, 0.25, 0.5, 0.9, 1.0]


def data(n_rows: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, (X[:, 0] + rng.normal(0, 1, n_rows)).round(1)  # with ties


def weights_by_loops(model, X, X_train, weight=None) -> np.ndarray:
    """(new rows, training rows)"""
    n_train = len(X_train)
    weight = np.ones(n_train) if weight is None else weight
    mine, theirs = model.apply(X), model.apply(X_train)
    out = np.zeros((len(X), n_train))
    for t in range(len(model)):
        counts = model.bags_.counts(t, weight > 0) * weight
        for x in range(len(X)):
            together = counts * (theirs[:, t] == mine[x, t])
            out[x] += together / together.sum() / len(model)
    return out


def quantile_by_loop(weights, y, q) -> float:
    """The smallest y with a cumulative weight of at least q."""
    values = sorted({value for value, weight in zip(y, weights, strict=True) if weight > 0})
    for value in values:
        if weights[y <= value].sum() >= q - 1e-10:
            return value
    raise AssertionError


def quantiles_by_loops(weights, y, asked=ASKED) -> np.ndarray:
    return np.array([[quantile_by_loop(row, y, q) for q in asked] for row in weights])


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (RandomForestRegressor, {"min_samples_leaf": 4}),
        (RandomForestRegressor, {"max_samples": 0.5}),
        (RandomForestRegressor, {"bootstrap": False, "max_features": 1, "min_samples_leaf": 3}),
        (ExtraTreesRegressor, {"max_depth": 3}),
    ],
)
def test_equals_loops_over_trees_and_rows(kind, options):
    X, y = data()
    model = kind(12, random_state=1, **options).fit(X, y)
    new = data(15, seed=1)[0]
    found = model.predict_quantiles(new, ASKED, train=(X, y))
    np.testing.assert_array_equal(found, quantiles_by_loops(weights_by_loops(model, new, X), y))


@pytest.mark.parametrize("kept", [True, False])
def test_small_blocks_give_the_same(monkeypatch, kept):
    X, y = data()
    model = RandomForestRegressor(12, min_samples_leaf=3, random_state=1).fit(X, y)
    new = data(15, seed=1)[0]
    whole = model.predict_quantiles(new, ASKED, train=(X, y))
    monkeypatch.setattr(module, "CELLS", 130)  # two trees at a time
    monkeypatch.setattr(module, "_PAIRS", 60 * 12 if kept else 100)
    monkeypatch.setattr(trees, "CELLS", 50)
    np.testing.assert_array_equal(model.predict_quantiles(new, ASKED, train=(X, y)), whole)


def test_weights_of_the_fit_count():
    X, y = data()
    weight = np.random.default_rng(2).choice([0.0, 0.5, 2.0], len(y))
    model = RandomForestRegressor(12, min_samples_leaf=4, random_state=1).fit(X, y, sample_weight=weight)
    new = data(15, seed=1)[0]
    found = model.predict_quantiles(new, ASKED, train=(X, y), sample_weight=weight)
    expected = weights_by_loops(model, new, X, weight)
    np.testing.assert_array_equal(found, quantiles_by_loops(expected, y))


def test_the_weighted_mean_is_the_prediction():
    X, y = data()
    model = RandomForestRegressor(20, min_samples_leaf=2, random_state=0).fit(X, y)
    new = data(15, seed=1)[0]
    table, n_threads = model._read(new)
    train = TrainingRows(Drawn(model.bags_, 20, None), to_table(X), y[:, None], None)
    ((places, weights),) = row_weights(model.forest_, table, train, n_threads=n_threads)
    assert places == slice(0, 15)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(weights @ y, model.predict(new), rtol=1e-10)


def test_of_one_leaf_they_are_the_quantiles_of_the_target():
    y = np.random.default_rng(0).normal(size=37)
    X = np.zeros((37, 1))
    model = RandomForestRegressor(3, bootstrap=False).fit(X, y)
    asked = np.linspace(0, 1, 38)  # exactly at the steps
    found = model.predict_quantiles([[0.0]], asked, train=(X, y))[0]
    np.testing.assert_array_equal(found, np.sort(y)[np.maximum(0, np.arange(38) - 1)])


def test_they_never_fall_as_q_rises():
    X, y = data(200)
    model = RandomForestRegressor(30, min_samples_leaf=5, random_state=0).fit(X, y)
    found = model.predict_quantiles(X, np.linspace(0, 1, 41), train=(X, y))
    assert (np.diff(found, axis=1) >= 0).all()
    assert (np.diff(found, axis=1) > 0).any()


def test_of_a_constant_target_they_are_constant():
    X = data()[0]
    y = np.full(60, 0.1)
    model = RandomForestRegressor(10, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict_quantiles(X, ASKED, train=(X, y)), 0.1)


def test_shapes():
    X, y = data()
    single = RandomForestRegressor(8, random_state=0).fit(X, y)
    assert single.predict_quantiles(X[:4], [0.1, 0.9], train=(X, y)).shape == (4, 2)
    median = single.predict_quantiles(X[:4], 0.5, train=(X, y))
    np.testing.assert_array_equal(median, single.predict_quantiles(X[:4], [0.5], train=(X, y))[:, 0])
    assert median.shape == (4,)


def test_several_outputs_each_have_theirs():
    X, y = data()
    both = np.column_stack([y, -3 * y**2])
    model = RandomForestRegressor(8, min_samples_leaf=3, random_state=0).fit(X, both)
    found = model.predict_quantiles(X[:5], ASKED, train=(X, both))
    assert found.shape == (5, len(ASKED), 2)
    weights = weights_by_loops(model, X[:5], X)
    for k in range(2):
        np.testing.assert_array_equal(found[:, :, k], quantiles_by_loops(weights, both[:, k]))
    assert model.predict_quantiles(X[:5], 0.5, train=(X, both)).shape == (5, 2)


def test_frames_with_categories_and_missing_values():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"tree": rng.choice(["ash", "fir", "oak"], 80), "size": rng.normal(size=80)})
    X.loc[rng.random(80) < 0.2, "size"] = np.nan
    y = pd.Series((X["tree"] == "oak") * 5.0 + rng.normal(size=80))
    model = RandomForestRegressor(10, min_samples_leaf=3, random_state=0).fit(X, y)
    found = model.predict_quantiles(X, [0.1, 0.5, 0.9], train=(X, y))
    expected = quantiles_by_loops(weights_by_loops(model, X, X), y.to_numpy(), [0.1, 0.5, 0.9])
    np.testing.assert_array_equal(found, expected)
