"""Targets with heavy tails and very large ones are learnt as xgboost learns them.

One outlier must not take the bits of all other rows: sums are exact integers whose unit the outlier sets.
Columns have at most 200 distinct values, so that both libraries choose among the same splits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weald import XGBRegressor

xgboost = pytest.importorskip("xgboost")

PARAMETERS: dict[str, Any] = {"n_estimators": 30, "learning_rate": 0.3, "max_depth": 4, "n_jobs": 2}

#: what a row's target is made of: a signal with a standard deviation of about 1, and a generator for noise
TARGETS = {
    "cauchy": lambda signal, rng: signal + rng.standard_cauchy(len(signal)),
    "lognormal": lambda signal, rng: np.exp(signal + 3 * rng.normal(size=len(signal))),
    "one outlier": lambda signal, rng: np.where(np.arange(len(signal)) == 7, 1e9, signal),
    "times 1e12": lambda signal, rng: 1e12 * (signal + rng.normal(size=len(signal)) / 2),
    "about 1e12": lambda signal, rng: 1e12 + 1e10 * (signal + rng.normal(size=len(signal)) / 2),
}


def table(name: str, n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Four columns of 200 values and the target of that name."""
    rng = np.random.default_rng(seed)
    X = np.floor(rng.random((n_rows, 4)) * 200).astype(np.float32)
    signal = np.sin(X[:, 0] / 25) + (X[:, 1] > 120) - X[:, 2] / 150
    return X, TARGETS[name](signal.astype(np.float64), rng)


def r_squared(y: np.ndarray, predicted: np.ndarray) -> float:
    return float(1 - np.sum((y - predicted) ** 2) / np.sum((y - y.mean()) ** 2))


#: few rows have wide integers, many may have 16-bit ones where the tails allow it; exact is always wide
@pytest.mark.parametrize(("tree_method", "n_rows"), [("exact", 2000), ("hist", 2000), ("hist", 80_000)])
@pytest.mark.parametrize("name", TARGETS)
def test_as_good_as_xgboost(name, tree_method, n_rows):
    X, y = table(name, n_rows)
    parameters = PARAMETERS | {"tree_method": tree_method}
    ours = XGBRegressor(**parameters).fit(X, y)
    theirs = xgboost.XGBRegressor(**parameters).fit(X, y)
    mine, yours = np.asarray(ours.predict(X), np.float64), theirs.predict(X).astype(np.float64)
    errors = [np.sqrt(np.mean((y - predicted) ** 2)) for predicted in (mine, yours)]
    assert errors[0] == pytest.approx(errors[1], rel=0.01)
    assert r_squared(y, mine) == pytest.approx(r_squared(y, yours), abs=0.01)
    assert r_squared(y, mine) > 0.005  # something was learnt
    spread = np.std(yours)
    assert np.median(np.abs(mine - yours)) < 0.01 * spread


@pytest.mark.parametrize("tree_method", ["exact", "hist"])
def test_outliers_do_not_take_the_bits_of_other_rows(tree_method):
    """The median error on the usual rows stays near that of xgboost, not only the mean of all."""
    X, y = table("cauchy", 20_000, seed=1)
    parameters = PARAMETERS | {"tree_method": tree_method}
    usual = np.abs(y) < 5
    errors = [
        np.median(np.abs(y - np.asarray(model(**parameters).fit(X, y).predict(X)))[usual])
        for model in (XGBRegressor, xgboost.XGBRegressor)
    ]
    assert errors[0] == pytest.approx(errors[1], rel=0.05)


@pytest.mark.parametrize("factor", [2.0**40, 2.0**-40])
def test_the_scale_of_the_target_does_not_matter(factor):
    """A power of two scales every float alike: the same trees, the leaves times the factor.

    xgboost makes no split that gains less than 1e-6, and learns nothing of a target times 1e-12.
    """
    X, y = table("lognormal", 3000, seed=2)
    parameters = PARAMETERS | {"tree_method": "hist", "gamma": 0.0}
    plain, scaled = (XGBRegressor(**parameters).fit(X, y * scale) for scale in (1.0, factor))
    for name in ("column", "threshold", "missing_left", "slot"):
        np.testing.assert_array_equal(getattr(plain.forest_, name), getattr(scaled.forest_, name))
    np.testing.assert_allclose(scaled.forest_.value, factor * plain.forest_.value, rtol=1e-12)
