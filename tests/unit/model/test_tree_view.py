"""`TreeView`: scikit-learn's names for the arrays of one tree."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

from weald.data.schema import ColumnSchema, Schema
from weald.model.forest import CATEGORIES, NUMERIC, Forest
from weald.model.tree_view import TreeView

SCHEMA = Schema(
    (ColumnSchema("size", "numeric"), ColumnSchema("colour", "categorical", levels=("blue", "green", "red"))),
    named=True,
)


def forest(slot, cover, column, threshold, right, gain, value, **more):
    """A forest of one tree from what matters; the rest is plain."""
    n_inner, n_nodes = len(column), len(slot)
    fields = {
        "n_columns": 2,
        "base_score": np.zeros(np.shape(value)[1]),
        "link": "shares",
        "tree_start": np.array([0, n_nodes]),
        "tree_output": np.zeros(1, np.int32),
        "tree_weight": np.ones(1),
        "tree_round": np.zeros(1, np.int32),
        "slot": np.array(slot, np.int32),
        "cover": np.array(cover, np.float64),
        "count": np.array(cover, np.int64),
        "impurity": None,
        "column": np.array(column, np.int32),
        "threshold": np.array(threshold, np.float64),
        "kind": np.zeros(n_inner, np.uint8),
        "missing_left": np.zeros(n_inner, np.bool_),
        "right": np.array(right, np.int32),
        "gain": np.array(gain, np.float64),
        "side": np.full(n_inner, -1, np.int32),
        "value": np.array(value, np.float64),
    }
    return Forest(**(fields | more))


@pytest.fixture
def small():
    """size <= 1.5 ? (colour in {blue, red} ? leaf : leaf) : leaf, with 4, 6 and 39 rows."""
    return forest(
        slot=[0, 1, ~0, ~1, ~2],
        cover=[49, 10, 4, 6, 39],
        column=[0, 1],
        threshold=[1.5, 0.0],
        right=[4, 3],
        gain=[9.0, 3.0],
        value=[[1.0, 0.0], [0.5, 0.5], [1 / 39, 38 / 39]],
        kind=np.array([NUMERIC, CATEGORIES], np.uint8),
        side=np.array([-1, 0], np.int32),
        missing_left=np.array([True, False]),
        set_start=np.array([0, 2]),
        set_codes=np.array([1, 3], np.uint32),
        set_left=np.array([True]),
    )


@pytest.fixture
def view(small):
    return TreeView(small, SCHEMA, n_classes=2)


def test_arrays_have_the_names_and_marks_of_scikit_learn(view):
    assert view.children_left.tolist() == [1, 2, -1, -1, -1]
    assert view.children_right.tolist() == [4, 3, -1, -1, -1]
    assert view.feature.tolist() == [0, 1, -2, -2, -2]
    np.testing.assert_array_equal(view.threshold, [1.5, np.nan, -2, -2, -2])
    assert view.missing_go_to_left.tolist() == [1, 0, 0, 0, 0]
    assert view.n_node_samples.tolist() == [49, 10, 4, 6, 39]
    assert view.weighted_n_node_samples.tolist() == [49, 10, 4, 6, 39]
    assert np.isnan(view.impurity).all()


def test_counts(view):
    assert (view.node_count, view.capacity, view.n_leaves, view.max_depth) == (5, 5, 3, 2)
    assert (view.n_features, view.n_outputs, view.max_n_classes) == (2, 1, 2)
    assert view.n_classes.tolist() == [2]


def test_inner_values_are_the_exact_shares_of_their_rows(view):
    assert view.value.shape == (5, 1, 2)
    assert view.value[0, 0].tolist() == [8 / 49, 41 / 49]
    assert view.value[1, 0].tolist() == [7 / 10, 3 / 10]
    assert view.value[4, 0].tolist() == [1 / 39, 38 / 39]


def test_inner_values_with_fractional_weights(small):
    weighted = copy.copy(small)
    object.__setattr__(weighted, "cover", small.cover / 7)
    value = TreeView(weighted, SCHEMA, n_classes=2).value
    np.testing.assert_allclose(value[0, 0], [8 / 49, 41 / 49], rtol=1e-14)


def test_regression_values_are_weighted_means():
    plain = forest([0, ~0, ~1], [4, 1, 3], [0], [0.5], [2], [1.0], [[1.25], [3.0]])
    assert TreeView(plain, SCHEMA, n_classes=1).value.ravel().tolist() == [2.5625, 1.25, 3.0]


def test_outputs_with_fewer_classes_are_filled_with_zeros():
    values = [[1.0, 0.0, 0.25, 0.5, 0.25], [0.5, 0.5, 0.0, 0.0, 1.0]]
    view = TreeView(forest([0, ~0, ~1], [8, 4, 4], [0], [0.5], [2], [6.0], values), SCHEMA, n_classes=[2, 3])
    assert (view.n_outputs, view.max_n_classes, view.n_classes.tolist()) == (2, 3, [2, 3])
    assert view.value.shape == (3, 2, 3)
    assert view.value[1].tolist() == [[1.0, 0.0, 0.0], [0.25, 0.5, 0.25]]
    assert view.value[2].tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    assert view.value[0].tolist() == [[0.75, 0.25, 0.0], [0.125, 0.25, 0.625]]
    rows = [{"size": 0.0, "colour": "red"}, {"size": 1.0, "colour": "red"}]
    table = {name: [row[name] for row in rows] for name in ("size", "colour")}
    assert view.predict(table).tolist() == view.value[1:].tolist()
    # gain 6 for 8 rows
    assert view.compute_feature_importances(normalize=False).tolist() == [6 / 8, 0.0]


def test_several_means():
    values = [[1.0, 10.0], [3.0, 30.0]]
    view = TreeView(forest([0, ~0, ~1], [4, 1, 3], [0], [0.5], [2], [1.0], values), SCHEMA, n_classes=[1, 1])
    assert view.value.tolist() == [[[2.5], [25.0]], [[1.0], [10.0]], [[3.0], [30.0]]]
    assert view.n_classes.tolist() == [1, 1]


def test_values_of_inner_nodes_are_those_the_model_keeps():
    medians = forest(
        [1, ~1, 0, ~0, ~2], [9, 1, 8, 4, 4], [0, 0], [0.5, 0.1], [4, 2], [1.0, 2.0], [[7.0], [1.0], [5.0]],
        inner_value=np.array([[6.5], [5.5]]),
    )  # fmt: skip
    assert TreeView(medians, SCHEMA, n_classes=1).value.ravel().tolist() == [5.5, 1.0, 6.5, 7.0, 5.0]
    # without them: means of the leaves below
    means = dataclasses.replace(medians, inner_value=None)
    assert TreeView(means, SCHEMA, n_classes=1).value[2].ravel().tolist() == [6.0]


def test_a_single_leaf():
    leaf = TreeView(forest([~0], [3], [], [], [], [], [[0.5]]), SCHEMA, n_classes=1)
    assert (leaf.max_depth, leaf.n_leaves, leaf.node_count) == (0, 1, 1)
    assert leaf.feature.tolist() == [-2]
    assert leaf.value.ravel().tolist() == [0.5]
    assert leaf.compute_feature_importances().tolist() == [0.0, 0.0]


def test_importances_are_gains_per_weight(view):
    np.testing.assert_allclose(view.compute_feature_importances(), [0.75, 0.25])
    np.testing.assert_allclose(view.compute_feature_importances(normalize=False), [9 / 49, 3 / 49])


def test_left_categories(view):
    assert view.left_categories(1) == ("blue", "red")


@pytest.mark.parametrize(
    ("codes", "expected"), [([2], ("blue", "red")), ([], ("blue", "green", "red")), ([1, 2, 3], ())]
)
def test_left_categories_are_the_others_when_the_listed_go_right(small, codes, expected):
    other = dataclasses.replace(
        small,
        set_start=np.array([0, len(codes)]),
        set_codes=np.array(codes, np.uint32),
        set_left=np.array([False]),
    )
    assert TreeView(other, SCHEMA, n_classes=2).left_categories(1) == expected


@pytest.mark.parametrize("node", [0, 2])
def test_left_categories_of_other_nodes_raises(view, node):
    with pytest.raises(ValueError, match=f"Node {node} of this tree does not split on categories"):
        view.left_categories(node)


def test_second_tree_of_a_forest(small):
    twice = {
        name: np.concatenate([array, array])
        for name, array in small.arrays().items()
        if name in ("cover", "count", "column", "threshold", "kind", "missing_left", "right", "gain", "side")
    }
    inner = np.where(small.slot >= 0, small.slot + 2, small.slot - 3)
    two = copy.copy(small)
    for name, array in twice.items():
        object.__setattr__(two, name, array)
    object.__setattr__(two, "slot", np.concatenate([small.slot, inner]).astype(np.int32))
    object.__setattr__(two, "value", np.concatenate([small.value, small.value[:, ::-1]]))
    object.__setattr__(two, "tree_start", np.array([0, 5, 10]))
    second = TreeView(two, SCHEMA, n_classes=2, tree=1)
    assert second.children_right.tolist() == [4, 3, -1, -1, -1]
    assert second.value[0, 0].tolist() == [41 / 49, 8 / 49]
    assert second.left_categories(1) == ("blue", "red")


def test_pickle_carries_no_computed_arrays(view):
    before = len(pickle.dumps(view))
    for name in ("value", "threshold", "feature", "children_left", "children_right", "impurity"):
        getattr(view, name)
    assert len(pickle.dumps(view)) == before
    again = pickle.loads(pickle.dumps(view))
    np.testing.assert_array_equal(again.value, view.value)


def test_a_chain_of_a_hundred_thousand_splits():
    depth = 100_000
    slot = np.empty(2 * depth + 1, np.int32)
    slot[:depth] = np.arange(depth)
    slot[depth:] = ~np.arange(depth + 1)
    cover = np.concatenate([np.arange(depth + 1, 1, -1), np.ones(depth + 1)])
    right = 2 * depth - np.arange(depth)
    chain = forest(
        slot, cover, np.zeros(depth), np.zeros(depth), right, np.ones(depth), np.ones((depth + 1, 1))
    )
    view = TreeView(chain, SCHEMA, n_classes=1)
    assert view.max_depth == depth
    assert (view.value == 1.0).all()
    assert view.compute_feature_importances().tolist() == [1.0, 0.0]
