"""Monotone constraints as users write them: what is refused, and how it is said."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_regressor
from sklearn.utils import get_tags

from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.errors import ParameterError

X = pd.DataFrame(
    {
        "up": np.arange(40.0),
        "down": np.arange(40) % 9,
        "free": np.where(np.arange(40) % 5 == 0, np.nan, np.arange(40) % 11),
        "rank": pd.Categorical(np.array(["low", "high"])[np.arange(40) % 2], ["low", "high"], ordered=True),
        "town": np.array(["a", "b", "c"], dtype=object)[np.arange(40) % 3],
    }
)
Y = np.arange(40) % 7 / 2


def refused(constraint: Any, X: Any, y: Any, model: type = DecisionTreeRegressor) -> str:
    tree = model(monotonic_cst=constraint)
    with pytest.raises(ParameterError) as error:
        tree.fit(X, y)
    return str(error.value)


def test_categorical_column():
    said = refused({"town": 1}, X, Y)
    assert "constrains the column 'town', whose categories have no order" in said
    assert "Make it an ordered category, or set 0 there." in said
    assert "'town'" in refused([0, 0, 0, 0, -1], X, Y)
    declared = DecisionTreeRegressor(monotonic_cst=[1], categorical_features=[0])
    with pytest.raises(ParameterError, match="categories have no order"):
        declared.fit(np.arange(40.0)[:, None] % 4, Y)


def test_three_classes():
    said = refused({"up": 1}, X, np.arange(40) % 3, DecisionTreeClassifier)
    assert "not supported with multiclass classification: y has 3 classes" in said
    assert "fit one class against the rest" in said


def test_two_outputs():
    for model, y in ((DecisionTreeRegressor, Y), (DecisionTreeClassifier, np.arange(40) % 2)):
        said = refused({"up": 1}, X, np.column_stack([y, y]), model)
        assert "not supported with multiple outputs: y has 2 columns" in said
        assert f"Fit a {model.__name__} for each" in said


@pytest.mark.parametrize("constraint", [[1], [1] * 6, (), np.zeros(4, int)], ids=str)
def test_wrong_length(constraint):
    said = refused(constraint, X, Y)
    assert f"monotonic_cst has shape {len(constraint)} but the input data X has 5 features" in said


def test_unknown_name():
    said = refused({"ups": 1}, X, Y)
    assert "names the column 'ups', which the table does not have. Did you mean 'up'?" in said
    said = refused({"zebra": 1}, X, Y)
    assert "The columns are " in said
    assert "'town'" in said
    assert "which the table does not have" in refused({99: 1}, X, Y)


@pytest.mark.parametrize("value", [2, -2, True, False, 0.5, "1", None, float("nan")], ids=repr)
def test_wrong_direction(value):
    expected = re.escape(f"holds {value!r} for column ")
    for constraint in ({"up": value}, [value, 0, 0, 0, 0]):
        said = refused(constraint, X, Y)
        assert re.search(expected, said), said
        assert "Use 1 for rising, -1 for falling, 0 for no constraint." in said


@pytest.mark.parametrize("constraint", [1, "up", 1.5, True], ids=repr)
def test_no_list_and_no_dict(constraint):
    said = refused(constraint, X, Y)
    assert said.startswith("`monotonic_cst` of DecisionTreeRegressor must be None, a dict from column name")


@pytest.mark.parametrize("constraint", [5, 1.5, True, np.ones((2, 5)), "up", [None]], ids=repr)
def test_what_is_no_constraint_is_said_by_fit_and_not_by_the_tags(constraint):
    """scikit-learn's tools read the tags before anything is fitted."""
    tree = DecisionTreeRegressor(monotonic_cst=constraint)
    assert is_regressor(tree)
    with pytest.raises(ParameterError, match="monotonic_cst"):
        tree.fit(X, Y)


@pytest.mark.parametrize("constraint", [None, {}, [0, 0], {"a": 0}, {"a": 1}, [0, -1]], ids=repr)
def test_only_a_constrained_tree_takes_one_output(constraint):
    tags = get_tags(DecisionTreeRegressor(monotonic_cst=constraint))
    assert tags.target_tags.multi_output is (constraint not in ({"a": 1}, [0, -1]))
