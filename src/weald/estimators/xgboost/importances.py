"""Importances of columns: what the splits on each of them gained, covered, or how many they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.model.forest import COMBINATION, Forest


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
