"""The narrow path of Newton trees: gradients of 16 bits, and trees that equal those of the wide path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from unit.boosting.newton.growing import HISTOGRAM, assert_same, codes_of, grow, options, random_problem

from weald import engine
from weald.data.codes import Codes

# rounding


def narrow(g, h, powers=(0, 0), *, seed=0, round_=0) -> tuple[np.ndarray, np.ndarray]:
    packed = engine.to_narrow(
        np.asarray(g, np.float64), np.asarray(h, np.float64), powers, seed=seed, round_=round_
    )
    return packed.view(np.int16)[0::2].astype(np.int64), packed.view(np.uint16)[1::2].astype(np.int64)


def test_whole_numbers_are_kept():
    g, h = np.arange(-32767, 32768), np.arange(65535)
    assert np.array_equal(narrow(g, g * 0)[0], g)
    assert np.array_equal(narrow(h * 0, h)[1], h)
    assert np.array_equal(narrow(g / 8, g * 0, (3, 0))[0], g)


def test_rounding_is_to_a_neighbour():
    rng = np.random.default_rng(2)
    g, h = rng.uniform(-32767, 32767, 50_000), rng.uniform(0, 65535, 50_000)
    ng, nh = narrow(g, h)
    assert (np.abs(ng - g) < 1).all()
    assert (np.abs(nh - h) < 1).all()
    assert ((ng == np.floor(g)) | (ng == np.ceil(g))).all()


def test_rounding_is_unbiased_in_every_row():
    """Over rounds, the mean error of each row stays within what chance allows."""
    g = np.array([0.5, 0.25, -0.75, 100.1, -3000.9, 1e-3, -1e-3, 12345.678])
    h = np.array([0.5, 0.9, 1e-3, 60000.3, 1.5, 0.0, 7.25, 0.1])
    rounds = 4000
    drawn = [narrow(g, h, seed=7, round_=r) for r in range(rounds)]
    for k, values in enumerate((g, h)):
        mean = np.mean([pair[k] for pair in drawn], axis=0)
        part = values - np.floor(values)
        error = np.sqrt(part * (1 - part) / rounds)
        assert (np.abs(mean - values) <= 4.5 * error + 1e-9).all()


def test_rounding_is_unbiased_over_rows():
    n = 200_000
    for part in (0.1, 0.5, 0.9):
        g, h = narrow(np.full(n, -part), np.full(n, part))
        error = np.sqrt(part * (1 - part) / n)
        assert abs(g.mean() + part) < 4.5 * error
        assert abs(h.mean() - part) < 4.5 * error
        # the two are rounded apart: |correlation| of independent draws is about 1 / sqrt(n)
        assert abs(np.corrcoef(g, h)[0, 1]) < 4.5 / np.sqrt(n)


def test_rounding_depends_on_seed_round_and_row():
    g, h = np.full(1000, 0.5), np.full(1000, 0.5)
    first = narrow(g, h, seed=1, round_=2)
    again = narrow(g, h, seed=1, round_=2)
    longer = narrow(np.full(2000, 0.5), np.full(2000, 0.5), seed=1, round_=2)
    for k in (0, 1):
        assert np.array_equal(first[k], again[k])
        assert np.array_equal(first[k], longer[k][:1000])
        assert len(set(first[k].tolist())) == 2  # rows differ
        for other in (narrow(g, h, seed=2, round_=2), narrow(g, h, seed=1, round_=3)):
            assert 0.35 < np.mean(first[k] == other[k]) < 0.65


def test_values_beyond_the_range_are_clamped():
    g, h = narrow([1e9, -1e9, 32767.5, -32768.0, 1e308], [1e9, -5.0, 65535.5, -0.0, 1e308], (1, 1))
    assert g.tolist() == [32767, -32767, 32767, -32767, 32767]
    assert h.tolist() == [65535, 0, 65535, 0, 65535]


def test_narrow_arrays_of_different_length_raise():
    with pytest.raises(RuntimeError, match="as many hessians"):
        engine.to_narrow(np.zeros(3), np.zeros(2), (0, 0), seed=0, round_=0)


# trees


def pack(g: np.ndarray, h: np.ndarray) -> np.ndarray:
    packed = np.zeros((len(g), 2), np.uint16)
    packed[:, 0], packed[:, 1] = g.astype(np.int16).view(np.uint16), h
    return packed.view(np.uint32).ravel()


def assert_narrow_is_wide(codes: Codes, g: np.ndarray, h: np.ndarray, lambda_: float, **settings: Any):
    pairs = np.stack([g, h], axis=1).astype(np.int64)
    wide = grow(codes, pairs, lambda_, search=HISTOGRAM, **settings)
    for n_threads in (1, 2, 5):
        tree = engine.grow_narrow_tree(codes.native, pack(g, h), lambda_, options(**settings), n_threads)
        assert_same(tree, wide, f"{n_threads} threads")
    return wide


def test_packing_is_that_of_to_narrow():
    g, h = np.array([-32767, -1, 0, 5, 32767]), np.array([0, 1, 65535, 7, 65535])
    packed = engine.to_narrow(g.astype(float), h.astype(float), (0, 0), seed=0, round_=0)
    assert np.array_equal(packed, pack(g, h))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("settings", [{"max_depth": 6}, {"min_rows_leaf": 20}, {"max_leaves": 9}])
def test_narrow_tree_is_the_wide_one(seed, settings):
    rng = np.random.default_rng(seed)
    columns, _ = random_problem(seed, 3000)
    g, h = rng.integers(-32767, 32768, 3000), rng.integers(0, 65536, 3000)
    for max_bins in (None, 31):
        tree = assert_narrow_is_wide(codes_of(*columns, max_bins=max_bins), g, h, 1.0, **settings)
        assert len(tree["slot"]) > 10


@pytest.mark.parametrize("side", [1, -1, 0])
def test_extreme_values_do_not_overflow(side):
    """More than 2^16 rows of the largest values in one code: the packed halves are flushed in time."""
    n = 200_001
    rng = np.random.default_rng(3)
    few = (rng.random(n) < 0.1).astype(float)  # one code holds about 180,000 rows
    third = rng.integers(0, 3, n).astype(float)
    third[rng.random(n) < 0.4] = np.nan
    sign = np.where(few + rng.random(n) > 0.9, 1, -1) if side == 0 else np.full(n, side)
    h = np.full(n, 65535)
    codes = codes_of(few, third, np.zeros(n))
    tree = assert_narrow_is_wide(codes, 32767 * sign, h, 10.0, max_depth=3, must_gain=False)
    assert tree["lanes"][tree["slot"] < 0].sum(axis=0).tolist() == [32767 * int(sign.sum()), 65535 * n]
    assert len(tree["slot"]) > 5


def test_narrow_arrays_of_another_length_raise():
    codes = codes_of(np.arange(4.0))
    with pytest.raises(RuntimeError, match="one value a row"):
        engine.grow_narrow_tree(codes.native, np.zeros(3, np.uint32), 0.0, options(), 1)
