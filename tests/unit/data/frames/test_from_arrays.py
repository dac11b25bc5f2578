"""Columns from NumPy arrays that hold no plain numbers: fields, bytes, dates, masked ones."""

import datetime as dt

import numpy as np
import pytest

from weald.data.adapters import to_table
from weald.data.levels import level_key, unified
from weald.errors import DataError, DataTypeError


@pytest.mark.parametrize(
    ("dtype", "error", "message"),
    [
        (
            [("a", "f8"), ("b", "f8", (2,))],
            DataError,
            r"Column 'b' holds an array of shape \(2,\) in every row",
        ),
        ([("a", "U2", (2, 3))], DataError, r"Column 'a' holds an array of shape \(2, 3\) in every row"),
        (
            [("a", "f8"), ("b", [("c", "f8")])],
            DataTypeError,
            "'b' has the dtype .* Take its fields as columns",
        ),
        ([("a", "V4")], DataTypeError, r"Column 'a' has the dtype \|V4, which is no number"),
        ([("a", "c16")], DataError, "Complex data not supported: column 'a' is complex128"),
        ([("a", "M8")], DataTypeError, "Column 'a' has the dtype datetime64 without a unit"),
    ],
    ids=str,
)
def test_fields_that_are_no_columns(dtype, error, message):
    rows = np.zeros(3, dtype)
    with pytest.raises(error, match=message):
        to_table(rows)


def test_structured_arrays_of_two_dimensions():
    with pytest.raises(DataError, match="Column 'a' holds an array of shape"):
        to_table(np.zeros((3, 2), [("a", "f8")]))


def test_bytes_are_text_in_utf8():
    column = to_table(np.array([("é".encode(),), (b"",), (b"x",)], [("a", "S3")])).columns[0]
    assert [column.levels[i] for i in column.indices] == ["é", "", "x"]
    with pytest.raises(
        DataError, match=r"Column 'a', row 1: b'\\xff' is no text in UTF-8\. Decode the column"
    ):
        to_table(np.array([(b"x",), (b"\xff",), (b"\xfe",)], [("a", "S3")]))


def test_a_date_is_its_midnight():
    day, midnight = dt.date(2020, 2, 29), dt.datetime(2020, 2, 29)
    assert level_key(day) == level_key(midnight)
    assert level_key(day) != level_key(dt.datetime(2020, 2, 29, 1))
    column = unified("a", np.array([0, 1, 2, -1]), [day, midnight, dt.date(2021, 1, 1)])
    assert column.levels == (day, dt.date(2021, 1, 1))
    assert column.indices.tolist() == [0, 0, 1, -1]


@pytest.mark.parametrize("dtype", ["M8[D]", "M8[us]", "M8[ns]", "m8[ns]"])
def test_masked_dates_are_dates(dtype):
    ticks = np.array([3600, 7200, 10800], "i8").astype(dtype)
    whole = to_table(ticks[:, None]).columns[0]
    masked = to_table(np.ma.array(ticks[:, None], mask=[[False], [True], [False]])).columns[0]
    assert masked.unit == whole.unit
    assert masked.values[[0, 2]].tolist() == whole.values[[0, 2]].tolist()
    assert np.isnan(masked.values[1])


def test_masked_bytes_are_text():
    values = np.ma.array([[b"a"], [b"\xff"], [b"b"], [b"a"]], mask=[[False], [True], [False], [False]])
    column = to_table(values).columns[0]
    assert column.levels == ("a", "b")
    assert column.indices.tolist() == [0, -1, 1, 0]
