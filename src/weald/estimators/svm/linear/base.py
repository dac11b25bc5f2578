"""What `LinearSVC` and `LinearSVR` share: the steps of `fit`, scores, scikit-learn's manners.

`fit` is a list of named steps and assigns attributes last, so an estimator whose fit fails or is interrupted
stays as it was.
"""

from __future__ import annotations

import contextlib
import logging
import warnings
from abc import ABCMeta, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from weald.arrays import Floats, TableLike, TargetLike, WeightLike
from weald.data.adapters import to_table
from weald.data.matrix.matrix import Matrix, MatrixPlan
from weald.data.target import read_weight
from weald.engine import thread_count
from weald.errors import outside
from weald.estimators.shared.contract import CheckedParameters, TableManners
from weald.estimators.shared.growth import drawn_seed
from weald.estimators.shared.saving import Saving
from weald.estimators.shared.state import set_fitted
from weald.estimators.svm.convergence import ONE_SCALE, one_of
from weald.estimators.svm.kernel.training import MachineTarget, read_columns
from weald.estimators.svm.linear.lines import FittedLines
from weald.estimators.svm.linear.model import LinearModel, SavedLinearMachine
from weald.estimators.svm.linear.options import LinearOptions
from weald.svm.linear import Intercept, LinearSolution
from weald.svm.progress import GapProgress

log = logging.getLogger("weald.svm")

#: what `dual` asks of the solvers
SOLVER_OF_DUAL = {"auto": "auto", True: "descent", False: "primal"}


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """What the solver brings: lines of weights, and the facts of each problem."""

    coef: Floats
    intercept: Floats
    primal: Floats
    dual: Floats
    n_iter: NDArray[np.int64]
    converged: NDArray[np.bool_]

    @classmethod
    def of(cls, found: list[LinearSolution]) -> Solved:
        """A line per machine."""
        return cls(
            coef=np.stack([each.coef for each in found]),
            intercept=np.array([each.intercept for each in found]),
            primal=np.array([each.primal for each in found]),
            dual=np.array([each.dual for each in found]),
            n_iter=np.array([each.n_iter for each in found], np.int64),
            converged=np.array([each.converged for each in found]),
        )


