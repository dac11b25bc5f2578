"""Leaves of trees with hundreds of classes and more: the grower names the classes that a leaf has.

All of them have a share of every class, though. What is sure not to fit is refused before a tree is grown:
the fewest leaves that trees can have are counted, in the bags that they will have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.data.codes import Codes
from weald.rows.growth import GrowOptions, TreeBags


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
    bags: TreeBags | None,
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
    bags : TreeBags or None
        The trees; None for one tree on all rows.
    """
    n_trees = 1 if bags is None else max(bags.n_trees, options.trees_in_all)
    if may_fit(codes.n_rows, n_trees, n_lanes) or (bags is not None and bags.min_weight_share > 0):
        return
    present = np.ones(codes.n_rows, np.bool_) if weight is None else weight > 0
    apart = rows_apart(codes, lane, present, options)
    rows_of_trees = _rows_of_trees(np.where(present, lane[:, 0], -1), bags, n_trees)
    leaves = (fewest_leaves(codes, lane, rows, options, apart) for rows in rows_of_trees)
    refuse_too_many(leaves, n_trees, n_lanes)


def _rows_of_trees(
    labels: NDArray[np.integer], bags: TreeBags | None, n_trees: int
) -> Iterator[NDArray[np.bool_]]:
    """Which rows each tree has, from the first of the bags on; a row of the label -1 is absent."""
    numbers = np.ascontiguousarray(labels, np.int32)
    for tree in range(n_trees):
        yield labels >= 0 if bags is None else bags.counts(tree, numbers) > 0


def may_fit(n_rows: int, n_trees: int, n_lanes: int) -> bool:
    """Whether leaves of one row each have room."""
    return n_rows * n_trees * n_lanes * np.dtype(np.float64).itemsize <= _room()


def _room() -> int:
    return engine.memory_bytes() // 2


def refuse_too_many(leaves: Iterable[int], n_trees: int, n_lanes: int) -> None:
    """Refuse trees whose leaves have no room, as soon as enough trees are counted to know.

    Parameters
    ----------
    leaves : iterable of int
        How many leaves each tree has at least.
    n_trees : int
        How many trees.
    n_lanes : int
        How many classes all outputs have.
    """
    room, leaf_bytes = _room(), n_lanes * np.dtype(np.float64).itemsize
    counted = total = 0
    for n_leaves in leaves:
        counted, total = counted + 1, total + n_leaves
        if (total + n_trees - counted) * leaf_bytes <= room:  # every other tree has a leaf
            continue
        takes = "tree takes" if n_trees == 1 else "trees take"
        each = total // counted
        raise MemoryError(
            f"a tree with at least {each} leaves has a share of each of {n_lanes} classes in every leaf: "
            f"{n_trees} {takes} {n_trees * each * leaf_bytes / 1e9:.3g} GB or more, where at most "
            f"{room / 1e9:.3g} GB are there for them. Set max_depth, max_leaf_nodes or min_samples_leaf, "
            f"{fewer_trees(each * leaf_bytes, room, n_trees)}or merge rare classes"
        )


def refuse_as_grown(n_leaves: int, n_trees: int, n_lanes: int) -> None:
    """Refuse trees of which one is grown, if so many like it have no room."""
    room, tree_bytes = _room(), n_leaves * n_lanes * np.dtype(np.float64).itemsize
    if n_trees * tree_bytes > room:
        raise MemoryError(
            f"a tree with {n_leaves} leaves has a share of each of {n_lanes} classes in every leaf: "
            f"{n_trees} trees take about {n_trees * tree_bytes / 1e9:.3g} GB, where at most "
            f"{room / 1e9:.3g} GB are there for them. Set max_depth, max_leaf_nodes or min_samples_leaf, "
            f"{fewer_trees(tree_bytes, room, n_trees)}or merge rare classes"
        )


def fewer_trees(tree_bytes: int, room: int, n_trees: int) -> str:
    """How many trees to grow instead, if there is more than one and one has room."""
    return f"grow at most {room // tree_bytes} of them, " if n_trees > 1 and tree_bytes <= room else ""


