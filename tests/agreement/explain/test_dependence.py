"""Partial dependence is scikit-learn's, of its own estimators and of weald's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import weald

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = X[:, 0] * X[:, 1] + np.sin(X[:, 2])
LABELS = np.digitize(Y, [-0.5, 0.5])
MODELS = {
    "weald forest": weald.RandomForestRegressor(10, random_state=0).fit(X, Y),
    "weald booster": weald.XGBClassifier(n_estimators=10).fit(X, LABELS),
    "weald two classes": weald.GradientBoostingClassifier(n_estimators=10).fit(X, LABELS > 0),
    "forest": RandomForestRegressor(5, random_state=0).fit(X, Y),
    "booster": HistGradientBoostingClassifier(max_iter=5).fit(X, LABELS),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()).fit(X, LABELS),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("columns", [0, (1, 2)])
def test_the_same_values(name, columns):
    model = MODELS[name]
    theirs = partial_dependence(
        model, X, np.ravel(columns).tolist(), kind="both", method="brute", grid_resolution=8
    )
    ours = weald.partial_dependence(model, X, columns, kind="both", grid=8)
    for a, b in zip(ours.grid, theirs["grid_values"], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    np.testing.assert_allclose(ours.average, theirs["average"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(ours.individual, theirs["individual"], rtol=0, atol=1e-9)


def test_the_same_default_grid_of_a_frame_with_weights():
    frame = pd.DataFrame(X, columns=list("abcd"))
    weight = RNG.random(len(X))
    model = weald.XGBRegressor(n_estimators=10).fit(frame, Y)
    theirs = partial_dependence(model, frame, ["c"], method="brute", sample_weight=weight)
    ours = weald.partial_dependence(model, frame, "c", sample_weight=weight)
    np.testing.assert_allclose(ours.grid[0], theirs["grid_values"][0], rtol=1e-12)
    np.testing.assert_allclose(ours.values, theirs["average"], rtol=0, atol=1e-9)
