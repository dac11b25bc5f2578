"""One Newton tree of given gradients, through the rows of boosting."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from weald import engine
from weald.data.codes import Codes


def grow_newton_tree(
    codes: Codes,
    pairs: ArrayLike,
    lambda_: float,
    options: engine.NativeOptions,
    *,
    min_weight: float = 0.0,
    narrow: bool = False,
    seed: int | None = None,
    round_: int = 0,
    n_threads: int = 1,
) -> engine.TreeArrays:
    """The tree of (n, 2) gradients and hessians; `lanes`, one row per leaf, has their sums.

    Without `must_gain`, splits of no gain are made where gradients differ. `narrow`: 16-bit statistics.
    """
    g, h = np.asarray(pairs, np.float64).T
    settings = engine.NewtonOptions()
    settings.reg_lambda = lambda_
    settings.min_weight = min_weight
    settings.zero_gain = not options.must_gain
    settings.narrow = narrow
    settings.narrow_rows = 0
    settings.round = round_
    if seed is not None:
        options.seed = seed
    settings.grow = options
    rows = engine.NewtonRows(codes.native)
    tree = rows.grow(g.copy()[None], h.copy()[None], None, settings, whole=False, n_threads=n_threads)
    assert tree.narrow == narrow
    leaf = rows.leaf_of_row(tree)
    sums = [np.bincount(leaf, weights=values, minlength=tree.n_leaves) for values in (g, h)]
    return {**engine.tree_arrays(tree), "lanes": np.stack(sums, axis=1)}
