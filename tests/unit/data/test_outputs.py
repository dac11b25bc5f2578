"""Targets with several columns: every container, and errors that name the column."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from weald.data.target import read_labels, read_target
from weald.errors import DataError, DataTypeError

SIZE, COLOUR = [3, 1, 3, 2], ["red", "blue", "blue", "red"]
COLUMNS = {"size": SIZE, "colour": COLOUR}
ROWS = [list(row) for row in zip(SIZE, COLOUR, strict=True)]
STRUCTURED = np.array([tuple(row) for row in ROWS], dtype=[("size", "i8"), ("colour", "U4")])


def labels(y, n_rows=4):
    return read_labels(y, n_rows=n_rows, estimator="Tree")


def target(y, n_rows=4):
    return read_target(y, n_rows=n_rows, estimator="Tree")


@pytest.mark.parametrize(
    "y",
    [
        ROWS,
        tuple(map(tuple, ROWS)),
        np.array(ROWS, dtype=object),
        STRUCTURED,
        pd.DataFrame(COLUMNS),
        pd.DataFrame({"size": SIZE, "colour": pd.Categorical(COLOUR)}),
        pl.DataFrame(COLUMNS),
        pa.table(COLUMNS),
        pa.record_batch(COLUMNS),
        COLUMNS,
    ],
    ids=lambda y: type(y).__name__,
)
def test_labels_of_different_types_from_every_container(y):
    size, colour = labels(y)
    assert size.classes.tolist() == [1, 2, 3]
    assert size.indices.tolist() == [2, 0, 2, 1]
    assert colour.classes.tolist() == ["blue", "red"]
    assert colour.indices.tolist() == [1, 0, 0, 1]
    assert size.indices.dtype == colour.indices.dtype == np.int32


NUMBERS = {"a": [1.5, -2.0, 0.0], "b": [4, 5, 6]}


@pytest.mark.parametrize(
    "y",
    [
        np.column_stack([NUMBERS["a"], NUMBERS["b"]]),
        np.column_stack([NUMBERS["a"], NUMBERS["b"]]).tolist(),
        np.asfortranarray(np.column_stack([NUMBERS["a"], NUMBERS["b"]])),
        list(np.column_stack([NUMBERS["a"], NUMBERS["b"]])),
        pd.DataFrame(NUMBERS),
        pd.DataFrame(NUMBERS).convert_dtypes(),
        pl.DataFrame(NUMBERS),
        pa.table(NUMBERS),
        NUMBERS,
    ],
    ids=lambda y: type(y).__name__,
)
def test_numbers_from_every_container(y):
    found = target(y, 3)
    assert found.tolist() == [[1.5, 4.0], [-2.0, 5.0], [0.0, 6.0]]
    assert found.dtype == np.float64
    assert found.flags.c_contiguous


def test_types_of_labels_by_column():
    mixed = pd.DataFrame({"t": ["a", "b"] * 2, "n": np.int8([1, 2] * 2), "f": [True, False] * 2})
    text, raw, flag = labels(mixed)
    assert text.classes.dtype == object
    assert raw.classes.dtype == np.int8
    assert flag.classes.dtype == np.bool_
    assert [found.classes.dtype.kind for found in labels(ROWS)] == ["i", "U"]
    assert [found.classes.dtype for found in labels(np.array([["a", "bb"]] * 4))] == ["<U1", "<U2"]
    days = np.array([["2020-01-02", "2020-01-01"]] * 4, dtype="datetime64[D]")
    assert labels(days)[1].classes.tolist() == [dt.date(2020, 1, 1)]


def test_a_masked_array():
    y = np.ma.array([[1, 2], [3, 4]], mask=[[False, False], [True, False]])
    with pytest.raises(DataError, match="Input y contains NaN: row 1 of column 0 has no value"):
        labels(y, 2)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (pd.DataFrame({"a": [1, 2], "b": ["x", None]}), "Input y contains NaN: row 1 of column 'b' has no"),
        (pl.DataFrame({"a": [None, 2], "b": ["x", "y"]}), "Input y contains NaN: row 0 of column 'a' has no"),
        (np.array([[1.0, np.nan], [0.0, 0.0]]), "Input y contains NaN: row 0 of column 1 has no value"),
        (np.array([[1.0, 0.0], [0.0, np.inf]]), "contains infinity .* row 1 of column 1 holds inf"),
        ([[1, 0.5], [1, 1.0]], "continuous. Row 0 of column 1 of the target y holds 0.5"),
        ([[1, "a"], [1, 2]], "Column 1 of y mixes text and numbers: row 0 .* column to one type.$"),
        ([[1, {}], [1, {}]], "Unknown label type: unknown. Column 1 of y, row 0"),
        (pa.table({"a": [1, 2], "b": [[1], [2]]}), "Unknown label type: .* Column 'b' has the Arrow type"),
        (np.array([[1, 1j], [1, 2j]]), "Complex data not supported: column 0 of y"),
        ([[1, 2], [1]], "differ in length: row 0 has 2 values and row 1 has 1 values"),
        ([[1, 2], 1], "differ in length: row 0 has 2 values and row 1 has a single value"),
        ([1, [1, 2]], "differ in length: row 0 has a single value and row 1 has 2 values"),
        ([[[1], [2]], [[1], [2]]], "more than two dimensions: row 0 holds sequences"),
        (np.zeros((2, 2, 1)), r"one label per row; got an array of shape \(2, 2, 1\). Give it the shape"),
        (np.zeros((2, 0)), "The target y has no columns. Give one label per row"),
        ([[], []], "The target y has no columns"),
        (pd.DataFrame(index=[0, 1]), "The target y has no columns"),
        (pl.DataFrame(), "The target y has no columns"),
        (np.zeros((3, 2)), r"inconsistent numbers of samples: \[2, 3\]"),
        ({"a": [1, 2], "b": [1]}, r"samples: \[2, 1\]. X has 2 rows and column 'b' of the target y has 1"),
    ],
)
def test_labels_that_cannot_be(y, message):
    with pytest.raises(DataError, match=message):
        labels(y, 2)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), "must be numbers; row 0 of column 'b' holds 'x'"),
        (pl.DataFrame({"a": [1.0, 2.0], "b": [None, None]}), "NaN: (every value|row 0) of column 'b'"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": pd.Series([None] * 2, dtype="str")}), "value of column 'b'"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": pd.to_datetime(["2020"] * 2)}), "datetime values in column 'b'"),
        ([[1.0, 2.0], [3.0, None]], "Input y contains NaN: row 1 of column 1"),
        ([[1.0, 2.0], [-np.inf, 0.0]], "row 1 of column 0 holds -inf"),
    ],
)
def test_numbers_that_cannot_be(y, message):
    with pytest.raises(DataError, match=message):
        target(y, 2)


def test_sparse_numbers_are_refused():
    with pytest.raises(DataTypeError, match=r"Sparse data was passed for the target y .* Use y\.toarray"):
        target(sparse.csr_matrix(np.eye(4)))


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array, sparse.dok_array])
@pytest.mark.parametrize("kind", [np.int64, np.float64, np.bool_])
def test_a_sparse_matrix_of_0_and_1_has_labels(make, kind):
    dense = np.eye(4, dtype=kind)
    for found, wanted in zip(labels(make(dense)), labels(dense), strict=True):
        np.testing.assert_array_equal(found.classes, wanted.classes)
        np.testing.assert_array_equal(found.indices, wanted.indices)


@pytest.mark.parametrize("y", [2 * np.eye(4), np.ones((4, 1)), np.full((4, 2), np.nan)])
def test_other_sparse_labels_are_refused(y):
    with pytest.raises(DataError, match=r"anything but a sparse multilabel-indicator .* Use y\.toarray"):
        labels(sparse.csr_array(y))
