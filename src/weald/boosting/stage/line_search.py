"""Where a convex function of one number is least, for many such functions at once: the root of its slope."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats

#: places (n,) → slopes there, and curvatures where the functions have such
Slopes: TypeAlias = Callable[[Floats], tuple[Floats, Floats | None]]

#: of a place: the root is known as well as that
CLOSE = 1e-13
_MOST_STEPS = 200
#: no place is further out, so that a sum of two does not overflow
_FURTHEST = 2.0**1022
#: up to here steps grow fourfold: exponentials overflow early, and longer steps would leap beyond that
_CAREFUL = 2.0**60
#: ends of a bracket further apart than this are parted by their geometric mean
_FAR_APART = 8.0


def minimise(slopes: Slopes, n: int, *, most: float = np.inf, least: float = 0.0) -> Floats:
    """The minima of n convex functions, no further from 0 than `most`.

    A function that falls for ever has its minimum at ±most, at the end of float64 without a limit. A flat
    bottom is met somewhere. Nothing depends on the unit of the places but through `most` and `least`.

    Parameters
    ----------
    slopes : callable
        The slopes of all functions, each at a place of its own; curvatures only speed the search up.
    n : int
        How many functions.
    most : float
        The largest absolute value.
    least : float
        A difference of places that does not count.

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
    step = np.where((step > 0) & np.isfinite(step), step, 1.0)
    near, far, done = _bracket(slopes, side, step, min(most, _FURTHEST), least)
    low, high = np.minimum(near, far), np.maximum(near, far)
    place = np.where(done, far, _between(low, high))
    for turn in range(_MOST_STEPS):
        if done.all():
            break
        slope, curvature = slopes(place)
        low = np.where(~done & (slope <= 0), place, low)
        high = np.where(~done & (slope >= 0), place, high)
        tolerance = np.maximum(CLOSE * np.abs(place), least)
        done |= (slope == 0) | (high - low <= tolerance)
        following = _between(low, high)
        if curvature is not None:
            move = _ratio(slope, curvature)
            newton = place - move
            # Every third step halves, so that curvatures of no use cost little.
            inside = (newton > low) & (newton < high) & (turn % 3 < 2)
            following = np.where(inside, newton, following)
            done |= (np.abs(move) <= tolerance) & inside
        place = np.where(done, place, following)
    return np.where(side == 0, 0.0, place)


def _bracket(
    slopes: Slopes, side: Floats, step: Floats, most: float, least: float
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """The last place before the root and the first past it; whether the latter is the answer already."""
    near, far = np.zeros_like(side), side * np.minimum(step, most)
    slope, _ = slopes(far)
    done = (side == 0) | (slope == 0)
    passed = np.sign(slope) * side >= 0
    near, far = _closer(slopes, side, near, far, ~done & passed, least)
    return _further(slopes, side, near, far, ~done & ~passed, done, most)


def _closer(
    slopes: Slopes, side: Floats, near: Floats, far: Floats, waiting: NDArray[np.bool_], least: float
) -> tuple[Floats, Floats]:
    """From places past the root back towards 0, by ever longer steps, until it is passed again."""
    factor, at = 4.0, far
    while waiting.any():
        at = np.where(waiting, at / factor, at)
        slope, _ = slopes(at)
        passed = np.sign(slope) * side >= 0
        far = np.where(waiting & passed, at, far)
        near = np.where(waiting & ~passed, at, near)
        waiting = waiting & passed & (np.abs(at) > least)
        factor = min(factor * factor, 2.0**500)
    return near, far


def _further(
    slopes: Slopes,
    side: Floats,
    near: Floats,
    far: Floats,
    waiting: NDArray[np.bool_],
    done: NDArray[np.bool_],
    most: float,
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """From places before the root outwards until it is passed, or the limit is reached."""
    factor = np.full(len(side), 4.0)
    while waiting.any():
        limit = np.abs(far) >= most
        done = done | (waiting & limit)
        waiting = waiting & ~limit
        near = np.where(waiting, far, near)
        with np.errstate(over="ignore"):
            far = np.where(waiting, side * np.minimum(factor * np.abs(far), most), far)
        factor = np.where(np.abs(far) < _CAREFUL, 4.0, np.minimum(factor * factor, 2.0**500))
        if waiting.any():
            slope, _ = slopes(far)
            waiting = waiting & (np.sign(slope) * side < 0)
    return near, far, done


def _between(low: Floats, high: Floats) -> Floats:
    """The middle of brackets on one side of 0: of exponents, where these differ."""
    small, large = np.minimum(np.abs(low), np.abs(high)), np.maximum(np.abs(low), np.abs(high))
    geometric = np.copysign(np.sqrt(small) * np.sqrt(large), low + high)
    wide = (small > 0) & (small < large / _FAR_APART)
    return np.where(wide, geometric, low + (high - low) / 2)


def _ratio(slope: Floats, curvature: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.divide(slope, curvature, out=np.zeros_like(slope), where=curvature > 0)
