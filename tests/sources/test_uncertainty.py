"""Jackknife and bootstrap by the sources: the sample maximum of uniforms, BCa's formula, coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import weald

N = 10


def maximum(x, axis=-1):
    return np.max(x, axis=axis)


def test_bias_of_the_maximum():
    """-1/(n + 1) becomes -1/(n (n + 1)): the corrected maximum adds (n - 1)/n of the last gap."""
    plain, corrected = [], []
    for seed in range(3000):
        x = np.random.default_rng(seed).random(N)
        found = weald.jackknife(x, "quantile", q=1.0)
        first, second = np.sort(x)[-1:-3:-1]
        assert found.corrected == pytest.approx(first + (N - 1) / N * (first - second))
        plain.append(found.estimate - 1)
        corrected.append(found.corrected - 1)
    assert np.mean(plain) == pytest.approx(-1 / (N + 1), abs=0.005)
    assert np.mean(corrected) == pytest.approx(-1 / (N * (N + 1)), abs=0.006)


def test_pseudo_values():
    x = np.random.default_rng(0).random(N)
    found = weald.jackknife(x, maximum)
    np.testing.assert_allclose(found.pseudo_values, N * found.estimate - (N - 1) * found.values)
    np.testing.assert_allclose(found.pseudo_values.mean(), found.corrected)


def test_variance_of_the_maximum():
    """The source: mean squared errors .00903 of the jackknife and .00108 of the bootstrap, a ratio of 8.4."""
    truth = N / ((N + 1) ** 2 * (N + 2))
    by_jackknife, by_bootstrap = [], []
    for seed in range(500):
        x = np.random.default_rng(seed).random(N)
        by_jackknife.append(weald.jackknife(x, "quantile", q=1.0).variance)
        found = weald.bootstrap(x, "quantile", q=1.0, method="percentile", n_resamples=500, random_state=seed)
        by_bootstrap.append(found.standard_error**2)
    errors = [np.mean((np.array(each) - truth) ** 2) for each in (by_jackknife, by_bootstrap)]
    assert errors[0] / errors[1] == pytest.approx(8.5, abs=1)


def test_bca_ends_by_the_formula():
    x = np.random.default_rng(0).exponential(size=40)
    found = weald.bootstrap(x, "mean", n_resamples=1999, random_state=0)
    drawn, estimate = found.distribution, found.estimate
    z0 = stats.norm.ppf(np.mean(drawn < estimate) + np.mean(drawn == estimate) / 2)
    left_out = weald.jackknife(x, "mean").values
    d = left_out.mean() - left_out
    a = (d**3).sum() / (6 * (d**2).sum() ** 1.5)
    z = stats.norm.ppf([0.025, 0.975])
    ends = np.quantile(drawn, stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z))))
    np.testing.assert_allclose(found.interval(), ends)


@pytest.mark.parametrize("statistic", ["mean", "median", "correlation", "area"])
def test_coverage_of_95_percent_intervals(statistic):
    """A small version of benchmarks/compare/coverage.py: 400 samples of 100 rows."""
    held = 0
    for seed in range(400):
        rng = np.random.default_rng(1000 + seed)
        x, noise = rng.normal(size=100), rng.normal(size=100)
        if statistic == "area":
            y = np.arange(100) % 2
            found = weald.score_interval(x + y, None, y, "roc_auc")
            low, high, truth = found.low, found.high, stats.norm.cdf(1 / np.sqrt(2))
        else:
            data = (x, 0.5 * x + np.sqrt(0.75) * noise) if statistic == "correlation" else x
            low, high = weald.bootstrap(data, statistic, n_resamples=499, random_state=seed).interval()
            truth = 0.5 if statistic == "correlation" else 0.0
        held += low <= truth <= high
    assert 0.92 <= held / 400 <= 0.98
