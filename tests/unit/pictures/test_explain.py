import datetime as dt
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from unit.model.forests import mixed_schema, naive_leaf, random_forest, random_rows
from unit.pictures.models import chain, classifier, model_of, regressor, towns, two_numbers, two_outputs

from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.data.schema import ColumnSchema
from weald.errors import DataError, DataTypeError
from weald.model.read import read_aligned

COLUMNS = [
    ColumnSchema("length", "numeric"),
    ColumnSchema("flag", "numeric", "bool"),
    ColumnSchema("day", "numeric", "datetime"),
    ColumnSchema("size", "ordinal", levels=("small", "medium", "large")),
    ColumnSchema("island", "categorical", levels=("Biscoe", "Dream", "Torgersen")),
    ColumnSchema("wait", "numeric", "duration"),
]
ROW = {
    "length": 44.0,
    "flag": True,
    "day": dt.datetime(2007, 1, 1),
    "size": "large",
    "island": "Dream",
    "wait": dt.timedelta(hours=2),
}


def chained():
    splits = [(0, 43.35), (1, 0.5), (2, 13_455.5 * 86_400e6), (3, 2.0), (4, {1, 3}), (5, 5_400e6)]
    forest, schema = chain(splits, COLUMNS, [[float(k)] for k in range(7)], missing_left=[False] * 6)
    return model_of(forest, schema)


def test_every_kind_of_split_in_words():
    expected = """\
Start: 14 rows, 3
1. length is 44 (> 43.35): right, to 12 rows, 3.5
2. flag is true: right, to 10 rows, 4
3. day is 2007-01-01 (> 2006-11-03 12:00): right, to 8 rows, 4.5
4. size is large (> medium): right, to 6 rows, 5
5. island is Dream (in {Dream}): right, to 4 rows, 5.5
6. wait is 2:00:00 (> 1:30:00): right, to 2 rows, 6
Prediction: 6"""
    assert str(chained().explain_row(ROW)) == expected


def test_missing_and_unknown_values_are_said():
    story = chained().explain_row(ROW | {"length": None, "island": "Mars"})
    assert (
        str(story.steps[0])
        == "length is missing; missing values go where length > 43.35: right, to 12 rows, 3.5"
    )
    assert story.steps[0].missing
    assert not story.steps[0].unknown
    seen = "island is 'Mars', a category unseen in training, so it counts as missing"
    assert story.steps[4].why() == f"{seen}; missing values go where island is in {{Dream}}"
    assert story.steps[4].unknown
    assert [story.steps[k].raw for k in (0, 4)] == [None, "Mars"]


def test_missing_against_present():
    model = DecisionTreeRegressor().fit({"x": [1.0, 2.0, None, None]}, [0, 0, 1, 1])
    assert str(model.explain_row({"x": None})).splitlines()[1] == "1. x is missing: right, to 2 rows, 1"
    assert str(model.explain_row({"x": 9})).splitlines()[1] == "1. x is 9 (is present): left, to 2 rows, 0"


def test_values_close_to_the_threshold_show_it():
    model = DecisionTreeRegressor().fit({"x": [1.0, 2.0]}, [0, 1])
    assert model.explain_row({"x": 1.5000001}).steps[0].value == "1.5000001"
    assert model.explain_row({"x": 1.5}).steps[0].value == "1.5"
    assert model.explain_row({"x": 1.50}).steps[0].side == "left"


X, LABEL, SCORE = towns()


@pytest.mark.parametrize("make", [classifier, regressor])
def test_the_way_is_the_decision_path(make):
    model = make(max_depth=6)
    paths, leaves, predicted = model.decision_path(X[:60]), model.apply(X[:60]), model.predict(X[:60])
    for row in range(60):
        story = model.explain_row(X.iloc[[row]])
        nodes = [*(step.node for step in story.steps), story.leaf]
        assert nodes == paths[row].indices.tolist()
        assert story.leaf == leaves[row]
        assert story.prediction == predicted[row]
        for step in story.steps:
            assert step.count == model.tree_.n_node_samples[step.goes_to]
            assert step.cover == model.tree_.weighted_n_node_samples[step.goes_to]


def test_all_kinds_of_rows_say_the_same():
    model = classifier(max_depth=5)
    plain = X.iloc[:20].astype(object).where(X.iloc[:20].notna(), None)
    for row in range(20):
        values = plain.iloc[row].tolist()
        expected = model.explain_row(X.iloc[[row]])
        for given in (
            dict(zip(X.columns, values, strict=True)),
            dict(reversed(list(zip(X.columns, values, strict=True)))),
            values,
            tuple(values),
            [values],
            np.array(values, dtype=object),
            X.iloc[row],
            pl.from_pandas(X)[row],
            pl.from_pandas(X).row(row, named=True),
            pa.Table.from_pandas(X.iloc[[row]], preserve_index=False),
        ):
            if isinstance(given, list) and isinstance(given[0], list):
                with pytest.warns(UserWarning, match="valid feature names"):
                    assert model.explain_row(given) == expected
            else:
                assert model.explain_row(given) == expected


