"""The jackknife: closed forms equal one call per row left out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import weald
from weald.errors import DataError, ParameterError

FUNCTIONS = {
    "mean": np.mean,
    "median": np.median,
    "variance": lambda x: np.var(x, ddof=1),
    "std": lambda x: np.std(x, ddof=1),
    "trimmed_mean": lambda x: stats.trim_mean(x, 0.2),
    "quantile": lambda x: np.quantile(x, 0.3),
}
NUMBERS = st.lists(st.integers(-20, 20).map(float), min_size=3, max_size=15)


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=30, deadline=None)
@given(values=NUMBERS)
def test_closed_forms_equal_calls(name, values):
    named = weald.jackknife(values, name, trim=0.2, q=0.3)
    called = weald.jackknife(values, FUNCTIONS[name], vectorized=False)
    np.testing.assert_allclose(named.values, called.values, atol=1e-9)
    np.testing.assert_allclose(named.estimate, called.estimate, atol=1e-9)


def test_correlation_and_other_pairs():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 30))
    named = weald.jackknife((x, y), "correlation")
    np.testing.assert_allclose(named.values, weald.jackknife((x, y), stats.pearsonr, vectorized=False).values)
    both = weald.jackknife((x, y), "mean")
    np.testing.assert_allclose(both.values, weald.jackknife(x - y, "mean").values)


def test_figures_are_their_definitions():
    x = np.random.default_rng(0).exponential(size=25)
    found = weald.jackknife(x, "variance", ddof=0)
    n, values = 25, found.values
    np.testing.assert_allclose(found.pseudo_values, n * found.estimate - (n - 1) * values)
    np.testing.assert_allclose(found.corrected, found.pseudo_values.mean())
    np.testing.assert_allclose(found.bias, (n - 1) * (values.mean() - found.estimate))
    np.testing.assert_allclose(found.variance, (n - 1) / n * ((values - values.mean()) ** 2).sum())
    np.testing.assert_allclose(found.standard_error**2, found.variance)
    # The jackknife makes the variance that divides by n the one that divides by n - 1.
    np.testing.assert_allclose(found.corrected, x.var(ddof=1))
    np.testing.assert_allclose(weald.jackknife(x, "mean").standard_error, stats.sem(x))


def test_vectors_and_axes():
    x = np.random.default_rng(0).normal(size=12)
    several = weald.jackknife(x, "quantile", q=[0.25, 0.75])
    assert several.values.shape == (12, 2)
    along = weald.jackknife(x, np.mean)
    np.testing.assert_allclose(along.values, weald.jackknife(x, np.mean, vectorized=False).values)
    np.testing.assert_allclose(along.values, weald.jackknife(x, np.mean, vectorized=False, n_jobs=2).values)


def test_a_row_that_is_needed():
    with pytest.raises(DataError, match="without row 0"):
        weald.jackknife([1.0, 2.0], "variance")
    with pytest.raises(DataError, match="same value in every row"):
        weald.jackknife(([1.0, 1.0], [1.0, 2.0]), "correlation")
    with pytest.raises(DataError, match="without row 2"):
        weald.jackknife(([1.0, 1.0, 5.0], [1.0, 2.0, 3.0]), "correlation")
    with pytest.raises(ParameterError, match="ddof"):
        weald.jackknife([1.0, 2.0], "variance", ddof=-1)
    assert "jackknife" in repr(weald.jackknife([1.0, 2.0, 4.0], "mean"))
