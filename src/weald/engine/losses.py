"""Gradients, links and leaf values of losses."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.engine.codes import NO_WEIGHTS


def fill_gradients(
    loss: str,
    parameters: NDArray[np.float64],
    scores: NDArray[np.float64],
    target: NDArray[np.float64],
    g: NDArray[np.float64],
    h: NDArray[np.float64],
    *,
    n_threads: int,
) -> None:
    """Fill g and h, (n_outputs, n_rows); the losses are listed in core/boosting/losses/gradients.h."""
    _core.gradients(loss, parameters, scores, target, g, h, n_threads)


def map_values(
    function: Literal[
        "exp", "log", "log1p", "sigmoid", "tanh", "tanh_float", "exp2_of_negative", "exp2_of_negative_float"
    ],
    values: NDArray[np.float64],
    *,
    n_threads: int = 1,
) -> NDArray[np.float64]:
    """A function of every value, in the shape of the values: the same bits on every machine.

    Those of float round their values to float first.
    """
    flat = np.ascontiguousarray(values, np.float64).ravel()
    return _core.map_values(function, flat, n_threads).reshape(np.shape(values))


def softmax(scores: NDArray[np.float64], *, n_threads: int = 1) -> NDArray[np.float64]:
    """Softmax of every row of (n_rows, n_classes)."""
    return _core.softmax(np.ascontiguousarray(scores, np.float64), n_threads)


def leaf_quantiles(
    target: NDArray[np.float64],
    scores: NDArray[np.float64],
    weight: NDArray[np.int64] | None,
    leaf: NDArray[np.int32],
    *,
    n_leaves: int,
    alpha: float,
    n_threads: int,
) -> NDArray[np.float64]:
    """Quantile of target − scores in each leaf, weighted by units where weights are given; −1 is no leaf."""
    units = NO_WEIGHTS if weight is None else weight
    return _core.leaf_quantiles(target, scores, units, leaf, n_leaves, alpha, n_threads)
