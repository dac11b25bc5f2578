"""Trees that an earlier training grew on the same rows: a training that goes on takes them as its own.

They are gone through round by round, as they were grown, and so give the scores, the weights of DART and the
metrics of every round to the bit. Only the growing is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.data.codes import Codes
from weald.data.schema import Schema
from weald.data.table import Table
from weald.model.assemble import forest_of
from weald.model.boosted_tree import BoostedTree
from weald.model.forest import Forest
from weald.model.predict import leaf_numbers
from weald.rows.blocks import PagedCodes
from weald.rows.blocks.values import decoded
from weald.rows.dask.codes import DaskCodes
from weald.rows.dask.trees import Recalled

#: leaves that are looked up at a time: rows on disk are read once for so many
_BYTES = 1 << 27


class RecalledTree(NamedTuple):
    """A tree and its place among those that are recalled."""

    tree: BoostedTree
    place: int


class Recall:
    """The trees of a training so far, and the leaves of rows in them.

    Parameters
    ----------
    trees : sequence of BoostedTree
        In the order of their rounds, as they were grown.
    schema : Schema
        The columns.
    n_outputs : int
        How many raw scores a row has.
    link : str
        What turns them into predictions.
    n_threads : int
        Threads to look up leaves with.
    """

    def __init__(
        self, trees: Sequence[BoostedTree], schema: Schema, n_outputs: int, link: str, n_threads: int
    ) -> None:
        self._trees = [RecalledTree(tree, place) for place, tree in enumerate(trees)]
        self._rounds: dict[int, list[RecalledTree]] = {}
        for each in self._trees:
            self._rounds.setdefault(each.tree.round_, []).append(each)
        self._schema, self._n_outputs, self._link, self._n_threads = schema, n_outputs, link, n_threads
        self._found: dict[int, tuple[int, list[NDArray[np.generic]]]] = {}  # by rows: first tree, leaves

    @property
    def n_rounds(self) -> int:
        """How many rounds the training had when it was kept, those it started from included."""
        return self._trees[-1].tree.round_ + 1 if self._trees else 0

    def round(self, round_: int) -> list[RecalledTree]:
        """The trees of a round, as they were before DART changed their weights; none: it was not kept."""
        return [each._replace(tree=_fresh(each.tree)) for each in self._rounds.get(round_, ())]

    def until(self, round_: int) -> Recalled:
        """All trees of the rounds before, for rows that are elsewhere."""
        forest = self._forest(each.tree for each in self._trees if each.tree.round_ < round_)
        return Recalled(forest, self._schema)

    def leaves(self, tree: RecalledTree, codes: Codes, table: Table | None) -> NDArray[np.generic]:
        """The leaf of every row in a tree; of rows in memory `table` has the values."""
        first, found = self._found.get(id(codes), (0, []))
        if not first <= tree.place < first + len(found):
            n_rows = codes.n_rows if table is None else table.n_rows
            first, last = tree.place, tree.place + max(1, _BYTES // max(1, n_rows))
            found = self._look_up(self._forest(each.tree for each in self._trees[first:last]), codes, table)
            self._found[id(codes)] = first, found
        return found[tree.place - first]

    def _look_up(self, forest: Forest, codes: Codes, table: Table | None) -> list[NDArray[np.generic]]:
        if isinstance(codes, DaskCodes):
            return codes.forest_leaves(forest, self._schema)
        if isinstance(codes, PagedCodes):
            return list(leaf_numbers(forest, decoded(codes, self._schema, forest), n_threads=self._n_threads))
        assert table is not None
        return list(leaf_numbers(forest, [table], n_threads=self._n_threads))

    def _forest(self, trees: Iterable[BoostedTree]) -> Forest:
        chosen = [_fresh(tree) for tree in trees]
        return forest_of(chosen, len(self._schema.columns), np.zeros(self._n_outputs), self._link)


def _fresh(tree: BoostedTree) -> BoostedTree:
    return BoostedTree(arrays=tree.arrays, value=tree.value, output=tree.output, round_=tree.round_)
