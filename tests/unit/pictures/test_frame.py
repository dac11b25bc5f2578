import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError
from unit.pictures.models import classifier, regressor, towns, two_numbers, two_outputs

from weald import DecisionTreeClassifier, DecisionTreeRegressor, load
from weald.errors import ParameterError

COLUMNS = [
    "node",
    "depth",
    "parent",
    "side",
    "condition",
    "column",
    "threshold",
    "categories",
    "missing_left",
    "gain",
    "impurity",
    "count",
    "cover",
    "prediction",
]


def test_one_row_a_node():
    model = classifier()
    frame = model.to_frame("dict")
    tree = model.tree_
    assert list(frame) == [*COLUMNS, "share_high", "share_low", "share_middle"]
    assert frame["node"] == list(range(tree.node_count))
    assert frame["count"] == tree.n_node_samples.tolist()
    assert frame["impurity"] == pytest.approx(tree.impurity)
    shares = np.column_stack([frame[f"share_{name}"] for name in model.classes_])
    np.testing.assert_array_equal(shares, tree.value[:, 0, :])
    assert frame["prediction"] == model.classes_[shares.argmax(axis=1)].tolist()
    names = model.schema_.names
    lines = model.to_text().splitlines()[1:]
    for node in frame["node"]:
        a, b = tree.children_left[node], tree.children_right[node]
        if a < 0:
            assert [frame[name][node] for name in COLUMNS[5:10]] == [None] * 5
            continue
        assert (frame["parent"][a], frame["side"][a], frame["depth"][a]) == (
            node,
            "left",
            frame["depth"][node] + 1,
        )
        assert (frame["parent"][b], frame["side"][b]) == (node, "right")
        assert frame["column"][node] == names[tree.feature[node]]
        assert frame["missing_left"][node] == bool(tree.missing_go_to_left[node])
        if np.isnan(tree.threshold[node]):
            assert set(frame["categories"][node]) <= set(tree.left_categories(node))
            assert frame["threshold"][node] is None
        else:
            assert frame["threshold"][node] == tree.threshold[node]
            assert frame["categories"][node] is None
    for condition, line in zip(frame["condition"][1:], lines, strict=True):
        assert f"── {condition}" in line
    assert any(value is not None for value in frame["categories"])


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda X: X, pd.DataFrame),
        (pl.from_pandas, pl.DataFrame),
        (pa.Table.from_pandas, pa.Table),
    ],
)
def test_the_library_of_the_table_is_remembered(make, kind, tmp_path):
    X, label, _ = towns()
    model = DecisionTreeClassifier(max_depth=2).fit(make(X), label)
    frame = model.to_frame()
    assert isinstance(frame, kind)
    # A file does not remember it.
    model.save(tmp_path / "tree.weald")
    assert isinstance(load(tmp_path / "tree.weald").to_frame(), pd.DataFrame)
    model.fit(X[["length"]].to_numpy(), label)
    assert isinstance(model.to_frame(), pd.DataFrame)


@pytest.mark.parametrize("model", [classifier(), regressor(), two_outputs(), two_numbers()], ids=repr)
def test_all_libraries_hold_the_same(model):
    plain = model.to_frame("dict")
    assert model.to_frame("polars").to_dict(as_series=False) == plain
    assert model.to_frame("pyarrow").to_pydict() == plain
    frame = model.to_frame("pandas")
    for name, values in plain.items():
        shown = [
            None if value is None or value is pd.NA or value != value else value for value in frame[name]
        ]
        assert shown == values, name


def test_types_do_not_depend_on_the_tree():
    leaf = DecisionTreeRegressor().fit([[1.0], [2.0]], [3.0, 3.0])
    tree = regressor()
    for library in ("polars", "pyarrow"):
        small, large = (model.to_frame(library).schema for model in (leaf, tree))
        assert small == large
    assert leaf.to_frame("pandas")["parent"].dtype == tree.to_frame("pandas")["parent"].dtype == "Int64"


def test_several_outputs():
    frame = two_outputs().to_frame("dict")
    assert list(frame)[13:] == [
        "prediction_0",
        "prediction_1",
        "share_0_a",
        "share_0_b",
        "share_0_c",
        "share_1_False",
        "share_1_True",
    ]
    assert set(frame["prediction_1"]) <= {False, True}
    assert list(two_numbers().to_frame("dict"))[13:] == ["prediction_0", "prediction_1"]


def test_wrong_library_and_unfitted():
    with pytest.raises(ParameterError, match=r"`library` must be None.*got 'panda'\. Did you mean 'pandas'"):
        classifier().to_frame("panda")
    with pytest.raises(NotFittedError):
        DecisionTreeClassifier().to_frame()
