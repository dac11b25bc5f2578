"""A forest of the rows as they are, part of a balanced forest's probabilities; model files of both.

Balanced trees see few rows of the frequent classes, and what they lost, no map of their shares brings back
(R12).
"""

from __future__ import annotations

import warnings
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Self, cast

import numpy as np

from weald.arrays import Floats, TableLike, TargetLike, WeightLike
from weald.errors import ParameterError
from weald.estimators.balanced.class_rows import draw_facts, draws_from_facts
from weald.estimators.forest.random_forest import RandomForestClassifier
from weald.estimators.forest.tasks import ForestClassifier
from weald.io.saved_state import SavedEnsemble, SavedState
from weald.resampling.calibration import ShareMap

if TYPE_CHECKING:
    from weald.estimators.balanced.forest import BalancedRandomForestClassifier

#: parameters that both forests have; class weights stand for other shares, as balancing does
_SHARED: Final = (
    *("n_estimators", "criterion", "max_depth", "min_samples_split", "min_samples_leaf", "max_features"),
    *("min_weight_fraction_leaf", "max_leaf_nodes", "min_impurity_decrease", "ccp_alpha", "monotonic_cst"),
    *("feature_combinations", "cat_penalty", "max_bins", "leaf_dtype", "categorical_features", "unknown"),
    *("n_jobs", "random_state"),
)
#: the name of that forest in a model file
_PLAIN: Final = "plain"
#: what the `fit` at work was given: apart from the model, which other threads may ask meanwhile
_GIVEN: ContextVar[tuple[TableLike, TargetLike | None, WeightLike | None]] = ContextVar("given")


def plain_forest(model: BalancedRandomForestClassifier) -> tuple[RandomForestClassifier, Floats]:
    """A forest of what the model's `fit` was given, and its shares out of bag: NaN for rows all trees saw."""
    X, y, sample_weight = _GIVEN.get()
    forest = RandomForestClassifier(**{name: getattr(model, name) for name in _SHARED}, oob_score=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to say of these rows, the balanced forest says
        forest.fit(X, y, sample_weight)
    shares: Floats = vars(forest)["oob_decision_function_"]
    for name in ("oob_decision_function_", "oob_score_"):
        delattr(forest, name)
    forest.set_params(oob_score=False)
    return forest, shares


class TwoForests(ForestClassifier):
    """What a balanced forest does because it may have another: `fit`, and model files."""

    def fit(self, X: TableLike, y: TargetLike | None = None, sample_weight: WeightLike | None = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : table
            As `RandomForestClassifier` takes it: frames, arrays, sparse matrices, lists; missing values and
            categories as they are.
        y : array-like of shape (n_rows,)
            The labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of at least 0. A row of weight 0 counts as absent.

        Returns
        -------
        self
            The fitted estimator.
        """
        token = _GIVEN.set((X, y, sample_weight))
        try:
            return super().fit(X, y, sample_weight)
        finally:
            _GIVEN.reset(token)

    def _saved_state(self) -> SavedState:
        own = cast("BalancedRandomForestClassifier", self)
        state = super()._saved_state()
        params = dict(state.params)
        if callable(params["sampling_strategy"]):
            del params["sampling_strategy"]  # code
        told = state.extra | draw_facts(own._by_class())
        if own._share_map is not None:
            told |= own._share_map.facts()
        if own.plain_forest_ is None:
            return replace(state, params=params, extra=told)
        both = SavedEnsemble(
            params=params,
            schema=state.schema,
            forest=state.forest,
            classes=state.classes,
            extra=told,
            members=((_PLAIN, own.plain_forest_),),
        )
        return cast(SavedState, both)

    @classmethod
    def _from_saved_state(cls, state: SavedState) -> Self:
        classes = state.classes or ()
        if len(classes) != 1 or state.forest is None or state.schema is None:
            raise ParameterError("A balanced forest has trees and one output.")
        by_class = draws_from_facts(state.extra, len(classes[0]))
        model = super()._from_saved_state(state)
        own = cast("BalancedRandomForestClassifier", model)
        own.bags_ = replace(own.bags_, by_class=by_class)
        own._share_map = ShareMap.from_facts(state.extra, len(classes[0]))
        own.plain_forest_ = _checked_plain(state, own)
        return model


def _checked_plain(state: SavedState | SavedEnsemble, own: Any) -> RandomForestClassifier | None:
    """The second forest of a file, which may hold anything."""
    blends = own._share_map is not None and own._share_map.blends
    if not isinstance(state, SavedEnsemble):
        if blends:
            raise ParameterError("The map of a balanced forest asks for a second forest, and there is none.")
        return None
    if state.base is not None or state.arrays or len(state.members) != 1 or not blends:
        raise ParameterError("A balanced forest has one second forest at most, and a map that asks for it.")
    name, plain = state.members[0]
    if name != _PLAIN or not isinstance(plain, RandomForestClassifier):
        raise ParameterError("The second forest of a balanced forest is none.")
    same = np.array_equal(np.asarray(plain.classes_), np.asarray(own.classes_))
    if not same or plain.schema_.columns != own.schema_.columns:
        raise ParameterError("The forests of a balanced forest have different columns or labels.")
    return plain
