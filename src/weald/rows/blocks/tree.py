"""One tree of boosting grown on pages: exponents of gradients, a pass a level, the sums of leaves.

What is asked of a page is a function of its codes, of the gradients of its rows and of the nodes that these
are in; what pages give is added up. So pages may come in any order, and from any number of places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.rows.blocks.coarse import CoarsePages
from weald.rows.blocks.source import PageLike, PageSource

#: the gradients of a page for the rows that are drawn
GradientsOf: TypeAlias = Callable[[PageLike, engine.RowDraw], engine.BlockGradients]
#: the weights of a page; None: all 1
WeightsOf: TypeAlias = Callable[[PageLike], NDArray[np.float64] | None]
_SHARE_OF_MEMORY = 16  # that kept gradients may take
_DEEPEST_OF_SHORTS = 14  # a tree of this depth has fewer nodes than 2^16


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRows:
    """The training rows of a tree, whatever they are learnt by."""

    source: PageSource
    gradients_of: GradientsOf
    weights_of: WeightsOf
    n_outputs: int = 1
    weighted: bool = False  # rows have weights
    whole: bool = False  # which are whole numbers, read as repeated rows
    extras: tuple[str, ...] = ()  # what the two functions read of a page
    n_threads: int = 1


@dataclass(frozen=True, slots=True)
class GrownOnPages:
    """A tree, and where its rows came to rest."""

    native: engine.NewtonTree
    leaf_of_number: NDArray[np.int32]  # of the numbers that the rows have
    draw: engine.RowDraw
    coarse: CoarsePages | None = None  # the pages it was grown on, if these have codes of its own

    def arrays(self) -> engine.TreeArrays:
        """The arrays of the tree, with `value` and `cover` of every node."""
        return engine.tree_arrays(self.native)

    def leaves(self, codes: engine.NativeCodes, n_threads: int) -> NDArray[np.int32]:
        """The leaf of every row of a block, in the codes of the source."""
        own = codes if self.coarse is None else self.coarse.coded(codes)
        return engine.leaf_of_block(self.native, own, n_threads=n_threads)


def node_numbers(n_rows: int, options: engine.NewtonOptions) -> engine.Numbers:
    """Room for the number of each row's node: 2 bytes, or 4 where trees may be large."""
    short = options.grow.max_depth <= _DEEPEST_OF_SHORTS
    return np.zeros(n_rows, np.uint16) if short else np.zeros(n_rows, np.uint32)


def kept_values(n_rows: int) -> NDArray[np.uint32]:
    """Room for the 16-bit gradients of all rows while a tree grows, where memory is not short; else none.

    With them, gradients are not worked out again for every level.
    """
    fits = n_rows * np.dtype(np.uint32).itemsize <= engine.memory_bytes() // _SHARE_OF_MEMORY
    return np.empty(n_rows if fits else 0, np.uint32)


def grow_on_pages(
    rows: BlockRows,
    options: engine.NewtonOptions,
    number: engine.Numbers,
    kept: NDArray[np.uint32] | None = None,
) -> GrownOnPages:
    """Grow one tree; the tree of `engine.NewtonRows.grow` on the same rows.

    Parameters
    ----------
    rows : BlockRows
        The rows and their gradients.
    options : NewtonOptions
        How to grow.
    number : ndarray of shape (n_rows,)
        Of `node_numbers`: at the end the number of the node of each row, drawn or not; `leaf_of_number` tells
        the leaf.
    kept : ndarray, optional
        Of `kept_values`, for those who grow many trees: fresh memory costs more than filling it.
    """
    draw, counts = _counted(rows, options)
    kept = kept_values(rows.source.n_rows) if kept is None else kept
    tree = engine.PagedTree(rows.source.codebook, counts, options, rows.weighted, rows.whole)
    number[:] = 0
    while tree.next():
        sums = tree.sums(rows.source.codebook)
        for page in rows.source.pages(codes=tree.reads_codes, extras=rows.extras):
            own = slice(page.first_row, page.first_row + page.n_rows)
            gradients = rows.gradients_of(page, draw)
            sums.add_block(gradients, page.codes, number[own], kept[own], rows.n_threads)
        tree.take(sums, rows.n_threads)
    native = tree.finish()
    coarse = rows.source if isinstance(rows.source, CoarsePages) else None
    return GrownOnPages(native, tree.leaf_of_numbers(), draw, coarse)


def _counted(rows: BlockRows, options: engine.NewtonOptions) -> tuple[engine.RowDraw, engine.GradientCounts]:
    """Which rows are drawn, and what all their gradients are counted as."""
    draw = engine.RowDraw(options.row_share, options.grow.seed)
    counts = _counts(rows, options, draw)
    if counts.n_drawn == 0:  # a tree needs a row: the one that came nearest to being drawn
        pages = rows.source.pages(codes=False, extras=rows.extras)
        found = [
            engine.nearest_row(rows.weights_of(page), page.n_rows, first_row=page.first_row, draw=draw)
            for page in pages
        ]
        draw = draw._replace(only=min(each for each in found if each[1] >= 0)[1])
        counts = _counts(rows, options, draw)
    return draw, counts


def _counts(rows: BlockRows, options: engine.NewtonOptions, draw: engine.RowDraw) -> engine.GradientCounts:
    squared = engine.PagedTree.squares(rows.source.codebook, options, rows.n_outputs)
    counts = engine.GradientCounts()
    for page in rows.source.pages(codes=False, extras=rows.extras):
        counts.add_block(rows.gradients_of(page, draw), squared, rows.n_threads)
    return counts
