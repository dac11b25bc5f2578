"""Helpers of the tests of objectives: bound to a target, their derivatives, an example of each."""

from __future__ import annotations

import numpy as np

from weald.boosting.newton.losses import OBJECTIVES, RANKING, make_objective
from weald.boosting.records import BoostTarget

NATIVE = tuple(name for name in OBJECTIVES if name not in RANKING)


def bound(name, values, *, weight=None, n_classes=None, **parameters):
    target = BoostTarget(
        np.asarray(values, np.float64), None if weight is None else np.asarray(weight, float)
    )
    return make_objective(name, target, n_classes=n_classes, parameters=parameters)


def derivatives(objective, scores, n_threads=1):
    g, h = np.full(scores.shape, np.nan), np.full(scores.shape, np.nan)
    objective.gradients(scores, g, h, round_=0, n_threads=n_threads)
    return g, h


def example(name, n=500, seed=0):
    """An objective, its target and raw scores where its loss is smooth."""
    rng = np.random.default_rng(seed)
    kind, _, rest = name.partition(":")
    if kind == "multi":
        y = rng.integers(0, 4, n).astype(float)
        return bound(name, y, n_classes=4), y, rng.normal(size=(4, n))
    parameters = {}
    if rest in ("logistic", "logitraw", "hinge"):
        y = rng.integers(0, 2, n).astype(float)
        parameters = {} if rest == "hinge" else {"scale_pos_weight": 2.5}
    else:
        y = rng.gamma(2.0, 1.5, n) + 0.01
    k = 1
    if rest == "quantileerror":
        parameters, k = {"quantile_alpha": [0.1, 0.5, 0.8]}, 3
    if rest == "pseudohubererror":
        parameters = {"huber_slope": 1.7}
    if rest == "tweedie":
        parameters = {"tweedie_variance_power": 1.3}
    scores = rng.uniform(0.1, 2.0, (k, n)) if rest == "squaredlogerror" else rng.normal(size=(k, n))
    return bound(name, y, **parameters), y, scores
