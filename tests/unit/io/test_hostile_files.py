"""Other formats, damage and malice: every file is told apart or refused."""

import pickle

import numpy as np
import pytest
from unit.io.models import classifier, regressor, rewritten

import weald
from weald.errors import ModelFileError, WealdError
from weald.io import model_file


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
        (lambda c, t: c["classes"].update(dtype="<U99999999"), "more memory.*<U99999999"),
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


def test_a_single_tree_has_no_weight_below_0(tmp_path):
    """Means of inner nodes divide by it; only boosters, which do not, may have such covers."""
    path = tmp_path / "m.weald"
    model = regressor(weighted=True)
    model.save(path)
    rewritten(path, lambda c, t: t.update({"forest.cover": np.full(model.forest_.n_nodes, -1.0)}))
    with pytest.raises(ModelFileError, match="less weight than 0"):
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
        ('{"a":' + "9" * 5000 + "}", "5000 digits"),
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
