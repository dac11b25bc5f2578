"""Pruning against a naive twin in exact fractions, and against the definition of what a pruned tree is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from unit.model.forests import (
    leaf_bits,
    mixed_schema,
    naive_leaf,
    random_forest,
    random_table,
    right_children,
)

from weald import engine
from weald.errors import DataError, NativeError, ParameterError
from weald.io import forest_arrays
from weald.io.arrays import Shelf
from weald.model.forest import Forest
from weald.model.predict import leaf_nodes, raw_scores
from weald.model.prune import collapse_alphas, pruned, pruning_path, tree_score


def shape(bits: list[bool]) -> tuple[np.ndarray, np.ndarray]:
    leaf = np.array(bits)
    slot = np.where(leaf, ~(np.cumsum(leaf) - 1), np.cumsum(~leaf) - 1).astype(np.int32)
    return slot, np.array(right_children(bits), np.int32)


def naive_sequence(slot, right, gain):
    """Cut by cut: the node of the least mean gain, the lowest number of equals; whole subtrees at a time."""
    children = {
        t: [t + 1, int(right[slot[t]])] if slot[t] >= 0 else [] for t in range(len(slot))
    }  # as the tree is now
    cuts, collapse = [], np.zeros(len(slot))

    def inner(t):
        found, pending = [], [t]
        while pending:
            node = pending.pop()
            if children[node]:
                found.append(node)
                pending += children[node]
        return found

    while children[0]:
        below = {t: inner(t) for t in inner(0)}
        total = {t: sum(Fraction(float(gain[slot[s]])) for s in nodes) for t, nodes in below.items()}
        alpha, t = min((total[t] / len(below[t]), t) for t in below)
        cuts.append((t, float(alpha), float(total[t]), len(below[t])))
        collapse[below[t]] = float(alpha)
        children[t] = []
    return cuts, collapse


@pytest.mark.parametrize("seed", range(60))
def test_sequence_is_that_of_the_naive_twin(seed):
    rng = np.random.default_rng(seed)
    slot, right = shape(leaf_bits(rng, int(rng.integers(1, 40))))
    # Small whole gains: many ties, and every sum and mean is exact.
    gain = rng.integers(0, 2 + seed % 7, len(right)).astype(float)
    cuts, collapse = naive_sequence(slot, right, gain)
    found = engine.prune_sequence(slot, right, gain)
    assert list(zip(*(column.tolist() for column in found[:4]), strict=True)) == cuts
    np.testing.assert_array_equal(found.collapse, collapse)


def deep(n: int, *, leaf_first: bool) -> tuple[np.ndarray, np.ndarray]:
    """A chain of n splits, down the right or down the left."""
    bits = [False, True] * n + [True] if leaf_first else [False] * n + [True] * (n + 1)
    return shape(bits)


@pytest.mark.parametrize("leaf_first", [True, False])
@pytest.mark.parametrize("order", ["rising", "falling", "equal", "random"])
def test_chain_of_a_hundred_thousand_levels(leaf_first, order):
    n = 100_000
    gain = np.arange(1.0, n + 1)  # from the root down: every cut takes the rest of the chain at once
    gain = {"rising": gain, "falling": gain[::-1].copy(), "equal": np.ones(n)}.get(
        order, np.random.default_rng(0).integers(0, 1000, n).astype(float)
    )
    found = engine.prune_sequence(*deep(n, leaf_first=leaf_first), gain)
    assert found.splits.sum() == n
    assert found.gain.sum() == gain.sum()
    assert (np.diff(found.alpha) >= 0).all()
    if order == "falling":  # each node alone, from the deepest up
        np.testing.assert_array_equal(found.alpha, gain[::-1])
    elif order != "random":  # the root goes first and takes all
        assert found.node.tolist() == [0]
        assert found.alpha.tolist() == [gain.mean()]


def test_a_million_nodes():
    rng = np.random.default_rng(3)
    slot, right = shape(leaf_bits(rng, 500_000))
    gain = rng.exponential(size=len(right))
    found = engine.prune_sequence(slot, right, gain)
    assert found.splits.sum() == len(right)
    np.testing.assert_allclose(found.gain.sum(), gain.sum(), rtol=1e-12)
    assert (np.diff(found.alpha) >= 0).all()
    inner = np.flatnonzero(slot >= 0)
    assert (found.collapse[inner + 1] <= found.collapse[inner]).all()
    assert (found.collapse[right[slot[inner]]] <= found.collapse[inner]).all()


@pytest.mark.parametrize(
    ("slot", "right"),
    [([0, -1, -2], [3]), ([0, -1, -2], [1]), ([1, -1, -2], [2]), ([0, -1, -2], [-5]), ([0], [1])],
)
def test_arrays_that_are_no_tree(slot, right):
    with pytest.raises(NativeError):
        engine.prune_sequence(np.array(slot, np.int32), np.array(right, np.int32), np.ones(1))


# --------------------------------------------------------------------------- the pruned tree


def material(seed: int, **more) -> tuple[Forest, np.ndarray]:
    """A tree with every kind of split, and values for all of its nodes."""
    forest = random_forest(seed, combinations=True, n_leaves=30, shares=False, **more)
    node_value = np.random.default_rng(seed + 1000).normal(size=(forest.n_nodes, forest.width))
    leaf = forest.slot < 0
    node_value[leaf] = forest.value[~forest.slot[leaf]]
    return forest, node_value


def best_score(forest: Forest, node: int, alpha: float) -> tuple[float, int]:
    """Least score over all prunings of a branch, its root alone being 0, and the fewest splits for it."""
    slot = forest.slot[node]
    if slot < 0:
        return 0.0, 0
    parts = [best_score(forest, child, alpha) for child in (node + 1, int(forest.right[slot]))]
    split = alpha - forest.gain[slot] + sum(score for score, _ in parts)
    return min((0.0, 0), (split, 1 + sum(splits for _, splits in parts)))


@pytest.mark.parametrize("seed", range(20))
def test_pruned_tree_has_the_best_score_of_all_subtrees(seed):
    forest, node_value = material(seed)
    path = pruning_path(forest)
    middles = (path.ccp_alphas[:-1] + path.ccp_alphas[1:]) / 2  # at the alphas themselves rounding decides
    for alpha in [0.0, *middles, 2 * path.ccp_alphas[-1]]:
        small = pruned(forest, node_value, alpha)
        score, splits = best_score(forest, 0, alpha * forest.cover[0])
        assert len(small.gain) == splits
        np.testing.assert_allclose(alpha * forest.cover[0] * splits - small.gain.sum(), score, atol=1e-12)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("width", [1, 3])
def test_pruned_tree_predicts_by_the_nodes_that_became_leaves(seed, width):
    forest, node_value = material(seed, width=width)
    table = random_table(seed, mixed_schema(), 60)
    collapse = collapse_alphas(forest)
    path = pruning_path(forest)
    for alpha in path.ccp_alphas[:: max(1, len(path.ccp_alphas) // 6)]:
        small = pruned(forest, node_value, alpha)
        expected = np.empty((60, width))
        for row in range(60):
            passed = ancestors(forest, naive_leaf(forest, table, row))
            expected[row] = node_value[next(node for node in passed if collapse[node] <= alpha)]
        np.testing.assert_array_equal(raw_scores(small, table), expected)
        assert small.n_nodes == 2 * len(small.value) - 1
        np.testing.assert_array_equal(
            leaf_nodes(small, table)[:, 0], [naive_leaf(small, table, row) for row in range(60)]
        )


def ancestors(forest: Forest, leaf: int) -> list[int]:
    """From the root down to the leaf."""
    path, node = [0], 0
    while node != leaf:
        right = int(forest.right[forest.slot[node]])
        node = right if leaf >= right else node + 1
        path.append(node)
    return path


@pytest.mark.parametrize("seed", range(6))
def test_pruned_tree_survives_the_model_file(seed):
    forest, node_value = material(seed)
    path = pruning_path(forest)
    for alpha in path.ccp_alphas[::5]:
        small = pruned(forest, node_value, alpha)
        facts, arrays = forest_arrays.encode(small)
        again = forest_arrays.decode(facts, Shelf(arrays))
        assert again.arrays().keys() == small.arrays().keys()
        for name, array in small.arrays().items():
            np.testing.assert_array_equal(getattr(again, name), array, err_msg=name)
            assert getattr(again, name).dtype == array.dtype, name


def test_path_of_a_pruned_tree_is_the_rest_of_the_path():
    forest, node_value = material(5)
    whole = pruning_path(forest)
    at = len(whole.ccp_alphas) // 2
    # A random forest's impurities and gains have nothing to do with each other; those of the leaves must fit.
    alpha = whole.ccp_alphas[at]
    small = pruned(forest, node_value, alpha)
    rest = pruning_path(small)
    np.testing.assert_allclose(rest.ccp_alphas[1:], whole.ccp_alphas[at + 1 :], rtol=1e-12)
    np.testing.assert_array_equal(rest.leaves, whole.leaves[at:])
    further = whole.ccp_alphas[at + 4] * (1 + 1e-9)
    twice, once = (
        pruned(small, kept_values(forest, node_value, alpha), further),
        pruned(forest, node_value, further),
    )
    for name, array in once.arrays().items():
        np.testing.assert_array_equal(getattr(twice, name), array, err_msg=name)


def kept_values(forest: Forest, node_value: np.ndarray, alpha: float) -> np.ndarray:
    collapse = collapse_alphas(forest)
    kept, pending = [], [0]
    while pending:
        node = pending.pop()
        kept.append(node)
        if collapse[node] > alpha:
            pending += [node + 1, int(forest.right[forest.slot[node]])]
    return node_value[sorted(kept)]


def test_nothing_to_prune_gives_the_forest_itself():
    forest, node_value = material(1)
    assert pruned(forest, node_value, 0.0) is forest


def test_everything_pruned_leaves_the_root():
    forest, node_value = material(2)
    for alpha in (pruning_path(forest).ccp_alphas[-1], np.inf):
        root = pruned(forest, node_value, alpha)
        assert root.slot.tolist() == [-1]
        np.testing.assert_array_equal(root.value, node_value[:1])
        assert root.set_start.tolist() == root.combination_start.tolist() == [0]
        again = pruning_path(root)
        assert (again.ccp_alphas.tolist(), again.leaves.tolist()) == ([0.0], [1])


def test_splits_that_gain_nothing_go_at_alpha_zero():
    forest, node_value = material(3)
    forest = replace(forest, gain=np.zeros_like(forest.gain))
    assert pruning_path(forest).ccp_alphas.tolist() == [0.0, 0.0]
    assert pruned(forest, node_value, 0.0).n_nodes == 1


def test_values_of_inner_nodes_go_with_them():
    forest, node_value = material(4)
    inner = np.flatnonzero(forest.slot >= 0)
    forest = replace(forest, inner_value=node_value[inner])
    small = pruned(forest, node_value, float(np.median(collapse_alphas(forest)[inner])))
    kept = np.isin(forest.gain, small.gain)
    assert 0 < len(small.gain) < len(forest.gain)
    np.testing.assert_array_equal(small.inner_value, node_value[inner][kept])


def test_a_tree_without_impurities_can_be_pruned_but_has_no_path():
    forest, node_value = material(6)
    bare = replace(forest, impurity=None)
    assert pruned(bare, node_value, np.inf).impurity is None
    with pytest.raises(DataError, match="keeps no impurities"):
        pruning_path(bare)


@pytest.mark.parametrize("alpha", [-0.1, float("nan")])
def test_impossible_alpha(alpha):
    with pytest.raises(ParameterError, match=r"`alpha` must be a number of at least 0; got "):
        pruned(*material(7), alpha)


def test_several_trees_and_wrong_values_are_refused():
    with pytest.raises(ParameterError, match="one tree; this one has 2"):
        pruning_path(random_forest(0, n_trees=2))
    forest, node_value = material(8)
    with pytest.raises(ParameterError, match=r"`node_value` has 58 rows for 59 nodes"):
        pruned(forest, node_value[:-1], 0.1)


def test_tree_score_of_the_literature():
    assert tree_score(543.8, 4, 10_000) == 40543.8
    np.testing.assert_array_equal(tree_score(np.array([1.0, 2.0]), np.array([3, 1]), 0.5), [2.5, 2.5])
