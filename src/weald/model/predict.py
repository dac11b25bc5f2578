"""Reading a Forest with new rows: scores, leaves, paths.

The tables here are aligned to the model's schema: columns in its order, level indices into its levels.
"""

from __future__ import annotations

import weakref

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald import engine
from weald.data.table import Table
from weald.model.forest import Forest

# The forest laid out for walking: made on first use, forgotten with the forest, never pickled or saved.
_predictors: weakref.WeakKeyDictionary[Forest, engine.Predictor] = weakref.WeakKeyDictionary()


def raw_scores(forest: Forest, table: Table, *, n_threads: int = 1) -> NDArray[np.float64]:
    """Base score plus the leaf values of every tree: (n_rows, n_outputs)."""
    return _predictor(forest).scores(table, n_threads=n_threads)


def leaf_nodes(forest: Forest, table: Table, *, n_threads: int = 1) -> NDArray[np.int32]:
    """The leaf each row reaches, by node id counted from the first node of its tree: (n_rows, n_trees)."""
    return _predictor(forest).leaves(table, n_threads=n_threads)


def decision_path(forest: Forest, table: Table, *, n_threads: int = 1) -> sparse.csr_matrix:
    """The nodes each row passes, as a matrix of ones: (n_rows, n_nodes), one tree after another."""
    leaves = leaf_nodes(forest, table, n_threads=n_threads) + forest.tree_start[:-1]
    parent, depth = _parents(forest)
    lengths = depth[leaves] + 1
    ends = np.cumsum(lengths.ravel())
    indices = np.empty(ends[-1] if len(ends) else 0, np.int64)
    # Climb from all leaves at once; a node's ancestors have smaller numbers, so each path fills from its end.
    at, place = leaves.ravel().copy(), ends - 1
    while len(at):
        indices[place] = at
        at, place = parent[at], place - 1
        inside = at >= 0
        at, place = at[inside], place[inside]
    indptr = np.concatenate([[0], np.cumsum(lengths.sum(axis=1))])
    ones = np.ones(len(indices), np.int64)
    return sparse.csr_matrix((ones, indices, indptr), shape=(table.n_rows, forest.n_nodes))


def _predictor(forest: Forest) -> engine.Predictor:
    found = _predictors.get(forest)
    if found is None:
        found = _predictors[forest] = engine.Predictor(forest.arrays(), forest.n_columns, forest.width)
    return found


def _parents(forest: Forest) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Parent (-1 for roots) and depth of every node."""
    inner = np.flatnonzero(forest.slot >= 0)
    tree = np.searchsorted(forest.tree_start, inner, side="right") - 1
    right = forest.tree_start[tree] + forest.right[forest.slot[inner]]
    parent = np.full(forest.n_nodes, -1, np.int64)
    parent[inner + 1] = inner
    parent[right] = inner
    depth = np.zeros(forest.n_nodes, np.int64)
    level = np.flatnonzero(parent < 0)
    children_left, children_right = np.full((2, forest.n_nodes), -1, np.int64)
    children_left[inner], children_right[inner] = inner + 1, right
    while len(level):
        below = np.concatenate([children_left[level], children_right[level]])
        below = below[below >= 0]
        depth[below] = depth[parent[below]] + 1
        level = below
    return parent, depth
