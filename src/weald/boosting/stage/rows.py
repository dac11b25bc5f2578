"""Stagewise boosting in memory: a squared-error tree on pseudo-residuals, and sums over its leaves."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats
from weald.boosting.newton.options import caution
from weald.boosting.stage.losses import FEW_ROWS
from weald.boosting.stage.options import StageOptions
from weald.data.codes import Codes
from weald.data.fixed_point import MOST_ROWS, weight_units
from weald.data.target import total_weight

#: below it packed sums are words of 30 bits, 12 or more per row: small trees are grown faster on these
_NARROW_ROWS = 1 << 18
#: below it sums are wide, bins or not: only there splits of no gain are made, which few rows may need (XOR)
_PACKED_ROWS = 1 << 12
#: of a weight: more than packed sums may lose
_ROUNDING = 2.0**-10


class StageRows:
    """The training rows of one fit. With unit hessians, the gain of Newton trees is the fall of Σ w·r²."""

    def __init__(self, codes: Codes, options: StageOptions) -> None:
        self.codes = codes
        self._options = options
        self._rows = engine.NewtonRows(codes.native)
        self._ones = np.ones((1, codes.n_rows))

    def grow(
        self, g: Floats, weight: RowWeight, *, seed: int, round_: int, curvature: Floats | None = None
    ) -> engine.NewtonTree:
        """A tree on minus the pseudo-residuals g, (n_rows,), of the rows that have weight.

        With curvatures it brings Σ w·g and Σ w·curvature of its leaves: `leaf_sums()`.
        """
        native = _native_options(self._options, weight)
        native.round = round_
        native.grow.seed = seed
        return self._rows.grow(
            g[np.newaxis, :],
            self._ones,
            weight.values,
            native,
            whole=weight.whole,
            n_threads=self._options.n_threads,
            curvature=curvature,
            unit_h=True,
        )

    def sums(self, tree: engine.NewtonTree, g: Floats, h: Floats, weight: RowWeight) -> Floats:
        """Σ w·g and Σ w·h of each leaf, (leaves, 2), over the rows that the tree was grown on."""
        return self._rows.leaf_sums(
            tree, g, h, weight.values, whole=weight.whole, n_threads=self._options.n_threads
        )

    def leaf_of_row(self, tree: engine.NewtonTree) -> NDArray[np.int32]:
        """The leaf of every row, whether the tree was grown on it or not."""
        return self._rows.leaf_of_row(tree)

    def add_scores(self, tree: engine.NewtonTree, value: Floats, scores: Floats) -> None:
        """Add to each row's score, (n_rows,), the value of its leaf, in place."""
        n_threads = 1 if len(scores) < FEW_ROWS else self._options.n_threads
        self._rows.add_scores(tree, value, scores, n_threads=n_threads)


class RowWeight:
    """The weights of the rows that a tree is grown on; 0: it is not grown on the row.

    Parameters
    ----------
    values : ndarray of shape (n_rows,) or None
        Weights; None: all 1.
    n_rows : int
        How many rows there are.
    """

    def __init__(self, values: Floats | None, n_rows: int) -> None:
        self.values = values
        self.n_rows = n_rows
        self.n_present = n_rows if values is None else int(np.count_nonzero(values))
        #: whole weights, which count as repeated rows; weights of 0 and 1
        self.whole = self.unit = False
        if values is None:
            self.unit = True
        elif np.all(values == np.floor(values)):
            with np.errstate(over="ignore"):
                total = float(values.sum())
            self.whole, self.unit = total < MOST_ROWS, total == self.n_present

    @cached_property
    def total(self) -> float:
        """The sum of the weights."""
        if self.unit:
            return float(self.n_present)
        assert self.values is not None
        return total_weight(self.values)

    @cached_property
    def units(self) -> NDArray[np.int64] | None:
        """The weights as integers; None: all 1."""
        return None if self.values is None else weight_units(self.values).units

    def some(self, mask: NDArray[np.bool_]) -> Floats:
        """The weights of some of the rows, 0 for the others."""
        return mask.astype(np.float64) if self.values is None else self.values * mask


def _native_options(options: StageOptions, weight: RowWeight) -> engine.NewtonOptions:
    native = engine.NewtonOptions()
    native.reg_lambda = 0.0
    native.min_weight = options.min_weight_fraction * weight.total if options.min_weight_fraction else 0.0
    native.gamma = options.min_decrease * weight.total if options.min_decrease else 0.0
    native.prune_after = False
    native.narrow = options.binned and options.max_columns == 0 and weight.n_present >= _PACKED_ROWS
    native.zero_gain = options.monotone is None
    native.narrow_rows = _NARROW_ROWS
    _hold_categories(native, options, weight)
    grow = native.grow
    grow.max_depth = options.max_depth or np.iinfo(np.int64).max
    grow.max_leaves = options.max_leaves
    grow.min_rows_split = max(options.min_rows_split, 2 * min(options.min_rows_leaf, 2**61))
    grow.max_columns = options.max_columns
    grow.monotone = list(options.monotone or ())
    if options.min_rows_leaf > 1 and weight.n_present >= 2 * options.min_rows_leaf:
        if weight.unit:  # the sum of hessians is the number of rows
            native.min_weight = max(native.min_weight, float(options.min_rows_leaf))
        else:  # packed histograms do not count rows
            grow.min_rows_leaf = options.min_rows_leaf
            native.narrow = False
    return native


def _hold_categories(native: engine.NewtonOptions, options: StageOptions, weight: RowWeight) -> None:
    """The caution with categories, which counts rows, in the weights that the core adds up."""
    n_rows = int(weight.total) if weight.whole else weight.n_present
    careful = caution(n_rows, options.cat_smooth, options.cat_l2)
    native.believes_categories = options.cat_smooth == "auto"
    of_a_row = weight.total / n_rows
    native.category_smooth = careful.smooth * of_a_row
    native.category_lambda = careful.penalty * of_a_row
    # A category of so many rows of one weight is not rare, however the sums of their weights are rounded.
    native.rare_weight = native.category_smooth * (1 - _ROUNDING)
