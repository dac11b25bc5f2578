"""`LinearSVC`: linear support vector machines that classify, under scikit-learn's names."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from weald.arrays import CategoricalFeatures, ClassWeight, Floats, RandomState, TargetLike
from weald.data.matrix.matrix import Matrix
from weald.estimators.svm.kernel.training import MachineTarget
from weald.estimators.svm.linear.base import SOLVER_OF_DUAL, BaseLinearMachine, Solved
from weald.estimators.svm.linear.lines import ClassLines
from weald.estimators.svm.linear.options import LinearOptions, LinearSVCOptions, check_together
from weald.estimators.svm.margins import MarginAnswers, NotThere
from weald.estimators.svm.targets import class_target
from weald.svm.linear import solve_classes, solve_linears

_NO_PROBABILITIES = (
    "LinearSVC has no predict_proba: it learns a boundary, not probabilities. Use "
    "SVC(kernel='linear', probability=True), or scikit-learn's CalibratedClassifierCV around this one; "
    "decision_function ranks rows without either."
)


class LinearSVC(MarginAnswers, ClassLines, ClassifierMixin, BaseLinearMachine):  # type: ignore[misc]  # scikit-learn has no types
    """Linear support vector machines that classify: fast with any number of rows.

    Tables of few columns are solved by second-order methods on all threads, wide and sparse ones by
    descending the dual row by row; the model is the same to the byte for any `n_jobs`. Of several classes one
    machine per class against the rest, or all in one. Any table: categories become 0/1 columns, missing
    values the median of their column.

    Parameters
    ----------
    penalty : {"l1", "l2"}, default="l2"
        What weights cost: Σ |w|, which leaves columns out, or ½ Σ w².
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        What a row within its margin costs: how far it lies there, or the square of that.
    dual : bool or "auto", default="auto"
        "auto" takes the fastest way. True descends the dual, as LIBLINEAR; False never does, unless nothing
        else fits the loss. The solution is the same.
    tol : float, default=1e-4
        When to stop: at least as strict as LIBLINEAR's.
    C : float, default=1.0
        What losses cost, times the weight of the row.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        A machine per class against the rest, or one in which the right class must score 1 above all others;
        `loss`, `penalty` and `dual` are then not asked.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float or "free", default=1.0
        The intercept is the weight of a column of this number, which the penalty sees, as in LIBLINEAR.
        "free": the penalty does not see it, as in `SVC`.
    class_weight : dict or "balanced", default=None
        What C is multiplied with, by class.
    verbose : int, default=0
        1 shows progress on stderr.
    random_state : int or RandomState, default=None
        The order in which the dual is descended; None for a fixed one.
    max_iter : int, default=1000
        The most iterations of a machine.
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
    coef_ : ndarray of shape (1, n_columns) or (n_classes, n_columns)
        The weights of the matrix's columns: of the table's, after categories were expanded and columns
        scaled.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts.
    classes_ : ndarray
        The labels, sorted.
    column_names_ : tuple
        What the weights belong to, such as 'colour=red'.
    margin_width_ : float or ndarray
        2 / ‖w‖ of each machine.
    primal_objective_, dual_objective_, duality_gap_ : float or ndarray
        Of each machine; the dual is NaN where its solver has none (l1 penalty of wide tables).
    n_iter_ : int
        The most iterations of a machine.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.

    Examples
    --------
    >>> from weald import LinearSVC
    >>> model = LinearSVC().fit([[0, 0], [1, 1], [4, 4], [5, 5]], ["low", "low", "high", "high"])
    >>> model.predict([[1, 0], [4, 5]])
    array(['low', 'high'], dtype='<U4')
    """

    _options = LinearSVCOptions

    classes_: NDArray[Any]
    predict_proba = NotThere(_NO_PROBABILITIES)
    predict_log_proba = NotThere(_NO_PROBABILITIES)

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: bool | str = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float | str = 1.0,
        class_weight: ClassWeight = None,
        verbose: int | bool = 0,
        random_state: RandomState = None,
        max_iter: int = 1000,
        max_time: float | None = None,
        scale: bool = False,
        unknown: str = "missing",
        categorical_features: CategoricalFeatures = None,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.max_time = max_time
        self.scale = scale
        self.unknown = unknown
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------ what fit asks

    def _read_target(
        self, y: TargetLike | None, n_rows: int, weight: Floats | None, options: LinearOptions
    ) -> MachineTarget:
        """Labels as class numbers, and the C of each row."""
        options = cast(LinearSVCOptions, options)
        check_together(options, type(self).__name__)
        return class_target(y, n_rows, weight, options, type(self).__name__)

    def _solve(
        self, matrix: Matrix, target: MachineTarget, options: LinearOptions, given: dict[str, Any]
    ) -> Solved:
        """A machine for two classes; of more, one per class, or one for all."""
        options = cast(LinearSVCOptions, options)
        labels, n_classes = target.values, target.n_classes
        if options.multi_class == "crammer_singer":
            return _all_classes(matrix, target, given)
        lines = [1] if n_classes == 2 else range(n_classes)
        return Solved.of(
            solve_linears(
                matrix,
                np.stack([np.where(labels == k, 1.0, -1.0) for k in lines]),
                loss=options.loss,
                penalty=options.penalty,
                upper=np.broadcast_to(target.upper, (len(lines), len(labels))),
                solver=SOLVER_OF_DUAL[options.dual],
                **given,
            )
        )

    # ------------------------------------------------------------------ what it tells

    @property
    def margin_width_(self) -> float | Floats:
        """The width of the margin, 2 / ‖w‖, of each machine."""
        with np.errstate(divide="ignore"):
            return self._each(2 / self._norms())

    def _norms(self) -> Floats:
        """‖w‖ of each machine."""
        found: Floats = np.linalg.norm(self._fitted.coef, axis=1)
        return found


def _all_classes(matrix: Matrix, target: MachineTarget, given: dict[str, Any]) -> Solved:
    """One machine for all classes; of two the difference of their lines, as scikit-learn gives it."""
    found = solve_classes(matrix, target.values, target.n_classes, upper=target.upper, **given)
    coef, intercept = found.coef, found.intercept
    if target.n_classes == 2:
        coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
    return Solved(
        coef=np.ascontiguousarray(coef),
        intercept=np.ascontiguousarray(intercept),
        primal=np.array([found.primal]),
        dual=np.array([found.dual]),
        n_iter=np.array([found.n_iter], np.int64),
        converged=np.array([found.converged]),
    )
