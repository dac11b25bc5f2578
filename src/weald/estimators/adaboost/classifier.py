"""`AdaBoostClassifier`: members fitted where those before them were wrong, which vote by how good they are.

Parameters and attributes are scikit-learn's. Members that are weald's trees share one coding of the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from weald import engine
from weald.adaboost.following import LabelScore
from weald.adaboost.judging import LabelTask
from weald.adaboost.records import Round
from weald.adaboost.table import RoundTable, round_table
from weald.arrays import Estimator, RandomState, TableLike, TargetLike, WeightLike
from weald.data.target import read_labels, restore_labels
from weald.engine import thread_count
from weald.estimators.adaboost.base import BaseAdaBoost
from weald.estimators.adaboost.options import AdaBoostClassifierOptions, AdaBoostOptions
from weald.estimators.shared.class_weight import Weights, without_absent
from weald.estimators.shared.fitted import Target
from weald.estimators.shared.labels import most_frequent
from weald.estimators.tree.decision_tree import DecisionTreeClassifier


class AdaBoostClassifier(ClassifierMixin, BaseAdaBoost):  # type: ignore[misc]  # scikit-learn has no types
    """Classifiers one after another, each on rows weighed by the mistakes of those before it.

    Two classes are boosted by AdaBoost, more by SAMME. A member with the weighted error ε counts
    ln((1 − ε) / ε) + ln(classes − 1), times the learning rate; rows it has wrong weigh that much more in the
    next round.

    Parameters
    ----------
    estimator : estimator, default=None
        What is fitted in each round, by any library that keeps scikit-learn's contract; None for weald's
        DecisionTreeClassifier(max_depth=1), a stump. With weald's trees the table may hold anything that
        weald reads, and is coded once.
    n_estimators : int, default=50
        The most rounds. A member without a mistake ends boosting.
    learning_rate : float, default=1.0
        What the weights of members are multiplied with.
    resample : {"compound", "reset", "replace"}, default=None
        None gives members weights for the rows. The others draw as many rows as there are, by weight and with
        replacement. "compound": the member is judged on all rows, whose weights go on compounding. "reset":
        it is judged on its sample, and weights start anew from the first ones. "replace": the sample becomes
        the data of the next round. Under the last two the first member has all rows, if those weigh the same.
    worse_than_chance : {"stop", "reset", "negate"}, default="stop"
        What happens when the error is that of guessing, or more: boosting ends; the round is tried again with
        the weights of the start; or the member counts negatively, a vote for the opposite.
    probability : {"softmax", "logistic"}, default="softmax"
        How votes become probabilities: the softmax of votes as shares of all (scikit-learn's), or that of the
        votes themselves, which for two classes is the logistic function of twice the sum of says.
    cat_penalty : float or "auto", default="auto"
        How much weald's trees hold back from categories: the best of all splits by categories gains by
        chance, and later rounds cannot take that back. "auto" leaves it to the `cat_penalty` of the tree,
        a number holds back from columns of more than five categories, 0 not at all.
    early_stopping : float or (X, y), default=None
        End when the error on a share of the rows, held out, or on a set no longer falls; the rounds up to the
        best one are kept.
    early_stopping_rounds : int, default=None
        Rounds without improvement before that; 10 if `early_stopping` is given.
    keep_row_weights : bool, default=False
        Whether to keep the row weights of every round in `row_weights_`. `row_weights` and
        `staged_row_weights` tell them again without.
    n_jobs : int, default=None
        Threads for weald's trees; None for every CPU of the process. The model does not depend on it.
    random_state : int or RandomState, default=None
        What samples and rows held out are drawn from; members with a `random_state` get one each.
    verbose : int, default=0
        Whether to show progress on stderr.

    Attributes
    ----------
    estimator_ : estimator
        What was fitted in each round.
    estimators_ : list of estimators
        The members. They speak the labels of `y`.
    estimator_weights_ : ndarray of shape (n_rounds,)
        What each member counts: twice its say.
    estimator_errors_ : ndarray of shape (n_rounds,)
        The weighted error of each.
    category_shrinkage_ : dict
        Of weald's trees: by categorical column, how many rows a category needs for its own mean to count
        half; infinity where the means vary no more than chance. Not kept in model files.
    rounds_ : RoundTable
        Error, say, training error and its bound, round by round.
    classes_ : ndarray of shape (n_classes_,)
        The labels, sorted.
    n_classes_ : int
        How many labels.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The mean of the members' importances, by weight; if they have any.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.
    validation_errors_ : ndarray
        The error on the rows held out, for every round; only with `early_stopping`, not kept in model files.
    row_weights_ : ndarray of shape (n_rounds, n_rows)
        Only with `keep_row_weights`; not kept in model files.

    Examples
    --------
    >>> from weald import AdaBoostClassifier
    >>> X = [[5], [10], [15], [20], [25], [30], [35], [40]]
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, [-1, -1, 1, 1, 1, -1, -1, 1])
    >>> model.predict([[12], [33]])
    array([-1, -1])
    >>> [round(say, 3) for say in model.rounds_.say.tolist()]
    [0.549, 0.549, 0.805]
    """

    _options = AdaBoostClassifierOptions
    _kind = "classifier"

    classes_: NDArray[Any]
    n_classes_: int

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        resample: str | None = None,
        worse_than_chance: str = "stop",
        probability: str = "softmax",
        cat_penalty: float | str = "auto",
        early_stopping: float | tuple[TableLike, TargetLike] | None = None,
        early_stopping_rounds: int | None = None,
        keep_row_weights: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.resample = resample
        self.worse_than_chance = worse_than_chance
        self.probability = probability
        self.cat_penalty = cat_penalty
        self.early_stopping = early_stopping
        self.early_stopping_rounds = early_stopping_rounds
        self.keep_row_weights = keep_row_weights
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def predict(self, X: TableLike) -> NDArray[Any]:
        """The label with the most votes, by weight; of equal ones the first in `classes_`.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels of the type that `fit` was given.
        """
        return restore_labels(self._fitted_classes(), most_frequent(self._votes(X)))

    def staged_predict(self, X: TableLike) -> Iterator[NDArray[Any]]:
        """The predictions after every round.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Yields
        ------
        ndarray of shape (n_rows,)
            Labels of the type that `fit` was given.
        """
        classes = self._fitted_classes()
        for votes in self._staged_votes(X):
            yield restore_labels(classes, most_frequent(votes))

    def decision_function(self, X: TableLike) -> NDArray[np.float64]:
        """The votes of the members as shares of all, in scikit-learn's scale.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes_)
            For two classes from −2 to 2, above 0 for the second; else the mean of 1 for a vote for the class
            and −1 / (classes − 1) for another.
        """
        return self._decisions(self._votes(X), len(self))

    def staged_decision_function(self, X: TableLike) -> Iterator[NDArray[np.float64]]:
        """The decision function after every round.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Yields
        ------
        ndarray of shape (n_rows,) or (n_rows, n_classes_)
            As `decision_function`.
        """
        for number, votes in enumerate(self._staged_votes(X), start=1):
            yield self._decisions(votes, number)

    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """The probabilities of the classes, from the members' votes.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_)
            Shares that add up to 1, in the order of `classes_`.
        """
        return self._probabilities(self._votes(X), len(self))

    def staged_predict_proba(self, X: TableLike) -> Iterator[NDArray[np.float64]]:
        """The probabilities after every round.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Yields
        ------
        ndarray of shape (n_rows, n_classes_)
            As `predict_proba`.
        """
        for number, votes in enumerate(self._staged_votes(X), start=1):
            yield self._probabilities(votes, number)

    def predict_log_proba(self, X: TableLike) -> NDArray[np.float64]:
        """The logarithm of `predict_proba`; -inf for a share of 0.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_)
            Natural logarithms, in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def staged_score(
        self, X: TableLike, y: TargetLike, sample_weight: WeightLike | None = None
    ) -> Iterator[float]:
        """The accuracy after every round.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.
        y : array-like of shape (n_rows,)
            The true labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows.

        Yields
        ------
        float
            From 0 to 1.
        """
        from sklearn.metrics import accuracy_score

        for predicted in self.staged_predict(X):
            yield float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def _fitted_classes(self) -> NDArray[Any]:
        check_is_fitted(self)
        return self.classes_

    def _votes(self, X: TableLike) -> NDArray[np.float64]:
        """What the votes for each class count: (rows, classes)."""
        check_is_fitted(self)
        members = self._members
        return members.votes(members.read(X, type(self).__name__), self._checked_options().n_jobs)

    def _staged_votes(self, X: TableLike) -> Iterator[NDArray[np.float64]]:
        check_is_fitted(self)
        members = self._members
        return members.staged_votes(members.read(X, type(self).__name__), self._checked_options().n_jobs)

    def _scale(self, n_rounds: int) -> float:
        """What all members count together; 1 if that is nothing."""
        return float(np.abs(self.estimator_weights_[:n_rounds]).sum()) or 1.0

    def _decisions(self, votes: NDArray[np.float64], n_rounds: int) -> NDArray[np.float64]:
        """Equation A8."""
        n_classes, scale = votes.shape[1], self._scale(n_rounds)
        if n_classes == 1:
            return np.zeros_like(votes)
        if n_classes == 2:
            return 2.0 * (votes[:, 1] - votes[:, 0]) / scale
        others = votes.sum(axis=1, keepdims=True) - votes
        found: NDArray[np.float64] = (votes - others / (n_classes - 1)) / scale
        return found

    def _probabilities(self, votes: NDArray[np.float64], n_rounds: int) -> NDArray[np.float64]:
        """Equations A8 and A10."""
        options: AdaBoostClassifierOptions = self._checked_options()
        if options.probability == "logistic":
            return engine.softmax(votes)
        spread = max(1, votes.shape[1] - 1) ** 2 * self._scale(n_rounds) / votes.shape[1]
        return engine.softmax(votes / spread)

    def _default(self) -> Estimator:
        return DecisionTreeClassifier(max_depth=1)

    def _read_target(self, y: TargetLike | None, n_rows: int, weight: Weights | None) -> Target:
        found = read_labels(y, n_rows=n_rows, estimator=type(self).__name__)
        found = [without_absent(each, weight) for each in found]
        numbers = np.stack([each.indices for each in found], axis=1)
        return Target(numbers, tuple(each.classes for each in found), weight)

    def _task(self, target: Target, present: NDArray[np.bool_], options: AdaBoostOptions) -> LabelTask:
        label = np.ascontiguousarray(target.values[:, 0], np.int32)
        n_threads = thread_count(options.n_jobs)
        return LabelTask(label, target.n_classes[0], options.learning_rate, n_threads)

    def _score(self, truth: NDArray[Any], target: Target, units: NDArray[np.int64]) -> LabelScore:
        label = np.ascontiguousarray(truth, np.int32)
        return LabelScore(label, target.n_classes[0], units, thread_count(self.n_jobs))

    def _round_table(
        self, rounds: tuple[Round, ...], options: AdaBoostOptions, classes: NDArray[Any] | None
    ) -> RoundTable:
        two = classes is not None and len(classes) <= 2
        bounded = two and options.learning_rate == 1.0 and options.resample in (None, "compound")
        return round_table(rounds, labels=True, bounded=bounded)
