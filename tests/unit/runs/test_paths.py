"""`compare` and `report` given the names of files: the same as given their tables."""

from __future__ import annotations

import numpy as np
import pytest

import weald
from weald.errors import DataError, DataTypeError

pa = pytest.importorskip("pyarrow")
from pyarrow import csv  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
TABLE = pa.table(
    {
        "a": X[:, 0],
        "b": X[:, 1],
        "site": [f"s{i % 9}" for i in range(300)],
        "one": ["same"] * 300,
        "y": np.where(X[:, 0] + X[:, 1] > 0, "yes", "no"),
    }
)
NAMES = ["a", "b", "site"]
FAST = {"methods": ["tree", "linear-svm"], "folds": 3}


@pytest.fixture
def file(tmp_path):
    csv.write_csv(TABLE, tmp_path / "t.csv")
    return tmp_path / "t.csv"


def test_compare_takes_a_file(file):
    board = weald.compare(file, "y", **FAST)
    table = weald.read(file)
    same = weald.compare(table.select(NAMES), table["y"], **FAST)
    assert [(each.method, each.fold_scores) for each in board.places] == [
        (each.method, each.fold_scores) for each in same.places
    ]
    assert board.notes == ("one: the same in every row; dropped",)
    assert board.notes[0] in str(board)
    assert board.notes[0] in board._repr_html_()


def test_compare_takes_columns_of_a_file_by_name(file):
    board = weald.compare(str(file), "y", groups="site", **FAST)
    table = weald.read(file)
    same = weald.compare(table.select(["a", "b"]), table["y"], groups=table["site"], **FAST)
    assert board.places[0].fold_scores == same.places[0].fold_scores
    with pytest.raises(DataTypeError, match="`groups` of compare must be the name of a column"):
        weald.compare(file, "y", groups=[1] * 300, **FAST)
    with pytest.raises(DataError, match="no column 'z'"):
        weald.compare(file, "z", **FAST)
    with pytest.raises(DataTypeError, match="compare needs `y`"):
        weald.compare(X, **FAST)


def test_report_takes_files(file, tmp_path):
    table = weald.read(file)
    model = weald.DecisionTreeClassifier(max_depth=4).fit(table.select(NAMES), table["y"])
    made = weald.report(model, file, "y", train=(file, "y"), path=tmp_path / "r.html")
    assert (made.summary.asked.target, made.summary.asked.n_training_rows) == ("y", 300)
    same = weald.report(
        model,
        table.select(NAMES),
        table["y"],
        train=(table.select(NAMES), table["y"]),
        source=file,
    )
    assert made.to_json() == same.to_json()
    with pytest.raises(DataTypeError, match="`y` of report must be the name of a column"):
        weald.report(model, file, table["y"])
    with pytest.raises(FileNotFoundError, match="its folder does not exist"):
        weald.report(model, file, "y", path=tmp_path / "no" / "r.html")
