"""Forests that are not valid raise, or predict; they never lead a walk outside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from unit.model.forests import mixed_schema, random_forest, random_table
from unit.model.test_predict import numeric_table, stump

from weald.errors import DataError
from weald.model.forest import CATEGORIES, COMBINATION, Forest
from weald.model.predict import leaf_nodes, raw_scores


def changed(name: str, value, at: int | None = None) -> Forest:
    """A good forest with every kind of split in two trees, spoilt in one place."""
    forest = random_forest(12, n_trees=2, combinations=True)
    if at is None:
        return replace(forest, **{name: value})
    array = getattr(forest, name).copy()
    array[at] = value
    return replace(forest, **{name: array})


def first_of(kind: int, *, last: bool = False) -> int:
    found = np.flatnonzero(random_forest(12, n_trees=2, combinations=True).kind == kind)
    return int(found[-1 if last else 0])


BIG = 2**31 - 1
INNER = len(random_forest(12, n_trees=2, combinations=True).column)
SPOILT = {
    "right child is the node itself": ("right", 0, 0),
    "right child is the left one": ("right", 1, 0),
    "right child is negative": ("right", -5, 0),
    "right child is beyond the tree": ("right", 39, 0),
    "right child is far beyond": ("right", BIG, 0),
    "right child is far beyond, second tree": ("right", BIG, INNER - 1),
    "right child is far before, second tree": ("right", -BIG - 1, INNER - 1),
    "NaN threshold": ("threshold", np.nan, 0),
    "column beyond the table": ("column", 7, first_of(0)),
    "column far beyond the table": ("column", BIG, first_of(0)),
    "column of categories beyond the table": ("column", BIG, first_of(CATEGORIES)),
    "negative column": ("column", -1, first_of(0)),
    "very negative column": ("column", -BIG, first_of(0)),
    "unknown kind": ("kind", 3, 0),
    "set beyond the table": ("side", 1000, first_of(CATEGORIES)),
    "set far beyond the table": ("side", BIG, first_of(CATEGORIES)),
    "negative set": ("side", -1, first_of(CATEGORIES)),
    "combination beyond the table": ("side", BIG, first_of(COMBINATION)),
    "column of a combination": ("combination_column", 7, 0),
    "negative column of a combination": ("combination_column", -1, 0),
    "starts of sets fall": ("set_start", 10**6, 1),
    "starts of combinations fall": ("combination_start", -1, 1),
    "sets cut short": ("set_codes", np.zeros(0, np.uint32), None),
    "combinations cut short": ("combination_coefficient", np.zeros(0), None),
    "no starts of sets": ("set_start", np.zeros(0, np.int64), None),
    "inner slot out of range": ("slot", INNER, 0),
    "inner slot far out of range": ("slot", BIG, 0),
    "leaf out of range": ("slot", -BIG - 1, 1),
    "first tree starts late": ("tree_start", 1, 0),
    "second tree starts after the end": ("tree_start", 10**9, 1),
    "second tree starts before the first": ("tree_start", -1, 1),
    "a tree without nodes": ("tree_start", 0, 1),
    "last start is not the end": ("tree_start", 10, 2),
    "output out of range": ("tree_output", 1, 1),
    "negative output": ("tree_output", -1, 1),
    "far output": ("tree_output", BIG, 1),
    "too few tree weights": ("tree_weight", np.ones(1), None),
    "too few thresholds": ("threshold", np.zeros(3), None),
    "too few directions": ("missing_left", np.zeros(3, np.bool_), None),
    "no base score": ("base_score", np.zeros(0), None),
}


@pytest.mark.parametrize("what", SPOILT)
def test_forest_that_is_not_valid_raises(what):
    with pytest.raises(DataError, match="the forest is not valid"):
        raw_scores(changed(*SPOILT[what]), random_table(0, mixed_schema(), 50))


def test_column_of_a_combination_node_is_not_read():
    """It is -1 by rule; whatever stands there must do no harm."""
    table = random_table(0, mixed_schema(), 50)
    good = random_forest(12, n_trees=2, combinations=True)
    odd = changed("column", BIG, first_of(COMBINATION))
    np.testing.assert_array_equal(leaf_nodes(odd, table), leaf_nodes(good, table))


def test_last_node_that_is_not_a_leaf_raises():
    forest = stump()
    with pytest.raises(DataError, match="the forest is not valid: child out of range"):
        leaf_nodes(replace(forest, slot=np.array([0, ~0, 0], np.int32)), numeric_table(np.zeros((3, 1))))


@pytest.mark.parametrize("name", ["right", "threshold", "slot", "kind", "set_codes", "tree_start"])
def test_array_of_another_dtype_raises(name):
    forest = random_forest(12)
    array = getattr(forest, name)
    spoilt = replace(forest, **{name: np.ones(array.shape, np.float32)})
    with pytest.raises((RuntimeError, TypeError)):
        raw_scores(spoilt, random_table(0, mixed_schema(), 5))


@pytest.mark.parametrize("seed", range(200))
def test_random_damage_raises_or_predicts(seed):
    """Never a crash, a hang or a number out of nowhere."""
    rng = np.random.default_rng(seed)
    forest = random_forest(12, n_trees=2, combinations=True)
    names = ["slot", "right", "column", "kind", "side", "tree_start", "tree_output", "set_start",
             "combination_start", "combination_column"]  # fmt: skip
    for name in rng.choice(names, int(rng.integers(1, 3)), replace=False):
        array = getattr(forest, name).copy()
        info = np.iinfo(array.dtype)
        value = rng.choice([-1, 0, 1, 2, 5, len(array), 1000, info.max, info.min], 1)[0]
        array[int(rng.integers(len(array)))] = np.array([value]).astype(array.dtype)[0]
        forest = replace(forest, **{name: array})
    table = random_table(seed, mixed_schema(), 20)
    try:
        leaves = leaf_nodes(forest, table)
    except DataError as error:
        assert "the forest is not valid" in str(error)  # noqa: PT017
    else:
        assert (leaves >= 0).all()
        assert (leaves < np.diff(forest.tree_start)).all()
        assert np.isfinite(raw_scores(forest, table)).all()