def test_rows_of_numbers():
    table = np.random.default_rng(0).normal(size=(50, 3))
    model = DecisionTreeRegressor(max_depth=3).fit(table, table[:, 0])
    expected = model.explain_row(table[:1])
    assert expected.prediction == model.predict(table[:1])[0]
    for given in (table[0], table[0].tolist(), sparse.csr_matrix(table[:1]), pd.Series(table[0])):
        assert model.explain_row(given) == expected
    records = np.array([(1.0, 2.0, 3.0)], dtype=[("a", float), ("b", float), ("c", float)])
    named = DecisionTreeRegressor(max_depth=2).fit(dict(zip("abc", table.T, strict=True)), table[:, 0])
    assert named.explain_row(records[0]) == named.explain_row(records) == named.explain_row([1.0, 2.0, 3.0])


@pytest.mark.parametrize("seed", range(5))
def test_any_tree_is_walked_as_it_predicts(seed):
    schema = mixed_schema()
    forest = random_forest(seed, n_leaves=40, width=1, shares=False, combinations=True)
    model = model_of(forest, schema)
    rows = random_rows(seed, schema, 30)
    table = read_aligned(rows, schema)
    for k in range(30):
        story = model.explain_row({name: values[k] for name, values in rows.items()})
        assert story.leaf == naive_leaf(forest, table, k)
        assert str(story)


def test_declared_categories_that_are_unknown():
    model = DecisionTreeClassifier(categorical_features=[0]).fit([[1], [2], [3], [1]], ["a", "b", "b", "a"])
    step = model.explain_row([9]).steps[0]
    assert (step.unknown, step.value) == (True, "9")


def test_several_outputs():
    rows = random_rows(0, mixed_schema(), 1)
    row = {name: values[0] for name, values in rows.items()}
    story = two_outputs().explain_row(row)
    letter, answer = story.prediction
    assert letter in "abc"
    assert answer in (True, False)
    first, second = max(story.value[:3]), max(story.value[3:])
    assert str(story).endswith(f"Prediction: {letter} (share {first:.3f}), {answer} (share {second:.3f})")
    assert "; " in story.steps[-1].prediction
    model = two_numbers()
    numbers = model.explain_row(row)
    assert numbers.prediction == model.forest_.value[~model.forest_.slot[numbers.leaf]].tolist()


def test_values_for_programs():
    story = chained().explain_row(ROW)
    assert [step.raw for step in story.steps] == list(ROW.values())
    assert [step.threshold for step in story.steps] == [
        43.35,
        False,
        dt.datetime(2006, 11, 3, 12),
        "medium",
        None,
        dt.timedelta(hours=1.5),
    ]
    assert [step.categories for step in story.steps] == [None] * 4 + [("Biscoe", "Torgersen"), None]
    assert [step.node_value for step in story.steps] == [(3.5,), (4.0,), (4.5,), (5.0,), (5.5,), (6.0,)]
    assert (story.cover, story.start_value, story.value) == (14.0, (3.0,), (6.0,))
    plain = story.to_dict()["steps"]
    assert (plain[2]["raw"], plain[5]["raw"]) == ("2007-01-01T00:00:00", 7200.0)
    assert plain[4]["categories"] == ["Biscoe", "Torgersen"]
    present = DecisionTreeRegressor().fit({"x": [1.0, 2.0, None, None]}, [0, 0, 1, 1]).explain_row({"x": 9})
    assert (present.steps[0].raw, present.steps[0].threshold) == (9.0, None)


def test_labels_have_one_form():
    model = DecisionTreeClassifier(max_depth=1).fit([[0.0], [0.0], [0.0], [1.0]], [0.0, 0.0, 1.0, 1.0])
    story = model.explain_row([0.0])
    assert story.steps[0].prediction == "0.0: 0.667, 1.0: 0.333"
    assert str(story).endswith("Prediction: 0.0 (share 0.667)")
    assert story.value == tuple(model.predict_proba([[0.0]])[0])


def test_forms():
    story = chained().explain_row(ROW | {"island": "<b>"})
    plain = story.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["steps"][0]["column"] == "length"
    assert plain["leaf"] == story.leaf
    html = story._repr_html_()
    assert html.count("<tr>") == 2 + len(story.steps)
    assert "<b>'" not in html
    assert "&lt;b&gt;" in html


def test_wrong_rows_say_so():
    model = classifier()
    with pytest.raises(DataError, match="explains one row; got a table of 2"):
        model.explain_row(X.iloc[:2])
    for wrong in ("row", None, 5, np.int64(5), np.array(5)):
        with pytest.raises(DataTypeError, match=r"values of one row: .* not its index"):
            model.explain_row(wrong)
    with pytest.raises(DataError, match="yet now missing"):
        model.explain_row({"length": 1.0})
    with pytest.raises(DataError, match="X has 2 features"):
        model.explain_row([1.0, "Bern"])
    with pytest.raises(NotFittedError):
        DecisionTreeClassifier().explain_row([1.0])
