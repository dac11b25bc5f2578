"""`Conformal`: intervals and sets of labels, with a stated coverage, around any estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from weald.arrays import AnyEstimator, Estimator, Folds, RandomState, TableLike, TargetLike, WeightLike
from weald.data.frames.user_rows import outline
from weald.data.schema import Schema
from weald.data.target import warn_of_column
from weald.errors import ParameterError
from weald.estimators.conformal.fitting import Fitted, Judges, calibrated, fitted, tell_of_too_few
from weald.estimators.conformal.judges import numbers, shares
from weald.estimators.conformal.options import ConformalOptions, read_coverage
from weald.estimators.conformal.quantiles import QuantileModels
from weald.estimators.conformal.rows import Rows
from weald.estimators.conformal.saving import SavedConformal
from weald.estimators.shared.contract import CheckedParameters
from weald.estimators.shared.members import in_order, limit_input_tags
from weald.estimators.shared.saving import Saving
from weald.estimators.shared.state import class_attributes, set_fitted
from weald.uncertainty.conformal import Calibration

if TYPE_CHECKING:
    from sklearn.utils import Tags


def _has_shares(model: Conformal) -> bool:
    """Whether the estimator gives probabilities; raises AttributeError, as scikit-learn's tools expect."""
    estimator = getattr(model, "estimator_", model.estimator)
    if not hasattr(estimator, "predict_proba"):
        raise AttributeError(f"The {type(estimator).__name__} of this Conformal has no predict_proba.")
    return True


