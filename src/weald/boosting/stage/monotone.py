"""Monotone trees whose leaf values were chosen after growth.

Growth keeps Newton's values in the order that constraints ask for. The quantiles that take their place for
absolute and quantile error are not bound by that, and are put in order here (docs/methods/boosting.md, 9).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats


def hold_monotone(arrays: Mapping[str, NDArray[Any]], value: Floats, directions: Sequence[int]) -> Floats:
    """Leaf values, (leaves, width), in the order that the constrained splits of a tree ask for.

    From the bottom up: where the values of the two sides of a constrained split overlap, both are cut at the
    middle of the overlap. Cutting never changes an order, so what holds below goes on holding.

    Parameters
    ----------
    arrays : mapping
        `slot`, `column`, `threshold` and `right` of one tree in preorder, as in `Forest`.
    value : ndarray of shape (leaves, width)
        The leaf values; not changed.
    directions : sequence of int
        For each column 1 (values rise), -1 (they fall) or 0.

    Returns
    -------
    ndarray of shape (leaves, width)
        The values in order.
    """
    value = value.copy()
    slot = arrays["slot"]
    n_before = np.concatenate(([0], np.cumsum(slot < 0)))  # leaves before each node
    end = subtree_ends(slot, arrays["right"])
    for node in range(len(slot) - 1, -1, -1):
        inner = int(slot[node])
        if inner < 0:
            continue
        right = int(arrays["right"][inner])
        direction = directions[arrays["column"][inner]]
        if direction == 0 or np.isinf(arrays["threshold"][inner]):  # infinite: known against missing
            continue
        first, second, last = n_before[node], n_before[right], n_before[end[node]]
        low, high = (slice(first, second), slice(second, last))[::direction]
        top, bottom = value[low].max(axis=0), value[high].min(axis=0)
        middle = np.where(top > bottom, bottom + (top - bottom) / 2, np.inf)
        value[low] = np.minimum(value[low], middle)
        value[high] = np.maximum(value[high], np.where(np.isinf(middle), -np.inf, middle))
    return value


def subtree_ends(slot: NDArray[Any], right: NDArray[Any]) -> NDArray[np.int64]:
    """For each node of a tree in preorder, the node after its subtree; `slot`, `right` as in `Forest`."""
    end = np.arange(1, len(slot) + 1)
    for node in range(len(slot) - 1, -1, -1):
        if slot[node] >= 0:
            end[node] = end[right[slot[node]]]
    return end
