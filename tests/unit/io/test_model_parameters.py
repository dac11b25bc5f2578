"""What a file keeps of names, levels and constructor parameters, and what it refuses to keep."""

import datetime as dt

import numpy as np
import pytest
from sklearn.model_selection import KFold
from unit.io.models import classifier, regressor, roundtrip
from unit.model.forests import mixed_schema

from weald.data.schema import ColumnSchema, Schema
from weald.errors import ModelFileError
from weald.io import model_file


def odd_schema(names, levels):
    columns = mixed_schema().columns
    renamed = [ColumnSchema(name, c.kind, c.unit, c.levels) for name, c in zip(names, columns, strict=True)]
    renamed[5] = ColumnSchema(names[5], "categorical", levels=levels)
    return Schema(tuple(renamed), True, "error")


def test_names_and_levels_keep_their_types(tmp_path):
    names = ("a", 1, 2.5, dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 5), "ü\n", False)
    levels = (True, 1, 2.5, "1", dt.date(2020, 1, 1), dt.datetime(2020, 1, 1), dt.timedelta(seconds=-1))
    model = classifier(schema=odd_schema(names, levels))
    loaded = roundtrip(model, tmp_path / "m.weald")
    assert loaded.schema_ == model.schema_
    assert [type(n) for n in loaded.schema_.names] == [type(n) for n in names]
    assert [type(v) for v in loaded.schema_.columns[5].levels] == [type(v) for v in levels]


def test_unnamed_columns_stay_unnamed(tmp_path):
    loaded = roundtrip(regressor(schema=mixed_schema(named=False)), tmp_path / "m.weald")
    assert not loaded.schema_.named
    assert not hasattr(loaded, "feature_names_in_")


@pytest.mark.parametrize(
    ("model", "part"),
    [
        (lambda: classifier(classes=np.array([("a", 1), "b"], object)), "class labels"),
        (lambda: classifier(classes=np.array([b"a", b"b"])), "class labels"),
        (lambda: classifier(schema=odd_schema((("a", 1), *"bcdefg"), ("x", "y"))), "column names"),
        (lambda: classifier(schema=odd_schema("abcdefg", ("x", b"y"))), "Column 'f'"),
        (lambda: regressor(params={"categorical_features": [object()]}), "`categorical_features`"),
    ],
)
def test_what_a_file_cannot_keep_is_named(model, part, tmp_path):
    with pytest.raises(ModelFileError, match=f"(?s){part}.*pickle"):
        model_file.save(model(), tmp_path / "m.weald")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "value", [None, "balanced", {"Adelie": 2.0, "Gentoo": np.float64(0.5)}, {1: 2, False: 3.0, 2.5: 1}, {}]
)
def test_parameters_come_back(value, tmp_path):
    params = {
        "class_weight": value,
        "categorical_features": ("code", np.int64(6)),
        "min_samples_leaf": np.int64(3),
        "min_impurity_decrease": 0.1,
    }
    loaded = roundtrip(classifier(params=params), tmp_path / "m.weald")
    assert loaded.class_weight == value
    assert loaded.categorical_features == ("code", 6)
    assert loaded.min_samples_leaf == 3


def test_a_mask_comes_back(tmp_path):
    mask = np.arange(7) > 4
    loaded = roundtrip(regressor(params={"categorical_features": mask}), tmp_path / "m.weald")
    assert loaded.categorical_features.dtype == bool
    assert loaded.categorical_features.tolist() == mask.tolist()


@pytest.mark.parametrize(
    "value",
    [
        [{"Adelie": 2.0}, {1: 3, False: 0.5}],
        ({}, None, "balanced", {dt.date(2020, 1, 1): 2}),
        [{2.5: 1, "a": 3}],
    ],
)
def test_lists_of_class_weights_come_back(value, tmp_path):
    loaded = roundtrip(classifier(params={"class_weight": value}), tmp_path / "m.weald")
    assert loaded.class_weight == value
    assert type(loaded.class_weight) is type(value)


@pytest.mark.parametrize(
    "value",
    [
        None,
        [1, 0, -1, 0, 0, 0, 0],
        (0,) * 7,
        {"length": 1, "wait": np.int8(-1)},
        {1: 1, 2.5: -1, dt.date(2020, 1, 1): 0, dt.datetime(2020, 1, 1): 0, False: 0, np.int64(4): 1},
        {},
    ],
    ids=str,
)
def test_constraints_come_back(value, tmp_path):
    loaded = roundtrip(regressor(params={"monotonic_cst": value}), tmp_path / "m.weald")
    assert loaded.monotonic_cst == value
    assert type(loaded.monotonic_cst) is type(value)
    if isinstance(value, dict):
        assert [type(name) for name in loaded.monotonic_cst] == [
            int if isinstance(name, np.int64) else type(name) for name in value
        ]


def test_an_array_of_constraints_comes_back(tmp_path):
    value = np.array([1, 0, -1, 0, 0, 0, 0], np.int8)
    loaded = roundtrip(regressor(params={"monotonic_cst": value}), tmp_path / "m.weald")
    assert loaded.monotonic_cst.dtype == np.int8
    assert loaded.monotonic_cst.tolist() == value.tolist()


def test_folds_are_kept_as_a_number_only(tmp_path):
    for cv, expected in [
        (3, 3),
        (np.int64(4), 4),
        (KFold(3), 5),
        ([(np.arange(5), np.arange(5, 9)), (np.arange(4, 9), np.arange(4))], 5),
    ]:
        model = regressor(params={"cv": cv, "prune": "cv", "ccp_alpha": 0.0, "splitter": "random"})
        loaded = roundtrip(model, tmp_path / "m.weald")
        assert loaded.cv == expected
        assert (loaded.prune, loaded.splitter) == ("cv", "random")


def test_a_generator_is_no_part_of_the_model(tmp_path):
    seeded = classifier(params={"random_state": np.random.RandomState(3)})
    assert roundtrip(seeded, tmp_path / "m.weald").random_state is None
