"""Codes: widths, missing, exact ranks, and tables of every shape."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.data.coding import assert_binned, coded, table_of

from weald.data.codes import encode
from weald.data.table import LevelColumn, NumericColumn, Table
from weald.errors import NativeError


def ranks(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct float64 values, and the rank of each row from 1; 0 where NaN."""
    numbers = values.astype(np.float64) + 0.0
    present = ~np.isnan(numbers)
    distinct, inverse = np.unique(numbers[present], return_inverse=True)
    codes = np.zeros(len(numbers), np.int64)
    codes[present] = inverse + 1
    return distinct, codes


def assert_exact(values: np.ndarray) -> None:
    codes = coded(values)
    distinct, expected = ranks(values)
    np.testing.assert_array_equal(codes.column(0), expected)
    np.testing.assert_array_equal(codes.cuts(0), distinct)
    assert codes.n_codes.tolist() == [len(distinct)]


# widths


@pytest.mark.parametrize(("n_distinct", "width"), [(1, 1), (255, 1), (256, 2), (65535, 2), (65536, 4)])
def test_width_of_exact_codes(n_distinct, width):
    values = np.random.default_rng(0).permutation(np.arange(n_distinct + 10) % n_distinct).astype(np.float64)
    column = coded(values).column(0)
    assert column.itemsize == width
    assert column.max() == n_distinct
    assert_exact(values)


@pytest.mark.parametrize(("max_bins", "width"), [(1, 1), (2, 1), (255, 1), (256, 2), (65535, 2)])
def test_width_of_binned_codes(max_bins, width):
    values = np.random.default_rng(1).permutation(70_001).astype(np.float64)
    values[::1000] = np.nan
    codes = coded(values, max_bins)
    assert codes.n_codes[0] == max_bins
    assert codes.column(0).itemsize == width
    assert_binned(codes, values, max_bins)


@pytest.mark.parametrize(
    ("n_levels", "width"), [(2, 1), (255, 1), (256, 2), (5000, 2), (65535, 2), (65536, 4)]
)
@pytest.mark.parametrize("ordered", [False, True])
def test_level_codes_are_indices_plus_one(n_levels, width, ordered):
    rng = np.random.default_rng(2)
    indices = np.concatenate([rng.integers(-1, n_levels, 1000), [-1, 0, n_levels - 1]]).astype(np.int32)
    levels = LevelColumn("level", indices, tuple(range(n_levels)), ordered)
    for max_bins in (None, 2, 255):
        codes = encode(Table((levels,), len(indices), named=True), max_bins=max_bins)
        np.testing.assert_array_equal(codes.column(0), indices.astype(np.int64) + 1)
        assert codes.column(0).itemsize == width
        assert codes.n_codes.tolist() == [n_levels]
        assert len(codes.cuts(0)) == 0


@pytest.mark.parametrize("index", [-2, 3, 2**31 - 1])
def test_level_index_out_of_range_raises(index):
    column = LevelColumn("level", np.array([0, index], np.int32), ("a", "b", "c"))
    with pytest.raises(NativeError, match="level index out of range"):
        encode(Table((column,), 2, named=True), max_bins=None)


def test_level_indices_with_a_stride():
    indices = np.arange(30, dtype=np.int32)[::-3] % 5
    column = LevelColumn("level", indices, tuple("abcde"))
    codes = encode(Table((column,), 10, named=True), max_bins=None)
    np.testing.assert_array_equal(codes.column(0), indices + 1)


# missing


@pytest.mark.parametrize("max_bins", [None, 2, 255])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8, np.bool_])
def test_masked_rows_have_code_zero(max_bins, dtype):
    values = (np.arange(100) % 7).astype(dtype)
    mask = np.arange(100) % 3 == 0
    codes = encode(table_of(values, missing={0: mask}), max_bins=max_bins).column(0)
    np.testing.assert_array_equal(codes == 0, mask)
    codes = encode(table_of(values, missing={0: mask[::-1]}), max_bins=max_bins).column(0)
    np.testing.assert_array_equal(codes == 0, mask[::-1])


@pytest.mark.parametrize("max_bins", [None, 2, 255])
def test_nan_of_any_sign_and_payload_has_code_zero(max_bins):
    odd = np.array([0x7FF8000000000000, 0xFFF8000000000001, 0x7FF0000000000001], np.uint64).view(np.float64)
    codes = coded(np.concatenate([odd, [1.0, 2.0]]), max_bins)
    assert codes.column(0).tolist() == [0, 0, 0, 1, 2]


def test_values_under_a_mask_do_not_shape_the_codebook():
    values = np.array([1.0, 1e9, np.inf, 2.0])
    mask = np.array([False, True, True, False])
    for max_bins in (None, 10):
        codes = encode(table_of(values, missing={0: mask}), max_bins=max_bins)
        assert codes.column(0).tolist() == [1, 0, 0, 2]


@pytest.mark.parametrize("max_bins", [None, 255])
def test_column_of_missing_values_is_all_zero(max_bins):
    codes = encode(table_of(np.full(20, np.nan), np.arange(20.0)), max_bins=max_bins)
    assert not codes.column(0).any()
    assert len(codes.cuts(0)) == 0
    assert codes.n_codes[1] == 20


# exact ranks


INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_exact_floats_are_ranks(dtype):
    rng = np.random.default_rng(3)
    for n in (5, 3000, 6000):  # below and above the size where the sort takes wider digits
        values = np.round(rng.normal(size=n) * 50, 1).astype(dtype)
        values[rng.random(n) < 0.1] = np.nan
        assert_exact(values)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_exact_integers_are_ranks(dtype):
    info = np.iinfo(dtype)
    values = np.random.default_rng(4).integers(info.min, info.max, 5000, dtype, endpoint=True)
    assert_exact(np.concatenate([values, np.array([info.min, info.max, 0], dtype)]))


