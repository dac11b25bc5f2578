"""How much columns matter, with standard errors: by permuting out-of-bag rows, and by the criterion.

Equations F-I1 to F-I3 of docs/methods/forests.md.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data.blocks import SparseBlock
from weald.data.rows import take_rows, take_values, with_columns
from weald.data.table import BlockColumns, Table
from weald.inspection.votes import ErrorOf, TrainingRows, answers_of
from weald.model.forest import COMBINATION, Forest
from weald.model.importances import mean_importances, tree_importances
from weald.model.join import tree_apart
from weald.model.predict import leaf_nodes


@dataclass(frozen=True, slots=True, eq=False)
class ColumnImportances:
    """How much columns, or groups of columns, matter.

    Attributes
    ----------
    names : tuple
        The columns or groups.
    importances_mean : ndarray of shape (n_names,)
        The mean over trees.
    importances_se : ndarray of shape (n_names,)
        Its standard error over trees; NaN for fewer than two trees.
    """

    names: tuple[Hashable, ...]
    importances_mean: NDArray[np.float64]
    importances_se: NDArray[np.float64]


def criterion_importances(forest: Forest, names: Sequence[Hashable]) -> ColumnImportances:
    """The mean over trees of each column's share of the gains, and its standard error: equation F-I3.

    Trees without a split that gained do not count.
    """
    by_tree = tree_importances(forest)
    by_tree = by_tree[by_tree.any(axis=1)]
    n_trees = len(by_tree)
    deviation = by_tree.std(axis=0, ddof=1) if n_trees > 1 else np.full(forest.n_columns, np.nan)
    return ColumnImportances(tuple(names), mean_importances(forest), deviation / math.sqrt(max(1, n_trees)))


def permutation_importances(
    rows: TrainingRows,
    truth: NDArray[Any],
    n_classes: Sequence[int],
    error: ErrorOf,
    groups: Sequence[tuple[Hashable, Sequence[int]]],
    *,
    n_repeats: int,
    seed: int,
) -> ColumnImportances:
    """The rise of each tree's error on its out-of-bag rows when columns are permuted there: F-I1, F-I2.

    Parameters
    ----------
    rows : TrainingRows
        The forest with the table it was grown on.
    truth : ndarray of shape (n_rows, n_outputs)
        Numbers, or class numbers.
    n_classes : sequence of int
        The classes of each output; empty for numbers.
    error : callable
        Truth and answers → how wrong they are.
    groups : sequence of (name, column positions)
        What is permuted, the columns of a group by the same permutation.
    n_repeats : int
        Permutations of each group in each tree.
    seed : int
        What the permutations start from, together with tree, column and repeat: no other group matters.
    """
    source = _by_columns(rows.table)
    names = tuple(name for name, _ in groups)
    groups_of = _groups_of_columns(groups)
    found: tuple[list[int], list[float]] = ([], [])  # group, rise; what is not here is 0
    n_trees = 0
    for t in range(rows.forest.n_trees):
        unseen = rows.unseen(t)
        if not len(unseen):
            continue
        n_trees += 1
        tree = _OneTree(tree_apart(rows.forest, t), rows, source, unseen, truth[unseen], n_classes, error)
        for g in sorted({g for j in tree.readers for g in groups_of.get(j, ())}):
            columns = [j for j in groups[g][1] if j in tree.readers]
            # Keyed by the first column, so that a group of one column is that column.
            keys = ([seed, t, groups[g][1][0], repeat] for repeat in range(n_repeats))
            rises = [tree.rise(columns, np.random.default_rng(key).permutation(len(unseen))) for key in keys]
            found[0].append(g)
            found[1].append(math.fsum(rises) / n_repeats)
    return ColumnImportances(names, *_mean_and_error(*found, len(names), n_trees))


class _OneTree:
    """A tree, the rows it did not see, and how wrong it is on them."""

    def __init__(
        self,
        tree: Forest,
        rows: TrainingRows,
        source: Table,
        unseen: NDArray[np.int64],
        truth: NDArray[Any],
        n_classes: Sequence[int],
        error: ErrorOf,
    ) -> None:
        self.tree, self.source, self.unseen, self.truth, self.error = tree, source, unseen, truth, error
        self.n_threads = rows.n_threads
        self.readers = _readers(tree)
        self.table = _only_columns(take_rows(rows.table, unseen), list(self.readers))
        self.answer_of_leaf = answers_of(tree.value, n_classes)
        self.node = leaf_nodes(tree, self.table, n_threads=self.n_threads)[:, 0]
        self.predicted = self.answer_of_leaf[~tree.slot[self.node]]
        self.ends = _subtree_ends(tree)
        self.wrong = error(truth, self.predicted)

    def rise(self, columns: Sequence[int], order: NDArray[np.int64]) -> float:
        """How much more wrong the tree is with the rows of these columns in another order."""
        moved = np.flatnonzero(self._passes(columns)[self.node])
        if not len(moved):
            return 0.0
        # Copying rows pays only where they are few.
        if 2 * len(moved) > len(self.node):
            moved = np.arange(len(self.node))
        table = self.table if len(moved) == len(self.node) else take_rows(self.table, moved)
        taken = self.unseen[order[moved]]
        table = with_columns(table, {j: take_values(self.source.columns[j], taken) for j in columns})
        node = leaf_nodes(self.tree, table, n_threads=self.n_threads)[:, 0]
        predicted = self.predicted.copy()
        predicted[moved] = self.answer_of_leaf[~self.tree.slot[node]]
        return self.error(self.truth, predicted) - self.wrong

    def _passes(self, columns: Sequence[int]) -> NDArray[np.bool_]:
        """Whether each node stands below a split on one of the columns: no other leaf can change."""
        steps = np.zeros(self.tree.n_nodes + 1, np.int64)
        for j in columns:
            nodes = self.readers[j]
            steps[nodes] += 1
            np.subtract.at(steps, self.ends[nodes], 1)
        below: NDArray[np.bool_] = np.cumsum(steps[:-1]) > 0
        return below


def _readers(tree: Forest) -> dict[int, NDArray[np.int64]]:
    """For each column that the splits of a tree read, the nodes that do."""
    inner = np.flatnonzero(tree.slot >= 0)
    node_of_slot = np.empty(len(inner), np.int64)
    node_of_slot[tree.slot[inner]] = inner
    single = tree.kind != COMBINATION
    columns, nodes = [tree.column[single]], [node_of_slot[single]]
    for slot in np.flatnonzero(~single).tolist():
        start, end = tree.combination_start[tree.side[slot] : tree.side[slot] + 2]
        columns.append(np.unique(tree.combination_column[start:end]))
        nodes.append(np.full(len(columns[-1]), node_of_slot[slot]))
    column, node = np.concatenate(columns), np.concatenate(nodes)
    order = np.argsort(column, kind="stable")
    read, first = np.unique(column[order], return_index=True)
    return dict(zip(read.tolist(), np.split(node[order], first[1:]), strict=True)) if len(read) else {}


def _subtree_ends(tree: Forest) -> NDArray[np.int64]:
    """For each node of a tree in preorder the first node after its subtree."""
    ends = np.full(tree.n_nodes, tree.n_nodes, np.int64)
    inner = np.zeros(1, np.int64)
    while len(inner := inner[tree.slot[inner] >= 0]):
        right = tree.right[tree.slot[inner]].astype(np.int64)
        ends[inner + 1], ends[right] = right, ends[inner]
        inner = np.concatenate([inner + 1, right])
    return ends


def _only_columns(table: Table, columns: list[int]) -> Table:
    """Without the entries of a sparse matrix in other columns, which the tree would pass in vain."""
    given = table.columns
    if not isinstance(given, BlockColumns) or not isinstance(given.block, SparseBlock):
        return table
    block = given.block.compressed_by_rows()
    kept = np.isin(block.indices, columns)
    indptr = np.concatenate(([0], np.cumsum(kept)))[block.indptr].astype(np.int64)
    block = replace(block, indptr=indptr, indices=block.indices[kept], data=block.data[kept])
    return replace(table, columns=BlockColumns(block, given.placed, given.names))


def _by_columns(table: Table) -> Table:
    """The same table in a form that gives single columns at little cost."""
    columns = table.columns
    if not isinstance(columns, BlockColumns) or not isinstance(columns.block, SparseBlock):
        return table
    by_columns = BlockColumns(columns.block.compressed_by_columns(), columns.placed, columns.names)
    return replace(table, columns=by_columns)


def _groups_of_columns(groups: Sequence[tuple[Hashable, Sequence[int]]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for g, (_, columns) in enumerate(groups):
        for j in columns:
            found.setdefault(j, []).append(g)
    return found


def _mean_and_error(
    group: list[int], rise: list[float], n_groups: int, n_trees: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard error over trees, of which those that are not listed have 0."""
    place, rises = np.array(group, np.int64), np.array(rise, np.float64)
    if not n_trees:
        return np.full(n_groups, np.nan), np.full(n_groups, np.nan)
    mean: NDArray[np.float64] = np.bincount(place, rises, n_groups) / n_trees
    if n_trees < 2:
        return mean, np.full(n_groups, np.nan)
    zeros = n_trees - np.bincount(place, minlength=n_groups)
    squares = np.bincount(place, np.square(rises - mean[place]), n_groups) + zeros * np.square(mean)
    return mean, np.sqrt(squares / (n_trees - 1) / n_trees)
