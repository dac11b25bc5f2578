"""Uncertainty of forests on simulated data: what intervals of 90 % hold, quantiles of known noise."""

from __future__ import annotations

import numpy as np
import pytest

from weald import ExtraTreesRegressor, RandomForestRegressor


def friedman(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Friedman's function of five columns, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 5))
    signal = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, signal + rng.normal(0, 1, n_rows)


def uneven(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise that is skewed and grows along the first column."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 3))
    return X, 3 * X[:, 1] + (0.2 + X[:, 0]) * rng.exponential(size=n_rows)


@pytest.mark.parametrize("source", [friedman, uneven])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (RandomForestRegressor, {}),
        (RandomForestRegressor, {"min_samples_leaf": 5, "max_samples": 0.6, "max_features": "third"}),
        (ExtraTreesRegressor, {"bootstrap": True}),
    ],
    ids=["forest", "smooth forest", "extra trees"],
)
def test_coverage_of_90_percent_intervals(source, kind, options):
    held = []
    for seed in range(6):
        X, y = source(250, seed)
        new, truth = source(300, seed + 1000)
        model = kind(60, random_state=seed, **options).fit(X, y)
        ends = model.predict_interval(new, train=(X, y), coverage=0.9)
        held.append(np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])))
    assert 0.88 <= np.mean(held) <= 0.95, held


def test_coverage_with_some_rows_left_out():
    held = []
    for seed in range(6):
        X, y = friedman(400, seed)
        new, truth = friedman(300, seed + 1000)
        model = RandomForestRegressor(60, random_state=seed).fit(X, y)
        ends = model.predict_interval(new, train=(X, y), coverage=0.9, max_rows=200)
        held.append(np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])))
    assert 0.88 <= np.mean(held) <= 0.95, held


def test_quantiles_follow_the_noise():
    """Exponential noise whose scale grows along a column: its quantiles are known."""
    X, y = uneven(3000, 0)
    model = RandomForestRegressor(60, min_samples_leaf=20, random_state=0).fit(X, y)
    new = np.array([[0.1, 0.5, 0.5], [0.5, 0.5, 0.5], [0.9, 0.5, 0.5]])
    asked = np.array([0.1, 0.5, 0.9])
    truth = 1.5 + (0.2 + new[:, :1]) * -np.log(1 - asked)
    found = model.predict_quantiles(new, asked, train=(X, y))
    np.testing.assert_allclose(found, truth, atol=0.35)
    # The upper tail widens with the scale of the noise; one width for all would not.
    spread = found[:, 2] - found[:, 1]
    assert spread[2] > 2 * spread[0]
