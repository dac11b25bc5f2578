"""Values written into a user's table: kind and types stay, and what is written reads back the same."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pytest

from weald.data.adapters import to_table
from weald.data.frames.write import Cells, check_writable, places, take_rows, write_cells
from weald.errors import DataError, DataTypeError

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

ROW = np.array([1], np.intp)
NOON = dt.datetime(2024, 5, 4, 12, 0, 0, 250_000)
MICROSECONDS = float((NOON - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1))


def number(value, unit="number"):
    return Cells(ROW, np.array([value]), unit)


def level(value):
    return Cells(ROW, [value], None)


PANDAS = {
    "float32": (pd.Series([1.5, None, 2.5], dtype="float32"), number(2.25), 2.25),
    "int": (pd.Series([1, 2, 3]), number(7.6), 8),
    "Int16": (pd.Series([1, None, 3], dtype="Int16"), number(7.6), 8),
    "Float64": (pd.Series([1.0, None, 3.0], dtype="Float64"), number(7.6), 7.6),
    "boolean": (pd.Series([True, None, False], dtype="boolean"), number(0.6, "bool"), True),
    "bool": (pd.Series([True, True, False]), number(0.4, "bool"), False),
    "text": (pd.Series(["a", None, "b"], dtype="str"), level("b"), "b"),
    "object": (pd.Series(["a", None, "b"], dtype=object), level("b"), "b"),
    "category": (pd.Series(pd.Categorical(["a", None, "b"], categories=["b", "a"])), level("a"), "a"),
    "new category": (pd.Series(pd.Categorical(["a", None, "b"])), level("c"), "c"),
    "ordered": (pd.Series(pd.Categorical(["a", None, "b"], ["b", "a"], ordered=True)), level("a"), "a"),
    "numbers as levels": (pd.Series([1.0, None, 2.0]), level(2), 2.0),
    "date": (
        pd.Series(pd.to_datetime(["2024-01-01", None, "2025-01-01"])),
        number(MICROSECONDS, "datetime"),
        NOON,
    ),
    "zoned": (
        pd.Series(pd.to_datetime(["2024-01-01", None, "2025-01-01"])).dt.tz_localize("Europe/Berlin"),
        number(MICROSECONDS, "instant"),
        NOON.replace(tzinfo=dt.UTC),
    ),
    "span": (
        pd.Series(pd.to_timedelta([1, None, 3], unit="s")),
        number(2e6, "duration"),
        dt.timedelta(seconds=2),
    ),
    "period": (
        pd.Series(pd.PeriodIndex(["2024-01", "NaT", "2024-03"], freq="M")),
        number(MICROSECONDS, "datetime"),
        pd.Period("2024-05", freq="M"),
    ),
    "sparse": (pd.Series([1.0, np.nan, 3.0], dtype=pd.SparseDtype("float64", np.nan)), number(2.5), 2.5),
    "arrow int": (pd.Series([1, None, 3], dtype=pd.ArrowDtype(pa.int32())), number(2.4), 2),
}


@pytest.mark.parametrize("name", list(PANDAS))
def test_pandas(name):
    series, cells, expected = PANDAS[name]
    frame = pd.DataFrame({"other": [1, 2, 3], "x": series})
    frame.index = [7, 7, 9]
    before = frame.copy()
    out = write_cells(frame, {1: cells})
    assert frame.equals(before)
    assert out["x"].iloc[1] == expected
    assert out["x"].iloc[[0, 2]].tolist() == series.iloc[[0, 2]].tolist()
    assert out.index.equals(frame.index)
    assert out["other"].equals(frame["other"])
    if name != "new category":
        assert out["x"].dtype == series.dtype


def test_an_ordered_type_is_not_given_further_categories():
    frame = pd.DataFrame({"x": pd.Categorical(["a", None], ["a"], ordered=True)})
    with pytest.raises(DataError, match="Column 'x' should be filled with 'z'"):
        write_cells(frame, {0: level("z")})
    enum = pl.DataFrame({"x": pl.Series(["a", None], dtype=pl.Enum(["a"]))})
    with pytest.raises(DataError, match="Column 'x' should be filled with 'z'"):
        write_cells(enum, {0: level("z")})


POLARS = {
    "float32": (pl.Series([1.5, None, 2.5], dtype=pl.Float32), number(2.25), 2.25),
    "NaN": (pl.Series([1.5, float("nan"), 2.5]), number(2.25), 2.25),
    "int": (pl.Series([1, None, 3], dtype=pl.UInt8), number(7.6), 8),
    "bool": (pl.Series([True, None, False]), number(0.6, "bool"), True),
    "text": (pl.Series(["a", None, "b"]), level("b"), "b"),
    "categorical": (pl.Series(["a", None, "b"], dtype=pl.Categorical), level("b"), "b"),
    "enum": (pl.Series(["a", None, "b"], dtype=pl.Enum(["b", "a"])), level("b"), "b"),
    "date": (
        pl.Series([dt.date(2024, 1, 1), None, dt.date(2025, 1, 1)]),
        number(MICROSECONDS, "datetime"),
        NOON.date(),
    ),
    "datetime": (
        pl.Series([NOON, None, NOON], dtype=pl.Datetime("ms")),
        number(MICROSECONDS, "datetime"),
        NOON,
    ),
    "zoned": (
        pl.Series([NOON, None, NOON]).dt.replace_time_zone("Europe/Berlin"),
        number(MICROSECONDS, "instant"),
        NOON.replace(tzinfo=dt.UTC),
    ),
    "span": (
        pl.Series([dt.timedelta(1), None, dt.timedelta(2)]),
        number(2e6, "duration"),
        dt.timedelta(seconds=2),
    ),
    "time": (pl.Series([dt.time(1), None, dt.time(2)]), number(3600e6, "duration"), dt.time(1)),
    "decimal": (pl.Series([Decimal("1.5"), None, Decimal("2.5")]), number(2.0), Decimal("2.0")),
}


@pytest.mark.parametrize("name", list(POLARS))
def test_polars(name):
    series, cells, expected = POLARS[name]
    frame = pl.DataFrame({"other": [1, 2, 3], "x": series})
    out = write_cells(frame, {1: cells})
    assert out["x"].to_list() == [series[0], expected, series[2]]
    assert out["x"].dtype == series.dtype
    assert out.columns == ["other", "x"]
    assert out["other"].to_list() == [1, 2, 3]


def test_a_polars_column_without_any_value_gets_a_type():
    out = write_cells(pl.DataFrame({"x": [None, None]}), {0: number(1.5)})
    assert out["x"].to_list() == [None, 1.5]


ARROW = {
    "float": (pa.array([1.5, None, 2.5]), number(2.25), 2.25),
    "int": (pa.array([1, None, 3], pa.int16()), number(7.6), 8),
    "bool": (pa.array([True, None, False]), number(0.6, "bool"), True),
    "text": (pa.array(["a", None, "b"]), level("b"), "b"),
    "dictionary": (pa.array(["b", None, "a"]).dictionary_encode(), level("a"), "a"),
    "date": (pa.array([NOON.date(), None, NOON.date()]), number(MICROSECONDS, "datetime"), NOON.date()),
    "timestamp": (
        pa.array([NOON, None, NOON], pa.timestamp("us", "UTC")),
        number(MICROSECONDS, "instant"),
        NOON.replace(tzinfo=dt.UTC),
    ),
}


@pytest.mark.parametrize("name", list(ARROW))
def test_pyarrow(name):
    column, cells, expected = ARROW[name]
    table = pa.table({"other": [1, 2, 3], "x": column})
    out = write_cells(table, {1: cells})
    assert out.schema.equals(table.schema)
    assert out["x"].to_pylist() == [column[0].as_py(), expected, column[2].as_py()]


def test_arrays():
    given = np.array([[1.0, 2.0], [np.nan, 3.0]], dtype=np.float32)
    out = write_cells(given, {0: number(0.5)})
    assert out.dtype == np.float32
    assert out.tolist() == [[1.0, 2.0], [0.5, 3.0]]
    assert np.isnan(given[1, 0])
    whole = write_cells(np.array([[1], [2]], dtype=np.int8), {0: number(4.6)})
    assert whole.dtype == np.int8
    assert whole.tolist() == [[1], [5]]
    objects = write_cells([["a", 1.0], [None, None]], {0: level("a"), 1: number(2.5)})
    assert objects.tolist() == [["a", 1.0], ["a", 2.5]]
    fields = np.array([(1.5, "a"), (np.nan, "b")], dtype=[("x", "f8"), ("y", "U1")])
    assert write_cells(fields, {0: number(2.0)}).tolist() == [(1.5, "a"), (2.0, "b")]
    masked = write_cells(np.ma.array([[1.0], [2.0]], mask=[[False], [True]]), {0: number(9.0)})
    assert masked.tolist() == [[1.0], [9.0]]
    dates = np.array([["2024-01-01"], ["NaT"]], dtype="datetime64[D]")
    assert write_cells(dates, {0: number(MICROSECONDS, "datetime")})[1, 0] == np.datetime64("2024-05-04")


@pytest.mark.parametrize(
    ("values", "cells", "expected"),
    [
        ([dt.date(2024, 1, 1), None], number(MICROSECONDS, "datetime"), NOON.date()),
        ([NOON, None], number(MICROSECONDS, "datetime"), NOON),
        ([NOON.replace(tzinfo=dt.UTC), None], number(MICROSECONDS, "instant"), NOON.replace(tzinfo=dt.UTC)),
        ([dt.time(1), None], number(7200e6, "duration"), dt.time(2)),
        ([dt.timedelta(1), None], number(1e6, "duration"), dt.timedelta(seconds=1)),
        ([Decimal("1.5"), None], number(2.5), Decimal("2.5")),
        ([True, None], number(1.0, "bool"), True),
    ],
)
def test_objects_keep_their_kind(values, cells, expected):
    out = write_cells({"x": values}, {0: cells})
    assert out["x"] == [values[0], expected]
    assert type(out["x"][1]) is type(expected)
    written = to_table(out).columns[0]
    assert getattr(written, "unit", None) == getattr(to_table({"x": values}).columns[0], "unit", None)


def test_mappings_keep_the_columns_of_every_library():
    given = {
        "a": [1.0, None],
        "b": pl.Series([1, None]),
        "c": pd.Series([1.0, None]),
        "d": pa.array([1, None]),
    }
    out = write_cells(given, {j: number(2.0) for j in range(4)})
    assert [list(column)[1] for column in (out["a"], out["b"], out["c"])] == [2.0, 2, 2.0]
    assert out["d"].to_pylist() == [1, 2]
    assert given["a"] == [1.0, None]
    taken = take_rows(given, np.array([1, 0], np.intp))
    assert taken["a"] == [None, 1.0]
    assert taken["b"].to_list() == [None, 1]
    assert taken["c"].tolist()[1] == 1.0
    assert taken["d"].to_pylist() == [None, 1]


def test_rows_are_taken_in_the_users_kind():
    rows = np.array([2, 0], np.intp)
    assert take_rows(pd.DataFrame({"x": [1, 2, 3]}), rows)["x"].tolist() == [3, 1]
    assert take_rows(pl.DataFrame({"x": [1, 2, 3]}), rows)["x"].to_list() == [3, 1]
    assert take_rows(pa.table({"x": [1, 2, 3]}), rows)["x"].to_pylist() == [3, 1]
    assert take_rows([[1], [2], [3]], rows).tolist() == [[3], [1]]
    from scipy import sparse

    assert take_rows(sparse.csc_matrix([[1.0], [0.0], [3.0]]), rows).tolist() == [[3.0], [1.0]]


def test_other_tables_are_refused():
    from scipy import sparse

    with pytest.raises(DataTypeError, match=r"sparse matrix.*X\.toarray\(\)"):
        check_writable(sparse.eye(3))
    with pytest.raises(DataTypeError, match="got RecordBatchReader"):
        check_writable(pa.table({"x": [1]}).to_reader())


def test_places_by_name_or_as_they_come():
    assert places(["a", "b"], ["b", "a"]) == [1, 0]
    assert places(["a", "b"], range(2)) == range(2)
