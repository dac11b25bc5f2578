"""Proximity: which rows share leaves, and how often. SHAP values: what each column adds to scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.engine.columns import NativeColumns
from weald.engine.predict import PREDICTED_ARRAYS, walked


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


_NO_WEIGHTS = np.zeros(0)


class Explainer:
    """A forest laid out for explanations; several threads may use it at once.

    `arrays` holds at least PREDICTED_ARRAYS and the covers. A range of trees is [first, last).
    """

    def __init__(self, arrays: dict[str, NDArray[Any]], n_columns: int, width: int) -> None:
        kept = {name: np.ascontiguousarray(arrays[name]) for name in (*PREDICTED_ARRAYS, "cover")}
        for name in ("missing_left", "set_left"):
            kept[name] = kept[name].view(np.uint8)
        self._native = _core.make_explainer(kept, n_columns, width)

    def expected(self, trees: tuple[int, int]) -> NDArray[np.float64]:
        """What the trees predict in the mean, by their covers: (n_outputs,)."""
        return self._native.expected(*trees)

    def explain(
        self,
        rows: NativeColumns,
        out: NDArray[np.float64],
        trees: tuple[int, int],
        *,
        background: NativeColumns | None = None,
        weight: NDArray[np.float64] | None = None,
        n_threads: int,
        tell: Callable[[int], None] | None = None,
    ) -> None:
        """Add values to `out`, (n_rows, n_outputs, n_columns), or interactions if that has one axis more.

        `weight` has the share of each background row. `tell` hears of the rows times trees that are done.
        """
        against = None if background is None else walked(background)
        shares = _NO_WEIGHTS if weight is None else weight
        self._native.explain(walked(rows), len(out), against, shares, *trees, out, n_threads, tell)

    def approximate(
        self,
        rows: NativeColumns,
        out: NDArray[np.float64],
        trees: tuple[int, int],
        *,
        n_threads: int,
        tell: Callable[[int], None] | None = None,
    ) -> None:
        """Add what the means of the nodes change by along each row's paths."""
        self._native.approximate(walked(rows), len(out), *trees, out, n_threads, tell)
