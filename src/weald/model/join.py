"""Several forests as one, and one tree of a forest by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.model.forest import CATEGORIES, COMBINATION, Forest, rank_codes

#: arrays that are simply put one after another
_PER_NODE = ("cover", "count", "impurity")
_PER_INNER = ("column", "threshold", "kind", "missing_left", "right", "gain", "inner_value")
_PER_TREE = ("tree_output", "tree_weight", "tree_round")


def join_forests(forests: Sequence[Forest]) -> Forest:
    """The trees of all of them, in this order, as one forest; they agree in columns, outputs and link."""
    if len(forests) == 1:
        return forests[0]
    first_inner = np.cumsum([0, *(len(forest.column) for forest in forests)])
    first_leaf = np.cumsum([0, *(len(forest.value) for forest in forests)])
    first_set = np.cumsum([0, *(len(forest.set_left) for forest in forests)])
    first_combination = np.cumsum([0, *(len(forest.combination_start) - 1 for forest in forests)])
    slots, sides = [], []
    for k, forest in enumerate(forests):
        slots.append(np.where(forest.slot >= 0, forest.slot + first_inner[k], forest.slot - first_leaf[k]))
        first = np.where(forest.kind == COMBINATION, first_combination[k], first_set[k])
        sides.append(np.where(forest.side >= 0, forest.side + first, forest.side))

    def joined(name: str) -> Any:
        parts = [getattr(forest, name) for forest in forests]
        return None if any(part is None for part in parts) else np.concatenate(parts)

    def starts(name: str) -> NDArray[np.int64]:
        lengths = [np.diff(getattr(forest, name)) for forest in forests]
        return np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64)

    together = {
        name: joined(name) for name in (*_PER_NODE, *_PER_INNER, *_PER_TREE, "value", "set_codes", "set_left")
    }
    return replace(
        forests[0],
        **together,
        tree_start=starts("tree_start"),
        slot=np.concatenate(slots).astype(np.int32),
        side=np.concatenate(sides).astype(np.int32),
        code=rank_codes(together["column"], together["threshold"], together["kind"]),
        set_start=starts("set_start"),
        combination_start=starts("combination_start"),
        combination_column=joined("combination_column"),
        combination_coefficient=joined("combination_coefficient"),
    )


def tree_of(forest: Forest, t: int) -> Forest:
    """One tree of a forest as a forest of its own; its arrays are views wherever they can be."""
    nodes = slice(int(forest.tree_start[t]), int(forest.tree_start[t + 1]))
    slot = forest.slot[nodes]
    # Inner nodes and leaves of a tree are numbered as they come, so the first of each is the smallest.
    inner = slot[slot >= 0]
    n_inner, n_leaves = len(inner), len(slot) - len(inner)
    first_inner = int(inner[0]) if n_inner else 0
    first_leaf = int(~slot[slot < 0][0])
    of_inner, of_leaf = slice(first_inner, first_inner + n_inner), slice(first_leaf, first_leaf + n_leaves)
    column, threshold, kind = (getattr(forest, name)[of_inner] for name in ("column", "threshold", "kind"))
    parts: dict[str, Any] = {name: getattr(forest, name)[t : t + 1] for name in _PER_TREE}
    for names, places in ((_PER_NODE, nodes), (_PER_INNER, of_inner)):
        for name in names:
            whole = getattr(forest, name)
            parts[name] = None if whole is None else whole[places]
    return replace(
        forest,
        **parts,
        tree_start=np.array([0, len(slot)], np.int64),
        slot=np.where(slot >= 0, slot - first_inner, slot + first_leaf).astype(np.int32),
        code=rank_codes(column, threshold, kind),
        value=forest.value[of_leaf],
        **_side_tables(forest, kind, forest.side[of_inner]),
    )


def _side_tables(forest: Forest, kind: NDArray[np.uint8], side: NDArray[np.int32]) -> dict[str, Any]:
    """The part of the side tables that one tree uses: its rows stand together."""
    sets, combinations = side[kind == CATEGORIES], side[kind == COMBINATION]
    first_set = int(sets[0]) if len(sets) else 0
    first_combination = int(combinations[0]) if len(combinations) else 0
    set_start = forest.set_start[first_set : first_set + len(sets) + 1]
    start = forest.combination_start[first_combination : first_combination + len(combinations) + 1]
    first = np.where(kind == COMBINATION, first_combination, first_set)
    return {
        "side": np.where(side >= 0, side - first, side).astype(np.int32),
        "set_start": set_start - set_start[0],
        "set_codes": forest.set_codes[set_start[0] : set_start[-1]],
        "set_left": forest.set_left[first_set : first_set + len(sets)],
        "combination_start": start - start[0],
        "combination_column": forest.combination_column[start[0] : start[-1]],
        "combination_coefficient": forest.combination_coefficient[start[0] : start[-1]],
    }
