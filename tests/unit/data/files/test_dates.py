"""Dates that Parquet, Arrow and JSON lines hold as text are dates, for training and for prediction."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402

import weald  # noqa: E402
from weald.data.files.batches import read_batches  # noqa: E402
from weald.errors import DataError  # noqa: E402
from weald.runs.fitted import types_of  # noqa: E402

DAYS = ["2011-01-31", None, "2011-02-01", "2011-01-31"]


def stored(folder, **columns):
    path = folder / "t.parquet"
    parquet.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("numbered", [False, True])
def test_text_of_dates_is_read_as_dates(tmp_path, numbered):
    days = pa.array(DAYS)
    path = stored(
        tmp_path, day=days.dictionary_encode() if numbered else days, city=["a", "b", "a", "2011-01-31"]
    )
    notes: list[str] = []
    table = weald.read(path, notes=notes)
    assert table["day"].to_pylist() == [each and dt.date.fromisoformat(each) for each in DAYS]
    assert table["city"].to_pylist() == ["a", "b", "a", "2011-01-31"]
    assert notes == ["column 'day' is text that holds dates: it was read as dates"]


def test_times_with_and_without_a_zone(tmp_path):
    path = stored(
        tmp_path, zoned=["2013-01-01T10:00:00Z", "2013-01-01T10:00:00+02:00"], local=["2013-01-01 10:00"] * 2
    )
    table = weald.read(path)
    assert [each.hour for each in table["zoned"].to_pylist()] == [10, 8]
    assert [each.hour for each in table["local"].to_pylist()] == [10, 10]


@pytest.mark.parametrize("values", [["2011-01-31", "soon"], [None, None], ["2011-13-01"], ["20110131"]])
def test_other_text_stays_text(tmp_path, values):
    table = weald.read(stored(tmp_path, t=pa.array(values, pa.string())))
    assert table["t"].to_pylist() == values


def test_a_model_of_dates_predicts_from_such_files(tmp_path):
    days = np.datetime_as_string(np.datetime64("2020-01-01") + np.arange(200))
    path = stored(tmp_path, day=pa.array(days).dictionary_encode())
    table = weald.read(path)
    model = weald.DecisionTreeRegressor(max_depth=3).fit(table, np.arange(200) // 50)
    batches = [rows for rows, _ in read_batches(path, types_of(model), rows=64)]
    np.testing.assert_array_equal(model.predict(pa.concat_tables(batches)), model.predict(table))
    text = tmp_path / "t.csv"
    text.write_text("day\n" + "\n".join(f"{day}T00:00:00Z" for day in days))
    (rows, _), *_ = read_batches(text, types_of(model))
    np.testing.assert_array_equal(model.predict(rows), model.predict(table))


def test_text_that_is_no_date_where_the_model_has_dates(tmp_path):
    model = weald.DecisionTreeRegressor().fit(
        pa.table({"day": np.datetime64("2020-01-01") + np.arange(9)}), np.arange(9)
    )
    with pytest.raises(DataError, match=r"text where the model learned from dates: .*'soon'"):
        list(read_batches(stored(tmp_path, day=["2020-01-01", "soon"]), types_of(model)))
