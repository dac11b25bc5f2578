"""Where rows stand: what is missing, categories, ranks, and what a column says nothing of."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from weald.data.adapters import to_table
from weald.data.schema import Schema
from weald.errors import DataError, ParameterError
from weald.neighbors.metrics import Metric
from weald.neighbors.search import nearest
from weald.neighbors.space import RowSpace


def spaced(X, **options):
    table = to_table(X)
    schema = Schema.of(table)
    aligned = schema.align(table)
    space = RowSpace.of(aligned, schema, **{"metric": "euclidean", "scale": False, **options})
    return space, space.place(aligned)


def distances(space, rows):
    """Of every row with every row, by row number."""
    found, order = nearest(space, rows, rows, rows.n_rows)
    out = np.empty_like(found)
    np.put_along_axis(out, order, found, axis=1)
    return out


def test_numbers_are_the_users_own():
    X = np.random.default_rng(0).normal(size=(20, 3))
    rows = spaced(X)[1]
    assert rows.numeric is X
    assert rows.codes.shape == (20, 0)
    rows = spaced(X, scale=True)[1]
    np.testing.assert_allclose(rows.numeric, StandardScaler().fit_transform(X), rtol=1e-12, atol=1e-14)


def test_a_missing_number_is_as_far_as_is_to_be_expected():
    values = np.array([1.0, 2.0, 6.0, np.nan, np.nan])
    space, rows = spaced(values[:, None])
    found, known = distances(space, rows), values[:3]
    for i in range(3):
        assert found[i, 3] ** 2 == pytest.approx(np.mean((known[i] - known) ** 2))
    assert found[3, 4] == 0


def test_a_missing_category_is_as_far_as_is_to_be_expected():
    space, rows = spaced({"c": ["a", "a", "a", "b", None, None]}, mismatch=2.0)
    found = distances(space, rows)
    assert found[0, 3] == 2.0
    assert found[0, 4] ** 2 == pytest.approx(4.0 * 1 / 4)
    assert found[3, 4] ** 2 == pytest.approx(4.0 * 3 / 4)
    assert found[4, 5] == 0
    city, rows = spaced({"c": ["a", "a", "a", "b", None, None]}, mismatch=2.0, metric="manhattan")
    assert distances(city, rows)[0, 4] == pytest.approx(2.0 * 1 / 4)


def test_the_constant_of_categories_is_the_median_deviation():
    X = {"x": [0.0, 2.0], "y": [0.0, 20.0], "z": [0.0, 6.0], "same": [3.0, 3.0], "c": ["a", "b"]}
    space, rows = spaced(X)
    assert space.mismatch.tolist() == [3.0]
    assert distances(space, rows)[0, 1] == pytest.approx(np.sqrt(4 + 400 + 36 + 9))
    assert spaced(X, scale=True)[0].mismatch.tolist() == [1.0]
    assert spaced({"c": ["a", "b"]})[0].mismatch.tolist() == [1.0]
    assert spaced(X, mismatch=0.5)[0].mismatch.tolist() == [0.5]
    with pytest.raises(ParameterError, match="`mismatch` must be a finite number of at least 0; got -1"):
        spaced(X, mismatch=-1)


def test_ordinal_levels_differ_by_rank():
    grade = pd.Categorical(["low", "mid", "high", None], ["low", "mid", "high"], ordered=True)
    space, rows = spaced(pd.DataFrame({"grade": grade}))
    assert rows.numeric[:3, 0].tolist() == [0.0, 1.0, 2.0]
    assert np.isnan(rows.numeric[3, 0])
    assert distances(space, rows)[0, :3].tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("scale", [False, True])
def test_a_column_all_missing_says_nothing(make, scale):
    whole = np.array([[1.0, 7.0], [2.0, 8.0], [5.0, 9.0]])
    empty = whole.copy()
    empty[:, 1] = np.nan
    space, rows = spaced(make(empty), scale=scale)
    alone, expected = spaced(make(whole[:, :1]), scale=scale)
    assert (distances(space, rows) == distances(alone, expected)).all()
    table = space.schema.align(to_table(make(whole)))  # known at last, and still without meaning
    assert (nearest(space, rows, space.place(table), 3)[0] == nearest(space, rows, rows, 3)[0]).all()


def test_only_categories():
    space, rows = spaced({"a": ["x", "y", "x"], "b": ["p", "p", "q"]}, metric="mixed")
    assert rows.numeric.shape == (3, 0)
    np.testing.assert_allclose(distances(space, rows)[0], [0, 1, 1])
    assert distances(space, rows)[1, 2] == np.sqrt(2)


def test_weights_count_in_what_is_learned():
    X = {"x": [0.0, 1.0, 5.0], "c": ["a", "b", "b"]}
    twice = {name: [values[0], *values] for name, values in X.items()}
    one = spaced(X, scale=True, weight=np.array([2.0, 1.0, 1.0]))[0]
    two = spaced(twice, scale=True)[0]
    for name in ("shift", "divisor", "middle", "spread"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name))
    np.testing.assert_allclose(one.shares[0], two.shares[0])


@pytest.mark.parametrize("p", [1.0, 3.0, np.inf])
def test_sparse_columns_have_the_middle_of_dense_ones(p):
    X = np.array([[0.0, 3.0], [0.0, 4.0], [2.0, 0.0], [np.nan, 9.0], [1.0, np.nan]])
    dense, compressed = (
        spaced(make(X), metric=("minkowski", p))[0] for make in (np.asarray, sparse.csr_array)
    )
    np.testing.assert_allclose(dense.middle, compressed.middle)
    np.testing.assert_allclose(dense.spread, compressed.spread)


def test_infinite_numbers_and_those_beyond_float64_are_refused():
    with pytest.raises(DataError, match="'x'"):
        spaced({"x": [1.0, np.inf]})
    space, _ = spaced({"x": [1e-300, 2e-300]}, scale=True)
    with pytest.raises(DataError, match="Column 'x' holds a number that is too large to be scaled"):
        space.place(space.schema.align(to_table({"x": [1e200]})))


def test_metrics_by_name():
    assert Metric.of("l1") == Metric.of(("minkowski", 1)) == Metric("manhattan", 1.0)
    assert Metric.of(("minkowski", np.inf)).name == "chebyshev"
    with pytest.raises(ParameterError, match=r"no metric 'euclidian'\. Did you mean 'euclidean'"):
        Metric.of("euclidian")
    with pytest.raises(ParameterError, match="above 0; got 0"):
        Metric.of(("minkowski", 0))
