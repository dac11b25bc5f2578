"""Counting shared leaves: naive twins, any number of threads, hostile arrays."""

from __future__ import annotations

import numpy as np
import pytest

from weald.engine import LeafRows
from weald.errors import NativeError


def some_leaves(n_rows=300, n_trees=70, n_nodes=9, absent=0.0, seed=0):
    random = np.random.default_rng(seed)
    nodes = random.integers(0, n_nodes, (n_rows, n_trees)).astype(np.int32)
    nodes[random.random(nodes.shape) < absent] = -1
    return nodes, np.arange(n_trees + 1, dtype=np.int64) * n_nodes


def sets_of(nodes):
    n_rows, n_trees = nodes.shape
    sets = np.zeros((n_rows, (n_trees + 63) // 64), np.uint64)
    for t in range(n_trees):
        sets[nodes[:, t] >= 0, t // 64] |= np.uint64(1 << t % 64)
    return sets


def naive(nodes, others):
    """In how many trees two rows meet, and in how many both count."""
    counts = (nodes >= 0)[:, None, :] & (others >= 0)[None, :, :]
    return ((nodes[:, None, :] == others[None, :, :]) & counts).sum(axis=2), counts.sum(axis=2)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_every_leaf_has_its_rows_in_order(n_threads):
    nodes, node_start = some_leaves(absent=0.3)
    groups = LeafRows.of(nodes, node_start, n_threads=n_threads)
    for t in range(nodes.shape[1]):
        start = groups.start[node_start[t] + t : node_start[t + 1] + t + 1]
        rows = groups.rows[t * len(nodes) : (t + 1) * len(nodes)]
        for v in range(9):
            assert rows[start[v] : start[v + 1]].tolist() == np.flatnonzero(nodes[:, t] == v).tolist()


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("absent", [0.0, 0.6])
def test_matrix(n_threads, absent):
    nodes, node_start = some_leaves(absent=absent)
    together, both = naive(nodes, nodes)
    groups = LeafRows.of(nodes, node_start)
    found = groups.matrix(nodes, sets_of(nodes) if absent else None, n_threads=n_threads)
    with np.errstate(invalid="ignore"):
        assert np.array_equal(found, together / both, equal_nan=True)


def test_matrix_of_pairs_that_never_count_together_is_nan():
    nodes = np.array([[0, -1], [-1, 0], [0, 0]], np.int32)
    found = LeafRows.of(nodes, np.array([0, 1, 2])).matrix(nodes, sets_of(nodes))
    assert np.array_equal(found, [[1, np.nan, 1], [np.nan, 1, 1], [1, 1, 1]], equal_nan=True)


def test_matrix_of_other_rows():
    nodes, node_start = some_leaves()
    others, _ = some_leaves(n_rows=40, seed=1)
    found = LeafRows.of(nodes, node_start).matrix(others, n_threads=2)
    assert np.array_equal(found, naive(others, nodes)[0] / nodes.shape[1])


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("absent", [0.0, 0.6])
@pytest.mark.parametrize("n_nodes", [3, 200])
def test_nearest(n_threads, absent, n_nodes):
    nodes, node_start = some_leaves(absent=absent, n_nodes=n_nodes)
    together, both = naive(nodes, nodes)
    shares = np.where(together > 0, together / np.maximum(both, 1), 0)
    np.fill_diagonal(shares, 0)
    groups = LeafRows.of(nodes, node_start)
    rows, found, n = groups.nearest(nodes, sets_of(nodes) if absent else None, 7, n_threads=n_threads)
    for i in range(len(nodes)):
        best = [j for j in np.lexsort((np.arange(len(nodes)), -shares[i])) if shares[i, j] > 0][:7]
        assert n[i] == len(best)
        assert rows[i, : n[i]].tolist() == best
        assert found[i, : n[i]].tolist() == shares[i, best].tolist()
        assert (rows[i, n[i] :] == -1).all()


@pytest.mark.parametrize("n_threads", [1, 5])
def test_squares(n_threads):
    nodes, node_start = some_leaves()
    group = np.random.default_rng(3).integers(0, 3, len(nodes)).astype(np.int32)
    together, _ = naive(nodes, nodes)
    expected = ((together**2) * (group[:, None] == group)).sum(axis=1) / nodes.shape[1] ** 2
    found = LeafRows.of(nodes, node_start).squares(nodes, group, n_threads=n_threads)
    assert np.array_equal(found, expected)


def test_nodes_that_no_tree_has_are_refused():
    nodes, node_start = some_leaves()
    groups = LeafRows.of(nodes, node_start)
    nodes[3, 4] = 9
    with pytest.raises(NativeError, match="a node of the tree"):
        LeafRows.of(nodes, node_start)
    with pytest.raises(NativeError, match="a node of the tree"):
        groups.matrix(nodes)
