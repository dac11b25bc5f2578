"""Leaf values that need residuals in order, against brute force."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from weald import engine


def rows(seed, n=60, n_leaves=4):
    rng = np.random.default_rng(seed)
    y, f = np.round(rng.normal(size=n), 1), np.round(rng.normal(size=n), 1)
    return y, f, rng.integers(0, 4, n), rng.integers(-1, n_leaves, n).astype(np.int32)


def quantile(values, times, alpha, middle):
    ordered = np.sort(np.repeat(values, times))
    place = alpha * len(ordered)
    k = max(int(np.ceil(place)) - 1, 0)
    if middle and place == k + 1 < len(ordered):
        return (ordered[k] + ordered[k + 1]) / 2
    return ordered[k]


@pytest.mark.parametrize("middle", [False, True])
@pytest.mark.parametrize("alpha", [0.5, 0.25, 0.9])
def test_quantiles(alpha, middle):
    for seed in range(20):
        y, f, times, leaf = rows(seed)
        for weight in (None, times.astype(np.int64)):
            found = [
                engine.stage_quantiles(
                    y, f, weight, leaf, n_leaves=4, alpha=alpha, middle=middle, n_threads=n
                ).tolist()
                for n in (1, 2, 5)
            ]
            assert found[0] == found[1] == found[2]
            counted = np.ones(len(y), int) if weight is None else times
            for k in range(4):
                mine = leaf == k
                expected = quantile((y - f)[mine], counted[mine], alpha, middle)
                assert found[0][k] == pytest.approx(expected, abs=1e-15)


def huber(d, times, delta, gamma):
    size = np.abs(d - gamma)
    return np.sum(times * np.where(size <= delta, size**2 / 2, delta * (size - delta / 2)))


@pytest.mark.parametrize("delta", [0.05, 0.7, 30.0])
def test_hubers_rules(delta):
    for seed in range(20):
        y, f, times, leaf = rows(seed)
        one, exact = (
            engine.stage_huber(
                y, f, times.astype(np.int64), leaf, n_leaves=4, delta=delta, exact=exact, n_threads=2
            )
            for exact in (False, True)
        )
        for k in range(4):
            d, w = (y - f)[leaf == k], times[leaf == k]
            median = quantile(d, w, 0.5, False)
            step = np.average(np.clip(d - median, -delta, delta), weights=w)
            assert one[k] == pytest.approx(median + step, abs=1e-12)
            best = minimize_scalar(
                lambda x, d=d, w=w: huber(d, w, delta, x), bounds=(-8, 8), method="bounded"
            )
            assert huber(d, w, delta, exact[k]) <= best.fun + 1e-9


def test_a_flat_minimum_of_huber_is_met_in_its_middle():
    y = np.array([0.0, 10.0])
    found = engine.stage_huber(
        y, np.zeros(2), None, np.zeros(2, np.int32), n_leaves=1, delta=1.0, exact=True, n_threads=1
    )
    assert found.tolist() == [5.0]


@pytest.mark.parametrize("outlier", [1e4, 9.97e36, 1.7e308])
def test_outliers_do_not_move_the_minimum_of_huber(outlier):
    y = np.array([0.0, 0.5, 1.0, 1.25, outlier])
    found = engine.stage_huber(
        y, np.zeros(5), None, np.zeros(5, np.int32), n_leaves=1, delta=1.0, exact=True, n_threads=1
    )
    # All but the outlier are within δ of the root, which pulls with δ: 4γ − 2.75 = 1.
    assert found == pytest.approx([(2.75 + 1) / 4], rel=1e-15)


def test_residuals_from_end_to_end_of_float64():
    y = np.array([-1.7e308, 1.7e308])
    leaf = np.zeros(2, np.int32)
    settings = {"n_leaves": 1, "n_threads": 1}
    for delta in (1.0, 1.7e308):
        assert engine.stage_huber(y, 0 * y, None, leaf, delta=delta, exact=True, **settings).tolist() == [0.0]
    assert engine.stage_quantiles(y, 0 * y, None, leaf, alpha=0.5, middle=True, **settings).tolist() == [0.0]


def test_empty_leaves_and_no_delta():
    y, f, leaf = np.array([1.0, 2.0, 4.0]), np.zeros(3), np.zeros(3, np.int32)
    settings = {"n_leaves": 2, "n_threads": 1}
    assert engine.stage_huber(y, f, None, leaf, delta=0.0, exact=True, **settings).tolist() == [2.0, 0.0]
    assert engine.stage_quantiles(y, f, None, leaf, alpha=0.5, middle=True, **settings).tolist() == [2.0, 0.0]


def test_the_order_of_rows_and_repetition_do_not_show():
    y, f, times, leaf = rows(5, 300)
    order = np.random.default_rng(1).permutation(300)
    for exact in (False, True):
        settings = {"n_leaves": 4, "delta": 0.4, "exact": exact, "n_threads": 2}
        first = engine.stage_huber(y, f, times.astype(np.int64), leaf, **settings)
        turned_rows = (y[order], f[order], times[order].astype(np.int64), leaf[order])
        turned = engine.stage_huber(*turned_rows, **settings)
        again = [np.repeat(each, times) for each in (y, f, leaf)]
        repeated = engine.stage_huber(again[0], again[1], None, again[2], **settings)
        assert first.tolist() == turned.tolist() == repeated.tolist()
