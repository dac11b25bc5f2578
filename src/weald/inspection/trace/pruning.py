"""Pruning of a tree that was grown again: by gamma from the bottom, or by the weakest links."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weald import engine
from weald.inspection.trace.records import NodeTrace
from weald.inspection.trace.search import nearly


def cut_by_gamma(nodes: list[NodeTrace], gamma: float) -> None:
    """From the bottom up, a split whose children are leaves goes if its gain is below gamma.

    Equation 4 of docs/methods/boosting.md. Children stand after their parents in `nodes`.
    """
    for node in reversed(nodes):
        if node.left < 0 or node.gain is None or not node.gain < gamma:
            continue
        if all(_is_leaf(nodes[child]) for child in (node.left, node.right)):
            node.cut = True
            node.why = (
                f"pruned: its gain, {node.gain:.6g}, is below gamma={gamma:g}, and no split below it is kept"
            )


def _is_leaf(node: NodeTrace) -> bool:
    return node.left < 0 or node.cut


def cut_by_alpha(
    nodes: list[NodeTrace], alpha: float, splits: Callable[[int], bool]
) -> list[tuple[float, int | None, int]]:
    """Cut links that are no stronger than alpha; the whole sequence as (alpha, node of the cut, leaves left).

    Equations 2 to 4 of docs/methods/pruning.md; alpha is per unit of weight, as `ccp_alpha`. Where alpha is a
    link's own strength but for rounding, as with one that cross-validation chose, the model decides: `splits`
    tells whether it splits the node at a place.
    """
    order = _preorder(nodes)
    place_of = {place: i for i, place in enumerate(order)}
    slot = np.empty(len(order), np.int32)
    right: list[int] = []
    gain: list[float] = []
    n_leaves = 0
    for i, place in enumerate(order):
        node = nodes[place]
        if node.left < 0:
            slot[i] = ~n_leaves
            n_leaves += 1
        else:
            slot[i] = len(right)
            right.append(place_of[node.right])
            gain.append(max(0.0, node.gain or 0.0))
    found = engine.prune_sequence(slot, np.array(right, np.int32), np.array(gain, np.float64))
    weight = nodes[0].cover
    collapse = found.collapse / weight
    alive = {0}
    for i, place in enumerate(order):
        node = nodes[place]
        if place not in alive or node.left < 0:
            continue
        tied = nearly(float(collapse[i]), alpha)
        if splits(place) if tied else collapse[i] > alpha:
            alive |= {node.left, node.right}
        else:
            node.cut = True
            node.why = (
                f"pruned: its branch is worth {collapse[i]:.6g} a leaf, no more than ccp_alpha={alpha:g}"
            )
    left = n_leaves - np.cumsum(found.splits)
    return [(0.0, None, n_leaves)] + [
        (float(a) / weight, nodes[order[int(i)]].node, int(n))
        for a, i, n in zip(found.alpha.tolist(), found.node.tolist(), left.tolist(), strict=True)
    ]


def _preorder(nodes: list[NodeTrace]) -> list[int]:
    order, pending = [], [0]
    while pending:
        place = pending.pop()
        order.append(place)
        if nodes[place].left >= 0:
            pending += [nodes[place].right, nodes[place].left]
    return order
