"""Boosting in memory: one Newton tree per call, and the value of every row's leaf."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats
from weald.boosting.newton.options import BoostOptions
from weald.boosting.sampling import n_drawn, tree_columns
from weald.data.codes import Codes
from weald.data.fixed_point import to_units

MANY_ROWS = 1 << 16  # from here on gradients are not stored
_ALL_CATEGORIES = 2**31 - 1  # no column has more
MOST_ROWS = 2.0**31  # whole weights up to this total are read as repeated rows


class BoostedRows:
    """The training rows of one fit: grows trees on gradients and brings their values to the scores."""

    def __init__(self, codes: Codes, weight: Floats | None, options: BoostOptions) -> None:
        self.codes = codes
        self._weight = weight
        self._whole = weight is not None and _whole(weight)
        self._options = options
        self._rows = engine.NewtonRows(codes.native)
        self._native = _native_options(options, codes.n_rows)

    def grow(self, g: Floats, h: Floats, *, seed: int, round_: int, weighted: bool) -> engine.NewtonTree:
        """One tree on gradients and hessians of shape (outputs, n_rows).

        `weighted`: they have the row weights in them; rows of weight 0 are absent all the same.
        """
        rows = self._rows
        if self._options.tree_method == "approx":
            hessian = h.mean(axis=0) if weighted or self._weight is None else h.mean(axis=0) * self._weight
            coarse = engine.coarsen(
                self.codes.native,
                _sketch_weights(hessian),
                self._options.max_bin,
                n_threads=self._options.n_threads,
            )
            rows = engine.NewtonRows(coarse)
        native = self._prepared(seed, round_)
        weight, whole = self._weight, self._whole
        if weighted and weight is not None:
            weight, whole = (weight > 0).astype(np.float64), True
        return rows.grow(g, h, weight, native, whole=whole, n_threads=self._options.n_threads)

    @property
    def large(self) -> bool:
        """Whether gradients take so much room that `grow_loss` is the better way."""
        return self._options.tree_method == "hist" and self.codes.n_rows >= MANY_ROWS

    def grow_loss(self, loss: engine.RowLoss, scores: Floats, *, seed: int, round_: int) -> engine.NewtonTree:
        """One tree on the gradients of a loss at raw scores of shape (n_rows,), without storing them."""
        return self._rows.grow_loss(
            loss,
            scores,
            self._weight,
            self._prepared(seed, round_),
            whole=self._whole,
            n_threads=self._options.n_threads,
        )

    def _prepared(self, seed: int, round_: int) -> engine.NewtonOptions:
        native = self._native
        native.round = round_
        native.grow.seed = seed
        self._draw_columns(seed)
        return native

    def _draw_columns(self, seed: int) -> None:
        options, n = self._options, self.codes.n_columns
        weights = options.feature_weights
        grow = self._native.grow
        if options.colsample_bytree < 1:
            columns = tree_columns(seed, n, options.colsample_bytree, weights)
            grow.columns = columns
            n = len(columns)
        if options.colsample_bylevel < 1:
            n = n_drawn(options.colsample_bylevel, n)
            grow.level_columns = n
        if options.colsample_bynode < 1:
            grow.node_columns = n_drawn(options.colsample_bynode, n)

    def add_scores(self, tree: engine.NewtonTree, value: Floats, scores: Floats) -> None:
        """Add a tree's leaf values, (leaves, width), to `scores`, (width, n_rows), in place."""
        for k in range(value.shape[1]):
            self._rows.add_scores(
                tree, np.ascontiguousarray(value[:, k]), scores[k], n_threads=self._options.n_threads
            )

    def leaf_of_row(self, tree: engine.NewtonTree, *, drawn_only: bool = False) -> NDArray[np.int32]:
        """The leaf of every row; -1 for rows the tree was not grown on, if `drawn_only`."""
        return self._rows.leaf_of_row(tree, drawn_only=drawn_only)


def _whole(weight: Floats) -> bool:
    return bool(np.all(weight == np.floor(weight))) and float(weight.sum()) < MOST_ROWS


def _sketch_weights(hessian: Floats) -> NDArray[np.int64]:
    """Hessians as integer weights of candidates; a hessian below 0 counts nothing."""
    return to_units(np.maximum(hessian, 0.0)).units


def _native_options(options: BoostOptions, n_rows: int) -> engine.NewtonOptions:
    native = engine.NewtonOptions()
    native.reg_lambda = options.reg_lambda
    native.reg_alpha = options.reg_alpha
    native.max_step = options.max_delta_step
    native.min_weight = options.min_child_weight
    caution = options.caution(n_rows)
    native.category_smooth = caution.smooth
    native.category_lambda = caution.penalty
    native.believes_categories = options.cat_smooth == "auto"
    native.gamma = options.gamma
    native.prune_after = options.prune == "post"
    native.row_share = options.subsample
    native.narrow = options.tree_method == "hist"
    grow = native.grow
    if options.max_depth > 0:
        grow.max_depth = options.max_depth
    grow.max_leaves = options.max_leaves
    grow.level_by_level = options.grow_policy == "depthwise"
    grow.monotone = list(options.monotone or ())
    grow.interactions = [list(each) for each in options.interactions or ()]
    grow.column_weights = [] if options.feature_weights is None else options.feature_weights.tolist()
    grow.one_hot_categories = min(options.max_cat_to_onehot, _ALL_CATEGORIES)
    grow.max_categories = min(options.max_cat_threshold, _ALL_CATEGORIES)
    grow.rare_rows = caution.smooth
    grow.group_rows = caution.group_rows
    return native
