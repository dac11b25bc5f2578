"""Forests joined and taken apart: the same trees, bit for bit."""

import numpy as np
import pytest
from unit.model.forests import mixed_schema, random_forest, random_table

from weald.model.forest import CATEGORIES, COMBINATION
from weald.model.join import joined, of_columns, tree_apart, with_columns
from weald.model.predict import raw_scores


def same(a, b):
    assert a.n_columns == b.n_columns
    assert set(a.arrays()) == set(b.arrays())
    for name, array in a.arrays().items():
        other = b.arrays()[name]
        assert (array.dtype, array.shape, array.tobytes()) == (other.dtype, other.shape, other.tobytes()), (
            name
        )


@pytest.mark.parametrize("inner_value", [False, True])
@pytest.mark.parametrize("combinations", [False, True])
def test_joined_and_apart_again(combinations, inner_value):
    schema = mixed_schema()
    options = {"combinations": combinations, "inner_value": inner_value, "width": 3, "shares": False}
    trees = [random_forest(seed, schema, n_leaves=n, **options) for seed, n in enumerate((20, 1, 35, 7))]
    assert CATEGORIES in trees[0].kind
    assert (COMBINATION in trees[0].kind) == combinations
    forest = joined(trees)
    assert forest.n_trees == 4
    for t, tree in enumerate(trees):
        same(tree_apart(forest, t), tree)
    same(joined([joined(trees[:2]), joined(trees[2:])]), forest)
    table = random_table(3, schema, 50)
    scores = sum(raw_scores(tree, table) for tree in trees)
    assert np.allclose(raw_scores(forest, table), scores)
    for t, tree in enumerate(trees):
        alone = raw_scores(tree, table)
        assert np.array_equal(raw_scores(forest, table, trees=(t, t + 1)), alone)


def test_what_not_all_have_is_dropped():
    schema = mixed_schema()
    one = random_forest(0, schema, inner_value=True)
    other = random_forest(1, schema)
    assert joined([one, other]).inner_value is None
    assert joined([one, one]).inner_value is not None


def test_columns_renamed_and_back():
    forest = random_forest(0, mixed_schema(), n_leaves=30)
    columns = np.array([0, 2, 3, 5, 7, 11, 12])
    wide = with_columns(forest, columns, 20)
    assert wide.n_columns == 20
    assert set(wide.column.tolist()) <= set(columns.tolist())
    same(of_columns(wide, columns), forest)
    leaf = with_columns(random_forest(0, mixed_schema(), n_leaves=1), columns, 20)
    assert len(leaf.column) == 0


def test_one_forest_stays_itself():
    forest = random_forest(0, mixed_schema())
    assert joined([forest]) is forest


def test_codes_are_ranks_among_all_trees():
    forest = joined([random_forest(seed, mixed_schema(), n_leaves=30) for seed in range(3)])
    for column in set(forest.column.tolist()):
        here = (forest.column == column) & (forest.kind == 0)
        ranks = np.searchsorted(np.unique(forest.threshold[here]), forest.threshold[here]) + 1
        np.testing.assert_array_equal(forest.code[here], ranks)
