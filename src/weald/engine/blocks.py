"""Block functions: what growing a tree asks of a block of rows, wherever it lies; see core/rows.

What blocks add up is integers, so that any order of blocks gives the same. Gradients of a block are
`fill_gradients`, which reads rows one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.engine.codes import NativeCodes
from weald.engine.columns import NativeColumn, NativeColumns

_ALL_ONE = np.zeros(0)
_ALL_ONE_UNIT = np.zeros(0, np.int64)
LANES = 3  # of a cell: Σ g, Σ h, rows
DIGITS = 256


class BlockExponents(NamedTuple):
    """Counts of exponents, which add up over blocks, and what some row has."""

    g: NDArray[np.int64]
    h: NDArray[np.int64]
    negative_h: bool
    zeros: bool  # a hessian that is not above 0


class Level(NamedTuple):
    """What happens to the nodes of a tree at one level."""

    split: NDArray[np.int32]  # per node: its place among the splits, -1: it is not split now
    histogram: NDArray[np.int32]  # per node, children too: the histogram that its rows add to, -1: none
    column: NDArray[np.int32]  # from here on per split
    kind: NDArray[np.uint8]  # 0 numeric, 1 categories
    missing_left: NDArray[np.uint8]
    code: NDArray[np.uint32]  # numeric: the largest that goes left
    set_start: NDArray[np.int64]  # (splits + 1,) in set_codes
    set_codes: NDArray[np.uint32]  # categories listed, ascending
    set_left: NDArray[np.uint8]  # whether these go left
    left: NDArray[np.int32]  # the children
    right: NDArray[np.int32]


def code_block(codebook: NativeCodes, columns: NativeColumns, n_rows: int, *, n_threads: int) -> NativeCodes:
    """Code some rows by the codebook of a whole table."""
    if columns.sparse:
        placed = [(j, column.values, column.missing) for j, column in columns.placed.items()]
        return _core.code_sparse_block(codebook, columns.block, placed, n_threads)
    sources = []
    for j in range(codebook.n_columns):
        column = columns.placed[j] if j in columns.placed else NativeColumn(columns.block[:, j])
        sources.append((column.values, column.missing))
    return _core.code_block(codebook, sources, n_rows, n_threads)


def block_exponents(
    g: NDArray[np.float64],
    h: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    *,
    whole: bool,
    n_threads: int,
) -> BlockExponents:
    """Count the exponents of a block's gradients; with `whole`, a row of weight 3 counts as three rows."""
    return BlockExponents(
        *_core.block_exponents(g, h, _ALL_ONE if weight is None else weight, whole, n_threads)
    )


def common_power(counts: NDArray[np.int64]) -> int:
    """The power of two by which values so counted become units whose sums stay below 2^62."""
    return _core.common_power(counts)


def block_units(
    g: NDArray[np.float64],
    h: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    powers: tuple[int, int],
    *,
    whole: bool,
    n_threads: int,
) -> NDArray[np.int64]:
    """Gradients and hessians of a block in units, (n, 2); zeros for rows of weight 0."""
    return _core.block_units(g, h, _ALL_ONE if weight is None else weight, whole, *powers, n_threads)


def cell_starts(codes: NativeCodes) -> NDArray[np.int64]:
    """Where the cells of each column begin in a histogram; the last: how many int64 it has."""
    return _core.visit_cells(codes).astype(np.int64)


def visit_block(
    codes: NativeCodes,
    level: Level,
    pairs: NDArray[np.int64],
    node: NDArray[np.int32],
    cells: NDArray[np.int64],
    *,
    n_threads: int,
) -> None:
    """Apply splits to the node of each row, and add the rows to histograms, (histograms, cells), in place."""
    _core.visit_block(codes, *level, pairs, node, cells.reshape(-1), n_threads)


def fill_default_cells(codes: NativeCodes, totals: NDArray[np.int64], cells: NDArray[np.int64]) -> None:
    """Give default codes of sparse columns what is left of the totals of nodes, (histograms, 3), in place."""
    _core.fill_default_cells(codes, totals, cells.reshape(-1))


def add_leaf_sums(pairs: NDArray[np.int64], leaf: NDArray[np.int32], sums: NDArray[np.int64]) -> None:
    """Add the pairs of a block to the sums of their leaves, (leaves, 2), in place."""
    _core.add_leaf_sums(pairs, leaf, sums.reshape(-1))


class LeafDigits:
    """One order statistic per leaf, by digits: count every block, take, and again, `passes` times.

    Parameters
    ----------
    rank : ndarray of int64, shape (n_leaves,)
        The weight, from the smallest value up and counted from 1, at which the value stands.
    """

    passes: int = _core.DIGIT_PASSES

    def __init__(self, rank: NDArray[np.int64]) -> None:
        self._rank = rank.copy()
        self._found = np.zeros(len(rank), np.uint64)
        self._pass = 0

    def count(
        self, value: NDArray[np.float64], weight: NDArray[np.int64] | None, leaf: NDArray[np.int32]
    ) -> NDArray[np.int64]:
        """The counts of a block, which add up over blocks."""
        counts = np.zeros(DIGITS * len(self._found), np.int64)
        weights = _ALL_ONE_UNIT if weight is None else weight
        _core.count_digits(value, weights, leaf, self._found, self._pass, counts)
        return counts

    def take(self, counts: NDArray[np.int64]) -> None:
        """Take the counts of all blocks."""
        _core.take_digits(counts, self._pass, self._found, self._rank)
        self._pass += 1

    def values(self) -> NDArray[np.float64]:
        """The values, after the last pass; of leaves without rows it has no meaning."""
        return np.array([_core.value_of_digits(found) for found in self._found.tolist()])


def rank_of_share(alpha: float, total: int) -> int:
    """The rank of the smallest value with at least the share alpha of the weight up to and including it."""
    return _core.rank_of_share(alpha, total)


def add_leaf_values(
    values: NDArray[np.float64], leaf: NDArray[np.int32], scores: NDArray[np.float64]
) -> None:
    """Add to each row's score the value of its leaf, in place."""
    _core.add_leaf_values(values, leaf, scores)
