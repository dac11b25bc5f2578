"""Logistic regression: the solvers; see core/logistic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.arrays import Floats
from weald.engine.svm import Matrix, matrix_parts

#: called with the iterations so far and how far the solution is
Told: TypeAlias = Callable[[int, float], None]

#: solvers by their numbers in core/logistic/solve.h
SOLVERS = {"auto": 0, "newton": 1, "proximal": 2, "coordinates": 3}


def solve_logistic(
    X: Matrix,
    label: NDArray[np.int32],
    cost: Floats,
    start: Floats | None,
    *,
    n_lines: int,
    bias: float,
    free_intercept: bool,
    ridge: float,
    lasso: float,
    tol: float,
    max_iter: int,
    n_threads: int,
    told: Told | None = None,
    solver: str = "auto",
) -> list[dict[str, Any]]:
    """Several problems on the same rows.

    Parameters
    ----------
    X : Matrix
        The rows.
    label : ndarray of shape (n_problems, n_rows)
        Class numbers.
    cost : ndarray of shape (n_rows,)
        What the loss of each row is multiplied with, above 0.
    start : ndarray of shape (n_problems, n_lines, n_columns and the intercept), or None
        Weights to start from.
    n_lines : int
        1 for two classes, else the number of classes.
    bias : float
        The value of the intercept's column; 0 for none.
    free_intercept : bool
        Whether the penalty does not see the intercept.
    ridge, lasso : float
        The factors of half the squares and of the absolute values of the weights.
    tol, max_iter : float, int
        When to stop.
    n_threads : int
        Threads; the result does not depend on them.
    told : callable
        Told the iterations and how far the solution is, from time to time.
    solver : str
        One of SOLVERS.
    """
    n_weights = n_lines * (X.n_columns + (bias != 0))
    begun = np.empty((0, n_weights)) if start is None else np.ascontiguousarray(start.reshape(-1, n_weights))
    return _core.solve_logistic(
        matrix_parts(X, as_sparse=X.is_sparse),
        bias,
        np.ascontiguousarray(label, np.int32),
        cost,
        begun,
        n_lines,
        ridge,
        lasso,
        free_intercept,
        SOLVERS[solver],
        tol,
        max_iter,
        told,
        n_threads,
    )
