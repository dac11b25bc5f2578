"""Walking a forest with new rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.engine.columns import NativeColumn, NativeColumns

#: the arrays of a Forest that prediction reads
PREDICTED_ARRAYS = (
    "base_score",
    "tree_start",
    "tree_output",
    "tree_weight",
    "slot",
    "column",
    "threshold",
    "kind",
    "missing_left",
    "right",
    "side",
    "value",
    "set_start",
    "set_codes",
    "set_left",
    "combination_start",
    "combination_column",
    "combination_coefficient",
)


class Predictor:
    """A forest laid out for prediction; several threads may use it at once.

    `arrays` holds at least PREDICTED_ARRAYS. A range of trees is `first_tree` … `last_tree` − 1, None for the
    end of the forest.
    """

    def __init__(self, arrays: dict[str, NDArray[Any]], n_columns: int, width: int) -> None:
        kept = {name: np.ascontiguousarray(arrays[name]) for name in PREDICTED_ARRAYS}
        for name in ("missing_left", "set_left"):
            kept[name] = kept[name].view(np.uint8)
        self._native = _core.make_predictor(kept, n_columns, width)

    @property
    def native(self) -> _core.Predictor:
        """The compiled object, for the other functions of the core that read a forest."""
        return self._native

    def scores(
        self,
        rows: NativeColumns,
        n_rows: int,
        *,
        n_threads: int,
        first_tree: int = 0,
        last_tree: int | None = None,
        base: bool = True,
    ) -> NDArray[np.float64]:
        """Raw scores: (n_rows, n_outputs); without `base` the sum over the trees alone."""
        last = self._native.n_trees if last_tree is None else last_tree
        return self._native.scores(walked(rows), n_rows, first_tree, last, base, n_threads)

    def add_scores(
        self,
        rows: NativeColumns,
        n_rows: int,
        out: NDArray[np.float64],
        *,
        n_threads: int,
        first_tree: int = 0,
        last_tree: int | None = None,
    ) -> None:
        """Add the trees' scores to `out`, (n_rows, n_outputs) of any strides, in place."""
        last = self._native.n_trees if last_tree is None else last_tree
        self._native.add_scores(walked(rows), n_rows, out, first_tree, last, n_threads)

    def leaves(
        self,
        rows: NativeColumns,
        n_rows: int,
        *,
        n_threads: int,
        first_tree: int = 0,
        last_tree: int | None = None,
    ) -> NDArray[np.int32]:
        """Leaf node ids: (n_rows, n_trees)."""
        last = self._native.n_trees if last_tree is None else last_tree
        return self._native.leaves(walked(rows), n_rows, first_tree, last, n_threads)


def walked(rows: NativeColumns) -> list[tuple[Any, ...]] | tuple[Any, list[tuple[Any, ...]]]:
    """A table as the core's walks take it."""
    if rows.block is None:
        return [_walked_column(column) for column in rows.placed.values()]
    return rows.block, [(j, *_walked_column(column)) for j, column in rows.placed.items()]


def _walked_column(column: NativeColumn) -> tuple[Any, ...]:
    return column.values, column.missing, column.n_levels is not None
