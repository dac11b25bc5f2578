"""Forests made of trees that were grown one after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.model.boosted_tree import BoostedTree
from weald.model.forest import Forest


def forest_of(
    trees: Sequence[BoostedTree], n_columns: int, base_score: NDArray[np.float64], link: str
) -> Forest:
    """The forest of these trees, in their order; all have leaf values of one width."""

    def joined(name: str, empty: type[np.generic]) -> NDArray[Any]:
        return np.concatenate([tree.arrays[name] for tree in trees]) if trees else np.zeros(0, empty)

    n_inner = np.cumsum([0, *(len(tree.arrays["column"]) for tree in trees)])
    n_leaves = np.cumsum([0, *(tree.n_leaves for tree in trees)])
    slot, side = joined("slot", np.int32), joined("side", np.int32)
    nodes = [len(tree.arrays["slot"]) for tree in trees]
    # ~slot counts leaves from the first of its tree: ~(leaf + n) = ~leaf − n.
    slot += np.repeat(n_inner[:-1], nodes).astype(np.int32) * (slot >= 0)
    slot -= np.repeat(n_leaves[:-1], nodes).astype(np.int32) * (slot < 0)
    sets = [len(tree.arrays["set_left"]) for tree in trees]
    side += np.repeat(np.cumsum([0, *sets])[:-1], np.diff(n_inner)).astype(np.int32) * (side >= 0)
    column, threshold = joined("column", np.int32), joined("threshold", np.float64)
    kind = joined("kind", np.uint8)
    lengths = [np.diff(tree.arrays["set_start"]) for tree in trees]
    return Forest(
        n_columns=n_columns,
        base_score=base_score,
        link=link,
        tree_start=np.cumsum([0, *nodes], dtype=np.int64),
        tree_output=np.array([tree.output for tree in trees], np.int32),
        tree_weight=np.array([tree.weight for tree in trees], np.float64),
        tree_round=np.array([tree.round_ for tree in trees], np.int32),
        slot=slot,
        cover=joined("cover", np.float64),
        count=joined("count", np.int64),
        impurity=None,
        column=column,
        threshold=threshold,
        kind=kind,
        missing_left=joined("missing_left", np.uint8).view(np.bool_),
        right=joined("right", np.int32),
        gain=joined("gain", np.float64),
        side=side,
        value=np.concatenate([tree.value for tree in trees]) if trees else np.zeros((0, 1)),
        set_start=np.concatenate([[0], np.cumsum(np.concatenate([*lengths, []]))]).astype(np.int64),
        set_codes=joined("set_codes", np.uint32),
        set_left=joined("set_left", np.uint8).view(np.bool_),
    )


def trees_of(forest: Forest) -> list[BoostedTree]:
    """The trees of a forest apart, as they were grown: the other way round."""
    trees = []
    for t in range(forest.n_trees):
        nodes = slice(int(forest.tree_start[t]), int(forest.tree_start[t + 1]))
        slot = forest.slot[nodes]
        inner, leaves = slot[slot >= 0], ~slot[slot < 0]
        first_inner = int(inner.min()) if len(inner) else 0
        first_leaf = int(leaves.min())
        inner_part = slice(first_inner, first_inner + len(inner))
        side = forest.side[inner_part]
        sets = side[side >= 0]
        first_set = int(sets.min()) if len(sets) else 0
        start = forest.set_start[first_set : first_set + len(sets) + 1]
        arrays: dict[str, NDArray[Any]] = {
            name: getattr(forest, name)[inner_part]
            for name in ("column", "threshold", "kind", "missing_left", "right", "gain")
        }
        arrays |= {
            "slot": np.where(slot >= 0, slot - first_inner, slot + first_leaf).astype(np.int32),
            "cover": forest.cover[nodes],
            "count": forest.count[nodes],
            "side": np.where(side >= 0, side - first_set, side).astype(np.int32),
            "set_start": start - start[0],
            "set_codes": forest.set_codes[start[0] : start[-1]],
            "set_left": forest.set_left[first_set : first_set + len(sets)].view(np.uint8),
        }
        arrays["missing_left"] = arrays["missing_left"].view(np.uint8)
        trees.append(
            BoostedTree(
                arrays=arrays,
                value=forest.value[first_leaf : first_leaf + len(leaves)],
                output=int(forest.tree_output[t]),
                round_=int(forest.tree_round[t]),
                weight=float(forest.tree_weight[t]),
            )
        )
    return trees
