"""`RUSBoostClassifier`: AdaBoost whose members learn from balanced draws of the rows.

Parameters and attributes are imbalanced-learn's, and those of `AdaBoostClassifier`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from weald.adaboost.loop import Boosted
from weald.adaboost.records import Learner
from weald.adaboost.weights import RowWeights
from weald.arrays import Estimator, RandomState, TableLike, TargetLike
from weald.estimators.adaboost.classifier import AdaBoostClassifier
from weald.estimators.adaboost.options import AdaBoostOptions
from weald.estimators.balanced.class_rows import Strategy, class_draws, labels_of
from weald.estimators.balanced.options import RUSBoostOptions
from weald.estimators.balanced.prior_shift import FACTS, PriorShift
from weald.estimators.shared.class_weight import Weights
from weald.estimators.shared.fitted import Target
from weald.io.saved_state import SavedEnsemble
from weald.rows.growth import ClassDraws, TreeBags


class RUSBoostClassifier(AdaBoostClassifier):
    """AdaBoost on rows weighed by mistakes, each member on a balanced draw of them.

    In every round as many rows of each class are drawn as the rarest has (or as `sampling_strategy` says),
    and a member is fitted on these with their weights; it is judged on all rows, whose weights go on as in
    `AdaBoostClassifier`. `predict` decides by the members' votes; `predict_proba` undoes the shift that
    balancing makes.

    Parameters
    ----------
    estimator : estimator, default=None
        What is fitted in each round, by any library that keeps scikit-learn's contract; None for weald's
        DecisionTreeClassifier(max_depth=1), a stump. With weald's trees the table may hold anything that
        weald reads, and is coded once: nothing is copied.
    n_estimators : int, default=50
        The most rounds. A member without a mistake ends boosting.
    learning_rate : float, default=1.0
        What the weights of members are multiplied with.
    sampling_strategy : float, str, dict or callable, default="auto"
        How many rows of which class are drawn: "auto" (or "not minority") as many as the rarest has, of
        every class but that; "all", "majority" and "not majority" likewise. A number is the ratio of the two
        classes, rare to frequent; a dict gives rows by label, a function such a dict of the labels.
    replacement : bool, default=False
        Whether a row may be drawn again among those of its class.
    correct_prior : bool, default=True
        Whether `predict_proba` gives probabilities under the class shares of the training rows; False for
        those of balanced classes, as imbalanced-learn's. `predict` is the same either way.
    worse_than_chance : {"stop", "reset", "negate"}, default="reset"
        What happens when the error on all rows is that of guessing, or more, as often after a few rounds: the
        round is tried again with the weights of the start and another draw. "stop" ends boosting, as
        imbalanced-learn does; "negate" as in `AdaBoostClassifier`.
    probability : {"softmax", "logistic"}, default="softmax"
        How votes become probabilities; as in `AdaBoostClassifier`.
    cat_penalty : float, default=2.0
        How much weald's trees hold back from columns of more than five categories.
    early_stopping : float or (X, y), default=None
        End when the error on a share of the rows, held out, or on a set no longer falls; the rounds up to the
        best one are kept.
    early_stopping_rounds : int, default=None
        Rounds without improvement before that; 10 if `early_stopping` is given.
    keep_row_weights : bool, default=False
        Whether to keep the row weights of every round in `row_weights_`.
    n_jobs : int, default=None
        Threads for weald's trees; None for every CPU of the process. The model does not depend on it.
    random_state : int or RandomState, default=None
        What the draws start from; members with a `random_state` get one each.
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
        The weighted error of each, on all rows.
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

    Examples
    --------
    >>> from weald import RUSBoostClassifier
    >>> X = [[float(i)] for i in range(40)]
    >>> y = ["usual"] * 36 + ["rare"] * 4
    >>> model = RUSBoostClassifier(random_state=0).fit(X, y)
    >>> model.predict([[3.0], [38.0]])
    array(['usual', 'rare'], dtype='<U5')
    """

    _options = RUSBoostOptions
    _draws_rows = True

    #: AdaBoost's parameter: here rows are weighed, and drawn class by class
    resample = None

    _prior_shift: PriorShift

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        sampling_strategy: Strategy = "auto",
        replacement: bool = False,
        correct_prior: bool = True,
        worse_than_chance: str = "reset",
        probability: str = "softmax",
        cat_penalty: float = 2.0,
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
        self.sampling_strategy = sampling_strategy
        self.replacement = replacement
        self.correct_prior = correct_prior
        self.worse_than_chance = worse_than_chance
        self.probability = probability
        self.cat_penalty = cat_penalty
        self.early_stopping = early_stopping
        self.early_stopping_rounds = early_stopping_rounds
        self.keep_row_weights = keep_row_weights
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _probabilities(self, votes: NDArray[np.float64], n_rounds: int) -> NDArray[np.float64]:
        found = super()._probabilities(votes, n_rounds)
        return self._prior_shift.undone(found) if self._checked_options().correct_prior else found

    def _by_class(
        self, options: AdaBoostOptions, target: Target, present: NDArray[np.bool_]
    ) -> tuple[ClassDraws, NDArray[np.int32]]:
        """The rows that a member gets of each class, and the class of each row."""
        own, owner = cast(RUSBoostOptions, options), type(self).__name__
        assert target.classes is not None
        labels = labels_of(target, present, owner)
        return class_draws(own.sampling_strategy, own.replacement, target.classes[0], labels, owner), labels

    def _drawn(
        self, options: AdaBoostOptions, seed: int, target: Target, weights: RowWeights
    ) -> Callable[[int], NDArray[np.integer]]:
        by_class, labels = self._by_class(options, target, weights.present)
        bags = TreeBags(n_trees=1, seed=seed, by_class=by_class)
        return lambda attempt: bags.counts(attempt, labels)

    def _boost(
        self, learner: Learner, target: Target, weight: Weights | None, options: AdaBoostOptions, seed: int
    ) -> tuple[Boosted, dict[str, Any]]:
        present = np.ones(len(target.values), np.bool_) if weight is None else weight > 0
        by_class, _ = self._by_class(options, target, present)
        boosted, learned = super()._boost(learner, target, weight, options, seed)
        return boosted, learned | {"_prior_shift": PriorShift.of(by_class.n_rows, by_class.in_bag)}

    def _saved_state(self) -> SavedEnsemble:
        state = super()._saved_state()
        params = {name: value for name, value in state.params.items() if name != "sampling_strategy"}
        if not callable(self.sampling_strategy):  # code
            params["sampling_strategy"] = self.sampling_strategy
        return replace(state, params=params, extra=state.extra | self._prior_shift.facts())

    @classmethod
    def _from_saved_state(cls, state: SavedEnsemble) -> Self:
        shift = PriorShift.from_facts(state.extra, len(state.classes[0]) if state.classes else 0)
        extra = {name: value for name, value in state.extra.items() if name not in FACTS}
        model = super()._from_saved_state(replace(state, extra=extra))
        model._prior_shift = shift
        return model
