"""Growing a tree by the definition: at every node, try every candidate of every column on the node's rows.

The result is a plain list of `Node` records in preorder. A node is split by the candidate of largest score;
among equals the lower column wins, then the one proposed first. Growth ends where a limit says so, where
nothing is left to tell apart, or where no candidate is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from reference.fixed_point import least_units
from reference.splits import Codes, Limits, ReferenceColumn, Split, best_split
from reference.statistics import Rows, Statistic

#: Added to a relative gain before it is compared with `min_impurity_decrease`, as scikit-learn does.
EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Options:
    """When to stop. Names and meanings are those of `weald.rows.growth.GrowOptions`."""

    max_depth: int | None = None
    min_rows_split: int = 2
    min_rows_leaf: int = 1
    min_weight_leaf: float = 0.0
    max_leaves: int | None = None
    min_impurity_decrease: float = 0.0


@dataclass(frozen=True)
class Node:
    """One node. A leaf has kind "leaf" and a value; the other fields of a split are then None."""

    kind: Literal["leaf", "numeric", "categories"]
    depth: int
    count: int
    cover: float
    impurity: float
    rows: Rows
    value: tuple[float, ...] | None = None
    column: int | None = None
    threshold: float | None = None
    left_codes: Codes | None = None
    missing_left: bool | None = None
    gain: float | None = None
    right: int | None = None


@dataclass(eq=False)
class _Growing:
    """A node while the tree grows: its rows, its path from the root ("LRL"), and its best split, if any."""

    rows: Rows
    path: str
    gain: float = 0.0
    column: int = -1
    split: Split | None = None
    children: list[_Growing] = field(default_factory=list)


def grow(columns: Sequence[ReferenceColumn], statistic: Statistic, options: Options) -> list[Node]:
    """The tree of all rows, which must have positive weight."""
    n_rows = len(statistic.weights.units)
    root = _node(columns, statistic, options, np.arange(n_rows, dtype=np.intp), path="")
    n_leaves = 1
    frontier = [root]
    while frontier and (options.max_leaves is None or n_leaves < options.max_leaves):
        # Best first: the largest gain; among equals the first in preorder ("L" sorts before "R"). Without
        # max_leaves every node is split in the end, and the order makes no difference.
        node = min(frontier, key=lambda each: (-each.gain, each.path))
        frontier.remove(node)
        if node.split is None:
            continue
        for rows, step in ((node.split.left, "L"), (node.split.right, "R")):
            node.children.append(_node(columns, statistic, options, rows, node.path + step))
        frontier.extend(node.children)
        n_leaves += 1
    records: list[Node] = []
    _write(root, columns, statistic, records)
    return records


def _node(
    columns: Sequence[ReferenceColumn], statistic: Statistic, options: Options, rows: Rows, path: str
) -> _Growing:
    """A node with its best split, or with none where it has to be a leaf."""
    node = _Growing(rows, path)
    cell = statistic.cell(rows)
    least = least_units(options.min_weight_leaf, statistic.weights.power)
    if (
        (options.max_depth is not None and len(path) >= options.max_depth)
        or len(rows) < options.min_rows_split
        or len(rows) < 2 * options.min_rows_leaf
        or statistic.weight(cell) < 2 * least
        or statistic.pure(rows)
    ):
        return node
    limits = Limits(options.min_rows_leaf, least)
    best, column = None, -1
    for j, each in enumerate(columns):
        split = best_split(each, rows, statistic, limits)
        if split is not None and (best is None or split.score > best.score):
            best, column = split, j
    if best is None:
        return node
    # rounding can leave a difference of equals a hair below 0
    gain = max(0.0, statistic.real_gain(best.score - statistic.score(cell)))
    total = statistic.weights.real(int(statistic.weights.units.sum()))
    # a gain of 0 is no reason to stop: the first split of XOR has none
    if gain / total + EPSILON < options.min_impurity_decrease:
        return node
    node.gain, node.column, node.split = gain, column, best
    return node


def _write(node: _Growing, columns: Sequence[ReferenceColumn], statistic: Statistic, out: list[Node]) -> None:
    """Append the node, then all of its left side, then all of its right side."""
    cell = statistic.cell(node.rows)
    depth, count, cover = len(node.path), len(node.rows), statistic.weights.real(statistic.weight(cell))
    impurity = statistic.impurity(node.rows)
    if not node.children:
        out.append(Node("leaf", depth, count, cover, impurity, node.rows, value=statistic.value(node.rows)))
        return
    place = len(out)
    out.append(Node("leaf", depth, count, cover, impurity, node.rows))  # replaced below, when right is known
    _write(node.children[0], columns, statistic, out)
    right = len(out)
    _write(node.children[1], columns, statistic, out)
    split, column = node.split, columns[node.column]
    assert split is not None
    # what the node saw no row of goes with the heavier child
    heavier_left = statistic.weight(split.left_cell) >= statistic.weight(split.right_cell)
    missing_left = heavier_left if split.missing_left is None else split.missing_left
    present = {int(c) for c in np.unique(column.codes[node.rows]) if c != 0}
    categories = column.kind == "categorical"
    threshold, left_codes = 0.0, None
    if categories:
        absent = set(range(1, column.n_codes + 1)) - present
        left_codes = split.left_codes | absent if heavier_left else split.left_codes
    else:
        threshold = column.threshold(max(split.left_codes), min(present - split.left_codes, default=None))
    out[place] = Node(
        "categories" if categories else "numeric",
        depth,
        count,
        cover,
        impurity,
        node.rows,
        column=node.column,
        threshold=threshold,
        left_codes=left_codes,
        missing_left=missing_left,
        gain=node.gain,
        right=right,
    )
