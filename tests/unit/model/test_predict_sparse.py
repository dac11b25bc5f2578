"""Prediction on sparse and on wide tables: what the dense rows give, whichever columns the forest reads."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from unit.model.forests import naive_leaf, random_forest

from weald import DecisionTreeClassifier, DecisionTreeRegressor, _core
from weald.data.adapters import to_table
from weald.data.schema import ColumnSchema, Positions, Schema
from weald.data.table import BlockColumns, Table
from weald.errors import DataError
from weald.model.predict import decision_path, leaf_nodes, raw_scores

INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES = ["bool", *INTEGERS, "float32", "float64"]


def random_matrix(seed: int, shape=(50, 30), dtype="float64") -> np.ndarray:
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random(shape) < 0.3, rng.normal(size=shape), 0.0)
    if np.dtype(dtype).kind == "f":
        dense[rng.random(shape) < 0.05] = np.nan
    elif np.dtype(dtype).kind != "i":
        dense = np.abs(dense)
    return dense.astype(dtype)


def forest_of(seed: int, n_columns: int = 30, **more):
    return random_forest(seed, Schema(Positions(n_columns), named=False), n_leaves=30, **more)


def assert_predicts(forest, X, dense: np.ndarray) -> None:
    rows = to_table(dense)
    table = to_table(X)
    expected = [[naive_leaf(forest, rows, i, t) for t in range(forest.n_trees)] for i in range(len(dense))]
    for n_threads in (1, 2, 5):
        np.testing.assert_array_equal(leaf_nodes(forest, table, n_threads=n_threads), expected)
    assert raw_scores(forest, table).tobytes() == raw_scores(forest, rows).tobytes()
    assert (decision_path(forest, table) != decision_path(forest, rows)).nnz == 0


@pytest.mark.parametrize("array", [False, True])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_every_format(form, array):
    dense = random_matrix(0)
    X = getattr(sparse, f"{form}_{'array' if array else 'matrix'}")(dense)
    assert_predicts(forest_of(0, n_trees=3), X, dense)


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(form, index, dtype):
    dense = random_matrix(1, dtype=dtype)
    X = getattr(sparse, f"{form}_array")(dense)
    X.indptr, X.indices = X.indptr.astype(index), X.indices.astype(index)
    assert_predicts(forest_of(1), X, dense)


@pytest.mark.parametrize("n_leaves", [1, 2, 400])
@pytest.mark.parametrize("n_columns", [1, 3, 30])
def test_forests_that_read_no_few_or_all_columns(n_leaves, n_columns):
    schema = Schema(Positions(n_columns), named=False)
    forest = random_forest(2, schema, n_leaves=n_leaves)
    dense = random_matrix(2, shape=(40, n_columns))
    assert_predicts(forest, sparse.csr_array(dense), dense)
    assert_predicts(forest, np.asfortranarray(dense), dense)
    assert_predicts(forest, pd.DataFrame(dense), dense)


def test_combinations_of_columns():
    dense = random_matrix(3)
    forest = forest_of(3, combinations=True)
    assert (forest.kind == 2).any()
    assert_predicts(forest, sparse.csr_array(dense), dense)
    assert_predicts(forest, np.asfortranarray(dense), dense)


def test_more_rows_than_a_block():
    dense = random_matrix(4, shape=(5000, 6))
    forest = forest_of(4, n_columns=6)
    table = to_table(sparse.csr_array(dense))
    for n_threads in (1, 2, 5):
        found = leaf_nodes(forest, table, n_threads=n_threads)
        np.testing.assert_array_equal(found, leaf_nodes(forest, to_table(dense)))


def test_rows_do_not_leak_into_each_other():
    """A row that stores much stands before rows that store nothing."""
    dense = np.zeros((3000, 30))
    dense[::7] = np.random.default_rng(5).normal(size=30)
    assert_predicts(forest_of(5), sparse.csr_array(dense[:300]), dense[:300])
    forest, table = forest_of(6), to_table(sparse.csr_array(dense))
    np.testing.assert_array_equal(leaf_nodes(forest, table), leaf_nodes(forest, to_table(dense)))


@settings(deadline=None)
@given(st.integers(0, 5), st.data())
def test_unsorted_and_repeated_entries(seed, data):
    dtype = data.draw(st.sampled_from(["float64", "float32", "int8", "int64", "bool"]))
    n = data.draw(st.integers(0, 40))
    rows = np.sort(np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), np.int64))
    columns = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    values = data.draw(st.lists(st.sampled_from([0, 1, -1, 2, 100, 3, -90]), min_size=n, max_size=n))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=5))]).astype(np.int32)
    scale = 0.1 if dtype.startswith("float") else 1
    parts = ((np.array(values) * scale).astype(dtype), np.array(columns, np.int32), indptr)
    X = sparse.csr_array(parts, shape=(5, 5))
    before = X.data.copy(), X.indices.copy()
    assert_predicts(forest_of(seed, n_columns=5), X, X.toarray())
    np.testing.assert_array_equal(X.data, before[0])
    np.testing.assert_array_equal(X.indices, before[1])


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_infinite_values_are_named_even_in_columns_no_split_reads(form):
    dense = random_matrix(7)
    forest = forest_of(7)
    unused = sorted(set(range(30)) - set(forest.column.tolist()))
    for j in (unused[0], int(forest.column[0])):
        bad = dense.copy()
        bad[33, j], bad[20, j] = np.inf, -np.inf
        X = getattr(sparse, f"{form}_array")(bad)
        with pytest.raises(DataError, match=f"Column {j} contains inf: row 20 holds -inf"):
            raw_scores(forest, to_table(X))
        with pytest.raises(DataError, match=f"Column {j} contains inf: row 20 holds -inf"):
            raw_scores(forest, to_table(bad))


def test_sums_that_become_infinite_are_named():
    X = sparse.csr_array(
        (np.array([1e308, 1e308, 1.0]), np.array([3, 3, 1]), np.array([0, 0, 3])), shape=(2, 30)
    )
    with pytest.raises(DataError, match="Column 3 contains inf: row 1"):
        raw_scores(forest_of(8), to_table(X))


@pytest.mark.parametrize(
    ("part", "change", "message"),
    [
        (3, lambda p: p + 1, "does not begin with 0"),
        (3, lambda p: p[:-1], "another length"),
        (3, lambda p: np.append(p[:-1], 10**12), "beyond"),
        (3, lambda p: np.array([0, 4, *p[2:]]), "falls"),
        (4, lambda i: i[:-1], "beyond"),
        (5, lambda d: d[:-1], "beyond"),
        (4, lambda i: np.append(i[:-1], 77).astype(i.dtype), "outside its shape"),
        (4, lambda i: np.append([-1], i[1:]).astype(i.dtype), "outside its shape"),
        (4, lambda i: np.append(i[:-1].astype(np.int64), 2**40), "outside its shape"),
        (4, lambda i: np.append([2**40], i[1:].astype(np.int64)), "outside its shape"),
    ],
)
def test_the_core_checks_every_array(part, change, message):
    forest = forest_of(9, n_columns=3)
    X = sparse.csr_array(np.array([[0, 1.0, 2.0], [0, 0, 3.0], [4.0, 5.0, 0]]))
    parts = list(to_table(X).columns.block.parts)
    parts[part] = change(parts[part])
    arrays = {name: np.ascontiguousarray(value) for name, value in forest.arrays().items()}
    for name in ("missing_left", "set_left"):
        arrays[name] = arrays[name].view(np.uint8)
    predictor = _core.make_predictor(arrays, 3, forest.width)
    with pytest.raises(DataError, match=rf"sparse matrix is damaged.*{message}"):
        predictor.scores((tuple(parts), []), 3, 0, predictor.n_trees, True, 1)


def test_level_columns_of_a_fitted_model_are_read_from_the_matrix():
    rng = np.random.default_rng(10)
    dense = rng.integers(0, 4, (200, 6)).astype(float)
    dense[rng.random(dense.shape) < 0.1] = np.nan
    y = rng.normal(size=200) + 3 * (dense[:, 2] == 2) - 2 * (dense[:, 4] == 1)
    model = DecisionTreeRegressor(categorical_features=[2, 4], max_depth=6).fit(dense, y)
    assert (model.forest_.kind == 1).any()
    strange = dense.copy()
    strange[5, 2] = 9.0  # a level that training never saw
    for X in (dense, strange):
        for form in ("csr", "csc", "coo"):
            assert model.predict(getattr(sparse, f"{form}_array")(X)).tobytes() == model.predict(X).tobytes()


def test_models_of_named_frames_take_matrices_by_position():
    rng = np.random.default_rng(11)
    dense = np.where(rng.random((100, 3)) < 0.5, rng.integers(0, 3, (100, 3)), 0).astype(float)
    frame = pd.DataFrame(dense, columns=list("abc")).astype({"b": "category"})
    y = (dense[:, 1] == 1).astype(int) + 2 * (dense[:, 0] > 1)
    model = DecisionTreeClassifier().fit(frame, y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        predicted = model.predict(sparse.csr_array(dense))
    assert predicted.tolist() == model.predict(frame).tolist() == y.tolist()
    assert model.apply(frame).tolist() == quietly(model.apply, sparse.csc_matrix(dense)).tolist()
    bad = dense.copy()
    bad[7, 2] = np.inf
    with pytest.raises(DataError, match="Column 'c' contains inf: row 7"):
        quietly(model.predict, sparse.csr_array(bad))


def quietly(call, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return call(X)


def test_the_number_of_columns_must_match():
    model = DecisionTreeRegressor().fit(np.eye(4), np.arange(4.0))
    with pytest.raises(DataError, match="X has 3 features, but DecisionTreeRegressor is expecting 4"):
        model.predict(sparse.csr_array(np.eye(3)))


def test_aligned_tables_stay_one_block():
    """Neither a wide array nor a wide matrix becomes columns one by one on the way to the core."""
    for X in (np.zeros((2, 20_000)), sparse.csr_array((2, 500_000))):
        schema = Schema.of(to_table(X))
        table = schema.align(to_table(X))
        assert isinstance(table.columns, BlockColumns)
        assert not table.columns.placed
        assert isinstance(table.names, range)


def test_a_forest_over_many_columns_costs_by_what_it_reads():
    n = 2**31 - 1
    forest = random_forest(12, Schema(Positions(40), named=False), n_leaves=20)
    columns = np.unique(forest.column)
    wide = forest.__class__(**(vars(forest) | {"n_columns": n, "column": forest.column + np.int32(n - 40)}))
    rng = np.random.default_rng(12)
    values = rng.normal(size=(6, len(columns)))
    indices = np.tile(columns.astype(np.int64) + (n - 40), 6)
    X = sparse.csr_array((values.ravel(), indices, np.arange(7) * len(columns)), shape=(6, n))
    dense = np.zeros((6, 40))
    dense[:, columns] = values
    np.testing.assert_array_equal(leaf_nodes(wide, to_table(X)), leaf_nodes(forest, to_table(dense)))


def test_threads_may_share_a_forest_that_was_never_walked():
    dense = random_matrix(13, shape=(400, 30))
    tables = [to_table(sparse.csr_array(dense)), to_table(dense), to_table(np.asfortranarray(dense))]
    for seed in range(20):
        forest = forest_of(seed)
        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(lambda i: leaf_nodes(forest, tables[i % 3]).tobytes(), range(12)))  # noqa: B023
        assert len(set(found)) == 1


@pytest.mark.parametrize("levels", [False, True])
def test_placed_columns_beside_an_array(levels):
    """Columns given in full replace those of a block, in an array as in a matrix."""
    dense = np.abs(np.rint(random_matrix(14, shape=(60, 8)) * 2))
    columns = list(Positions(8))
    if levels:
        columns[3] = ColumnSchema(3, "categorical", levels=(0, 1, 2, 3, 4))
    schema = Schema(columns, named=False)
    forest = random_forest(14, schema, n_leaves=60)
    asked = [3] if levels else None
    one_by_one = schema.align(to_table(dense, categorical_features=asked))
    plain = Table(tuple(one_by_one.columns), 60, named=False)
    expected = leaf_nodes(forest, plain)
    for X in (dense, np.asfortranarray(dense), sparse.csr_array(dense), sparse.csc_array(dense)):
        table = schema.align(to_table(X, categorical_features=asked))
        np.testing.assert_array_equal(leaf_nodes(forest, table), expected)
