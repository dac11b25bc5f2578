"""Growing one tree: deep chains, categories, weights and targets of any size."""

from __future__ import annotations

import numpy as np
import pytest
from unit.rows.growing import (
    ERRORS,
    assert_same_forest,
    categories,
    grow_classification_tree,
    grow_regression_tree,
    numeric,
    options,
)

from weald import engine
from weald.data.codes import encode
from weald.data.table import LevelColumn, NumericColumn, Table
from weald.errors import DataError
from weald.model.forest import CATEGORIES
from weald.model.predict import decision_path, leaf_nodes, raw_scores
from weald.rows import memory
from weald.rows.growth import GrowOptions

# deep chains


@pytest.mark.parametrize(("n", "best_first"), [(20_001, False), (4_001, True)])
def test_chain_of_thousands_of_levels(n, best_first):
    """Labels that alternate: no candidate leaves fewer errors than the lowest code against the rest."""
    values = np.random.default_rng(6).permutation(n).astype(float)
    table = numeric(values)
    codes = encode(table, max_bins=None)
    label = (values % 2).astype(np.int32)[:, None]
    native = options(max_leaves=n if best_first else 0)
    arrays = engine.grow_class_trees(codes.native, label, [0, 2], None, 0, False, ERRORS, native, None, 2)
    assert len(arrays["slot"]) == 2 * n - 1
    assert arrays["threshold"].tolist() == (np.arange(n - 1) + 0.5).tolist()
    forest = memory._forest(codes, arrays, np.arange(n, dtype=float)[:, None], "identity", 0)
    some = numeric(values[:500])
    expected = np.minimum(2 * values[:500] + 1, 2 * n - 2)
    np.testing.assert_array_equal(leaf_nodes(forest, some, n_threads=2).ravel(), expected)
    np.testing.assert_array_equal(raw_scores(forest, some).ravel(), values[:500])
    few = numeric(np.array([0.0, 5.0, n - 1.0]))
    assert decision_path(forest, few).sum(axis=1).ravel().tolist()[0] == [2, 7, n]


# categories


def test_unseen_categories_go_with_the_larger_child():
    # column 0 parts the rows; below it, each side sees other categories than the whole does
    side = np.repeat([0.0, 1.0], 20)
    level = np.concatenate([np.repeat([0, 1], [13, 7]), np.repeat([2, 3], [6, 14])]).astype(np.int32)
    target = np.concatenate([np.repeat([0.0, 1.0], [13, 7]), np.repeat([100.0, 101.0], [6, 14])])
    levels = tuple("abcdef")
    table = Table((NumericColumn(0, side), LevelColumn(1, level, levels)), 40, named=False)
    for search in ("histogram", "order"):
        tree = grow_regression_tree(
            encode(table, max_bins=None), target, None, GrowOptions(criterion="squared_error", search=search)
        )
        assert tree.column.tolist() == [0, 1, 1]
        unseen = Table(
            (
                NumericColumn(0, np.repeat([0.0, 1.0], 7)),
                LevelColumn(1, np.array([0, 1, 2, 3, 4, 5, -1] * 2, np.int32), levels),
            ),
            14,
            named=False,
        )
        assert raw_scores(tree, unseen).ravel().tolist() == [
            0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0,
            101.0, 101.0, 100.0, 101.0, 101.0, 101.0, 101.0,
        ]  # fmt: skip


def test_equal_children_send_unseen_categories_left():
    table = categories(np.array([1, 1, 3, 3]), 6)
    tree = grow_classification_tree(
        encode(table, max_bins=None), np.array([0, 0, 1, 1], np.int32), 2, None, GrowOptions(criterion="gini")
    )
    nodes = leaf_nodes(tree, categories(np.array([-1, 0, 1, 2, 3, 4, 5]), 6)).ravel()
    assert nodes.tolist() == [1, 1, 1, 1, 2, 1, 1]


def gini_gain(label: np.ndarray, left: np.ndarray, n_classes: int) -> float:
    def loss(y):
        counts = np.bincount(y, minlength=n_classes)
        return len(y) - float((counts**2).sum()) / len(y)

    return loss(label) - loss(label[left]) - loss(label[~left])


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("n_levels", "n_classes"), [(12, 3), (40, 3), (40, 5)])
def test_many_categories_of_many_classes(seed, n_levels, n_classes):
    """A heuristic order: the split is a true one, and no lone category does better against the rest."""
    rng = np.random.default_rng(seed)
    n = 2000
    level = rng.integers(0, n_levels, n)
    shares = rng.dirichlet(np.full(n_classes, 0.5), n_levels)
    label = np.array([rng.choice(n_classes, p=shares[c]) for c in level], np.int32)
    table = categories(level, n_levels)
    codes = encode(table, max_bins=None)
    first = None
    for search in ("histogram", "order"):
        tree = grow_classification_tree(
            codes, label, n_classes, None, GrowOptions(criterion="gini", max_depth=1, search=search)
        )
        first = first or tree
        assert_same_forest(tree, first, search)
    assert first.kind.tolist() == [CATEGORIES]
    left = leaf_nodes(first, table).ravel() == 1
    assert 0 < left.sum() == first.count[1] < n
    assert first.gain[0] == pytest.approx(gini_gain(label, left, n_classes))
    alone = max(gini_gain(label, level == c, n_classes) for c in range(n_levels))
    assert first.gain[0] >= alone


