"""What a model remembers of its columns, and how new tables are brought into that shape."""

from __future__ import annotations

import datetime as dt
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tables import values_of

from weald.data.adapters import to_table
from weald.data.schema import ColumnSchema, Schema
from weald.errors import DataError

FRAME = {"x": [1.5, 2.5, None], "s": ["b", None, "a"], "k": [2, 1, 2]}


def fitted(data, **options):
    return Schema.of(to_table(data), **options)


def aligned(schema, data, **options):
    return schema.align(to_table(data), **options)


def test_schema_of_a_table():
    schema = fitted(
        pd.DataFrame(FRAME | {"o": pd.Categorical(["hi", "lo", "hi"], ["lo", "mid", "hi"], ordered=True)})
    )
    assert schema.columns == (
        ColumnSchema("x", "numeric"),
        ColumnSchema("s", "categorical", levels=("a", "b")),
        ColumnSchema("k", "numeric"),
        ColumnSchema("o", "ordinal", levels=("lo", "mid", "hi")),
    )
    assert schema.named
    assert pickle.loads(pickle.dumps(schema)) == schema


def test_only_levels_of_used_rows_are_kept():
    table = to_table({"s": ["a", "b", "c"]})
    assert Schema.of(table, used=np.array([True, False, True])).columns[0].levels == ("a", "c")
    frame = pd.DataFrame({"s": pd.Categorical(["a", "b"], categories=["z", "b", "a"])})
    assert fitted(frame).columns[0].levels == ("a", "b")


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=20), st.randoms())
def test_row_order_never_shows(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    one = Schema.of(to_table({"s": [*values, "z"]}))
    assert one == Schema.of(to_table({"s": ["z", *shuffled]}))


def test_levels_are_sorted_by_type_and_value():
    data = {"m": np.array(["b", 2, True, "a", 1], dtype=object)}
    schema = Schema.of(to_table(data, categorical_features=["m"]))
    assert schema.columns[0].levels == (True, 1, 2, "a", "b")
    assert list(map(type, schema.columns[0].levels)) == [bool, int, int, str, str]


def test_alignment_by_name_in_any_order():
    schema = fitted(FRAME)
    table = aligned(schema, pl.DataFrame({"k": [5], "s": ["b"], "x": [0.5]}))
    assert table.names == ("x", "s", "k")
    assert [values_of(c) for c in table.columns] == [[0.5], [("str", "b")], [5.0]]
    assert table.columns[1].indices.tolist() == [1]
    assert table.columns[1].indices.dtype == np.int32
    assert table.columns[1].levels == ("a", "b")


def test_absent_and_extra_columns_raise_with_names():
    schema = fitted({"income": [1], "age": [2], "city": ["a"]})
    with pytest.raises(DataError) as caught:
        aligned(schema, {"incom": [1], "age": [2], "town": ["a"]})
    assert str(caught.value).startswith(
        "The feature names should match those that were passed during fit.\n"
        "Feature names unseen at fit time:\n- incom\n- town\n"
        "Feature names seen at fit time, yet now missing:\n- city\n- income\n"
    )
    assert "Perhaps 'incom' is 'income'" in str(caught.value)
    many = fitted({f"c{i}": [1] for i in range(9)})
    with pytest.raises(DataError, match=re.escape("- c5\n- ...\n")):
        aligned(many, {"c0": [1]})


def test_extra_columns_alone_come_with_the_way_out():
    schema, way_out = fitted({"income": [1], "age": [2]}), "X[model.feature_names_in_] would work"
    with pytest.raises(DataError, match="unseen at fit time:\n- town\n") as caught:
        aligned(schema, {"income": [1], "age": [2], "town": ["a"]})
    assert way_out in str(caught.value)
    with pytest.raises(DataError) as caught:  # one is absent as well: leaving out is not enough
        aligned(schema, {"income": [1], "town": ["a"]})
    assert way_out not in str(caught.value)
    with pytest.raises(DataError) as caught:  # names that are no text are in no feature_names_in_
        aligned(fitted(pd.DataFrame([[1, 2]], columns=[5, 7])), pd.DataFrame([[1, 2, 3]], columns=[5, 7, 9]))
    assert way_out not in str(caught.value)


def test_a_wrong_number_of_unnamed_columns_names_those_of_the_fit():
    schema = fitted({"income": [1], "age": [2]})
    with pytest.raises(DataError, match=r"as input\. It was fitted on 'income', 'age'\."):
        aligned(schema, np.ones((1, 3)))
    with pytest.raises(DataError, match=r"expecting 3 features as input\.$"):
        aligned(fitted(np.zeros((2, 3))), np.ones((1, 1)))


def test_unnamed_tables_match_by_position():
    schema = fitted(np.zeros((2, 3)))
    assert aligned(schema, np.ones((1, 3))).n_columns == 3
    with pytest.raises(DataError, match="X has 1 features, but Tree is expecting 3 features as input"):
        aligned(schema, np.ones((1, 1)), estimator="Tree")


def test_names_on_one_side_only_warn_as_scikit_learn_does():
    schema = fitted({"a": [1], "b": [2]})
    message = "X does not have valid feature names, but Tree was fitted with feature names"
    with pytest.warns(UserWarning, match=message):
        table = aligned(schema, np.array([[3, 4]]), estimator="Tree")
    assert table.names == ("a", "b")
    assert values_of(table.columns[1]) == [4.0]
    schema = fitted(np.zeros((2, 2)))
    message = "X has feature names, but Tree was fitted without feature names"
    with pytest.warns(UserWarning, match=message):
        aligned(schema, pd.DataFrame({"a": [1], "b": [2]}), estimator="Tree")
    with pytest.raises(DataError, match="X has 1 features, but Tree is expecting 2"):
        aligned(schema, pd.DataFrame({"a": [1]}), estimator="Tree")


def test_names_that_are_no_text_match_too():
    schema = fitted(pd.DataFrame([[1, 2]], columns=[5, 7]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = aligned(schema, pd.DataFrame([[20, 10]], columns=[7, 5]))
        assert [values_of(c) for c in table.columns] == [[10.0], [20.0]]
        assert values_of(aligned(schema, np.array([[1, 2]])).columns[0]) == [1.0]
    with pytest.raises(DataError, match="unseen at fit time:\n- 9"):
        aligned(schema, pd.DataFrame([[20, 10]], columns=[9, 5]))


@pytest.mark.parametrize(
    ("before", "now", "message"),
    [
        (
            [1.0, 2.0, 3.0],
            ["12", "45k", "7"],
            "Column 'v' was numeric when this model was fitted and now holds text (first: row 1, '45k'). "
            "Convert it, or refit.",
        ),
        ([1.0, 2.0], [None, "7"], "now holds text (first: row 1, '7')"),
        (
            [True, False],
            ["yes", "no"],
            "was numeric when this model was fitted and now holds text (first: row 0, 'yes')",
        ),
        ([1, 2], pd.Categorical([1, 2]), "now holds categories (first: row 0, 1)"),
        (
            [1.0, 2.0],
            [dt.datetime(2020, 1, 1)] * 2,
            "was numeric when this model was fitted and now holds dates",
        ),
        (
            [dt.datetime(2020, 1, 1)] * 2,
            [1.0, 2.0],
            "was a date without time zone when this model was fitted and now holds numbers",
        ),
        (
            [dt.timedelta(1)] * 2,
            [1.0, 2.0],
            "was a duration when this model was fitted and now holds numbers",
        ),
        (
            ["a", "b"],
            [1.5, 2.5],
            "held text when this model was fitted and now holds numbers (first: row 0, 1.5)",
        ),
        (
            ["a", "b"],
            [True, False],
            "held text when this model was fitted and now holds bools (first: row 0, True)",
        ),
        (
            ["a", "b"],
            [dt.datetime(2020, 1, 1)] * 2,
            "held text when this model was fitted and now holds dates",
        ),
    ],
)
def test_retyped_columns_raise(before, now, message):
    schema = fitted(pd.DataFrame({"v": before}))
    with pytest.raises(DataError, match=re.escape(message)):
        aligned(schema, pd.DataFrame({"v": now}))


def test_bools_and_numbers_are_interchangeable():
    assert values_of(aligned(fitted({"v": [True, False]}), {"v": [1, 0]}).columns[0]) == [1.0, 0.0]
    assert values_of(aligned(fitted({"v": [1, 0]}), {"v": [True, False]}).columns[0]) == [1.0, 0.0]


@pytest.mark.parametrize("before", [[1.0, 2.0], ["a", "b"], [True, False], [dt.datetime(2020, 1, 1)] * 2])
@pytest.mark.parametrize(
    "now",
    [
        pd.DataFrame({"v": [None, None]}),
        pd.DataFrame({"v": pd.Series([None, None], dtype="str")}),
        pd.DataFrame({"v": [np.nan, np.nan]}),
        pd.DataFrame({"v": pd.Series([None, None], dtype="datetime64[ns]")}),
        pl.DataFrame({"v": [None, None]}),
    ],
)
@pytest.mark.parametrize("unknown", ["missing", "error"])
def test_an_all_missing_column_fits_every_kind(before, now, unknown):
    schema = fitted({"v": before}, unknown=unknown)
    column = aligned(schema, now).columns[0]
    assert column.kind == schema.columns[0].kind
    assert values_of(column) == [None, None]


def test_unknown_levels_are_missing_or_raise():
    data = {"s": ["a", "b", "new", "newer", None]}
    lenient = fitted({"s": ["a", "b"]})
    assert aligned(lenient, data).columns[0].indices.tolist() == [0, 1, -1, -1, -1]
    strict = fitted({"s": ["a", "b"]}, unknown="error")
    assert aligned(strict, {"s": ["b", None]}).columns[0].indices.tolist() == [1, -1]
    with pytest.raises(DataError, match=r"Column 's' holds levels that were not there .*'new', 'newer'"):
        aligned(strict, data)
    unused = pd.DataFrame({"s": pd.Categorical(["a"], categories=["a", "never"])})
    assert aligned(strict, unused).columns[0].indices.tolist() == [0]


def test_numbers_as_categories_match_by_value_and_type():
    schema = Schema.of(to_table({"k": [3, 1, 2]}, categorical_features=["k"]))
    assert schema.columns[0].levels == (1, 2, 3)
    for data in (
        {"k": [2, 3]},
        {"k": [2.0, 3.0]},
        pd.DataFrame({"k": pd.Categorical([2, 3])}),
        pl.DataFrame({"k": pl.Series([2, 3], dtype=pl.Int8)}),
    ):
        assert aligned(schema, data).columns[0].indices.tolist() == [1, 2]
    holes = aligned(schema, pd.DataFrame({"k": [1.0, None, 1.5]})).columns[0]
    assert holes.indices.tolist() == [0, -1, -1]
    for other in ({"k": [True, False]}, {"k": ["1", "2"]}):
        with pytest.raises(DataError, match="held numbers when this model was fitted"):
            aligned(schema, other)


def test_levels_of_several_types_stay_apart():
    data = {"m": np.array([1, "1", True], dtype=object)}
    schema = Schema.of(to_table(data, categorical_features=["m"]))
    assert schema.columns[0].levels == (True, 1, "1")
    assert aligned(schema, {"m": [1, 5]}).columns[0].indices.tolist() == [1, -1]
    assert aligned(schema, {"m": ["1"]}).columns[0].indices.tolist() == [2]
    assert aligned(schema, {"m": [True]}).columns[0].indices.tolist() == [0]


def test_ordinal_levels_match_by_value():
    order = ["lo", "mid", "hi"]
    schema = fitted(pd.DataFrame({"o": pd.Categorical(["lo", "hi"], order, ordered=True)}))
    other = pd.DataFrame({"o": pd.Categorical(["hi", "mid", None], ["hi", "mid", "lo"], ordered=True)})
    column = aligned(schema, other).columns[0]
    assert column.ordered
    assert column.levels == ("lo", "mid", "hi")
    assert column.indices.tolist() == [2, 1, -1]
    assert aligned(schema, {"o": ["mid", "top"]}).columns[0].indices.tolist() == [1, -1]


def test_the_fitted_table_aligns_to_itself():
    table = to_table(FRAME)
    schema = Schema.of(table)
    for column, again in zip(table.columns, schema.align(table).columns, strict=True):
        assert values_of(column) == values_of(again)


def test_dates_with_and_without_time_zone_are_not_mixed():
    naive = pd.DataFrame({"d": pd.to_datetime(["2020-01-01 00:00", "2020-01-01 06:00"])})
    zoned = naive.assign(d=naive.d.dt.tz_localize("America/New_York"))
    for fitted, new, words in (
        (naive, zoned, "was a date without time zone when this model was fitted and now holds dates with"),
        (zoned, naive, "was a date with time zone when this model was fitted and now holds dates without"),
        (pl.from_pandas(naive), pl.from_pandas(zoned), "was a date without time zone"),
    ):
        schema = Schema.of(to_table(fitted))
        with pytest.raises(DataError, match=words):
            schema.align(to_table(new))
    utc = zoned.assign(d=zoned.d.dt.tz_convert("UTC"))  # another zone, the same instants
    Schema.of(to_table(zoned)).align(to_table(utc))
    assert to_table(utc).columns[0].values.tolist() == to_table(zoned).columns[0].values.tolist()
