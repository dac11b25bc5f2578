"""Proximity: the share of trees in which two rows come to the same leaf.

Rows are sorted by leaf in every tree, so only rows that meet are ever compared. That takes 4 bytes for each
row and tree, twice, and 4 for each node; the work is, for each row, the number of rows in its leaves.
Equations P1 to P5 of docs/methods/forests.md.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.data.table import Table
from weald.engine import LeafRows
from weald.errors import DataError, ParameterError, outside
from weald.model.forest import Forest
from weald.model.predict import leaf_nodes
from weald.rows.bags import BagRecord

#: the largest dense matrix of proximities, in bytes
LARGEST: Final = 2**31
#: the most rows that are laid out in a plane: every step of that looks at all pairs
MOST_LAID_OUT: Final = 5000


@dataclass(frozen=True, slots=True)
class Leaves:
    """Where rows come to rest in every tree, and in which trees they count."""

    nodes: NDArray[np.int32]  # (n_rows, n_trees); -1 where the row does not count
    node_start: NDArray[np.int64]  # (n_trees + 1,)
    sets: NDArray[np.uint64] | None  # (n_rows, n_trees / 64) a bit per tree where the row counts; None: all

    @classmethod
    def of(cls, forest: Forest, table: Table, *, n_threads: int) -> Leaves:
        """All rows, in all trees."""
        return cls(leaf_nodes(forest, table, n_threads=n_threads), forest.tree_start, None)

    @classmethod
    def out_of_bag(
        cls,
        forest: Forest,
        table: Table,
        bags: BagRecord,
        present: NDArray[np.bool_] | None,
        *,
        n_threads: int,
    ) -> Leaves:
        """The rows of the training table, each in the trees that did not see it."""
        nodes = leaf_nodes(forest, table, n_threads=n_threads)
        sets = np.zeros((table.n_rows, (forest.n_trees + 63) // 64), np.uint64)
        for t in range(forest.n_trees):
            unseen = bags.counts(t, present) == 0
            nodes[~unseen, t] = -1
            sets[unseen, t // 64] |= np.uint64(1 << t % 64)
        return cls(nodes, forest.tree_start, sets)

    def rows(self, *, n_threads: int) -> LeafRows:
        """The rows of every leaf."""
        return LeafRows.of(self.nodes, self.node_start, n_threads=n_threads)


def check_out_of_bag(bags: BagRecord, n_rows: int, owner: str) -> None:
    """Raise where a forest has no out-of-bag rows, or a table cannot be the one it was fitted on."""
    if not bags.leaves_rows_out:
        raise ParameterError(
            f"This {owner} was fitted with bootstrap=False: every tree saw every row, so none is out of bag. "
            "Use oob_only=False, or fit with bootstrap=True."
        )
    if n_rows != bags.n_rows:
        raise DataError(
            f"oob_only=True needs the table that {owner} was fitted on, in the same order: that had "
            f"{bags.n_rows:,} rows, and this one has {n_rows:,}. Use oob_only=False for other rows."
        )


def check_dense(n_rows: int, n_others: int) -> None:
    """Raise where the matrix would take too much memory, with the way that does not."""
    needed = 8 * n_rows * n_others
    if needed > LARGEST:
        raise DataError(
            f"The proximity of {n_rows:,} rows to {n_others:,} would take {needed / 1e9:,.1f} GB as a dense "
            f"matrix; the limit is {LARGEST / 1e9:.1f} GB. Use nearest_rows(X, k=10), which keeps the "
            "k nearest rows of each as a sparse matrix, or give fewer rows."
        )


def dense_proximity(leaves: Leaves, others: Leaves, *, n_threads: int) -> NDArray[np.float64]:
    """Every proximity: (rows of `leaves`, rows of `others`); with sets both are the same.

    NaN, with a warning, for pairs that no tree counts for both of.
    """
    matrix = others.rows(n_threads=n_threads).matrix(leaves.nodes, leaves.sets, n_threads=n_threads)
    if leaves.sets is not None:
        lacking = np.isnan(matrix)
        n_lacking = int(np.count_nonzero(lacking))
        if n_lacking:
            row, other = np.unravel_index(np.argmax(lacking), lacking.shape)
            warnings.warn(
                f"No tree has both rows out of bag for {n_lacking:,} of {matrix.size:,} pairs (first: {row} "
                f"and {other}), which have NaN. Use more trees (n_estimators).",
                UserWarning,
                stacklevel=outside(),
            )
    return matrix


def nearest_rows(leaves: Leaves, k: int, *, n_threads: int) -> sparse.csr_matrix:
    """The k nearest other rows of each, as a sparse matrix; fewer where fewer have a proximity above 0."""
    n_rows = len(leaves.nodes)
    k = min(k, max(1, n_rows - 1))
    rows, shares, found = leaves.rows(n_threads=n_threads).nearest(
        leaves.nodes, leaves.sets, k, n_threads=n_threads
    )
    kept = np.arange(k) < found[:, None]
    indptr = np.concatenate([[0], np.cumsum(found, dtype=np.int64)])
    return sparse.csr_matrix((shares[kept], rows[kept], indptr), shape=(n_rows, n_rows))


def outlier_measure(leaves: Leaves, group: NDArray[np.int32], *, n_threads: int) -> NDArray[np.float64]:
    """How far each row is from those of its group, in deviations of the group."""
    squares = leaves.rows(n_threads=n_threads).squares(leaves.nodes, group, n_threads=n_threads)
    raw = len(group) / squares
    for which in np.unique(group):
        members = group == which
        raw[members] = standardised(raw[members])
    return raw


def standardised(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """(raw - median) / mean absolute deviation from the median; 0 where all are equal.

    >>> standardised(np.array([1.0, 2.0, 6.0])).tolist()
    [-0.6, 0.0, 2.4]
    """
    apart = raw - np.median(raw)
    deviation = np.mean(np.abs(apart))
    return apart / deviation if deviation > 0 else np.zeros_like(apart)


def laid_out(proximity: NDArray[np.float64], n_components: int, random_state: object) -> NDArray[np.float64]:
    """Places whose distances are near 1 - proximity, by scikit-learn's multidimensional scaling."""
    import inspect

    from sklearn.manifold import MDS

    # scikit-learn 1.8 renamed `dissimilarity`; its start, and how many starts it makes, change between
    # versions.
    named = inspect.signature(MDS).parameters
    how = {"metric": "precomputed"} if "metric_mds" in named else {"dissimilarity": "precomputed"}
    if "init" in named:
        how["init"] = "random"
    scaling = MDS(
        n_components, n_init=1, max_iter=300, random_state=random_state, normalized_stress="auto", **how
    )
    places: NDArray[np.float64] = scaling.fit_transform(1.0 - proximity)
    return places
