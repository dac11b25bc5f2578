import datetime as dt
import os
import pathlib
import pickle
import stat

import numpy as np
import pytest
import safetensors
from sklearn.model_selection import KFold
from unit.io.models import classifier, regressor
from unit.model.forests import mixed_schema, random_rows

import weald
from weald.data.schema import ColumnSchema, Schema
from weald.errors import ModelFileError, WealdError
from weald.io import canonical, container, model_file


def roundtrip(model, path):
    model_file.save(model, path)
    return weald.load(path)


def same_arrays(a, b):
    assert set(a.forest_.arrays()) == set(b.forest_.arrays())
    for name, array in a.forest_.arrays().items():
        other = b.forest_.arrays()[name]
        assert (array.dtype, array.shape, array.tobytes()) == (other.dtype, other.shape, other.tobytes())


@pytest.mark.parametrize("make", [classifier, regressor])
def test_a_loaded_model_is_the_saved_one(make, tmp_path):
    model = make(3, params={"max_depth": 7, "n_jobs": 2, "random_state": 5, "max_features": 0.5})
    loaded = roundtrip(model, tmp_path / "m.weald")
    same_arrays(model, loaded)
    assert type(loaded) is type(model)
    assert loaded.schema_ == model.schema_
    assert loaded.get_params() == {**model.get_params(), "n_jobs": None}
    rows = random_rows(1, model.schema_, 60)
    assert np.array_equal(model.predict(rows), loaded.predict(rows))
    assert np.array_equal(model.apply(rows), loaded.apply(rows))
    assert model.to_text() == loaded.to_text()
    assert loaded.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    assert loaded.n_features_in_ == 7
    assert model_file.to_bytes(loaded) == (tmp_path / "m.weald").read_bytes()
    assert set(vars(loaded)) == set(vars(model))


def test_save_method_and_path_kinds(tmp_path):
    model = classifier()
    model.save(str(tmp_path / "a.weald"))
    model.save(tmp_path / "b.weald")
    assert (tmp_path / "a.weald").read_bytes() == (tmp_path / "b.weald").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.weald", "b.weald"]
    assert weald.load(str(tmp_path / "a.weald")).classes_.tolist() == ["Adelie", "Chinstrap", "Gentoo"]


def test_mmap_gives_the_same_model(tmp_path):
    model = regressor(weighted=True)
    model.save(tmp_path / "m.weald")
    mapped = weald.load(tmp_path / "m.weald", mmap=True)
    same_arrays(model, mapped)
    assert not mapped.forest_.value.flags.writeable
    rows = random_rows(1, model.schema_, 60)
    assert np.array_equal(model.predict(rows), mapped.predict(rows))
    assert model_file.to_bytes(mapped) == (tmp_path / "m.weald").read_bytes()


CLASSES = [
    np.array([False, True]),
    np.array([-3, 0, 200], np.int16),
    np.array([0, 2**64 - 1], np.uint64),
    np.array([-1.5, -0.0, 1e300]),
    np.array([0.1, 0.5], np.float32),
    np.array(["a", "é\ud800", "long enough"]),
    np.array(["a", "b"], "<U20"),
    np.array(["a", "b"], object),
    np.array([1, "b", False, 2.5], object),
    np.array([dt.date(2020, 2, 29), dt.date(2021, 1, 1)], object),
    np.array([dt.datetime(2020, 2, 29, 1, 2, 3, 4), dt.datetime(2021, 1, 1, tzinfo=dt.UTC)], object),
    np.array(["2020-01-01", "2021-01-01"], "datetime64[D]"),
    np.array([1, 2**60], "datetime64[ns]"),
    np.array(["only"], object),
]


@pytest.mark.parametrize("classes", CLASSES, ids=lambda c: f"{c.dtype}-{len(c)}")
def test_classes_keep_type_and_dtype(classes, tmp_path):
    loaded = roundtrip(classifier(classes=classes), tmp_path / "m.weald")
    assert loaded.classes_.dtype == classes.dtype
    assert loaded.classes_.tolist() == classes.tolist()
    assert [type(c) for c in loaded.classes_.tolist()] == [type(c) for c in classes.tolist()]


def test_classes_of_several_outputs(tmp_path):
    model = classifier(classes=[("a", "b"), np.array([3, 5, 9], np.int16), np.array([True])])
    loaded = roundtrip(model, tmp_path / "m.weald")
    same_arrays(model, loaded)
    assert [labels.dtype for labels in loaded.classes_] == [object, np.int16, np.bool_]
    assert [labels.tolist() for labels in loaded.classes_] == [["a", "b"], [3, 5, 9], [True]]
    assert (loaded.n_classes_, loaded.n_outputs_) == ([2, 3, 1], 3)
    rows = random_rows(1, model.schema_, 60)
    assert loaded.predict(rows).tolist() == model.predict(rows).tolist()
    assert model_file.to_bytes(loaded) == (tmp_path / "m.weald").read_bytes()
    assert set(vars(loaded)) == set(vars(model))