def rows_apart(
    codes: Codes, lane: NDArray[Any], present: NDArray[np.bool_], options: GrowOptions
) -> NDArray[np.bool_]:
    """Whether a row has a value that no row of another class has, of each output: (n_rows, n_outputs).

    Parameters
    ----------
    codes : Codes
        The coded table.
    lane : ndarray of shape (n_rows, n_outputs)
        The class of each row.
    present : ndarray of shape (n_rows,)
        The rows to look at. What is apart among them is apart among some of them.
    options : GrowOptions
        Which columns there are.
    """
    apart = np.zeros(lane.shape, np.bool_)
    for j in _number_columns(codes, options):
        code = codes.column(j)[present].astype(np.int64)
        for k, classes in enumerate(lane[present].T):
            last = np.zeros(int(code.max(initial=0)) + 1, classes.dtype)
            last[code] = classes  # one class of each code; which, if it has several, does not matter
            several = np.zeros(len(last), np.bool_)
            several[code[last[code] != classes]] = True
            apart[present, k] |= ~several[code] & (code > 0)
    return apart


def _number_columns(codes: Codes, options: GrowOptions) -> list[int]:
    return [
        j
        for j in (range(codes.n_columns) if options.columns is None else options.columns)
        if not codes.is_sparse(j) and len(codes.cuts(j))  # categories have no cuts
    ]


def fewest_leaves(
    codes: Codes,
    lane: NDArray[Any],
    present: NDArray[np.bool_],
    options: GrowOptions,
    apart: NDArray[np.bool_],
) -> int:
    """How many leaves the tree is sure to have.

    Without limits, a leaf has rows of one class, or of one value in every column of numbers. If a row has a
    value that no row of another class has, its leaf is of the first kind: so there are as many leaves as
    classes with such a row. A limit on depth or leaves ends the tree with no fewer than those: a leaf at
    depth d has d siblings of its ancestors and itself beside it.

    Parameters
    ----------
    codes : Codes
        The coded table.
    lane : ndarray of shape (n_rows, n_outputs)
        The class of each row, counted over all outputs.
    present : ndarray of shape (n_rows,)
        The rows of the tree.
    options : GrowOptions
        How it is to grow.
    apart : ndarray of shape (n_rows, n_outputs)
        What `rows_apart` says of these rows and maybe others.
    """
    plain = options.combined_columns == 0 and options.monotone is None
    if not plain or options.min_weight_leaf > 0 or options.min_impurity_decrease > 0:
        return 1
    if options.min_rows_split <= 2 and options.min_rows_leaf <= 1:
        fewest = max(
            len(np.unique(classes[rows & present])) for classes, rows in zip(lane.T, apart.T, strict=True)
        )
    else:
        fewest = _fewest_by_rows(codes, lane, present, options)
    if options.max_depth is not None:
        fewest = min(fewest, options.max_depth + 1)
    return max(1, min(fewest, options.max_leaves or fewest))


def _fewest_by_rows(
    codes: Codes, lane: NDArray[Any], present: NDArray[np.bool_], options: GrowOptions
) -> int:
    """How many leaves a tree has whose nodes end by their number of rows.

    In a column where at most g rows have the same value, 2m + g - 1 rows can be parted with m on both sides:
    the first values that have m rows together have at most m + g - 1. So a leaf of more rows has one class.
    """
    if options.splitter == "random":
        return 1  # of a column one place is tried, which may leave too few rows on one side
    same = len(present)
    for j in _number_columns(codes, options):
        of_code = np.bincount(codes.column(j)[present])
        if of_code[0] == 0:  # none is missing
            same = min(same, int(of_code.max()))
    of_class = min(int(np.bincount(classes[present]).max()) for classes in lane.T)
    largest = max(options.min_rows_split - 1, 2 * options.min_rows_leaf + same - 2, of_class)
    return -(-int(np.count_nonzero(present)) // largest)


def check_scores(n_rows: int, n_classes: int, what: str, n_arrays: int) -> None:
    """Refuse to boost where numbers of every row and class take more memory than there is.

    Parameters
    ----------
    n_rows, n_classes : int
        How many rows and classes.
    what : str
        What every row has for each class, for the message.
    n_arrays : int
        How many numbers these are at the same time, at least.
    """
    needed, room = n_rows * n_classes * n_arrays * np.dtype(np.float64).itemsize, engine.memory_bytes()
    if needed > room:
        raise MemoryError(
            f"each of {n_rows} rows has {what} for each of {n_classes} classes: that takes "
            f"{needed / 1e9:.3g} GB or more, where there are {room / 1e9:.3g} GB. Merge rare classes, train "
            "on fewer rows, or use a DecisionTreeClassifier or RandomForestClassifier with max_depth or "
            "max_leaf_nodes, which keep numbers of leaves alone"
        )
