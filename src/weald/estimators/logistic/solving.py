"""From labels and penalties to lines of weights: one problem, or one per class against the rest."""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from weald.arrays import Floats
from weald.data.matrix.matrix import Matrix
from weald.engine import thread_count
from weald.engine.logistic import solve_logistic
from weald.errors import DataError, outside
from weald.estimators.logistic.model import LogisticModel
from weald.estimators.logistic.options import LogisticOptions, Penalty
from weald.estimators.svm.convergence import ONE_SCALE, one_of
from weald.estimators.svm.targets import WeighedLabels
from weald.svm.progress import GapProgress


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """What the solver brings: lines of weights, and the facts of each problem."""

    coef: Floats
    intercept: Floats
    objective: Floats
    gap: Floats
    gradient: Floats
    n_iter: NDArray[np.int64]
    converged: NDArray[np.bool_]


def solved(
    matrix: Matrix,
    target: WeighedLabels,
    penalty: Penalty,
    options: LogisticOptions,
    owner: str,
    old: LogisticModel | None,
) -> tuple[Solved, NDArray[np.bool_]]:
    """The weights, and which problems no finite ones solve; `old` is a model to start from."""
    with np.errstate(over="ignore", under="ignore"):
        cost = penalty.C * target.weight
    if not np.isfinite(cost).all() or not cost.all():
        raise DataError(
            f"`C`={options.C:g} of {owner} times the weights is beyond float64. Use a C and weights nearer "
            "to 1."
        )
    n_classes = len(target.classes)
    apart = options.one_against_rest and n_classes > 2
    labels = np.asarray(target.labels, np.int32)[None]
    if apart:
        labels = (labels == np.arange(n_classes)[:, None]).astype(np.int32)
    penalised = options.solver == "liblinear"
    bias = (options.intercept_scaling if penalised else 1.0) if options.fit_intercept else 0.0
    progress = GapProgress(1, options.tol) if options.verbose else None
    with contextlib.nullcontext() if progress is None else progress:
        found = solve_logistic(
            matrix,
            labels,
            np.ascontiguousarray(cost),
            _start(old, bias, len(labels)),
            n_lines=1 if apart or n_classes == 2 else n_classes,
            bias=bias,
            free_intercept=not penalised,
            ridge=penalty.ridge,
            lasso=penalty.lasso,
            tol=options.tol,
            max_iter=options.max_iter,
            n_threads=thread_count(options.n_jobs),
            told=None if progress is None else progress.report,
        )
        if progress is not None:
            progress.done(sum(each["n_iter"] for each in found), max(each["gradient"] for each in found))
    weight = np.concatenate([each["weight"] for each in found])
    n_columns = matrix.n_columns
    result = Solved(
        coef=np.ascontiguousarray(weight[:, :n_columns]),
        intercept=weight[:, n_columns] * bias if bias else np.zeros(len(weight)),
        objective=np.array([each["objective"] for each in found]),
        gap=np.array([each["gap"] for each in found]),
        gradient=np.array([each["gradient"] for each in found]),
        n_iter=np.array([each["n_iter"] for each in found], np.int64),
        converged=np.array([each["converged"] for each in found]),
    )
    return result, np.array([each["separable"] for each in found])


def _start(old: LogisticModel | None, bias: float, n_problems: int) -> Floats | None:
    if old is None:
        return None
    lines = old.coef if not bias else np.column_stack([old.coef, old.intercept / bias])
    return lines.reshape(n_problems, -1, lines.shape[1])


def tell(found: Solved, endless: NDArray[np.bool_], options: LogisticOptions, owner: str) -> None:
    """Warn if weights grow without end, or if a problem stopped early."""
    if endless.any():
        warnings.warn(
            f"The classes of {owner} can be told apart so well that no finite weights are the best: without "
            "a penalty they grow without end, and those of this model are where the solver stopped. "
            "Probabilities near 0 and 1 and odds ratios mean little. Use a penalty (C=1.0, or larger for a "
            "weak one), or leave out the column that gives the label away.",
            ConvergenceWarning,
            stacklevel=outside(),
        )
        return
    early = np.flatnonzero(~found.converged)
    if not len(early):
        return
    worst = int(early[np.argmax(found.gradient[early])])
    stuck = int(found.n_iter[worst]) < options.max_iter
    limit = (
        f"to `tol`, which the rounding of float64 hides after {found.n_iter[worst]} iterations"
        if stuck
        else f"within max_iter={options.max_iter}"
    )
    ways = ["raise `tol`" if stuck else "raise the limit", "lower C"]
    ways += [] if options.scale else [ONE_SCALE]
    which = f" ({len(early)} of {len(found.converged)} problems)" if len(found.converged) > 1 else ""
    gap = "" if np.isnan(found.gap[worst]) else f" and the duality gap {found.gap[worst]:.3g}"
    warnings.warn(
        f"{owner} did not converge {limit}{which}: the largest part of the gradient is "
        f"{found.gradient[worst]:.3g}{gap} at an objective of {found.objective[worst]:.6g}. The model can be "
        f"used. {one_of(ways)}",
        ConvergenceWarning,
        stacklevel=outside(),
    )