class BaseLinearMachine(
    SavedLinearMachine,
    FittedLines,
    TableManners,
    CheckedParameters,
    Saving,
    BaseEstimator,  # type: ignore[misc]  # scikit-learn has no types
    metaclass=ABCMeta,
):
    """The shared base; a subclass says what its machines learn."""

    _options: ClassVar[type[LinearOptions]]
    _mark = "_model_"

    n_jobs: int | None
    _model_: LinearModel

    @abstractmethod
    def _read_target(
        self, y: TargetLike | None, n_rows: int, weight: Floats | None, options: LinearOptions
    ) -> MachineTarget:
        """The target of the rows that count: those of a weight above 0."""

    @abstractmethod
    def _solve(
        self, matrix: Matrix, target: MachineTarget, options: LinearOptions, given: dict[str, Any]
    ) -> Solved:
        """The machines; `given` is what all solvers are given."""

    def fit(self, X: TableLike, y: TargetLike | None = None, sample_weight: WeightLike | None = None) -> Self:
        """Find the weights of the columns.

        Parameters
        ----------
        X : table
            A pandas, polars or Arrow frame, a NumPy array, a SciPy sparse matrix (what it does not store is
            0) or a list of rows. Categories become a 0/1 column per level, missing values the median of their
            column.
        y : array-like of shape (n_rows,)
            The target: labels of any type for a classifier, finite numbers for a regressor.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of at least 0, which multiply `C`. A row of weight 0 counts as absent.

        Returns
        -------
        self
            The fitted estimator.
        """
        options, owner = self._checked_options(), type(self).__name__
        table = to_table(X, categorical_features=options.categorical_features)
        weight = read_weight(sample_weight, n_rows=table.n_rows)
        target = self._read_target(y, table.n_rows, weight, options)
        reading, matrix = read_columns(table, None, weight, options, owner)
        if weight is not None:
            matrix = matrix.take(np.flatnonzero(weight > 0))
        solved = self._solved(matrix, target, options)
        facts = {each.name: getattr(solved, each.name) for each in fields(Solved)}
        self._set_fitted(LinearModel(reading=reading, **facts), target.classes)
        self._tell(reading.plan, solved, options, owner)
        return self

    # ------------------------------------------------------------------ the steps

    def _solved(self, matrix: Matrix, target: MachineTarget, options: LinearOptions) -> Solved:
        """The machines, with a bar if it is asked for."""
        progress = GapProgress(1, options.tol) if options.verbose else None
        free = options.intercept_scaling == "free"
        given = {
            "intercept": _intercept(options),
            "intercept_scaling": 1.0 if free else options.intercept_scaling,
            "tol": options.tol,
            "max_iter": options.max_iter,
            "max_time": options.max_time,
            "seed": drawn_seed(options.random_state) if options.random_state is not None else 0,
            "n_threads": thread_count(options.n_jobs),
            "progress": None if progress is None else progress.report,
        }
        with contextlib.nullcontext() if progress is None else progress:
            solved = self._solve(matrix, target, options, given)
            if progress is not None:
                gap = np.nan_to_num(solved.primal - solved.dual).max()
                progress.done(int(solved.n_iter.max()), float(gap))
        return solved

    def _set_fitted(self, model: LinearModel, classes: NDArray[Any] | None) -> None:
        """Assign everything a fit (or a model file) brings, at once, and forget what it does not bring."""
        brought: dict[str, Any] = {"_model_": model}
        if classes is not None:
            brought["classes_"] = classes
        set_fitted(self, brought, schema=model.reading.schema)

    def _tell(self, plan: MatrixPlan, solved: Solved, options: LinearOptions, owner: str) -> None:
        """Log a hint about scales; warn if a machine stopped early."""
        hint = plan.hint()
        if hint is not None:
            log.info("%s: %s", owner, hint)
        early = np.flatnonzero(~solved.converged)
        if not len(early):
            return
        gaps = solved.primal - solved.dual
        worst = int(early[np.argmax(np.nan_to_num(gaps[early]))])
        reached = (
            f": the duality gap is {gaps[worst]:.3g} of an objective of {solved.primal[worst]:.3g}"
            if np.isfinite(gaps[worst])
            else f", at an objective of {solved.primal[worst]:.6g}"
        )
        stuck = options.max_time is None and int(solved.n_iter[worst]) < options.max_iter
        if stuck:
            limit = f"to `tol`, which the rounding of float64 hides after {solved.n_iter[worst]} iterations"
        else:
            limit = f"within max_iter={options.max_iter}"
            limit += "" if options.max_time is None else f" or max_time={options.max_time:g}"
        ways = ["raise `tol`" if stuck else "raise the limit", "lower C"]
        ways += [] if options.scale else [ONE_SCALE]
        which = f" ({len(early)} of {len(gaps)} machines)" if len(gaps) > 1 else ""
        warnings.warn(
            f"{owner} did not converge {limit}{which}{reached}. The model can be used. {one_of(ways)}",
            ConvergenceWarning,
            stacklevel=outside(),
        )

    # ------------------------------------------------------------------ afterwards

    def _each(self, values: Floats) -> float | Floats:
        return values[0].item() if len(values) == 1 else values

    @property
    def primal_objective_(self) -> float | Floats:
        """The penalty and Σ C loss; one number per machine."""
        return self._each(self._fitted.primal)

    @property
    def dual_objective_(self) -> float | Floats:
        """What the dual problem reaches; NaN where the solver has none (l1 penalty of wide tables)."""
        return self._each(self._fitted.dual)

    @property
    def duality_gap_(self) -> float | Floats:
        """Primal minus dual objective: how far the solution can be from the best one."""
        return self._each(self._fitted.primal - self._fitted.dual)

    @property
    def n_iter_(self) -> int:
        """The most iterations that a machine took."""
        return int(self._fitted.n_iter.max())


def _intercept(options: LinearOptions) -> Intercept:
    if not options.fit_intercept:
        return "none"
    return "free" if options.intercept_scaling == "free" else "scaled"
