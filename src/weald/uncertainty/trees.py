"""What single trees predict, and which rows they were grown on, in blocks that stay within some memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald.data.rows import take_rows
from weald.data.table import Table
from weald.errors import DataError
from weald.model.forest import Forest
from weald.model.predict import leaf_nodes
from weald.rows.bags import BagRecord

#: numbers in one block: 32 MB as float64
CELLS = 1 << 22


@dataclass(frozen=True, slots=True)
class Drawn:
    """The bags of a forest's trees, and the rows they were drawn from."""

    bags: BagRecord
    n_trees: int
    present: NDArray[np.bool_] | None  # (n_rows,) rows whose weight was above 0; None: all

    @property
    def rows(self) -> NDArray[np.int64]:
        """The numbers of the rows that bags were drawn from."""
        return np.arange(self.bags.n_rows) if self.present is None else np.flatnonzero(self.present)

    def counts(self, rows: NDArray[np.int64]) -> Iterator[NDArray[np.uint32]]:
        """How often each bag has each of these rows, tree after tree."""
        for t in range(self.n_trees):
            yield self.bags.counts(t, self.present)[rows]

    def count_blocks(self, rows: NDArray[np.int64]) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """The counts of all trees, (n_trees, rows of the block), for one block of these rows after another.

        Every block draws all bags anew, which costs little beside the products that blocks go into.
        """
        together = max(1, CELLS // self.n_trees)
        for first in range(0, len(rows), together):
            places = slice(first, min(len(rows), first + together))
            block = np.empty((self.n_trees, places.stop - first))
            for t, counts in enumerate(self.counts(rows[places])):
                block[t] = counts
            yield places, block

    def n_trees_without(self) -> NDArray[np.int64]:
        """How many bags lack each row of the table; rows of weight 0 are in none."""
        lack = np.zeros(self.bags.n_rows, np.int64)
        for t in range(self.n_trees):
            lack += self.bags.counts(t, self.present) == 0
        return lack


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """The rows that a forest was fitted on, given once more."""

    drawn: Drawn
    table: Table
    target: NDArray[np.float64]  # (n_rows, n_outputs)
    weight: NDArray[np.float64] | None

    def check(self, forest: Forest, n_threads: int) -> None:
        """Refuse other rows, or another order: the first tree must have as many in each leaf as it did."""
        leaves = leaf_nodes(forest, self.table, n_threads=n_threads, trees=(0, 1))[:, 0]
        n_nodes = int(forest.tree_start[1])
        counts = self.drawn.bags.counts(0, self.drawn.present)
        found = np.bincount(leaves[counts > 0], minlength=n_nodes)
        leaf = forest.slot[:n_nodes] < 0
        if not np.array_equal(found[leaf], forest.count[:n_nodes][leaf]):
            raise DataError(
                "`train` is not the table that this forest was fitted on: its rows come to other leaves. "
                "Give the rows of `fit` in the same order, with the same `sample_weight` if some were 0."
            )


def row_blocks(
    forest: Forest, table: Table, *, n_threads: int, cells: int | None = None
) -> Iterator[tuple[slice, Table]]:
    """The table in parts for which `tree_values` stays within `cells` numbers (None: those of one block)."""
    together = max(1, (cells or CELLS) // (forest.n_trees * forest.width))
    if table.n_rows <= together:
        yield slice(0, table.n_rows), table
        return
    leaf_nodes(forest, table, n_threads=n_threads, trees=(0, 1))  # what is refused is named by its own row
    for first in range(0, table.n_rows, together):
        places = slice(first, min(table.n_rows, first + together))
        yield places, take_rows(table, np.arange(places.start, places.stop))


def tree_values(forest: Forest, table: Table, *, n_threads: int) -> NDArray[np.float64]:
    """The leaf values of every tree for every row: (n_trees, n_rows, width), contiguous."""
    nodes = leaf_nodes(forest, table, n_threads=n_threads).T + forest.tree_start[:-1, None]
    values: NDArray[np.float64] = forest.value[~forest.slot[nodes]]
    return values
