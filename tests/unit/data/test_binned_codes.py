"""Quantile bins: balance, weights, samples of long columns, what must not show, and infinite values."""

from __future__ import annotations

import numpy as np
import pytest
from unit.data.coding import assert_binned, coded, table_of

from weald.data.codes import encode
from weald.errors import DataError

SAMPLED = 2**18  # above so many rows the cuts come from a sample


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
