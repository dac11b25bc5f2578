"""What the trees of a forest predict for the rows they did not see."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald.data.rows import take_rows
from weald.data.table import Table
from weald.errors import outside
from weald.estimators.shared.class_weight import Weights
from weald.model.forest import Forest
from weald.model.predict import leaf_nodes
from weald.rows.bags import BagRecord

#: cells of (row, tree) whose leaves are looked up together
_CELLS = 1 << 24


@dataclass(frozen=True, slots=True)
class OutOfBagSums:
    """The sums, over the trees that did not see a row, of its leaf values; and how many those are."""

    sums: NDArray[np.float64]  # (n_rows, width)
    n_trees: NDArray[np.int64]  # (n_rows,)
    present: NDArray[np.bool_]  # (n_rows,) rows that count at all

    @classmethod
    def of(
        cls,
        forest: Forest,
        table: Table,
        bags: BagRecord,
        weight: Weights | None,
        *,
        n_threads: int,
        rows: NDArray[np.intp] | None = None,
    ) -> OutOfBagSums:
        """Look every row of the training table up in the trees that did not see it, or only some rows."""
        present = None if weight is None else weight > 0
        if rows is not None:
            table = take_rows(table, rows)
        asked = slice(None) if rows is None else rows
        sums = np.zeros((table.n_rows, forest.width))
        n_trees = np.zeros(table.n_rows, np.int64)
        together = max(1, _CELLS // max(1, table.n_rows))
        for first in range(0, forest.n_trees, together):
            last = min(forest.n_trees, first + together)
            leaves = leaf_nodes(forest, table, n_threads=n_threads, trees=(first, last))
            for t in range(first, last):
                unseen = np.flatnonzero(bags.counts(t, present)[asked] == 0)
                node = forest.tree_start[t] + leaves[unseen, t - first]
                sums[unseen] += forest.value[~forest.slot[node]]
                n_trees[unseen] += 1
        there = np.ones(table.n_rows, np.bool_) if present is None else present[asked]
        return cls(sums, n_trees, there)

    @property
    def judged(self) -> NDArray[np.bool_]:
        """The rows that count and that some tree did not see."""
        return self.present & (self.n_trees > 0)

    def means(self) -> NDArray[np.float64]:
        """The mean leaf values of every row; NaN, with a warning that names rows, where all trees saw it."""
        lacking = np.flatnonzero(self.present & (self.n_trees == 0))
        if len(lacking):
            few = ", ".join(str(row) for row in lacking[:5]) + (", …" if len(lacking) > 5 else "")
            warnings.warn(
                f"Some inputs do not have OOB scores: every tree saw {len(lacking):,} of the "
                f"{len(self.n_trees):,} rows ({few}), which have NaN. Use more trees (n_estimators).",
                UserWarning,
                stacklevel=outside(),
            )
        with np.errstate(invalid="ignore"):
            return self.sums / self.n_trees[:, None]