class Conformal(
    SavedConformal,
    CheckedParameters,
    MetaEstimatorMixin,  # type: ignore[misc]  # scikit-learn has no types
    Saving,
    BaseEstimator,  # type: ignore[misc]
):
    """Prediction intervals of any regressor, and prediction sets of any classifier.

    Rows that a model did not see tell how far it errs; an interval, or a set of labels, is made wide enough
    for the share of new targets that is asked for. Nothing is assumed of the model or of the distribution,
    but that new rows and those of `fit` are exchangeable (drawn alike). Then, in finite samples,

    - "split" and "cqr" hold the target with probability at least `coverage`,
    - "cv+" and "jackknife+" at least 2 · coverage - 1 (0.8 for 0.9), and as a rule very nearly `coverage`,

    on average over rows and fits, not for each kind of row. `conformity_score="scaled"` and "cqr" make
    intervals wide where the target is noisy; `class_conditional` has the coverage in every class.

    Parameters
    ----------
    estimator : estimator
        Any classifier with `predict_proba`, or any regressor, of any library that keeps scikit-learn's
        contract. It gets rows of the table as it is. `fit` fits copies; `calibrate` takes it as fitted.
    method : {"split", "cv+", "jackknife+", "cqr"}, default="split"
        "split": one fit, on the rows that are not held out. "cv+": a fit for each fold, and one of all rows
        for `predict`. "jackknife+": each row left out in turn. Forests and bagging of weald need no
        refit for it: a row is judged by the members whose bags lack it, and the model keeps a bit for each of
        these pairs, not the table. "cqr": quantiles, made wider or narrower by rows held out, of
        XGBRegressor(objective="reg:quantileerror") of weald or xgboost, GradientBoostingRegressor(
        loss="quantile") or another with such a loss, or a parameter `quantile` (one fit for each level), or
        of a forest of weald (which then keeps what rows its leaves hold).
    conformity_score : {"absolute", "scaled", "lac", "aps"}, default=None
        How unlike the truth a prediction is. Numbers: "absolute" error (the default), or "scaled": divided by
        the standard deviation of the forest's trees for the row. Labels: "lac", 1 minus the probability of
        the label (the default), which makes the smallest sets; or "aps", the probabilities of all labels that
        are likelier and a drawn part of its own, which makes larger sets for rows that are harder. Both may
        leave a set empty.
    calibration_size : int or float, default=0.25
        How many rows "split" and "cqr" hold out; a float is a share.
    cv : int, splitter or iterable of (train, test), default=5
        The folds of "cv+": a number is of shuffled folds, by class for labels.
    quantiles : sequence of float, default=None
        The levels of "cqr", ascending: the first and the last are the ends. None for the estimator's own
        (`quantile_alpha`), or else (0.05, 0.5, 0.95). Any coverage may be asked of any levels; intervals are
        best where the two agree.
    class_conditional : bool, default=False
        Whether each class has its own calibration (Mondrian), so that the coverage holds in every class.
    max_rows : int, default=2000
        The most rows that out-of-bag "jackknife+" calibrates by, drawn by the ensemble's seed; None for all.
        The cost of predictions is rows × these × members.
    n_jobs : int, default=None
        How many copies joblib fits at once. Results do not depend on it.
    random_state : int or RandomState, default=None
        What rows are held out; None for the same ones in every fit.
    verbose : int, default=0
        Whether to show progress on stderr where there are many fits.

    Attributes
    ----------
    estimator_ : estimator
        What `predict` asks: fitted on all rows, or for "split" and "cqr" on those not held out.
    estimators_ : list of estimators
        The fitted models behind intervals and sets.
    conformity_scores_ : ndarray of shape (n_calibration_rows,)
        The score of each row that calibrates.
    calibration_rows_ : ndarray of shape (n_calibration_rows,)
        The numbers of these rows in the table of `fit` or `calibrate`, ascending.
    classes_ : ndarray of shape (n_classes_,)
        The labels, sorted. Only for classifiers, as what follows.
    n_classes_ : int
        How many labels.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.

    Examples
    --------
    >>> import numpy as np
    >>> from weald import Conformal, RandomForestRegressor
    >>> X = np.linspace(0, 10, 200)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> model = Conformal(RandomForestRegressor(random_state=0), method="jackknife+").fit(X, y)
    >>> model.predict_interval([[1.0], [5.0]], coverage=0.9).round(2)
    array([[ 0.81,  0.87],
           [-0.99, -0.93]])
    """

    _options = ConformalOptions
    _nested = True

    estimator_: AnyEstimator
    conformity_scores_: NDArray[np.float64]
    calibration_rows_: NDArray[np.int64]
    classes_: NDArray[Any]
    _judges: Judges
    _calibration: Calibration
    _schema: Schema

    def __init__(
        self,
        estimator: Estimator,
        *,
        method: str = "split",
        conformity_score: str | None = None,
        calibration_size: int | float = 0.25,
        cv: Folds = 5,
        quantiles: Sequence[float] | None = None,
        class_conditional: bool = False,
        max_rows: int | None = 2000,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.conformity_score = conformity_score
        self.calibration_size = calibration_size
        self.cv = cv
        self.quantiles = quantiles
        self.class_conditional = class_conditional
        self.max_rows = max_rows
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: TableLike, y: TargetLike | None = None, sample_weight: WeightLike | None = None) -> Self:
        """Fit the estimator and calibrate it by rows that it did not see.

        Parameters
        ----------
        X : table
            Whatever the estimator takes; those of weald take any table that weald reads.
        y : array-like of shape (n_rows,)
            Labels for a classifier, finite numbers for a regressor.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for the fits. In calibration rows count alike, but for those of weight 0, which count as
            absent.

        Returns
        -------
        self
            The fitted estimator.
        """
        options, owner = self._checked_options(), type(self).__name__
        rows = Rows.read(X, y, sample_weight, labels=options.labels, owner=owner)
        warn_of_column(y)
        self._set_fitted(fitted(options, rows, owner), rows.schema, rows.classes)
        return self

    def calibrate(self, X: TableLike, y: TargetLike | None = None) -> Self:
        """Calibrate an estimator that is fitted already, without fitting anything.

        That is `estimator_` if this was fitted or calibrated before, else `estimator`. The rows must be
        others than those it was fitted on; but a fitted forest or bagging of weald with method="jackknife+"
        is given the very table of its fit.

        Parameters
        ----------
        X : table
            As the fitted estimator takes it.
        y : array-like of shape (n_rows,)
            Labels that it knows, or numbers.

        Returns
        -------
        self
            The calibrated estimator.
        """
        options, owner = self._checked_options(), type(self).__name__
        before = self if self.__sklearn_is_fitted__() else None
        model: AnyEstimator = options.estimator if before is None else before.estimator_
        check_is_fitted(model)
        known = np.asarray((before or model).classes_) if options.labels else None
        X = X if before is None else before._read(X)
        rows = Rows.read(X, y, None, labels=options.labels, owner=owner, known=known)
        warn_of_column(y)
        found = calibrated(options, rows, model, owner, None if before is None else before._judges)
        self._set_fitted(found, rows.schema, rows.classes)
        return self

    def _checked_options(self) -> ConformalOptions:
        """The parameters as a validated record, each fit for the others."""
        options = cast("ConformalOptions", super()._checked_options())
        options.check(type(self).__name__)
        return options

    def _set_fitted(self, found: Fitted, schema: Schema, classes: NDArray[Any] | None) -> None:
        """Assign everything a fit (or a model file) brings, at once."""
        learned: dict[str, Any] = {
            "estimator_": found.estimator,
            "conformity_scores_": found.calibration.scores,
            "_judges": found.judges,
            "_calibration": found.calibration,
            "_schema": schema,
        }
        if found.rows is not None:
            learned["calibration_rows_"] = found.rows
        learned |= class_attributes(None if classes is None else (classes,))
        forgotten = ("classes_", "n_classes_", "calibration_rows_")
        set_fitted(self, learned, schema=schema, forgotten=forgotten)

    @property
    def estimators_(self) -> list[Estimator]:
        """The fitted models behind intervals and sets."""
        check_is_fitted(self)
        judges: Any = self._judges
        return list(judges.models) if hasattr(judges, "models") else [judges.model]

    def predict(self, X: TableLike) -> NDArray[Any]:
        """What the estimator predicts; with "cqr" the median, or the middle of the two quantiles.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels or numbers.
        """
        X = self._read(X)
        if isinstance(self._judges, QuantileModels):
            return self._judges.middle(X)
        if "classes_" in vars(self):
            labels: NDArray[Any] = np.asarray(self.estimator_.predict(X))
            return labels
        return numbers(self.estimator_, X, outline(X).n_rows)

    @available_if(_has_shares)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """The probabilities that the estimator gives.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_)
            In the order of `classes_`.
        """
        X = self._read(X)
        return shares(self.estimator_, X, outline(X).n_rows, self.classes_)

    def predict_interval(self, X: TableLike, coverage: float = 0.9) -> NDArray[np.float64]:
        """An interval for the target of each row.

        Parameters
        ----------
        X : table
            As in `fit`.
        coverage : float, default=0.9
            The share of targets that the intervals should hold, between 0 and 1. It takes at least
            coverage / (1 - coverage) calibration rows, or all ends are infinite, with a warning.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            The lower and the upper end.
        """
        X = self._read(X)
        if "classes_" in vars(self):
            raise ParameterError(
                f"predict_interval is for numbers, and {type(self.estimator_).__name__} predicts labels. Use "
                "predict_set."
            )
        coverage = read_coverage(coverage, "predict_interval")
        tell_of_too_few(self._calibration, coverage)
        return self._judges.intervals(X, self._calibration, coverage)

    def predict_set(
        self, X: TableLike, coverage: float = 0.9, *, as_labels: bool = False
    ) -> NDArray[np.bool_] | list[NDArray[Any]]:
        """The labels that each row may have.

        Parameters
        ----------
        X : table
            As in `fit`.
        coverage : float, default=0.9
            The share of rows whose label should be in the set, between 0 and 1; in every class, with
            `class_conditional`. A class with too few calibration rows for it is in every set, with a warning.
        as_labels : bool, default=False
            Whether to give the labels of each set, in the order of `classes_`, instead of a matrix.

        Returns
        -------
        ndarray of bool of shape (n_rows, n_classes_), or list of ndarray
            True where the label is in the set, in the order of `classes_`; or the labels of each row.
        """
        X = self._read(X)
        if "classes_" not in vars(self):
            raise ParameterError(
                f"predict_set is for labels, and {type(self.estimator_).__name__} predicts numbers. Use "
                "predict_interval."
            )
        coverage = read_coverage(coverage, "predict_set")
        tell_of_too_few(self._calibration, coverage, self.classes_)
        judges = self._judges
        assert not isinstance(judges, QuantileModels)
        found = judges.sets(X, self._calibration, coverage, self.classes_)
        return [self.classes_[row] for row in found] if as_labels else found

    def score(
        self, X: TableLike, y: TargetLike | None = None, sample_weight: WeightLike | None = None
    ) -> float:
        """The accuracy of `predict` for labels, R² for numbers.

        Parameters
        ----------
        X : table
            As in `fit`.
        y : array-like of shape (n_rows,)
            The targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights.

        Returns
        -------
        float
            At most 1.
        """
        from sklearn.metrics import accuracy_score, r2_score

        metric = accuracy_score if is_classifier(self.estimator) else r2_score
        return float(metric(y, self.predict(X), sample_weight=sample_weight))

    def _read(self, X: TableLike) -> Any:
        """A table whose rows can be taken, with the columns of training in their order."""
        check_is_fitted(self)
        return in_order(X, self._schema, type(self).__name__)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` or `calibrate` has ended well once."""
        return "_calibration" in vars(self)

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect: what it may of the estimator, one output."""
        tags = super().__sklearn_tags__()
        try:
            theirs = get_tags(self.estimator)
        except (AttributeError, TypeError, ValueError):
            return tags  # not an estimator, which `fit` will say
        tags.estimator_type = theirs.estimator_type
        tags.classifier_tags, tags.regressor_tags = theirs.classifier_tags, theirs.regressor_tags
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        tags.target_tags.required = True
        limit_input_tags(tags, [self.estimator])
        return tags
