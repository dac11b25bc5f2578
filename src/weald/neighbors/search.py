"""The nearest rows of rows: exact, ties by row number, the same for any number of threads."""

from __future__ import annotations

import weakref

import numpy as np

from weald.arrays import Flags, Floats, Integers
from weald.data.matrix.matrix import Matrix
from weald.engine.neighbors import NativeRows, NeighborIndex, nearest_rows, neighbor_index
from weald.errors import DataError
from weald.neighbors.places import Places
from weald.neighbors.space import RowSpace

ALGORITHMS = ("auto", "brute", "kd_tree", "ball_tree")
#: from how many rows on a tree is faster than tiles, up to so many columns
_TREE_ROWS = ((256, 6), (50_000, 8))
#: rows of a leaf
LEAF_SIZE = 30


def nearest(
    space: RowSpace,
    fitted: Places,
    queries: Places,
    k: int,
    *,
    exclude_self: bool = False,
    n_threads: int = 1,
) -> tuple[Floats, Integers]:
    """The k nearest fitted rows of each query: distances and row numbers, (n, k), nearest first.

    Ties go to the lower row number. With `exclude_self` the queries are the fitted rows, and no row is its
    own neighbour (another row at the same place may be).

    >>> from weald.data.adapters import to_table
    >>> from weald.data.schema import Schema
    >>> table = to_table([[0.0], [1.0], [3.0]])
    >>> space = RowSpace.of(table, Schema.of(table), metric="euclidean", scale=False)
    >>> placed = space.place(table)
    >>> nearest(space, placed, placed, 1, exclude_self=True)[1].tolist()
    [[1], [0], [1]]
    """
    return Search(space, fitted).nearest(queries, k, exclude_self=exclude_self, n_threads=n_threads)


class Search:
    """Fitted rows, ready to be searched: the index of the core is made when first asked for.

    Parameters
    ----------
    space : RowSpace
        Where they stand.
    fitted : Places
        The rows.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How rows are found; the answers are the same. Trees are for arrays and not for the cosine, where
        tiles are taken instead; a ball tree is a kd-tree here.
    leaf_size : int, default=30
        Rows of a leaf of the tree.
    """

    def __init__(
        self, space: RowSpace, fitted: Places, *, algorithm: str = "auto", leaf_size: int = LEAF_SIZE
    ) -> None:
        self.space = space
        self.fitted = fitted
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self._gaps = space.gaps(fitted)

    @property
    def uses_tree(self) -> bool:
        """Whether rows are found by a kd-tree."""
        if self.fitted.is_sparse or self.space.metric.rule == "cosine" or self.algorithm == "brute":
            return False
        n_columns = self.fitted.numeric.shape[1] + int(self._gaps.sum())
        faster = any(self.fitted.n_rows >= n and n_columns <= most for n, most in _TREE_ROWS)
        return n_columns > 0 and (faster or self.algorithm != "auto")

    @property
    def takes_pairs(self) -> bool:
        """Whether rows that look for neighbours among themselves meet each other once, not twice."""
        return not (self.fitted.is_sparse or self.uses_tree)

    def nearest(
        self, queries: Places, k: int, *, exclude_self: bool = False, n_threads: int = 1
    ) -> tuple[Floats, Integers]:
        """As the function `nearest`."""
        most = self.fitted.n_rows - exclude_self
        if not 1 <= k <= most:
            raise DataError(f"{k} neighbours are asked for, among {most} rows. Ask for 1 to {most}.")
        gaps = self._gaps | self.space.gaps(queries)
        index = self._index(gaps, n_threads)
        rows = _native_rows(self.space, queries, gaps)
        return nearest_rows(index, rows, k, exclude_self=exclude_self, n_threads=n_threads)

    def _index(self, gaps: Flags, n_threads: int) -> NeighborIndex:
        """The index in which the columns of `gaps` have an axis for what is missing."""
        ready = _indexes.get(self)
        if ready is not None and bool((ready[0] == gaps).all()):
            return ready[1]
        space = self.space
        index = neighbor_index(
            space.metric.rule,
            space.metric.p,
            _native_rows(space, self.fitted, gaps),
            space.costs(),
            tree=self.uses_tree,
            leaf_size=self.leaf_size,
            n_threads=n_threads,
        )
        _indexes[self] = (gaps, index)
        return index


#: made when first asked for, and gone with the rows; no part of what is copied or pickled
_indexes: weakref.WeakKeyDictionary[Search, tuple[Flags, NeighborIndex]] = weakref.WeakKeyDictionary()


def _native_rows(space: RowSpace, places: Places, gaps: Flags) -> NativeRows:
    points = space.points(places, gaps)
    weight = np.empty(0)
    if space.metric.rule == "cosine":
        points, weight = space.of_length_one(points)
    return Matrix(points), places.codes, weight
