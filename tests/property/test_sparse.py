"""A sparse matrix and its dense copy give the same model, to the byte, and the same predictions."""

from __future__ import annotations

import gzip
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from support.tables import data_file

from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.errors import DataError
from weald.io import model_file

FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]
VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, 1e300, -1.7e308, np.nan, 3.0, 3.0000000000000004]


def assert_same_model(make, X, y, dense=None, **more) -> None:
    dense = X.toarray() if dense is None else dense
    from_sparse, from_dense = make().fit(X, y, **more), make().fit(dense, y, **more)
    assert model_file.to_bytes(from_sparse) == model_file.to_bytes(from_dense)
    predict = "predict_proba" if hasattr(from_dense, "predict_proba") else "predict"
    expected = getattr(from_dense, predict)(dense)
    for table in (X, dense):
        assert getattr(from_sparse, predict)(table).tobytes() == expected.tobytes()
        np.testing.assert_array_equal(from_sparse.apply(table), from_dense.apply(dense))
    assert getattr(from_dense, predict)(X).tobytes() == expected.tobytes()


def random_problem(seed: int, shape=(300, 40), density=0.2, missing=0.02):
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random(shape) < density, np.rint(rng.normal(size=shape) * 6) / 2, 0.0)
    dense[rng.random(shape) < missing] = np.nan
    signal = np.nan_to_num(dense)
    score = signal[:, 0] - signal[:, 3] + signal[:, 5] * signal[:, 7] + rng.normal(size=shape[0])
    return dense, np.digitize(score, [-1.0, 1.0]), score


LIMITS = [
    {},
    {"max_depth": 4},
    {"max_leaf_nodes": 9},
    {"min_samples_leaf": 7, "min_samples_split": 20},
    {"max_features": 5, "random_state": 3},
    {"max_bins": 8},
    {"max_bins": 255, "min_impurity_decrease": 0.01},
]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_classifiers(criterion, weighted, limits):
    dense, labels, _ = random_problem(0)
    weight = np.random.default_rng(1).integers(0, 4, len(labels)) * 0.7 if weighted else None
    make = lambda: DecisionTreeClassifier(criterion=criterion, **limits)  # noqa: E731
    assert_same_model(make, sparse.csr_array(dense), labels, dense, sample_weight=weight)


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_regressors(weighted, limits):
    dense, _, target = random_problem(2)
    weight = np.random.default_rng(3).integers(0, 4, len(target)) * 0.7 if weighted else None
    make = lambda: DecisionTreeRegressor(**limits)  # noqa: E731
    assert_same_model(make, sparse.csc_array(dense), target, dense, sample_weight=weight)


@pytest.mark.parametrize("array", [False, True])
@pytest.mark.parametrize("form", FORMATS)
def test_every_format(form, array):
    dense, labels, _ = random_problem(4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sparse.SparseEfficiencyWarning)  # a matrix of many diagonals
        X = getattr(sparse, f"{form}_{'array' if array else 'matrix'}")(dense)
    assert_same_model(DecisionTreeClassifier, X, labels, dense)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int32", "int64", "float32", "float64", "longdouble"]
)
def test_every_dtype(dtype, index):
    dense, labels, _ = random_problem(5, missing=0.0)
    dense = np.abs(dense).astype(dtype)
    X = sparse.csr_array(dense)
    X.indptr, X.indices = X.indptr.astype(index), X.indices.astype(index)
    assert_same_model(DecisionTreeClassifier, X, labels, dense)


@pytest.mark.parametrize("max_bins", [None, 16])
def test_threads_do_not_show(max_bins):
    dense, labels, target = random_problem(6, shape=(3000, 60))
    X = sparse.csr_array(dense)
    for cls, y in ((DecisionTreeClassifier, labels), (DecisionTreeRegressor, target)):
        files = {
            model_file.to_bytes(cls(max_bins=max_bins, n_jobs=n_jobs).fit(table, y))
            for n_jobs in (1, 2, 5)
            for table in (X, dense)
        }
        assert len(files) == 1


@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_categories_among_sparse_columns(limits):
    dense, labels, target = random_problem(7)
    categorical = [0, 5, 30]
    for cls, y in ((DecisionTreeClassifier, labels), (DecisionTreeRegressor, target)):
        make = lambda: cls(categorical_features=categorical, **limits)  # noqa: B023, E731
        assert_same_model(make, sparse.csr_array(dense), y, dense)


