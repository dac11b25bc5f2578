"""Scores with intervals, whose work is bounded."""

from __future__ import annotations

import numpy as np

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
