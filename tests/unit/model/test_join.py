"""Several forests as one, and one tree by itself."""

from __future__ import annotations

import numpy as np
import pytest
from unit.model.forests import mixed_schema, random_forest, random_table

from weald.model.forest import CATEGORIES, COMBINATION
from weald.model.join import join_forests, tree_of
from weald.model.predict import leaf_nodes, raw_scores


def assert_same(first, second):
    mine, yours = first.arrays(), second.arrays()
    assert mine.keys() == yours.keys()
    for name in mine:
        assert mine[name].dtype == yours[name].dtype, name
        np.testing.assert_array_equal(mine[name], yours[name], err_msg=name)


@pytest.mark.parametrize("combinations", [False, True])
@pytest.mark.parametrize("inner_value", [False, True])
def test_a_tree_of_joined_ones_is_what_was_joined(combinations, inner_value):
    settings = {"combinations": combinations, "inner_value": inner_value, "weighted": True}
    trees = [random_forest(seed, n_leaves=n, **settings) for seed, n in ((0, 20), (1, 1), (2, 35), (3, 2))]
    joined = join_forests(trees)
    assert joined.n_trees == 4
    assert joined.n_nodes == sum(tree.n_nodes for tree in trees)
    for t, tree in enumerate(trees):
        assert_same(tree_of(joined, t), tree)


def test_joined_trees_predict_the_sum():
    schema = mixed_schema()
    forests = [random_forest(seed, schema, n_trees=n, combinations=True) for seed, n in ((0, 2), (5, 3))]
    joined = join_forests(forests)
    kinds = set(joined.kind.tolist())
    assert {CATEGORIES, COMBINATION} <= kinds
    table = random_table(1, schema, 60)
    expected = sum(raw_scores(tree_of(joined, t), table) for t in range(5))
    np.testing.assert_allclose(raw_scores(joined, table), expected, rtol=1e-13)
    leaves = leaf_nodes(joined, table)
    for k, forest in enumerate(forests):
        places = slice(0, 2) if k == 0 else slice(2, 5)
        np.testing.assert_array_equal(leaves[:, places], leaf_nodes(forest, table))


def test_one_forest_stays_itself():
    forest = random_forest(0)
    assert join_forests([forest]) is forest


def test_codes_are_ranks_among_all_trees():
    joined = join_forests([random_forest(seed, n_leaves=30) for seed in range(3)])
    for column in set(joined.column.tolist()):
        here = (joined.column == column) & (joined.kind == 0)
        ranks = np.searchsorted(np.unique(joined.threshold[here]), joined.threshold[here]) + 1
        np.testing.assert_array_equal(joined.code[here], ranks)


def test_a_tree_is_a_view_where_it_can_be():
    joined = join_forests([random_forest(seed) for seed in range(3)])
    tree = tree_of(joined, 1)
    for name in ("threshold", "column", "value", "gain", "cover"):
        assert np.shares_memory(getattr(tree, name), getattr(joined, name)), name
