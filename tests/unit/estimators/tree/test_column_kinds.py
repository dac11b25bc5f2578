"""One model whatever the columns come as: ordered levels, arrays of objects, structured arrays."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.errors import DataError

RNG = np.random.default_rng(0)
N = 90
LEVELS = ["low", "middle", "high", "top", "never seen"]
RANK = RNG.integers(0, 4, N)
SIZE = [None if missing else LEVELS[i] for i, missing in zip(RANK, RNG.random(N) < 0.1, strict=True)]
X = RNG.normal(size=N).round(2)
Y = (RANK >= 2) ^ (RNG.random(N) < 0.15)


def same(first, second):
    """Whether two fitted trees are equal to the bit, columns included."""
    assert first.schema_ == second.schema_
    mine, yours = first.forest_.arrays(), second.forest_.arrays()
    assert mine.keys() == yours.keys()
    for name in mine:
        np.testing.assert_array_equal(mine[name], yours[name], err_msg=name)
    return True


def dictionary(levels, values):
    """An ordered Arrow dictionary."""
    codes = pa.array([None if value is None else levels.index(value) for value in values], pa.int16())
    return pa.DictionaryArray.from_arrays(codes, pa.array(levels), ordered=True)


ORDERED = {
    "pandas": lambda levels, values: pd.DataFrame(
        {"size": pd.Categorical(values, categories=levels, ordered=True), "x": X}
    ),
    "polars": lambda levels, values: pl.DataFrame({"size": pl.Series(values, dtype=pl.Enum(levels)), "x": X}),
    "arrow": lambda levels, values: pa.table({"size": dictionary(levels, values), "x": X}),
    "pandas on arrow": lambda levels, values: pd.DataFrame(
        {
            "size": pd.Series(
                pd.array(dictionary(levels, values), dtype=pd.ArrowDtype(dictionary(levels, values).type))
            ),
            "x": X,
        }
    ),
}


class TestOrdinal:
    @pytest.mark.parametrize("library", list(ORDERED)[1:])
    @pytest.mark.parametrize("tree", [DecisionTreeClassifier, DecisionTreeRegressor])
    def test_same_model_from_every_library(self, tree, library):
        expected = tree().fit(ORDERED["pandas"](LEVELS, SIZE), Y)
        table = ORDERED[library](LEVELS, SIZE)
        model = tree().fit(table, Y)
        assert model.schema_.columns[0].kind == "ordinal"
        assert model.schema_.columns[0].levels == tuple(LEVELS)
        assert same(expected, model)
        np.testing.assert_array_equal(expected.predict(table), model.predict(table))

    def test_splits_follow_the_order_of_the_levels(self):
        model = DecisionTreeClassifier(max_depth=1).fit(ORDERED["polars"](LEVELS, SIZE), Y)
        assert model.tree_.feature[0] == 0
        assert model.tree_.threshold[0] == 2.0  # low and middle against high and top
        assert not np.isnan(model.tree_.threshold).any()
        share = model.predict_proba({"size": LEVELS, "x": [0.0] * 5})[:, 1]
        assert share[0] == share[1] < share[2] == share[3] == share[4]

    @pytest.mark.parametrize("library", list(ORDERED))
    def test_another_order_of_the_levels_is_another_model(self, library):
        there = DecisionTreeClassifier().fit(ORDERED[library](LEVELS, SIZE), Y)
        back = DecisionTreeClassifier().fit(ORDERED[library](LEVELS[::-1], SIZE), Y)
        assert back.schema_.columns[0].levels == tuple(LEVELS[::-1])
        assert there.tree_.threshold.tolist() != back.tree_.threshold.tolist()

    def test_predict_goes_by_the_level_not_by_its_place(self):
        model = DecisionTreeClassifier().fit(ORDERED["pandas"](LEVELS, SIZE), Y)
        expected = model.predict(ORDERED["pandas"](LEVELS, SIZE)).tolist()
        tables = [make(levels, SIZE) for make in ORDERED.values() for levels in (LEVELS, LEVELS[::-1])]
        tables += [pd.DataFrame({"size": SIZE, "x": X}), {"x": X, "size": SIZE}]
        for table in tables:
            assert model.predict(table).tolist() == expected

    @pytest.mark.parametrize(
        "levels",
        [
            [10, 2, 33],
            [2.5, -1.5, 0.5],
            [True, False],
            [dt.date(2021, 1, 1), dt.date(2020, 1, 1)],
            [dt.datetime(2021, 1, 1, 5), dt.datetime(2020, 1, 1)],
        ],
        ids=str,
    )
    def test_levels_of_every_type(self, levels):
        values = [levels[i % len(levels)] for i in RANK]
        y = np.array([value == levels[0] for value in values])
        table = pd.DataFrame({"level": pd.Categorical(values, categories=levels, ordered=True)})
        model = DecisionTreeClassifier().fit(table, y)
        assert model.schema_.columns[0].kind == "ordinal"
        assert model.predict(table).tolist() == y.tolist()
        assert model.predict({"level": values}).tolist() == y.tolist()

    def test_levels_unknown_at_predict(self):
        table = ORDERED["pandas"](LEVELS, SIZE)
        model = DecisionTreeClassifier().fit(table, Y)
        assert (
            model.predict_proba({"size": ["huge"], "x": [0.0]}).tolist()
            == model.predict_proba({"size": [None], "x": [0.0]}).tolist()
        )
        with pytest.raises(DataError, match=r"Column 'size' holds levels that were not there .*'huge'"):
            DecisionTreeClassifier(unknown="error").fit(table, Y).predict({"size": ["huge"], "x": [0.0]})

    def test_declared_as_categories_they_lose_their_order(self):
        model = DecisionTreeClassifier(categorical_features=["size"]).fit(ORDERED["arrow"](LEVELS, SIZE), Y)
        assert model.schema_.columns[0].kind == "categorical"


TEXT = RNG.choice(["red", "green", "blue"], N).tolist()
FLAG = (RNG.random(N) > 0.5).tolist()
DAY = [dt.datetime(2020, 1, 1) + dt.timedelta(days=int(d)) for d in RNG.integers(0, 400, N)]
COUNT = RNG.integers(-5, 50, N).tolist()
PRICE = [Decimal(int(cents)) / 4 for cents in RNG.integers(0, 200, N)]
NAMES = ["x", "text", "flag", "day", "count", "price"]
COLUMNS = [X.tolist(), TEXT, FLAG, DAY, COUNT, PRICE]
LABELS = (X > 0) ^ (np.array(TEXT) == "red") ^ np.array(FLAG)
FRAME = pd.DataFrame(
    {
        "x": X,
        "text": TEXT,
        "flag": FLAG,
        "day": pd.to_datetime(DAY),
        "count": COUNT,
        "price": list(map(float, PRICE)),
    }
)


def objects(columns):
    """A 2-D array of objects."""
    out = np.empty((N, len(columns)), object)
    for j, column in enumerate(columns):
        out[:, j] = column
    return out


def structured(**dtypes):
    """A structured array of the same values."""
    kinds = {"x": "f8", "text": "U5", "flag": "?", "day": "M8[us]", "count": "i4", "price": "f8"} | dtypes
    out = np.zeros(N, [(name, kinds[name]) for name in NAMES])
    for name, column in zip(NAMES, COLUMNS, strict=True):
        out[name] = [value.encode() for value in column] if kinds[name][0] == "S" else column
    return out


def splits_equal(model, expected):
    """Same tree but for the names of the columns."""
    for name, array in expected.forest_.arrays().items():
        np.testing.assert_array_equal(model.forest_.arrays()[name], array, err_msg=name)
    return True


class TestObjects:
    def test_same_model_as_a_frame(self):
        expected = DecisionTreeClassifier().fit(FRAME, LABELS)
        assert {column.kind for column in expected.schema_.columns} == {"numeric", "categorical"}
        model = DecisionTreeClassifier().fit(objects(COLUMNS), LABELS)
        assert splits_equal(model, expected)
        assert [column.unit for column in model.schema_.columns] == [c.unit for c in expected.schema_.columns]
        assert splits_equal(DecisionTreeClassifier().fit(objects(COLUMNS).tolist(), LABELS), expected)
        assert model.predict(objects(COLUMNS)).tolist() == LABELS.tolist()

    def test_every_way_to_be_missing(self):
        gone = RNG.random((6, N)) < 0.15
        holes = [None, np.nan, pd.NA, pd.NaT, float("nan")]
        spoilt = [
            [holes[i % 5] if gone[j, i] else value for i, value in enumerate(column)]
            for j, column in enumerate(COLUMNS)
        ]
        frame = FRAME.convert_dtypes()
        for j, name in enumerate(NAMES):
            frame.loc[gone[j], name] = pd.NA if name != "day" else pd.NaT
        expected = DecisionTreeClassifier().fit(frame, LABELS)
        model = DecisionTreeClassifier().fit(objects(spoilt), LABELS)
        assert splits_equal(model, expected)
        assert model.predict(objects(spoilt)).tolist() == expected.predict(frame).tolist()

    def test_numbers_of_every_type(self):
        mixed = [
            (float, int, Decimal, np.float64, np.float32, np.int64)[i % 6](value)
            for i, value in enumerate(COUNT)
        ]
        assert splits_equal(
            DecisionTreeClassifier().fit(objects([mixed]), LABELS),
            DecisionTreeClassifier().fit(FRAME[["count"]], LABELS),
        )

    def test_dates_of_every_type(self):
        mixed = [(day, day.date(), np.datetime64(day), pd.Timestamp(day))[i % 4] for i, day in enumerate(DAY)]
        assert splits_equal(
            DecisionTreeClassifier().fit(objects([mixed]), LABELS),
            DecisionTreeClassifier().fit(FRAME[["day"]], LABELS),
        )

    def test_a_column_of_several_kinds(self):
        mixed = [value if i % 2 else str(value) for i, value in enumerate(COUNT)]
        with pytest.raises(DataError, match="Column 1 mixes text and numbers: row 0"):
            DecisionTreeClassifier().fit(objects([X, mixed]), LABELS)
        model = DecisionTreeClassifier(categorical_features=[1], cat_penalty=0).fit(
            objects([X, mixed]), LABELS
        )
        assert model.predict(objects([X, mixed])).tolist() == LABELS.tolist()


class TestStructured:
    @pytest.mark.parametrize(
        "dtypes",
        [
            {},
            {"text": "S5"},
            {"text": "O", "count": ">i2", "x": ">f8"},
            {"day": "M8[ns]", "count": "f4", "price": "f4"},
            {"day": "M8[D]", "flag": "?", "price": "O"},
            {"day": "O", "count": "i8"},
        ],
        ids=str,
    )
    @pytest.mark.parametrize("view", [np.asarray, np.rec.array, np.ma.array])
    def test_same_model_as_a_frame(self, dtypes, view):
        table = view(structured(**dtypes))
        model = DecisionTreeClassifier().fit(table, LABELS)
        assert same(model, DecisionTreeClassifier().fit(FRAME, LABELS))
        assert model.feature_names_in_.tolist() == NAMES
        assert model.predict(table).tolist() == LABELS.tolist()

    def test_columns_are_found_by_name(self):
        table = structured()
        model = DecisionTreeClassifier().fit(table, LABELS)
        assert model.predict(table[NAMES[::-1]]).tolist() == LABELS.tolist()
        assert model.predict(FRAME[NAMES[::-1]]).tolist() == LABELS.tolist()
        assert (
            DecisionTreeClassifier().fit(FRAME, LABELS).predict(table[NAMES[::-1]]).tolist()
            == LABELS.tolist()
        )
        with pytest.raises(DataError, match="yet now missing:\n- price"):
            model.predict(table[NAMES[:-1]])

    def test_masked_fields_are_missing(self):
        table = np.ma.array(structured())
        frame = FRAME.copy()
        for name in ("x", "text", "day"):
            table[name][5:20] = np.ma.masked
            frame.loc[5:19, name] = None
        assert same(DecisionTreeClassifier().fit(table, LABELS), DecisionTreeClassifier().fit(frame, LABELS))

    def test_fields_declared_as_categories(self):
        model = DecisionTreeClassifier(categorical_features=["count"]).fit(structured(), LABELS)
        assert same(model, DecisionTreeClassifier(categorical_features=["count"]).fit(FRAME, LABELS))
        assert model.schema_.columns[4].kind == "categorical"
