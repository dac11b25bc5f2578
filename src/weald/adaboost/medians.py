"""Weighted medians over members: what an ensemble of AdaBoost.R2 predicts, equation A9."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: answers that are looked at together, so that they stay in the cache
_BLOCK = 2**15


def weighted_median(predicted: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The smallest answer with at least half of the members' weight up to it, in each row.

    Parameters
    ----------
    predicted : ndarray of shape (n_rows, n_members)
        What each member predicts.
    weights : ndarray of shape (n_members,)
        What members count; at least 0.

    Examples
    --------
    >>> weighted_median(np.array([[3.0, 1.0, 2.0]]), np.array([1.0, 1.0, 3.0]))
    array([2.])
    """
    order = np.argsort(predicted, axis=1, kind="stable")
    return _halfway(np.take_along_axis(predicted, order, axis=1), weights[order])


def _halfway(ordered: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The medians of answers in ascending order, with their weights."""
    so_far = np.cumsum(weights, axis=1)
    reached = so_far >= 0.5 * so_far[:, -1:]
    found: NDArray[np.float64] = ordered[np.arange(len(ordered)), reached.argmax(axis=1)]
    return found


class RunningMedians:
    """The weighted medians as members are added: answers stay in order, and a new one is put in its place.

    Parameters
    ----------
    n_rows : int
        How many rows.
    """

    def __init__(self, n_rows: int) -> None:
        self._n_members = 0
        self._predicted, self._weights = np.empty((n_rows, 0)), np.empty((n_rows, 0))

    def add(self, predicted: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
        """The medians with one more member, the same as `weighted_median` finds for all of them."""
        n_rows, m = len(predicted), self._n_members
        if m == self._predicted.shape[1]:
            self._predicted, self._weights = (_wider(each) for each in (self._predicted, self._weights))
        found = np.empty(n_rows)
        size = max(1, _BLOCK // (m + 1))
        for first in range(0, n_rows, size):
            rows = slice(first, first + size)
            ordered, weights, mine = (
                self._predicted[rows, : m + 1],
                self._weights[rows, : m + 1],
                predicted[rows],
            )
            before = ordered[:, :m] <= mine[:, None]
            _put(ordered, before, mine)
            _put(weights, before, weight)
            found[rows] = _halfway(ordered, weights)
        self._n_members += 1
        return found


def _wider(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """A copy with room for twice as many members."""
    n_rows, n_members = values.shape
    wider = np.empty((n_rows, max(8, 2 * n_members)))
    wider[:, :n_members] = values
    return wider


def _put(values: NDArray[np.float64], before: NDArray[np.bool_], new: NDArray[np.float64] | float) -> None:
    """Put a value after those that are `before` it, in every row; the last column is free for that."""
    old = values[:, :-1].copy()
    values[:, 1:] = old
    np.copyto(values[:, :-1], old, where=before)
    values[np.arange(len(values)), before.sum(axis=1)] = new