@pytest.mark.parametrize("weighted", [False, True])
def test_shares_of_several_outputs_are_stored_as_weights_where_those_give_them_back(weighted, tmp_path):
    model = classifier(classes=[("a", "b"), ("x", "y", "z")], weighted=weighted)
    model_file.save(model, tmp_path / "m.weald")
    _, tensors = container.read(tmp_path / "m.weald", mmap=False)
    assert ("forest.class_weights" in tensors) != weighted
    assert ("forest.value" in tensors) == weighted
    same_arrays(model, weald.load(tmp_path / "m.weald"))


def test_several_numbers_an_output(tmp_path):
    model = regressor(width=3)
    # means that are whole numbers and add up to the cover are still no class weights
    model.forest_.value[:] = np.column_stack([np.full(20, -1.0), np.full(20, 1.0), np.full(20, 1.0)])
    loaded = roundtrip(model, tmp_path / "m.weald")
    same_arrays(model, loaded)
    assert loaded.n_outputs_ == 3
    assert model_file.to_bytes(loaded) == (tmp_path / "m.weald").read_bytes()


@pytest.mark.parametrize(
    "model",
    [
        lambda: regressor(inner_value=True),
        lambda: regressor(width=2, inner_value=True, weighted=True),
        lambda: classifier(inner_value=True),
        lambda: classifier(classes=[("a", "b"), ("x", "y", "z")], inner_value=True),
        lambda: regressor(inner_value=True, n_leaves=1),
    ],
)
def test_values_of_inner_nodes_come_back(model, tmp_path):
    model = model()
    loaded = roundtrip(model, tmp_path / "m.weald")
    assert loaded.forest_.inner_value is not None
    same_arrays(model, loaded)
    np.testing.assert_array_equal(loaded.tree_.value, model.tree_.value)
    assert model_file.to_bytes(loaded) == (tmp_path / "m.weald").read_bytes()


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


@pytest.mark.parametrize("name", ["gain", "cover", "value", "threshold", "impurity", "inner_value"])
def test_nan_is_not_written(name, tmp_path):
    model = regressor(weighted=True, inner_value=True)
    getattr(model.forest_, name)[0] = np.nan
    with pytest.raises(ModelFileError, match=f"forest_.{name}"):
        model.save(tmp_path / "m.weald")
    assert list(tmp_path.iterdir()) == []


def test_infinite_gains_are_kept(tmp_path):
    model = regressor()
    model.forest_.gain[0] = model.forest_.impurity[0] = np.inf
    assert roundtrip(model, tmp_path / "m.weald").forest_.gain[0] == np.inf


def test_foreign_models_and_subclasses_are_refused(tmp_path):
    class Mine(weald.DecisionTreeClassifier):
        pass

    for model in (object(), Mine()):
        with pytest.raises(ModelFileError, match="pickle"):
            model_file.save(model, tmp_path / "m.weald")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "m.weald"
    path.write_bytes(b"old")

    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        model_file.save(classifier(), path)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["m.weald"]


def test_the_file_gets_ordinary_permissions_and_missing_files_say_so(tmp_path):
    path = tmp_path / "m.weald"
    model_file.save(classifier(), path)
    (tmp_path / "other").write_bytes(b"")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)
    with pytest.raises(FileNotFoundError):
        weald.load(tmp_path / "absent")
    with pytest.raises(FileNotFoundError):
        model_file.save(classifier(), tmp_path / "no folder" / "m.weald")


def test_other_readers_of_safetensors_can_open_it(tmp_path):
    path = tmp_path / "m.weald"
    model_file.save(classifier(), path)
    with safetensors.safe_open(path, framework="numpy") as file:
        assert list(file.metadata()) == ["weald"]
        text = file.metadata()["weald"]
        assert canonical.dumps(canonical.loads(text, "description")) == text
        assert "forest.leaf" in file.keys()  # noqa: SIM118 (not a mapping)


def rewritten(path: pathlib.Path, change) -> None:
    """Change the description and set the checksum right again."""
    text, tensors = container.read(path, mmap=False)
    content = canonical.loads(text, "description")
    change(content, tensors)
    content.pop("checksum", None)
    content["checksum"] = container.checksum(canonical.dumps(content), tensors)
    path.write_bytes(container.pack(canonical.dumps(content), tensors))


