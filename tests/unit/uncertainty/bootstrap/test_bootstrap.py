"""The bootstrap: same resamples however they are drawn, intervals by their definitions, bad input refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

import weald
from weald.errors import DataError, DataTypeError, ParameterError, UncertaintyWarning

X = np.random.default_rng(0).exponential(size=60)
Y = 0.5 * X + np.random.default_rng(1).normal(size=60)


def variance(x, axis=-1):
    return np.var(x, axis=axis, ddof=1)


def deviation(x, axis=-1):
    return np.std(x, axis=axis, ddof=1)


def trimmed(x, axis=-1):
    return stats.trim_mean(x, 0.1, axis=axis)


def top(x, axis=-1):
    return np.quantile(x, 0.83, axis=axis)


PAIRS = [
    ("mean", np.mean, {}),
    ("median", np.median, {}),
    ("variance", variance, {}),
    ("std", deviation, {}),
    ("trimmed_mean", trimmed, {}),
    ("quantile", top, {"q": 0.83}),
]


@pytest.mark.parametrize(
    "draws", [{}, {"strata": X > 1}, {"block_length": 7}], ids=["rows", "strata", "blocks"]
)
@pytest.mark.parametrize(("name", "function", "given"), PAIRS, ids=[pair[0] for pair in PAIRS])
def test_names_and_functions_see_the_same_resamples(name, function, given, draws):
    options = {"n_resamples": 199, "random_state": 5, **draws}
    named = weald.bootstrap(X, name, **given, **options)
    called = weald.bootstrap(X, function, **options)
    one_by_one = weald.bootstrap(X, function, vectorized=False, **options)
    np.testing.assert_allclose(named.distribution, called.distribution, rtol=1e-12)
    np.testing.assert_allclose(called.distribution, one_by_one.distribution, rtol=1e-12)
    np.testing.assert_allclose(named.interval(), called.interval(), rtol=1e-9)
    np.testing.assert_allclose(named.interval(), one_by_one.interval(), rtol=1e-9)


@pytest.mark.parametrize(("name", "function", "given"), PAIRS[:2], ids=["mean", "median"])
def test_studentised_by_the_core_and_by_calls(name, function, given):
    options = {"n_resamples": 60, "random_state": 5, "method": "studentised", "n_inner": 20, **given}
    named, called = (weald.bootstrap(X, each, block_length=3, **options) for each in (name, function))
    np.testing.assert_allclose(named.interval(), called.interval(), rtol=1e-9)


def test_studentised_mean_by_its_formula():
    found = weald.bootstrap(X, "mean", method="studentised", n_resamples=400, random_state=0)
    told = weald.bootstrap(
        X, np.mean, method="studentised", n_resamples=400, random_state=0, standard_error=stats.sem
    )
    np.testing.assert_allclose(found.interval(), told.interval(), rtol=1e-12)


def test_two_samples_and_pairs():
    options = {"n_resamples": 199, "random_state": 2}

    def difference(x, y, axis=-1):
        return np.median(x, axis=axis) - np.median(y, axis=axis)

    for paired in (False, True):
        named = weald.bootstrap((X, Y), "median", paired=paired, **options)
        called = weald.bootstrap((X, Y), difference, paired=paired, **options)
        np.testing.assert_allclose(named.distribution, called.distribution, rtol=1e-12)
        np.testing.assert_allclose(named.interval(), called.interval())
    means = weald.bootstrap((X, Y), "mean", paired=True, **options)
    np.testing.assert_allclose(means.distribution, weald.bootstrap(X - Y, "mean", **options).distribution)
    assert repr(means).startswith("difference of means of 60 and 60 rows")
    short = weald.bootstrap((X, Y[:20]), "mean", **options)
    assert short.n_rows == (60, 20)
    linked = weald.bootstrap((X, Y), "correlation", **options)
    called = weald.bootstrap((X, Y), stats.pearsonr, vectorized=False, paired=True, **options)
    np.testing.assert_allclose(linked.distribution, called.distribution)


@pytest.mark.parametrize("name", ["mean", "median", np.mean, lambda x: x[0] + x[-1]])
def test_jobs_do_not_show(name, monkeypatch):
    monkeypatch.setattr("weald.uncertainty.bootstrap.resampling.CELLS", 1000)
    one, two, five = (
        weald.bootstrap(X, name, n_resamples=300, random_state=1, n_jobs=n).distribution for n in (1, 2, 5)
    )
    assert one.tobytes() == two.tobytes() == five.tobytes()
    other = weald.bootstrap(X, name, n_resamples=300, random_state=2).distribution
    assert one.tobytes() != other.tobytes()


def test_draws_are_uniform():
    """Means of the rows that are drawn: each of n rows comes once per resample on average."""
    rows = np.arange(40.0)
    drawn = weald.bootstrap(
        rows,
        lambda x: np.bincount(x.astype(int), minlength=40),
        method="percentile",
        n_resamples=4000,
        random_state=0,
    ).distribution
    assert drawn.shape == (4000, 40)
    assert (drawn.sum(axis=1) == 40).all()
    np.testing.assert_allclose(drawn.mean(axis=0), 1, atol=0.08)
    np.testing.assert_allclose(drawn.var(axis=0), 1 - 1 / 40, atol=0.15)


def test_strata_keep_their_sizes_and_blocks_their_neighbours():
    labels = np.repeat(["a", "b", "c"], [5, 15, 20])
    rows = np.arange(40.0)

    def share(x):
        return np.bincount(np.searchsorted([5, 20], x, side="right"), minlength=3)

    with pytest.warns(UncertaintyWarning):  # no resample differs, which is the point
        drawn = weald.bootstrap(rows, share, strata=labels, method="percentile", n_resamples=50).distribution
    assert (drawn == [5, 15, 20]).all()

    def jumps(x):
        return np.count_nonzero(np.diff(x) != 1)

    for block, most in (("moving", 9), ("circular", 13)):
        found = weald.bootstrap(
            rows, jumps, block_length=5, block=block, method="percentile", n_resamples=50, random_state=0
        )
        assert found.distribution.max() <= most
    ends = weald.bootstrap(
        rows, lambda x: (x == 0).sum(), block_length=20, method="percentile", n_resamples=3000, random_state=0
    ).distribution.mean()
    assert ends < 0.3  # a moving block rarely holds the first row,
    ends = weald.bootstrap(
        rows,
        lambda x: (x == 0).sum(),
        block_length=20,
        block="circular",
        method="percentile",
        n_resamples=3000,
        random_state=0,
    ).distribution.mean()
    assert 0.9 < ends < 1.1  # a circular one as often as any


def test_intervals_are_their_definitions():
    found = weald.bootstrap(X, "mean", n_resamples=999, random_state=0)
    drawn, estimate = found.distribution, found.estimate
    low, high = np.quantile(drawn, [0.05, 0.95])
    np.testing.assert_allclose(found.interval(0.9, "percentile"), (low, high))
    np.testing.assert_allclose(found.interval(0.9, "basic"), (2 * estimate - high, 2 * estimate - low))
    away = stats.norm.ppf(0.95) * drawn.std(ddof=1)
    np.testing.assert_allclose(found.interval(0.9, "normal"), (estimate - away, estimate + away))
    np.testing.assert_allclose(found.interval(0.95, "percentile", "less"), (-np.inf, high))
    np.testing.assert_allclose(found.interval(0.95, "percentile", "greater"), (low, np.inf))
    assert found.standard_error == drawn.std(ddof=1)
    np.testing.assert_allclose(found.bias, drawn.mean() - estimate)


@pytest.mark.parametrize("method", ["percentile", "basic", "normal", "bca", "studentised"])
def test_p_values_are_where_intervals_end(method):
    found = weald.bootstrap(X, "mean", method=method, n_resamples=4999, random_state=0)
    for confidence in (0.8, 0.95):
        low, high = found.interval(confidence)
        assert found.p_value(low) == pytest.approx(1 - confidence, abs=0.002)
        assert found.p_value(high) == pytest.approx(1 - confidence, abs=0.002)
    edge = found.interval(0.9, alternative="greater").low
    assert found.p_value(edge, "greater") == pytest.approx(0.1, abs=0.002)
    assert found.p_value(edge, "less") == pytest.approx(0.9, abs=0.002)
    assert 0 <= found.p_value(-100.0) < 0.001
    assert method == "normal" or found.p_value(-100.0) > 0


def test_bca_counts_ties_half():
    """Of a sample that is symmetric, half of the resamples lie on either side of the median."""
    found = weald.bootstrap([-2.0, -1.0, 0.0, 0.0, 0.0, 1.0, 2.0], "median", random_state=0)
    low, high = found.interval()
    assert low == -high
    from weald.uncertainty.bootstrap.ends import shares_below

    assert shares_below(found.drawn)[0] == pytest.approx(0.5, abs=0.02)


def test_every_container_gives_the_same():
    answers = {
        weald.bootstrap(data, "mean", n_resamples=99, random_state=0).distribution.tobytes()
        for data in (X, X.tolist(), pd.Series(X), pl.Series(X), pa.array(X), tuple(X.tolist()), (X,))
    }
    assert len(answers) == 1
    frame = pd.DataFrame({"x": X, "y": Y})
    for table in (frame, pl.from_pandas(frame), pa.table({"x": X, "y": Y})):
        found = weald.bootstrap(
            table, lambda t: float(np.corrcoef(t["x"], t["y"])[0, 1]), n_resamples=20, random_state=0
        )
        expected = weald.bootstrap((X, Y), "correlation", n_resamples=20, random_state=0)
        np.testing.assert_allclose(found.distribution, expected.distribution)


def test_several_quantiles_at_once():
    asked = [0.9, 0.1, 0.5, 0.5]
    found = weald.bootstrap(X, "quantile", q=asked, n_resamples=99, random_state=0)
    assert found.distribution.shape == (99, 4)
    for k, q in enumerate(asked):
        alone = weald.bootstrap(X, "quantile", q=q, n_resamples=99, random_state=0)
        np.testing.assert_array_equal(found.distribution[:, k], alone.distribution)
        np.testing.assert_allclose((found.low[k], found.high[k]), alone.interval())
    assert found.p_value(np.array([9, 0.1, 1, 1])).shape == (4,)


def test_far_from_zero_keeps_its_digits():
    far = weald.bootstrap(X + 1e9, "std", n_resamples=50, random_state=0).distribution
    np.testing.assert_allclose(
        far, weald.bootstrap(X, "std", n_resamples=50, random_state=0).distribution, rtol=1e-6
    )


def test_result_is_readable_and_frozen():
    found = weald.bootstrap(X, "mean", random_state=0)
    assert repr(found).startswith("mean of 60 rows: ")
    assert "95 % BCa interval" in repr(found)
    with pytest.raises(AttributeError):
        found.confidence = 0.5


def test_progress_is_silent_unless_asked(capsys):
    weald.bootstrap(X, "mean", n_resamples=50)
    assert capsys.readouterr() == ("", "")
    quiet = weald.bootstrap(X, "mean", n_resamples=333, random_state=0)
    shown = weald.bootstrap(X, "mean", n_resamples=333, random_state=0, verbose=1)
    assert "part" in capsys.readouterr().err
    np.testing.assert_array_equal(quiet.distribution, shown.distribution)


def test_memory_does_not_grow_with_resamples():
    """A million rows, a function: index arrays of all resamples would take 80 MB each."""
    import tracemalloc

    big = np.zeros(10**6)
    big[::2] = 1
    tracemalloc.start()
    weald.bootstrap(big, np.mean, n_resamples=20, method="percentile", random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6


# --------------------------------------------------------------------------- bad input


def sometimes_nan(x):
    return np.nan if x[0] == X[0] else x.mean()


def test_nan_in_some_resamples():
    options = {"n_resamples": 500, "random_state": 0, "method": "percentile"}
    data = np.roll(X, 1)  # so that the data themselves have a value
    with pytest.raises(DataError, match=r"in \d+ of 500 resamples.*nan_policy='omit'"):
        weald.bootstrap(data, sometimes_nan, **options)
    with pytest.warns(UncertaintyWarning, match="left out"):
        found = weald.bootstrap(data, sometimes_nan, nan_policy="omit", **options)
    assert found.n_dropped > 0
    assert found.n_resamples == 500 - found.n_dropped


def test_a_statistic_without_any_value():
    with pytest.raises(DataError, match="of the data themselves is nan"):
        weald.bootstrap(X, lambda x: np.nan)


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -0.1, np.nan, "0.95", None, True])
def test_confidence_out_of_range(confidence):
    with pytest.raises(ParameterError, match="above 0 and below 1"):
        weald.bootstrap(X, "mean", confidence=confidence)


def test_confidence_in_percent_gets_a_hint():
    with pytest.raises(ParameterError, match=r"Use 0\.95 for 95 %"):
        weald.bootstrap(X, "mean", confidence=95)


def test_all_values_equal_are_said_aloud():
    with pytest.warns(UncertaintyWarning, match="all values of the data are equal"):
        found = weald.bootstrap(np.full(10, 3.0), "mean", n_resamples=50)
    assert found.interval() == (3.0, 3.0)


def test_too_few_values():
    with pytest.raises(DataError, match="has 1 value, of which nothing can be drawn"):
        weald.bootstrap([1.0], "mean")
    with pytest.raises(DataError, match=r"no BCa interval of these 2 rows.*percentile"):
        weald.bootstrap([1.0, 2.0], "variance", n_resamples=50)
    with pytest.raises(DataError, match="every resampled value lies below the estimate"):
        weald.bootstrap(X, lambda x: len(np.unique(x)), n_resamples=100, random_state=0).interval()


@pytest.mark.parametrize(
    ("data", "statistic", "given", "error", "words"),
    [
        (X, "meen", {}, ParameterError, "Did you mean 'mean'"),
        (X, 3, {}, DataTypeError, "a name or a function"),
        (X, "correlation", {}, DataError, r"Give \(x, y\)"),
        ((X, Y[:5]), "correlation", {}, DataError, "60 and 5 values"),
        ((X, np.ones(60)), "correlation", {}, DataError, "same value in every row"),
        ((X, Y, X), "mean", {}, ParameterError, "3 samples"),
        ((X, Y[:5]), "mean", {"paired": True}, DataError, "equally long"),
        ((X, Y), "mean", {"strata": X > 1}, ParameterError, "independent samples are strata"),
        ([1.0, np.nan, 2.0], "mean", {}, DataError, "position 1"),
        (["a", "b"], "mean", {}, DataError, "must be numbers"),
        (pd.DataFrame({"x": X}), "mean", {}, ParameterError, "data are a table"),
        (X, "mean", {"method": "percentiles"}, ParameterError, "Did you mean 'percentile'"),
        (X, "mean", {"alternative": "more"}, ParameterError, "'two-sided' or 'less'"),
        (X, "mean", {"block_length": 61}, ParameterError, "at most the number of rows, 60"),
        (X, "mean", {"block_length": 3, "strata": X > 1}, ParameterError, "exclude each other"),
        (X, "mean", {"n_resamples": 0}, ParameterError, "at least 1"),
        (X, "quantile", {"q": 90}, ParameterError, "from 0 to 1"),
        (X, "trimmed_mean", {"trim": 0.5}, ParameterError, "below 0.5"),
        (X, lambda x: np.zeros((2, 2)), {}, DataError, "one dimension"),
        (X, lambda x: 1 / 0, {}, Exception, "The statistic failed: ZeroDivisionError"),
    ],
)
def test_bad_input(data, statistic, given, error, words):
    with pytest.raises(error, match=words):
        weald.bootstrap(data, statistic, **given)


def test_what_was_not_prepared_is_told():
    found = weald.bootstrap(X, np.ptp, method="percentile", n_resamples=20)
    with pytest.raises(ParameterError, match="method='bca'"):
        found.interval(method="bca")
    with pytest.raises(ParameterError, match="method='studentised'"):
        found.interval(method="studentized")