def test_exact_bools_are_ranks():
    assert_exact(np.array([True, False, True]))
    assert coded(np.array([True, True])).cuts(0).tolist() == [1.0]


def test_integers_beyond_float64_share_a_code():
    values = np.array([2**53, 2**53 + 1, 2**53 + 2], np.int64)
    assert coded(values).column(0).tolist() == [1, 1, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.int64, np.bool_])
@pytest.mark.parametrize("max_bins", [None, 5])
def test_layout_of_a_column_does_not_show(dtype, max_bins):
    rng = np.random.default_rng(5)
    plain = rng.integers(0, 50, 999).astype(dtype)
    matrix = np.zeros((999, 4), dtype)
    matrix[:, 2] = plain
    frozen = plain.copy()
    frozen.flags.writeable = False
    layouts = {
        "row-major": matrix[:, 2],
        "column-major": np.asfortranarray(matrix)[:, 2],
        "backwards": plain[::-1].copy()[::-1],
        "read-only": frozen,
        "foreign bytes": plain.astype(np.dtype(dtype).newbyteorder(">")),
        "unaligned": np.rec.fromarrays([np.zeros(999, np.int8), plain], names="a,b")["b"],
    }
    expected = coded(plain, max_bins)
    for name, values in layouts.items():
        codes = coded(values, max_bins)
        np.testing.assert_array_equal(codes.column(0), expected.column(0), err_msg=name)
        np.testing.assert_array_equal(codes.cuts(0), expected.cuts(0), err_msg=name)


def test_repeated_row_of_a_broadcast_column():
    values = np.broadcast_to(np.float64(3.5), 100)  # stride 0
    assert set(coded(values).column(0).tolist()) == {1}
    assert coded(values, 255).cuts(0).tolist() == []


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeros_of_both_signs_are_one_value(dtype):
    values = np.array([0.0, -0.0, -1.0, 1.0], dtype)
    assert coded(values).column(0).tolist() == [2, 2, 1, 3]
    assert coded(values, 255).column(0).tolist() == [2, 2, 1, 3]
    assert not np.signbit(coded(values).cuts(0)[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_smallest_and_largest_numbers(dtype):
    info = np.finfo(dtype)
    small = [0.0, info.smallest_subnormal, 3 * info.smallest_subnormal, info.tiny]
    large = [1.0, np.nextafter(dtype(1), dtype(2)), info.max / 2, info.max]
    values = np.array([sign * v for v in small + large for sign in (-1, 1)], dtype)
    assert_exact(values)
    codes = coded(values, 255)
    assert_binned(codes, values, 255)
    np.testing.assert_array_equal(codes.column(0), ranks(values)[1])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.floats(allow_infinity=False, width=64), min_size=1, max_size=60), st.integers(1, 70))
def test_any_floats(values, max_bins):
    column = np.array(values)
    assert_exact(column)
    codes = coded(column, max_bins)
    assert_binned(codes, column, max_bins)
    distinct, expected = ranks(column)
    if len(distinct) <= max_bins:
        np.testing.assert_array_equal(codes.column(0), expected)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.floats(allow_infinity=False, width=32), min_size=1, max_size=400),
    st.integers(1, 300),
    st.integers(0, 2**32 - 1),
)
def test_any_float32_has_the_bin_of_its_float64(values, max_bins, seed):
    """A cut between two float32 values need not be one: the search rounds it down."""
    column = np.array(values, np.float32)
    steps = np.random.default_rng(seed).integers(-3, 4, len(column)).astype(np.float32)
    column += np.spacing(column) * steps  # neighbours by the smallest step
    column[np.isinf(column)] = np.nan
    codes = coded(column, max_bins)
    assert_binned(codes, column, max_bins)
    same = coded(column.astype(np.float64), max_bins)
    np.testing.assert_array_equal(codes.column(0), same.column(0))
    np.testing.assert_array_equal(codes.cuts(0), same.cuts(0))


# shapes


def test_columns_of_every_kind_together():
    n = 300
    table = Table(
        (
            NumericColumn("a", np.arange(n, dtype=np.float32)),
            LevelColumn("b", (np.arange(n) % 3).astype(np.int32), ("x", "y", "z")),
            NumericColumn("c", np.arange(n) % 2 == 0),
            LevelColumn("d", (np.arange(n) % 4 - 1).astype(np.int32), ("l", "m", "h"), ordered=True),
        ),
        n,
        named=True,
    )
    codes = encode(table, max_bins=None, n_threads=2)
    assert (codes.n_rows, codes.n_columns) == (n, 4)
    assert codes.n_codes.tolist() == [300, 3, 2, 3]
    assert [codes.column(j).itemsize for j in range(4)] == [2, 1, 1, 1]
    assert codes.column(3)[:4].tolist() == [0, 1, 2, 3]


def test_no_rows_and_no_columns():
    codes = coded(np.zeros(0))
    assert (codes.n_rows, codes.n_codes.tolist(), len(codes.column(0))) == (0, [0], 0)
    assert encode(Table((), 5, named=True), max_bins=10).n_columns == 0


def test_columns_of_different_length_raise():
    with pytest.raises(NativeError, match="differ in length"):
        encode(table_of(np.zeros(3), np.zeros(4)), max_bins=None)


def test_column_is_a_copy_and_a_wrong_number_raises():
    codes = coded(np.arange(3.0))
    codes.column(0)[:] = 9
    assert codes.column(0).tolist() == [1, 2, 3]
    with pytest.raises(IndexError):
        codes.column(1)
