"""`BaggingClassifier` and `BaggingRegressor`: any estimator, fitted on many draws of the rows.

Parameters and attributes are scikit-learn's. Members that are weald's trees share one coding of the table;
others get rows of the user's own table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier, is_regressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from weald.arrays import Estimator, TableLike, TargetLike
from weald.data.target import read_labels, read_target, restore_labels, warn_of_column
from weald.errors import DataError, ParameterError
from weald.estimators.bagging.any_members import OtherMembers
from weald.estimators.bagging.base import Bagged, BaseBagging
from weald.estimators.bagging.out_of_bag import OutOfBagMeans, score
from weald.estimators.shared.class_weight import Weights, without_absent
from weald.estimators.shared.fitted import Target
from weald.estimators.shared.labels import most_frequent
from weald.estimators.tree.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor

if TYPE_CHECKING:
    from sklearn.utils import Tags


def _decides(model: BaseBagging) -> bool:
    """Whether the members have decision functions; raises AttributeError, as scikit-learn's tools expect."""
    base = getattr(model, "estimator_", model.estimator)
    if not hasattr(base, "decision_function"):
        raise AttributeError(f"The members of this {type(model).__name__} have no decision_function.")
    return True


class BaggingClassifier(ClassifierMixin, BaseBagging):  # type: ignore[misc]  # scikit-learn has no types
    """Classifiers on random draws of the rows, averaged.

    Each member is fitted on a bag: rows drawn with replacement (bagging) or without (pasting), and if asked
    for a draw of the columns. The ensemble averages the members' probabilities, or counts their votes where
    they give none.

    Parameters
    ----------
    estimator : estimator, default=None
        What is fitted on each bag, by any library that keeps scikit-learn's contract; None for weald's
        DecisionTreeClassifier. With weald's trees the table may hold anything that weald reads, and is coded
        once for all members.
    n_estimators : int, default=10
        How many members.
    max_samples : int or float, default=None
        How many rows a bag draws; a float is a fraction of the rows, or of the sum of `sample_weight`, None
        means as many as there are.
    max_features : int or float, default=1.0
        How many columns a bag draws; a float is a fraction of the columns.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement. Only then rows are in bags as often as they weigh.
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement. A member has a column that is drawn twice only once, so
        that the number of columns varies.
    oob_score : bool or callable, default=False
        Whether to judge each row by the members whose bags lack it: True for the accuracy, or a function
        `metric(y_true, y_pred)`.
    warm_start : bool, default=False
        Whether a further `fit` keeps the members and adds those that `n_estimators` is short of.
    n_jobs : int, default=None
        Threads for weald's trees (None for every CPU of the process), or processes of joblib for other
        members (None for one, unless a joblib context says otherwise). The result does not depend on it.
    random_state : int or RandomState, default=None
        What the draws start from; members with a `random_state` get one each.
    verbose : int, default=0
        Whether to show progress on stderr.

    Attributes
    ----------
    estimator_ : estimator
        What was fitted on each bag.
    estimators_ : list of estimators
        The members. They speak the labels of `y`.
    category_shrinkage_ : dict
        Of weald's trees: by categorical column, how many rows a category needs for its own mean to count
        half; infinity where the means vary no more than chance. Not kept in model files.
    estimators_features_ : list of ndarray
        The columns of each member, by position.
    estimators_samples_ : list of ndarray
        The rows of each bag in ascending order, drawn again from the seed when asked for.
    classes_ : ndarray of shape (n_classes_,)
        The labels, sorted.
    n_classes_ : int
        How many labels.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.
    oob_score_ : float
        The accuracy (rows count by their weight), or what the metric says, of rows out of bag. Only with
        `oob_score`, as what follows.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes_)
        The mean shares of the members whose bags lack the row. NaN for rows in every bag: a warning names
        them.

    Examples
    --------
    >>> from weald import BaggingClassifier
    >>> X = [["red", 1.0], ["red", 3.0], ["blue", 2.0], ["blue", None]] * 5
    >>> model = BaggingClassifier(random_state=0).fit(X, ["stop", "stop", "go", "go"] * 5)
    >>> model.predict([["red", 2.0], ["blue", 2.0]])
    array(['stop', 'go'], dtype='<U4')
    """

    _default: ClassVar[type[Any]] = DecisionTreeClassifier

    classes_: NDArray[Any]

    def predict(self, X: TableLike, **params: object) -> NDArray[Any]:
        """The label with the largest mean share; of equal ones the first in `classes_`.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.
        **params
            More for the members, if scikit-learn's metadata routing is on.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels of the type that `fit` was given.
        """
        return restore_labels(self._classes(), most_frequent(self._mean(X, "predict", params)))

    def predict_proba(self, X: TableLike, **params: object) -> NDArray[np.float64]:
        """The mean of the members' probabilities, or the shares of their votes if they give none.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.
        **params
            More for the members, if scikit-learn's metadata routing is on.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_)
            Shares that add up to 1, in the order of `classes_`.
        """
        return self._mean(X, "predict_proba", params)

    def predict_log_proba(self, X: TableLike, **params: object) -> NDArray[np.float64]:
        """The logarithm of `predict_proba`; -inf for a share of 0.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.
        **params
            More for the members, if scikit-learn's metadata routing is on.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_)
            Natural logarithms, in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self._mean(X, "predict_log_proba", params))

    @available_if(_decides)  # type: ignore[untyped-decorator]
    def decision_function(self, X: TableLike, **params: object) -> NDArray[np.float64]:
        """The mean of the members' decision functions.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.
        **params
            More for the members, if scikit-learn's metadata routing is on.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes_)
            As the members give them.
        """
        check_is_fitted(self)
        members, n_jobs = self._members, self._checked_options().n_jobs
        assert isinstance(members, OtherMembers)
        asked = self._routed("decision_function", params)
        predicted = members.each("decisions", members.read(X, type(self).__name__), n_jobs, asked=asked)
        total = next(predicted)
        for part in predicted:
            total = total + part
        return total / len(members)  # type: ignore[no-any-return]

    def _classes(self) -> NDArray[Any]:
        check_is_fitted(self)
        return self.classes_

    def _read_target(self, y: TargetLike | None, n_rows: int, weight: Weights | None) -> Target:
        found = read_labels(y, n_rows=n_rows, estimator=type(self).__name__)
        found = [without_absent(each, weight) for each in found]
        numbers = np.stack([each.indices for each in found], axis=1)
        return Target(numbers, tuple(each.classes for each in found), weight)

    def _check_target(self, y: TargetLike | None, target: Target) -> None:
        if target.n_outputs > 1:
            raise DataError(
                f"{type(self).__name__} takes one label per row; y has {target.n_outputs} columns. Fit one "
                "for each, or use a DecisionTreeClassifier."
            )
        warn_of_column(y)

    def _check_kind(self, base: Estimator) -> None:
        if is_regressor(base):
            raise ParameterError(
                f"`estimator` of {type(self).__name__} must be a classifier; got {type(base).__name__}, a "
                "regressor. Use BaggingRegressor."
            )

    def _judged(self, found: OutOfBagMeans, bagged: Bagged) -> dict[str, Any]:
        from sklearn.metrics import accuracy_score

        assert bagged.members.classes is not None
        classes, some = bagged.members.classes[0], found.n_votes > 0
        weight = bagged.weight
        some &= True if weight is None else weight > 0
        predicted = restore_labels(classes, most_frequent(found.mean[some]))
        truth = restore_labels(classes, bagged.target.values[some, 0])
        value = score(
            self.oob_score, truth, predicted, None if weight is None else weight[some], accuracy_score
        )
        return {"oob_decision_function_": found.mean, "oob_score_": value}


class BaggingRegressor(RegressorMixin, BaseBagging):  # type: ignore[misc]  # scikit-learn has no types
    """Regressors on random draws of the rows, averaged.

    Each member is fitted on a bag: rows drawn with replacement (bagging) or without (pasting), and if asked
    for a draw of the columns. The ensemble predicts the mean of its members.

    Parameters
    ----------
    estimator : estimator, default=None
        What is fitted on each bag, by any library that keeps scikit-learn's contract; None for weald's
        DecisionTreeRegressor. With weald's trees the table may hold anything that weald reads, and is coded
        once for all members.
    n_estimators : int, default=10
        How many members.
    max_samples : int or float, default=None
        How many rows a bag draws; a float is a fraction of the rows, or of the sum of `sample_weight`, None
        means as many as there are.
    max_features : int or float, default=1.0
        How many columns a bag draws; a float is a fraction of the columns.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement. Only then rows are in bags as often as they weigh.
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement. A member has a column that is drawn twice only once, so
        that the number of columns varies.
    oob_score : bool or callable, default=False
        Whether to judge each row by the members whose bags lack it: True for R², or a function
        `metric(y_true, y_pred)`.
    warm_start : bool, default=False
        Whether a further `fit` keeps the members and adds those that `n_estimators` is short of.
    n_jobs : int, default=None
        Threads for weald's trees (None for every CPU of the process), or processes of joblib for other
        members (None for one, unless a joblib context says otherwise). The result does not depend on it.
    random_state : int or RandomState, default=None
        What the draws start from; members with a `random_state` get one each.
    verbose : int, default=0
        Whether to show progress on stderr.

    Attributes
    ----------
    estimator_ : estimator
        What was fitted on each bag.
    estimators_ : list of estimators
        The members.
    category_shrinkage_ : dict
        Of weald's trees: by categorical column, how many rows a category needs for its own mean to count
        half; infinity where the means vary no more than chance. Not kept in model files.
    estimators_features_ : list of ndarray
        The columns of each member, by position.
    estimators_samples_ : list of ndarray
        The rows of each bag in ascending order, drawn again from the seed when asked for.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.
    oob_score_ : float
        R² (rows count by their weight), or what the metric says, of rows out of bag. Only with `oob_score`,
        as what follows.
    oob_prediction_ : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        The mean of the members whose bags lack the row. NaN for rows in every bag: a warning names them.

    Examples
    --------
    >>> from weald import BaggingRegressor
    >>> model = BaggingRegressor(random_state=0).fit([[1.0], [2.0], [8.0]], [10.0, 10.0, 40.0])
    >>> model.predict([[1.5]])
    array([10.])
    """

    _default = DecisionTreeRegressor

    def predict(self, X: TableLike, **params: object) -> NDArray[np.float64]:
        """The mean of the members' predictions.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.
        **params
            More for the members, if scikit-learn's metadata routing is on.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
            Predicted targets.
        """
        return _flat(self._mean(X, "predict", params))

    def _read_target(self, y: TargetLike | None, n_rows: int, weight: Weights | None) -> Target:
        return Target(read_target(y, n_rows=n_rows, estimator=type(self).__name__), None, weight)

    def _check_target(self, y: TargetLike | None, target: Target) -> None:
        pass  # numbers may have several columns

    def _check_kind(self, base: Estimator) -> None:
        if is_classifier(base):
            raise ParameterError(
                f"`estimator` of {type(self).__name__} must be a regressor; got {type(base).__name__}, a "
                "classifier. Use BaggingClassifier."
            )

    def _judged(self, found: OutOfBagMeans, bagged: Bagged) -> dict[str, Any]:
        from sklearn.metrics import r2_score

        some, weight = found.n_votes > 0, bagged.weight
        some &= True if weight is None else weight > 0
        truth, predicted = _flat(bagged.target.values[some]), _flat(found.mean[some])
        value = score(self.oob_score, truth, predicted, None if weight is None else weight[some], r2_score)
        return {"oob_prediction_": _flat(found.mean), "oob_score_": value}

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect of the targets this takes: those of the base estimator."""
        tags = super().__sklearn_tags__()
        base = self._default() if self.estimator is None else self.estimator
        if hasattr(base, "__sklearn_tags__"):
            theirs = base.__sklearn_tags__().target_tags
            tags.target_tags.multi_output = theirs.multi_output
            tags.target_tags.positive_only = theirs.positive_only
        return tags


def _flat(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """One column as a vector."""
    return values[:, 0] if values.shape[1] == 1 else values
