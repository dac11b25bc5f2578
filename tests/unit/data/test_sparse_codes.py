"""Codes of a sparse matrix: those of its dense copy, column by column and mark by mark."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from weald import _core
from weald.data.adapters import to_table
from weald.data.blocks import SparseBlock
from weald.data.codes import Codes, encode
from weald.data.schema import Schema
from weald.data.table import BlockColumns, Table
from weald.errors import DataError

BINS = [None, 2, 3, 255]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES = ["bool", *INTEGERS, "float32", "float64"]


def codes_of(X, max_bins=None, *, categorical=None, **more) -> Codes:
    table = to_table(X, categorical_features=categorical)
    aligned = Schema.of(table).align(table)
    return encode(aligned, max_bins=max_bins, **more)


def assert_same_codes(got: Codes, expected: Codes, *, dense: tuple[int, ...] = ()) -> None:
    assert (got.n_rows, got.n_columns) == (expected.n_rows, expected.n_columns)
    assert got.n_codes.tolist() == expected.n_codes.tolist()
    for j in range(got.n_columns):
        np.testing.assert_array_equal(got.column(j), expected.column(j))
        assert got.column(j).dtype == expected.column(j).dtype
        assert got.cuts(j).tobytes() == expected.cuts(j).tobytes()
        assert got.is_sparse(j) == (j not in dense)
        assert not expected.is_sparse(j)
        if got.is_sparse(j):
            assert_listed(got, j)


def assert_listed(codes: Codes, j: int) -> None:
    """The rows listed are those whose code is not the default, ascending; all rows if the default is 0."""
    column, default = codes.column(j), codes.native.default_code(j)
    rows = codes.native.rows(j)
    assert codes.n_entries(j) == len(rows)
    if default == 0:
        assert rows.tolist() == list(range(codes.n_rows))
    else:
        assert rows.tolist() == np.flatnonzero(column != default).tolist()


def random_matrix(seed: int, shape=(60, 20), density=0.2, dtype="float64", missing=True) -> np.ndarray:
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random(shape) < density, np.rint(rng.normal(size=shape) * 8) / 4, 0.0)
    if np.dtype(dtype).kind in "bui":
        return np.abs(dense * 4).astype(dtype)
    if missing:
        dense[rng.random(shape) < 0.05] = np.nan
    dense[:, 0] = rng.normal(size=shape[0])  # every row has its own value
    dense[:, 1] = 0.0
    dense[:, 2] = np.nan
    return dense.astype(dtype)


@pytest.mark.parametrize("max_bins", BINS)
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_every_format(form, max_bins):
    dense = random_matrix(0)
    X = getattr(sparse, f"{form}_array")(dense)
    assert_same_codes(codes_of(X, max_bins), codes_of(dense, max_bins))


@pytest.mark.parametrize("max_bins", BINS)
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(form, index, dtype, max_bins):
    dense = random_matrix(1, dtype=dtype)
    X = getattr(sparse, f"{form}_array")(dense)
    X.indptr, X.indices = X.indptr.astype(index), X.indices.astype(index)
    assert_same_codes(codes_of(X, max_bins), codes_of(dense, max_bins))


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_large_integers_become_the_same_floats(dtype, form):
    dense = np.array([[0, 2**53], [2**53 + 1, 0], [2**63 - 1, 2**60 + 1]]).astype(dtype)
    X = getattr(sparse, f"{form}_array")(dense)
    for max_bins in BINS:
        assert_same_codes(codes_of(X, max_bins), codes_of(dense, max_bins))


def test_longdouble_and_float16():
    dense = random_matrix(2)
    assert_same_codes(codes_of(sparse.csr_array(dense.astype(np.longdouble))), codes_of(dense))
    X = sparse.csr_array(dense)
    X.data = X.data.astype(np.float16)
    assert_same_codes(codes_of(X), codes_of(dense.astype(np.float16)))


@pytest.mark.parametrize("max_bins", BINS)
@pytest.mark.parametrize("kind", ["whole", "fractions"])
def test_weights_and_rows_without_weight(max_bins, kind):
    rng = np.random.default_rng(3)
    dense = random_matrix(3, shape=(300, 12), density=0.5)
    weight = rng.integers(0, 4, 300) * (1.0 if kind == "whole" else 0.37)
    got = codes_of(sparse.csr_array(dense), max_bins, weight=weight)
    assert_same_codes(got, codes_of(dense, max_bins, weight=weight))


@pytest.mark.parametrize("max_bins", [2, 17])
@pytest.mark.parametrize("weighted", [False, True])
def test_cuts_from_a_sample_of_many_rows(max_bins, weighted):
    rng = np.random.default_rng(4)
    n = 2**18 + 70_001
    X = sparse.random_array((n, 3), density=0.1, rng=rng, format="csr", data_sampler=rng.normal)
    weight = rng.integers(0, 3, n).astype(float) if weighted else None
    if weighted:
        weight[:1000] = 0
    got = codes_of(X, max_bins, weight=weight)
    assert_same_codes(got, codes_of(X.toarray(), max_bins, weight=weight))


@pytest.mark.parametrize("n_distinct", [254, 255, 256, 65534, 65535, 65536])
def test_widths(n_distinct):
    """n distinct values and 0; the columns of one matrix have codes of 1, 2 and 4 bytes side by side."""
    rng = np.random.default_rng(5)
    values = rng.permutation(n_distinct) - n_distinct // 3
    values = np.where(values >= 0, values + 1, values).astype(float)
    dense = np.zeros((n_distinct + 5, 3))
    dense[5:, 0], dense[3, 1], dense[: n_distinct // 2, 2] = values, 1.0, values[: n_distinct // 2]
    for form in ("csr", "csc"):
        got = codes_of(getattr(sparse, f"{form}_array")(dense))
        assert_same_codes(got, codes_of(dense))
        assert got.n_codes[0] == n_distinct + 1
        assert got.column(0).itemsize == (1 if n_distinct < 255 else 2 if n_distinct < 65535 else 4)


def test_what_a_column_lists():
    dense = np.array(
        [
            #  0 among others, no 0, all missing, zeros, missing and 0
            [0.0, 1.0, np.nan, 0.0, np.nan],
            [2.0, -1.0, np.nan, 0.0, 0.0],
            [-3.0, np.nan, np.nan, 0.0, 0.0],
        ]
    )
    codes = codes_of(sparse.csr_array(dense))
    assert [codes.native.default_code(j) for j in range(5)] == [2, 0, 0, 1, 1]
    assert [codes.native.rows(j).tolist() for j in range(5)] == [[1, 2], [0, 1, 2], [0, 1, 2], [], [0]]
    assert [codes.cuts(j).tolist() for j in range(5)] == [[-3.0, 0.0, 2.0], [-1.0, 1.0], [], [0.0], [0.0]]
    binned = codes_of(sparse.csr_array(dense), 2)
    assert [binned.native.default_code(j) for j in range(5)] == [1, 1, 0, 1, 1]
    assert [binned.native.rows(j).tolist() for j in range(5)] == [[1], [0, 2], [0, 1, 2], [], [0]]


@pytest.mark.parametrize("max_bins", BINS)
def test_default_is_missing_where_no_row_is_left_out(max_bins):
    dense = np.array([[1.0], [2.0], [np.nan], [5.0]])
    codes = codes_of(sparse.csr_array(dense), max_bins)
    assert_same_codes(codes, codes_of(dense, max_bins))


@pytest.mark.parametrize("max_bins", BINS)
def test_values_in_the_bin_of_zero_are_not_listed(max_bins):
    dense = np.zeros((200, 1))
    dense[:90, 0] = np.arange(1, 91) / 1e6
    dense[90:180, 0] = np.arange(90) + 1000.0
    codes = codes_of(sparse.csr_array(dense), max_bins)
    assert_same_codes(codes, codes_of(dense, max_bins))
    if max_bins == 2:
        assert codes.n_entries(0) == 100


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (1, 1000)])
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_matrices_without_entries(form, shape):
    X = getattr(sparse, f"{form}_array")(shape)
    for max_bins in BINS:
        assert_same_codes(codes_of(X, max_bins), codes_of(X.toarray(), max_bins))


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_many_groups_and_threads(form):
    """Enough entries for several groups of columns, some columns larger than a group may be."""
    rng = np.random.default_rng(6)
    X = sparse.random_array((80_000, 40), density=0.15, rng=rng, format="csr")
    X.data = np.rint(X.data * 1000) / 8
    dense = X.toarray()
    dense[:, 7] = rng.normal(size=80_000)
    X = getattr(sparse, f"{form}_array")(dense)
    for max_bins in (None, 30):
        expected = codes_of(dense, max_bins)
        for n_threads in (1, 2, 5):
            assert_same_codes(codes_of(X, max_bins, n_threads=n_threads), expected)


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("max_bins", BINS)
def test_levels_among_the_columns(form, max_bins):
    dense = random_matrix(7)
    X = getattr(sparse, f"{form}_array")(dense)
    categorical = [0, 2, 5, 19]
    got = codes_of(X, max_bins, categorical=categorical)
    assert_same_codes(got, codes_of(dense, max_bins, categorical=categorical), dense=(0, 2, 5, 19))


def test_levels_in_every_column():
    dense = random_matrix(8, shape=(10, 3))
    got = codes_of(sparse.csr_array(dense), categorical=[0, 1, 2])
    assert_same_codes(got, codes_of(dense, categorical=[0, 1, 2]), dense=(0, 1, 2))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("categorical", [None, [1, 4]])
@pytest.mark.parametrize("max_bins", BINS)
def test_a_block_of_an_array_is_its_columns(order, categorical, max_bins):
    dense = np.asarray(random_matrix(9), order=order)[::2, ::-3]
    table = to_table(dense, categorical_features=categorical)
    columns = replace(table, columns=tuple(table.columns))
    assert_same = encode(table, max_bins=max_bins), encode(columns, max_bins=max_bins)
    for j in range(table.n_columns):
        np.testing.assert_array_equal(assert_same[0].column(j), assert_same[1].column(j))
        assert assert_same[0].cuts(j).tobytes() == assert_same[1].cuts(j).tobytes()


# infinite values


@pytest.mark.parametrize("max_bins", [None, 4])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_first_infinite_value_is_named(form, dtype, max_bins):
    dense = np.zeros((50, 30), dtype)
    dense[40, 3], dense[7, 3], dense[2, 20] = np.inf, -np.inf, np.inf
    with pytest.raises(DataError, match=r"Column 3 contains inf: row 7 holds -inf"):
        codes_of(getattr(sparse, f"{form}_array")(dense), max_bins)


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_entries_that_add_up_to_infinity(form):
    big = np.array([1.0, 1e308, 1.0, 1e308])
    parts = (big, np.array([0, 1, 0, 1]), np.array([0, 0, 4]))
    X = getattr(sparse, f"{form}_array")(parts, shape=(2, 2))
    with pytest.raises(DataError, match="Column 1 contains inf: row 1 holds inf"):
        codes_of(X)


def test_infinities_that_cancel_are_missing():
    X = sparse.csr_array(
        (np.array([np.inf, -np.inf, 1.0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 2)
    )
    assert codes_of(X).column(0).tolist() == [0]
    assert codes_of(X, categorical=[0]).column(0).tolist() == [0]


# the core by itself trusts nothing


def parts_of(X) -> list:
    block = to_table(X).columns.block
    assert isinstance(block, SparseBlock)
    return list(block.parts)


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize(
    ("part", "change", "message"),
    [
        (3, lambda p: p + 1, "does not begin with 0"),
        (3, lambda p: p[:-1], "another length"),
        (3, lambda p: np.append(p, p[-1]), "another length"),
        (3, lambda p: np.append(p[:-1], 10**12), "beyond"),
        (3, lambda p: np.array([0, 4, *p[2:]]), "falls"),
        (4, lambda i: i[:-1], "beyond"),
        (5, lambda d: d[:-1], "beyond"),
        (4, lambda i: np.append(i[:-1], 77).astype(i.dtype), "outside its shape"),
        (4, lambda i: np.append(i[:-1], -1).astype(i.dtype), "outside its shape"),
        (4, lambda i: np.append(i[:-1].astype(np.int64), 2**40), "outside its shape"),
    ],
)
def test_the_core_checks_every_array(form, part, change, message):
    X = getattr(sparse, f"{form}_array")(np.array([[0, 1.0, 2.0], [0, 0, 3.0], [4.0, 0, 0]]))
    parts = parts_of(X)
    parts[part] = change(parts[part])
    with pytest.raises(DataError, match=rf"sparse matrix is damaged.*{message}"):
        _core.encode_sparse(tuple(parts), 0, [], np.zeros(0, np.int64), 0, 1)


def test_too_many_rows_are_refused_before_any_memory_is_taken():
    parts = (False, 2**33, 1, np.zeros(2, np.int64), np.zeros(0, np.int32), np.zeros(0), False)
    with pytest.raises(DataError, match=r"at most 2\^31 rows"):
        _core.encode_sparse(parts, 0, [], np.zeros(0, np.int64), 0, 1)


# random matrices


VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, -5e-324, 1e300, -1.7e308, np.nan, 3.0, 3.0000000000000004]


@st.composite
def matrices(draw):
    """CSR or CSC with unsorted indices, entries of one place more than once, explicit zeros."""
    n_rows, n_columns = draw(st.integers(1, 12)), draw(st.integers(1, 6))
    n = draw(st.integers(0, 40))
    rows = draw(st.lists(st.integers(0, n_rows - 1), min_size=n, max_size=n))
    columns = draw(st.lists(st.integers(0, n_columns - 1), min_size=n, max_size=n))
    dtype = draw(st.sampled_from(DTYPES))
    choices = VALUES if dtype == "float64" else [0, 1, 2, 3, 100, 255]
    values = draw(st.lists(st.sampled_from(choices), min_size=n, max_size=n))
    values = np.array(values, "float64" if dtype == "float64" else "int64").astype(dtype)
    if draw(st.booleans()):
        lines, others, n_lines, cls = rows, columns, n_rows, sparse.csr_array
    else:
        lines, others, n_lines, cls = columns, rows, n_columns, sparse.csc_array
    order = np.argsort(lines, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(lines, minlength=n_lines))])
    index = draw(st.sampled_from([np.int32, np.int64]))
    parts = (values[order], np.array(others, index)[order], indptr.astype(index))
    return cls(parts, shape=(n_rows, n_columns))


@settings(deadline=None)
@given(matrices(), st.sampled_from([None, 1, 2, 4, 255]), st.data())
def test_codes_are_those_of_the_dense_copy(X, max_bins, data):
    weight = None
    if data.draw(st.booleans()):
        choices = st.sampled_from([0.0, 0.0, 1.0, 2.0, 0.25])
        weight = np.array(data.draw(st.lists(choices, min_size=X.shape[0], max_size=X.shape[0])))
        weight[0] = 1.0
    with np.errstate(over="ignore"):
        dense = X.toarray()
    if np.isinf(dense).any():
        with pytest.raises(DataError, match="contains inf"):
            codes_of(X, max_bins, weight=weight)
        return
    categorical = data.draw(st.sampled_from([None, None, [0]]))
    got = codes_of(X, max_bins, categorical=categorical, weight=weight)
    expected = codes_of(dense, max_bins, categorical=categorical, weight=weight)
    assert_same_codes(got, expected, dense=tuple(categorical or ()))


def test_hundreds_of_thousands_of_columns():
    n = 300_000
    rng = np.random.default_rng(10)
    X = sparse.csr_array(
        (rng.integers(1, 4, 5000).astype(float), (rng.integers(0, 100, 5000), rng.integers(0, n, 5000))),
        shape=(100, n),
    )
    codes = codes_of(X)
    assert codes.n_columns == n
    some = np.unique(X.nonzero()[1])[::37]
    dense = codes_of(X[:, some].toarray())
    for k, j in enumerate(some.tolist()):
        np.testing.assert_array_equal(codes.column(j), dense.column(k))
        assert codes.cuts(j).tolist() == dense.cuts(k).tolist()


def test_a_table_by_hand():
    block = SparseBlock(True, (2, 2), np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([5.0, 7.0]))
    codes = encode(Table(BlockColumns(block), 2, named=False), max_bins=None)
    assert codes.column(0).tolist() == [1, 2]
    assert codes.column(1).tolist() == [2, 1]
