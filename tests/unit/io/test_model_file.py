"""A saved model comes back whole: trees, labels, values, and the file around them."""

import datetime as dt
import os
import stat

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from unit.io.models import classifier, regressor, roundtrip, same_arrays
from unit.model.forests import random_rows

import weald
from weald.errors import ModelFileError
from weald.io import canonical, container, forest_arrays, model_file


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
    assert set(vars(loaded)) == {*vars(model), "_loaded"}


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


def test_mapped_arrays_are_aligned_whatever_the_length_of_the_header(tmp_path):
    model = regressor(weighted=True)
    data = model_file.to_bytes(model)
    end = 8 + int.from_bytes(data[:8], "little")
    path = tmp_path / "m.weald"
    path.write_bytes((end - 7).to_bytes(8, "little") + data[8:end] + b" " + data[end:])
    mapped = weald.load(path, mmap=True)
    same_arrays(model, mapped)
    assert all(array.flags.aligned for array in mapped.forest_.arrays().values())


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
    assert set(vars(loaded)) == {*vars(model), "_loaded"}


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


def test_foreign_models_are_refused(tmp_path):
    with pytest.raises(ModelFileError, match="pickle"):
        model_file.save(object(), tmp_path / "m.weald")


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


def test_files_are_those_of_safetensors_to_the_byte():
    rng = np.random.default_rng(0)
    tensors = {
        f"{shape} {letter} {k}": rng.integers(0, 2, shape).astype(letter)
        for letter in "?bBhHiIqQfd"
        for k, shape in enumerate([(3,), (0,), (2, 5), (0, 4), ()])
    }
    tensors["turned"] = np.asfortranarray(rng.normal(size=(3, 2)))
    text = canonical.dumps({"quoted": 'a "word" \\ and \x7f', "far": "h\u00e9 \U0001f333 \n"})
    contiguous = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    expected = safetensors.numpy.save(contiguous, metadata={"weald": text})
    assert container.pack(text, tensors) == expected
    swapped = {name: tensor.astype(tensor.dtype.newbyteorder(">")) for name, tensor in tensors.items()}
    assert container.pack(text, swapped) == expected


def test_a_lack_of_memory_is_no_fault_of_the_file(tmp_path, monkeypatch):
    path = tmp_path / "m.weald"
    model_file.save(classifier(), path)
    before = path.read_bytes()

    def refused(n_bytes):
        raise MemoryError("no room")

    monkeypatch.setattr(forest_arrays, "ask_for", refused)
    with pytest.raises(MemoryError, match="no room"):
        weald.load(path)
    with pytest.raises(MemoryError, match="no room"):
        classifier().save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_other_readers_of_safetensors_can_open_it(tmp_path):
    path = tmp_path / "m.weald"
    model_file.save(classifier(), path)
    with safetensors.safe_open(path, framework="numpy") as file:
        assert list(file.metadata()) == ["weald"]
        text = file.metadata()["weald"]
        assert canonical.dumps(canonical.loads(text, "description")) == text
        assert "forest.leaf" in file.keys()  # noqa: SIM118 (not a mapping)
