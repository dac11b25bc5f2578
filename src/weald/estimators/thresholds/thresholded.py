"""`Thresholded`: a classifier that decides at a threshold of its own, or by the least expected cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from weald.arrays import Estimator, Folds, RandomState, TableLike, TargetLike, WeightLike
from weald.data.frames.user_rows import indexable, outline, take
from weald.data.target import Labels, read_labels, read_weight, restore_labels, warn_of_column
from weald.errors import DataError
from weald.estimators.shared.class_weight import without_absent
from weald.estimators.shared.contract import CheckedParameters
from weald.estimators.shared.members import limit_input_tags
from weald.estimators.shared.saving import Saving
from weald.estimators.shared.state import set_fitted
from weald.estimators.thresholds.curve import ThresholdCurve
from weald.estimators.thresholds.options import Threshold, ThresholdOptions, is_cost
from weald.estimators.thresholds.saving import ThresholdState
from weald.estimators.thresholds.task import Decision, ThresholdTask

if TYPE_CHECKING:
    from sklearn.utils import Tags


class Thresholded(
    ThresholdState,
    CheckedParameters,
    Saving,
    ClassifierMixin,  # type: ignore[misc]  # scikit-learn has no types
    BaseEstimator,  # type: ignore[misc]
):
    """A classifier that calls a row positive from another probability on than one half.

    The threshold is a number, or the one that is best by a metric or by costs on rows that the estimator did
    not learn from: out-of-bag rows where a forest or bagging has them, which costs no further fit, else the
    rows held out in folds, by scikit-learn's TunedThresholdClassifierCV. With costs of more than two classes
    every row is called what costs least by its probabilities. Probabilities stay those of the estimator.

    Parameters
    ----------
    estimator : classifier
        With `predict_proba`, by any library that keeps scikit-learn's contract.
    threshold : {"balanced_accuracy", "f1"}, float, matrix or callable, default="balanced_accuracy"
        What the threshold is best for; or the threshold itself, between 0 and 1; or what decisions cost, in
        row i and column j what it costs to call a row of class i class j; or a metric(y_true, y_pred) of
        yours, of which more is better. More than two classes take a matrix.
    cv : int, splitter, "oob" or "prefit", default=None
        Which rows judge thresholds: those held out in folds; those out of bag; or those given to `fit`, where
        the estimator is fitted already. None for out-of-bag rows where there are any, else five folds.
    pos_label : label, default=None
        The positive class of two, whose probability is compared; None for the rarer one (of equals the
        second).
    random_state : int or RandomState, default=None
        What shuffles rows into folds; None for the same folds every time.

    Attributes
    ----------
    estimator_ : classifier
        The estimator, fitted on all rows.
    threshold_ : float
        From which probability of `pos_label_` on a row is called so. Not of more than two classes.
    pos_label_ : label
        The positive class. Not of more than two classes.
    best_score_ : float
        The score at the threshold, on the rows that judged it; only if it was looked for.
    curve_ : ThresholdCurve
        `thresholds` and `scores`, to read and plot; only if the threshold was looked for.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if the estimator tells them.

    Examples
    --------
    >>> import numpy as np
    >>> from weald import RandomForestClassifier, Thresholded
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> y = np.where(X[:, 0] + rng.normal(size=2000) > 2.5, "fault", "fine")
    >>> model = Thresholded(RandomForestClassifier(random_state=0), threshold="f1").fit(X, y)
    >>> model.pos_label_, bool(0.1 < model.threshold_ < 0.5)
    (np.str_('fault'), True)
    """

    _options = ThresholdOptions
    _nested = True

    estimator_: Estimator
    classes_: NDArray[Any]
    threshold_: float
    curve_: ThresholdCurve
    _decision: Decision

    def __init__(
        self,
        estimator: Estimator,
        threshold: Threshold = "balanced_accuracy",
        *,
        cv: Folds | str | None = None,
        pos_label: object = None,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.cv = cv
        self.pos_label = pos_label
        self.random_state = random_state

    def fit(self, X: TableLike, y: TargetLike | None = None, sample_weight: WeightLike | None = None) -> Self:
        """Fit the estimator, and look for the threshold.

        Parameters
        ----------
        X : table
            Any table that the estimator takes.
        y : array-like of shape (n_rows,)
            Labels of any type.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for `fit` of the estimator. Thresholds are judged on rows that count alike; those of
            weight 0 are left out.

        Returns
        -------
        self
            The fitted estimator.
        """
        options: ThresholdOptions = self._checked_options()
        table = indexable(X)
        n_rows = outline(table).n_rows
        weight = read_weight(sample_weight, n_rows=n_rows)
        labels = self._labels(y, n_rows, weight)
        if weight is not None and not weight.all():
            rows = np.flatnonzero(weight)
            table, weight = take(table, rows), weight[rows]
            labels = Labels(labels.classes, labels.indices[rows])
        task = ThresholdTask(type(self).__name__, options, labels)
        fitted, curve = task.fitted(table, weight)
        self._set_fitted(fitted, task.decision(curve), labels.classes, curve)
        return self

    def _labels(self, y: TargetLike | None, n_rows: int, weight: NDArray[np.float64] | None) -> Labels:
        found = read_labels(y, n_rows=n_rows, estimator=type(self).__name__)
        if len(found) > 1:
            raise DataError(
                f"{type(self).__name__} takes one label per row; y has {len(found)} columns. Fit one for "
                "each."
            )
        warn_of_column(y)
        return without_absent(found[0], weight)

    def _set_fitted(
        self,
        fitted: Estimator,
        decision: Decision,
        classes: NDArray[Any],
        curve: ThresholdCurve | None,
    ) -> None:
        """Assign everything a fit (or a model file) brings, at once."""
        brought: dict[str, Any] = {"estimator_": fitted, "classes_": classes, "_decision": decision}
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                brought[name] = getattr(fitted, name)
        if decision.threshold is not None:
            brought |= {"threshold_": decision.threshold, "pos_label_": classes[decision.place]}
        if curve is not None:
            brought |= {"curve_": curve, "best_score_": float(curve.scores[curve.best])}
        forgotten = ("threshold_", "pos_label_", "curve_", "best_score_", "n_features_in_")
        set_fitted(self, brought, forgotten=forgotten)

    def predict(self, X: TableLike) -> NDArray[Any]:
        """The label that the threshold, or the least expected cost, decides for.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels of the type that `fit` was given.
        """
        check_is_fitted(self)
        return restore_labels(self.classes_, self._decision.chosen(self.predict_proba(X)))

    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """The probabilities that the estimator gives.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            In the order of `classes_`.
        """
        check_is_fitted(self)
        found: NDArray[np.float64] = np.asarray(self.estimator_.predict_proba(X), np.float64)  # type: ignore[attr-defined]
        return found

    def predict_log_proba(self, X: TableLike) -> NDArray[np.float64]:
        """The logarithm of `predict_proba`; -inf for a share of 0.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Natural logarithms, in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: TableLike) -> NDArray[np.float64]:
        """How far probabilities are beyond the threshold, or what decisions would cost, with a minus.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            Of two classes above 0 where the second is decided for; of more, minus the expected cost of
            calling the row each of them, of which `predict` takes the largest.
        """
        check_is_fitted(self)
        return self._decision.margins(self.predict_proba(X))

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` has ended well once."""
        return "_decision" in vars(self)

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect: tables as the estimator takes them; without costs two classes."""
        tags = super().__sklearn_tags__()
        limit_input_tags(tags, [self.estimator])
        tags.classifier_tags.multi_class = is_cost(self.threshold)
        return tags
