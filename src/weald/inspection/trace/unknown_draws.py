"""Nodes whose draws cannot be told again, because nobody kept the seed: what the model chose, judged."""

from __future__ import annotations

import numpy as np

from weald.inspection.trace.columns import TracedColumn
from weald.inspection.trace.fitted import FittedTree
from weald.inspection.trace.ordered import one_threshold
from weald.inspection.trace.proposals import NodeView, Proposal, choose, codes_of
from weald.inspection.trace.records import NodeTrace
from weald.inspection.trace.search import ColumnSearch
from weald.inspection.trace.sides import Parts, Sides, interleaved

SEED_UNKNOWN = "the draws of this node cannot be told again"


def found_as_drawn(
    node: NodeTrace,
    view: NodeView,
    search: ColumnSearch,
    fitted: FittedTree,
    columns: dict[int, TracedColumn],
) -> None:
    """Fill in a node: candidates of all columns, or, of drawn splits, the one that the model made."""
    rules = view.rules
    splits = node.node is not None and fitted.children(node.node) is not None
    node.why = SEED_UNKNOWN
    if rules.combined_columns or (splits and fitted.column(node.node or 0) < 0):
        return
    column = columns[fitted.column(node.node or 0)] if splits else None
    if rules.random:
        if column is not None:
            proposal = _as_made(node, view, fitted, column)
            node.columns = [choose(view, column, [] if proposal is None else [proposal])]
            node.best = node.columns[0].best
        return
    node.columns = [search.found(view, each.number) for each in search.columns]
    if column is not None:
        node.best = next(each.best for each in node.columns if each.number == column.number)


def _as_made(node: NodeTrace, view: NodeView, fitted: FittedTree, column: TracedColumn) -> Proposal | None:
    """The split that the model drew, with missing rows on both sides."""
    assert node.node is not None
    split = fitted.split(node.node, {column.column: column}, view.rows)
    parts = Parts.of(column, view.rows)
    if parts.constant:
        return None
    if split.kind == "numeric":
        threshold = split.threshold
        if column.kind == "exact":
            length = int(np.sum(column.marks[parts.codes - 1] <= threshold))
        elif column.kind == "binned":
            length = int(np.sum(parts.codes <= np.searchsorted(column.marks, threshold, side="right")))
        else:
            length = int(np.sum(parts.codes <= threshold))
        return one_threshold(view, column, parts, length, threshold)
    chosen = np.isin(parts.codes, np.array(split.left_codes, np.int64))[np.newaxis]
    bounds, saw, whole = view.bounds_of(column.number), len(parts.missing) > 0, bool(chosen.all())
    sides: Sides = view.statistic.sets(parts, chosen, bounds, missing_left=False)
    missing_left = np.zeros(1, np.bool_)
    if saw and not whole:
        sides = interleaved(view.statistic.sets(parts, chosen, bounds, missing_left=True), sides)
        missing_left = np.array([True, False])
    return Proposal(
        sides=sides,
        missing_left=missing_left,
        saw_missing=saw,
        parts_present=np.full(len(missing_left), not whole),
        kind="categories",
        left_codes=lambda i: codes_of(parts.codes[chosen[0]]),
    )
