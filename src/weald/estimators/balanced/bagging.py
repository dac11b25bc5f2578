"""`BalancedBaggingClassifier`: any classifier, fitted on many draws of the rows with balanced classes.

Parameters and attributes are imbalanced-learn's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TypeGuard, cast

import numpy as np

from weald.arrays import Estimator, RandomState
from weald.estimators.bagging.bags import MemberBags
from weald.estimators.bagging.trees import shares_codes
from weald.estimators.balanced.base import BalancedMembers
from weald.estimators.balanced.class_rows import Strategy
from weald.estimators.balanced.options import SampledBaggingOptions
from weald.estimators.balanced.prior_shift import PriorShift
from weald.estimators.balanced.sampled import SampledBags, fit_bags
from weald.estimators.shared.ensemble_options import BaggingOptions
from weald.estimators.shared.fitted import Target
from weald.estimators.tree.base import BaseTree


class BalancedBaggingClassifier(BalancedMembers):
    """Classifiers on random draws of the rows, in each of which the classes are balanced.

    Each member is fitted on a bag, as in `BaggingClassifier`, of whose frequent classes only as many rows are
    kept as the rarest has there. `predict` decides as the balanced members do on average; `predict_proba`
    undoes the shift that balancing makes, so that probabilities fit the class shares of the training rows.

    Parameters
    ----------
    estimator : estimator, default=None
        What is fitted on each bag, by any library that keeps scikit-learn's contract; None for weald's
        DecisionTreeClassifier. With weald's trees the table may hold anything that weald reads, and is coded
        once for all members: nothing is copied.
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
    sampling_strategy : float, str, dict or callable, default="auto"
        How many rows of which class a bag keeps: "auto" (or "not minority") as many as the rarest has, of
        every class but that; "all", "majority" and "not majority" likewise. A number is the ratio of the two
        classes, rare to frequent; a dict gives rows by label, a function such a dict of the labels.
    replacement : bool, default=False
        Whether a row may be drawn again when classes are balanced.
    correct_prior : bool, default=True
        Whether `predict_proba` gives probabilities under the class shares of the training rows; False for
        those of balanced classes, as imbalanced-learn's. `predict` is the same either way.
    random_state : int or RandomState, default=None
        What the draws start from; members with a `random_state` get one each.
    verbose : int, default=0
        Whether to show progress on stderr.
    sampler : sampler, default=None
        What balances the rows of a bag instead, an object with `fit_resample` such as SMOTE; members then get
        tables of its making, and `sampling_strategy` and `replacement` are not looked at.

    Attributes
    ----------
    estimator_ : estimator
        What was fitted on each bag.
    estimators_ : list of estimators
        The members. They speak the labels of `y`.
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
    feature_importances_ : ndarray of shape (n_features_in_,)
        The mean of the members' importances; if they have any.
    oob_score_ : float
        The accuracy (rows count by their weight), or what the metric says, of rows out of bag. Only with
        `oob_score`, as what follows.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes_)
        The probabilities of the members whose bags lack the row, as `predict_proba` gives them. NaN for rows
        in every bag: a warning names them.

    Examples
    --------
    >>> from weald import BalancedBaggingClassifier
    >>> X = [[float(i)] for i in range(40)]
    >>> y = ["usual"] * 36 + ["rare"] * 4
    >>> model = BalancedBaggingClassifier(random_state=0).fit(X, y)
    >>> model.predict([[3.0], [38.0]])
    array(['usual', 'rare'], dtype='<U5')
    """

    _options = SampledBaggingOptions
    _fit_bags = staticmethod(fit_bags)

    def __init__(
        self,
        estimator: Estimator | None = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool | Callable[..., float] = False,
        warm_start: bool = False,
        sampling_strategy: Strategy = "auto",
        replacement: bool = False,
        correct_prior: bool = True,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        sampler: Estimator | None = None,
    ) -> None:
        super().__init__(
            estimator,
            n_estimators,
            max_samples=max_samples,
            max_features=max_features,
            bootstrap=bootstrap,
            bootstrap_features=bootstrap_features,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.sampling_strategy = sampling_strategy
        self.replacement = replacement
        self.correct_prior = correct_prior
        self.sampler = sampler

    def _on_codes(self, base: object) -> TypeGuard[BaseTree]:
        """Whether members grow on codes of the whole table; those of a sampler have tables of their own."""
        return self.sampler is None and shares_codes(base)

    def _balanced(self, bags: MemberBags, options: BaggingOptions, target: Target) -> MemberBags:
        sampler = cast(SampledBaggingOptions, options).sampler
        if sampler is None:
            return super()._balanced(bags, options, target)
        assert target.classes is not None
        labels = target.values[:, 0] if bags.used is None else target.values[bags.used, 0]
        weights = np.bincount(labels, bags.units, len(target.classes[0])).astype(np.float64)
        before = getattr(self, "_bags", None) if options.warm_start else None
        return SampledBags(
            **{each.name: getattr(bags, each.name) for each in fields(bags)},
            sampler=sampler,
            classes=target.classes[0],
            class_weights=weights,
            learned=list(before.learned) if isinstance(before, SampledBags) else [],
        )

    def _shift(self, bags: MemberBags, n_members: int) -> PriorShift:
        if isinstance(bags, SampledBags):
            return PriorShift.of(bags.class_weights, np.sum(bags.learned, axis=0))
        return super()._shift(bags, n_members)
