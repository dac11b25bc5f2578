"""Leaves of trees with hundreds of classes and more: the grower names the classes that a leaf has.

All of them have a share of every class, though. What is sure not to fit is refused before a tree is grown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.data.codes import Codes

if TYPE_CHECKING:
    from weald.rows.memory import Bags, GrowOptions


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


def check_room(
    codes: Codes,
    lane: NDArray[Any],
    n_lanes: int,
    weight: NDArray[np.float64] | None,
    options: GrowOptions,
    bags: Bags | None,
) -> None:
    """Refuse trees whose leaves are sure to take more memory than half of what there is.

    Parameters
    ----------
    codes : Codes
        The coded table.
    lane : ndarray of shape (n_rows, n_outputs)
        The class of each row, counted over all outputs.
    n_lanes : int
        How many classes all outputs have.
    weight : ndarray of shape (n_rows,) or None
        Rows of weight 0 are absent.
    options : GrowOptions
        How trees are to grow.
    bags : Bags or None
        The trees; None for one tree on all rows.
    """
    n_trees = 1 if bags is None else bags.n_trees
    leaf_bytes = n_trees * n_lanes * np.dtype(np.float64).itemsize
    room = engine.memory_bytes() // 2
    if codes.n_rows * leaf_bytes <= room or (bags is not None and bags.n_draws):
        return
    if bags is not None and bags.min_weight_share > 0:
        return
    n_leaves = fewest_leaves(codes, lane, weight, options)
    if n_leaves * leaf_bytes > room:
        takes = "tree takes" if n_trees == 1 else "trees take"
        raise MemoryError(
            f"a tree with at least {n_leaves} leaves has a share of each of {n_lanes} classes in every leaf: "
            f"{n_trees} {takes} {n_leaves * leaf_bytes / 1e9:.3g} GB or more, where at most "
            f"{room / 1e9:.3g} GB are there for them. Set max_depth, max_leaf_nodes or min_samples_leaf, "
            "grow fewer trees, or merge rare classes"
        )


def fewest_leaves(
    codes: Codes, lane: NDArray[Any], weight: NDArray[np.float64] | None, options: GrowOptions
) -> int:
    """How many leaves the tree is sure to have; 1 where limits may end it early.

    Without limits, a leaf has rows of one class, or of one value in every column of numbers. If a row has a
    value that no row of another class has, its leaf is of the first kind: so there are as many leaves as
    classes with such a row.
    """
    if not _grows_to_the_end(options, codes.n_rows):
        return 1
    present = np.arange(codes.n_rows) if weight is None else np.flatnonzero(weight)
    usable = [
        j
        for j in (range(codes.n_columns) if options.columns is None else options.columns)
        if not codes.is_sparse(j) and len(codes.cuts(j))  # categories have no cuts
    ]
    fewest = 1
    for classes in lane[present].T:
        told = np.zeros(len(present), np.bool_)
        for j in usable:
            code = codes.column(j)[present].astype(np.int64)
            last = np.zeros(int(code.max(initial=0)) + 1, classes.dtype)
            last[code] = classes  # one class of each code; which, if it has several, does not matter
            several = np.zeros(len(last), np.bool_)
            several[code[last[code] != classes]] = True
            told |= ~several[code] & (code > 0)
        fewest = max(fewest, len(np.unique(classes[told])))
    return fewest


def _grows_to_the_end(options: GrowOptions, n_rows: int) -> bool:
    """Whether nothing but its rows makes a node a leaf."""
    deep = options.max_depth is None or options.max_depth >= n_rows
    small = options.min_rows_split <= 2 and options.min_rows_leaf <= 1 and options.min_weight_leaf <= 0
    plain = options.combined_columns == 0 and options.monotone is None
    return deep and small and plain and not options.max_leaves and options.min_impurity_decrease <= 0
