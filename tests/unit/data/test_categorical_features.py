"""`categorical_features`: by name, position or mask, from every container, and what does not fit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.tables import values_of
from unit.data.containers import DAY, as_arrow, as_lists, as_pandas, as_polars

from weald.data.adapters import categorical_positions, to_table
from weald.errors import ParameterError


@pytest.mark.parametrize(
    "wanted", [["k"], [1], [False, True, False], np.array([1]), np.array([False, True, False])]
)
@pytest.mark.parametrize("container", [as_lists, as_pandas, as_polars, as_arrow])
def test_categorical_features(wanted, container):
    data = {"x": [1.0, 2.0, 3.0], "k": [3, None, 1], "s": ["a", "b", "c"]}
    table = to_table(container(data), categorical_features=wanted)
    assert [c.kind for c in table.columns] == ["numeric", "categorical", "categorical"]
    # pandas keeps a holey integer column as floats; the levels are ints all the same
    assert values_of(table.columns[1]) == [("int", 3), None, ("int", 1)]


def test_categorical_features_of_other_types():
    data = {
        "b": [True, False],
        "f": [1.5, 2.0],
        "d": [DAY, DAY],
        "o": pd.Categorical(["lo", "hi"], categories=["lo", "hi"], ordered=True),
        "m": ["a", 1],
    }
    table = to_table(pd.DataFrame(data), categorical_features=list(data))
    assert all(column.kind == "categorical" for column in table.columns)
    assert values_of(table.columns[0]) == [("bool", True), ("bool", False)]
    assert values_of(table.columns[1]) == [("float", 1.5), ("float", 2.0)]
    assert values_of(table.columns[2]) == [("datetime", DAY)] * 2
    assert values_of(table.columns[4]) == [("str", "a"), ("int", 1)]
    mixed = to_table({"a": [True, 1, "1"]}, categorical_features=["a"])
    assert values_of(mixed.columns[0]) == [("bool", True), ("int", 1), ("str", "1")]


def test_categorical_features_from_dtype_and_empty():
    for wanted in (None, "from_dtype", []):
        assert categorical_positions(("a", "b"), wanted) == []


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (["incom"], "column 'incom', which the table does not have. Did you mean 'income'"),
        (["zzz"], "The columns are 'income', 'age'"),
        ([2], "position 2; positions go from 0 to 1"),
        ([-1], "position -1"),
        ([True], "mask of 1 bools for 2 columns"),
        ("all", "must be None, 'from_dtype'"),
        (3, "must be None, 'from_dtype'"),
    ],
)
def test_categorical_features_that_do_not_fit(wanted, message):
    with pytest.raises(ParameterError, match=message):
        to_table({"income": [1], "age": [2]}, categorical_features=wanted)


def test_categorical_features_as_an_index_or_a_set():
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    for wanted in (frame.columns[:2], {"a", "b"}, np.array(["a", "b"])):
        assert [column.kind for column in to_table(frame, categorical_features=wanted).columns] == [
            "categorical",
            "categorical",
            "numeric",
        ]
