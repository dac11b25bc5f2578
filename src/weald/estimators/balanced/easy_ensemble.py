"""`EasyEnsembleClassifier`: AdaBoost on many balanced draws of the rows, averaged.

Parameters and attributes are imbalanced-learn's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from weald.arrays import Estimator, RandomState, TableLike, TargetLike, WeightLike
from weald.estimators.adaboost.classifier import AdaBoostClassifier
from weald.estimators.bagging.any_members import OtherMembers, as_given
from weald.estimators.bagging.base import Bagged
from weald.estimators.balanced.base import BalancedMembers
from weald.estimators.balanced.class_rows import BalancedBags, Strategy
from weald.estimators.balanced.held_out import held_out_map
from weald.estimators.balanced.options import BalancedBaggingOptions
from weald.estimators.shared.ensemble_options import BaggingOptions


class EasyEnsembleClassifier(BalancedMembers):
    """Boosted members, each on all rows of the rarest class and as many, drawn anew, of the others.

    Liu, Wu and Zhou's easy ensemble: under-sampling wastes rows, and several draws see most of them. The
    members' probabilities are averaged. `predict` decides as the balanced members do on average;
    `predict_proba` undoes the shift that balancing makes, so that probabilities fit the class shares of the
    training rows.

    Parameters
    ----------
    n_estimators : int, default=10
        How many members.
    estimator : estimator, default=None
        What is fitted on each draw, by any library that keeps scikit-learn's contract; None for weald's
        AdaBoostClassifier. Members get the rows of their draw alone, in the type of the table.
    warm_start : bool, default=False
        Whether a further `fit` keeps the members and adds those that `n_estimators` is short of.
    sampling_strategy : float, str, dict or callable, default="auto"
        How many rows of which class are drawn: "auto" (or "not minority") as many as the rarest has, of
        every class but that; "all", "majority" and "not majority" likewise. A number is the ratio of the two
        classes, rare to frequent; a dict gives rows by label, a function such a dict of the labels.
    replacement : bool, default=False
        Whether a row may be drawn again among those of its class.
    correct_prior : bool, default=True
        Whether `predict_proba` gives probabilities under the class shares of the training rows, fitted on
        what five further members say of rows that they did not see; False for those of balanced classes, as
        imbalanced-learn's, and no further members. `predict` is the same either way.
    n_jobs : int, default=None
        Processes of joblib for the members; None for one, whose threads a member of weald's may use. The
        result does not depend on it.
    random_state : int or RandomState, default=None
        What the draws start from; members with a `random_state` get one each.
    verbose : int, default=0
        Whether to show progress on stderr.

    Attributes
    ----------
    estimator_ : estimator
        What was fitted on each draw.
    estimators_ : list of estimators
        The members. They speak the labels of `y`.
    estimators_samples_ : list of ndarray
        The rows of each draw in ascending order, drawn again from the seed when asked for.
    classes_ : ndarray of shape (n_classes_,)
        The labels, sorted.
    n_classes_ : int
        How many labels.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The mean of the members' importances; if they have any.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.

    Examples
    --------
    >>> from weald import EasyEnsembleClassifier
    >>> X = [[float(i)] for i in range(40)]
    >>> y = ["usual"] * 36 + ["rare"] * 4
    >>> model = EasyEnsembleClassifier(random_state=0).fit(X, y)
    >>> model.predict([[3.0], [38.0]])
    array(['usual', 'rare'], dtype='<U5')
    """

    _default: ClassVar[type[Any]] = AdaBoostClassifier
    _options = BalancedBaggingOptions

    # What bagging has parameters for, and the easy ensemble has not: every draw is from all rows and columns.
    max_samples = None
    max_features = 1.0
    bootstrap = False
    bootstrap_features = False
    oob_score = False

    def __init__(
        self,
        n_estimators: int = 10,
        estimator: Estimator | None = None,
        *,
        warm_start: bool = False,
        sampling_strategy: Strategy = "auto",
        replacement: bool = False,
        correct_prior: bool = True,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.estimator = estimator
        self.warm_start = warm_start
        self.sampling_strategy = sampling_strategy
        self.replacement = replacement
        self.correct_prior = correct_prior
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _said_of_weights(self) -> str:
        member = type(self._base(self._checked_options())).__name__
        return (
            "When fitting EasyEnsembleClassifier with sample_weight, rows are not drawn as often as they "
            "weigh: weights only leave out rows of weight 0, and count in the class shares behind "
            f"predict_proba. BalancedBaggingClassifier({member}()) draws rows in proportion to their weight."
        )

    def _fit_others(
        self,
        X: TableLike,
        y: TargetLike | None,
        sample_weight: WeightLike | None,
        options: BaggingOptions,
        base: Estimator,
        seed: int,
        before: OtherMembers | None,
        params: Mapping[str, Any],
    ) -> Bagged:
        """The members, and what makes probabilities of their shares."""
        bagged = super()._fit_others(X, y, sample_weight, options, base, seed, before, params)
        found = None
        if cast(BalancedBaggingOptions, options).correct_prior:
            members, bags = cast(OtherMembers, bagged.members), cast(BalancedBags, bagged.bags)
            table = members.read(X, type(self).__name__)
            found = held_out_map(base, table, as_given(bagged.target), members, bags, options, params)
        bagged.learned["_share_map"] = found
        return bagged
