"""What chance decides in a round: seeds of trees, rows and columns of a tree, trees that DART drops.

Draws are hashes of (seed, purpose, place), as in the core's random.h: nothing depends on who asks first.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from weald import engine

_GOLDEN_ONE = 0x9E3779B97F4A7C15
_GOLDEN = np.uint64(_GOLDEN_ONE)
_64_BITS = 0xFFFFFFFFFFFFFFFF


class Purpose(IntEnum):
    """What a draw is for; numbers as in core/base/random.h, or above all of those."""

    TREE_COLUMNS = 8
    FOREST_TREE = 10
    TREE_SEED = 1000
    DROP = 1001
    SKIP_DROP = 1002
    ONE_DROP = 1003
    GRADIENT_ROWS = 1004
    STAGE_ROWS = 1005
    BAG_ROWS = 1100
    BAG_COLUMNS = 1101
    BAG_SEED = 1102
    ADABOOST_ROWS = 1200


def draw(seed: int, purpose: Purpose, a: int, b: NDArray[np.uint64] | int = 0) -> NDArray[np.uint64]:
    """64 random bits for each of the places `b`."""
    with np.errstate(over="ignore"):
        place = np.atleast_1d(np.asarray(b, np.uint64))
        word = _scramble(np.uint64(seed & _64_BITS) + _GOLDEN * np.uint64(int(purpose)))
        word = _scramble(word + _GOLDEN + np.uint64(a))
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


def tree_columns(seed: int, n_columns: int, share: float, weights: NDArray[np.float64] | None) -> list[int]:
    """The columns of one tree, ascending: drawn without putting back, in proportion to the weights."""
    chance = np.ones(n_columns) if weights is None else weights
    possible = np.flatnonzero(chance > 0)
    kept = min(len(possible), n_drawn(share, n_columns))
    u = uniform(draw(seed, Purpose.TREE_COLUMNS, 0, np.arange(n_columns, dtype=np.uint64)))[possible]
    keys = -engine.log2(u) / chance[possible]
    return np.sort(possible[np.argsort(keys, kind="stable")[:kept]]).tolist()  # type: ignore[no-any-return]


def n_drawn(share: float, n: int) -> int:
    """How many of n columns a share means: rounded down, at least one."""
    return max(1, int(share * n))


def row_factors(
    gradient: NDArray[np.float64], hessian: NDArray[np.float64], share: float, reg_lambda: float, seed: int
) -> NDArray[np.float64]:
    """Rows drawn in proportion to √(g² + λh²): 0 for those left out, 1 / p for the others (equation 8).

    p = min(1, √(g² + λh²) / μ), with the μ for which `share` of the rows is expected. With these factors the
    sums of gradients and hessians keep their expectation. Gradients and hessians: (n_outputs, n_rows).
    """
    largest = max(float(np.abs(gradient).max()), float(np.abs(hessian).max())) or 1.0
    g, h = gradient / largest, hessian / largest  # squares stay within float64
    size = np.sqrt((g * g + reg_lambda * h * h).sum(axis=0))
    n = len(size)
    chance = np.minimum(1.0, size / _scale_of_chance(np.sort(size), share * n))
    drawn = uniform(draw(seed, Purpose.GRADIENT_ROWS, 0, np.arange(n, dtype=np.uint64))) <= chance
    return np.where(drawn, 1.0 / np.where(drawn, chance, 1.0), 0.0)


def _scale_of_chance(sizes: NDArray[np.float64], wanted: float) -> float:
    """The μ for which Σ min(1, size / μ) is `wanted`; sizes ascend."""
    n = len(sizes)
    certain = np.arange(min(n, int(np.ceil(wanted))))  # so many of the largest have p = 1
    rest = n - certain - 1
    scale = np.cumsum(sizes)[rest] / (wanted - certain)
    fits = np.flatnonzero(sizes[rest] <= scale)
    found = float(scale[fits[0]]) if len(fits) else 0.0
    return found if found > 0 else float(np.finfo(np.float64).tiny)  # fewer rows with gradients than wanted


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
