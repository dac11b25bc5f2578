"""DART: each round leaves out some of the trees so far, and shares their weight with the new ones.

Names and rules are xgboost's (docs/methods/boosting.md, 7). The leaf of every row in every past tree is kept,
so that nothing is predicted twice.
"""

from __future__ import annotations

import numpy as np

from weald.arrays import Floats
from weald.boosting.newton.options import DartOptions
from weald.random import Purpose, draw, uniform


def dropped_trees(options: DartOptions, weights: Floats, seed: int, round_: int) -> list[int]:
    """The trees that this round leaves out."""
    n = len(weights)
    if n == 0 or _chance(seed, Purpose.SKIP_DROP, round_) < options.skip_drop:
        return []
    if options.sample_type == "weighted":
        chance = options.rate_drop * n * weights / weights.sum()
    else:
        chance = np.full(n, options.rate_drop)
    u = uniform(draw(seed, Purpose.DROP, round_, np.arange(n, dtype=np.uint64)))
    dropped = np.flatnonzero(u <= chance)
    if not len(dropped) and options.one_drop:
        share = weights / weights.sum() if options.sample_type == "weighted" else np.full(n, 1.0 / n)
        at = np.searchsorted(np.cumsum(share), _chance(seed, Purpose.ONE_DROP, round_))
        dropped = np.array([min(int(at), n - 1)])
    return [int(t) for t in dropped]


def normalised(options: DartOptions, n_dropped: int, step: float) -> tuple[float, float]:
    """The weight of each new tree, and the factor for those left out; `step`: the share of a new tree."""
    if n_dropped == 0:
        return 1.0, 1.0
    if options.normalize_type == "forest":
        return 1.0 / (1.0 + step), 1.0 / (1.0 + step)
    return 1.0 / (n_dropped + step), n_dropped / (n_dropped + step)


def _chance(seed: int, purpose: Purpose, round_: int) -> float:
    return float(uniform(draw(seed, purpose, round_))[0])
