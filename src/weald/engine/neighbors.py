"""Nearest rows: an index of fitted rows and its searches; see core/neighbors."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.engine.svm import Matrix, matrix_parts

NeighborIndex: TypeAlias = _core.NeighborIndex
#: points, codes of categories, and for the cosine 1 / length of each row
NativeRows: TypeAlias = tuple[Matrix, NDArray[np.int32], NDArray[np.float64]]
#: what categories add to sums: for two levels of each column, for each code against none, where codes start
NativeCategories: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]

_RULES = {"powers": 0, "largest": 1, "cosine": 2}


def neighbor_index(
    rule: str,
    p: float,
    fitted: NativeRows,
    categories: NativeCategories,
    *,
    tree: bool,
    leaf_size: int,
    n_threads: int,
) -> NeighborIndex:
    """An index of fitted rows; it keeps the arrays alive."""
    return _core.neighbor_index(_RULES[rule], p, _parts(fitted), categories, tree, leaf_size, n_threads)


def nearest_rows(
    index: NeighborIndex, queries: NativeRows, k: int, *, exclude_self: bool, n_threads: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Distances and row numbers of the k nearest fitted rows of each query, (n, k), nearest first."""
    distances, rows = index.nearest(_parts(queries), k, exclude_self, n_threads)
    return distances, rows


def _parts(rows: NativeRows) -> tuple[Any, ...]:
    points, codes, weight = rows
    return matrix_parts(points, as_sparse=points.is_sparse), codes, weight
