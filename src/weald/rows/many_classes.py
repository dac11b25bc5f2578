"""Leaves of trees with hundreds of classes and more: the grower names the classes that a leaf has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def shares_of_some(
    arrays: dict[str, NDArray[Any]], *, leaves_only: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The share of each class, of leaves (leaves, classes) and of all nodes (nodes, classes).

    Parameters
    ----------
    arrays : dict
        What the grower gives, with the sums of classes that are not 0 node after node.
    leaves_only : bool
        The shares of nodes are not asked for: of no node.
    """
    slot, n_lanes = arrays["slot"], arrays["lanes"].shape[1]
    node = np.repeat(np.arange(len(slot)), np.diff(arrays["some_start"]))
    lane, share = arrays["some_lane"], arrays["some_sum"] / arrays["weight"][node]
    of_leaf = slot[node] < 0
    leaves = np.zeros((np.count_nonzero(slot < 0), n_lanes))
    leaves[~slot[node[of_leaf]], lane[of_leaf]] = share[of_leaf]
    nodes = np.zeros((0 if leaves_only else len(slot), n_lanes))
    if not leaves_only:
        nodes[node, lane] = share
    return leaves, nodes
