"""The jackknife+ after the bootstrap, against loops over trees and rows; which rows it leaves out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from weald import ExtraTreesRegressor, RandomForestRegressor
from weald.uncertainty import intervals, trees
from weald.uncertainty.intervals import Lacks, drawn_rows, interval_ranks
from weald.uncertainty.trees import Drawn


def data(n_rows: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, X[:, 0] + rng.normal(0, 0.5, n_rows)


def interval_by_loops(model, X, X_train, y_train, alpha, present=None) -> np.ndarray:
    values = np.stack([tree.predict(X) for tree in model.estimators_])
    own = np.stack([tree.predict(X_train) for tree in model.estimators_])
    rows = range(len(y_train)) if present is None else np.flatnonzero(present)
    out = []
    for x in range(len(X)):
        low, high = [], []
        for i in rows:
            without = [t for t in range(len(model)) if model.bags_.counts(t, present)[i] == 0]
            error = abs(y_train[i] - np.mean([own[t, i] for t in without]))
            mean = np.mean([values[t, x] for t in without])
            low.append(mean - error)
            high.append(mean + error)
        n = len(low)
        out.append(
            (sorted(low)[math.floor(alpha * (n + 1)) - 1], sorted(high)[math.ceil((1 - alpha) * (n + 1)) - 1])
        )
    return np.array(out)


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
@pytest.mark.parametrize("cells", [1 << 22, 90])
def test_equals_loops_over_trees_and_rows(monkeypatch, kind, cells):
    for module in (trees, intervals):
        monkeypatch.setattr(module, "CELLS", cells)
    X, y = data(38)
    model = kind(25, bootstrap=True, max_samples=0.8, random_state=2).fit(X, y)
    new = data(11, seed=1)[0]
    found = model.predict_interval(new, train=(X, y), coverage=0.75)
    expected = interval_by_loops(model, new, X, y, alpha=0.25)
    assert found.shape == (11, 2)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_rows_of_weight_zero_are_not_left_out():
    X, y = data(40)
    weight = np.where(np.arange(40) % 4 == 0, 0.0, 1.5)
    model = RandomForestRegressor(25, random_state=2).fit(X, y, sample_weight=weight)
    new = data(5, seed=1)[0]
    found = model.predict_interval(new, train=(X, y), coverage=0.75, sample_weight=weight)
    expected = interval_by_loops(model, new, X, y, alpha=0.25, present=weight > 0)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_several_outputs_each_have_theirs():
    X, y = data(40)
    both = np.column_stack([y, 10 * X[:, 1]])
    model = RandomForestRegressor(25, random_state=0).fit(X, both)
    found = model.predict_interval(X[:6], train=(X, both), coverage=0.8)
    assert found.shape == (6, 2, 2)
    assert (found[:, 0] < found[:, 1]).all()
    inside = (found[:, 0] <= model.predict(X[:6])) & (model.predict(X[:6]) <= found[:, 1])
    assert inside.all()


def test_wider_for_a_larger_coverage():
    X, y = data(60)
    model = RandomForestRegressor(40, random_state=0).fit(X, y)
    ends = [model.predict_interval(X, train=(X, y), coverage=c) for c in (0.05, 0.5, 0.8, 0.95)]
    for narrow, wide in itertools.pairwise(ends):
        assert (narrow[:, 0] >= wide[:, 0]).all()
        assert (narrow[:, 1] <= wide[:, 1]).all()
    assert (ends[0][:, 0] <= ends[0][:, 1]).all()


def test_max_rows_leaves_out_that_many(monkeypatch):
    X, y = data(60)
    model = RandomForestRegressor(40, random_state=0).fit(X, y)
    asked = []
    real = intervals.Lacks
    monkeypatch.setattr(intervals, "Lacks", lambda drawn, rows: asked.append(rows) or real(drawn, rows))
    model.predict_interval(X, train=(X, y), max_rows=30)
    model.predict_interval(X, train=(X, y), max_rows=None)
    assert [len(rows) for rows in asked] == [30, 60]


def test_drawn_rows_are_distinct_spread_and_told_by_the_seed():
    rows = np.arange(5, 10005)
    drawn = drawn_rows(rows, 1000, seed=7)
    assert len(np.unique(drawn)) == 1000
    assert np.isin(drawn, rows).all()
    assert (np.diff(drawn) > 0).all()
    assert abs(drawn.mean() - rows.mean()) < 4 * rows.std() / math.sqrt(1000)
    np.testing.assert_array_equal(drawn, drawn_rows(rows, 1000, seed=7))
    assert not np.array_equal(drawn, drawn_rows(rows, 1000, seed=8))
    assert drawn_rows(rows, None, seed=7) is rows
    assert drawn_rows(rows, 10000, seed=7) is rows


@pytest.mark.parametrize("n_rows", [9, 10, 99, 100, 999])
@pytest.mark.parametrize("percent", [50, 75, 90, 95])
def test_ranks_are_those_of_the_definition(n_rows, percent):
    lower, upper = interval_ranks(n_rows, percent / 100)
    assert lower == (100 - percent) * (n_rows + 1) // 100
    assert upper == -(-percent * (n_rows + 1) // 100)


def test_lacks_tell_any_stretch_of_rows(monkeypatch):
    X, y = data(45)
    model = RandomForestRegressor(7, random_state=0).fit(X, y)
    drawn = Drawn(model.bags_, 7, None)
    rows = np.arange(1, 45, 2)
    expected = np.stack([model.bags_.counts(t)[rows] == 0 for t in range(7)])
    lacks = Lacks(drawn, rows)
    for places in (slice(0, 22), slice(3, 9), slice(8, 16), slice(21, 22)):
        np.testing.assert_array_equal(lacks.of_rows(places), expected[:, places])
    np.testing.assert_array_equal(lacks.n_trees_without, expected.sum(axis=0))
