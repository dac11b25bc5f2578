"""Draws of a round: rows by their gradients, columns by their weights."""

from __future__ import annotations

import numpy as np
import pytest

from weald import XGBRegressor
from weald.boosting.sampling import row_factors, tree_columns


def gradients(n_rows: int = 50_000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(2, n_rows)) ** 3, rng.random((2, n_rows))


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_the_share_is_drawn_and_sums_keep_their_expectation(share):
    g, h = gradients()
    factors = [row_factors(g, h, share, 1.0, seed) for seed in range(20)]
    assert np.mean([(f > 0).mean() for f in factors]) == pytest.approx(share, rel=0.02)
    assert np.mean([(f * h).sum() for f in factors]) == pytest.approx(h.sum(), rel=0.01)
    spread = np.std([(f * g[0]).sum() for f in factors]) / np.sqrt(20)
    assert abs(np.mean([(f * g[0]).sum() for f in factors]) - g[0].sum()) < 4 * spread


def test_chances_are_in_proportion_to_the_size_of_gradients():
    g = np.repeat([[1.0, 3.0, 100.0]], [30_000, 10_000, 5], axis=1)
    f = row_factors(g, np.zeros_like(g), 0.3, 1.0, seed=3)
    assert f[-5:].tolist() == [1.0] * 5  # always drawn
    small, large = f[:30_000], f[30_000:40_000]
    assert np.unique(small[small > 0])[0] == pytest.approx(3 * np.unique(large[large > 0])[0])
    assert (large > 0).mean() == pytest.approx(3 * (small > 0).mean(), rel=0.05)


def test_large_small_and_no_gradients():
    g, h = gradients(1000)
    whole = row_factors(g, h, 0.4, 1.0, seed=1)
    for scale in (2.0**1000, 2.0**-1000):
        np.testing.assert_array_equal(row_factors(g * scale, h * scale, 0.4, 1.0, seed=1), whole)
    assert not row_factors(g * 0, h * 0, 0.4, 1.0, seed=1).any()
    g[:, 10:] = h[:, 10:] = 0
    assert row_factors(g, h, 0.4, 1.0, seed=1)[:10].tolist() == [1.0] * 10  # fewer than asked for


@pytest.mark.parametrize("objective", ["reg:squarederror", "reg:absoluteerror"])
def test_a_model_of_rows_drawn_by_gradient(objective):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(2000, 4))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=2000) / 4
    given = {"n_estimators": 60, "max_depth": 4, "learning_rate": 0.2, "objective": objective}
    drawn = XGBRegressor(subsample=0.2, sampling_method="gradient_based", **given).fit(X[:1500], y[:1500])
    alike = XGBRegressor(subsample=0.2, **given).fit(X[:1500], y[:1500])
    whole = XGBRegressor(**given).fit(X[:1500], y[:1500])
    assert not np.array_equal(drawn.predict(X), alike.predict(X))
    error = [np.abs(model.predict(X[1500:]) - y[1500:]).mean() for model in (drawn, whole)]
    assert error[0] < 1.3 * error[1] < 0.65 * np.abs(y[1500:]).mean()
    all_rows = XGBRegressor(subsample=1.0, sampling_method="gradient_based", **given).fit(X[:1500], y[:1500])
    np.testing.assert_array_equal(all_rows.predict(X), whole.predict(X))


def test_weights_count_in_the_draw():
    """Rows of weight 0 are absent, whatever their gradients."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 2))
    y = X[:, 0].copy()
    y[200:] = 1e6
    weight = np.repeat([1.0, 0.0], 200)
    given = {"n_estimators": 20, "subsample": 0.5, "sampling_method": "gradient_based"}
    said = XGBRegressor(**given).fit(X, y, sample_weight=weight).predict(X)
    assert np.abs(said).max() < 10


@pytest.mark.parametrize("seed", [31, 83, 143])
def test_rows_left_out_are_trained_on_what_they_are_predicted(seed):
    """They lie between the values of the rows drawn, and go where their own values go."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 40))
    X = rng.normal(size=(n, 2)).round(0)
    X[rng.random(X.shape) < 0.15] = np.nan
    y = np.exp(np.nan_to_num(X[:, 0]) + rng.normal(size=n) * 0.5)
    model = XGBRegressor(
        n_estimators=3,
        max_depth=2,
        max_bin=6,
        tree_method="hist",
        objective="count:poisson",
        sampling_method="gradient_based",
        subsample=0.6,
        random_state=seed,
        eval_metric="rmse",
    ).fit(X, y, eval_set=[(X, y)])
    followed = model.evals_result_["validation_0"]["rmse"][-1]
    assert followed == pytest.approx(np.sqrt(np.mean((model.predict(X) - y) ** 2)), rel=1e-12)


def test_columns_of_weight_0_are_never_drawn():
    weights = np.array([0.0, 1.0, 5.0, 0.0, 1.0])
    drawn = [tree_columns(seed, 5, 0.4, weights) for seed in range(200)]
    assert {len(columns) for columns in drawn} == {2}
    assert not {0, 3} & {j for columns in drawn for j in columns}
    often = np.bincount(np.concatenate(drawn), minlength=5)
    assert often[2] > 1.5 * max(often[1], often[4])
    assert tree_columns(0, 5, 1.0, weights) == [1, 2, 4]
