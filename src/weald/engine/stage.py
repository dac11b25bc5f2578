"""Stagewise boosting: pseudo-residuals, losses, and leaf values that need residuals in order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.engine.codes import NO_WEIGHTS

_ALL_ONE = np.zeros(0)
_NO_ROWS = np.zeros((0, 0))


def stage_pass(
    loss: str,
    parameters: NDArray[np.float64],
    scores: NDArray[np.float64],
    target: NDArray[np.float64],
    *,
    fill: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
    weight: NDArray[np.float64] | None = None,
    wants_loss: bool = True,
    n_threads: int,
) -> tuple[float, float]:
    """Σ weight · loss and Σ weight over all rows; fills g and h, (n_outputs, n_rows): core/boosting/stage.

    g are minus the pseudo-residuals; h, curvatures, are left as they are where each is 1.
    """
    g, h = (_NO_ROWS, _NO_ROWS) if fill is None else fill
    weights = _ALL_ONE if weight is None else weight
    total, weight_of_all = _core.stage_pass(
        loss, parameters, scores, target, g, h, weights, wants_loss, n_threads
    )
    return float(total), float(weight_of_all)


def stage_quantiles(
    target: NDArray[np.float64],
    scores: NDArray[np.float64],
    weight: NDArray[np.int64] | None,
    leaf: NDArray[np.int32],
    *,
    n_leaves: int,
    alpha: float,
    middle: bool,
    n_threads: int,
) -> NDArray[np.float64]:
    """The α-quantile of target − scores in each leaf: the lower one, or the middle of the two nearest."""
    units = NO_WEIGHTS if weight is None else weight
    return _core.stage_quantiles(target, scores, units, leaf, n_leaves, alpha, middle, n_threads)


def stage_huber(
    target: NDArray[np.float64],
    scores: NDArray[np.float64],
    weight: NDArray[np.int64] | None,
    leaf: NDArray[np.int32],
    *,
    n_leaves: int,
    delta: float,
    exact: bool,
    n_threads: int,
) -> NDArray[np.float64]:
    """Huber's leaf value of target − scores in each leaf: one step from the median, or the exact minimum."""
    units = NO_WEIGHTS if weight is None else weight
    return _core.stage_huber(target, scores, units, leaf, n_leaves, delta, exact, n_threads)
