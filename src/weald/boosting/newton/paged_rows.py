"""Boosting on pages: the trees of `BoostedRows`, to the byte, from rows whose codes are not in memory.

Of a row the scores stay in memory, and the number of its node. Gradients of losses that look at rows one by
one are worked out a page at a time, and never kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats
from weald.boosting.newton.options import BoostOptions
from weald.boosting.newton.plans import TreePlans, are_whole
from weald.boosting.newton.rows import candidate_weights
from weald.errors import ParameterError
from weald.rows.blocks import GrownOnPages, PagedCodes, grow_on_pages
from weald.rows.blocks.coarse import CoarsePages
from weald.rows.blocks.source import PageLike, PageSource
from weald.rows.blocks.tree import BlockRows, GradientsOf, kept_values, node_numbers


class PagedRows:
    """The training rows of one fit: grows trees on gradients and brings their values to the scores."""

    def __init__(self, codes: PagedCodes, weight: Floats | None, options: BoostOptions) -> None:
        check_options(options)
        self.codes = codes
        self._source, self._weight, self._options = codes.source, weight, options
        self._whole = weight is not None and are_whole(weight)
        self._plans = TreePlans(options, codes.n_rows, codes.n_columns)
        self._number: engine.Numbers | None = None
        self._kept: NDArray[np.uint32] | None = None
        self._newest: GrownOnPages | None = None  # whose nodes `_number` tells

    @property
    def large(self) -> bool:
        """Whether gradients of a loss by rows are not kept; the candidates of "approx" are chosen by them."""
        return self._options.tree_method == "hist"

    def grow(self, g: Floats, h: Floats, *, seed: int, round_: int, weighted: bool) -> GrownOnPages:
        """One tree on gradients and hessians of shape (outputs, n_rows), as `BoostedRows.grow`."""
        weight, whole = self._weight, self._whole
        source: PageSource = self._source
        if self._options.tree_method == "approx":
            source = CoarsePages(
                source,
                candidate_weights(h, None if weighted else weight),
                max_bins=self._options.max_bin,
                n_threads=self._options.n_threads,
            )
        if weighted and weight is not None:
            weight, whole = (weight > 0).astype(np.float64), True

        def gradients_of(page: PageLike, draw: engine.RowDraw) -> engine.BlockGradients:
            rows = _slice(page)
            return engine.gradients_of_block(
                np.ascontiguousarray(g[:, rows]),
                np.ascontiguousarray(h[:, rows]),
                None if weight is None else weight[rows],
                whole=whole,
                first_row=page.first_row,
                draw=draw,
            )

        return self._grow(_Learnt(len(g), weight, whole, source), gradients_of, seed, round_)

    def grow_loss(self, loss: engine.RowLoss, scores: Floats, *, seed: int, round_: int) -> GrownOnPages:
        """One tree on the gradients of a loss at raw scores of shape (n_rows,)."""
        weight, whole = self._weight, self._whole

        def gradients_of(page: PageLike, draw: engine.RowDraw) -> engine.BlockGradients:
            rows = _slice(page)
            return engine.loss_of_block(
                loss._replace(target=loss.target[rows]),
                scores[rows],
                None if weight is None else weight[rows],
                whole=whole,
                first_row=page.first_row,
                draw=draw,
            )

        return self._grow(_Learnt(1, weight, whole, self._source), gradients_of, seed, round_)

    def _grow(self, learnt: _Learnt, gradients_of: GradientsOf, seed: int, round_: int) -> GrownOnPages:
        weight = learnt.weight
        rows = BlockRows(
            source=learnt.source,
            gradients_of=gradients_of,
            weights_of=lambda page: None if weight is None else weight[_slice(page)],
            n_outputs=learnt.n_outputs,
            weighted=weight is not None,
            whole=learnt.whole,
            n_threads=self._options.n_threads,
        )
        native = self._plans.of_tree(seed, round_)
        if self._number is None:
            self._number = node_numbers(self._source.n_rows, native)
            self._kept = kept_values(self._source.n_rows)
        self._newest = None
        self._newest = grow_on_pages(rows, native, self._number, self._kept)
        return self._newest

    def add_scores(self, tree: GrownOnPages, value: Floats, scores: Floats) -> None:
        """Add a tree's leaf values, (leaves, width), to `scores`, (width, n_rows), in place."""
        n_threads = self._options.n_threads
        columns = [np.ascontiguousarray(value[:, k]) for k in range(value.shape[1])]
        if tree is self._newest:
            assert self._number is not None
            for column, to in zip(columns, scores, strict=True):
                of_number = np.append(column, 0.0)[tree.leaf_of_number]  # numbers that no row has: any value
                engine.add_numbered_values(of_number, self._number, to, n_threads=n_threads)
            return
        for page in self._source.pages(codes=True):
            assert page.codes is not None
            leaf = tree.leaves(page.codes, n_threads).view(np.uint32)
            for column, to in zip(columns, scores, strict=True):
                engine.add_numbered_values(column, leaf, to[_slice(page)], n_threads=n_threads)

    def leaf_of_row(self, tree: GrownOnPages, *, drawn_only: bool = False) -> NDArray[np.int32]:
        """The leaf of every row; -1 for rows the tree was not grown on, if `drawn_only`."""
        n_threads = self._options.n_threads
        if tree is self._newest:
            assert self._number is not None
            leaves = tree.leaf_of_number[self._number]
        else:
            leaves = leaves_on_pages(tree, self.codes, n_threads)
        if drawn_only:
            leaves[np.logical_not(engine.drawn_rows(self._weight, len(leaves), tree.draw))] = -1
        return leaves


def leaves_on_pages(tree: GrownOnPages, rows: PagedCodes, n_threads: int) -> NDArray[np.int32]:
    """The leaf of every row of some pages that are coded as those the tree was grown on."""
    leaves = np.empty(rows.n_rows, np.int32)
    for page in rows.source.pages(codes=True):
        assert page.codes is not None
        leaves[_slice(page)] = tree.leaves(page.codes, n_threads)
    return leaves


@dataclass(frozen=True, slots=True)
class _Learnt:
    n_outputs: int
    weight: Floats | None
    whole: bool
    source: PageSource


def check_options(options: BoostOptions) -> None:
    """Refuse what needs the rows in memory."""
    if options.tree_method == "exact":
        raise ParameterError(
            "tree_method='exact' sorts all rows in memory and does not train from pages. Use "
            "tree_method='hist' or 'approx', or give the rows as a table in memory."
        )


def _slice(page: PageLike) -> slice:
    return slice(page.first_row, page.first_row + page.n_rows)
