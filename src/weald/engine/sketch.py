"""Quantile sketches of streams, and codes made coarser by the weights of a round."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.engine.codes import NativeCodes

NativeSketch: TypeAlias = _core.QuantileSketch
SketchSummary: TypeAlias = _core.SketchSummary
CoarseBins: TypeAlias = _core.CoarseBins


def coarsen(
    codes: NativeCodes, weights: NDArray[np.int64], max_bins: int, *, n_threads: int = 1
) -> NativeCodes:
    """Codes of at most `max_bins` bins a numeric column, of about equal weight: core/data/encode/coarsen.h.

    Parameters
    ----------
    codes : NativeCodes
        Exact ranks, or fine quantile codes.
    weights : ndarray of int64, shape (n_rows,)
        Whole units, at least 0: the hessians of a round.
    max_bins : int
        At most 255 make codes of one byte.
    n_threads : int
        The result does not depend on it.

    Returns
    -------
    NativeCodes
        Numeric columns binned, columns of levels as they were.
    """
    return _core.coarsen(codes, np.ascontiguousarray(weights, np.int64), max_bins, n_threads)
