"""The shape of preorder trees as one bit a node, and everything that follows from it.

A binary tree in preorder is determined by which nodes are leaves. Reading the bits from left to right, let
the *debt* before a node be the number of subtrees still owed after it: an inner node adds one, a leaf pays
one. A tree ends where its debt falls to -1, and the right child of an inner node is the next node with the
same debt, because the left subtree between them raises the debt by one and pays it back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald.errors import ModelFileError


@dataclass(frozen=True, slots=True)
class Structure:
    """Where every tree starts and every child stands; inner nodes and leaves numbered as they come."""

    leaf: NDArray[np.bool_]  # (N,)
    tree_start: NDArray[np.int64]  # (T + 1,)
    slot: NDArray[np.int32]  # (N,) inner index, or ~leaf index
    right: NDArray[np.int32]  # (I,) counted from the first node of its tree
    last: NDArray[np.int64]  # (N,) the last node of each node's subtree

    def sums(self, leaf_values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Per node, the sum over the leaves of its subtree."""
        running = np.zeros(len(self.leaf) + 1, np.int64)
        running[1:][self.leaf] = leaf_values
        np.cumsum(running, out=running)
        return running[self.last + 1] - running[:-1]


def rebuild(leaf: NDArray[np.bool_], n_trees: int) -> Structure:
    """Everything the leaf bits say, after checking that they spell exactly `n_trees` binary trees."""
    n_nodes = len(leaf)
    if n_nodes >= 2**31:
        raise ModelFileError(
            f"The model file has {n_nodes:,} nodes, more than the 2,147,483,647 weald takes."
        )
    after = np.cumsum(np.where(leaf, -1, 1))
    lowest = np.minimum(np.minimum.accumulate(after), 0)
    ends = np.flatnonzero(np.diff(lowest, prepend=0) < 0)
    if len(ends) != n_trees or n_nodes != (ends[-1] + 1 if n_trees else 0):
        raise ModelFileError(f"The leaves of the model file do not form {n_trees} whole binary trees.")
    tree_start = np.concatenate(([0], ends + 1))
    tree = np.repeat(np.arange(n_trees), np.diff(tree_start))
    # Debts count from each tree's own root, so that they are small and sort fast.
    debt = after - np.where(leaf, -1, 1) + tree
    order = np.argsort(debt.astype(np.int16) if debt.max(initial=0) < 2**15 else debt, kind="stable")
    following = np.zeros(n_nodes, np.int64)
    following[order[:-1]] = order[1:]
    inner = np.flatnonzero(~leaf)
    slot = np.empty(n_nodes, np.int32)
    slot[inner] = np.arange(len(inner))
    slot[leaf] = ~np.arange(n_nodes - len(inner))
    right = following[inner]
    return Structure(
        leaf,
        tree_start.astype(np.int64),
        slot,
        (right - tree_start[tree[inner]]).astype(np.int32),
        _subtree_ends(debt, order, tree_start),
    )


def _subtree_ends(
    debt: NDArray[np.int64], order: NDArray[np.int64], tree_start: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The last node of each subtree.

    A subtree ends when its own debt is paid: before the first later node whose debt is smaller by one, or
    with the whole tree when the debt is 0. `order` lists the nodes by (debt, place).
    """
    n_nodes = len(debt)
    last = np.repeat(tree_start[1:], np.diff(tree_start)) - 1
    indebted = np.flatnonzero(debt > 0)
    keys = debt[order] * n_nodes + order
    after = order[np.searchsorted(keys, (debt[indebted] - 1) * n_nodes + indebted)]
    last[indebted] = after - 1
    return last
