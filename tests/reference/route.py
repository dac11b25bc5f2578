"""Which leaf a row reaches: by raw values, as a prediction does, and by codes, as training does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reference.columns import as_floats, level_codes
from reference.tree import Node
from weald.data.table import LevelColumn, Table
from weald.model.forest import CATEGORIES, Forest


def route_records(records: list[Node], table: Table) -> NDArray[np.bool_]:
    """For each record (in preorder) the rows of the table that pass through it, going by their raw values."""
    columns = [level_codes(c) if isinstance(c, LevelColumn) else as_floats(c) for c in table.columns]
    levels = [isinstance(c, LevelColumn) for c in table.columns]
    passes = np.zeros((len(records), table.n_rows), dtype=bool)

    def goes_left(node: Node, row: int) -> bool:
        assert node.column is not None
        assert node.threshold is not None
        value = float(columns[node.column][row])
        missing = value == 0 if levels[node.column] else value != value
        if missing:
            return bool(node.missing_left)
        if node.left_codes is not None:
            return int(value) in node.left_codes
        return value <= node.threshold

    for row in range(table.n_rows):
        at = 0
        passes[at, row] = True
        while records[at].kind != "leaf":
            right = records[at].right
            assert right is not None
            at = at + 1 if goes_left(records[at], row) else right
            passes[at, row] = True
    return passes


def leaves_of(records: list[Node], passes: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The preorder number of the leaf that each row ends in."""
    leaves = np.array([node.kind == "leaf" for node in records])
    return np.argmax(passes & leaves[:, None], axis=0).astype(np.int64)


def in_left_set(forest: Forest, side: int, code: int) -> bool:
    """Whether a row of the side table of category sets sends a code left: listed codes one way, all others
    the other."""
    listed = forest.set_codes[forest.set_start[side] : forest.set_start[side + 1]].tolist()
    return (code in listed) == bool(forest.set_left[side])


def route_codes(forest: Forest, table: Table) -> NDArray[np.int64]:
    """The node of the forest's only tree that each row ends in, comparing codes with `Forest.code` alone.

    The forest's own codebook has one cut for each threshold in use: a value's code is 1 plus the number of
    them below it. Levels are their own codes, coded once more by the thresholds in use.
    """
    coded = []
    for j, column in enumerate(table.columns):
        values = as_floats(column) if not isinstance(column, LevelColumn) else level_codes(column)
        missing = np.isnan(values) if not isinstance(column, LevelColumn) else values == 0
        thresholds = sorted(
            set(forest.threshold[(forest.column == j) & (forest.kind != CATEGORIES)].tolist())
        )
        below = np.array([1 + sum(t < v for t in thresholds) for v in values.tolist()], dtype=np.int64)
        coded.append((values, np.where(missing, 0, below)))

    def leaf(row: int) -> int:
        at = 0
        while forest.slot[at] >= 0:
            inner = forest.slot[at]
            values, codes = coded[forest.column[inner]]
            if codes[row] == 0:
                left = bool(forest.missing_left[inner])
            elif forest.kind[inner] == CATEGORIES:
                left = in_left_set(forest, int(forest.side[inner]), int(values[row]))
            else:
                left = codes[row] <= forest.code[inner]
            at = at + 1 if left else int(forest.right[inner])
        return at

    return np.array([leaf(row) for row in range(table.n_rows)], dtype=np.int64)
