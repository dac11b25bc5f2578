"""Thousands of spoilt model files, most with their checksum set right again.

Loading gives ModelFileError or a model that works."""

from __future__ import annotations

import contextlib
import json
import math
import random
import warnings

import numpy as np
import pytest
from unit.io import boosters, ensembles, forests, machines
from unit.io.models import classifier, regressor
from unit.model.forests import mixed_schema, random_rows, random_table

import weald
from weald import export_graphviz
from weald.errors import ModelFileError, WealdError
from weald.io import canonical, container, model_file
from weald.model import predict, rules

N_FILES = 500

ODD = [
    *(None, True, False, 0, 1, -1, 2, 7, 39, 2**31 - 1, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308, "", "\ud800"),
    *("str", "int", "datetime", "duration", "2020-01-01", "nan", "inf", "-inf", "numeric", "categorical"),
    *("ordinal", "shares", "<U1", "|O", "<M8[ns]", "f8", "DecisionTreeRegressor", "DecisionTreeClassifier"),
    *(
        [],
        [[]],
        [None],
        [1, 0],
        {},
        {"value": 1},
        {"list": [1]},
        {"dict": [[1, 2]]},
        {"list": [{"dict": []}]},
    ),
    {"type": "str", "values": []},
    {"array": {"dtype": "<i8", "type": "int", "values": [1]}},
    {"value": {"type": "float", "values": ["nan"]}},
]
EXTREMES = [0, 1, -1, 127, 128, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**64 - 1]
FLOATS = [math.nan, math.inf, -math.inf, -1.0, 0.0, -0.0, 1e308, 5e-324, 0.5]

