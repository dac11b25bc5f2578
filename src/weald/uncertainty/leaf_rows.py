"""Quantiles of a forest that keeps which training rows its leaves hold, so that no table is needed again.

Equations U5 and U6 of `docs/methods/forests.md`, as `quantiles`, which is given the training table instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.data.table import Table
from weald.model.forest import Forest
from weald.model.predict import leaf_nodes
from weald.uncertainty.quantiles import weighted_quantiles
from weald.uncertainty.trees import TrainingRows, row_blocks

#: cells of (row, tree) that are looked up together
_CELLS = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class LeafRows:
    """The training rows in every leaf of a forest, by their share of its weight."""

    shares: (
        sparse.csr_array
    )  # (nodes, training rows); the shares of a leaf add up to 1, inner nodes are empty
    target: NDArray[np.float64]  # (training rows,)

    @classmethod
    def of(cls, forest: Forest, train: TrainingRows, *, n_threads: int) -> LeafRows:
        """Look every training row up in the trees that saw it."""
        n_rows = train.table.n_rows
        nodes, rows, weights = [], [], []
        together = max(1, _CELLS // n_rows)
        for first in range(0, forest.n_trees, together):
            last = min(forest.n_trees, first + together)
            leaves = leaf_nodes(forest, train.table, n_threads=n_threads, trees=(first, last))
            for t in range(first, last):
                counts = train.drawn.bags.counts(t, train.drawn.present)
                seen = np.flatnonzero(counts)
                nodes.append(leaves[seen, t - first] + forest.tree_start[t])
                rows.append(seen)
                weights.append(counts[seen] * (1.0 if train.weight is None else train.weight[seen]))
        places = (np.concatenate(nodes), np.concatenate(rows))
        shape = (int(forest.tree_start[-1]), n_rows)
        held = sparse.csr_array((np.concatenate(weights), places), shape=shape)
        held.data /= np.repeat(held.sum(axis=1), np.diff(held.indptr))
        return cls(held, np.ascontiguousarray(train.target[:, 0]))

    def quantiles(
        self, forest: Forest, table: Table, levels: Sequence[float], *, n_threads: int
    ) -> NDArray[np.float64]:
        """The quantiles of the target given each row of an aligned table: (n_rows, levels)."""
        order = np.argsort(self.target, kind="stable")
        asked = np.asarray(levels, np.float64)
        out = np.empty((table.n_rows, len(asked)))
        # A new row shares leaves with many training rows, so blocks are smaller than those of leaves alone.
        for places, part in row_blocks(forest, table, n_threads=n_threads, cells=_CELLS // 16):
            nodes = leaf_nodes(forest, part, n_threads=n_threads) + forest.tree_start[:-1]
            starts = np.arange(len(nodes) + 1) * forest.n_trees
            ones = np.full(nodes.size, 1.0 / forest.n_trees)
            at = sparse.csr_array((ones, nodes.ravel(), starts), shape=(len(nodes), self.shares.shape[0]))
            out[places] = weighted_quantiles(at @ self.shares, self.target, order, asked)
        return out
