"""Row weights in whole units, and samples drawn by them."""

import numpy as np
import pytest

from weald.adaboost.weights import TOTAL, RowWeights, drawn_counts, drawn_units, in_units, weight_units


def test_weights_start_in_proportion_and_absent_rows_stay_absent():
    weights = RowWeights(np.array([1.0, 3.0, 0.0, 4.0]), 4)
    assert weights.units / TOTAL == pytest.approx([1 / 8, 3 / 8, 0, 1 / 2], abs=1e-15)
    assert weights.present.tolist() == [True, True, False, True]
    assert not weights.even
    assert RowWeights(None, 7).even
    assert RowWeights(np.array([2.0, 0.0, 2.0]), 3).even


@pytest.mark.parametrize("size", [1e-270, 1.0, 1e300])
def test_the_scale_of_weights_does_not_matter(size):
    weight = np.array([1.0, 2.0, 3.0, 1e-30])
    assert np.array_equal(RowWeights(weight * size, 4).units, RowWeights(weight, 4).units)
    assert RowWeights(weight, 4).units[3] == 1  # the smallest there is


def test_reset_goes_back():
    weights = RowWeights(None, 3)
    weights.take(np.array([1.0, 2.0, 3.0]), np.array([1, 2, 3]))
    assert not weights.at_start
    weights.reset()
    assert weights.at_start
    weights.values[0] = 0.0
    assert weights.start[0] > 0  # a copy


def test_units_round_half_to_even():
    assert in_units(np.array([0.0, 0.5, 1.5, 2.4999, 2.0**52])).tolist() == [0, 0, 2, 2, 2**52]


def test_draws_follow_the_weights():
    units = np.array([1, 0, 3, 4], np.int64) * 2**49
    counts = sum(drawn_counts(np.repeat(units, 500), 2000, 7, attempt) for attempt in range(20))
    shares = counts.reshape(4, 500).sum(axis=1) / counts.sum()
    n = counts.sum()
    expected = np.array([1, 0, 3, 4]) / 8
    assert np.abs(shares - expected).max() < 4 * 0.5 / np.sqrt(n)
    assert shares[1] == 0


def test_a_draw_is_exact_at_the_ends():
    # one row has all units but one: it is drawn unless the word falls on the very last unit
    units = np.array([2**52 - 1, 1], np.int64)
    counts = drawn_counts(units, 2, 0, 0)
    assert counts.tolist() == [2, 0]
    assert drawn_counts(np.array([0, 0, 5], np.int64), 1, 1, 0).tolist() == [0, 0, 1]


def test_draws_depend_on_seed_and_attempt_alone():
    units = np.full(100, 3, np.int64)
    first = drawn_counts(units, 100, 1, 0)
    assert np.array_equal(first, drawn_counts(units, 100, 1, 0))
    assert not np.array_equal(first, drawn_counts(units, 100, 1, 1))
    assert not np.array_equal(first, drawn_counts(units, 100, 2, 0))
    assert first.sum() == 100


def test_units_of_drawn_rows_are_those_of_all_rows_with_zeros():
    random = np.random.default_rng(0)
    values, counts = random.random(500) * 1e9 + 1.0, random.poisson(0.2, 500)
    np.testing.assert_array_equal(drawn_units(values, counts), weight_units(values * counts))
