"""The fitted tree that a trace is held against: its nodes, their rows, its splits as candidates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.inspection.trace.columns import TracedColumn
from weald.inspection.trace.records import Candidate
from weald.inspection.trace.sides import Rows
from weald.model.forest import CATEGORIES, COMBINATION, Forest


class FittedTree:
    """One tree of a model.

    Parameters
    ----------
    forest : Forest
        The tree, apart.
    leaf : ndarray of int64, shape (n_rows,)
        The node that each row comes to, by its own values.
    """

    def __init__(self, forest: Forest, leaf: NDArray[np.int64]) -> None:
        self.forest = forest
        self._leaf = leaf
        slot = forest.slot
        self._ends = np.arange(1, len(slot) + 1)
        for node in range(len(slot) - 1, -1, -1):
            if slot[node] >= 0:
                self._ends[node] = self._ends[forest.right[slot[node]]]

    def rows(self, node: int, among: Rows) -> Rows:
        """Those of some rows that pass a node."""
        leaf = self._leaf[among]
        return np.asarray(among[(leaf >= node) & (leaf < self._ends[node])])

    def children(self, node: int) -> tuple[int, int] | None:
        """The left and the right child; None for a leaf."""
        slot = int(self.forest.slot[node])
        return None if slot < 0 else (node + 1, int(self.forest.right[slot]))

    def value(self, node: int) -> tuple[float, ...]:
        """What a leaf predicts."""
        return tuple(self.forest.value[~int(self.forest.slot[node])].tolist())

    def gain(self, node: int) -> float:
        """Of a node that splits."""
        return float(self.forest.gain[self.forest.slot[node]])

    def column(self, node: int) -> int:
        """The column of a split; −1 for a combination."""
        return int(self.forest.column[self.forest.slot[node]])

    def sends_left(self, node: int, code: int) -> bool:
        """Whether a split by categories sends a code left."""
        side = int(self.forest.side[self.forest.slot[node]])
        return (code in set(self.forest.listed_codes(side).tolist())) == bool(self.forest.set_left[side])

    def split(self, node: int, columns: dict[int, TracedColumn], rows: Rows) -> Candidate:
        """The split of a node as a candidate, to be told in words; its gain is the model's."""
        forest, slot = self.forest, int(self.forest.slot[node])
        kind, j = int(forest.kind[slot]), int(forest.column[slot])
        codes: tuple[int, ...] = ()
        terms: tuple[tuple[int, float], ...] = ()
        if kind == CATEGORIES:
            present = np.unique(columns[j].codes[rows]).tolist() if j in columns else []
            codes = tuple(code for code in present if code and self.sends_left(node, code))
        if kind == COMBINATION:
            side = int(forest.side[slot])
            part = slice(int(forest.combination_start[side]), int(forest.combination_start[side + 1]))
            terms = tuple(
                zip(
                    forest.combination_column[part].tolist(),
                    forest.combination_coefficient[part].tolist(),
                    strict=True,
                )
            )
        return Candidate(
            column=j,
            number=j,
            kind="categories" if kind == CATEGORIES else "combination" if kind == COMBINATION else "numeric",
            threshold=float(forest.threshold[slot]),
            left_codes=codes,
            terms=terms,
            missing_left=bool(forest.missing_left[slot]),
            parts_present=bool(np.isfinite(forest.threshold[slot])),
            gain=float(forest.gain[slot]),
            judged=0.0,
            n_left=0,
            n_right=0,
            left_cover=0.0,
            right_cover=0.0,
            heavier_left=False,
            left_score=0.0,
            right_score=0.0,
        )

    def differs(self, node: int, found: Candidate, columns: dict[int, TracedColumn], rows: Rows) -> str:
        """In what the split of a node is another than this one; "" if it is the same."""
        forest, slot = self.forest, int(self.forest.slot[node])
        own = self.split(node, columns, rows)
        if own.kind != found.kind:
            return "kind of split"
        if own.kind != "combination" and own.column != found.column:
            return "column"
        if own.kind == "combination" and not _same_terms(own.terms, found.terms):
            return "combination"
        if own.kind != "categories" and not _close(own.threshold, found.threshold):
            return "threshold"
        missing_left = found.heavier_left if found.missing_left is None else found.missing_left
        if own.kind == "categories":
            column = columns[found.column]
            present = set(np.unique(column.codes[rows]).tolist())
            for code in range(1, column.n_codes + 1):
                goes_left = code in found.left_codes if code in present else found.heavier_left
                if self.sends_left(node, code) != goes_left:
                    return "set of categories"
        return "" if bool(forest.missing_left[slot]) == missing_left else "side of missing values"


def _same_terms(first: tuple[tuple[int, float], ...], second: tuple[tuple[int, float], ...]) -> bool:
    return len(first) == len(second) and all(
        a[0] == b[0] and _close(a[1], b[1]) for a, b in zip(first, second, strict=True)
    )


def _close(first: float, second: float) -> bool:
    """Whether two thresholds are the same but for the last bits."""
    return first == second or abs(first - second) <= 1e-14 * max(abs(first), abs(second))
