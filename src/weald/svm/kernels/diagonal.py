"""The kernel of every row with itself, which no table of all pairs is needed for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weald.arrays import Floats
from weald.data.matrix.matrix import Matrix
from weald.svm.kernels.functions import Kernel
from weald.svm.kernels.gram import called

#: rows that a user's function compares with each other to learn about the diagonal
_ROWS = 16


def diagonal(kernel: Kernel | Callable[..., Any], X: Matrix) -> Floats:
    """K(x, x) for each row; gamma is a number.

    >>> from weald.svm.kernels.functions import Linear
    >>> diagonal(Linear(), Matrix.of([[3.0, 4.0], [1.0, 0.0]])).tolist()
    [25.0, 1.0]
    """
    if isinstance(kernel, Kernel):
        return _by_program(kernel.program(), X)
    out = np.empty(X.n_rows)
    for start in range(0, X.n_rows, _ROWS):
        rows = X.block(start, min(start + _ROWS, X.n_rows)).values
        out[start : start + _ROWS] = called(kernel, rows, rows).diagonal()
    return out


def _by_program(program: Floats, X: Matrix) -> Floats:
    squares = sums = None
    stack: list[Floats] = []
    for operation, a, b, c in program.tolist():
        if operation == 7:
            stack[-2:] = [stack[-2] + stack[-1]]
        elif operation == 8:
            stack[-2:] = [stack[-2] * stack[-1]]
        elif operation == 9:
            stack[-1] = a * stack[-1]
        elif operation == 10:
            stack.append(np.full(X.n_rows, a))
        elif operation in (2, 4, 5):  # by distance, which is 0
            stack.append(np.ones(X.n_rows))
        elif operation == 6:
            sums = np.asarray(X.values.sum(axis=1)).ravel() if sums is None else sums
            stack.append(sums)
        else:
            squares = _squares(X) if squares is None else squares
            inner = b * squares + c
            stack.append(squares if operation == 0 else inner**a if operation == 1 else np.tanh(inner))
    return stack[0]


def _squares(X: Matrix) -> Floats:
    if X.is_sparse:
        return np.asarray(X.values.multiply(X.values).sum(axis=1), np.float64).ravel()
    found: Floats = np.einsum("ij,ij->i", X.values, X.values)
    return found
