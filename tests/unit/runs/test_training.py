"""Scores with intervals, whose work is bounded."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import r2_score

from weald import DecisionTreeRegressor
from weald.runs import training


def test_intervals_of_many_rows_are_from_fewer_resamples_and_say_so(monkeypatch):
    X = np.arange(100.0)[:, None]
    y = X[:, 0] + np.random.default_rng(0).normal(size=100)
    model = DecisionTreeRegressor(max_depth=3).fit(X, y)
    assert not any("resamples" in each.note for each in training.scores(model, X, y, "regression"))
    monkeypatch.setattr(training, "RESAMPLED_ROWS", 50_000)
    few = training.scores(model, X, y, "regression")
    assert all("from 500 resamples of 100 rows" in each.note for each in few)


def test_of_two_rows_there_is_a_score_without_an_interval():
    X = np.arange(100.0)[:, None]
    model = DecisionTreeRegressor(max_depth=3).fit(X, X[:, 0])
    r2, rmse, _ = training.scores(model, X[:2], np.array([0.0, 9.0]), "regression")
    assert r2.value == r2_score([0.0, 9.0], model.predict(X[:2]))
    assert np.isnan([r2.low, r2.high]).all()
    assert r2.note == "The rows (2) are too few for an interval; give more."
    assert rmse.low < rmse.value < rmse.high
    assert rmse.note == ""


def test_of_one_row_there_is_no_such_score():
    X = np.arange(100.0)[:, None]
    model = DecisionTreeRegressor(max_depth=3).fit(X, X[:, 0])
    r2, _, mae = training.scores(model, X[:1], np.array([5.0]), "regression")
    assert np.isnan(r2.value)
    assert np.isnan(r2.baseline)
    assert r2.note == "The rows (1) are too few for this score; give more."
    assert mae.value == abs(5.0 - model.predict(X[:1])[0])
