"""Reading a Forest with new rows: scores, leaves, paths.

The tables here are aligned to the model's schema: columns in its order, level indices into its levels.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald import engine
from weald.data.native import naming_infinite, native_columns
from weald.data.table import Table
from weald.errors import DataError, ParameterError
from weald.model.boosted_tree import compact
from weald.model.forest import Forest

_NODES = 1 << 24  # that are looked up at a time

# The forest laid out for walking: made on first use, forgotten with the forest, never pickled or saved.
_predictors: weakref.WeakKeyDictionary[Forest, engine.Predictor] = weakref.WeakKeyDictionary()


def raw_scores(
    forest: Forest, table: Table, *, n_threads: int = 1, trees: tuple[int, int] | None = None
) -> NDArray[np.float64]:
    """Base score plus the leaf values of every tree: (n_rows, n_outputs).

    Parameters
    ----------
    forest : Forest
        The trees.
    table : Table
        The rows.
    n_threads : int
        Threads to use; the result does not depend on it.
    trees : tuple of int, optional
        First tree and the one after the last; None means all of them.
    """
    first, last = _range(forest, trees)
    predictor = laid_out(forest)
    with naming_infinite(table):
        rows = native_columns(table, by_rows=True)
        return predictor.scores(rows, table.n_rows, n_threads=n_threads, first_tree=first, last_tree=last)


def add_tree_scores(
    forest: Forest, table: Table, out: NDArray[np.float64], first: int, last: int, *, n_threads: int = 1
) -> None:
    """Add the leaf values of trees `first` … `last` − 1 to `out`, in place.

    Adding a forest part by part gives the same bits as all of it at once, because a row's trees are added one
    after another. `out` is (n_rows, n_outputs), of any strides: scores kept output after output go
    transposed.
    """
    first, last = _range(forest, (first, last))
    shape = (table.n_rows, forest.n_outputs)
    if out.shape != shape or out.dtype != np.float64 or not out.flags.writeable:
        raise DataError(
            f"Scores are added to a float64 array of shape {shape} that can be written to; got {out.dtype} "
            f"of shape {out.shape}{'' if out.flags.writeable else ', read-only'}."
        )
    predictor = laid_out(forest)
    with naming_infinite(table):
        rows = native_columns(table, by_rows=True)
        predictor.add_scores(rows, table.n_rows, out, n_threads=n_threads, first_tree=first, last_tree=last)


def staged_scores(
    forest: Forest, table: Table, boundaries: Iterable[int], *, n_threads: int = 1
) -> Iterator[NDArray[np.float64]]:
    """Raw scores of the first `boundary` trees, for each of the boundaries, which ascend.

    Each array is its taker's own.
    """
    scores, done = np.tile(forest.base_score, (table.n_rows, 1)), 0
    for boundary in boundaries:
        add_tree_scores(forest, table, scores, done, boundary, n_threads=n_threads)
        done = boundary
        yield scores.copy()


def leaf_nodes(
    forest: Forest, table: Table, *, n_threads: int = 1, trees: tuple[int, int] | None = None
) -> NDArray[np.int32]:
    """The leaf each row reaches, by node id counted from the first node of its tree: (n_rows, n_trees)."""
    first, last = _range(forest, trees)
    predictor = laid_out(forest)
    with naming_infinite(table):
        rows = native_columns(table, by_rows=True)
        return predictor.leaves(rows, table.n_rows, n_threads=n_threads, first_tree=first, last_tree=last)


def leaf_numbers(
    forest: Forest, blocks: Iterable[Table], *, n_threads: int = 1
) -> list[NDArray[np.unsignedinteger]]:
    """Per tree, the leaf of every row of the blocks, counted from the tree's first leaf."""
    starts = zip(forest.tree_start[:-1], forest.tree_start[1:], strict=True)
    is_leaf = [forest.slot[first:last] < 0 for first, last in starts]
    rank = [(np.cumsum(each) - 1).astype(np.int32) for each in is_leaf]
    numbers: list[list[NDArray[np.unsignedinteger]]] = [[] for _ in is_leaf]
    for block in blocks:
        step = max(1, _NODES // max(1, block.n_rows))
        for first in range(0, forest.n_trees, step):
            some = range(first, min(first + step, forest.n_trees))
            nodes = leaf_nodes(forest, block, n_threads=n_threads, trees=(some.start, some.stop))
            for t, of_tree in zip(some, nodes.T, strict=True):
                numbers[t].append(compact(rank[t][of_tree], int(is_leaf[t].sum())))
    return [parts[0] if len(parts) == 1 else np.concatenate(parts) for parts in numbers]


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


def _range(forest: Forest, trees: tuple[int, int] | None) -> tuple[int, int]:
    first, last = (0, forest.n_trees) if trees is None else trees
    if not 0 <= first <= last <= forest.n_trees:
        raise ParameterError(f"Trees {first} to {last} are not within the model's {forest.n_trees}.")
    return first, last


def laid_out(forest: Forest) -> engine.Predictor:
    """The forest as the core walks it: made when first asked for, and kept as long as the forest is."""
    found = _predictors.get(forest)
    if found is None:
        arrays = {name: getattr(forest, name) for name in engine.PREDICTED_ARRAYS}
        found = _predictors[forest] = engine.Predictor(arrays, forest.n_columns, forest.width)
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
