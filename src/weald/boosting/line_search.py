"""Where a convex function of one number is least, for many such functions at once: the root of its slope."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.boosting.records import Floats

#: places (n,) → slopes there, and curvatures where the functions have such
Slopes: TypeAlias = Callable[[Floats], tuple[Floats, Floats | None]]

_CLOSE = 1e-13
_MOST_STEPS = 200


def minimise(slopes: Slopes, n: int, *, most: float = np.inf) -> Floats:
    """The minima of n convex functions, no further from 0 than `most`.

    A function that falls for ever has its minimum at ±most. Without a limit the search ends at ±2^60, where
    no loss of any data still falls. A flat bottom is met somewhere.

    Parameters
    ----------
    slopes : callable
        The slopes of all functions, each at a place of its own; curvatures only speed the search up.
    n : int
        How many functions.
    most : float
        The largest absolute value.

    Returns
    -------
    ndarray of shape (n,)
        Where each is least.

    Examples
    --------
    >>> minimise(lambda x: (x - np.array([3.0, -0.25]), None), 2).round(9)
    array([ 3.  , -0.25])
    """
    slope, curvature = slopes(np.zeros(n))
    side = -np.sign(slope)  # a root lies on that side of 0; a slope of 0 is a root
    step = np.ones(n) if curvature is None else np.abs(_ratio(slope, curvature))
    near, far, ended = _bracket(slopes, side, np.clip(np.where(step > 0, step, 1.0), 1e-12, 1e6), most)
    low, high = np.minimum(near, far), np.maximum(near, far)
    place = np.where(ended, far, low + (high - low) / 2)
    done = ended | (side == 0)
    for turn in range(_MOST_STEPS):
        if done.all():
            break
        slope, curvature = slopes(place)
        low = np.where(~done & (slope <= 0), place, low)
        high = np.where(~done & (slope >= 0), place, high)
        done |= (slope == 0) | (high - low <= _CLOSE * np.maximum(1.0, np.abs(place)))
        following = low + (high - low) / 2
        if curvature is not None:
            move = _ratio(slope, curvature)
            settled = np.abs(move) <= _CLOSE * np.maximum(1.0, np.abs(place))
            newton = place - move
            # Every third step halves, so that curvatures of no use cost little.
            inside = (newton > low) & (newton < high) & (turn % 3 < 2)
            following = np.where(inside, newton, following)
            done |= settled & inside
        place = np.where(done, place, following)
    return np.where(side == 0, 0.0, place)


def _bracket(
    slopes: Slopes, side: Floats, step: Floats, most: float
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """The last place before the root and the first past it; whether the limit came first."""
    near, far = np.zeros_like(side), side * np.minimum(step, most)
    waiting = side != 0
    ended = np.zeros(len(side), np.bool_)
    while waiting.any():
        slope, _ = slopes(far)
        passed = np.sign(slope) * side >= 0
        limit = np.abs(far) >= min(most, 2.0**60)
        ended |= waiting & ~passed & limit
        waiting &= ~passed & ~limit
        near = np.where(waiting, far, near)
        far = np.where(waiting, side * np.minimum(4 * np.abs(far), most), far)
    return near, far, ended


def _ratio(slope: Floats, curvature: Floats) -> Floats:
    return np.divide(slope, curvature, out=np.zeros_like(slope), where=curvature > 0)
