"""Rows for tests of support vector machines, and LIBSVM's objective."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def heaps(n: int = 60, gap: float = 1.0, d: int = 2, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two heaps of rows that overlap the more the smaller the gap, with labels -1 and 1."""
    rng = np.random.default_rng(seed)
    side = np.repeat([-1.0, 1.0], n // 2)
    return rng.normal(size=(n, d)) + gap * side[:, None], side.astype(int)


def libsvm_objective(theirs: Any, K: NDArray[Any], linear: Callable[[NDArray[Any]], float]) -> float:
    """½ αᵀQα + pᵀα of a fitted machine of scikit-learn; `linear` gives pᵀα for signed α by training row."""
    signed = np.zeros(len(K))
    signed[theirs.support_] = theirs.dual_coef_[0]
    return float(0.5 * signed @ K @ signed + linear(signed))
