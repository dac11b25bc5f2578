"""Proximity: which rows share leaves, and how often."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald import _core


@dataclass(frozen=True, slots=True)
class LeafRows:
    """The rows of every leaf, as core/inspection/proximity.h keeps them."""

    node_start: NDArray[np.int64]  # (n_trees + 1,)
    start: NDArray[np.int32]
    rows: NDArray[np.int32]  # (n_trees * n_rows,)
    n_rows: int

    @classmethod
    def of(cls, nodes: NDArray[np.int32], node_start: NDArray[np.int64], *, n_threads: int = 1) -> LeafRows:
        """Sort rows by leaf: nodes is (n_rows, n_trees), -1 where a row does not count."""
        node_start = np.ascontiguousarray(node_start, np.int64)
        start, rows = _core.leaf_rows(nodes, node_start, n_threads)
        return cls(node_start, start, rows, len(nodes))

    def nearest(
        self, nodes: NDArray[np.int32], sets: NDArray[np.uint64] | None, k: int, *, n_threads: int = 1
    ) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
        """The k nearest other rows of each: rows (n_rows, k), proximities, and how many there are."""
        return _core.nearest_rows(nodes, self.node_start, self.start, self.rows, _sets(sets), k, n_threads)

    def matrix(
        self, nodes: NDArray[np.int32], sets: NDArray[np.uint64] | None = None, *, n_threads: int = 1
    ) -> NDArray[np.float64]:
        """The proximity of some rows, by their nodes, to these: (len(nodes), n_rows)."""
        return _core.proximity_matrix(
            nodes, self.node_start, self.start, self.rows, self.n_rows, _sets(sets), n_threads
        )

    def squares(
        self, nodes: NDArray[np.int32], group: NDArray[np.int32], *, n_threads: int = 1
    ) -> NDArray[np.float64]:
        """The sum of squared proximities of each row to those of its group, itself included."""
        return _core.squared_proximities(nodes, self.node_start, self.start, self.rows, group, n_threads)


def _sets(sets: NDArray[np.uint64] | None) -> NDArray[np.uint64]:
    return np.zeros((0, 0), np.uint64) if sets is None else sets
