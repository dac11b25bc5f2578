"""Boosting in memory: one Newton tree per call, and the value of every row's leaf."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats
from weald.boosting.newton.options import BoostOptions
from weald.boosting.newton.plans import TreePlans, are_whole
from weald.data.codes import Codes
from weald.data.fixed_point import to_units

MANY_ROWS = 1 << 16  # from here on gradients are not stored


class BoostedRows:
    """The training rows of one fit: grows trees on gradients and brings their values to the scores."""

    def __init__(self, codes: Codes, weight: Floats | None, options: BoostOptions) -> None:
        self.codes = codes
        self._weight = weight
        self._whole = weight is not None and are_whole(weight)
        self._options = options
        self._rows = engine.NewtonRows(codes.native)
        self._plans = TreePlans(options, codes.n_rows, codes.n_columns)

    def grow(self, g: Floats, h: Floats, *, seed: int, round_: int, weighted: bool) -> engine.NewtonTree:
        """One tree on gradients and hessians of shape (outputs, n_rows).

        `weighted`: they have the row weights in them; rows of weight 0 are absent all the same.
        """
        rows = self._rows
        if self._options.tree_method == "approx":
            coarse = engine.coarsen(
                self.codes.native,
                candidate_weights(h, None if weighted else self._weight),
                self._options.max_bin,
                n_threads=self._options.n_threads,
            )
            rows = engine.NewtonRows(coarse)
        native = self._plans.of_tree(seed, round_)
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
            self._plans.of_tree(seed, round_),
            whole=self._whole,
            n_threads=self._options.n_threads,
        )

    def add_scores(self, tree: engine.NewtonTree, value: Floats, scores: Floats) -> None:
        """Add a tree's leaf values, (leaves, width), to `scores`, (width, n_rows), in place."""
        for k in range(value.shape[1]):
            self._rows.add_scores(
                tree, np.ascontiguousarray(value[:, k]), scores[k], n_threads=self._options.n_threads
            )

    def leaf_of_row(self, tree: engine.NewtonTree, *, drawn_only: bool = False) -> NDArray[np.int32]:
        """The leaf of every row; -1 for rows the tree was not grown on, if `drawn_only`."""
        return self._rows.leaf_of_row(tree, drawn_only=drawn_only)


def candidate_weights(h: Floats, weight: Floats | None) -> NDArray[np.int64]:
    """What rows weigh where candidates are chosen: hessians (outputs, n_rows); below 0 they count nothing."""
    hessian = h.mean(axis=0)
    if weight is not None:
        hessian = hessian * weight
    return to_units(np.maximum(hessian, 0.0)).units
