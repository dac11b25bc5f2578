"""Levels match by value and type, and become plain Python values."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tables import values_of

from weald.data.frames.from_arrays import array_column
from weald.data.levels import (
    distinct_numbers,
    level_key,
    numeric_as_levels,
    plain_level,
    plain_levels,
    sorted_positions,
    text_levels,
    unified,
)
from weald.data.table import NumericColumn
from weald.errors import DataError, DataTypeError


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int8(3), 3),
        (np.float32(2.5), 2.5),
        (np.float64(2.0), 2),
        (np.longdouble(2.5), 2.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (Decimal("1.5"), 1.5),
        (1e300, 1e300),
        (pd.Timestamp("2020-01-01"), dt.datetime(2020, 1, 1)),
        (pd.Timestamp("2020-01-01", tz="Asia/Tokyo"), dt.datetime(2019, 12, 31, 15)),
        (np.datetime64("2020-01-01", "ns"), dt.datetime(2020, 1, 1)),
        (dt.date(2020, 1, 1), dt.date(2020, 1, 1)),
        (("a", 1), ("a", 1)),
    ],
)
def test_plain_level(value, expected):
    found = plain_level(value)
    assert found == expected
    assert type(found) is type(expected)


def test_unhashable_levels_raise():
    with pytest.raises(DataTypeError, match="hashable; got list"):
        plain_level([1])


def test_whole_floats_become_ints_together_or_not_at_all():
    assert list(map(type, plain_levels([1.0, 2.0]))) == [int, int]
    assert list(map(type, plain_levels([1.0, 2.5]))) == [float, float]


def test_keys_tell_types_apart():
    assert level_key(1) == level_key(1.0)
    assert len({level_key(v) for v in (1, True, "1")}) == 3


def test_sorting_is_by_type_then_value():
    levels = ["b", 2, True, "a", 1.5]
    assert [levels[i] for i in sorted_positions(levels)] == [True, 1.5, 2, "a", "b"]
    odd = [(1, "a"), ("a", 1)]
    assert sorted(sorted_positions(odd)) == [0, 1]


def test_unified_merges_equal_levels():
    column = unified("a", np.array([0, 1, 2, -1]), ["x", "y", "x"])
    assert column.levels == ("x", "y")
    assert column.indices.tolist() == [0, 1, 0, -1]
    apart = unified("a", np.array([0, 1]), [True, 1])
    assert len(apart.levels) == 2


def test_numeric_as_levels():
    column = NumericColumn("a", np.array([3.0, np.nan, 1.0, 3.0]), np.array([True, False, False, False]))
    levels = numeric_as_levels(column)
    assert values_of(levels) == [None, None, ("int", 1), ("int", 3)]
    with pytest.raises(DataError, match="Column 'a' holds infinite"):
        numeric_as_levels(NumericColumn("a", np.array([np.inf])))
    spans = numeric_as_levels(NumericColumn("a", np.array([1e6]), unit="duration"))
    assert spans.levels == (dt.timedelta(seconds=1),)
    with pytest.raises(DataError, match="9999"):
        numeric_as_levels(NumericColumn("a", np.array([1e18]), unit="datetime"))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "float64", "bool"])
def test_distinct_numbers_equal_a_sort(dtype):
    values = np.array([3, 0, 3, 100, 0]).astype(dtype)
    big = np.array([2**63 - 1, -(2**63), 0]) if dtype == "int64" else values
    for array in (values, big, values[:0]):
        distinct, inverse = distinct_numbers(array)
        expected, positions = np.unique(array, return_inverse=True)
        np.testing.assert_array_equal(distinct, expected)
        np.testing.assert_array_equal(inverse, positions)
        assert (distinct.dtype, inverse.dtype) == (array.dtype, np.int32)


@settings(deadline=None)
@given(st.lists(st.none() | st.text(max_size=5), min_size=1))
def test_object_text_round_trip(values):
    column = array_column("s", np.array([*values, "sure"], dtype=object))
    assert values_of(column) == [*(None if v is None else ("str", v) for v in values), ("str", "sure")]
    assert len(set(column.levels)) == len(column.levels)


def test_missing_text_leaves_no_level():
    column = text_levels("s", ["a", "x", "b"], np.array([False, True, False]))
    assert column.levels == ("a", "b")
    assert column.indices.tolist() == [0, -1, 1]
