"""The step of each round where nobody gave one (docs/methods/boosting.md, 12).

Tables of numbers keep xgboost's. Where there are categories, a step is chosen from what is known before the
first tree: categories find more by chance than numbers do, and large steps keep it.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.boosting.newton.plans import are_whole
from weald.boosting.records import BoostTarget

#: xgboost's, and the most that is chosen
USUAL_RATE = 0.3
LEAST_RATE = 0.01
#: the step for so many rounds and at most so many rows, where the classes are equally frequent
_MIDDLE_RATE, _MIDDLE_ROWS, _MIDDLE_ROUNDS = 0.12, 16_000, 100
#: of that, for the rarest classes: rare ones may be clear, too
_RAREST = 0.4
#: whole numbers below this are counted, not sorted
_FEW_VALUES = 1000


def chosen_rate(target: BoostTarget, n_rounds: int) -> float:
    """The step for a table with categories: smaller for more rounds and rare classes, larger for many rows.

    Parameters
    ----------
    target : BoostTarget
        What is learnt. Whole weights count as repeated rows; others only tell which rows are there.
    n_rounds : int
        How many rounds there may be.
    """
    times = _times(target)
    rounds = _MIDDLE_ROUNDS / max(1, n_rounds)
    found = _MIDDLE_RATE * max(_RAREST, _evenness(target, times)) * sqrt(rounds * sqrt(rounds))
    found *= sqrt(sqrt(max(1.0, int(times.sum()) / _MIDDLE_ROWS)))
    return round(min(USUAL_RATE, max(LEAST_RATE, found)), 3)


def _times(target: BoostTarget) -> NDArray[np.int64]:
    """How often each row counts."""
    weight = target.weight
    if weight is None:
        return np.ones(target.n_rows, np.int64)
    return (weight if are_whole(weight) else weight > 0).astype(np.int64)


def _evenness(target: BoostTarget, times: NDArray[np.int64]) -> float:
    """Gini's impurity of the target over that of two equal classes, at most 1; the mean over its columns."""
    columns = target.values.reshape(target.n_rows, -1)
    return float(np.mean([min(1.0, 2 * _impurity(column, times)) for column in columns.T]))


def _impurity(values: Floats, times: NDArray[np.int64]) -> float:
    count = _counts(values, times)
    return float(1 - np.sum((count / count.sum()) ** 2))


def _counts(values: Floats, times: NDArray[np.int64]) -> NDArray[np.generic]:
    """How often each value is there."""
    if values.min() >= 0 and values.max() < _FEW_VALUES and are_whole(values):
        return np.bincount(values.astype(np.intp), weights=times)
    if (times == 1).all():
        return np.unique(values, return_counts=True)[1]  # a sort of the values, without their places
    present, place = np.unique(values, return_inverse=True)
    return np.bincount(place, weights=times, minlength=len(present))
