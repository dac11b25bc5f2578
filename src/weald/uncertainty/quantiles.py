"""Quantile regression forests: the training rows that share a new row's leaves, as a distribution.

Equations U5 and U6 of `docs/methods/forests.md`, after Meinshausen (2006).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.data.table import Table
from weald.model.forest import Forest
from weald.model.predict import leaf_nodes
from weald.uncertainty.trees import CELLS, TrainingRows, row_blocks

#: pairs of a new row and a training row whose weights are held together: 12 bytes each
_PAIRS = 1 << 24
#: cumulative weights this close are equal: what rounding may do to sums of as many terms
_ROUNDING = 1e-10


class _Members(NamedTuple):
    """Which training rows each node of some trees holds, by weight."""

    first: int  # tree
    last: int  # the tree after the last
    weights: sparse.csr_matrix  # (nodes of these trees, training rows)
    totals: NDArray[np.float64]  # (nodes of these trees,)


def forest_quantiles(
    forest: Forest, table: Table, train: TrainingRows, quantiles: Sequence[float], *, n_threads: int
) -> NDArray[np.float64]:
    """The quantiles of the target given each row: (n_rows, quantiles, outputs).

    Parameters
    ----------
    forest : Forest
        The trees.
    table : Table
        The rows to predict, aligned to the model.
    train : TrainingRows
        The rows of the fit.
    quantiles : sequence of float
        From 0 to 1.
    n_threads : int
        Threads that look up leaves.
    """
    orders = [np.argsort(column, kind="stable") for column in train.target.T]
    out = np.empty((table.n_rows, len(quantiles), train.target.shape[1]))
    asked = np.asarray(quantiles, np.float64)
    for places, weights in row_weights(forest, table, train, n_threads=n_threads):
        for k, order in enumerate(orders):
            out[places, :, k] = weighted_quantiles(weights, train.target[:, k], order, asked)
    return out


def row_weights(
    forest: Forest, table: Table, train: TrainingRows, *, n_threads: int
) -> Iterator[tuple[slice, sparse.csr_matrix]]:
    """The weights of the training rows for each new row, adding up to 1, for one block of new rows at a time.

    Blocks are as long as the rows in their leaves allow. The members of all leaves are kept if they fit;
    else every block looks the training rows up again.
    """
    n_train = train.table.n_rows
    kept = None
    if n_train * forest.n_trees <= _PAIRS:
        kept = list(_members(forest, train, n_threads))
    for places, part in row_blocks(forest, table, n_threads=n_threads):
        nodes = leaf_nodes(forest, part, n_threads=n_threads) + forest.tree_start[:-1]
        pairs = np.minimum(forest.count[nodes].sum(axis=1), n_train)
        for first, last in _stretches(pairs, _PAIRS):
            some = nodes[first:last]
            weights = sparse.csr_matrix((last - first, n_train))
            for members in kept or _members(forest, train, n_threads):
                weights = weights + _shares(forest, some, members)
            yield slice(places.start + first, places.start + last), weights


def _members(forest: Forest, train: TrainingRows, n_threads: int) -> Iterator[_Members]:
    """The training rows in the nodes of all trees, some trees at a time."""
    n_train = train.table.n_rows
    together = max(1, CELLS // max(1, n_train))
    for first in range(0, forest.n_trees, together):
        last = min(forest.n_trees, first + together)
        leaves = leaf_nodes(forest, train.table, n_threads=n_threads, trees=(first, last))
        start = forest.tree_start[first]
        nodes, rows, weights = [], [], []
        for t in range(first, last):
            counts = train.drawn.bags.counts(t, train.drawn.present)
            within = np.flatnonzero(counts)
            rows.append(within)
            nodes.append(leaves[within, t - first] + (forest.tree_start[t] - start))
            weights.append(counts[within] * (1.0 if train.weight is None else train.weight[within]))
        shape = (int(forest.tree_start[last] - start), n_train)
        places = (np.concatenate(nodes), np.concatenate(rows))
        matrix = sparse.csr_matrix((np.concatenate(weights), places), shape=shape)
        yield _Members(first, last, matrix, matrix @ np.ones(n_train))


def _shares(forest: Forest, nodes: NDArray[np.int64], members: _Members) -> sparse.csr_matrix:
    """What some of the trees add to the weights: the shares of the rows in each leaf, over all trees."""
    here = nodes[:, members.first : members.last] - forest.tree_start[members.first]
    n_rows, n_trees = here.shape
    scale = 1 / (members.totals[here] * forest.n_trees)
    leaves = sparse.csr_matrix(
        (scale.ravel(), here.ravel(), np.arange(n_rows + 1) * n_trees),
        shape=(n_rows, members.weights.shape[0]),
    )
    return leaves @ members.weights


def weighted_quantiles(
    weights: sparse.csr_matrix,
    target: NDArray[np.float64],
    order: NDArray[np.int64],
    quantiles: NDArray[np.float64],
) -> NDArray[np.float64]:
    """For each row of weights the smallest target with a cumulative weight of at least q: (rows, quantiles).

    Only targets of positive weight count, also for q = 0. `order` sorts the target.
    """
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    ranked = sparse.csr_matrix(
        (weights.data.copy(), rank[weights.indices], weights.indptr), shape=weights.shape
    )
    ranked.sort_indices()
    ascending = target[order]
    out = np.empty((weights.shape[0], len(quantiles)))
    for row, (first, last) in enumerate(zip(ranked.indptr[:-1], ranked.indptr[1:], strict=True)):
        below = np.cumsum(ranked.data[first:last])
        at = np.searchsorted(below, (quantiles - _ROUNDING) * below[-1])
        out[row] = ascending[ranked.indices[first + at]]
    return out


def _stretches(sizes: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """Neighbours whose sizes add up to at most `most`; one that is larger stands alone.

    >>> list(_stretches(np.array([3, 3, 9, 1, 2]), 6))
    [(0, 2), (2, 3), (3, 5)]
    """
    ends = np.cumsum(sizes)
    first = 0
    while first < len(sizes):
        done = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + most, side="right")))
        yield first, last
        first = last
