"""`cat_penalty`: a split by categories is chosen by its gain less what its categories gain by chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from weald import RandomForestClassifier, RandomForestRegressor
from weald.errors import ParameterError

N = 400
ONE_SPLIT = {"n_estimators": 1, "max_depth": 1, "bootstrap": False, "max_features": None, "random_state": 0}


def table(seed: int, n_levels: int) -> pd.DataFrame:
    """A number, and categories that mean nothing."""
    rng = np.random.default_rng(seed)
    levels = pd.Categorical([f"level {k}" for k in rng.integers(0, n_levels, N)])
    return pd.DataFrame({"x": rng.normal(size=N).round(1), "level": levels})


def loss_of(y: np.ndarray, numbers: bool) -> float:
    """Sum of squares, or the number of rows times the Gini impurity."""
    shares = y.mean()
    return float(((y - shares) ** 2).sum()) if numbers else 2 * len(y) * shares * (1 - shares)


def gain(y: np.ndarray, left: np.ndarray, numbers: bool) -> float:
    """By how much a split lowers the loss."""
    return loss_of(y, numbers) - loss_of(y[left], numbers) - loss_of(y[~left], numbers)


def best_gains(X: pd.DataFrame, y: np.ndarray, numbers: bool) -> tuple[float, float]:
    """Of all thresholds of the number, and of all sets that stand first in the order of the means."""
    values = X["x"].to_numpy()
    by_number = max(gain(y, values <= t, numbers) for t in np.unique(values)[:-1])
    means = pd.Series(y).groupby(X["level"].to_numpy()).mean().sort_values().index
    sets = (np.isin(X["level"], means[:k]) for k in range(1, len(means)))
    return by_number, max(gain(y, left, numbers) for left in sets)


@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("n_levels", [3, 15, 80])
@pytest.mark.parametrize("penalty", [0, 0.25, 1, 4])
def test_the_better_column_after_the_penalty_is_split(numbers, n_levels, penalty):
    chosen = set()
    for seed in range(8):
        X = table(seed, n_levels)
        rng = np.random.default_rng(100 + seed)
        y = 0.4 * (X["x"].to_numpy() > 0.5) + rng.normal(size=N)
        y = y if numbers else (y > 0).astype(float)
        make = RandomForestRegressor if numbers else RandomForestClassifier
        model = make(cat_penalty=penalty, **ONE_SPLIT).fit(X, y)
        by_number, by_set = best_gains(X, y, numbers)
        chance = penalty * (X["level"].nunique() - 1) * loss_of(y, numbers) / N
        expected = int(by_set - chance > by_number)
        assert model.forest_.column.tolist() == [expected]
        # What is told is the whole gain.
        np.testing.assert_allclose(model.forest_.gain[0], (by_number, by_set)[expected], rtol=1e-9)
        chosen.add(expected)
    if n_levels == 80 and penalty in (0, 4):
        assert chosen == {int(penalty == 0)}


def test_meaningless_categories_cost_less():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(1200, 4)), columns=list("abcd"))
    X["id"] = pd.Categorical([f"id {k}" for k in rng.integers(0, 400, len(X))])
    y = (X["a"] + X["b"] + rng.normal(size=len(X)) > 0).to_numpy()
    scores = [
        RandomForestClassifier(60, cat_penalty=penalty, oob_score=True, random_state=0).fit(X, y).oob_score_
        for penalty in (0, 1)
    ]
    assert scores[1] > scores[0] + 0.02


def test_the_same_for_any_scale_of_weights_and_target():
    X, rng = table(3, 40), np.random.default_rng(5)
    y = rng.normal(size=N) + X["x"].to_numpy()
    plain = RandomForestRegressor(5, random_state=0, cat_penalty=1).fit(X, y)
    scaled = RandomForestRegressor(5, random_state=0, cat_penalty=1).fit(X, 8 * y, np.full(N, 4.0))
    np.testing.assert_array_equal(plain.forest_.column, scaled.forest_.column)
    np.testing.assert_array_equal(8 * plain.predict(X), scaled.predict(X))


@pytest.mark.parametrize("value", [-0.5, "much", None])
def test_bad_values_are_named(value):
    with pytest.raises(ParameterError, match="`cat_penalty` of RandomForestClassifier must be"):
        RandomForestClassifier(cat_penalty=value).fit([[1.0], [2.0]], [0, 1])
