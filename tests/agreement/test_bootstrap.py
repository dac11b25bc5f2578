"""The bootstrap against scipy.stats.bootstrap: the same intervals within Monte-Carlo error."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import weald

RNG = np.random.default_rng(7)
X, Y = RNG.exponential(size=50), RNG.normal(0.3, 1, 45)
RESAMPLES = 20_000


def difference(x, y, axis=-1):
    return np.mean(x, axis=axis) - np.mean(y, axis=axis)


def correlation(x, y, axis=-1):
    return stats.pearsonr(x, y, axis=axis).statistic


CASES = {
    "mean": ((X,), "mean", np.mean, False),
    "median": ((X,), "median", np.median, False),
    "standard deviation": ((X,), "std", lambda x, axis=-1: np.std(x, axis=axis, ddof=1), False),
    "difference": ((X, Y), "mean", difference, False),
    "correlation": ((X[:45], Y), "correlation", correlation, True),
}


@pytest.mark.parametrize("method", ["percentile", "basic", "bca"])
@pytest.mark.parametrize("case", CASES)
def test_equals_scipy_within_its_own_error(case, method):
    """SciPy's ends for other seeds scatter by about 1 % of a standard error's three-fold."""
    data, name, function, paired = CASES[case]
    ours = weald.bootstrap(data, name, method=method, n_resamples=RESAMPLES, random_state=0)
    theirs = stats.bootstrap(
        data, function, paired=paired, method={"bca": "BCa"}.get(method, method), n_resamples=RESAMPLES, rng=0
    )
    near = 0.06 * ours.standard_error
    if case == "median":  # few distinct values, neighbours of which are far apart
        near = np.max(np.diff(np.sort(X)[15:35]))
    np.testing.assert_allclose(ours.interval(), theirs.confidence_interval, atol=near)
    assert ours.standard_error == pytest.approx(theirs.standard_error, rel=0.03)


def test_acceleration_is_scipys():
    """On SciPy's own distribution our BCa gives SciPy's interval."""
    from weald.uncertainty.bootstrap.ends import BootstrapDraws, interval_ends

    theirs = stats.bootstrap((X,), np.mean, method="BCa", n_resamples=999, rng=1)
    drawn = theirs.bootstrap_distribution[:, None]
    acceleration = weald.bootstrap(X, "mean", n_resamples=9).drawn.acceleration
    ours = BootstrapDraws(np.array([X.mean()]), drawn, drawn.std(axis=0, ddof=1), acceleration)
    low, high = interval_ends(ours, 0.95, "bca", "two-sided")
    np.testing.assert_allclose((low[0], high[0]), theirs.confidence_interval)
