"""What leaves of a stagewise tree predict: one step from the scores so far, or the exact minimum of the loss.

Equations S8 to S12 of docs/methods/gradient_boosting.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats
from weald.boosting.stage.line_search import CLOSE, minimise
from weald.boosting.stage.losses import NativeStageLoss, StageLoss
from weald.boosting.stage.rows import RowWeight, StageRows


@dataclass
class Leaves:
    """The leaves of a grown tree: which rows they have, and sums over these."""

    rows: StageRows
    tree: engine.NewtonTree
    weight: RowWeight
    n_leaves: int
    #: where pruning has joined leaves: for each that was grown, the leaf it is part of now
    joined: NDArray[np.intp] | None = None
    n_threads: int = 1

    def sums(self, g: Floats, h: Floats) -> Floats:
        """Σ w·g and Σ w·h of each leaf: (n_leaves, 2)."""
        return self.merged(self.rows.sums(self.tree, g, h, self.weight))

    def merged(self, found: Floats) -> Floats:
        """Sums of the leaves that were grown as sums of the leaves there are."""
        if self.joined is None:
            return found
        out = np.zeros((self.n_leaves, 2))
        np.add.at(out, self.joined, found)
        return out

    @cached_property
    def of_row(self) -> NDArray[np.int32]:
        """The leaf of every row; −1 for rows that the tree was not grown on."""
        found = self.rows.leaf_of_row(self.tree)
        if self.joined is not None:
            found = self.joined[found].astype(np.int32)
        if self.weight.values is not None:
            found[self.weight.values == 0] = -1
        return found

    def shifted(self, scores: Floats, values: Floats) -> Floats:
        """A copy of some scores, (n_rows,), with the value of its leaf added to each."""
        out = scores.copy()
        self.rows.add_scores(self.tree, values if self.joined is None else values[self.joined], out)
        return out


def newton_values(sums: Floats, n_outputs: int) -> Floats:
    """One Newton step for each leaf from Σ w·g and Σ w·h, (n_leaves, 2); of K classes (K − 1) / K of it."""
    slope, curvature = sums.T
    with np.errstate(over="ignore"):  # what overflows is no step
        step = np.divide(-slope, curvature, out=np.zeros(len(sums)), where=curvature > 0)
    if n_outputs > 1:
        step *= (n_outputs - 1) / n_outputs
    return np.where(np.isfinite(step), step, 0.0)


def leaf_values(
    loss: StageLoss, leaves: Leaves, scores: Floats, output: int, h: Floats, *, exact: bool
) -> Floats:
    """The values of a new tree's leaves, before shrinkage; where one Newton step is all, `newton_values`.

    Parameters
    ----------
    loss : StageLoss
        The loss, bound to the training rows.
    leaves : Leaves
        The leaves.
    scores : ndarray of shape (n_outputs, n_rows)
        Raw scores before the tree.
    output : int
        Which of them the tree adds to.
    h : ndarray of shape (n_rows,)
        The curvatures at these scores.
    exact : bool
        Whether to minimise the loss, or to take one step.

    Returns
    -------
    ndarray of shape (n_leaves,)
        One value per leaf.
    """
    if loss.rule in ("quantile", "huber"):
        assert isinstance(loss, NativeStageLoss)
        return _ordered(loss, leaves, scores[output], exact=exact)
    if isinstance(loss, NativeStageLoss) and loss.native == "exponential":
        for_one, for_other = leaves.sums(h * loss.target, h * (1.0 - loss.target)).T
        both = (for_one > 0) & (for_other > 0)
        odds = np.divide(for_one, for_other, out=np.ones(len(both)), where=both)
        half = (engine.map_values("log", odds) / 2).clip(-loss.most, loss.most)
        # Both weights may have rounded to 0: such a leaf adds nothing.
        one_way = np.where(for_one > 0, loss.most, np.where(for_other > 0, -loss.most, 0.0))
        return np.where(both, half, one_way)
    return _searched(loss, leaves, scores, output)


def _ordered(loss: NativeStageLoss, leaves: Leaves, scores: Floats, *, exact: bool) -> Floats:
    """Medians, quantiles and Huber's rule, which need the residuals in order."""
    if loss.rule == "huber":
        return engine.stage_huber(
            loss.target,
            scores,
            leaves.weight.units,
            leaves.of_row,
            n_leaves=leaves.n_leaves,
            delta=loss.delta,
            exact=exact,
            n_threads=leaves.n_threads,
        )
    return engine.stage_quantiles(
        loss.target,
        scores,
        leaves.weight.units,
        leaves.of_row,
        n_leaves=leaves.n_leaves,
        alpha=loss.alpha if loss.native == "quantile" else 0.5,
        middle=exact,
        n_threads=leaves.n_threads,
    )


def _searched(loss: StageLoss, leaves: Leaves, scores: Floats, output: int) -> Floats:
    """The minimum of the loss over each leaf, the other outputs held where they are."""
    g, h = np.empty_like(scores), np.ones_like(scores)

    def slopes(values: Floats) -> tuple[Floats, Floats | None]:
        moved = scores.copy()
        moved[output] = leaves.shifted(scores[output], values)
        loss.gradients(moved, g, h, n_threads=leaves.n_threads)
        found = leaves.sums(g[output], h[output])
        slope = np.ascontiguousarray(found[:, 0])
        return slope, None if loss.rule == "search" else np.ascontiguousarray(found[:, 1])

    return minimise(slopes, leaves.n_leaves, most=loss.most, least=least_step(loss, scores[output]))


def least_step(loss: StageLoss, scores: Floats) -> float:
    """A difference of raw scores that is nothing: log odds have a unit, of others the scores lose it."""
    if np.isfinite(loss.most):
        return CLOSE
    return float(np.finfo(np.float64).eps * np.abs(scores).max(initial=0.0))
