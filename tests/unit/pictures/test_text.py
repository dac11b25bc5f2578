import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from unit.pictures.models import NUMERIC, chain, classifier, model_of, two_numbers, two_outputs

from weald import DecisionTreeClassifier, DecisionTreeRegressor, export_text
from weald.data.schema import ColumnSchema
from weald.errors import DataTypeError, ParameterError


def test_categories_missing_values_and_dates():
    columns = [
        *NUMERIC,
        ColumnSchema("town", "categorical", levels=("Basel", "Bern", "Chur")),
        ColumnSchema("size", "ordinal", levels=("small", "medium", "large")),
        ColumnSchema("day", "numeric", "datetime"),
    ]
    splits = [(0, 1.0), (2, {1, 3}), (3, 1.0), (4, 86_400e6), (1, np.inf)]
    forest, schema = chain(
        splits, columns, [[k] for k in range(6)], missing_left=[True, False, True, False, False]
    )
    expected = """\
|--- length <= 1.00 or missing
|   |--- value: [0.00]
|--- length >  1.00
|   |--- town in {Basel, Chur}
|   |   |--- value: [1.00]
|   |--- town in {Bern} or missing
|   |   |--- size <= small or missing
|   |   |   |--- value: [2.00]
|   |   |--- size >  small
|   |   |   |--- day <= 1970-01-02
|   |   |   |   |--- value: [3.00]
|   |   |   |--- day >  1970-01-02 or missing
|   |   |   |   |--- depth is present
|   |   |   |   |   |--- value: [4.00]
|   |   |   |   |--- depth is missing
|   |   |   |   |   |--- value: [5.00]
"""
    assert export_text(model_of(forest, schema)) == expected


def test_missing_is_named_only_for_columns_that_had_it():
    X = [[1.0, 1.0], [2.0, None], [3.0, 7.0], [4.0, 8.0]]
    model = DecisionTreeClassifier().fit(X, [0, 0, 1, 1])
    assert "missing" not in export_text(model)
    model = DecisionTreeClassifier().fit([row[1:] for row in X], [0, 0, 1, 1])
    assert "feature_0 <= 4.00 or missing" in export_text(model)


def test_depth_limit_and_spacing():
    model = classifier(max_depth=6)
    text = export_text(model, max_depth=1, spacing=2)
    assert "truncated branch of depth" in text
    assert max(line.count("|  ") for line in text.splitlines()) == 2
    assert text.count("\n") == 6 + text.count("truncated") + text.count("class:")
    assert export_text(model, max_depth=None) == export_text(model, max_depth=99)


def test_several_outputs():
    model = two_outputs(n_leaves=1)
    value = model.tree_.value[0]
    letter = "abc"[int(value[0].argmax())]
    answer = bool(value[1, :2].argmax())
    assert export_text(model) == f"|--- class: [{letter}, {answer}]\n"
    shown = export_text(two_numbers(n_leaves=1), decimals=1)
    first, second = two_numbers(n_leaves=1).forest_.value[0]
    assert shown == f"|--- value: [{first:.1f}, {second:.1f}]\n"


def test_names_can_be_given():
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    text = export_text(
        model, feature_names=["size"], class_names=["no", "yes"], show_weights=True, decimals=1
    )
    assert text.splitlines()[1] == "|   |--- weights: [1.0, 0.0] class: no"
    assert text.splitlines()[2] == "|--- size >  0.5"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"feature_names": ["a", "b"]}, "`feature_names` must hold 1 names"),
        ({"class_names": ["a"]}, "`class_names` must hold 2 names"),
        ({"spacing": 0}, "`spacing` must be a whole number from 1 up; got 0"),
        ({"decimals": -1}, "`decimals`"),
        ({"max_depth": True}, "`max_depth`"),
    ],
)
def test_wrong_options_say_so(options, message):
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ParameterError, match=message):
        export_text(model, **options)


def test_only_fitted_trees_of_weald():
    with pytest.raises(NotFittedError):
        export_text(DecisionTreeRegressor())
    with pytest.raises(DataTypeError, match="export_text takes a fitted tree of weald"):
        export_text(TheirClassifier())
