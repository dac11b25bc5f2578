"""`ProximityImputer` gives every column back in the type it had, whichever type weald can read."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from weald import ProximityImputer, RandomForestClassifier
from weald.data.frames.user_rows import take
from weald.data.frames.write import _like
from weald.data.times import ticks_of
from weald.errors import DataError

N = 12
Y = [0, 1] * 6


def gap(values: list[Any]) -> list[Any]:
    """The values again and again, and a gap."""
    return [values[i % len(values)] for i in range(N - 1)] + [None]


def of_ticks(kind: Any) -> Any:
    width = pa.int32() if pa.types.is_time32(kind) else pa.int64()
    return pa.array(gap([1000, 2001]), width).cast(kind)


TICKS = [
    *(pa.time32(unit) for unit in ("s", "ms")),
    *(pa.time64(unit) for unit in ("us", "ns")),
    *(pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")),
    *(pa.timestamp(unit, "Europe/Zurich") for unit in ("s", "ms", "us", "ns")),
    *(pa.duration(unit) for unit in ("s", "ms", "us", "ns")),
]
ARROW: dict[str, Any] = {
    **{str(kind): of_ticks(kind) for kind in TICKS},
    "decimal128(9, 2)": pa.array(gap([Decimal("1.25"), Decimal("3.50")]), pa.decimal128(9, 2)),
    "decimal128(3, 0)": pa.array(gap([Decimal(1), Decimal(4)]), pa.decimal128(3, 0)),
    "decimal128(5, -2)": pa.array(gap([Decimal(100), Decimal(300)]), pa.decimal128(5, -2)),
    "decimal128(38, 2)": pa.array(gap([Decimal("1234567890123456789.12"), Decimal(3)]), pa.decimal128(38, 2)),
    "decimal256": pa.array(gap([Decimal("1.25"), Decimal("3.50")]), pa.decimal256(40, 3)),
    "date32": pa.array(gap([dt.date(2020, 1, 1), dt.date(2021, 1, 2)]), pa.date32()),
    "date64": pa.array(gap([dt.date(2020, 1, 1), dt.date(2021, 1, 2)]), pa.date64()),
    **{str(kind): pa.array(gap(["a", "b"]), kind) for kind in (pa.string(), pa.large_string())},
    "string_view": pa.array(gap(["a", "b"]), pa.string_view()),
    **{str(kind): pa.array(gap([1, 2, 3]), kind) for kind in (pa.int8(), pa.uint64(), pa.float32())},
    "bool": pa.array(gap([True, False])),
    "far": pa.array(gap([2**60, 1]), pa.int64()).cast(pa.timestamp("s")),
    "dictionary": pa.DictionaryArray.from_arrays(pa.array(gap([0, 1]), pa.uint16()), pa.array(["a", "b"])),
    "dictionary of times": pa.DictionaryArray.from_arrays(
        pa.array(gap([0, 1]), pa.int8()), pa.array([1, 2], pa.timestamp("ns"))
    ),
    "dictionary of views": pa.DictionaryArray.from_arrays(
        pa.array(gap([0, 1]), pa.int32()), pa.array(["a", "b"], pa.string_view())
    ),
}


def filled(X: Any) -> list[Any]:
    """The table filled by `fit_transform` and by `transform`."""
    imputer = ProximityImputer(RandomForestClassifier(n_estimators=2, random_state=0), max_iter=1)
    return [imputer.fit_transform(X, Y), imputer.transform(X)]


def known(values: Any) -> list[Any]:
    return list(values)[: N - 1]


@pytest.mark.parametrize("what", ARROW)
def test_columns_of_arrow(what: str) -> None:
    column = ARROW[what]
    table = pa.table({"o": range(N), "c": column})
    for out in filled(table):
        assert out.schema == table.schema
        found = out["c"].combine_chunks()
        assert found.null_count == 0
        assert found.slice(0, N - 1).equals(column.slice(0, N - 1))
    frame = pd.DataFrame({"o": range(N), "c": pd.Series(column, dtype=pd.ArrowDtype(column.type))})
    for out in filled(frame):
        assert out["c"].dtype == frame["c"].dtype
        assert not out["c"].isna().any()


def test_columns_of_polars() -> None:
    columns = {
        "decimal": pl.Series(gap([Decimal("1.25"), Decimal("2.50")]), dtype=pl.Decimal(10, 2)),
        "time": pl.Series(gap([dt.time(1), dt.time(2)])),
        "date": pl.Series(gap([dt.date(2020, 1, 1), dt.date(2021, 1, 2)])),
        "far": pl.Series(gap([2**61, 1])).cast(pl.Datetime("ms")),
        "zoned": pl.Series(gap([1000, 2001])).cast(pl.Datetime("ns", "Asia/Tokyo")),
        "span": pl.Series(gap([1000, 2001])).cast(pl.Duration("ms")),
        "enum": pl.Series(gap(["a", "b"]), dtype=pl.Enum(["a", "b"])),
        "wide": pl.Series(gap([1, 2]), dtype=pl.Int128),
    }
    frame = pl.DataFrame({"o": range(N), **columns})
    for out in filled(frame):
        assert out.schema == frame.schema
        assert out.null_count().sum_horizontal().item() == 0
        assert out[: N - 1].equals(frame[: N - 1])


OBJECTS: dict[str, list[Any]] = {
    "whole": [1, 4],
    "numpy": [np.float32(1), np.float32(2)],
    "decimals": [Decimal("1.5"), Decimal(2)],
    "fractions": [Fraction(1, 3), Fraction(2)],
    "timestamps": [pd.Timestamp(2020, 1, 1), pd.Timestamp(2021, 1, 1)],
    "zoned": [pd.Timestamp(2020, 1, 1, tz="Asia/Tokyo"), pd.Timestamp(2021, 1, 1, tz="Asia/Tokyo")],
    "spans": [pd.Timedelta(1, "D"), pd.Timedelta(2, "D")],
    "dates of numpy": [np.datetime64("2000-01-01"), np.datetime64("2001-01-01")],
    "far dates": [np.datetime64("20000-01-01"), np.datetime64("20001-01-01")],
    "times of day": [dt.time(1), dt.time(2)],
    "text": ["a", "b"],
}


def _array(values: list[Any]) -> Any:
    array = np.empty((N, 2), dtype=object)
    array[:, 0], array[:, 1] = range(N), values
    return array


FORMS: dict[str, tuple[Callable[[list[Any]], Any], Callable[[Any], Any]]] = {
    "pandas": (
        lambda values: pd.DataFrame({"o": range(N), "c": pd.Series(values, dtype=object)}),
        lambda out: out["c"].tolist(),
    ),
    "array": (_array, lambda out: out[:, 1].tolist()),
    "mapping of lists": (lambda values: {"o": list(range(N)), "c": values}, lambda out: out["c"]),
    "records": (
        lambda values: [{"o": i, "c": value} for i, value in enumerate(values)],
        lambda out: [record["c"] for record in out],
    ),
}


@pytest.mark.parametrize("what", OBJECTS)
def test_objects_of_one_kind_are_filled_with_the_same(what: str) -> None:
    values = gap(OBJECTS[what])
    for form, (make, read) in FORMS.items():
        for out in filled(make(values)):
            found = read(out)
            assert isinstance(found, list), form
            assert known(found) == known(values), form
            assert type(found[-1]) is type(values[0]), (form, found[-1])


def test_rows_of_string_views_can_be_taken() -> None:
    table = pa.table({"c": ARROW["string_view"]})
    assert take(table, np.array([0, 0, 1])).column("c").to_pylist() == ["a", "a", "b"]


@pytest.mark.parametrize(
    "dtype", ["M8[Y]", "M8[M]", "M8[D]", "M8[25s]", "m8[ms]", "M8[us]", "M8[ns]", "m8[ps]"]
)
def test_ticks_come_back(dtype: str) -> None:
    from weald.data.times import microseconds

    ticks = np.array([-3000, 0, 7000], np.int64).view(dtype)
    again = ticks_of(microseconds(ticks), *np.datetime_data(ticks.dtype)).view(dtype)
    if dtype == "m8[ps]":
        assert (again.astype(np.int64) % 1_000_000 == 0).all()  # whole microseconds
    else:
        assert (again == ticks).all()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.datetime64("2020-01-01T00:00:00.000001999", "ns"), dt.datetime(2020, 1, 1, 0, 0, 0, 1)),
        (np.timedelta64(2500, "ns"), dt.timedelta(microseconds=2)),
    ],
)
def test_times_of_python_are_filled_without_nanoseconds(value: Any, expected: Any) -> None:
    example = expected + dt.timedelta(days=1)
    assert _like(value, example) == expected


def test_fills_beyond_the_years_of_python_are_told() -> None:
    with pytest.raises(DataError, match="beyond what Python's datetime holds"):
        _like(np.datetime64(2**40, "s"), dt.datetime(2020, 1, 1))


def as_rows(table: dict[int, list[Any]]) -> list[list[Any]]:
    return [list(row) for row in zip(*table.values(), strict=True)]


def as_objects(table: dict[int, list[Any]]) -> pd.DataFrame:
    return pd.DataFrame(table, dtype=object).map(lambda value: pd.NA if value is None else value)


@pytest.mark.parametrize("form", [dict, as_objects, as_rows])
def test_plain_whole_numbers_are_filled_as_typed_ones(form: Callable[[Any], Any]) -> None:
    """Rows with gaps are filled apart from others; whether numbers are whole, all rows of the column tell."""
    table = {0: [0, None, None, None, 19, 66, 118], 1: [1, None, 40, 61, 0, 0, 80]}
    typed = pd.DataFrame({name: pd.array(values, dtype="Int64") for name, values in table.items()})
    for seed in range(10):
        model = ProximityImputer(random_state=seed).fit(typed, [0, 3, 3, 2, 1, 4, 0])
        expected = model.transform(typed).to_numpy(dtype=float)
        assert np.array_equal(np.array(pd.DataFrame(model.transform(form(table))), dtype=float), expected)