MODELS = {
    "classifier": lambda: classifier(
        1, params={"class_weight": {"Adelie": 2.0}, "categorical_features": ["code"]}
    ),
    "two classes, repeated cuts": lambda: classifier(2, classes=np.array([3, 9]), n_leaves=80, cuts=3),
    "weighted": lambda: classifier(3, classes=np.array(["a", "b"]), weighted=True),
    "regressor": lambda: regressor(4, params={"max_features": "sqrt", "random_state": 3}),
    "combinations": lambda: regressor(5, combinations=True, n_leaves=40),
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


def spoil_bytes(draw, data):
    """Flip, cut, lengthen or shuffle raw bytes; the checksum stays wrong."""
    data = bytearray(data)
    action = draw.randrange(4)
    if action == 0:
        for _ in range(draw.randint(1, 8)):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    elif action == 1:
        del data[draw.randrange(len(data)) :]
    elif action == 2:
        data += draw.randbytes(draw.randint(1, 64))
    else:
        start = draw.randrange(len(data))
        data[start : start + draw.randint(1, 20)] = draw.randbytes(draw.randint(0, 20))
    return bytes(data)


def spoil_header(draw, data):
    """Change one number or word of the header that says where the arrays are."""
    length = int.from_bytes(data[:8], "little")
    if draw.random() < 0.1:
        return draw.choice(EXTREMES[-8:]).to_bytes(8, "little") + data[8:]
    header = json.loads(data[8 : 8 + length])
    entry = header[draw.choice([name for name in header if name != "__metadata__"])]
    key = draw.choice(list(entry))
    if key == "dtype":
        entry[key] = draw.choice(
            ["F64", "F32", "I64", "U64", "I32", "U32", "U16", "U8", "I8", "BOOL", "BF16", 3]
        )
    elif draw.random() < 0.7 and entry[key]:
        entry[key][draw.randrange(len(entry[key]))] += draw.choice([-8, -1, 1, 8, 2**40, 2**63])
    else:
        entry[key] = draw.choice(ODD)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data[8 + length :]


def spoil_content(draw, content):
    """Replace, remove or add an entry anywhere in the description."""
    holder = content
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not keys:
            return
        key = draw.choice(keys)
        if isinstance(holder[key], dict | list) and holder[key] and draw.random() < 0.92:
            holder = holder[key]
            continue
        action = draw.random()
        if action < 0.7:
            value = holder[key]
            near = type(value) is int and draw.random() < 0.4
            holder[key] = value + draw.choice([-1, 1]) if near else json.loads(json.dumps(draw.choice(ODD)))
        elif action < 0.85:
            del holder[key]
        elif isinstance(holder, list):
            holder.append(holder[key])
        else:
            holder[draw.choice(["news", "kind", "n_jobs", "max_depth"])] = holder[key]
        return


def spoil_tensors(draw, tensors):
    """Change values, the length, the dtype or the name of an array."""
    name = draw.choice(sorted(tensors))
    tensor = tensors[name] = tensors[name].copy()
    action = draw.random()
    if action < 0.35 and tensor.size:
        raw = tensor.reshape(-1).view(np.uint8)
        for _ in range(draw.randint(1, 4)):
            raw[draw.randrange(len(raw))] ^= 1 << draw.randrange(8)
    elif action < 0.7 and tensor.size:
        flat = tensor.reshape(-1)
        place = slice(None) if draw.random() < 0.2 else draw.randrange(len(flat))
        if tensor.dtype.kind == "f":
            with np.errstate(over="ignore"):
                flat[place] = draw.choice(FLOATS)
        else:
            flat[place] = np.uint64(draw.choice(EXTREMES) % 2**64).astype(tensor.dtype)
    elif action < 0.8:
        tensors[name] = draw.choice(
            [tensor[:-1], np.concatenate([tensor, tensor[:1]]), tensor[None].reshape(1, -1), tensor[:0]]
        )
    elif action < 0.88:
        dtype = draw.choice(["u1", "i1", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
        with np.errstate(all="ignore"):
            tensors[name] = tensor.astype(dtype)
    elif action < 0.94:
        del tensors[name]
    else:
        other = draw.choice([*sorted(tensors), "forest.count", "forest.cover", "forest.kind", "forest.value"])
        tensors[other] = tensor


def spoilt(draw, data, text, tensors):
    """A spoilt copy of a file; in most cases its checksum is right."""
    action = draw.random()
    if action < 0.1:
        return spoil_bytes(draw, data)
    if action < 0.2:
        return spoil_header(draw, data)
    content, tensors = json.loads(text), dict(tensors)
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        if draw.random() < 0.45:
            spoil_content(draw, content)
        elif tensors:
            spoil_tensors(draw, tensors)
    content.pop("checksum", None)
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    content["checksum"] = container.checksum(text, tensors)
    return container.pack(canonical.dumps(content), tensors)


def use(model, rows):
    """Whatever a user may do with a loaded model: it works, or says what is wrong."""
    table = random_table(1, model.schema_, 5)
    for action in (
        lambda: model.predict(rows),
        lambda: model.tree_.value,
        lambda: model.tree_.predict(rows),
        lambda: getattr(model, "predict_proba", model.predict)(rows),
        lambda: model.apply(rows),
        lambda: model.decision_path(rows),
        lambda: predict.raw_scores(model.forest_, table),
        lambda: predict.leaf_nodes(model.forest_, table),
        lambda: predict.decision_path(model.forest_, table),
        lambda: rules.to_text(model),
        lambda: model.to_frame("dict"),
        model._repr_html_,
        lambda: export_graphviz(model, filled=True),
        lambda: model_file.to_bytes(model),
        lambda: repr(model),
    ):
        with contextlib.suppress(WealdError):
            action()


def use_booster(model, rows):
    """The same of a booster."""
    for action in (
        lambda: model.predict(rows),
        lambda: model.predict(rows, output_margin=True, iteration_range=(0, 1)),
        lambda: getattr(model, "predict_proba", model.predict)(rows),
        lambda: list(model.staged_predict(rows)),
        lambda: model.apply(rows),
        lambda: [model.importances(kind) for kind in ("gain", "weight", "total_cover")],
        lambda: model.intercept_,
        lambda: model_file.to_bytes(model),
        lambda: repr(model),
    ):
        with contextlib.suppress(WealdError):
            action()


def use_ensemble(model, rows):
    """The same of bagging or voting."""
    for action in (
        lambda: model.predict(rows),
        lambda: getattr(model, "predict_proba", model.predict)(rows),
        lambda: getattr(model, "transform", model.predict)(rows),
        lambda: [member.predict(rows) for member in model.estimators_],
        lambda: [rules.to_text(member) for member in model.estimators_ if hasattr(member, "tree_")],
        model.get_params,
        lambda: model_file.to_bytes(model),
        lambda: repr(model),
    ):
        with contextlib.suppress(WealdError):
            action()


def use_forest(model, rows):
    """The same of a forest."""
    for action in (
        lambda: model.predict(rows),
        lambda: getattr(model, "predict_proba", model.predict)(rows),
        lambda: model.apply(rows),
        lambda: model.decision_path(rows),
        lambda: model.feature_importances_,
        lambda: use(model[len(model) // 2], rows),
        lambda: model.bags_.n_draws <= model.bags_.n_rows,
        lambda: model_file.to_bytes(model),
        lambda: repr(model),
    ):
        with contextlib.suppress(WealdError):
            action()


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


def use_machine(model, rows):
    """The same of a kernel machine."""
    for action in (
        lambda: getattr(model, "predict", getattr(model, "transform", None))(rows),
        lambda: getattr(model, "decision_function", repr)(rows),
        lambda: getattr(model, "predict_proba", repr)(rows),
        lambda: (model.support_vectors_, model.margin_width_, model.duality_gap_, model.n_iter_),
        lambda: getattr(model, "coef_", None),
        lambda: model_file.to_bytes(model),
        lambda: repr(model),
    ):
        with contextlib.suppress(WealdError, AttributeError):
            action()


@pytest.mark.parametrize("which", machines.MACHINES)
def test_spoilt_machines_give_model_file_errors_or_working_models(which, tmp_path):
    model, rows = machines.machine(which)
    refused = refused_files(which, model, rows, use_machine, tmp_path / "m.weald", N_FILES // 4)
    assert N_FILES // 16 < refused < N_FILES // 4


def use_by_kind(model, rows):
    """As `use`, `use_forest` or `use_booster`."""
    if hasattr(model, "importances"):
        use_booster(model, rows)
    elif hasattr(model, "bags_"):
        use_forest(model, rows)
    else:
        use(model, rows)


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
