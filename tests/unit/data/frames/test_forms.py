"""Records, one row as a mapping, and lazy frames are tables for every estimator; one column is none."""

from __future__ import annotations

from collections import UserDict
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression
from support.tables import assert_same_table

import weald
from weald.data.adapters import to_table
from weald.data.frames.forms import as_given, plain_table
from weald.data.frames.user_rows import indexable, outline, take
from weald.errors import DataError, DataTypeError

RECORDS: list[dict[str, Any]] = [
    {"age": 3, "city": "Bern"},
    {"city": "Rome", "age": 5.5, "late": True},
    {"age": None, "late": False},
    {"age": 7, "city": "Bern"},
]


def test_records_are_the_table_that_pandas_makes_of_them() -> None:
    assert_same_table(to_table(RECORDS), to_table(pd.DataFrame(RECORDS)))
    assert_same_table(to_table(tuple(map(UserDict, RECORDS))), to_table(pd.DataFrame(RECORDS)))
    assert to_table(RECORDS).names == ("age", "city", "late")


@pytest.mark.parametrize("text", ["Bern", np.str_("Bern")])
def test_a_mapping_of_single_values_is_one_row(text: str) -> None:
    row = {"age": np.float64(3), "city": text, "gone": None, "size": np.array(2), "day": pd.Timestamp("2020")}
    table = to_table(row)
    assert table.n_rows == 1
    assert [column.kind for column in table.columns] == [
        "numeric",
        "categorical",
        "numeric",
        "numeric",
        "numeric",
    ]


def test_matrices_by_keys_are_no_rows() -> None:
    matrix = sparse.dok_matrix((3, 2))
    matrix[0, 0] = 1
    assert plain_table(matrix) is matrix
    assert to_table(matrix).n_rows == 3


def test_rows_of_both_forms_are_told() -> None:
    with pytest.raises(DataTypeError, match=r"Row 0 is a mapping .* row 1 is \[3, 'Rome'\], a list"):
        to_table([{"age": 3, "city": "Bern"}, [3, "Rome"]])
    with pytest.raises(DataTypeError, match="Column 'age' must be a sequence of values; got int"):
        to_table({"age": 3, "city": ["Bern"]})


@pytest.mark.parametrize(
    "X",
    [
        pd.Series([1, 2]),
        pd.Index([1, 2]),
        pd.array([1, 2], dtype="Int64"),
        pl.Series([1, 2]),
        pa.array([1, 2]),
        pa.chunked_array([[1, 2]]),
    ],
    ids=lambda X: type(X).__module__ + type(X).__name__,
)
@pytest.mark.parametrize("read", [to_table, indexable], ids=["table", "rows"])
def test_one_column_is_no_table(X: Any, read: Any) -> None:
    with pytest.raises(DataError, match=r"got 1D array instead: X is one column.*to_frame"):
        read(X)


def test_rows_can_be_taken_of_all_forms() -> None:
    for X in (RECORDS, pl.LazyFrame(pd.DataFrame(RECORDS)["age"].to_frame())):
        rows = indexable(X)
        assert outline(rows).n_rows == 4
        assert outline(take(rows, np.array([0, 3]))).n_rows == 2


def test_tables_go_back_to_the_form_they_had() -> None:
    assert as_given(RECORDS, plain_table(RECORDS))[0] == {"age": 3, "city": "Bern", "late": None}
    row = {"age": 3, "city": "Bern"}
    assert as_given(row, plain_table(row)) == row
    lazy = pl.LazyFrame({"a": [1]})
    assert isinstance(as_given(lazy, plain_table(lazy)), pl.LazyFrame)


FRAME = pd.DataFrame({"age": np.arange(12.0), "city": ["Bern", "Rome", "Bonn"] * 4})
LABELS = ["young"] * 5 + ["old"] * 7
MODELS = [
    weald.DecisionTreeClassifier(),
    weald.RandomForestClassifier(n_estimators=3, random_state=0),
    weald.ExtraTreesRegressor(n_estimators=3, random_state=0),
    weald.BaggingClassifier(n_estimators=2, random_state=0),
    weald.AdaBoostClassifier(n_estimators=3),
    weald.GradientBoostingClassifier(n_estimators=3),
    weald.XGBClassifier(n_estimators=3),
    weald.XGBRegressor(n_estimators=3),
    weald.VotingClassifier([("tree", weald.DecisionTreeClassifier())]),
    weald.SVC(),
    weald.LinearSVR(),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_every_estimator_takes_records_one_row_and_lazy_frames(model: Any) -> None:
    y = np.arange(12.0) if hasattr(model, "score") and "Regress" in type(model).__name__ else LABELS
    y = np.arange(12.0) if isinstance(model, weald.LinearSVR) else y
    expected = model.fit(FRAME, y).predict(FRAME)
    records = FRAME.to_dict("records")
    lazy = pl.from_pandas(FRAME).lazy()
    for X in (records, lazy):
        assert model.fit(X, y).predict(FRAME).tobytes() == expected.tobytes()
        assert model.predict(X).tobytes() == expected.tobytes()
    assert model.predict(records[0]).tobytes() == expected[:1].tobytes()
    assert model.predict([records[7]]).tobytes() == expected[7:8].tobytes()
    for column in (FRAME["age"], pl.Series("age", np.arange(12.0))):
        with pytest.raises(DataError, match="X is one column"):
            model.predict(column)
        with pytest.raises(DataError, match="X is one column"):
            model.fit(column, y)


def test_records_that_lack_a_column_altogether_name_it() -> None:
    model = weald.DecisionTreeClassifier().fit(FRAME, LABELS)
    with pytest.raises(DataError, match="now missing:\n- city"):
        model.predict([{"age": 3}])


def test_members_of_other_libraries_get_the_columns() -> None:
    model = weald.BaggingRegressor(LinearRegression(), n_estimators=2, random_state=0)
    lazy = pl.LazyFrame({"a": [1.0, 2.0, 3.0]})
    expected = model.fit(lazy.collect(), [1.0, 2.0, 3.0]).predict(lazy.collect())
    assert model.fit(lazy, [1.0, 2.0, 3.0]).predict(lazy).tolist() == expected.tolist()


def test_the_imputer_gives_every_form_back() -> None:
    records = [{"age": float(i), "city": "Bern" if i % 2 else "Rome"} for i in range(8)]
    records[3] = {"city": "Bern"}
    y = [0, 1] * 4
    forest = weald.RandomForestClassifier(n_estimators=5)
    imputer = weald.ProximityImputer(forest, random_state=0)
    filled = imputer.fit_transform(records, y)
    assert [record["city"] for record in filled] == [record["city"] for record in records]
    assert isinstance(filled[3]["age"], float)
    assert list(imputer.transform({"age": None, "city": "Bern"})) == ["age", "city"]
    lazy = imputer.transform(pl.LazyFrame(records, schema={"age": pl.Float64, "city": pl.String}))
    assert lazy.collect()["age"].null_count() == 0
