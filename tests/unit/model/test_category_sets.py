"""Prediction of hand-made forests against a walk written out, and forests that must not be walked."""

import dataclasses

import numpy as np
import pytest
from unit.model.forests import mixed_schema, naive_leaf, random_forest, random_table

from weald.model import predict


@pytest.mark.parametrize("many", [40, 300, 20_000])
@pytest.mark.parametrize("seed", range(4))
def test_leaves_equal_the_naive_walk(seed, many):
    schema = mixed_schema(many=many)
    forest = random_forest(seed, schema, n_trees=3, n_leaves=60, combinations=True)
    table = random_table(seed, schema, 200)
    leaves = predict.leaf_nodes(forest, table)
    assert leaves.tolist() == [[naive_leaf(forest, table, i, tree) for tree in range(3)] for i in range(200)]


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("step", [1, 63, 64, 65, 5000])
def test_dense_and_sparse_sets(step, left):
    """Every code once, against lists that are kept as bits and lists that are searched."""
    schema = mixed_schema(many=20_000)
    forest = random_forest(0, schema, n_leaves=2)
    codes = np.arange(step, 20_001, step, dtype=np.uint32)
    forest = dataclasses.replace(
        forest,
        column=np.array([6], np.int32),
        kind=np.array([1], np.uint8),
        side=np.array([0], np.int32),
        threshold=np.zeros(1),
        set_start=np.array([0, len(codes)], np.int64),
        set_codes=codes,
        set_left=np.array([left]),
    )
    table = random_table(0, schema, 20_000)
    one_each = dataclasses.replace(table.columns[6], indices=np.arange(20_000, dtype=np.int32))
    table = dataclasses.replace(table, columns=(*table.columns[:6], one_each))
    goes_left = predict.leaf_nodes(forest, table)[:, 0] == 1
    assert np.array_equal(goes_left, np.isin(np.arange(1, 20_001), codes) == left)


@pytest.mark.parametrize(
    "change",
    [
        lambda f: {"set_codes": f.set_codes[:-1]},
        lambda f: {"set_codes": np.zeros_like(f.set_codes)},
        lambda f: {"set_codes": np.ones_like(f.set_codes)},
        lambda f: {"set_codes": f.set_codes[::-1]},
        lambda f: {"set_left": f.set_left[:-1]},
        lambda f: {"set_start": f.set_start[::-1]},
        lambda f: {"side": np.where(f.side >= 0, len(f.set_left), -1).astype(np.int32)},
    ],
)
def test_sets_that_are_not_lists_of_codes_are_refused(change):
    forest = random_forest(1)
    assert len(forest.set_left) > 1
    wrong = dataclasses.replace(forest, **change(forest))
    with pytest.raises(ValueError, match="the forest is not valid"):
        predict.leaf_nodes(wrong, random_table(0, mixed_schema(), 3))
