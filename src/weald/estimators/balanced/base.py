"""What balanced bagging and the easy ensemble share: bags whose classes are balanced, the shift undone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from weald.arrays import TableLike
from weald.estimators.bagging.bagging import BaggingClassifier
from weald.estimators.bagging.bags import MemberBags
from weald.estimators.bagging.base import Bagged, Members
from weald.estimators.bagging.out_of_bag import OutOfBagMeans
from weald.estimators.bagging.trees import TreeMembers
from weald.estimators.balanced.class_rows import BalancedBags, Strategy, balanced_bags, labels_of
from weald.estimators.balanced.options import BalancedBaggingOptions
from weald.estimators.balanced.prior_shift import FACTS, PriorShift
from weald.estimators.shared.ensemble_options import BaggingOptions
from weald.estimators.shared.fitted import Target
from weald.io.saved_state import SavedEnsemble
from weald.model.importances import mean_importances
from weald.resampling.calibration import MAP_FACT, ShareMap


class BalancedMembers(BaggingClassifier):
    """The shared base of `BalancedBaggingClassifier` and `EasyEnsembleClassifier`."""

    sampling_strategy: Strategy
    replacement: bool
    correct_prior: bool

    _prior_shift: PriorShift
    #: None where nothing tells it: the prior is corrected then
    _share_map: ShareMap | None = None

    def predict_proba(self, X: TableLike, **params: object) -> NDArray[np.float64]:
        """The mean of the members' probabilities, under the class shares of the training rows.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.
        **params
            More for the members, if scikit-learn's metadata routing is on.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_)
            Shares that add up to 1, in the order of `classes_`. With `correct_prior=False` those of balanced
            classes, whose largest `predict` takes either way.
        """
        return self._corrected(self._mean(X, "predict_proba", params))

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
            return np.log(self._corrected(self._mean(X, "predict_log_proba", params)))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The mean of the members' importances; columns that a member lacks count 0 in it."""
        check_is_fitted(self)
        members = self._members
        if isinstance(members, TreeMembers):
            return mean_importances(members.forest)
        found = np.zeros((len(members), self.n_features_in_))
        for bag, member in enumerate(members.fitted):
            if not hasattr(member, "feature_importances_"):
                raise AttributeError(
                    f"feature_importances_ needs members that have them, and {type(member).__name__} has "
                    "none."
                )
            columns = slice(None) if members.columns is None else members.columns[bag]
            found[bag, columns] = member.feature_importances_
        mean: NDArray[np.float64] = found.mean(axis=0)
        return mean

    def _corrected(self, shares: NDArray[np.float64], shift: PriorShift | None = None) -> NDArray[np.float64]:
        if not self._checked_options().correct_prior:
            return shares
        if shift is None and self._share_map is not None:
            return self._share_map(shares)
        return (shift or self._prior_shift).undone(shares)

    def _balanced(self, bags: MemberBags, options: BaggingOptions, target: Target) -> MemberBags:
        own, owner = cast(BalancedBaggingOptions, options), type(self).__name__
        self._check_target(None, target)
        assert target.classes is not None
        present = None
        if bags.used is not None:
            present = np.zeros(bags.n_rows, np.bool_)
            present[bags.used] = True
        labels = labels_of(target, present, owner)
        return balanced_bags(bags, own.sampling_strategy, own.replacement, target.classes[0], labels, owner)

    def _judged(self, found: OutOfBagMeans, bagged: Bagged) -> dict[str, Any]:
        judged = super()._judged(found, bagged)
        shift = self._shift(bagged.bags, len(bagged.members))
        return judged | {"oob_decision_function_": self._corrected(judged["oob_decision_function_"], shift)}

    def _shift(self, bags: MemberBags, n_members: int) -> PriorShift:
        """The shares of the classes in the rows that may be drawn, by weight, and in all bags together."""
        assert isinstance(bags, BalancedBags)
        return PriorShift.of(bags.class_weight(), bags.sizes(n_members))

    def _set_fitted(self, members: Members, bags: MemberBags | None, learned: dict[str, Any]) -> None:
        if bags is not None:
            learned = learned | {"_prior_shift": self._shift(bags, len(members))}
        super()._set_fitted(members, bags, learned)

    def _saved_state(self) -> SavedEnsemble:
        state = super()._saved_state()
        params = {name: value for name, value in state.params.items() if not _is_code(name, value)}
        known = self._prior_shift.facts() | (self._share_map.facts() if self._share_map else {})
        return replace(state, params=params, extra=state.extra | known)

    @classmethod
    def _from_saved_state(cls, state: SavedEnsemble) -> Self:
        classes = state.classes or ()
        n_classes = len(classes[0]) if classes else 0
        shift = PriorShift.from_facts(state.extra, n_classes)
        share_map = ShareMap.from_facts(state.extra, n_classes)
        extra = {name: value for name, value in state.extra.items() if name not in (*FACTS, MAP_FACT)}
        model = super()._from_saved_state(replace(state, extra=extra))
        model._prior_shift, model._share_map = shift, share_map
        return model


def _is_code(name: str, value: object) -> bool:
    """Whether a parameter is no part of a model file: a function, or a sampler, which trained members."""
    return name == "sampler" or (name == "sampling_strategy" and callable(value))
