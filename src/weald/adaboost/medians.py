"""Weighted medians over members: what an ensemble of AdaBoost.R2 predicts, equation A9."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray


def weighted_median(said: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The smallest answer with at least half of the members' weight up to it, in each row.

    >>> weighted_median(np.array([[3.0, 1.0, 2.0]]), np.array([1.0, 1.0, 3.0]))
    array([2.])
    """
    return next(staged_medians(said, weights, [said.shape[1]]))


def staged_medians(
    said: NDArray[np.float64], weights: NDArray[np.float64], stages: Sequence[int]
) -> Iterator[NDArray[np.float64]]:
    """The medians over the first so many members, for each of the stages: answers are sorted once.

    Parameters
    ----------
    said : ndarray of shape (n_rows, n_members)
        What each member says.
    weights : ndarray of shape (n_members,)
        What members count; at least 0.
    stages : sequence of int
        Numbers of members.
    """
    order = np.argsort(said, axis=1, kind="stable")
    ordered = np.take_along_axis(said, order, axis=1)
    for stage in stages:
        taken = order < stage
        so_far = np.cumsum(np.where(taken, weights[order], 0.0), axis=1)
        reached = taken & (so_far >= 0.5 * so_far[:, -1:])
        yield ordered[np.arange(len(said)), reached.argmax(axis=1)]
