"""Many forests as one, and one tree of a forest as a forest of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.model.forest import CATEGORIES, COMBINATION, INNER_ARRAYS, Forest

_PER_TREE = ("tree_output", "tree_weight", "tree_round")
_PER_NODE = ("cover", "count")
#: kind of split → where its rows of the side table start, and what they hold
_SIDES = {
    CATEGORIES: ("set_start", ("set_codes",), ("set_left",)),
    COMBINATION: ("combination_start", ("combination_column", "combination_coefficient"), ()),
}


def joined(forests: Sequence[Forest]) -> Forest:
    """The trees of forests with the same columns, outputs and link, one after another.

    Base scores are those of the first. Values of inner nodes and impurities are kept if all have them.
    """
    if len(forests) == 1:
        return forests[0]

    def all_of(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(forest, name) for forest in forests])

    nodes = [forest.n_nodes for forest in forests]
    inner = _starts([len(forest.column) for forest in forests])
    leaves = _starts([len(forest.value) for forest in forests])
    whole: dict[str, Any] = {name: all_of(name) for name in (*INNER_ARRAYS, *_PER_TREE, *_PER_NODE, "value")}
    for name in ("impurity", "inner_value"):
        whole[name] = None if any(getattr(forest, name) is None for forest in forests) else all_of(name)
    slot = all_of("slot")
    # ~slot counts leaves: ~(leaf + n) = ~leaf − n.
    whole["slot"] = np.where(
        slot >= 0, slot + np.repeat(inner[:-1], nodes), slot - np.repeat(leaves[:-1], nodes)
    ).astype(np.int32)
    for kind, (start, entries, rows) in _SIDES.items():
        before = _starts([len(getattr(forest, start)) - 1 for forest in forests])[:-1]
        whole["side"] += np.repeat(before, np.diff(inner)).astype(np.int32) * (whole["kind"] == kind)
        whole[start] = _starts(np.concatenate([np.diff(getattr(forest, start)) for forest in forests]))
        whole |= {name: all_of(name) for name in (*entries, *rows)}
    whole["tree_start"] = _starts(np.concatenate([np.diff(forest.tree_start) for forest in forests]))
    return replace(forests[0], **whole)


def tree_apart(forest: Forest, t: int) -> Forest:
    """Tree `t` alone, its nodes, leaves and rows of side tables counted from 0.

    Where inner nodes and leaves of a tree stand together, as they do after growing, its arrays are views of
    the forest's: only node numbers and side tables are its own.
    """
    nodes = slice(int(forest.tree_start[t]), int(forest.tree_start[t + 1]))
    slot = forest.slot[nodes]
    inner, leaves = _together(slot[slot >= 0]), _together(~slot[slot < 0])
    part: dict[str, Any] = {name: getattr(forest, name)[inner] for name in INNER_ARRAYS}
    part |= {name: getattr(forest, name)[nodes] for name in _PER_NODE}
    part |= {name: getattr(forest, name)[t : t + 1] for name in _PER_TREE}
    part["value"] = forest.value[leaves]
    part["impurity"] = None if forest.impurity is None else forest.impurity[nodes]
    part["inner_value"] = None if forest.inner_value is None else forest.inner_value[inner]
    part["side"] = part["side"].copy()  # written below
    part["slot"] = np.empty(len(slot), np.int32)
    part["slot"][slot >= 0] = np.arange(len(part["column"]))
    part["slot"][slot < 0] = ~np.arange(len(part["value"]))
    for kind, (start, entries, rows) in _SIDES.items():
        mine = part["kind"] == kind
        side = part["side"][mine]
        first = getattr(forest, start)
        lengths = np.diff(first)[side]
        part[start] = _starts(lengths)
        taken = np.arange(lengths.sum()) + np.repeat(first[side] - part[start][:-1], lengths)
        part |= {name: getattr(forest, name)[taken] for name in entries}
        part |= {name: getattr(forest, name)[side] for name in rows}
        part["side"][mine] = np.arange(len(side))
    part["tree_start"] = np.array([0, len(slot)], np.int64)
    return replace(forest, **part)


def _together(places: NDArray[np.int32]) -> NDArray[np.int32] | slice:
    """Ascending places without a gap as a slice, which makes views; others as they are."""
    if len(places) and not (np.diff(places) == 1).all():
        return places
    return slice(int(places[0]), int(places[-1]) + 1) if len(places) else slice(0, 0)


def with_columns(forest: Forest, columns: NDArray[np.int64], n_columns: int) -> Forest:
    """The forest with its column j called `columns[j]`, which ascend; it has no combinations of columns."""
    return replace(forest, n_columns=n_columns, column=columns.astype(np.int32)[forest.column])


def of_columns(forest: Forest, columns: NDArray[np.int64]) -> Forest:
    """The other way round: `columns`, which ascend, become 0, 1, 2 …; they hold all the forest splits on."""
    place = np.searchsorted(columns, forest.column).astype(np.int32)
    return replace(forest, n_columns=len(columns), column=place)


def _starts(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
