"""Fixed point: the largest power that leaves room, rounding, weights."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weald import engine
from weald.data.fixed_point import common_power, to_units, weight_units

QUICK = settings(max_examples=150, deadline=None, derandomize=True)

any_float = st.floats(allow_nan=False, allow_infinity=False)
extreme = st.sampled_from(
    [0.0, -0.0, 5e-324, -5e-324, 1e-308, 2.0**-1022, 1.0, 1e308, -1e308, 1.7976931348623157e308]
)
columns = st.lists(any_float | extreme, min_size=1, max_size=40).map(np.array)
positive = st.floats(min_value=0, allow_infinity=False, exclude_min=True)


def room(values, power: int) -> Fraction:
    """What the values may add up to, by the definition."""
    return sum((Fraction(2) ** (math.frexp(v)[1] + power) for v in values.tolist() if v != 0.0), Fraction(0))


def nearest(value: float, power: int) -> int:
    """The integer nearest to value · 2^power, half to even."""
    return round(Fraction(value) * Fraction(2) ** power)


@QUICK
@given(columns, st.integers(0, 20))
def test_power_is_the_largest_that_leaves_room(values, spare_bits):
    power = common_power(values, spare_bits=spare_bits)
    if not values.any():
        assert power == 0
        return
    limit = 2 ** (62 - spare_bits)
    assert room(values, power) < limit <= room(values, power + 1)


@QUICK
@given(columns)
def test_units_are_nearest_and_never_overflow(values):
    scaled = to_units(values)
    assert scaled.units.dtype == np.int64
    assert scaled.units.tolist() == [nearest(v, scaled.power) for v in values.tolist()]
    assert sum(abs(u) for u in scaled.units.tolist()) < 2**62


@QUICK
@given(columns, st.randoms(use_true_random=False))
def test_order_and_sign_do_not_show(values, random):
    shuffled = values.tolist()
    random.shuffle(shuffled)
    assert common_power(np.array(shuffled)) == common_power(-values) == common_power(values)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 1000, 2**17 + 1])
@pytest.mark.parametrize("value", [1.0, -0.75, 1 - 2**-53, 1e308, 5e-324])
def test_many_equal_values(n, value):
    """The worst sum: every value just below its power of two."""
    values = np.full(n, value)
    power = common_power(values)
    assert room(values[:1], power) * n < 2**62 <= room(values[:1], power + 1) * n
    assert abs(int(to_units(values).units.astype(object).sum())) < 2**62


def test_small_values_beside_large_ones_become_zero():
    scaled = to_units(np.array([1e308, 1e-308, -1e-308, 5e-324]))
    assert scaled.units[0] > 2**60
    assert scaled.units[1:].tolist() == [0, 0, 0]


@pytest.mark.parametrize("values", [[], [0.0], [0.0, -0.0]])
def test_no_values_have_power_zero(values):
    assert common_power(np.array(values, np.float64)) == 0
    assert to_units(np.array(values, np.float64)).units.tolist() == [0] * len(values)


def test_halves_round_to_even():
    values = np.array([0.5, 1.5, 2.5, 3.5, -0.5, -1.5, -2.5, 0.75, 0.25, np.nextafter(0.5, 1)])
    assert engine.to_units(values, 0).tolist() == [0, 2, 2, 4, 0, -2, -2, 1, 0, 1]
    assert engine.to_units(values, 1).tolist() == [1, 3, 5, 7, -1, -3, -5, 2, 0, 1]
    assert engine.to_units(np.array([2.0**53 + 2, 3.0]), -1).tolist() == [2**52 + 1, 2]


def test_exponents_are_counted_from_the_lowest():
    values = np.array([1.0, 1.5, -1.0, 2.0, 0.0, 5e-324, 1.7e308])
    counts = engine.count_exponents(values)
    found = {int(e) + engine.LOWEST_EXPONENT: int(counts[e]) for e in np.flatnonzero(counts)}
    assert found == {1: 3, 2: 1, -1073: 1, 1024: 1}


def test_strided_values_are_read_right():
    values = np.arange(20.0)[::-3]
    assert engine.to_units(values, 1).tolist() == (2 * values).tolist()
    assert common_power(values) == common_power(values.copy())


# weights


@QUICK
@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=30))
def test_whole_weights_stay(weights):
    scaled = weight_units(np.array(weights, np.float64))
    assert (scaled.units.tolist(), scaled.power) == (weights, 0)


def test_whole_weights_of_a_large_total_are_scaled():
    assert weight_units(np.array([2.0**53 - 2, 1.0])).power == 0
    scaled = weight_units(np.array([2.0**53 - 1, 1.0]))
    assert scaled.power != 0
    assert scaled.units.tolist() == [(2**53 - 1) * 2**scaled.power, 2**scaled.power]


@QUICK
@given(st.lists(st.just(0.0) | positive | st.sampled_from([5e-324, 1e-308, 1e308]), min_size=1, max_size=30))
def test_positive_weights_never_vanish(weights):
    values = np.array(weights)
    scaled = weight_units(values)
    np.testing.assert_array_equal(scaled.units > 0, values > 0)
    assert (scaled.units >= 0).all()
    assert sum(scaled.units.tolist()) < 2**62 + len(weights)
    for value, unit in zip(weights, scaled.units.tolist(), strict=True):
        assert unit == (max(1, nearest(value, scaled.power)) if value else 0)


def test_equal_fractions_have_equal_units():
    scaled = weight_units(np.array([0.1, 0.2, 0.1, 0.0]))
    assert scaled.units[0] == scaled.units[2]
    assert scaled.units[1] == 2 * scaled.units[0]
    assert scaled.units[3] == 0
