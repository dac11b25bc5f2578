"""The rules by which missing values are filled: equations I1 to I4 of docs/methods/forests.md."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats


def first_number(values: NDArray[Any]) -> float:
    """I1: the median of the known numbers.

    >>> first_number(np.array([125.0, 210.0]))
    167.5
    """
    return float(np.median(values))


def first_level(counts: NDArray[Any]) -> int:
    """I1: the level that most rows have; of equally frequent ones the first."""
    return int(np.argmax(counts))


def number_fill(weighted_sum: Floats, weight: Floats) -> Floats:
    """I2: the mean of the known numbers, weighted by proximity; NaN where no proximity is above 0.

    >>> float(number_fill(0.1 * 125 + 0.1 * 180 + 0.8 * 210, 0.1 + 0.1 + 0.8))
    198.5
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.divide(weighted_sum, weight)


def level_worth(
    rows: Floats | float, all_rows: Floats | float, proximity: Floats | float, all_proximity: Floats | float
) -> Any:
    """I3: the share of the rows that have a level, times its share of the proximity.

    >>> level_worth(2, 3, 0.9, 1.0) > level_worth(1, 3, 0.1, 1.0)
    True
    """
    return (rows / all_rows) * (proximity / all_proximity)


def most_votes(votes: NDArray[Any]) -> NDArray[np.intp]:
    """I4: of the copies of each row, one per class, that whose own class gets the most votes; else the first.

    >>> most_votes(np.array([[80, 60], [3, 4], [5, 5]])).tolist()
    [0, 1, 0]
    """
    best: NDArray[np.intp] = np.argmax(votes, axis=1)
    return best
