"""Targets and weights from every container, and what is wrong with bad ones."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning

import weald
from weald.data.target import read_labels, read_target, read_weight, restore_labels
from weald.errors import DataError, DataTypeError


def labels(y, n_rows=None):
    """The labels of the only output."""
    (found,) = read_labels(y, n_rows=len(y) if n_rows is None else n_rows, estimator="Tree")
    return found


def target(y, n_rows=None):
    """The numbers of the only output."""
    found = read_target(y, n_rows=len(y) if n_rows is None else n_rows, estimator="Tree")
    assert found.shape[1] == 1
    return found[:, 0]


CONTAINERS = [
    list,
    tuple,
    np.array,
    pd.Series,
    pd.Index,
    pl.Series,
    pa.array,
    lambda v: pa.chunked_array([v]),
]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(
    "values",
    [
        ["b", "a", "b", "c"],
        [3, 1, 3, 2],
        [-5, 10**12, -5, 0],
        [2.0, 0.0, 2.0, 1.0],
        [True, False, True, True],
    ],
    ids=str,
)
def test_labels_of_every_container(container, values):
    found = labels(container(values))
    assert found.classes.tolist() == sorted(set(values))
    assert found.indices.dtype == np.int32
    assert restore_labels(found.classes, found.indices).tolist() == values
    assert type(found.classes.tolist()[0]) is type(values[0])


def test_label_types():
    assert labels(["a", "b"]).classes.dtype.kind == "U"
    assert labels(np.array(["a", "b"])).classes.dtype.kind == "U"
    assert labels(np.array(["a", "b"], dtype=object)).classes.dtype == object
    assert labels(pd.Series(["a", "b"])).classes.dtype == object
    assert labels(np.array([1, 2], dtype=np.uint8)).classes.dtype == np.uint8
    assert labels(np.array([1, 2], dtype=object)).classes.dtype == np.int64
    assert labels(np.array([2**64 - 1, 2**64 - 3], dtype=np.uint64)).classes.tolist() == [
        2**64 - 3,
        2**64 - 1,
    ]
    categories = labels(pd.Series(pd.Categorical(["b", "a"], categories=["z", "b", "a"])))
    assert categories.classes.tolist() == ["a", "b"]
    assert labels(pd.Categorical([3, 1])).classes.tolist() == [1, 3]
    assert labels(pd.array([3, 1], dtype="Int64")).classes.tolist() == [1, 3]
    assert labels(pl.Series(["b", "a"], dtype=pl.Categorical)).classes.tolist() == ["a", "b"]
    days = np.array(["2020-01-02", "2020-01-01"], dtype="datetime64[D]")
    assert labels(days).classes.tolist() == sorted(days.tolist())
    stamps = labels(pl.Series([dt.datetime(2020, 1, 2), dt.datetime(2020, 1, 1)]))
    assert stamps.classes.tolist() == [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2)]
    assert labels([5, 5, 5]).classes.tolist() == [5]


@pytest.mark.parametrize(
    "y", [pd.DataFrame({"y": [1, 0]}), pl.DataFrame({"y": [1, 0]}), pa.table({"y": [1, 0]})]
)
def test_tables_of_one_column(y):
    assert labels(y, 2).classes.tolist() == [0, 1]
    assert target(y, 2).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("y", [np.array([[1], [0]]), [[1], [0]]])
def test_column_vectors(y):
    assert labels(y).indices.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.5, 1.0], "Unknown label type: continuous. Row 0 of the target y holds 0.5"),
        ([1.0, np.nan], "Input y contains NaN: row 1"),
        (["a", None], "Input y contains NaN: row 1"),
        (pl.Series([1, None]), "Input y contains NaN: row 1"),
        (pd.Series(["a", None, "b"]), "Input y contains NaN: row 1"),
        ([1.0, np.inf], "Input y contains infinity .* row 1"),
        (
            np.array(["a", 1], object),
            "mixes text and numbers: row 0 holds 'a' and row 1 holds 1. Convert the column to one type.$",
        ),
        (["a", 1, None], "mixes text and numbers"),
        (np.zeros((2, 1, 1)), "one label per row"),
        (np.array([1j, 2j]), "Complex data not supported"),
        ([{}, {}], "Unknown label type: unknown"),
        (np.array([(1, 2), None], dtype=object), "Unknown label type: unknown"),
    ],
)
def test_labels_that_cannot_be(y, message):
    with pytest.raises(DataError, match=message):
        labels(y)


@pytest.mark.parametrize("read", [read_labels, read_target])
def test_absent_and_wrong_lengths(read):
    with pytest.raises(ValueError, match="Tree requires y to be passed, but the target y is None"):
        read(None, n_rows=3, estimator="Tree")
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[10, 9\]"):
        read(list(range(9)), n_rows=10, estimator="Tree")
    with pytest.raises(TypeError, match="got str"):
        read("abc", n_rows=3, estimator="Tree")
    with pytest.raises(ValueError, match="single value"):
        read(np.array(1), n_rows=3, estimator="Tree")


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("values", [[1.5, -2.0], [1, 2], [True, False]], ids=str)
def test_targets_of_every_container(container, values):
    found = target(container(values))
    assert found.dtype == np.float64
    assert found.tolist() == [float(v) for v in values]


def test_target_types():
    decimals = [Decimal("1.5"), Decimal("2.25")]
    for y in (decimals, np.array(decimals, dtype=object), pa.array(decimals), pl.Series(decimals)):
        assert target(y).tolist() == [1.5, 2.25]
    assert target(pd.Series([1, 2], dtype="Int64")).tolist() == [1.0, 2.0]
    assert target(np.array([1, 2], dtype=object)).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, np.nan], "Input y contains NaN: row 1"),
        ([1.0, None], "Input y contains NaN: row 1"),
        ([1.0, -np.inf], "Input y contains infinity .*row 1 holds -inf"),
        (["1", "2"], "must be numbers; row 0 holds '1'"),
        (pd.Series([None, "a"]), "must be numbers; row 1 holds 'a'"),
        (pd.Series([None, None], dtype="str"), "every value is missing"),
        ([1.0, "a"], "mixes numbers and text"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "must be numbers; got datetime"),
        (np.zeros((2, 2, 1)), "one number per row; got an array of shape"),
        (np.array([1j, 2j]), "Complex data not supported"),
    ],
)
def test_targets_that_cannot_be(y, message):
    with pytest.raises(DataError, match=message):
        target(y)


@pytest.mark.parametrize("container", CONTAINERS)
def test_weights_of_every_container(container):
    weight = read_weight(container([1.0, 0.0, 2.5]), n_rows=3)
    assert weight.tolist() == [1.0, 0.0, 2.5]
    assert weight.dtype == np.float64


def test_no_weight_and_scalar_weight():
    assert read_weight(None, n_rows=3) is None
    assert read_weight(2, n_rows=3).tolist() == [2.0, 2.0, 2.0]
    assert read_weight(np.float32(0.5), n_rows=2).tolist() == [0.5, 0.5]
    with pytest.raises(
        DataTypeError, match=r"at least 1 dimension.* scalar `array\(3\.\)` .* one number per row"
    ):
        read_weight(np.array(3), n_rows=2)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, -1.0], "negative values: row 1 has -1.0"),
        ([1.0, np.nan], "contains NaN: row 1"),
        ([1.0, None], "contains NaN: row 1"),
        ([np.inf, 1.0], "contains infinity: row 0"),
        ([0.0, 0.0], "zero in every row"),
        ([1.0], "1 values for 2 rows"),
        (np.ones((2, 1)), "1D array or scalar"),
        ([[1.0], [1.0]], "1D array or scalar"),
        (pd.DataFrame({"w": [1.0, 1.0]}), "1D array or scalar"),
        (-1, "negative values: row 0"),
    ],
)
def test_weights_that_cannot_be(weight, message):
    with pytest.raises(ValueError, match=message):
        read_weight(weight, n_rows=2)


def test_weights_that_are_no_numbers():
    with pytest.raises(TypeError, match="sample_weight must be numbers"):
        read_weight(["a", "b"], n_rows=2)


def test_a_list_of_text_and_numbers_is_text_as_numpy_reads_it():
    (found,) = read_labels(["a", 1, "a", 2.5, True], n_rows=5, estimator="tree")
    assert found.classes.tolist() == np.unique(np.asarray(["a", 1, "a", 2.5, True])).tolist()
    assert found.classes[found.indices].tolist() == ["a", "1", "a", "2.5", "True"]


@pytest.mark.parametrize("kind", [weald.AdaBoostRegressor, weald.GradientBoostingRegressor])
def test_a_target_of_one_column_warns_in_scikit_learns_class(kind):
    X = np.arange(8.0)[:, np.newaxis]
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed") as caught:
        column = kind(n_estimators=2, random_state=0).fit(X, X)
    assert caught[0].filename == __file__
    assert (
        column.predict(X).tolist() == kind(n_estimators=2, random_state=0).fit(X, X[:, 0]).predict(X).tolist()
    )
