"""pandas' own dtypes: nullable, string, categorical, period, sparse, Arrow-backed."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from support.tables import values_of

from weald.data.adapters import to_table
from weald.data.frames.from_pandas import series_column
from weald.data.table import LevelColumn

NULLABLE = ["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64"]


@pytest.mark.parametrize("dtype", NULLABLE)
def test_nullable_numbers(dtype):
    column = series_column("x", pd.Series([1, pd.NA, 3], dtype=dtype))
    assert values_of(column) == [1.0, None, 3.0]
    assert column.values.dtype == np.dtype(dtype.lower())
    whole = series_column("x", pd.Series([1, 2], dtype=dtype))
    assert whole.missing is None


def test_nullable_bool():
    column = series_column("x", pd.Series([True, pd.NA, False], dtype="boolean"))
    assert column.unit == "bool"
    assert values_of(column) == [1.0, None, 0.0]


@pytest.mark.parametrize(
    "dtype", [object, "string", "string[python]", "string[pyarrow]", "str", pd.ArrowDtype(pa.string())]
)
@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_text(dtype, missing):
    if missing is not None and isinstance(dtype, pd.ArrowDtype):
        missing = None
    column = series_column("s", pd.Series(["b", missing, "a", "b"], dtype=dtype))
    assert isinstance(column, LevelColumn)
    assert column.indices.dtype == np.int32
    assert values_of(column) == [("str", "b"), None, ("str", "a"), ("str", "b")]


def test_categories():
    text = pd.Series(pd.Categorical(["b", None, "a"], categories=["b", "unused", "a"]))
    column = series_column("c", text)
    assert column.kind == "categorical"
    assert values_of(column) == [("str", "b"), None, ("str", "a")]
    ordered = pd.Series(pd.Categorical(["hi", "lo"], categories=["lo", "mid", "hi"], ordered=True))
    column = series_column("c", ordered)
    assert column.kind == "ordinal"
    assert column.levels == ("lo", "mid", "hi")
    assert column.indices.tolist() == [2, 0]
    whole = series_column("c", pd.Series(pd.Categorical([3.0, None, 1.0])))
    assert values_of(whole) == [("int", 3), None, ("int", 1)]
    stamps = series_column("c", pd.Series(pd.Categorical(pd.to_datetime(["2020-01-01"]))))
    assert values_of(stamps) == [("datetime", dt.datetime(2020, 1, 1))]
    assert type(stamps.levels[0]) is dt.datetime


def test_periods_are_dates():
    column = series_column("p", pd.Series(pd.period_range("2020-01", periods=2, freq="M")))
    assert column.unit == "datetime"
    assert column.values[0] == dt.datetime(2020, 1, 1, tzinfo=dt.UTC).timestamp() * 1e6


def test_sparse_columns_become_dense():
    frame = pd.DataFrame({"s": pd.arrays.SparseArray([0, 0, 5])})
    assert values_of(to_table(frame).columns[0]) == [0.0, 0.0, 5.0]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo"])
def test_datetimes(unit, zone):
    series = pd.Series(pd.to_datetime(["2020-01-01", None])).astype(f"datetime64[{unit}]")
    if zone:
        series = series.dt.tz_localize("UTC").dt.tz_convert(zone)
    column = series_column("t", series)
    assert column.unit == ("instant" if zone else "datetime")
    assert values_of(column) == [dt.datetime(2020, 1, 1, tzinfo=dt.UTC).timestamp() * 1e6, None]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations(unit):
    column = series_column("t", pd.Series(pd.to_timedelta(["1h", None])).astype(f"timedelta64[{unit}]"))
    assert column.unit == "duration"
    assert values_of(column) == [3600e6, None]


def test_objects_of_numbers_dates_and_times():
    assert values_of(series_column("x", pd.Series([1, 2.5, None], dtype=object))) == [1.0, 2.5, None]
    assert values_of(series_column("x", pd.Series([np.float32(1), np.int8(2)], dtype=object))) == [1.0, 2.0]
    times = series_column("x", pd.Series([dt.time(1, 0, 0, 5), None], dtype=object))
    assert (times.unit, values_of(times)) == ("duration", [3600e6 + 5, None])
    stamps = series_column("x", pd.Series([pd.Timestamp("1970-01-02"), pd.NaT], dtype=object))
    assert (stamps.unit, values_of(stamps)) == ("datetime", [86400e6, None])


def test_index_and_extension_arrays():
    assert values_of(series_column("x", pd.Index([1, 2]))) == [1.0, 2.0]
    assert values_of(series_column("x", pd.array([1, None], dtype="Int64"))) == [1.0, None]
