"""What can still come to a node: the levels and missing values that splits above on the same column let by.

Sets of levels are kept as the codes that are in, or the codes that are out, whichever the splits listed: a
column of a million levels costs what its splits list.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.model.forest import Forest


@dataclass(frozen=True, slots=True)
class CodeSet:
    """Codes of one column: exactly the `listed` ones, or all others."""

    listed: NDArray[Any]  # ascending, from 1
    inside: bool

    def both(self, other: CodeSet) -> CodeSet:
        """The codes that are in this set and in the other."""
        if self.inside and other.inside:
            return CodeSet(np.intersect1d(self.listed, other.listed, assume_unique=True), True)
        if not self.inside and not other.inside:
            return CodeSet(np.union1d(self.listed, other.listed), False)
        inner, outer = (self, other) if self.inside else (other, self)
        return CodeSet(np.setdiff1d(inner.listed, outer.listed, assume_unique=True), True)

    def size(self, n_levels: int) -> int:
        """How many codes, of a column with so many levels."""
        return len(self.listed) if self.inside else n_levels - len(self.listed)

    def first(self, most: int, n_levels: int) -> NDArray[Any]:
        """The first few codes: no work for all the levels."""
        if self.inside:
            return self.listed[:most]
        others = np.ones(min(n_levels, len(self.listed) + most) + 1, np.bool_)
        others[0] = False  # missing
        others[self.listed[self.listed < len(others)]] = False
        return np.flatnonzero(others)[:most]


class Reach:
    """What can come to the inner nodes of one tree, by their numbers in the forest.

    Parameters
    ----------
    forest : Forest
        The model.
    slot : ndarray
        The nodes of the tree.
    """

    def __init__(self, forest: Forest, slot: NDArray[np.int32]) -> None:
        self._forest = forest
        self._slot = slot
        self._known: dict[int, CodeSet] = {}

    def missing(self, i: int) -> bool:
        """Whether a row with a missing value in the column of node `i` can come to it."""
        return self._missing[i]

    def sides(self, i: int) -> tuple[CodeSet, CodeSet]:
        """The codes that node `i`, a split on categories, sends left and right."""
        here, (left, right) = self._codes(i), self._split(i)
        return here.both(left), here.both(right)

    def _split(self, i: int) -> tuple[CodeSet, CodeSet]:
        side = int(self._forest.side[i])
        listed, listed_left = self._forest.listed_codes(side), bool(self._forest.set_left[side])
        return CodeSet(listed, listed_left), CodeSet(listed, not listed_left)

    def _codes(self, i: int) -> CodeSet:
        """The codes that can come to node `i`: found from the nearest node above of which that is known."""
        way = []
        while i not in self._known and i in self._above:
            way.append(i)
            i = self._above[i][0]
        codes = self._known.setdefault(i, CodeSet(np.zeros(0, np.uint32), False))
        for below in reversed(way):
            above, went_left = self._above[below]
            codes = codes.both(self._split(above)[0 if went_left else 1])
            self._known[below] = codes
        return codes

    @cached_property
    def _above(self) -> dict[int, tuple[int, bool]]:
        """The nearest split above on the same column, and whether the way from there goes left."""
        above: dict[int, tuple[int, bool]] = {}
        latest: dict[int, tuple[int, bool] | None] = {}
        # The way from the root, by column: a child sets the entry of its parent's column, and an entry
        # without a child puts back what stood there before.
        pending: list[tuple[int | None, int, tuple[int, bool] | None]] = [(0, -1, None)]
        while pending:
            node, column, way = pending.pop()
            latest[column] = way
            if node is None or (i := int(self._slot[node])) < 0:
                continue
            j = int(self._forest.column[i])
            before = latest.get(j) if j >= 0 else None
            if before is not None:
                above[i] = before
            pending += [
                (None, j, before),
                (int(self._forest.right[i]), j, (i, False)),
                (node + 1, j, (i, True)),
            ]
        return above

    @cached_property
    def _missing(self) -> dict[int, bool]:
        reaches: dict[int, bool] = {}
        for i in self._slot[self._slot >= 0].tolist():  # in preorder: above comes first
            way = self._above.get(i)
            reaches[i] = way is None or (
                reaches[way[0]] and bool(self._forest.missing_left[way[0]]) == way[1]
            )
        return reaches