def test_columns_that_are_full_empty_or_missing():
    rng = np.random.default_rng(8)
    dense = np.zeros((120, 6))
    dense[:, 0] = rng.normal(size=120)  # every row stored
    dense[:, 1] = np.abs(dense[:, 0]) + 1  # and no zero among them
    dense[::3, 2] = np.nan
    dense[:, 3] = np.nan
    dense[7, 4] = 1e-300
    target = dense[:, 0] + np.isnan(dense[:, 2]) * 3
    for max_bins in (None, 5):
        make = lambda: DecisionTreeRegressor(max_bins=max_bins)  # noqa: B023, E731
        assert_same_model(make, sparse.csr_array(dense), target, dense)


@st.composite
def problems(draw):
    """A small matrix with entries of one place, explicit zeros and extremes; labels; weights."""
    n_rows, n_columns, n = draw(st.integers(1, 20)), draw(st.integers(1, 5)), draw(st.integers(0, 60))
    rows = draw(st.lists(st.integers(0, n_rows - 1), min_size=n, max_size=n))
    columns = draw(st.lists(st.integers(0, n_columns - 1), min_size=n, max_size=n))
    values = np.array(draw(st.lists(st.sampled_from(VALUES), min_size=n, max_size=n)), float)
    order = np.argsort(rows, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(np.array(rows, int), minlength=n_rows))])
    index = draw(st.sampled_from([np.int32, np.int64]))
    parts = (values[order], np.array(columns, index)[order], indptr.astype(index))
    y = draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows))
    weight = None
    if draw(st.booleans()):
        weight = np.array(draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows)), float)
        weight[0] = 1.0
    return sparse.csr_array(parts, shape=(n_rows, n_columns)), np.array(y), weight


@settings(deadline=None)
@given(problems(), st.sampled_from([None, 2, 5]), st.booleans())
def test_small_matrices(problem, max_bins, classify):
    X, y, weight = problem
    cls = DecisionTreeClassifier if classify else DecisionTreeRegressor
    with np.errstate(over="ignore"):
        dense = X.toarray()
    if np.isinf(dense).any():
        with pytest.raises(DataError, match="contains inf"):
            cls(max_bins=max_bins).fit(X, y, sample_weight=weight)
        return
    assert_same_model(lambda: cls(max_bins=max_bins), X, y, dense, sample_weight=weight)


def test_the_first_infinite_value_is_named():
    dense, labels, _ = random_problem(9)
    dense[200, 11], dense[31, 11], dense[2, 30] = np.inf, -np.inf, np.inf
    with pytest.raises(DataError, match="Column 11 contains inf: row 31 holds -inf"):
        DecisionTreeClassifier().fit(sparse.csr_array(dense), labels)


def test_hundreds_of_thousands_of_columns():
    rng = np.random.default_rng(10)
    n = 300_000
    rows, columns = rng.integers(0, 400, 20_000), rng.integers(0, n, 20_000)
    X = sparse.csr_array((rng.integers(1, 5, 20_000).astype(float), (rows, columns)), shape=(400, n))
    y = rng.integers(0, 2, 400)
    X = sparse.hstack([X, sparse.csr_array(y[:, None] * 2.0)], format="csr")
    model = DecisionTreeClassifier().fit(X, y)
    assert model.n_features_in_ == n + 1
    assert model.forest_.column.tolist() == [n]
    assert model.predict(X).tolist() == y.tolist()
    assert len(model_file.to_bytes(model)) < 5000


def test_news_groups_on_a_subset_of_columns():
    """A real matrix with int64 indices: the columns of the most frequent words, sparse and dense."""
    from sklearn.datasets import load_svmlight_file

    with gzip.open(data_file("news20.svm.gz")) as file:
        X, y = load_svmlight_file(file)
    frequent = np.sort(np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")[:300])
    some = X[:4000, frequent]
    some.indptr, some.indices = some.indptr.astype(np.int64), some.indices.astype(np.int64)
    for max_bins in (None, 64):
        make = lambda: DecisionTreeClassifier(max_depth=10, max_bins=max_bins)  # noqa: B023, E731
        assert_same_model(make, some, y[:4000])
