"""`LogisticRegression`: probabilities of classes by weighted sums of columns, under scikit-learn's names."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from weald.arrays import (
    CategoricalFeatures,
    ClassWeight,
    Floats,
    RandomState,
    TableLike,
    TargetLike,
    WeightLike,
)
from weald.boosting.links import apply_link
from weald.data.adapters import to_table
from weald.data.target import read_weight
from weald.engine import thread_count
from weald.estimators.logistic.model import LogisticModel, SavedLogistic
from weald.estimators.logistic.options import LogisticOptions, chosen_penalty
from weald.estimators.logistic.solving import Solved, solved, tell
from weald.estimators.shared.contract import CheckedParameters, TableManners
from weald.estimators.shared.saving import Saving
from weald.estimators.shared.state import set_fitted
from weald.estimators.svm.kernel.training import read_columns
from weald.estimators.svm.linear.lines import ClassLines
from weald.estimators.svm.targets import weighed_labels


class LogisticRegression(
    SavedLogistic,
    ClassLines,
    TableManners,
    CheckedParameters,
    Saving,
    ClassifierMixin,  # type: ignore[misc]  # scikit-learn has no types
    BaseEstimator,  # type: ignore[misc]
):
    """Logistic regression: the log odds of a class are a weighted sum of the columns.

    The optimum is found by Newton steps, with proximal ones for absolute values, on all threads; the model is
    the same to the byte for any `n_jobs`. Several classes share one model (softmax), or have one each against
    the rest. Any table: categories become 0/1 columns, missing values the median of their column.

    Parameters
    ----------
    penalty : {"auto", "l1", "l2", "elasticnet", "deprecated"} or None, default="auto"
        "auto" (or scikit-learn's "deprecated"): `l1_ratio` and `C` tell the penalty, as in scikit-learn 1.9.
        The older words do as well: "l2" is l1_ratio=0, "l1" is l1_ratio=1, None is C=inf.
    C : float, default=1.0
        What losses cost against weights: lower is a stronger penalty. inf: no penalty.
    l1_ratio : float, default=0.0
        The share of absolute values in the penalty, l1_ratio · Σ |w| + (1 - l1_ratio) · ½ Σ w²: 1 leaves
        columns out, 0 does not.
    dual : bool, default=False
        Accepted for scikit-learn's sake; the solution is the same.
    tol : float, default=1e-4
        When to stop: no part of the gradient, divided by the total weight times C, is larger, and the duality
        gap is at most tol/100 of the objective.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float, default=1
        Of solver="liblinear": the intercept is the weight of a column of this number.
    class_weight : dict or "balanced", default=None
        What the weights of rows are multiplied with, by class.
    random_state : int or RandomState, default=None
        Accepted for scikit-learn's sake: nothing is drawn.
    solver : {"lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"}, default="lbfgs"
        Accepted for scikit-learn's sake: the fastest way to the optimum of the penalty is taken whatever the
        name. Only "liblinear" changes the model, as there: the penalty sees the intercept too, and several
        classes have a model each.
    max_iter : int, default=100
        The most steps.
    multi_class : {"auto", "multinomial", "ovr"}, default="auto"
        Several classes in one model, or one against the rest each. "auto" is the former, except for
        solver="liblinear".
    verbose : int, default=0
        1 shows progress on stderr.
    warm_start : bool, default=False
        Whether to start from the weights of the last fit, if that had the same classes and as many columns.
    scale : bool, default=False
        Whether to standardise the columns inside the model, so that the penalty treats them alike.
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
        scaled. Of two classes those of the second.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts.
    classes_ : ndarray
        The labels, sorted.
    column_names_ : tuple
        What the weights belong to, such as 'colour=red'.
    odds_ratios_ : ndarray of the shape of coef_
        exp(coef_): by what the odds are multiplied when a column rises by 1; with scale=True, by one standard
        deviation.
    odds_ratios_per_unit_ : ndarray of the shape of coef_
        The same for 1 in the unit of the table.
    coef_per_unit_, intercept_per_unit_ : ndarray
        Weights and intercepts for columns in the units of the table.
    objective_ : float or ndarray
        C Σ loss + penalty; one number per problem.
    gradient_norm_ : float or ndarray
        The largest part of the gradient of the objective divided by the total weight times C.
    duality_gap_ : float or ndarray
        How far the objective can be from the least; NaN without a penalty.
    n_iter_ : ndarray of shape (1,) or (n_classes,)
        Steps of each problem.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.

    Examples
    --------
    >>> from weald import LogisticRegression
    >>> model = LogisticRegression().fit([[0], [1], [2], [3]], ["no", "no", "yes", "yes"])
    >>> model.predict_proba([[1.5]]).round(3)
    array([[0.5, 0.5]])
    >>> model.odds_ratios_.round(2)
    array([[2.61]])
    """

    _options = LogisticOptions
    _mark = "_model_"

    classes_: NDArray[Any]
    _model_: LogisticModel

    def __init__(
        self,
        penalty: str | None = "auto",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: ClassWeight = None,
        random_state: RandomState = None,
        solver: str = "lbfgs",
        max_iter: int = 100,
        multi_class: str = "auto",
        verbose: int | bool = 0,
        warm_start: bool = False,
        scale: bool = False,
        unknown: str = "missing",
        categorical_features: CategoricalFeatures = None,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.multi_class = multi_class
        self.verbose = verbose
        self.warm_start = warm_start
        self.scale = scale
        self.unknown = unknown
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def fit(self, X: TableLike, y: TargetLike | None = None, sample_weight: WeightLike | None = None) -> Self:
        """Find the weights of the columns.

        Parameters
        ----------
        X : table
            A pandas, polars or Arrow frame, a NumPy array, a SciPy sparse matrix (what it does not store is
            0) or a list of rows. Categories become a 0/1 column per level, missing values the median of their
            column.
        y : array-like of shape (n_rows,)
            Labels of any type, two of them or more.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of at least 0, which multiply `C`. A row of weight 0 counts as absent.

        Returns
        -------
        self
            The fitted estimator.
        """
        options, owner = self._checked_options(), type(self).__name__
        penalty = chosen_penalty(options, owner)
        table = to_table(X, categorical_features=options.categorical_features)
        weight = read_weight(sample_weight, n_rows=table.n_rows)
        target = weighed_labels(y, table.n_rows, weight, options.class_weight, owner, balance_weights=True)
        reading, matrix = read_columns(table, None, weight, options, owner)
        if weight is not None:
            matrix = matrix.take(np.flatnonzero(weight > 0))
        old = self._last(matrix.n_columns, target.classes) if options.warm_start else None
        found, endless = solved(matrix, target, penalty, options, owner, old)
        facts = {each.name: getattr(found, each.name) for each in fields(Solved)}
        self._set_fitted(LogisticModel(reading=reading, **facts), target.classes)
        tell(found, endless, options, owner)
        return self

    def _last(self, n_columns: int, classes: NDArray[Any]) -> LogisticModel | None:
        """The model of the last fit, if its weights are of the same kind."""
        old: LogisticModel | None = vars(self).get("_model_")
        if old is None or old.coef.shape[1] != n_columns or not np.array_equal(self.classes_, classes):
            return None
        return old

    def _set_fitted(self, model: LogisticModel, classes: NDArray[Any]) -> None:
        """Assign everything a fit (or a model file) brings, at once, and forget what it does not bring."""
        set_fitted(self, {"_model_": model, "classes_": classes}, schema=model.reading.schema)

    # ------------------------------------------------------------------ predictions

    def predict_proba(self, X: TableLike) -> Floats:
        """The probability of each class.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            In the order of `classes_`; rows add up to 1.
        """
        scores, n_threads = self._decisions(X), thread_count(self.n_jobs)
        if scores.shape[1] == 1:
            both = np.column_stack([-scores[:, 0], scores[:, 0]])
            return apply_link("logistic", both, n_threads=n_threads)
        if not self._checked_options().one_against_rest:
            return apply_link("softmax", scores, n_threads=n_threads)
        shares = apply_link("logistic", scores, n_threads=n_threads)
        total = shares.sum(axis=1, keepdims=True)
        found: Floats = shares / total
        return found

    def predict_log_proba(self, X: TableLike) -> Floats:
        """The logarithm of the probability of each class.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            In the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            found: Floats = np.log(self.predict_proba(X))
        return found

    # ------------------------------------------------------------------ what it tells

    @property
    def odds_ratios_(self) -> Floats:
        """exp(coef_): what the odds are multiplied with when a column of the matrix rises by 1."""
        return _exp(self._fitted.coef)

    @property
    def odds_ratios_per_unit_(self) -> Floats:
        """What the odds are multiplied with when a column of the table rises by 1 in its own unit."""
        return _exp(self._fitted.per_unit()[0])

    @property
    def coef_per_unit_(self) -> Floats:
        """The weights of the columns in the units of the table."""
        found: Floats = self._fitted.per_unit()[0]
        return found

    @property
    def intercept_per_unit_(self) -> Floats:
        """The intercepts that go with `coef_per_unit_`."""
        found: Floats = self._fitted.per_unit()[1]
        return found

    @property
    def objective_(self) -> float | Floats:
        """C Σ loss + penalty, one number per problem."""
        return _each(self._fitted.objective)

    @property
    def gradient_norm_(self) -> float | Floats:
        """The largest part of the gradient, over the total weight times C; one number per problem."""
        return _each(self._fitted.gradient)

    @property
    def duality_gap_(self) -> float | Floats:
        """How far the objective can be from the least, one number per problem; NaN without a penalty."""
        return _each(self._fitted.gap)

    @property
    def n_iter_(self) -> NDArray[np.int64]:
        """The steps of each problem."""
        found: NDArray[np.int64] = self._fitted.n_iter
        return found


def _each(values: Floats) -> float | Floats:
    return values[0].item() if len(values) == 1 else values


def _exp(values: Floats) -> Floats:
    with np.errstate(over="ignore"):
        found: Floats = np.exp(values)
    return found
