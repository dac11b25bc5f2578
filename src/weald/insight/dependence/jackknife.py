"""How sure a forest is of a curve: the infinitesimal jackknife over the curves of its trees."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from weald.arrays import Floats
from weald.errors import ParameterError, outside
from weald.estimators.balanced.forest import BalancedRandomForestClassifier
from weald.estimators.forest.base import BaseForest
from weald.insight.dependence.responses import Asked
from weald.inspection.dependence.axes import Axis
from weald.inspection.dependence.curves import TreeSum
from weald.model.join import tree_apart
from weald.uncertainty.jackknife import infinitesimal


def model_errors(
    model: object,
    asked: Asked,
    curves: Sequence[Sequence[tuple[int, Axis]]],
    weight: Floats | None,
    *,
    centred: bool,
) -> list[Floats]:
    """Standard errors over other training tables of each curve's mean: (targets, points).

    Equations U1 and U2 of `docs/methods/forests.md`, on the mean curves of the trees.
    """
    summed = asked.summed
    grown = isinstance(model, BaseForest) and not isinstance(model, BalancedRandomForestClassifier)
    if not isinstance(model, BaseForest) or not grown or not isinstance(summed, TreeSum):
        raise ParameterError(
            "`jackknife` is for random forests and extra trees, whose trees are grown on bags; got a "
            f"{asked.name}."
        )
    drawn = model._drawn("partial_dependence(jackknife=True)", None)
    if drawn.n_trees < 2:
        raise ParameterError("`jackknife` needs two trees or more. Refit with a larger n_estimators.")
    by_tree = [
        replace(summed, forest=tree_apart(summed.forest, t), trees=(0, 1)) for t in range(drawn.n_trees)
    ]
    out, n_below = [], 0
    for axes in curves:
        values = np.stack([tree.means(axes, weight, pair=len(axes) == 2) for tree in by_tree])
        if centred:
            values -= values[:, :1].copy()
        flat = values.reshape(drawn.n_trees, -1)
        flat -= flat[0].copy()  # so that trees that agree leave 0, not what rounding leaves of a mean
        flat -= flat.mean(axis=0)
        variance = infinitesimal(flat, drawn).reshape(values.shape[1:])
        n_below += int((variance < 0).any(axis=1).sum())
        # A forest predicts the mean of its trees, which is what this is the variance of.
        out.append(np.sqrt(np.maximum([variance[:, pick.result] for pick in asked.picks], 0.0)))
    if n_below:
        warnings.warn(
            f"The variance at {n_below:,} points came out below 0, where the correction for a finite number "
            "of trees outweighs it; it is given as 0. Use more trees (n_estimators).",
            UserWarning,
            stacklevel=outside(),
        )
    return out
