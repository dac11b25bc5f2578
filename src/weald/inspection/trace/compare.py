"""Nodes of a trace held against those of the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from weald.arrays import Floats
from weald.inspection.trace.columns import TracedColumn
from weald.inspection.trace.fitted import FittedTree
from weald.inspection.trace.records import Agreement, Candidate, NodeTrace
from weald.inspection.trace.rules import TreeRules
from weald.inspection.trace.search import nearly
from weald.inspection.trace.sides import Rows
from weald.inspection.trace.words import Words

Place = tuple[int | None, int | None, int | None]


class NodeComparison:
    """What a model has, against what its rows give.

    Parameters
    ----------
    fitted : FittedTree
        The tree of the model.
    columns : dict
        The columns of the tree by their number in the model.
    words : Words
        For conditions.
    agreement : Agreement
        Where differences are told.
    at : tuple
        The round and the tree.
    seen : callable
        The rows whose codes count as present.
    """

    def __init__(
        self,
        fitted: FittedTree,
        columns: dict[int, TracedColumn],
        words: Words,
        agreement: Agreement,
        at: tuple[int, int],
        *,
        seen: Callable[[Rows], Rows],
    ) -> None:
        self._seen = seen
        self._fitted, self._columns, self._words = fitted, columns, words
        self._agreement, self._at = agreement, at

    def _place(self, node: NodeTrace) -> Place:
        return (*self._at, node.node)

    def _tell(self, node: NodeTrace, what: str, model: object, found: object) -> None:
        self._agreement.n_compared += 1
        self._agreement.tell(what, model, found, at=self._place(node))
        node.differs.append(what)

    def node(self, node: NodeTrace) -> None:
        """Rows, cover and impurity."""
        if node.node is None:
            return
        forest, at = self._fitted.forest, self._place(node)
        if not self._agreement.same("rows", int(forest.count[node.node]), node.n_rows, at=at):
            node.differs.append("rows")
        total = float(forest.cover[0])
        if not self._agreement.number(
            "cover", float(forest.cover[node.node]), node.cover, scale=total, at=at
        ):
            node.differs.append("cover")
        if forest.impurity is None or node.impurity is None or not node.n_rows:
            return
        model = float(forest.impurity[node.node])
        scale = float(forest.impurity[0]) * total / max(node.cover, np.finfo(float).tiny)
        # Impurities are differences of sums over all rows, and no split depends on them.
        if not self._agreement.number("impurity", model, node.impurity, scale=1e3 * scale, at=at):
            node.differs.append("impurity")

    def split(self, node: NodeTrace, *, due: bool, known: bool) -> None:
        """The split of a node and its gain."""
        assert node.node is not None
        assert node.rows is not None
        rows = self._seen(node.rows)
        model = self._fitted.split(node.node, self._columns, rows)
        if node.best is None:
            self._tell(node, "split", self._words.condition(model), f"a leaf: {node.why}")
            return
        what = self._fitted.differs(node.node, node.best, self._columns, rows)
        if what:
            tied = self._tied(node)
            if tied is not None:
                node.best, what = tied, ""
                node.why = f"tied but for rounding with others; {node.why}"
        if what:
            texts = [f"{self._words.condition(each)} (gain {each.gain:.10g})" for each in (model, node.best)]
            if what == "side of missing values":
                texts = ["left", "right"] if model.missing_left else ["right", "left"]
            self._tell(node, f"split ({what})", *texts)
            node.differs.append("split")
        elif not due:
            self._tell(node, "split", self._words.condition(model), f"a leaf: {node.why}")
        else:
            self._agreement.n_compared += 1
        node.gain = max(0.0, node.best.gain)
        size = abs(node.score) + abs(node.best.left_score) + abs(node.best.right_score)
        at = self._place(node)
        if not what and not self._agreement.number("gain", model.gain, node.gain, scale=size, at=at):
            node.differs.append("gain")

    def _tied(self, node: NodeTrace) -> Candidate | None:
        """The model's split among candidates that are as good as the best but for rounding."""
        assert node.node is not None
        assert node.rows is not None
        assert node.best is not None
        rows = self._seen(node.rows)
        for found in node.columns:
            for candidate in found.top:
                if candidate.refused or not nearly(candidate.judged, node.best.judged):
                    continue
                if not self._fitted.differs(node.node, candidate, self._columns, rows):
                    return candidate
        return None

    def leaf(self, node: NodeTrace, *, due: bool, known: bool) -> None:
        """A leaf of the model, which may be none by the rows."""
        if due and known and node.best is not None:
            self._tell(node, "leaf", "a leaf", f"a split: {self._words.condition(node.best)}")

    def not_pruned(self, node: NodeTrace) -> None:
        """A split of the model that pruning should have cut."""
        self._tell(node, "pruning", "a split", f"a leaf: {node.why}")

    def beyond_leaves(self, node: NodeTrace, rules: TreeRules) -> None:
        """A split of the model that came after as many leaves as there may be."""
        self._tell(
            node, "split", "a split", f"a leaf: {rules.leaves_limit}={rules.max_leaves} leaves are there"
        )

    def values(self, leaves: Sequence[NodeTrace], values: Floats, size: float) -> None:
        """What leaves predict; `size`: of what values are sums of."""
        scale = max(1e-3 * float(np.abs(self._fitted.forest.value).max(initial=0.0)), 1e-6 * size)
        for node, value in zip(leaves, values.tolist(), strict=True):
            assert node.node is not None
            node.value = tuple(value)
            at = self._place(node)
            model = self._fitted.value(node.node)
            if not self._agreement.numbers("value", model, value, scale=scale, at=at):
                node.differs.append("value")