def test_formats(tmp_path):
    path = tmp_path / "m.weald"
    model_file.save(classifier(), path)
    rewritten(path, lambda c, t: c.update(format=[1, 7], news={"deep": [1]}))
    rewritten(path, lambda c, t: t.update({"forest.news": np.arange(3)}))
    rewritten(path, lambda c, t: c["params"].update(news=1))
    assert weald.load(path).classes_.tolist() == ["Adelie", "Chinstrap", "Gentoo"]
    rewritten(path, lambda c, t: c.update(format=[1, 0]))
    with pytest.raises(ModelFileError, match="'news'"):
        weald.load(path)
    rewritten(path, lambda c, t: c.update(format=[2, 3], needs="4.5"))
    with pytest.raises(ModelFileError, match=r"format 2\.3.*weald 4\.5 or newer"):
        weald.load(path)


@pytest.mark.parametrize(
    "data",
    [b"", b"short", b"\x80\x04" + bytes(50), bytes(200), b"\xff" * 200, b"PK\x03\x04" + bytes(100)],
)
def test_other_files_are_told_apart(data, tmp_path):
    (tmp_path / "m.weald").write_bytes(data)
    with pytest.raises(ModelFileError, match="model file of weald"):
        weald.load(tmp_path / "m.weald")


def test_pickles_and_foreign_safetensors_are_not_read(tmp_path):
    import safetensors.numpy

    path = tmp_path / "m.weald"
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(ModelFileError):
        weald.load(path)
    path.write_bytes(safetensors.numpy.save({"a": np.zeros(3)}, metadata={"other": "x"}))
    with pytest.raises(ModelFileError, match="no description of a weald model"):
        weald.load(path)


def test_damage_is_told(tmp_path):
    path = tmp_path / "m.weald"
    model_file.save(classifier(), path)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match="checksum"):
        weald.load(path)


def last_code(tensors):
    """Where the first set that is not empty ends."""
    return int(tensors["forest.set_size"][tensors["forest.set_size"] > 0][0]) - 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c, t: c.update(estimator="os.system"), "unknown here"),
        (lambda c, t: c["params"].update(n_jobs=3), "unknown parameter"),
        (lambda c, t: c["params"].update(max_depth="deep"), "max_depth"),
        (lambda c, t: c["params"].update(max_depth=[1]), "unknown form"),
        (lambda c, t: c["schema"]["names"].update(values=["a"] * 7), "one name for each"),
        (lambda c, t: c["schema"]["columns"].pop(), "one name for each"),
        (lambda c, t: c["schema"]["columns"][0].update(kind="text"), "unknown kind"),
        (lambda c, t: c["schema"]["columns"][5]["levels"]["values"].pop(), "type|level"),
        (lambda c, t: c["schema"]["columns"][5]["levels"].update(type="pickle"), "unknown type"),
        (lambda c, t: c["classes"]["values"].pop(), "type|classes"),
        (lambda c, t: c["classes"].update(dtype="|V8"), "unknown dtype"),
        (lambda c, t: c["classes"].update(dtype="<U1"), "does not fit its dtype"),
        (lambda c, t: c["classes"].update(dtype="<U99999999"), "does not fit its dtype"),
        (lambda c, t: c["forest"].update(nodes=2**31), "number of nodes"),
        (lambda c, t: c["forest"].update(nodes=2**31 - 1), "'forest.leaf'|'leaf'"),
        (lambda c, t: c["forest"].update(trees=2), "binary trees"),
        (lambda c, t: c["forest"].update(width=2), "all of its outputs"),
        (lambda c, t: c["forest"].update(width=1), "shape"),
        (lambda c, t: c["forest"].update(link="eval"), "link"),
        (lambda c, t: t["forest.leaf"].__setitem__(0, 0), "binary trees"),
        (lambda c, t: t["forest.column"].__setitem__(0, 99), "range"),
        (lambda c, t: t["forest.kind"].__setitem__(0, 3), "range"),
        (lambda c, t: t["forest.set_codes"].__setitem__(0, 0), "'set_codes'.*range, 1 to"),
        (lambda c, t: t["forest.set_codes"].__setitem__(last_code(t), 41), "level its column does not have"),
        (lambda c, t: t["forest.set_codes"].__setitem__(slice(None), 1), "not in ascending order"),
        (lambda c, t: t.update({"forest.set_codes": t["forest.set_codes"][::-1].copy()}), "ascending"),
        (lambda c, t: t["forest.set_size"].__setitem__(0, 255), "set_codes"),
        (lambda c, t: t.update({"forest.set_left": np.zeros(99, np.uint8)}), "set_left"),
        (lambda c, t: t.pop("forest.set_left"), "lacks the array 'set_left'"),
        (lambda c, t: t.pop("forest.gain"), "lacks the array 'gain'"),
        (lambda c, t: t.update({"forest.gain": -t["forest.gain"]}), "numbers from 0 up"),
        (lambda c, t: t.update({"forest.cover": np.full(39, np.nan)}), "finite"),
        (lambda c, t: t.update({"forest.evil": np.zeros(3)}), "nobody asked for"),
    ],
)
def test_hostile_files_are_refused_though_their_checksum_is_right(change, message, tmp_path):
    path = tmp_path / "m.weald"
    model_file.save(classifier(1), path)
    rewritten(path, change)
    with pytest.raises(ModelFileError, match=message):
        weald.load(path)


