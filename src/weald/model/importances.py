"""How much the splits on each column lowered the criterion, covered, or how many they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.model.forest import COMBINATION, Forest


def split_sums(forest: Forest, kind: str) -> NDArray[np.float64]:
    """The gains or covers of the splits of every tree by column, or how many they are: (n_trees, n_columns).

    A split on a combination is shared among its columns by the size of their coefficients.

    Parameters
    ----------
    forest : Forest
        The trees.
    kind : {"gain", "cover", "count"}
        What is added up.
    """
    inner = np.flatnonzero(forest.slot >= 0)
    tree = np.empty(len(forest.column), np.int64)
    tree[forest.slot[inner]] = np.searchsorted(forest.tree_start, inner, side="right") - 1
    amount = forest.gain
    if kind != "gain":
        amount = np.ones(len(forest.column))
        if kind == "cover":
            amount[forest.slot[inner]] = forest.cover[inner]
    single = forest.kind != COMBINATION
    place = [tree[single] * forest.n_columns + forest.column[single]]
    parts = [amount[single]]
    nodes = np.flatnonzero(~single)
    if len(nodes):
        start, end = (
            forest.combination_start[forest.side[nodes]],
            forest.combination_start[forest.side[nodes] + 1],
        )
        owner = np.repeat(nodes, end - start)
        terms = np.concatenate([np.arange(a, b) for a, b in zip(start, end, strict=True)])
        size = np.abs(forest.combination_coefficient[terms])
        total = np.bincount(owner, size, len(forest.column))
        place.append(tree[owner] * forest.n_columns + forest.combination_column[terms])
        parts.append(amount[owner] * size / total[owner])
    sums = np.bincount(
        np.concatenate(place), np.concatenate(parts), forest.n_trees * forest.n_columns
    ).reshape(forest.n_trees, forest.n_columns)
    return sums.astype(np.float64, copy=False)  # of no splits at all, bincount makes integers


def tree_importances(forest: Forest) -> NDArray[np.float64]:
    """The gains of every tree by column, each tree's adding up to 1: (n_trees, n_columns).

    Zero for a tree without a split that gained.
    """
    return shares_of_trees(split_sums(forest, "gain"))


def shares_of_trees(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each tree's share by column; zeros for a tree that has nothing to share."""
    totals = sums.sum(axis=1, keepdims=True)
    shares: NDArray[np.float64] = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
    return shares


def mean_importances(forest: Forest) -> NDArray[np.float64]:
    """The mean of the trees' importances, adding up to 1; trees without a split do not count."""
    by_tree = tree_importances(forest)
    some = by_tree.any(axis=1)
    if not some.any():
        return np.zeros(forest.n_columns)
    mean: NDArray[np.float64] = by_tree[some].mean(axis=0)
    mean /= mean.sum()
    return mean


def column_importances(forest: Forest, kind: str, trees: tuple[int, int]) -> NDArray[np.float64]:
    """The importance of each column in trees [first, last): "gain", "weight", "cover" or a total of these."""
    first, last = forest.tree_start[trees[0]], forest.tree_start[trees[1]]
    nodes = np.arange(first, last)[forest.slot[first:last] >= 0]
    inner = forest.slot[nodes]
    single = forest.kind[inner] != COMBINATION
    nodes, inner = nodes[single], inner[single]
    column = forest.column[inner]
    count = np.bincount(column, minlength=forest.n_columns).astype(np.float64)
    if kind == "weight":
        return count
    amount = forest.gain[inner] if kind.endswith("gain") else forest.cover[nodes]
    total = np.bincount(column, amount, forest.n_columns).astype(np.float64)
    return total if kind.startswith("total") else total / np.maximum(count, 1.0)
