"""The shape of preorder trees as one bit per node, and everything that follows from it.

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

_BLOCK = 1 << 18


@dataclass(frozen=True, slots=True)
class Structure:
    """Where every tree starts and every child stands; inner nodes and leaves numbered as they come."""

    leaf: NDArray[np.bool_]  # (N,)
    tree_start: NDArray[np.int64]  # (T + 1,)
    slot: NDArray[np.int32]  # (N,) inner index, or ~leaf index
    right: NDArray[np.int32]  # (I,) counted from the first node of its tree
    last: NDArray[np.int32]  # (N,) the last node of each node's subtree

    def sums(self, leaf_values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Per node, the sum over the leaves of its subtree."""
        running = np.zeros(len(self.leaf) + 1, np.int64)
        running[1:][self.leaf] = leaf_values
        np.cumsum(running, out=running)
        for start in range(0, len(self.leaf), _BLOCK):  # in place: a sum needs nothing that stands before it
            block = slice(start, min(start + _BLOCK, len(self.leaf)))
            running[block] = running[self.last[block] + 1] - running[block]
        return running[:-1]


def rebuild(leaf: NDArray[np.bool_], n_trees: int) -> Structure:
    """Everything the leaf bits say, after checking that they spell exactly `n_trees` binary trees.

    Numbers are of 32 bits and let go as soon as they have served: a large forest should not take more memory
    here than as a forest.
    """
    n_nodes = len(leaf)
    if n_nodes >= 2**31:
        raise ModelFileError(
            f"The model file has {n_nodes:,} nodes, more than the 2,147,483,647 weald takes."
        )
    tree_start = _tree_starts(leaf, n_trees)
    following = _next_of_same_debt(leaf, tree_start)
    inner = np.flatnonzero(~leaf).astype(np.int32)
    right = following[inner]
    del following
    slot = np.empty(n_nodes, np.int32)
    slot[inner] = np.arange(len(inner), dtype=np.int32)
    slot[leaf] = ~np.arange(n_nodes - len(inner), dtype=np.int32)
    last = _subtree_ends(leaf, inner, right)
    sizes = np.diff(np.searchsorted(inner, tree_start))  # inner nodes of each tree
    right -= np.repeat(tree_start[:-1].astype(np.int32), sizes)
    return Structure(leaf, tree_start, slot, right, last)


def _balance(leaf: NDArray[np.bool_]) -> NDArray[np.int32]:
    """After each node, how many inner nodes have come more than leaves."""
    return np.cumsum(1 - 2 * leaf.view(np.int8), dtype=np.int32)


def _tree_starts(leaf: NDArray[np.bool_], n_trees: int) -> NDArray[np.int64]:
    """The first node of each tree, and the number of all: a tree ends where the balance is at a new low."""
    lowest = _balance(leaf)
    np.minimum.accumulate(lowest, out=lowest)
    np.minimum(lowest, 0, out=lowest)
    ends = np.flatnonzero(lowest[1:] < lowest[:-1]) + 1
    if len(lowest) and lowest[0] < 0:
        ends = np.concatenate(([0], ends))
    if len(ends) != n_trees or len(leaf) != (ends[-1] + 1 if n_trees else 0):
        raise ModelFileError(f"The leaves of the model file do not form {n_trees} whole binary trees.")
    return np.concatenate(([0], ends + 1)).astype(np.int64)


def _next_of_same_debt(leaf: NDArray[np.bool_], tree_start: NDArray[np.int64]) -> NDArray[np.int32]:
    """For each node the next one with the same debt: of an inner node its right child."""
    debt = _balance(leaf)
    debt -= 1 - 2 * leaf.view(np.int8)
    # Debts count from each tree's own root, so that they are small and sort fast.
    debt += np.repeat(np.arange(len(tree_start) - 1, dtype=np.int32), np.diff(tree_start))
    if debt.max(initial=0) < 2**15:
        debt = debt.astype(np.int16)
    order = np.argsort(debt, kind="stable")
    following = np.zeros(len(leaf), np.int32)
    following[order[:-1]] = order[1:]
    return following


def _subtree_ends(
    leaf: NDArray[np.bool_], inner: NDArray[np.int32], right: NDArray[np.int32]
) -> NDArray[np.int32]:
    """The last node of each subtree: the leaf to which the way of right children leads.

    Every step takes a way twice as long as the one before.
    """
    last = np.arange(len(leaf), dtype=np.int32)
    last[inner] = right
    left = inner
    while len(left):
        last[left] = last[last[left]]
        left = left[~leaf[last[left]]]
    return last
