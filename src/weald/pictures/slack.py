"""Which rows a margin rests on; where rows that miss it would reach it, along the steepest way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats

_STEPS = 40
#: the longest step, and the longest way, over the width of the picture
_LONGEST_STEP, _LONGEST_WAY = 0.05, 0.6
_NEAR = 1e-2
_DIFFERENCE = 1e-4


def slack_lines(
    value: Callable[[Floats], Floats], starts: Floats, sides: Floats, span: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """The ends of the ways from `starts` to the margin side · value = 1, and which ways come to an end.

    Newton's steps along the gradient, in units of the picture; of a linear machine the first one arrives.

    Parameters
    ----------
    value : callable
        The decision values of points, (n, 2) → (n,).
    starts : ndarray of shape (n, 2)
        Where the rows are.
    sides : ndarray of shape (n,)
        +1 or -1, their class.
    span : ndarray of shape (2,)
        The width and height of the picture.
    """
    at = starts / span
    straight = True
    for step in range(_STEPS):
        missing = 1 - sides * value(at * span)
        if (np.abs(missing) < _NEAR).all():
            break
        slope = _slope(value, at, span)
        squared = np.maximum((slope**2).sum(axis=1), 1e-300)
        move = (sides * missing / squared)[:, None] * slope
        length = np.linalg.norm(move, axis=1)
        straight = step == 0 and _arrives(value, at + move, sides, span)
        if not straight:
            move *= np.minimum(1.0, _LONGEST_STEP / np.maximum(length, 1e-300))[:, None]
        at = at + move
        if straight:
            break
    near = np.abs(1 - sides * value(at * span)) < _NEAR
    way = np.linalg.norm(at - starts / span, axis=1)
    return at * span, near & (straight | (way < _LONGEST_WAY))


def _slope(value: Callable[[Floats], Floats], at: Floats, span: Floats) -> Floats:
    """The gradient at each point, by central differences."""
    slopes = []
    for axis in range(2):
        shift = np.zeros(2)
        shift[axis] = _DIFFERENCE
        slopes.append((value((at + shift) * span) - value((at - shift) * span)) / (2 * _DIFFERENCE))
    return np.stack(slopes, axis=1)


def _arrives(value: Callable[[Floats], Floats], at: Floats, sides: Floats, span: Floats) -> bool:
    """Whether whole steps reach the margin everywhere, as those of a linear machine do."""
    return bool((np.abs(1 - sides * value(at * span)) < 1e-6).all())


def support_rows(machine: object, n_rows: int, margin: Floats | None) -> NDArray[Any] | None:
    """The support rows among those shown: by number if they are the training rows, else by their margin.

    A machine on landmarks counts these as its support, which says nothing about the margin.
    """
    rows = getattr(machine, "support_", None)
    fitted_on = getattr(machine, "shape_fit_", (None,))[0]
    exact = getattr(machine, "solver_", "exact") == "exact"
    if rows is not None and exact and fitted_on == n_rows:
        return np.asarray(rows)
    return None if margin is None else np.flatnonzero(margin <= 1 + 1e-3)
