"""Importances by criterion, from the arrays of a forest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from unit.model.forests import random_forest

from weald.model.forest import COMBINATION
from weald.model.importances import mean_importances, tree_importances
from weald.model.join import tree_apart


def naive(tree):
    """Gain by gain."""
    sums = np.zeros(tree.n_columns)
    for node in range(len(tree.column)):
        if tree.kind[node] != COMBINATION:
            sums[tree.column[node]] += tree.gain[node]
            continue
        start, end = tree.combination_start[tree.side[node]], tree.combination_start[tree.side[node] + 1]
        size = np.abs(tree.combination_coefficient[start:end])
        for column, share in zip(tree.combination_column[start:end], size / size.sum(), strict=True):
            sums[column] += tree.gain[node] * share
    return sums / sums.sum() if sums.sum() > 0 else sums


@pytest.mark.parametrize("combinations", [False, True])
def test_each_tree_adds_up_its_gains(combinations):
    forest = random_forest(0, n_trees=5, n_leaves=25, combinations=combinations)
    found = tree_importances(forest)
    for t in range(5):
        np.testing.assert_allclose(found[t], naive(tree_apart(forest, t)), rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_mean_of_the_trees():
    forest = random_forest(1, n_trees=4)
    np.testing.assert_allclose(mean_importances(forest), tree_importances(forest).mean(axis=0), rtol=1e-12)


def test_trees_without_a_gain_do_not_count():
    forest = random_forest(2, n_trees=3)
    gain = forest.gain.copy()
    first = int((tree_apart(forest, 0).slot >= 0).sum())
    gain[:first] = 0
    some = replace(forest, gain=gain)
    assert not tree_importances(some)[0].any()
    np.testing.assert_allclose(mean_importances(some), tree_importances(some)[1:].mean(axis=0), rtol=1e-12)
    none = replace(forest, gain=np.zeros_like(forest.gain))
    assert mean_importances(none).tolist() == [0.0] * forest.n_columns


def test_leaves_alone():
    forest = random_forest(3, n_trees=2, n_leaves=1)
    assert mean_importances(forest).tolist() == [0.0] * forest.n_columns
