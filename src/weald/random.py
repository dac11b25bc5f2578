"""Random draws: hashes of (seed, purpose, place), as in the core; nothing depends on who asks first."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

_GOLDEN_ONE = 0x9E3779B97F4A7C15
_GOLDEN = np.uint64(_GOLDEN_ONE)
_64_BITS = 0xFFFFFFFFFFFFFFFF


class Purpose(IntEnum):
    """What a draw is for; numbers as in core/base/random.h, or above all of those."""

    NODE_PATH = 2
    NODE_COLUMNS = 3
    ROUNDING = 4
    RANDOM_SPLIT = 5
    RANDOM_CATEGORY = 6
    LEVEL_COLUMNS = 7
    TREE_COLUMNS = 8
    ROW_SAMPLE = 9
    FOREST_TREE = 10
    COMBINATION = 12
    COMBINED_COLUMN = 13
    COEFFICIENT = 14
    INNER_RESAMPLE = 61
    TREE_SEED = 1000
    DROP = 1001
    SKIP_DROP = 1002
    ONE_DROP = 1003
    GRADIENT_ROWS = 1004
    STAGE_ROWS = 1005
    BAG_ROWS = 1100
    BAG_COLUMNS = 1101
    BAG_SEED = 1102
    BAG_CLASSES = 1103
    ADABOOST_ROWS = 1200
    RESAMPLED_ROW = 1300
    RESAMPLED_NEIGHBOUR = 1301
    RESAMPLED_STEP = 1302
    RESAMPLED_LEVEL = 1304
    RESAMPLED_NOISE = 1305
    KEPT_ROW = 1306
    RESAMPLED_SAMPLE = 1600
    CALIBRATION_ROWS = 1700
    SET_SCORE = 1701
    EXPLAINED_ORDER = 1800


def draw(
    seed: int, purpose: Purpose, a: NDArray[np.uint64] | int, b: NDArray[np.uint64] | int = 0
) -> NDArray[np.uint64]:
    """64 random bits for each of the places `b`, or for each of `a`."""
    with np.errstate(over="ignore"):
        place = np.atleast_1d(np.asarray(b, np.uint64))
        word = _scramble(np.uint64(seed & _64_BITS) + _GOLDEN * np.uint64(int(purpose)))
        word = _scramble(word + _GOLDEN + np.asarray(a, np.uint64))
        return _scramble(word + _GOLDEN + place)


def uniform(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Numbers in (0, 1]."""
    return ((words >> np.uint64(11)) + np.uint64(1)).astype(np.float64) * 2.0**-53


def tree_seed(seed: int, round_: int, place: int) -> int:
    """The seed of one tree: `place` counts the trees of a round."""
    # As `draw`, in plain integers: arrays of one element would take longer than a small tree.
    word = _scramble_one(seed + _GOLDEN_ONE * Purpose.TREE_SEED)
    word = _scramble_one(word + _GOLDEN_ONE + round_)
    return _scramble_one(word + _GOLDEN_ONE + place)


def _scramble(x: NDArray[np.uint64] | np.uint64) -> NDArray[np.uint64]:
    x = np.asarray(x, np.uint64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _scramble_one(x: int) -> int:
    x &= _64_BITS
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & _64_BITS
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & _64_BITS
    return x ^ (x >> 31)
