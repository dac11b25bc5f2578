"""Codes: widths, missing, exact ranks, quantile bins, and what must not change them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weald.data.codes import Codes, encode
from weald.data.table import LevelColumn, NumericColumn, Table
from weald.errors import DataError, NativeError

SAMPLED = 2**18  # above so many rows the cuts come from a sample


def table_of(*columns: np.ndarray, missing: dict[int, np.ndarray] | None = None) -> Table:
    masks = missing or {}
    numeric = tuple(NumericColumn(f"x{j}", values, masks.get(j)) for j, values in enumerate(columns))
    return Table(numeric, len(columns[0]), named=True)


def coded(values: np.ndarray, max_bins: int | None = None, **more) -> Codes:
    return encode(table_of(values), max_bins=max_bins, **more)


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


def assert_binned(codes: Codes, values: np.ndarray, max_bins: int) -> None:
    cuts = codes.cuts(0)
    numbers = values.astype(np.float64)
    expected = np.where(np.isnan(numbers), 0, 1 + np.searchsorted(cuts, numbers, side="left"))
    np.testing.assert_array_equal(codes.column(0), expected)
    assert (np.diff(cuts) > 0).all()
    assert codes.n_codes[0] == len(cuts) + 1 <= max_bins


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


# quantile bins


def skewed(kind: str, n: int = 20_000) -> np.ndarray:
    rng = np.random.default_rng(6)
    values = {
        "uniform": rng.random(n),
        "long tail": np.exp(3 * rng.normal(size=n)),
        "ties": np.round(rng.normal(size=n), 2),
        "counts": rng.poisson(rng.exponential(100, n)).astype(float),
        "heavy zero": np.where(rng.random(n) < 0.9, 0.0, rng.random(n)),
        "heavy ends": np.clip(rng.normal(size=n), -0.5, 0.5),
        "three heavy": np.where(rng.random(n) < 0.8, rng.choice([1.0, 5.0, 9.0], n), 10 * rng.random(n)),
        "zipf": np.minimum(rng.zipf(1.5, n), 10**6).astype(float),
    }
    return values[kind]


KINDS = ["uniform", "long tail", "ties", "counts", "heavy zero", "heavy ends", "three heavy", "zipf"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("max_bins", [2, 3, 32, 255, 256, 1000])
def test_bins_are_balanced(kind, max_bins):
    values = skewed(kind)
    codes = coded(values, max_bins)
    assert_binned(codes, values, max_bins)
    n_distinct = len(np.unique(values))
    if n_distinct <= max_bins:
        assert codes.n_codes[0] == n_distinct
        return
    weight = np.bincount(codes.column(0), minlength=codes.n_codes[0] + 1)[1:]
    assert (weight > 0).all()
    code = codes.column(0)
    low, high = (np.full(len(weight), fill) for fill in (np.inf, -np.inf))
    np.minimum.at(low, code - 1, values)
    np.maximum.at(high, code - 1, values)
    splittable = low < high
    assert (weight[splittable] <= 2.0 * len(values) / max_bins + 1).all()


@pytest.mark.parametrize("max_bins", [2, 5, 100])
def test_heavy_values_stand_alone(max_bins):
    values = np.concatenate([np.zeros(10_000), np.full(10_000, 7.0), np.random.default_rng(7).random(3000)])
    code = coded(values, max_bins).column(0)
    assert code[0] != code[10_000]
    if max_bins == 100:
        assert (code == code[0]).sum() == 10_000
        assert (code == code[10_000]).sum() == 10_000


def test_cut_lies_halfway_between_its_neighbours():
    assert coded(np.array([1.0, 2.0, 4.0, 4.0]), 255).cuts(0).tolist() == [1.5, 3.0]
    one_step = np.array([1.0, np.nextafter(1.0, 2.0)])
    assert coded(one_step, 255).cuts(0).tolist() == [1.0]  # halfway rounds to even, which is the lower
    upper_even = np.array([np.nextafter(1.0, 2.0), 1.0 + 2**-51])
    assert coded(upper_even, 255).cuts(0).tolist() == [upper_even[0]]
    assert coded(np.array([-1.7e308, 1.7e308]), 255).cuts(0).tolist() == [-1.7e308]


@pytest.mark.parametrize("kind", KINDS)
def test_whole_weight_is_a_repeated_row(kind):
    values = skewed(kind, 3000)
    weight = np.random.default_rng(8).integers(0, 9, 3000)
    for max_bins in (2, 30, 255):
        weighted = coded(values, max_bins, weight=weight.astype(float)).cuts(0)
        np.testing.assert_array_equal(weighted, coded(np.repeat(values, weight), max_bins).cuts(0))
        assert len(weighted) >= 1


def test_weights_move_the_cuts():
    values = np.arange(1000.0)
    weight = np.where(values < 100, 9.0, 1.0)
    assert coded(values, 2).cuts(0).tolist() == [499.5]
    assert coded(values, 2, weight=weight).cuts(0).tolist() == [99.5]
    assert coded(values, 2, weight=weight * 0.3).cuts(0).tolist() == [99.5]


@pytest.mark.parametrize("scale", [1.0, 0.37])
def test_rows_of_weight_zero_do_not_shape_the_cuts(scale):
    values = skewed("long tail", 5000)
    weight = np.random.default_rng(9).integers(0, 3, 5000) * scale
    codes = coded(values, 40, weight=weight)
    kept = weight > 0
    np.testing.assert_array_equal(codes.cuts(0), coded(values[kept], 40, weight=weight[kept]).cuts(0))
    assert (codes.column(0) > 0).all()  # they still get codes


# what must not show


@pytest.fixture(scope="module")
def wide() -> np.ndarray:
    """More columns than are sorted at a time, more rows than a block."""
    values = np.random.default_rng(10).normal(size=(5001, 19))
    values[:, 3] = np.round(values[:, 3], 1)
    values[np.random.default_rng(11).random(values.shape) < 0.05] = np.nan
    return values


@pytest.mark.parametrize("max_bins", [None, 60])
def test_threads_and_row_order_do_not_show(wide, max_bins):
    def of(matrix, n_threads):
        return encode(table_of(*matrix.T), max_bins=max_bins, n_threads=n_threads)

    order = np.random.default_rng(12).permutation(len(wide))
    first = of(wide, 1)
    for n_threads in (2, 5):
        again, permuted = of(wide, n_threads), of(wide[order], n_threads)
        for j in range(wide.shape[1]):
            np.testing.assert_array_equal(again.column(j), first.column(j))
            np.testing.assert_array_equal(permuted.column(j), first.column(j)[order])
            np.testing.assert_array_equal(again.cuts(j), first.cuts(j))
            np.testing.assert_array_equal(permuted.cuts(j), first.cuts(j))


@pytest.mark.parametrize("max_bins", [2, 100])
def test_row_order_does_not_show_up_to_the_sample_limit(max_bins):
    values = np.random.default_rng(13).normal(size=SAMPLED)
    cuts = coded(values, max_bins).cuts(0)
    np.testing.assert_array_equal(coded(values[::-1], max_bins, n_threads=2).cuts(0), cuts)
    np.testing.assert_array_equal(coded(np.sort(values), max_bins).cuts(0), cuts)


@pytest.fixture(scope="module")
def long() -> np.ndarray:
    """Rows beyond the sample limit."""
    return np.random.default_rng(14).normal(size=(SAMPLED + 5000, 2)).astype(np.float32)


def test_sample_depends_on_row_ids_alone(long):
    layouts = [
        np.ascontiguousarray(long),
        np.asfortranarray(long),
        long.astype(np.float64),
        long[::-1].copy()[::-1],
    ]
    first = encode(table_of(*layouts[0].T), max_bins=255)
    for matrix, n_threads in zip(layouts, (5, 2, 1, 2), strict=True):
        codes = encode(table_of(*matrix.T), max_bins=255, n_threads=n_threads)
        for j in range(2):
            np.testing.assert_array_equal(codes.cuts(j), first.cuts(j))
            np.testing.assert_array_equal(codes.column(j), first.column(j))
    # the rows of the sample do not depend on what other columns there are, nor on their values
    alone = encode(table_of(long[:, 1] * 2), max_bins=255)
    np.testing.assert_array_equal(alone.cuts(0), 2 * first.cuts(1))


def test_sampled_cuts_code_every_row_and_stay_balanced(long):
    codes = coded(long[:, 0], 255)
    assert_binned(codes, long[:, 0], 255)
    weight = np.bincount(codes.column(0))[1:]
    assert weight.min() > 0.7 * len(long) / 255
    assert weight.max() < 1.4 * len(long) / 255


def test_large_table_is_sampled():
    """Some rows are outside the sample: a lone value there gets no bin, as it would in a small table."""
    values = np.zeros(SAMPLED + 200_000)
    for row in range(40):
        values[row] = 1.0
        if coded(values, 255).n_codes[0] == 1:
            assert coded(values[:SAMPLED], 255).n_codes[0] == 2
            return
        values[row] = 0.0
    pytest.fail("every row was in the sample")


# infinite values


@pytest.mark.parametrize("max_bins", [None, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("row", "value"), [(0, np.inf), (2047, -np.inf), (2048, np.inf), (4999, -np.inf)])
def test_infinite_value_is_named(max_bins, dtype, row, value):
    matrix = np.random.default_rng(15).normal(size=(5000, 3)).astype(dtype)
    matrix[row, 1] = value
    for columns in (matrix.T, np.asfortranarray(matrix).T):
        with pytest.raises(DataError, match=rf"Column 'x1' contains inf: row {row} holds {value}"):
            encode(table_of(*columns), max_bins=max_bins, n_threads=2)


def test_infinite_value_outside_the_sample_is_named(long):
    for row in (5, 1000, len(long) - 1, *range(200_000, 200_015)):  # some of these are outside
        values = long[:, 0].copy()
        values[row] = -np.inf
        with pytest.raises(DataError, match=rf"Column 'x0' contains inf: row {row} holds -inf"):
            coded(values, 10)


def test_infinite_value_of_weight_zero_is_named():
    values = np.array([1.0, np.inf, 2.0])
    with pytest.raises(DataError, match="row 1 holds inf"):
        coded(values, 10, weight=np.array([1.0, 0.0, 1.0]))


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
