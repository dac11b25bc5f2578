"""Candidates of approx: fine codes into bins of about equal weight, and the NumPy twin of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from support.newton_trees import grow_newton_tree

from weald import engine
from weald.data.adapters import to_table
from weald.data.codes import Codes, coarsen, encode
from weald.data.schema import Schema
from weald.data.table import LevelColumn, NumericColumn, Table
from weald.errors import DataError, NativeError


def table_of(*columns: np.ndarray) -> Table:
    numeric = tuple(NumericColumn(f"x{j}", values) for j, values in enumerate(columns))
    return Table(numeric, len(columns[0]), named=True)


def sparse_codes(dense: np.ndarray, max_bins: int | None) -> Codes:
    table = to_table(sparse.csr_matrix(dense))
    return encode(Schema.of(table).align(table), max_bins=max_bins)


# the twin


def bin_ends(weights: list[int], max_bins: int) -> list[int]:
    """Equation 6 of docs/methods/sketch.md: the positions before which a bin ends, by exact arithmetic."""
    if len(weights) <= max_bins:
        return list(range(1, len(weights)))
    ends, filled, rest, left = [], 0, sum(weights), max_bins
    for i, u in enumerate(weights):
        if i > 0 and left > 1 and 2 * filled + u > 2 * rest // left:
            ends.append(i)
            rest -= filled
            filled = 0
            left -= 1
        filled += u
    return ends


def midpoint(low: float, high: float) -> float:
    with np.errstate(over="ignore"):
        middle = float(low + (np.float64(high) - low) / 2)
    return middle if middle < high else low


def twin(code: np.ndarray, marks: np.ndarray, exact: bool, weights: np.ndarray, max_bins: int):
    """Marks and codes of one column."""
    n_codes = len(marks) + (0 if exact else 1)
    sums = [int(weights[code == c].sum()) for c in range(n_codes + 1)]
    present = [c for c in range(1, n_codes + 1) if sums[c] > 0]
    new_marks, table = [], np.zeros(n_codes + 1, np.int64)
    table[1:] = 1
    for i in bin_ends([sums[c] for c in present], max_bins):
        a, b = present[i - 1], present[i]
        if exact:
            mark = midpoint(marks[a - 1], marks[b - 1])
            above = [c for c in range(1, n_codes + 1) if marks[c - 1] > mark]
        else:
            last = a + (b - a - 1) // 2
            mark = marks[last - 1]
            above = range(last + 1, n_codes + 1)
        new_marks.append(mark)
        table[list(above)] += 1
    return np.array(new_marks), table[code]


def assert_twin(fine: Codes, weights: np.ndarray, max_bins: int, exact: bool, n_threads: int = 2) -> Codes:
    coarse = coarsen(fine, weights, max_bins=max_bins, n_threads=n_threads)
    assert (coarse.n_rows, coarse.n_columns) == (fine.n_rows, fine.n_columns)
    for j in range(fine.n_columns):
        marks, codes = twin(fine.column(j), fine.cuts(j), exact, weights, max_bins)
        np.testing.assert_array_equal(coarse.cuts(j), marks)
        np.testing.assert_array_equal(coarse.column(j), codes)
        assert coarse.n_codes[j] == len(marks) + 1 <= max(max_bins, 1)
        assert coarse.is_sparse(j) == fine.is_sparse(j)
    return coarse


def some_values(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    return {
        "plain": rng.normal(size=n),
        "ties": np.round(rng.normal(size=n), 1),
        "zipf": rng.zipf(1.4, n).clip(max=10**6).astype(float),
        "zeros": np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n)),
        "missing": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
        "huge": rng.choice([-1.7e308, 1.7e308, 0.0, 1.0], n),
        "constant": np.full(n, 2.5),
        "all missing": np.full(n, np.nan),
    }[kind]


KINDS = ["plain", "ties", "zipf", "zeros", "missing", "huge", "constant", "all missing"]


def some_weights(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    return {
        "ones": np.ones(n, np.int64),
        "mostly none": np.where(rng.random(n) < 0.9, 0, rng.integers(1, 9, n)),
        "none": np.zeros(n, np.int64),
        "large": rng.integers(0, 2**61 // max(n, 1), n),
        "one heavy": np.where(np.arange(n) == n // 2, 2**60, 1),
    }[kind]


WEIGHTS = ["ones", "mostly none", "none", "large", "one heavy"]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=4),
    weights=st.sampled_from(WEIGHTS),
    fine=st.sampled_from([None, 3, 100, 300]),
    max_bins=st.sampled_from([1, 2, 3, 10, 33, 255, 400]),
    n=st.integers(1, 700),
    seed=st.integers(0, 2**32 - 1),
)
def test_dense_and_sparse_equal_the_twin(kinds, weights, fine, max_bins, n, seed):
    rng = np.random.default_rng(seed)
    matrix = np.column_stack([some_values(kind, n, rng) for kind in kinds])
    units = some_weights(weights, n, rng)
    dense = assert_twin(encode(table_of(*matrix.T), max_bins=fine), units, max_bins, fine is None)
    listed = assert_twin(sparse_codes(matrix, fine), units, max_bins, fine is None)
    for j in range(matrix.shape[1]):
        # the codes are those of a search among the marks: routing by code and by value agree
        by_value = 1 + np.searchsorted(dense.cuts(j), matrix[:, j], side="left")
        np.testing.assert_array_equal(dense.column(j), np.where(np.isnan(matrix[:, j]), 0, by_value))
        assert listed.column(j).tobytes() == dense.column(j).tobytes()
        default, rows = listed.native.default_code(j), listed.native.rows(j)
        expected = np.arange(n) if default == 0 else np.flatnonzero(listed.column(j) != default)
        np.testing.assert_array_equal(rows, expected)
        assert listed.n_entries(j) == len(rows)


@pytest.mark.parametrize("fine", [None, 65535])
@pytest.mark.parametrize(("max_bins", "width"), [(33, 1), (255, 1), (256, 2), (70_000, 4)])
def test_widths(fine, max_bins, width):
    values = np.random.default_rng(0).permutation(70_001).astype(float)
    codes = coarsen(encode(table_of(values), max_bins=fine), np.ones(70_001, np.int64), max_bins=max_bins)
    assert codes.n_codes[0] == min(max_bins, fine or 70_001)
    assert codes.column(0).itemsize == (2 if fine and width == 4 else width)


def test_equal_weights_give_equal_counts():
    values = np.random.default_rng(1).permutation(33_000).astype(float)
    for fine in (None, 3300):
        codes = coarsen(encode(table_of(values), max_bins=fine), np.full(33_000, 7), max_bins=33)
        assert np.bincount(codes.column(0)).tolist() == [0] + [1000] * 33


def test_rows_of_weight_zero_shape_no_threshold():
    """With exact ranks the marks are those of the table without these rows."""
    rng = np.random.default_rng(2)
    values, units = rng.normal(size=3000), rng.integers(0, 2, 3000) * rng.integers(1, 100, 3000)
    kept = units > 0
    all_rows = coarsen(encode(table_of(values), max_bins=None), units, max_bins=33)
    heavy = coarsen(encode(table_of(values[kept]), max_bins=None), units[kept], max_bins=33)
    np.testing.assert_array_equal(all_rows.cuts(0), heavy.cuts(0))
    np.testing.assert_array_equal(all_rows.column(0)[kept], heavy.column(0))
    assert all_rows.column(0).min() == 1


def test_columns_of_levels_stay_as_they_are():
    n = 300
    rng = np.random.default_rng(3)
    indices = rng.integers(-1, 260, (2, n)).astype(np.int32)
    columns = (
        LevelColumn("a", indices[0], tuple(range(260)), ordered=True),
        NumericColumn("b", rng.normal(size=n)),
        LevelColumn("c", indices[1], tuple(range(260))),
    )
    fine = encode(Table(columns, n, named=True), max_bins=None)
    coarse = coarsen(fine, np.ones(n, np.int64), max_bins=10, n_threads=3)
    assert coarse.n_codes.tolist() == [260, 10, 260]
    for j in (0, 2):
        assert coarse.column(j).tobytes() == fine.column(j).tobytes()
    assert fine.n_codes.tolist() == [260, 300, 260]


@pytest.mark.parametrize("fine", [None, 1000])
def test_threads_and_row_order_do_not_show(fine):
    rng = np.random.default_rng(4)
    matrix = rng.normal(size=(4000, 7))
    matrix[rng.random(matrix.shape) < 0.6] = 0.0
    matrix[rng.random(matrix.shape) < 0.05] = np.nan
    units = rng.integers(0, 2**40, 4000)
    order = rng.permutation(4000)
    for make in (lambda m: encode(table_of(*m.T), max_bins=fine), lambda m: sparse_codes(m, fine)):
        first = coarsen(make(matrix), units, max_bins=33)
        for n_threads in (2, 3, 8):
            again = coarsen(make(matrix), units, max_bins=33, n_threads=n_threads)
            permuted = coarsen(make(matrix[order]), units[order], max_bins=33, n_threads=n_threads)
            for j in range(7):
                assert again.column(j).tobytes() == first.column(j).tobytes()
                assert again.cuts(j).tobytes() == permuted.cuts(j).tobytes() == first.cuts(j).tobytes()
                np.testing.assert_array_equal(permuted.column(j), first.column(j)[order])


@pytest.mark.parametrize("fine", [None, 200])
def test_sparse_and_dense_candidates_grow_the_same_tree(fine):
    rng = np.random.default_rng(6)
    matrix = np.where(rng.random((2000, 5)) < 0.7, 0.0, rng.normal(size=(2000, 5)))
    matrix[rng.random(matrix.shape) < 0.05] = np.nan
    hessians = rng.integers(1, 1000, 2000)
    pairs = np.column_stack([rng.integers(-1000, 1000, 2000), hessians])
    options = engine.NativeOptions()
    options.must_gain = True
    trees = []
    for codes in (encode(table_of(*matrix.T), max_bins=fine), sparse_codes(matrix, fine)):
        coarse = coarsen(codes, hessians, max_bins=9)
        trees.append(grow_newton_tree(coarse, pairs, 1.0, options, n_threads=2))
        column, threshold = trees[-1]["column"], trees[-1]["threshold"]
        assert len(column) > 100
        for j in range(5):
            marks = [*coarse.cuts(j), np.inf]  # inf: missing apart from the rest
            assert set(threshold[column == j]) <= set(marks)
    assert trees[0].keys() == trees[1].keys()
    for name in trees[0]:
        np.testing.assert_array_equal(trees[0][name], trees[1][name])


def test_coarse_codes_can_be_made_coarser():
    rng = np.random.default_rng(5)
    units = rng.integers(1, 50, 2000)
    once = coarsen(encode(table_of(rng.normal(size=2000)), max_bins=None), units, max_bins=200)
    assert_twin(once, units, 20, exact=False)


def test_no_rows():
    codes = coarsen(encode(table_of(np.zeros(0)), max_bins=10), np.zeros(0, np.int64), max_bins=5)
    assert (codes.n_rows, codes.n_codes.tolist()) == (0, [1])


def test_bad_weights_are_named():
    fine = encode(table_of(np.arange(4.0)), max_bins=None)
    with pytest.raises(DataError, match="row 2 has a negative weight"):
        coarsen(fine, np.array([1, 1, -1, -2]), max_bins=3)
    for weights in ([2**61, 2**61, 0, 0], [2**62, 2**62, 2**62, 2**62]):
        with pytest.raises(DataError, match=r"2\^62"):
            coarsen(fine, np.array(weights), max_bins=3)
    with pytest.raises(NativeError, match="one weight per row"):
        coarsen(fine, np.ones(3, np.int64), max_bins=3)
