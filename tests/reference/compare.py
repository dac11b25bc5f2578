"""Node by node, is the engine's tree the reference's? On failure, say where, and show both."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from reference.route import in_left_set
from reference.splits import ReferenceColumn
from reference.tree import Node
from weald.model.forest import CATEGORIES, NUMERIC, Forest


def forest_records(forest: Forest, columns: Sequence[ReferenceColumn]) -> list[Node]:
    """The only tree of a forest as records, in preorder; depths follow from the right children."""
    assert forest.n_trees == 1, f"one tree expected, got {forest.n_trees}"
    depths = {0: 0}
    records = []
    nobody = np.zeros(0, dtype=np.intp)
    for at in range(forest.n_nodes):
        slot, depth = int(forest.slot[at]), depths[at]
        impurity = math.nan if forest.impurity is None else float(forest.impurity[at])
        count, cover = int(forest.count[at]), float(forest.cover[at])
        if slot < 0:
            value = tuple(forest.value[~slot].tolist())
            records.append(Node("leaf", depth, count, cover, impurity, nobody, value=value))
            continue
        depths[at + 1] = depths[int(forest.right[slot])] = depth + 1
        column = int(forest.column[slot])
        categories = int(forest.kind[slot]) == CATEGORIES
        left_codes = None
        if categories:
            known = range(1, columns[column].n_codes + 1)
            left_codes = frozenset(c for c in known if in_left_set(forest, int(forest.side[slot]), c))
        records.append(
            Node(
                "categories" if categories else "numeric",
                depth,
                count,
                cover,
                impurity,
                nobody,
                column=column,
                threshold=float(forest.threshold[slot]),
                left_codes=left_codes,
                missing_left=bool(forest.missing_left[slot]),
                gain=float(forest.gain[slot]),
                right=int(forest.right[slot]),
            )
        )
    return records


def describe(node: Node) -> str:
    """One line for a message."""
    size = f"count {node.count}, cover {node.cover!r}, impurity {node.impurity!r}"
    if node.kind == "leaf":
        return f"leaf {node.value} ({size})"
    test = f"<= {node.threshold!r}" if node.left_codes is None else f"in {sorted(node.left_codes)}"
    side = "left" if node.missing_left else "right"
    return f"column {node.column} {test}, missing {side}, gain {node.gain!r}, right {node.right} ({size})"


def sketch(records: Sequence[Node]) -> str:
    """A whole tree for a message, indented by depth."""
    return "\n".join(f"  {i:3d} {'  ' * node.depth}{describe(node)}" for i, node in enumerate(records))


def difference(ours: Node, theirs: Node, impurity_rounding: float) -> str | None:
    """The first field in which an engine's node departs from the reference's, or None."""
    for name in (
        "kind",
        "column",
        "threshold",
        "left_codes",
        "missing_left",
        "right",
        "count",
        "cover",
        "value",
    ):
        if getattr(ours, name) != getattr(theirs, name):
            return name
    if theirs.gain is not None:
        assert ours.gain is not None
        if ours.gain != theirs.gain and not math.isclose(ours.gain, theirs.gain, rel_tol=1e-12):
            return "gain"
    if not math.isclose(ours.impurity, theirs.impurity, rel_tol=1e-9, abs_tol=impurity_rounding):
        return "impurity"
    return None


def assert_same_tree(
    forest: Forest,
    records: Sequence[Node],
    columns: Sequence[ReferenceColumn],
    *,
    impurity_scale: float = 1.0,
) -> None:
    """Fail unless the forest's only tree is this one: structure, splits, counts, covers, values exactly.

    Gains may differ by 1e-12 of their size. Impurities, which no split depends on, may differ by rounding of
    their sums: 1e-12 of `impurity_scale`, the largest square of a target, times the weight of all rows.
    """
    engine = forest_records(forest, columns)
    for at, (ours, theirs) in enumerate(zip(engine, records, strict=False)):
        rounding = 1e-12 * impurity_scale * records[0].cover / theirs.cover
        wrong = difference(ours, theirs, rounding)
        assert wrong is None, (
            f"node {at} differs in {wrong}:\n"
            f"  engine:    {describe(ours)}\n  reference: {describe(theirs)}\n"
            f"engine's tree:\n{sketch(engine)}\nreference's tree:\n{sketch(records)}"
        )
    assert len(engine) == len(records), (
        f"engine has {len(engine)} nodes, reference {len(records)}:\n"
        f"{sketch(engine)}\nreference's tree:\n{sketch(records)}"
    )
    assert_codes_are_ranks(forest)


def assert_codes_are_ranks(forest: Forest) -> None:
    """A numeric split's stored code is the rank, from 1, of its threshold among those used on its column."""
    for j in set(forest.column.tolist()):
        here = (forest.column == j) & (forest.kind == NUMERIC)
        ranks = np.searchsorted(np.unique(forest.threshold[here]), forest.threshold[here]) + 1
        np.testing.assert_array_equal(forest.code[here], ranks, err_msg=f"codes of column {j}")
    assert (forest.code[forest.kind == CATEGORIES] == 0).all()
    assert (forest.threshold[forest.kind == CATEGORIES] == 0.0).all()


def assert_same_forest(first: Forest, second: Forest, what: str = "") -> None:
    """Fail unless two forests are the same arrays, bit for bit."""
    ours, theirs = first.arrays(), second.arrays()
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        same = array.dtype == theirs[name].dtype and array.shape == theirs[name].shape
        assert same, (
            f"{what}: {name} is {array.dtype}{array.shape} and {theirs[name].dtype}{theirs[name].shape}"
        )
        assert array.tobytes() == theirs[name].tobytes(), f"{what}: {name} differs:\n{array}\n{theirs[name]}"
    assert (first.n_columns, first.link) == (second.n_columns, second.link)
