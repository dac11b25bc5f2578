"""Out-of-bag votes: what each row hears from the trees that did not see it, tree after tree.

Nothing is kept by tree: bags are told again from their seed, and leaves looked up for some trees at a time.
Equations F-V1 to F-V3 of docs/methods/forests.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.data.table import Table
from weald.model.forest import Forest
from weald.model.predict import leaf_nodes
from weald.rows.bags import BagRecord

#: truth and answers as numbers, (n_rows, n_outputs) each → how wrong the answers are
ErrorOf: TypeAlias = Callable[[NDArray[Any], NDArray[Any]], float]

#: cells of (row, tree) whose leaves are looked up together
_CELLS = 1 << 24


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """A forest with the table that it was grown on, which alone tells what is out of bag."""

    forest: Forest
    table: Table  # aligned to the schema of the forest
    bags: BagRecord
    present: NDArray[np.bool_] | None  # rows whose weight was above 0; None for all
    n_threads: int = 1

    def unseen(self, tree: int) -> NDArray[np.int64]:
        """The rows that count and that a tree did not see."""
        unseen = self.bags.counts(tree, self.present) == 0
        return np.flatnonzero(unseen if self.present is None else unseen & self.present)

    def unseen_leaves(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """For each tree the rows it did not see, those of weight 0 too, and their place in `forest.value`."""
        forest, n_rows = self.forest, self.table.n_rows
        together = max(1, _CELLS // max(1, n_rows))
        for first in range(0, forest.n_trees, together):
            last = min(forest.n_trees, first + together)
            leaves = leaf_nodes(forest, self.table, n_threads=self.n_threads, trees=(first, last))
            for t in range(first, last):
                rows = np.flatnonzero(self.bags.counts(t, self.present) == 0)
                yield rows, ~forest.slot[forest.tree_start[t] + leaves[rows, t - first]].astype(np.int64)

    def counting(self) -> NDArray[np.bool_]:
        """Whether each row counts."""
        return np.ones(self.table.n_rows, np.bool_) if self.present is None else self.present


def answers_of(values: NDArray[np.float64], n_classes: Sequence[int]) -> NDArray[Any]:
    """What leaf values predict, a column per output: the class of the largest share (of equals the first).

    Without classes they are the answer themselves.

    >>> answers_of(np.array([[0.2, 0.8, 0.5, 0.5], [1.0, 0.0, 0.1, 0.9]]), [2, 2]).tolist()
    [[1, 0], [0, 1]]
    """
    if not n_classes:
        return values
    ends = np.cumsum(n_classes)
    parts = [np.argmax(values[:, end - n : end], axis=1) for n, end in zip(n_classes, ends, strict=True)]
    return np.stack(parts, axis=1)


def wrong_share(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """The share of rows with a wrong label in some output."""
    return float((truth != predicted).any(axis=1).mean())


def squared_error(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """The mean squared error, over rows and outputs."""
    return float(np.square(truth - predicted).mean())


def class_votes(rows: TrainingRows) -> NDArray[np.int64]:
    """How many of the trees that did not see a row vote for each class: (n_rows, n_classes); F-V1."""
    forest = rows.forest
    votes = np.zeros((rows.table.n_rows, forest.width), np.int64)
    vote_of_leaf = np.argmax(forest.value, axis=1)
    for unseen, leaf in rows.unseen_leaves():
        votes[unseen, vote_of_leaf[leaf]] += 1
    return votes


def value_votes(rows: TrainingRows) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """How many trees did not see a row, and the mean of their leaf values: (n_rows,), (n_rows, width).

    The mean is NaN where there are none; equation F-V2.
    """
    sums = np.zeros((rows.table.n_rows, rows.forest.width))
    n_trees = np.zeros(rows.table.n_rows, np.int64)
    for unseen, leaf in rows.unseen_leaves():
        sums[unseen] += rows.forest.value[leaf]
        n_trees[unseen] += 1
    with np.errstate(invalid="ignore"):
        return n_trees, sums / n_trees[:, None]


def error_curve(
    rows: TrainingRows, truth: NDArray[Any], n_classes: Sequence[int], error: ErrorOf
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The out-of-bag error of the first 1, 2, … T trees, and how many trees judged each row; equation F-V3.

    One pass over the trees. After each, the rows that count and that some tree so far did not see are judged
    by the mean of those trees; NaN as long as there is no such row.
    """
    forest, n_rows = rows.forest, rows.table.n_rows
    counting = rows.counting()
    sums = np.zeros((n_rows, forest.width))
    n_trees = np.zeros(n_rows, np.int64)
    predicted = np.zeros(truth.shape, truth.dtype)
    curve = np.full(forest.n_trees, np.nan)
    for t, (unseen, leaf) in enumerate(rows.unseen_leaves()):
        sums[unseen] += forest.value[leaf]
        n_trees[unseen] += 1
        predicted[unseen] = answers_of(sums[unseen] / n_trees[unseen, None], n_classes)
        judged = np.flatnonzero(counting & (n_trees > 0))
        if len(judged):
            curve[t] = error(truth[judged], predicted[judged])
    return curve, n_trees
