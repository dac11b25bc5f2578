"""Every container gives the same table, and what cannot be a table says why."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.tables import assert_same_column, assert_same_table, data_file, values_of
from unit.data.containers import CONTAINERS, DAY

from weald.data.adapters import to_table
from weald.data.codes import encode
from weald.data.schema import Schema
from weald.data.table import LevelColumn, NumericColumn, Table
from weald.errors import DataError, DataTypeError

# name → values with a missing one, as Python values
VALUES = {
    "float": [1.5, None, -2.0],
    "int": [1, None, -3],
    "bool": [True, None, False],
    "text": ["b", None, "a"],
    "datetime": [DAY, None, DAY + dt.timedelta(days=1)],
    "date": [DAY.date(), None, dt.date(1960, 1, 1)],
    "duration": [dt.timedelta(hours=1), None, dt.timedelta(microseconds=-5)],
    "decimal": [Decimal("1.25"), None, Decimal("-3.10")],
    "nothing": [None, None, None],
}

WHOLE = {name: [values[0], values[2], values[0]] for name, values in VALUES.items() if name != "nothing"}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kind", VALUES)
def test_a_column_with_a_missing_value_is_the_same_from_every_container(container, kind):
    expected = to_table({kind: VALUES[kind]})
    table = to_table(container({kind: VALUES[kind]}))
    if kind == "bool":  # NumPy and pandas have no bool with a hole: both are numeric
        assert values_of(table.columns[0]) == [1.0, None, 0.0]
        return
    assert_same_table(table, expected)
    assert values_of(table.columns[0])[1] is None


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kind", WHOLE)
def test_a_column_without_missing_values_is_the_same_from_every_container(container, kind):
    expected = to_table({kind: WHOLE[kind]})
    table = to_table(container({kind: WHOLE[kind]}))
    assert_same_table(table, expected)
    assert Schema.of(table) == Schema.of(expected)
    assert None not in values_of(table.columns[0])


@pytest.mark.parametrize("container", CONTAINERS)
def test_all_kinds_together(container):
    table = to_table(container(WHOLE))
    assert table.names == tuple(WHOLE)
    assert table.named
    assert [c.kind for c in table.columns] == ["numeric"] * 3 + ["categorical"] + ["numeric"] * 4
    units = [c.unit for c in table.columns if isinstance(c, NumericColumn)]
    assert units == ["number", "number", "bool", "datetime", "datetime", "duration", "number"]


def test_numpy_columns_are_views():
    X = np.arange(12, dtype=np.float32).reshape(4, 3)
    table = to_table(X)
    assert tuple(table.names) == (0, 1, 2)
    assert not table.named
    for j, column in enumerate(table.columns):
        assert np.shares_memory(column.values, X)
        np.testing.assert_array_equal(column.values, X[:, j])


def test_pandas_columns_are_views():
    frame = pd.DataFrame(np.arange(12.0).reshape(4, 3), columns=list("abc"))
    for name, column in zip("abc", to_table(frame).columns, strict=True):
        assert np.shares_memory(column.values, frame[name].to_numpy())


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "longdouble", ">f4", ">i8", "int8", "uint64"]
)
def test_number_types(dtype):
    X = np.array([[1, 2], [3, 4], [5, 6]]).astype(dtype)
    table = to_table(X)
    assert table.columns[0].values.dtype.isnative
    assert table.columns[0].values.dtype.itemsize in (1, 4, 8)
    assert values_of(table.columns[1]) == [2.0, 4.0, 6.0]


def test_numbers_beyond_int64():
    assert values_of(to_table([[2**70], [1]]).columns[0]) == [float(2**70), 1.0]
    big = np.array([[2**64 - 1], [0]], dtype=np.uint64)
    assert values_of(to_table(big).columns[0]) == [float(2**64 - 1), 0.0]
    with pytest.raises(DataError, match="too large for float64"):
        to_table([[10**400], [1]])


def test_lists_of_rows_infer_each_column():
    table = to_table([[1, "a", None, True], [2.5, "b", 3, False], [None, None, 4, None]])
    assert [c.kind for c in table.columns] == ["numeric", "categorical", "numeric", "numeric"]
    assert values_of(table.columns[0]) == [1.0, 2.5, None]
    assert values_of(table.columns[1]) == [("str", "a"), ("str", "b"), None]
    assert table.columns[3].unit == "bool"
    assert values_of(to_table([(1, 2), (3, 4)]).columns[1]) == [2.0, 4.0]


def test_structured_and_masked_arrays():
    records = np.array([(1, 2.5, "x"), (3, 4.5, "y")], dtype=[("a", "i1"), ("b", "f8"), ("c", "U3")])
    table = to_table(records)
    assert table.names == ("a", "b", "c")
    assert table.named
    assert values_of(table.columns[1]) == [2.5, 4.5]
    assert values_of(table.columns[2]) == [("str", "x"), ("str", "y")]
    masked = np.ma.array([[1, 2], [3, 4]], mask=[[True, False], [False, False]])
    assert values_of(to_table(masked).columns[0]) == [None, 3.0]


def test_text_arrays():
    for array in (
        np.array([["a"], ["b"]]),
        np.array([[b"a"], [b"b"]]),
        np.array([["a"], ["b"]], dtype=object),
        np.array([["a"], ["b"]], dtype=np.dtypes.StringDType()),
    ):
        assert values_of(to_table(array).columns[0]) == [("str", "a"), ("str", "b")]


def test_mapping_of_mixed_containers():
    table = to_table(
        {"a": pd.Series([1, 2]), "b": pl.Series(["x", None]), "c": pa.array([1.5, 2.5]), "d": (1, 2)}
    )
    assert [c.kind for c in table.columns] == ["numeric", "categorical", "numeric", "numeric"]
    with pytest.raises(DataError, match="Column 'b' has 1 rows and column 'a' has 2"):
        to_table({"a": [1, 2], "b": [1]})
    with pytest.raises(DataTypeError, match="'a' must be a sequence"):
        to_table({"a": "text", "b": [1]})


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.zeros(3), ValueError, "Expected 2D array, got 1D array instead(.|\n)*Reshape your data"),
        ([1, 2, 3], ValueError, "Expected 2D array, got 1D array instead(.|\n)*Reshape your data"),
        (np.zeros((2, 2, 2)), ValueError, "Found array with dim 3"),
        (np.array(3.0), ValueError, "Expected 2D array, got scalar array instead"),
        (
            np.zeros((0, 3)),
            ValueError,
            r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1",
        ),
        (
            np.zeros((12, 0)),
            ValueError,
            r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required.",
        ),
        (pd.DataFrame({"a": []}), ValueError, r"0 sample\(s\)"),
        (pl.DataFrame({"a": []}), ValueError, r"0 sample\(s\)"),
        (pd.DataFrame(index=range(3)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\)"),
        (np.array([[1j]]), ValueError, "Complex data not supported"),
        ([[1j], [2]], ValueError, "Complex data not supported"),
        (np.array([[1j], ["a"]], dtype=object), ValueError, "Complex data not supported"),
        (pd.DataFrame({"a": [1j]}), ValueError, "Complex data not supported: column 'a'"),
        (np.array([[{"a": 1}], [2]], dtype=object), TypeError, "argument must be .* string.* number"),
        (pl.Series([1, 2]), DataError, "Expected 2D array, got 1D array"),
        (pd.Series([1, 2]), DataError, "Expected 2D array, got 1D array"),
        (pl.DataFrame({"a": [[1, 2]]}), DataTypeError, "'a' has the Arrow type list"),
        (pl.DataFrame({"a": [{"b": 1}]}), DataTypeError, "'a' has the Arrow type struct"),
        (pl.DataFrame({"a": [b"1"]}), DataTypeError, "'a' has the Arrow type binary"),
        (pd.DataFrame({"a": pd.IntervalIndex.from_breaks([0, 1, 2])}), DataTypeError, "'a'.*interval"),
        (pd.DataFrame({"a": [1, 2], "b": ["x", 3]}), DataError, "'b' mixes text and numbers: row 0 .* row 1"),
        ([["x", 1], [2, 2]], DataError, "Column 0 mixes text and numbers.*'x'.*row 1 holds 2"),
        ([[1, 2], [3]], DataError, "Row 1 has another length"),
        (pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]), DataError, "more than once: 'a'"),
        (pa.table([[1], [2]], names=["a", "a"]), DataError, "more than once: 'a'"),
        (pd.DataFrame([[1, 2]], columns=[7, 7]), DataError, "more than once: 7"),
        (
            pd.DataFrame([[1, 2]], columns=["a", 1]),
            TypeError,
            "Feature names are only supported if all input",
        ),
        ({"a": np.array([1, 2], dtype="m8")}, DataTypeError, "'a' has the dtype timedelta64 without a unit"),
        (None, DataTypeError, "A table is expected.*NoneType"),
        ("text", DataTypeError, "A table is expected.*str"),
        (3, DataTypeError, "A table is expected.*int"),
        (object(), DataTypeError, "A table is expected.*object"),
    ],
)
def test_what_is_no_table_says_why(X, error, message):
    with pytest.raises(error, match=message):
        to_table(X)


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", object])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("max_bins", [None, 16])
def test_infinite_values_name_column_and_row(bad, dtype, order, max_bins):
    X = np.array(np.ones((2000, 3)), dtype=dtype, order=order)
    X[1500, 1] = bad
    X[10, 2] = bad
    X[3, 0] = np.nan
    with pytest.raises(DataError, match=re.escape(f"Column 1 contains inf: row 1500 holds {bad}")):
        encode(to_table(X), max_bins=max_bins, n_threads=2)


def test_infinite_values_in_frames():
    for frame in (
        pd.DataFrame({"a": [1, 2], "b": [0.5, np.inf]}),
        pl.DataFrame({"a": [1, 2], "b": [0.5, np.inf]}),
    ):
        with pytest.raises(DataError, match="Column 'b' contains inf: row 1"):
            encode(to_table(frame), max_bins=None)


def test_infinity_under_a_null_does_not_count():
    values = np.array([1.0, np.inf, np.nan])
    masked = Table((NumericColumn("a", values, np.array([False, True, False])),), 3, True)
    assert encode(masked, max_bins=None).column(0).tolist() == [1, 0, 0]


def test_integer_names_count_as_unnamed():
    assert not to_table(pd.DataFrame([[1, 2]])).named
    table = to_table(pd.DataFrame([[1, 2]], columns=[5, 7]))
    assert not table.named
    assert table.names == (5, 7)
    assert to_table(
        pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]))
    ).names == (
        ("a", 1),
        ("b", 2),
    )


def test_time_resolutions_give_the_same_number():
    instants = np.array(
        ["2021-03-04T05:06:07.891234", "1905-01-02T03:04:05.000001", "NaT"], dtype="datetime64[us]"
    )
    expected = [1614834367891234.0, None]
    for unit in ("us", "ns"):
        column = to_table({"t": instants.astype(f"datetime64[{unit}]")}).columns[0]
        assert values_of(column)[0] == expected[0]
        assert values_of(column) == values_of(to_table({"t": instants}).columns[0])
        polars = pl.DataFrame({"t": pl.Series(instants).cast(pl.Datetime(unit))})
        assert_same_column(to_table(polars).columns[0], column)
        arrow = pa.table({"t": pa.array(instants, pa.timestamp(unit))})
        assert_same_column(to_table(arrow).columns[0], column)
    for unit in ("ms", "s", "m", "h", "D", "W", "M", "Y"):
        coarse = np.array(["2021-01-01"], dtype="datetime64[D]").astype(f"datetime64[{unit}]")
        ticks = coarse.astype("datetime64[us]").astype(np.int64)[0]
        assert values_of(to_table({"t": coarse}).columns[0]) == [float(ticks)]


def test_time_zones_become_instants():
    utc = pd.to_datetime(["2020-01-01 12:00", "2020-07-01 12:00"]).tz_localize("UTC")
    plain = replace(to_table({"t": utc.tz_localize(None).to_numpy()}).columns[0], unit="instant")
    paris = utc.tz_convert("Europe/Paris")
    for frame in (pd.DataFrame({"t": paris}), pl.DataFrame({"t": pl.Series(paris.to_list())})):
        assert_same_column(to_table(frame).columns[0], plain)
    objects = {"t": np.array([t.to_pydatetime() for t in paris], dtype=object)}
    assert_same_column(to_table(objects).columns[0], plain)


REAL = ["penguins.csv.gz", "titanic.csv.gz", "adult.parquet", "ames_housing.csv.gz", "credit_approval.csv.gz"]


@pytest.mark.parametrize("name", REAL)
def test_real_tables_are_the_same_from_every_library(name):
    path = data_file(name)
    parquet = name.endswith("parquet")
    frame = pl.read_parquet(path) if parquet else pl.read_csv(path, infer_schema_length=None)
    tables = {
        "polars": to_table(frame),
        "pandas": to_table(frame.to_pandas()),
        "pandas arrow": to_table(frame.to_pandas(use_pyarrow_extension_array=True)),
        "arrow": to_table(frame.to_arrow()),
        "chunked": to_table(pl.concat([frame[:100], frame[100:]], rechunk=False)),
    }
    schema = Schema.of(tables["polars"])
    for table in tables.values():
        found = Schema.of(table)
        assert [(c.name, c.kind, c.levels) for c in found.columns] == [
            (c.name, c.kind, c.levels) for c in schema.columns
        ]
        aligned = schema.align(table)
        for left, right in zip(aligned.columns, schema.align(tables["polars"]).columns, strict=True):
            if isinstance(left, LevelColumn):
                np.testing.assert_array_equal(left.indices, right.indices)
            else:
                assert values_of(left) == values_of(right)


@pytest.mark.parametrize(
    "series", [pd.Series([1.0, 2.0]), pl.Series([1.0, 2.0]), pd.Series({"Age": 22.0, "Sex": "male"})]
)
def test_a_series_is_no_table(series):
    with pytest.raises(
        DataError, match=r"Expected 2D array, got 1D array instead: X is one column.*X.iloc\[\[0\]\]"
    ):
        to_table(series)