def shares(value):
    """Replaces what the file says of leaf values."""

    def change(content, tensors):
        del tensors["forest.class_weights"]
        tensors["forest.value"] = np.full((20, 5), value)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c, t: c["classes"].pop(), "fewer than two"),
        (lambda c, t: c["classes"].append(c["classes"][0]), "do not match the outputs"),
        (lambda c, t: c.update(classes=[]), "fewer than two"),
        (lambda c, t: c.update(classes=[None, None]), "not a list of typed values"),
        (lambda c, t: c.update(classes=[[c["classes"][0]], c["classes"][1]]), "not a list of typed values"),
        (lambda c, t: c["classes"].reverse(), "add up to 1"),
        (lambda c, t: c["classes"][0].update(values=["a", "a"]), "class twice"),
        (lambda c, t: c.update(classes=None), "do not match the outputs"),
        (lambda c, t: c.update(estimator="DecisionTreeRegressor"), "unknown parameter|link"),
        (lambda c, t: c["classes"][0].update(type=[], values=[]), "dtype|do not match the outputs"),
        (lambda c, t: t["forest.class_weights"].__setitem__((0, 0), 255), "more weight than it has"),
        (lambda c, t: t["forest.class_weights"].__setitem__((0, 0), 0), "do not add up to 1"),
        (lambda c, t: t.update({"forest.class_weights": np.zeros((20, 3))}), "'class_weights' .* shape"),
        (lambda c, t: t.update({"forest.class_weights": np.zeros((20, 6))}), "'class_weights' .* shape"),
        (shares(0.3), "do not add up to 1"),
        (shares(1.5), "between 0 and 1"),
        (lambda c, t: t.update({"forest.inner_value": np.full((19, 5), np.nan)}), "'inner_value'.*finite"),
        (lambda c, t: t.update({"forest.inner_value": np.full((19, 4), 0.5)}), "'inner_value'.*shape"),
        (lambda c, t: t.update({"forest.inner_value": np.full((20, 5), 0.5)}), "'inner_value'.*shape"),
        (lambda c, t: t.update({"forest.inner_value": np.full((19, 5), 0.9)}), "do not add up to 1"),
        (lambda c, t: c["params"].update(categorical_features={"list": [{"dict": []}]}), "unknown form"),
        (lambda c, t: c["params"].update(class_weight={"list": [{"dict": [[1]]}]}), "not a mapping"),
        (lambda c, t: c["params"].update(class_weight={"list": [{"list": []}]}), "unknown form"),
        (lambda c, t: c["params"].update(monotonic_cst={"dict": 3}), "not a mapping"),
    ],
)
def test_hostile_files_of_several_outputs(change, message, tmp_path):
    path = tmp_path / "m.weald"
    model_file.save(classifier(1, classes=[("a", "b"), ("x", "y", "z")]), path)
    rewritten(path, change)
    with pytest.raises(ModelFileError, match=message):
        weald.load(path)


def with_header(path, header: str) -> None:
    text = header.encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("[" * 100_000, "deep"),
        ('{"a":1,"a":2}', "twice"),
        ('{"a":NaN}', "NaN"),
        ('{"a":1e999}', "beyond float64"),
        ('{"a":' + "9" * 5000 + "}", "JSON"),
        ("[]", "no description"),
        ('{"__metadata__":{"weald":3}}', "no description"),
        ('{"__metadata__":{"weald":"{}"}}', "which format"),
        (
            '{"__metadata__":{"weald":"{}"},"a":{"dtype":"F64","shape":[4],"data_offsets":[0,32]}}',
            "promises 32",
        ),
        ('{"__metadata__":{"weald":"{}"},"a":{"dtype":"F64","shape":[-4],"data_offsets":[0,32]}}', "shape"),
        ('{"__metadata__":{"weald":"{}"},"a":{"dtype":"F9","shape":[4],"data_offsets":[0,32]}}', "type"),
        (
            '{"__metadata__":{"weald":"{}"},"a":{"dtype":"U8","shape":[281474976710657,0],"data_offsets":[0,0]}}',
            "size",
        ),
    ],
)
def test_hostile_headers(header, message, tmp_path):
    with_header(tmp_path / "m.weald", header)
    with pytest.raises(ModelFileError, match=message):
        weald.load(tmp_path / "m.weald")


def test_an_error_is_a_weald_error():
    assert issubclass(ModelFileError, WealdError)
