"""SciPy matrices as tables: every format and dtype, laziness, and what a schema makes of them."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from support.tables import assert_same_table, values_of
from unit.data.frames.sparse_matrices import DENSE, matrix

from weald import DecisionTreeRegressor
from weald.data.adapters import to_table
from weald.data.blocks import ArrayBlock, SparseBlock
from weald.data.frames.from_sparse import sparse_block
from weald.data.schema import ColumnSchema, Positions, Schema
from weald.data.table import BlockColumns, LevelColumn
from weald.errors import DataError, ParameterError

FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("array", [False, True])
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_read(form, array):
    table = to_table(matrix(form, array))
    assert_same_table(table, to_table(DENSE))
    assert isinstance(table.columns, BlockColumns)
    assert isinstance(table.columns.block, SparseBlock)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("dtype", [*DTYPES, "float32", "float64", "longdouble"])
def test_every_dtype_is_read(form, dtype):
    dense = np.array([[0, 1, 0], [2, 0, 3]]).astype(dtype)
    table, expected = to_table(matrix(form, True, dense)), to_table(dense)
    assert_same_table(table, expected)
    assert table.columns[1].values.dtype == expected.columns[1].values.dtype


@pytest.mark.parametrize("dtype", ["float16", ">f4", ">f8"])
def test_dtypes_that_scipy_itself_does_not_take(dtype):
    X = matrix("csr", True)
    X.data = X.data.astype(dtype)
    assert_same_table(to_table(X), to_table(DENSE))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("index", [np.int32, np.int64, np.int16, np.uint32, np.uint64, ">i4"])
def test_every_index_dtype(form, index):
    X = matrix(form, True)
    if form == "coo":
        X.coords = tuple(coordinate.astype(index) for coordinate in X.coords)
    else:
        X.indptr, X.indices = X.indptr.astype(index), X.indices.astype(index)
    assert_same_table(to_table(X), to_table(DENSE))


def test_arrays_of_csr_are_not_copied():
    X = matrix("csr", True)
    X.indptr = X.indptr.astype(np.int64)
    block = sparse_block(X)
    assert np.shares_memory(block.indices, X.indices)
    assert np.shares_memory(block.data, X.data)
    assert np.shares_memory(block.indptr, X.indptr)


def test_more_room_than_entries():
    X = sparse.csr_array(DENSE)
    X.indices, X.data = np.append(X.indices, [99, -5]), np.append(X.data, [np.inf, 1.0])
    assert_same_table(to_table(X), to_table(DENSE))


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", [*DTYPES, "float32", "float64", "longdouble"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_entries_of_one_place_are_added_as_scipy_does(form, dtype, index):
    rng = np.random.default_rng(0)
    values = rng.integers(0, 200, 40) if np.dtype(dtype).kind in "iu" else rng.normal(size=40) * 1e3
    rows, columns = rng.integers(0, 4, 40), rng.integers(0, 3, 40)
    coo = sparse.coo_array((values.astype(dtype), (rows, columns)), shape=(4, 3))
    X, before = coo, coo.copy()
    if form != "coo":
        # Built by hand: tocsr would add them up already.
        by = rows if form == "csr" else columns
        order = np.argsort(by, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(by, minlength=4 if form == "csr" else 3))])
        other = (columns if form == "csr" else rows)[order].astype(index)
        parts = (coo.data[order], other, indptr.astype(index))
        X = getattr(sparse, f"{form}_array")(parts, shape=(4, 3))
        before = X.copy()
    expected = X.toarray().astype(np.float64) if dtype == "longdouble" else X.toarray()
    got = np.stack([column.values for column in to_table(X).columns], axis=1)
    if dtype == "longdouble":  # SciPy's own sums need not come in the order stored
        np.testing.assert_allclose(got, expected, rtol=1e-15)
    else:
        np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(X.data, before.data)
    assert X.nnz == before.nnz


def test_explicit_zeros_are_zeros():
    X = sparse.csr_array((np.array([0.0, 1.0, -0.0]), np.array([0, 1, 2]), np.array([0, 3])), shape=(1, 3))
    assert [values_of(column) for column in to_table(X).columns] == [[0.0], [1.0], [0.0]]


def test_the_first_infinite_number_of_a_block():
    dense = np.array([[np.nan, 0.0, np.inf], [1.0, np.nan, -np.inf], [0.0, 2.0, 0.0]])
    for form in ("csr", "csc"):
        assert sparse_block(matrix(form, True, dense)).first_infinite() == (2, 0, np.inf)
        assert sparse_block(matrix(form, True, dense[1:, ::-1])).first_infinite() == (0, 0, -np.inf)
    for finite in (dense[:, :2], np.array([[1, 0]]), np.zeros((2, 2))):
        assert sparse_block(matrix("csr", True, finite)).first_infinite() is None


def test_blocks_of_several_rows_and_columns():
    dense = np.zeros((6, 6))
    dense[0, 1], dense[3, 5], dense[5, 0], dense[4, 4] = 1.5, -2.0, np.nan, 3.0
    for shape in ((2, 3), (3, 2), (6, 6), (1, 1)):
        X = sparse.bsr_array(dense, blocksize=shape)
        assert_same_table(to_table(X), to_table(dense))
        twice = sparse.bsr_array(
            (np.repeat(X.data, 2, axis=0), np.repeat(X.indices, 2), X.indptr * 2), shape=X.shape
        )
        assert_same_table(to_table(twice), to_table(twice.toarray()))


# categories among the columns


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("wanted", [[1, 3], [True, False, True, False], np.array([0, 3])])
def test_declared_columns_become_levels(form, wanted):
    table = to_table(matrix(form, True), categorical_features=wanted)
    expected = to_table(DENSE, categorical_features=wanted)
    assert_same_table(table, expected)
    assert Schema.of(table) == Schema.of(expected)
    kinds = [isinstance(column, LevelColumn) for column in table.columns]
    assert kinds == [isinstance(column, LevelColumn) for column in expected.columns]
    assert sum(kinds) == 2


def test_infinite_value_of_a_declared_column_raises():
    X = sparse.csr_array(np.array([[0.0, np.inf], [1.0, 0.0]]))
    with pytest.raises(DataError, match="Column 1 holds infinite values"):
        to_table(X, categorical_features=[1])


def test_names_and_positions_that_are_not_there():
    with pytest.raises(ParameterError, match=r"'a'.*columns have no names, but positions from 0 to 3"):
        to_table(matrix("csr", True), categorical_features=["a"])
    with pytest.raises(ParameterError, match="position 4; positions go from 0 to 3"):
        to_table(DENSE, categorical_features=[4])


# wide tables


def test_hundreds_of_thousands_of_columns_cost_nothing():
    n = 500_000
    X = sparse.csr_array((np.ones(3), np.array([0, 7, n - 1]), np.array([0, 1, 3])), shape=(2, n))
    tracemalloc.start()
    table = to_table(X, categorical_features=[7])
    schema = Schema.of(table)
    aligned = schema.align(table)
    assert schema == pickle.loads(pickle.dumps(schema))
    assert len(pickle.dumps(schema)) < 1000
    assert len(schema.columns) == len(aligned.columns) == n
    assert schema.columns[n - 1] == ColumnSchema(n - 1, "numeric")
    assert schema.columns[7].levels == (0, 1)
    assert aligned.columns[-1].values.tolist() == [0.0, 1.0]
    assert aligned.columns[7].indices.tolist() == [0, 1]
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.bool_])
def test_dense_arrays_are_one_block(dtype):
    dense = np.array([[0, 1], [2, 0]]).astype(dtype)
    table = to_table(dense)
    assert isinstance(table.columns.block, ArrayBlock)
    assert np.shares_memory(table.columns[1].values, dense)
    assert isinstance(Schema.of(table).columns, Positions)
    assert Schema.of(table) == Schema.of(to_table(sparse.csc_array(dense)))


def test_columns_of_a_block_are_a_sequence():
    columns = to_table(matrix("csr", True), categorical_features=[0]).columns
    assert len(columns) == 4
    assert [column.name for column in columns] == [0, 1, 2, 3]
    assert [column.name for column in columns[1:3]] == [1, 2]
    assert columns[-1].name == 3
    with pytest.raises(IndexError):
        columns[4]


# schemas


def test_positions_equal_the_columns_they_stand_for():
    level = ColumnSchema(1, "categorical", levels=("a",))
    listed = (ColumnSchema(0, "numeric"), level, ColumnSchema(2, "numeric"))
    positions = Positions(3, "number", {1: level})
    assert positions == listed
    assert listed == positions
    assert tuple(positions) == listed
    assert hash(positions) == hash(listed)
    assert Positions.of(listed) == positions
    assert positions != listed[:2]
    assert positions != Positions(3)
    assert positions != Positions(3, "bool", {1: level})
    assert positions[1:] == listed[1:]
    assert positions[-1] == listed[-1]
    with pytest.raises(IndexError):
        positions[3]
    assert Schema(listed, named=False) == Schema(positions, named=False)
    assert isinstance(Schema(listed, named=False).columns, Positions)
    assert isinstance(Schema(listed, named=True).columns, tuple)
    assert pickle.loads(pickle.dumps(positions)) == positions


@pytest.mark.parametrize("name", [False, 0.0, np.int64(0)])
def test_names_that_only_equal_a_position_stay(name):
    assert isinstance(Schema((ColumnSchema(name, "numeric"),), named=False).columns, tuple)


def test_the_number_of_columns_is_checked():
    schema = Schema.of(to_table(DENSE))
    for X in (DENSE[:, :3], matrix("csr", True, DENSE[:, :3]), np.zeros((1, 5))):
        with pytest.raises(DataError, match=f"X has {X.shape[1]} features, but tree is expecting 4 features"):
            schema.align(to_table(X), estimator="tree")


def test_a_named_model_takes_a_matrix_by_position():
    schema = Schema.of(to_table(pd.DataFrame(DENSE, columns=list("abcd"))))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        table = schema.align(to_table(matrix("csr", True)))
    assert list(table.names) == list("abcd")
    assert isinstance(table.columns, BlockColumns)
    assert [values_of(c) for c in table.columns] == [values_of(c) for c in to_table(DENSE).columns]


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_level_columns_of_a_named_model_are_taken_out_of_the_matrix(form):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": pd.Categorical([2, 0, 1]), "c": [True, False, True]})
    schema = Schema.of(to_table(frame))
    dense = np.array([[0.0, 2.0, 0.0], [5.0, 9.0, 1.0], [0.0, 0.0, 1.0]])
    with pytest.warns(UserWarning, match="feature names"):
        table = schema.align(to_table(matrix(form, True, dense)))
    assert table.columns[1].indices.tolist() == [2, -1, 0]
    assert table.columns[1].levels == (0, 1, 2)
    assert table.columns[0].values.tolist() == [0.0, 5.0, 0.0]


def test_a_matrix_for_text_or_dates_raises():
    with (
        pytest.warns(UserWarning, match="feature names"),
        pytest.raises(DataError, match=r"'s' held text .* and now holds numbers"),
    ):
        Schema.of(to_table({"s": ["a", "b"]})).align(to_table(sparse.csr_array([[1.0], [0.0]])))
    dates = Schema.of(to_table({"d": np.array(["2020-01-01"], "M8[D]")}))
    with (
        pytest.warns(UserWarning, match="feature names"),
        pytest.raises(DataError, match="was a date without time zone"),
    ):
        dates.align(to_table(sparse.csr_array([[1.0]])))


def test_date_columns_by_position_are_not_plain_numbers():
    frame = pd.DataFrame({0: pd.to_datetime(["2020-01-01"]), 1: pd.to_datetime(["2020-01-02"])})
    schema = Schema.of(to_table(frame))
    assert schema.columns == Positions(2, "datetime")
    with pytest.raises(DataError, match="Column 0 was a date without time zone"):
        schema.align(to_table(DENSE[:, :2]))


def test_unnamed_frames_and_arrays_share_their_schema():
    assert Schema.of(to_table(pd.DataFrame(DENSE))) == Schema.of(to_table(matrix("csr", True)))


# pandas


@pytest.mark.parametrize("columns", [None, list("abcd")])
def test_pandas_frames_of_sparse_columns(columns):
    X = sparse.csr_array(np.nan_to_num(DENSE, nan=7.0))
    frame = pd.DataFrame.sparse.from_spmatrix(X, columns=columns)
    expected = pd.DataFrame(X.toarray(), columns=columns)
    assert_same_table(to_table(frame), to_table(expected))
    y = [1.0, 2.0, 4.0]
    model = DecisionTreeRegressor().fit(frame, y)
    assert model.predict(frame).tolist() == y
    assert model.predict(expected).tolist() == y


def test_pandas_columns_with_nan_as_fill():
    frame = pd.DataFrame({"a": pd.arrays.SparseArray([1.0, np.nan, 2.0]), "b": [0, 1, 2]})
    assert values_of(to_table(frame).columns[0]) == [1.0, None, 2.0]
