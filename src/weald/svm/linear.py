"""Linear machines in the user's words: losses, penalties and intercepts by name, solutions as records.

    minimise   ½ ‖w‖²  (or Σ |w|)  +  Σ C_i loss(y_i, x_i · w + b)

docs/methods/linear_svm.md has the equations and which solver is taken when.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Required, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.data.matrix.matrix import Matrix
from weald.engine import linear as engine

Report: TypeAlias = Callable[[int, float], None]
Loss: TypeAlias = Literal["hinge", "squared_hinge", "epsilon_insensitive", "squared_epsilon_insensitive"]
#: "scaled": a column of `intercept_scaling` whose weight the penalty sees, as in LIBLINEAR; "free": not seen
Intercept: TypeAlias = Literal["scaled", "free", "none"]


@dataclass(frozen=True, slots=True, eq=False)
class LinearSolution:
    """A solved machine; `gap` is primal less dual, NaN where there is no dual."""

    coef: Floats
    intercept: float
    alpha: Floats | None
    primal: float
    dual: float
    n_iter: int
    converged: bool

    @property
    def gap(self) -> float:
        """How far the objective can be from the best."""
        return max(self.primal - self.dual, 0.0) if np.isfinite(self.dual) else float("nan")


class LinearOptions(TypedDict, total=False):
    """Options of `solve_linears` besides the rows."""

    loss: Required[Loss]
    penalty: Required[Literal["l1", "l2"]]
    epsilon: float
    intercept: Intercept
    intercept_scaling: float
    tol: float
    max_iter: int
    max_time: float | None
    solver: str
    seed: int
    n_threads: int
    progress: Report | None


def solve_linear(
    X: Matrix, target: Floats, *, upper: Floats, **options: Unpack[LinearOptions]
) -> LinearSolution:
    """One machine; the options are those of `solve_linears`."""
    return solve_linears(X, target[None], upper=upper[None], **options)[0]


def solve_linears(
    X: Matrix,
    targets: Floats,
    *,
    loss: Loss,
    penalty: Literal["l1", "l2"],
    upper: Floats,
    epsilon: float = 0.0,
    intercept: Intercept = "scaled",
    intercept_scaling: float = 1.0,
    tol: float = 1e-4,
    max_iter: int = 1000,
    max_time: float | None = None,
    solver: str = "auto",
    seed: int = 0,
    n_threads: int = 1,
    progress: Report | None = None,
) -> list[LinearSolution]:
    """Several machines on the same rows.

    Parameters
    ----------
    X : Matrix
        The rows.
    targets : ndarray of shape (n_machines, n_rows)
        ±1, or numbers for an epsilon-insensitive loss.
    loss, penalty : str
        What is added up.
    upper : ndarray of shape (n_machines, n_rows)
        The C of each row, above 0.
    epsilon : float
        Errors within it cost nothing.
    intercept, intercept_scaling : str, float
        How the intercept is found.
    tol, max_iter, max_time : float, int, float
        When to stop.
    solver : str
        One of `weald.engine.linear.SOLVERS`.
    seed : int
        What a solver that draws rows starts from.
    n_threads : int
        Threads; the result does not depend on them.
    progress : callable
        Told the iterations and the gap from time to time.
    """
    found = engine.solve_linear(
        X,
        np.ascontiguousarray(targets, np.float64),
        np.ascontiguousarray(upper, np.float64),
        bias=_bias(intercept, intercept_scaling),
        squared=loss.startswith("squared"),
        regression=loss.endswith("insensitive"),
        epsilon=float(epsilon),
        l1=penalty == "l1",
        free_intercept=intercept == "free",
        solver=solver,
        tol=float(tol),
        max_iter=int(max_iter),
        max_seconds=max_time,
        seed=seed,
        told=progress,
        n_threads=n_threads,
    )
    return [_solution(each, intercept, intercept_scaling) for each in found]


@dataclass(frozen=True, slots=True, eq=False)
class ClassSolution:
    """One machine for all classes."""

    coef: Floats  # (n_classes, n_columns)
    intercept: Floats
    primal: float
    dual: float
    n_iter: int
    converged: bool


def solve_classes(
    X: Matrix,
    labels: NDArray[Any],
    n_classes: int,
    *,
    upper: Floats,
    intercept: Intercept,
    intercept_scaling: float,
    tol: float,
    max_iter: int,
    max_time: float | None,
    seed: int,
    n_threads: int,
    progress: Report | None = None,
) -> ClassSolution:
    """All classes in one machine (Crammer and Singer): the right one must score 1 above every other."""
    found = engine.solve_classes(
        X,
        np.ascontiguousarray(labels, np.int32),
        np.ascontiguousarray(upper, np.float64),
        n_classes=n_classes,
        bias=_bias(intercept, intercept_scaling),
        free_intercept=intercept == "free",
        tol=float(tol),
        max_iter=int(max_iter),
        max_seconds=max_time,
        seed=seed,
        told=progress,
        n_threads=n_threads,
    )
    coef, constant = _apart(found["weight"], intercept, intercept_scaling)
    return ClassSolution(
        coef, constant, found["primal"], found["dual"], int(found["n_iter"]), bool(found["converged"])
    )


def _bias(intercept: Intercept, scaling: float) -> float:
    """The value of the intercept's column; 0 for none."""
    return {"scaled": float(scaling), "free": 1.0, "none": 0.0}[intercept]


def _apart(weight: Floats, intercept: Intercept, scaling: float) -> tuple[Floats, Floats]:
    """The weights of columns, and the intercept from that of its column, which is last."""
    if intercept == "none":
        return np.ascontiguousarray(weight), np.zeros(weight.shape[:-1])
    return np.ascontiguousarray(weight[..., :-1]), weight[..., -1] * _bias(intercept, scaling)


def _solution(found: dict[str, Any], intercept: Intercept, scaling: float) -> LinearSolution:
    coef, constant = _apart(found["weight"], intercept, scaling)
    alpha = found["alpha"]
    return LinearSolution(
        coef=coef,
        intercept=float(constant),
        alpha=alpha if len(alpha) else None,
        primal=float(found["primal"]),
        dual=float(found["dual"]),
        n_iter=int(found["n_iter"]),
        converged=bool(found["converged"]),
    )
