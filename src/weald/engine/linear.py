"""Linear machines: the solvers and the scores; see core/svm/linear."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.arrays import Floats
from weald.engine.svm import Matrix, matrix_parts

#: called with the iterations so far and the gap
Told: TypeAlias = Callable[[int, float], None]

#: solvers by their numbers in core/svm/linear/solve.h
SOLVERS = {
    "auto": 0,
    "interior": 1,
    "newton": 2,
    "newton_products": 3,
    "descent": 4,
    "proximal": 5,
    "coordinates": 6,
    "primal": 7,
}


def solve_linear(
    X: Matrix,
    target: Floats,
    upper: Floats,
    *,
    bias: float,
    squared: bool,
    regression: bool,
    epsilon: float,
    l1: bool,
    free_intercept: bool,
    solver: str,
    tol: float,
    max_iter: int,
    max_seconds: float | None,
    seed: int,
    told: Told | None,
    n_threads: int,
) -> list[dict[str, Any]]:
    """Several machines on the same rows: (n_problems, n_rows) of targets and of C."""
    return _core.solve_linear(
        matrix_parts(X, as_sparse=X.is_sparse),
        bias,
        target,
        upper,
        squared,
        regression,
        epsilon,
        l1,
        free_intercept,
        SOLVERS[solver],
        tol,
        max_iter,
        math.inf if max_seconds is None else max_seconds,
        seed,
        told,
        n_threads,
    )


def solve_classes(
    X: Matrix,
    label: NDArray[np.int32],
    upper: Floats,
    *,
    n_classes: int,
    bias: float,
    free_intercept: bool,
    tol: float,
    max_iter: int,
    max_seconds: float | None,
    seed: int,
    told: Told | None,
    n_threads: int,
) -> dict[str, Any]:
    """One machine for all classes, by Crammer and Singer."""
    return _core.solve_classes(
        matrix_parts(X, as_sparse=X.is_sparse),
        bias,
        label,
        upper,
        n_classes,
        free_intercept,
        tol,
        max_iter,
        math.inf if max_seconds is None else max_seconds,
        seed,
        told,
        n_threads,
    )


def linear_scores(X: Matrix, coef: Floats, intercept: Floats, *, n_threads: int) -> Floats:
    """Scores x · w + b, (n_rows, n_machines); that of a row does not depend on the others."""
    return _core.linear_scores(matrix_parts(X, as_sparse=X.is_sparse), coef, intercept, n_threads)
