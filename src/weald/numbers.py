"""Whether a user's value is a number that float64 holds."""

from __future__ import annotations

import math
from numbers import Real


def as_float(value: object) -> float:
    """A real number as a float; NaN for anything else, for bools, and for integers beyond float64.

    >>> as_float(3), as_float("3"), as_float(10**400)
    (3.0, nan, nan)
    """
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan
