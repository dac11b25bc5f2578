"""`LinearSVR`: linear support vector machines that predict numbers, under scikit-learn's names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from weald.arrays import CategoricalFeatures, Floats, RandomState, TargetLike
from weald.data.matrix.matrix import Matrix
from weald.estimators.svm.kernel.training import MachineTarget
from weald.estimators.svm.linear.base import SOLVER_OF_DUAL, BaseLinearMachine, Solved
from weald.estimators.svm.linear.options import LinearOptions, LinearSVROptions
from weald.estimators.svm.margins import TubeAnswers
from weald.estimators.svm.targets import number_target
from weald.svm.linear import solve_linear
from weald.svm.machines import target_centre


class LinearSVR(TubeAnswers, RegressorMixin, BaseLinearMachine):  # type: ignore[misc]  # scikit-learn has no types
    """Linear support vector machines that predict numbers: errors within ε cost nothing.

    Tables of few columns are solved by second-order methods on all threads, wide and sparse ones by
    descending the dual row by row; the model is the same to the byte for any `n_jobs`. Any table: categories
    become 0/1 columns, missing values the median of their column.

    Parameters
    ----------
    epsilon : float, default=0.0
        Errors within it cost nothing.
    tol : float, default=1e-4
        When to stop: at least as strict as LIBLINEAR's.
    C : float, default=1.0
        What errors beyond ε cost, times the weight of the row.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        What is added up: the errors beyond ε, or their squares.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float or "free", default=1.0
        The intercept is the weight of a column of this number, which the penalty sees, as in LIBLINEAR.
        "free": the penalty does not see it, as in `SVR`.
    dual : bool or "auto", default="auto"
        "auto" takes the fastest way. True descends the dual, as LIBLINEAR; False never does, unless nothing
        else fits the loss. The solution is the same.
    verbose : int, default=0
        1 shows progress on stderr.
    random_state : int or RandomState, default=None
        The order in which the dual is descended; None for a fixed one.
    max_iter : int, default=1000
        The most iterations.
    max_time : float, default=None
        The most seconds.
    scale : bool, default=False
        Whether to standardise the columns inside the model.
    unknown : {"missing", "error"}, default="missing"
        What a category not seen in training means.
    categorical_features : list, "from_dtype" or None, default=None
        Columns that are categories whatever their type.
    n_jobs : int, default=None
        Threads; None for every CPU of the process. The model does not depend on it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns,)
        The weights of the matrix's columns: of the table's, after categories were expanded and columns
        scaled.
    intercept_ : ndarray of shape (1,)
        The intercept.
    column_names_ : tuple
        What the weights belong to, such as 'colour=red'.
    primal_objective_, dual_objective_, duality_gap_ : float
        Of the machine.
    n_iter_ : int
        Iterations.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.

    Examples
    --------
    >>> from weald import LinearSVR
    >>> model = LinearSVR(C=100.0).fit([[0], [1], [2], [3]], [0.0, 2.0, 4.0, 6.0])
    >>> model.predict([[4]]).round(2)
    array([8.])
    """

    _options = LinearSVROptions

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float | str = 1.0,
        dual: bool | str = "auto",
        verbose: int | bool = 0,
        random_state: RandomState = None,
        max_iter: int = 1000,
        max_time: float | None = None,
        scale: bool = False,
        unknown: str = "missing",
        categorical_features: CategoricalFeatures = None,
        n_jobs: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.max_time = max_time
        self.scale = scale
        self.unknown = unknown
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _read_target(
        self, y: TargetLike | None, n_rows: int, weight: Floats | None, options: LinearOptions
    ) -> MachineTarget:
        """Numbers, and the C of each row."""
        options = cast(LinearSVROptions, options)
        return number_target(y, n_rows, weight, options, type(self).__name__)

    def _solve(
        self, matrix: Matrix, target: MachineTarget, options: LinearOptions, given: dict[str, Any]
    ) -> Solved:
        """One machine; where the intercept is free, of targets near 0."""
        options = cast(LinearSVROptions, options)
        centre = target_centre(target.values) if given["intercept"] == "free" else 0.0
        found = solve_linear(
            matrix,
            target.values - centre,
            loss=options.loss,
            penalty="l2",
            upper=target.upper,
            epsilon=options.epsilon,
            solver=SOLVER_OF_DUAL[options.dual],
            **given,
        )
        return Solved.of([replace(found, intercept=found.intercept + centre)])

    @property
    def coef_(self) -> Floats:
        """The weights of the matrix's columns."""
        found: Floats = self._fitted.coef[0]
        return found

    @coef_.setter
    def coef_(self, weights: ArrayLike) -> None:
        self._set("coef", weights)
