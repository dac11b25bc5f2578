"""What chance decides in a round of boosting: rows and columns of a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.random import Purpose, draw, uniform


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
