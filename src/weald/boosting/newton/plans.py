"""The options of each tree as the core takes them: what all share, and what chance draws for one."""

from __future__ import annotations

import numpy as np

from weald import engine
from weald.arrays import Floats
from weald.boosting.newton.options import BoostOptions
from weald.boosting.sampling import n_drawn, tree_columns

_ALL_CATEGORIES = 2**31 - 1  # no column has more
MOST_ROWS = 2.0**31  # whole weights up to this total are read as repeated rows


class TreePlans:
    """Gives every tree of a fit its options. The one record changes from tree to tree."""

    def __init__(self, options: BoostOptions, n_rows: int, n_columns: int) -> None:
        self._options, self._n_columns = options, n_columns
        self._native = _native_options(options, n_rows)

    def of_tree(self, seed: int, round_: int) -> engine.NewtonOptions:
        """The options of a tree, until the next is asked for."""
        self._native.round = round_
        self._native.grow.seed = seed
        self._draw_columns(seed)
        return self._native

    def _draw_columns(self, seed: int) -> None:
        options, n = self._options, self._n_columns
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


def are_whole(weight: Floats) -> bool:
    """Whether weights are whole numbers, few enough in all to be read as repeated rows."""
    return bool(np.all(weight == np.floor(weight))) and float(weight.sum()) < MOST_ROWS


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
