"""Sparse matrices for tests: every format of one small table."""

from __future__ import annotations

import numpy as np
from scipy import sparse

DENSE = np.array([[0.0, 1.5, 0.0, -2.0], [0.0, 0.0, 0.0, np.nan], [3.0, 0.0, 0.0, 1.0]])


def matrix(form: str, array: bool, dense: np.ndarray = DENSE):
    return getattr(sparse, f"{form}_{'array' if array else 'matrix'}")(dense)
