"""Files of every format version so far: they load, predict what they did, and save to the same bytes."""

import json
import pathlib

import pytest
from golden import make

import weald
from weald.io import description, model_file

FOLDER = pathlib.Path(__file__).parent
FILES = sorted(FOLDER.glob("*.weald"))
TABLES = {name: X for name, _, X, _, _ in make.models()}


def test_there_are_golden_files():
    assert len(FILES) >= 3


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_file_predicts_what_it_did(path):
    model = weald.load(path)
    X = TABLES[path.stem.split("-", 1)[1]]
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert make.values(model, X) == expected["values"]
    if expected["leaves"] is not None:
        assert model.apply(X).tolist() == expected["leaves"]
    if expected["text"] is not None:
        assert model.to_text() == expected["text"]


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path.stem.startswith("{}.{}-".format(*description.FORMAT))],
    ids=lambda path: path.stem,
)
def test_a_file_of_this_format_saves_to_itself(path):
    assert model_file.to_bytes(weald.load(path)) == path.read_bytes()
