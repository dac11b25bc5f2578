"""Times that differ by nanoseconds stay apart as labels and categories; what cannot be read is named."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import weald
from weald.data.adapters import column_of, to_table
from weald.data.levels import numeric_as_levels, plain_level, sorted_positions
from weald.data.schema import Schema
from weald.data.target import read_labels
from weald.errors import DataError, DataTypeError

BASE = 1_600_000_000_000_000_000
TICKS = np.array([BASE + 2, BASE, BASE + 1, BASE + 1000, BASE], np.int64)
DATES = TICKS.view("M8[ns]")
SPANS = (TICKS - BASE).view("m8[ns]")
MIDNIGHT = SPANS.astype(np.int64)


def containers(ticks: np.ndarray[Any, Any]) -> dict[str, Any]:
    """The same times in every library."""
    date = ticks.dtype.kind == "M"
    arrow = pa.array(ticks.astype(np.int64), pa.timestamp("ns") if date else pa.duration("ns"))
    kind = pl.Datetime("ns") if date else pl.Duration("ns")
    wrap = pd.Timestamp if date else pd.Timedelta
    scalar = np.datetime64 if date else np.timedelta64
    return {
        "numpy": ticks,
        "pandas": pd.Series(ticks),
        "index": pd.Index(ticks),
        "timestamps": [wrap(value) for value in ticks],
        "scalars": [scalar(int(value.astype(np.int64)), "ns") for value in ticks],
        "objects": np.array([wrap(value) for value in ticks], dtype=object),
        "polars": pl.Series(ticks.astype(np.int64)).cast(kind),
        "arrow": arrow,
        "chunks": pa.chunked_array([arrow[:2], arrow[2:]]),
        "pandas arrow": pd.Series(arrow, dtype=pd.ArrowDtype(arrow.type)),
    }


@pytest.mark.parametrize("ticks", [DATES, SPANS], ids=["dates", "durations"])
def test_labels_that_differ_by_nanoseconds_stay_apart(ticks: Any) -> None:
    for what, y in containers(ticks).items():
        (labels,) = read_labels(y, n_rows=5, estimator="Tree")
        assert labels.classes.tolist() == sorted(set(ticks.tolist())), what
        assert labels.classes.dtype == ticks.dtype, what
        assert (labels.classes[labels.indices] == ticks).all(), what


@pytest.mark.parametrize("ticks", [DATES, SPANS], ids=["dates", "durations"])
def test_categories_that_differ_by_nanoseconds_stay_apart(ticks: Any) -> None:
    found = {
        what: Schema.of(to_table({"t": values}, categorical_features=["t"])).columns[0].levels
        for what, values in containers(ticks).items()
    }
    assert len(found["numpy"]) == 4
    assert all(levels == found["numpy"] for levels in found.values()), found
    whole = [type(level) for level in found["numpy"]]
    assert whole.count(dt.datetime if ticks is DATES else dt.timedelta) == 2


def test_categories_of_every_library_meet_at_predict(tmp_path: Path) -> None:
    y = np.array([0.0, 1.0, 2.0, 3.0, 1.0])
    for ticks in (DATES, SPANS):
        fitted = weald.DecisionTreeRegressor(categorical_features=["t"], cat_penalty=0).fit({"t": ticks}, y)
        fitted.save(tmp_path / "tree.weald")
        loaded = weald.load(tmp_path / "tree.weald")
        expected = fitted.predict({"t": ticks})
        assert expected.tolist() == y.tolist()
        for what, values in containers(ticks).items():
            assert loaded.predict({"t": values}).tolist() == y.tolist(), what
        loaded.save(tmp_path / "again.weald")
        assert (tmp_path / "again.weald").read_bytes() == (tmp_path / "tree.weald").read_bytes()


@pytest.mark.parametrize("ticks", [DATES, SPANS], ids=["dates", "durations"])
def test_models_of_such_labels_are_saved_and_loaded(ticks: Any, tmp_path: Path) -> None:
    X = np.arange(5.0).reshape(-1, 1)
    for what, y in containers(ticks).items():
        model = weald.DecisionTreeClassifier().fit(X, y)
        assert (model.predict(X) == ticks).all(), what
        model.save(tmp_path / "tree.weald")
        loaded = weald.load(tmp_path / "tree.weald")
        assert (loaded.predict(X) == ticks).all(), what
        assert loaded.classes_.dtype == model.classes_.dtype, what


def test_categories_of_pandas_and_dictionaries_of_arrow_too() -> None:
    codes = pd.Series(pd.Categorical(DATES))
    spans = pd.Series(pd.Categorical(SPANS))
    dictionary = pa.array(TICKS, pa.timestamp("ns")).dictionary_encode()
    plain = to_table({"t": DATES}, categorical_features=["t"])
    for values in (codes, dictionary):
        schema = Schema.of(to_table({"t": values}))
        assert schema.columns[0].levels == Schema.of(plain).columns[0].levels
        (labels,) = read_labels(values, n_rows=5, estimator="Tree")
        assert (labels.classes[labels.indices] == DATES).all()
    levels = Schema.of(to_table({"t": spans})).columns[0].levels
    assert levels == Schema.of(to_table({"t": SPANS}, categorical_features=["t"])).columns[0].levels
    assert {type(level) for level in levels} == {dt.timedelta, np.timedelta64}


def test_times_of_day_with_nanoseconds() -> None:
    day = pl.Series(MIDNIGHT.tolist()).cast(pl.Time)
    arrow = pa.array(MIDNIGHT, pa.time64("ns"))
    for values in (day, arrow):
        assert len(numeric_as_levels(column_of("t", values)).levels) == 4  # type: ignore[arg-type]
        (labels,) = read_labels(values, n_rows=5, estimator="Tree")
        assert (labels.classes[labels.indices] == SPANS).all()


def test_zones_and_gaps() -> None:
    ticks = DATES.copy()
    ticks[1] = np.datetime64("NaT")
    zoned = pd.Series(ticks).dt.tz_localize("UTC").dt.tz_convert("Europe/Zurich")
    column = column_of("t", zoned)
    assert column.unit == "instant"  # type: ignore[union-attr]
    for values in (zoned, pl.Series(ticks), pl.Series(ticks).dt.replace_time_zone("UTC"), list(zoned)):
        levels = numeric_as_levels(column_of("t", values))  # type: ignore[arg-type]
        assert levels.indices.tolist()[1] == -1
        assert len(levels.levels) == 4


def test_whole_microseconds_are_as_they_were() -> None:
    whole = np.array([BASE, BASE + 1000], np.int64).view("M8[ns]")
    for values in containers(whole).values():
        assert column_of("t", values).nanoseconds is None  # type: ignore[union-attr]
    (labels,) = read_labels(pl.Series(whole), n_rows=2, estimator="Tree")
    assert labels.classes.dtype == np.dtype("M8[us]")


def test_levels_sort_by_time_and_match_by_value() -> None:
    levels = [plain_level(value) for value in DATES]
    order = [TICKS[i] for i in sorted_positions(levels)]
    assert order == sorted(TICKS.tolist())
    assert plain_level(pd.Timestamp(BASE + 1, unit="ns", tz="UTC")) == np.datetime64(BASE + 1, "ns")
    assert plain_level(pd.Timedelta(3, "us")) == dt.timedelta(microseconds=3)
    assert type(plain_level(pd.Timedelta(3, "us"))) is dt.timedelta


# --------------------------------------------------------------------------- what cannot be read


FAR = dt.datetime(9999, 12, 31, 23, 59, tzinfo=dt.timezone(dt.timedelta(hours=-5)))
OBJECTS: dict[str, tuple[Any, type[Exception], str]] = {
    "a huge integer": (10**400, DataError, r"row 1: an integer of 401 digits is too large for float64"),
    "a signaling NaN": (Decimal("sNaN"), DataError, r"row 1: Decimal\('sNaN'\) is no"),
    "a far date": (np.datetime64(2**62, "s"), DataError, r"row 1: .* lies beyond the times"),
    "a far duration": (np.timedelta64(2**62, "s"), DataError, r"row 1: .* lies beyond the times"),
    "years": (np.timedelta64(5, "Y"), DataTypeError, r"row 1: 5 Y is no time of a fixed length"),
    "no unit": (np.timedelta64(5), DataTypeError, r"row 1: .* is no time of a fixed length"),
}


@pytest.mark.parametrize("what", OBJECTS)
def test_values_that_cannot_be_read_name_column_and_row(what: str) -> None:
    bad, error, message = OBJECTS[what]
    values = np.empty(2, dtype=object)
    values[:] = [None, bad]
    for X in ({"c": values}, {"c": values.tolist()}, pd.DataFrame({"c": values.tolist()}, dtype=object)):
        with pytest.raises(error, match=f"Column 'c', {message}"):
            to_table(X)
    with pytest.raises(error, match=message.replace("row 1", "Column 0, row 1")):
        to_table([[None], [bad]])
    tree = weald.DecisionTreeRegressor()
    with pytest.raises((DataError, DataTypeError), match=message.replace("row 1", "row 0")):
        tree.fit([[1.0], [2.0]], [bad, bad])
    with pytest.raises((DataError, DataTypeError), match="sample_weight"):
        tree.fit([[1.0], [2.0]], [1.0, 2.0], sample_weight=[bad, bad])


def test_far_times_with_a_zone_are_numbers_and_no_categories() -> None:
    values = [FAR, dt.datetime(2000, 1, 1, tzinfo=dt.UTC)]
    assert to_table({"c": values}).columns[0].values.tolist() == pa.array(values).cast("int64").to_pylist()  # type: ignore[union-attr]
    with pytest.raises(DataError, match="'c' holds dates beyond the year 9999, which cannot be categories"):
        to_table({"c": values}, categorical_features=["c"])
    with pytest.raises(DataError, match="beyond the years 1 to 9999 in UTC"):
        plain_level(FAR)


def test_far_durations_are_numbers_and_no_categories() -> None:
    spans = pa.array([2**62, 1], pa.duration("s"))
    assert to_table({"c": spans}).n_rows == 2
    with pytest.raises(DataError, match="'c' holds durations beyond a billion days"):
        to_table({"c": spans}, categorical_features=["c"])
    with pytest.raises(DataError, match="holds a time in row 0 that is too far from 1970"):
        weald.DecisionTreeClassifier().fit([[1.0], [2.0]], spans)


def test_a_signaling_nan_among_text_is_missing() -> None:
    column = to_table({"c": ["a", Decimal("sNaN"), "b"]}).columns[0]
    assert column.indices.tolist()[1] == -1  # type: ignore[union-attr]


def test_wide_floats_beyond_float64_are_infinite() -> None:
    wide = np.array([[1.0], [2.0]], np.longdouble) * np.longdouble("1e400")
    if np.isfinite(wide).all():
        with pytest.raises(DataError, match="contains inf"):
            weald.DecisionTreeRegressor().fit(wide, [1.0, 2.0])


def test_months_and_years_as_durations_or_too_far_are_told() -> None:
    with pytest.raises(DataTypeError, match=r"'c' holds durations in years.*m8"):
        to_table({"c": np.array([1, 2], "m8[Y]")})
    with pytest.raises(DataError, match=r"Column 'c', row 1: .* lies beyond"):
        to_table({"c": np.array([1, 2**62], "M8[M]")})


def test_files_with_times_beyond_nanoseconds_are_refused() -> None:
    from weald.errors import ModelFileError
    from weald.io.labels import decode_values, encode_values

    record = encode_values([DATES[0], SPANS[1], SPANS[0]], "levels")
    assert record["type"] == ["datetime_ns", "duration_ns", "duration_ns"]
    assert decode_values(record, "levels") == [DATES[0], SPANS[1], SPANS[0]]
    for bad in (2**63, -(2**63), "1", 1.0, None):
        with pytest.raises(ModelFileError):
            decode_values({"type": "datetime_ns", "values": [bad]}, "levels")