def test_categories_along_a_line_are_cut_at_its_best_place():
    """Where the class shares of the categories lie on a line, its order is the right one."""
    n_levels, per_level = 24, 120
    rng = np.random.default_rng(1)
    rank = rng.permutation(n_levels)
    level = np.repeat(np.arange(n_levels), per_level)
    place = rank[level] / (n_levels - 1)
    within = np.tile(np.arange(per_level), n_levels) / per_level
    label = np.where(within < place, 0, 1 + (np.arange(len(level)) % 2)).astype(np.int32)
    tree = grow_classification_tree(
        encode(categories(level, n_levels), max_bins=None),
        label,
        3,
        None,
        GrowOptions(criterion="gini", max_depth=1),
    )
    best = max(gini_gain(label, rank[level] < k, 3) for k in range(1, n_levels))
    assert tree.gain[0] == pytest.approx(best)


def test_missing_categories_may_stand_alone():
    level = np.repeat([-1, *range(15)], 10)
    label = np.where(level < 0, 2, level % 2).astype(np.int32)
    tree = grow_classification_tree(
        encode(categories(level, 15), max_bins=None), label, 3, None, GrowOptions(criterion="gini")
    )
    shares = raw_scores(tree, categories(level, 15))
    np.testing.assert_array_equal(shares.argmax(axis=1), label)


# weights and targets


def test_no_row_of_positive_weight_raises():
    codes = encode(numeric(np.arange(3.0)), max_bins=None)
    with pytest.raises(DataError, match="no row has a positive weight"):
        grow_classification_tree(
            codes, np.array([0, 1, 0], np.int32), 2, np.zeros(3), GrowOptions(criterion="gini")
        )


def test_weight_times_target_beyond_float64_raises():
    codes = encode(numeric(np.arange(3.0)), max_bins=None)
    with pytest.raises(DataError, match="too large"):
        grow_regression_tree(
            codes, np.array([1e300, -1e300, 0.0]), np.full(3, 1e10), GrowOptions(criterion="squared_error")
        )


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e140])
def test_targets_of_any_size_make_the_same_splits(scale):
    rng = np.random.default_rng(8)
    columns, target = rng.normal(size=(2, 500)), rng.normal(size=500)
    codes = encode(numeric(*columns), max_bins=None)
    settings = GrowOptions(criterion="squared_error", min_rows_leaf=5)
    scale = 2.0 ** round(np.log2(scale))  # exact
    one, other = (grow_regression_tree(codes, target * s, None, settings) for s in (1.0, scale))
    np.testing.assert_array_equal(one.threshold, other.threshold)
    np.testing.assert_array_equal(one.value * scale, other.value)


def test_targets_far_from_zero_keep_their_spread():
    rng = np.random.default_rng(9)
    x = rng.permutation(200).astype(float)
    target = np.round(rng.normal(size=200) * 8)  # whole: exact beside 2^40
    codes = encode(numeric(x), max_bins=None)
    settings = GrowOptions(criterion="squared_error", max_depth=4)
    near, far = (grow_regression_tree(codes, target + shift, None, settings) for shift in (0.0, 2.0**40))
    np.testing.assert_array_equal(near.threshold, far.threshold)
    np.testing.assert_allclose(near.gain, far.gain, rtol=1e-9)
    np.testing.assert_allclose(near.impurity, far.impurity, rtol=1e-9)


def test_cover_counts_weight_and_count_counts_rows():
    x = np.arange(6.0)
    weight = np.array([0.5, 0.25, 0.0, 1.0, 2.0, 0.25])
    label = np.array([0, 0, 1, 1, 1, 1], np.int32)
    tree = grow_classification_tree(
        encode(numeric(x), max_bins=None), label, 2, weight, GrowOptions(criterion="gini")
    )
    assert tree.threshold.tolist() == [2.0]  # between 1 and 3: the row of weight 0 is not there
    assert tree.cover.tolist() == [4.0, 0.75, 3.25]
    assert tree.count.tolist() == [5, 2, 3]


def test_gain_and_impurity_of_tiny_targets():
    rng = np.random.default_rng(8)
    x, target = rng.normal(size=200), rng.normal(size=200) + 3
    codes = encode(numeric(x), max_bins=None)
    settings = GrowOptions(criterion="squared_error", max_depth=1)
    scale = 2.0**-500  # squares of it are still normal numbers
    one, tiny = (grow_regression_tree(codes, target * s, None, settings) for s in (1.0, scale))
    np.testing.assert_allclose(tiny.gain, one.gain * scale**2, rtol=1e-9)
    np.testing.assert_allclose(tiny.impurity, one.impurity * scale**2, rtol=1e-9)
