"""Sums weighted by proximity without any proximity: a sum over trees of the sums of leaves.

The proximity of two rows is a sum over trees, so Σ proximity · value over all rows with a value is, for each
tree, the sum of the values in the row's leaf. That is exact, and takes rows · trees steps per column.
Equation I5.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.data.table import Table
from weald.impute.columns import KnownColumn
from weald.impute.rules import level_worth, number_fill
from weald.model.forest import Forest
from weald.model.predict import leaf_nodes

#: cells of (row, tree) whose leaves are looked up together
_CELLS = 1 << 23


def proximity_fills(
    forest: Forest,
    train: Table,
    query: Table | None,
    columns: Sequence[KnownColumn],
    gaps: Mapping[int, NDArray[np.intp]],
    *,
    n_threads: int,
) -> dict[int, NDArray[Any]]:
    """What proximity to the training rows says of missing cells.

    Parameters
    ----------
    forest : Forest
        The trees.
    train : Table
        The training rows, aligned and filled.
    query : Table, optional
        The rows to fill, aligned and filled by guesses; None where they are the training rows.
    columns : sequence of KnownColumn
        What training knows of each column.
    gaps : mapping
        The position of a column → the rows of `query` to fill.
    n_threads : int
        Threads to use; the result does not depend on it.

    Returns
    -------
    dict
        The position of a column → its fills: NaN, or -1 for levels, where no proximity is above 0.
    """
    sums: dict[int, _Sums] = {
        j: _NumberSums(columns[j], rows) if columns[j].unit is not None else _LevelSums(columns[j], rows)
        for j, rows in gaps.items()
        if len(rows)
    }
    n_rows = train.n_rows + (0 if query is None else query.n_rows)
    together = max(1, _CELLS // n_rows)
    for first in range(0, forest.n_trees if sums else 0, together):
        trees = (first, min(forest.n_trees, first + together))
        mine = leaf_nodes(forest, train, n_threads=n_threads, trees=trees).T
        theirs = mine if query is None else leaf_nodes(forest, query, n_threads=n_threads, trees=trees).T
        sizes = np.diff(forest.tree_start[trees[0] : trees[1] + 1])
        for t, size in enumerate(sizes.tolist()):
            train_node, query_node = np.ascontiguousarray(mine[t]), np.ascontiguousarray(theirs[t])
            for each in sums.values():
                each.add(train_node, query_node, size)
    return {j: each.fills() for j, each in sums.items()}


def own_votes(forest: Forest, table: Table, own: NDArray[np.intp], *, n_threads: int) -> NDArray[np.int64]:
    """How many trees vote for the class that each row is filled as."""
    vote = np.argmax(forest.value, axis=1)
    votes = np.zeros(table.n_rows, np.int64)
    together = max(1, _CELLS // table.n_rows)
    for first in range(0, forest.n_trees, together):
        last = min(forest.n_trees, first + together)
        nodes = leaf_nodes(forest, table, n_threads=n_threads, trees=(first, last))
        leaf = ~forest.slot[forest.tree_start[first:last] + nodes]
        votes += np.count_nonzero(vote[leaf] == own[:, None], axis=1)
    return votes


class _Sums(ABC):
    """What the leaves of a row's trees add up to, in one column."""

    def __init__(self, column: KnownColumn, rows: NDArray[np.intp]) -> None:
        self.column = column
        self.rows = rows

    @abstractmethod
    def add(self, train: NDArray[np.int32], query: NDArray[np.int32], n_nodes: int) -> None:
        """One tree: the leaves of training rows and of the rows to fill."""

    @abstractmethod
    def fills(self) -> NDArray[Any]:
        """The values that the sums tell."""


class _NumberSums(_Sums):
    """Sums of the known numbers, taken from their median so that few digits are lost."""

    def __init__(self, column: KnownColumn, rows: NDArray[np.intp]) -> None:
        super().__init__(column, rows)
        numbers = column.values[column.known]
        self.centre = float(np.median(numbers))
        self.apart = numbers - self.centre
        self.sum = np.zeros(len(rows))
        self.weight = np.zeros(len(rows))

    def add(self, train: NDArray[np.int32], query: NDArray[np.int32], n_nodes: int) -> None:
        known, asked = train[self.column.known], query[self.rows]
        self.sum += np.bincount(known, self.apart, minlength=n_nodes)[asked]
        self.weight += np.bincount(known, minlength=n_nodes)[asked]

    def fills(self) -> NDArray[np.float64]:
        mean: NDArray[np.float64] = number_fill(self.sum, self.weight)
        return self.centre + mean


class _LevelSums(_Sums):
    """How often a row meets each level; kept sparse, because a column may have many levels."""

    def __init__(self, column: KnownColumn, rows: NDArray[np.intp]) -> None:
        super().__init__(column, rows)
        self.met = sparse.csr_matrix((len(rows), len(column.levels)))

    def add(self, train: NDArray[np.int32], query: NDArray[np.int32], n_nodes: int) -> None:
        known = train[self.column.known]
        place = (known, self.column.values[self.column.known])
        levels = sparse.csr_matrix((np.ones(len(known)), place), shape=(n_nodes, len(self.column.levels)))
        self.met = self.met + levels[query[self.rows]]

    def fills(self) -> NDArray[np.int32]:
        met = self.met.tocsr()
        row = np.repeat(np.arange(len(self.rows)), np.diff(met.indptr))
        counts = self.column.level_counts()
        total = np.asarray(met.sum(axis=1)).ravel()
        worth = level_worth(counts[met.indices], counts.sum(), met.data, total[row])
        # The first entry of each row in this order is its best level; of equals the first.
        order = np.lexsort((met.indices, -worth, row))
        first = np.flatnonzero(np.diff(row[order], prepend=-1))
        found = np.full(len(self.rows), -1, np.int32)
        found[row[order[first]]] = met.indices[order[first]]
        return found
