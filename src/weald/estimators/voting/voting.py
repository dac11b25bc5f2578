"""`VotingClassifier` and `VotingRegressor`: different estimators on the same rows, counted or averaged.

Parameters, methods and results are scikit-learn's. Members get the user's own table and labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier, is_regressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from weald.arrays import Estimator, Names, TableLike, TargetLike, WeightLike
from weald.data.frames.user_rows import count_rows
from weald.data.target import read_labels, read_target, read_weight, restore_labels, warn_of_column
from weald.errors import DataError, UnsupportedTargetError
from weald.estimators.bagging.any_members import shares_of
from weald.estimators.shared.ensemble_options import VotingClassifierOptions, VotingOptions
from weald.estimators.shared.members import label_positions
from weald.estimators.voting.base import BaseVoting, feature_names


def _soft(model: VotingClassifier) -> bool:
    """Whether probabilities are averaged; raises AttributeError, as scikit-learn's tools expect."""
    if model.voting == "hard":
        raise AttributeError(
            f"predict_proba is not available when voting={model.voting!r}. Use voting='soft'."
        )
    return True


class VotingClassifier(ClassifierMixin, BaseVoting):  # type: ignore[misc]  # scikit-learn has no types
    """Classifiers of any kind that vote.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name. `fit` fits copies of them. 'drop' in place of an estimator leaves it out, also by
        `set_params(name='drop')`.
    voting : {"hard", "soft"}, default="hard"
        Whether to count the members' labels, or to average their probabilities.
    weights : list of float, default=None
        What the vote of each member counts; None for all alike.
    n_jobs : int, default=None
        How many members joblib fits at once; None for one, unless a joblib context says otherwise.
    flatten_transform : bool, default=True
        With soft voting, whether `transform` gives a table (n_rows, n_members * n_classes) or an array
        (n_members, n_rows, n_classes).
    verbose : bool, default=False
        Whether to print a line when a member is fitted.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members that are not dropped. They speak the labels of `y`.
    named_estimators_ : Bunch
        The fitted members by name.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if the first member has them.

    Examples
    --------
    >>> from weald import DecisionTreeClassifier, VotingClassifier, XGBClassifier
    >>> members = [("tree", DecisionTreeClassifier()), ("boosted", XGBClassifier(n_estimators=5))]
    >>> X = [["red", 1.0], ["red", 3.0], ["blue", 2.0], ["blue", None]]
    >>> model = VotingClassifier(members, voting="soft").fit(X, ["stop", "stop", "go", "go"])
    >>> model.predict([["red", 2.0]])
    array(['stop'], dtype='<U4')
    """

    _options = VotingClassifierOptions
    _other_kind = staticmethod(is_regressor)
    _kind = "classifier"

    classes_: NDArray[Any]

    def __init__(
        self,
        estimators: Sequence[tuple[str, Estimator | str]],
        *,
        voting: str = "hard",
        weights: Sequence[float] | NDArray[Any] | None = None,
        n_jobs: int | None = None,
        flatten_transform: bool = True,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.n_jobs = n_jobs
        self.flatten_transform = flatten_transform
        self.verbose = verbose

    def fit(
        self,
        X: TableLike,
        y: TargetLike | None = None,
        sample_weight: WeightLike | None = None,
        **fit_params: object,
    ) -> Self:
        """Fit a copy of each member.

        Parameters
        ----------
        X : table
            Whatever the members take; those of weald take any table that weald reads.
        y : array-like of shape (n_rows,)
            Labels of any type.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights; every member must take them, or with metadata routing those that ask for them get them.
        **fit_params
            More for `fit` of the members, if scikit-learn's metadata routing is on.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._check_params(fit_params)
        options = self._checked_options()
        n_rows = count_rows(X)
        found = read_labels(y, n_rows=n_rows, estimator=type(self).__name__)
        if len(found) > 1:
            raise UnsupportedTargetError(
                f"{type(self).__name__} only supports binary or multiclass classification. Multilabel and "
                f"multi-output classification are not supported: y has {len(found)} columns. Fit one for "
                "each."
            )
        warn_of_column(y)
        classes, numbers = found[0]
        weight = read_weight(sample_weight, n_rows=n_rows)
        fitted = self._fit_members(X, restore_labels(classes, numbers), weight, fit_params, options)
        self._set_fitted(fitted, {"classes_": classes})
        return self

    def predict(self, X: TableLike) -> NDArray[Any]:
        """The label with the most votes, or with the largest mean probability; of equal ones the first.

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
        if self.voting == "soft":
            return restore_labels(self.classes_, np.argmax(self.predict_proba(X), axis=1))
        chosen = self._chosen(X)
        votes = np.zeros((len(chosen[0]), len(self.classes_)))
        for positions, weight in zip(chosen, self._kept_weights() or [1.0] * len(chosen), strict=True):
            votes[np.arange(len(votes)), positions] += weight
        return restore_labels(self.classes_, np.argmax(votes, axis=1))

    @available_if(_soft)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """The weighted mean of the members' probabilities; only with voting="soft".

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities in the order of `classes_`.
        """
        shares = np.asarray(self._shares(X))
        return np.average(shares, axis=0, weights=self._kept_weights())

    def transform(self, X: TableLike) -> NDArray[Any]:
        """What each member predicts for each row.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        ndarray
            With hard voting (n_rows, n_members): the positions of the labels in `classes_`. With soft voting
            the probabilities, in the shape that `flatten_transform` asks for.
        """
        check_is_fitted(self)
        if self.voting == "hard":
            return np.stack(self._chosen(X), axis=1)
        shares = self._shares(X)
        return np.hstack(shares) if self.flatten_transform else np.asarray(shares)

    def get_feature_names_out(self, input_features: Names | None = None) -> NDArray[Any]:
        """The names of the columns that `transform` gives.

        Parameters
        ----------
        input_features : ignored
            For scikit-learn's tools.

        Returns
        -------
        ndarray of str
            Names made of the class, the member and, with soft voting, the number of the label.
        """
        check_is_fitted(self)
        names = [name for name, member in self.named_estimators_.items() if not isinstance(member, str)]
        if self.voting == "soft":
            if not self.flatten_transform:
                raise DataError(
                    "get_feature_names_out is not supported when `voting='soft'` and `flatten_transform="
                    "False`: the result has three dimensions."
                )
            names = [f"{name}{k}" for name in names for k in range(len(self.classes_))]
        return feature_names(type(self).__name__, names)

    def _chosen(self, X: TableLike) -> list[NDArray[np.int64]]:
        """The position of each member's label in `classes_`."""
        return self._predicted(lambda member, table: label_positions(member.predict(table), self.classes_), X)

    def _shares(self, X: TableLike) -> list[NDArray[np.float64]]:
        """The probabilities of each member, in the order of `classes_`."""

        def shares(member: Estimator, table: TableLike) -> NDArray[np.float64]:
            if not hasattr(member, "predict_proba"):
                raise AttributeError("it has no predict_proba, which voting='soft' needs. Use voting='hard'.")
            return shares_of(member, table, self.classes_)

        return self._predicted(shares, X)


class VotingRegressor(RegressorMixin, BaseVoting):  # type: ignore[misc]  # scikit-learn has no types
    """Regressors of any kind, averaged.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name. `fit` fits copies of them. 'drop' in place of an estimator leaves it out, also by
        `set_params(name='drop')`.
    weights : list of float, default=None
        What the prediction of each member counts; None for all alike.
    n_jobs : int, default=None
        How many members joblib fits at once; None for one, unless a joblib context says otherwise.
    verbose : bool, default=False
        Whether to print a line when a member is fitted.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members that are not dropped.
    named_estimators_ : Bunch
        The fitted members by name.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if the first member has them.

    Examples
    --------
    >>> from weald import DecisionTreeRegressor, VotingRegressor
    >>> members = [("stump", DecisionTreeRegressor(max_depth=1)), ("tree", DecisionTreeRegressor())]
    >>> model = VotingRegressor(members).fit([[1.0], [2.0], [8.0]], [10.0, 12.0, 40.0])
    >>> model.predict([[1.0]])
    array([10.5])
    """

    _options = VotingOptions
    _other_kind = staticmethod(is_classifier)
    _kind = "regressor"

    def __init__(
        self,
        estimators: Sequence[tuple[str, Estimator | str]],
        *,
        weights: Sequence[float] | NDArray[Any] | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: TableLike,
        y: TargetLike | None = None,
        sample_weight: WeightLike | None = None,
        **fit_params: object,
    ) -> Self:
        """Fit a copy of each member.

        Parameters
        ----------
        X : table
            Whatever the members take; those of weald take any table that weald reads.
        y : array-like of shape (n_rows,)
            Finite numbers.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights; every member must take them, or with metadata routing those that ask for them get them.
        **fit_params
            More for `fit` of the members, if scikit-learn's metadata routing is on.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._check_params(fit_params)
        options = self._checked_options()
        n_rows = count_rows(X)
        values = read_target(y, n_rows=n_rows, estimator=type(self).__name__)
        if values.shape[1] > 1:
            raise DataError(
                f"{type(self).__name__} takes one number per row; y has {values.shape[1]} columns. Fit one "
                "for each."
            )
        warn_of_column(y)
        weight = read_weight(sample_weight, n_rows=n_rows)
        self._set_fitted(self._fit_members(X, values[:, 0], weight, fit_params, options), {})
        return self

    def predict(self, X: TableLike) -> NDArray[np.float64]:
        """The weighted mean of the members' predictions.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predicted targets.
        """
        predicted = self.transform(X)
        return np.average(predicted, axis=1, weights=self._kept_weights())

    def transform(self, X: TableLike) -> NDArray[np.float64]:
        """The prediction of each member.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows, n_members)
            Predictions.
        """

        def numbers(member: Estimator, table: TableLike) -> NDArray[np.float64]:
            predicted = np.asarray(member.predict(table), np.float64)
            if predicted.ndim != 1:
                raise DataError(
                    f"it predicts an array of shape {predicted.shape} where one number per row is needed."
                )
            return predicted

        return np.stack(self._predicted(numbers, X), axis=1)

    def get_feature_names_out(self, input_features: Names | None = None) -> NDArray[Any]:
        """The names of the columns that `transform` gives.

        Parameters
        ----------
        input_features : ignored
            For scikit-learn's tools.

        Returns
        -------
        ndarray of str
            Names made of the class and the member.
        """
        check_is_fitted(self)
        names = [name for name, member in self.named_estimators_.items() if not isinstance(member, str)]
        return feature_names(type(self).__name__, names)
