"""The codes of a table whose partitions are on workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.data.codes import Codes
from weald.data.schema import Schema
from weald.engine.storage import pages as native
from weald.model.forest import Forest
from weald.rows.dask import trees, work
from weald.rows.dask.reading import CodingPlan
from weald.rows.dask.work import Coded, Move

if TYPE_CHECKING:
    from weald.rows.dask.cluster import Cluster, Remote


class DaskCodes(Codes):
    """A codebook, and coded partitions by it.

    Parameters
    ----------
    cluster : Cluster
        Where the partitions are.
    columns : sequence of CodebookColumn
        The codebook.
    partitions : sequence
        Coded partitions in the order of rows; none of them is empty.
    first_rows : sequence of int
        The first row of each, and in the end how many rows there are.
    told : sequence of Coded
        What each tells of itself.
    """

    #: what reading has cost is counted for pages alone
    io: None = None

    def __init__(
        self,
        cluster: Cluster,
        columns: Sequence[native.CodebookColumn],
        partitions: Sequence[Remote],
        first_rows: Sequence[int],
        told: Sequence[Coded],
    ) -> None:
        super().__init__(native.make_codebook(columns))
        self.cluster, self.columns = cluster, columns
        self.partitions, self.first_rows = list(partitions), list(first_rows)
        self._missing = {j for each in told for j in each.missing}
        sparse = [j for j, each in enumerate(columns) if each.sparse]
        self._opened: list[Remote] = []
        self._plan: CodingPlan | None = None
        self._entries = {j: sum(each.entries[k] for each in told) for k, j in enumerate(sparse)}

    @property
    def n_rows(self) -> int:
        """How many rows all partitions have."""
        return self.first_rows[-1]

    @property
    def slices(self) -> list[slice]:
        """The rows of each partition."""
        return [slice(a, b) for a, b in zip(self.first_rows[:-1], self.first_rows[1:], strict=True)]

    def column(self, j: int) -> NDArray[Any]:
        """The codes of column j, fetched from all partitions."""
        number = self.cluster.number()
        wanted = [
            self.cluster.submit("column", (j, number, p), work.column, each, j)
            for p, each in enumerate(self.partitions)
        ]
        return np.concatenate(self.cluster.gather(wanted))

    def n_entries(self, j: int) -> int:
        """How many rows column j lists; 0 if it is not sparse."""
        return self._entries.get(j, 0)

    def has_missing(self, j: int) -> bool:
        """Whether some row is missing in column j."""
        return j in self._missing

    def leaves(self, move: Move, leaf_of_number: NDArray[np.int32]) -> NDArray[np.uint32]:
        """The leaf of every row in a finished tree."""
        number = self.cluster.number()
        parts = [(each,) for each in self.partitions]
        wanted = self.cluster.each("leaves", (*move.tree, number), work.leaves, parts, move, leaf_of_number)
        return np.concatenate([part.astype(np.uint32) for part in self.cluster.gather(wanted)])

    def sums(self) -> NDArray[np.uint64]:
        """A number per column that tells its codes and their order, whatever the partitions."""
        parts = [(each,) for each in self.partitions]
        wanted = self.cluster.each("code_sums", (self.cluster.number(),), trees.sums, parts)
        total: NDArray[np.uint64] = np.sum(self.cluster.gather(wanted), axis=0, dtype=np.uint64)
        return total

    def forest_leaves(self, forest: Forest, schema: Schema) -> list[NDArray[np.generic]]:
        """Per tree, the leaf of every row, in as few bytes as tell it; thresholds are cuts of these codes."""
        number = self.cluster.number()
        known = self.cluster.submit("trees", (number,), trees.Recalled, forest, schema)
        parts = [(each, known) for each in self.partitions]
        wanted = self.cluster.each("forest_leaves", (number,), trees.leaves, parts)
        found: list[list[NDArray[np.generic]]] = self.cluster.gather(wanted)
        return [np.concatenate(of_tree) for of_tree in zip(*found, strict=True)]

    def keep_values(self, opened: Sequence[Remote], plan: CodingPlan) -> None:
        """Keep the partitions as they were before they were coded, and how they become columns."""
        self._opened, self._plan = list(opened), plan

    def add_start(self, forest: Forest, scores: Floats) -> None:
        """Add a model to go on from to the scores of all rows, (n_outputs, n_rows), in place."""
        known = self._started(forest)
        parts = [
            (each, known, np.ascontiguousarray(scores[:, rows]), rows.stop - rows.start)
            for each, rows in zip(self._opened, self.slices, strict=True)
        ]
        wanted = self.cluster.each("start_scores", (self.cluster.number(),), trees.start_scores, parts)
        for rows, found in zip(self.slices, self.cluster.gather(wanted), strict=True):
            scores[:, rows] = found

    def start_leaves(self, forest: Forest) -> list[NDArray[np.generic]]:
        """Per tree of a model to go on from, the leaf of every row."""
        known = self._started(forest)
        parts = [(each, known) for each in self._opened]
        wanted = self.cluster.each("start_leaves", (self.cluster.number(),), trees.start_leaves, parts)
        found: list[list[NDArray[np.generic]]] = self.cluster.gather(wanted)
        return [np.concatenate(of_tree) for of_tree in zip(*found, strict=True)]

    def _started(self, forest: Forest) -> Remote:
        assert self._plan is not None
        return self.cluster.submit("start_model", (self.cluster.number(),), trees.Started, forest, self._plan)
