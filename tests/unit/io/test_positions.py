"""Columns by position in the model file: counted, not listed, and no less suspected."""

from __future__ import annotations

import dataclasses
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from unit.io.models import regressor, rewritten, roundtrip
from unit.model.forests import mixed_schema

import weald
from weald.data.schema import ColumnSchema, Positions, Schema
from weald.errors import DataError, ModelFileError
from weald.io import canonical, container, model_file

FLAG = {"kind": "numeric", "unit": "bool"}


def description_of(path):
    return canonical.loads(container.read(path, mmap=False)[0], "description")


def wide_model(n_columns: int = 400_000):
    """A regressor on many columns by position, one of them categorical, that reads a few."""
    few = Schema(Positions(5, "number", {3: ColumnSchema(3, "categorical", levels=("a", "b"))}), named=False)
    model = regressor(2, schema=few)
    forest = dataclasses.replace(model.forest_, n_columns=n_columns)
    model._set_fitted(forest, Schema(Positions(n_columns, "number", few.columns.others), named=False), None)
    return model


def test_columns_by_position_are_counted(tmp_path):
    path = tmp_path / "m.weald"
    model = wide_model()
    loaded = roundtrip(model, path)
    assert loaded.schema_ == model.schema_
    assert isinstance(loaded.schema_.columns, Positions)
    assert loaded.schema_.columns[3].levels == ("a", "b")
    assert model_file.to_bytes(loaded) == path.read_bytes()
    assert path.stat().st_size < 4000
    content = description_of(path)
    assert content["schema"]["names"] is None
    assert content["schema"]["columns"] == {
        "count": 400_000,
        "others": [[3, {"kind": "categorical", "levels": {"type": "str", "values": ["a", "b"]}}]],
        "unit": "number",
    }


def test_listed_positions_of_format_1_0_are_still_read(tmp_path):
    """What 1.0 wrote for columns without names."""
    path = tmp_path / "m.weald"
    model = regressor(4, schema=mixed_schema(named=False))
    model_file.save(model, path)
    named = tmp_path / "named.weald"
    model_file.save(regressor(4, schema=mixed_schema()), named)
    listed = description_of(named)["schema"]["columns"]

    def as_before(content, tensors):
        content["format"] = [1, 0]
        content["schema"] |= {"columns": listed, "names": {"type": "int", "values": list(range(7))}}

    expected = model_file.to_bytes(model)
    rewritten(path, as_before)
    assert weald.load(path).schema_ == model.schema_
    assert model_file.to_bytes(weald.load(path)) == expected


@pytest.mark.parametrize("names", [(5, 7), (1, 0), (0.5, 2)])
def test_numbers_that_are_no_positions_are_names(names, tmp_path):
    schema = Schema(tuple(ColumnSchema(name, "numeric") for name in names), named=False)
    loaded = roundtrip(regressor(3, schema=schema), tmp_path / "m.weald")
    assert loaded.schema_ == schema
    assert tuple(loaded.schema_.names) == names


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s["columns"].update(count=2**31), "impossible number"),
        (lambda s: s["columns"].update(count=2**31 - 1), "grown on 400000 columns, and 2147483647"),
        (lambda s: s["columns"].update(count=0), "impossible number"),
        (lambda s: s["columns"].update(count=-1), "impossible number"),
        (lambda s: s["columns"].update(count=1e5), "impossible number"),
        (lambda s: s["columns"].update(count=True), "impossible number"),
        (lambda s: s["columns"].update(count="9"), "impossible number"),
        (lambda s: s["columns"].update(unit="eval"), "unit"),
        (lambda s: s["columns"].update(others={}), "wrong form"),
        (lambda s: s["columns"].update(others=[[3]]), "wrong form"),
        (lambda s: s["columns"].update(others=[["3", {}]]), "wrong form"),
        (lambda s: s["columns"].update(others=[[-1, FLAG]]), "out of order"),
        (
            lambda s: s["columns"].update(others=[[400_000, FLAG]]),
            "out of order",
        ),
        (lambda s: s["columns"].update(others=s["columns"]["others"] * 2), "out of order"),
        (lambda s: s["columns"].update(others=[[3, {"kind": "text"}]]), "unknown kind"),
        (lambda s: s["columns"].update(others=[]), "column for a category|category that it does not have"),
        (lambda s: s["columns"].pop("unit"), "lacks the entry 'unit'"),
        (lambda s: s["columns"].update(more=1), "unknown entry"),
        (lambda s: s.update(columns=None), "wrong form"),
        (lambda s: s.update(columns=[]), "wrong form"),
        (lambda s: s.update(named=True), "names"),
        (lambda s: s.update(names={"type": "str", "values": ["a"]}), "one name for each"),
    ],
)
def test_hostile_positions_are_refused(change, message, tmp_path):
    path = tmp_path / "m.weald"
    model_file.save(wide_model(), path)
    rewritten(path, lambda content, tensors: change(content["schema"]))
    with pytest.raises(ModelFileError, match=message):
        weald.load(path)


def test_a_hostile_number_of_columns_takes_no_memory(tmp_path):
    path = tmp_path / "m.weald"
    model_file.save(wide_model(), path)

    def huge(content, tensors):
        content["schema"]["columns"]["count"] = content["forest"]["columns"] = 2**31 - 1

    rewritten(path, huge)
    tracemalloc.start()
    model = weald.load(path)
    assert model.n_features_in_ == 2**31 - 1
    assert isinstance(model.to_text(), str)
    row = sparse.csr_array((np.ones(1), np.zeros(1, np.int64), np.array([0, 1])), shape=(1, 2**31 - 1))
    with pytest.raises(DataError, match="Column 3 held text"):
        model.predict(row)
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()
