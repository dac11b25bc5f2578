"""Thousands of spoilt model files, most with their checksum set right again.

Loading gives ModelFileError or a model that works."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest
from fuzz.spoil import spoilt
from fuzz.use import use_by_kind, use_ensemble, use_machine
from unit.io import boosters, ensembles, forests, machines
from unit.io.models import classifier, regressor
from unit.model.forests import mixed_schema, random_rows

import weald
from weald.errors import ModelFileError
from weald.io import container, model_file

N_FILES = 200  # tests/fuzz spoils every kind of model, and more ways

MODELS = {
    "classifier": lambda: classifier(
        1, params={"class_weight": {"Adelie": 2.0}, "categorical_features": ["code"]}
    ),
    "two classes, repeated cuts": lambda: classifier(2, classes=np.array([3, 9]), n_leaves=24, cuts=3),
    "weighted": lambda: classifier(3, classes=np.array(["a", "b"]), weighted=True),
    "regressor": lambda: regressor(4, params={"max_features": "sqrt", "random_state": 3}),
    "combinations": lambda: regressor(5, combinations=True, n_leaves=24),
    "several outputs": lambda: classifier(
        7,
        classes=[("a", "b"), np.array([1, 5, 9]), np.array([True])],
        params={"class_weight": [{"a": 2.0}, None, "balanced"], "cv": 3, "monotonic_cst": [0] * 7},
        inner_value=True,
    ),
    "several numbers": lambda: regressor(
        8, width=3, inner_value=True, weighted=True, params={"monotonic_cst": {"length": 1, 2.5: -1}}
    ),
    "one leaf, unnamed": lambda: regressor(6, n_leaves=1, schema=mixed_schema(named=False)),
}


def refused_files(which, model, rows, use_it, path, n_files):
    """How many of so many spoilt files are refused; what is loaded from the others is used."""
    draw = random.Random(which)
    data = model_file.to_bytes(model)
    path.write_bytes(data)
    text, tensors = container.read(path, mmap=False)
    refused = 0
    for _ in range(n_files):
        path.write_bytes(spoilt(draw, data, text, tensors))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                loaded = weald.load(path, mmap=draw.random() < 0.1)
            except ModelFileError:
                refused += 1
                continue
            use_it(loaded, rows)
    return refused


@pytest.mark.parametrize("which", ensembles.ENSEMBLES)
def test_spoilt_ensembles_give_model_file_errors_or_working_models(which, tmp_path):
    model = ensembles.ENSEMBLES[which]()
    rows = ensembles.table_of(model)
    refused = refused_files(which, model, rows, use_ensemble, tmp_path / "m.weald", N_FILES // 2)
    assert N_FILES // 6 < refused < N_FILES // 2


@pytest.mark.parametrize("which", machines.MACHINES)
def test_spoilt_machines_give_model_file_errors_or_working_models(which, tmp_path):
    model, rows = machines.machine(which)
    refused = refused_files(which, model, rows, use_machine, tmp_path / "m.weald", N_FILES // 4)
    assert N_FILES // 16 < refused < N_FILES // 4


@pytest.mark.parametrize("which", boosters.BOOSTERS | forests.FORESTS)
def test_spoilt_boosters_and_forests_give_model_file_errors_or_working_models(which, tmp_path):
    model = (boosters.BOOSTERS | forests.FORESTS)[which]()
    rows = boosters.table_of(model)
    refused = refused_files(which, model, rows, use_by_kind, tmp_path / "m.weald", N_FILES // 2)
    assert N_FILES // 6 < refused < N_FILES // 2


@pytest.mark.parametrize("which", MODELS)
def test_spoilt_files_give_model_file_errors_or_working_models(which, tmp_path):
    model = MODELS[which]()
    rows = random_rows(3, model.schema_, 4)
    if not model.schema_.named:
        rows = [list(row) for row in zip(*random_rows(3, model.schema_, 4).values(), strict=True)]
    refused = refused_files(which, model, rows, use_by_kind, tmp_path / "m.weald", N_FILES)
    assert N_FILES // 3 < refused < N_FILES


def test_every_truncation_is_refused(tmp_path):
    data = model_file.to_bytes(classifier(1))
    path = tmp_path / "m.weald"
    for length in range(0, len(data), 11):
        path.write_bytes(data[:length])
        with pytest.raises(ModelFileError):
            weald.load(path)


def test_every_flipped_byte_is_noticed(tmp_path):
    data = model_file.to_bytes(regressor(1, n_leaves=5))
    path = tmp_path / "m.weald"
    for place in range(8, len(data), 7):
        changed = bytearray(data)
        changed[place] ^= 0x15
        path.write_bytes(changed)
        with pytest.raises(ModelFileError):
            weald.load(path)
