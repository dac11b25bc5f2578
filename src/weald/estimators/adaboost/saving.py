"""What model files keep of AdaBoost, and the estimators made again from that.

Members must be weald's. Trees that grew on one coding are one forest; others are kept one by one.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from sklearn.base import clone

from weald.adaboost.records import Round
from weald.errors import ParameterError
from weald.estimators.adaboost.any_members import BoostedOthers
from weald.estimators.adaboost.options import AdaBoostOptions
from weald.estimators.adaboost.trees import BoostedTrees
from weald.estimators.bagging.saving import check_members, check_trees
from weald.io.arrays import Shelf
from weald.io.saved_state import SavedEnsemble
from weald.parameters import checked

if TYPE_CHECKING:
    from weald.estimators.adaboost.base import BaseAdaBoost

_MOST_ATTEMPTS = 2**53
#: parameters that tell the rounds again, as they were when they were fitted
_FITTED = ("learning_rate", "loss", "resample", "early_stopping")


class AdaBoostState:
    """The parts of fitted AdaBoost. Errors on rows held out and kept row weights are not among them."""

    def _saved_state(self) -> SavedEnsemble:
        own = cast("BaseAdaBoost", self)
        members, rounds = own._members, own._rounds
        left_out = {"estimator"}
        if not isinstance(own.early_stopping, float | None):
            left_out |= {"early_stopping", "early_stopping_rounds"}  # rows of the user's
        params = {name: value for name, value in own.get_params(deep=False).items() if name not in left_out}
        arrays = {
            "weight": np.array([each.weight for each in rounds]),
            "error": np.array([each.error for each in rounds]),
            "attempt": np.array([each.attempt for each in rounds], np.int64),
            "restarted": np.array([each.restarted for each in rounds], np.int64),
        }
        if members.classes is not None:
            arrays["training_error"] = np.array([each.training_error for each in rounds])
        kept: dict[str, Any] = {
            "params": params,
            "schema": members.schema,
            "classes": None if members.classes is None else (members.classes,),
            "extra": {"seed": int(members.seed)} | _facts(own._fitted_options),
            "arrays": arrays,
        }
        if isinstance(members, BoostedTrees):
            kept |= {"forest": members.forest, "base": None if own.estimator is None else members.template}
        else:
            kept["members"] = tuple((f"round {t}", each) for t, each in enumerate(members.fitted, 1))
        return SavedEnsemble(**kept)

    @classmethod
    def _from_saved_state(cls, state: SavedEnsemble) -> Self:
        seed = state.extra.get("seed")
        if type(seed) is not int or not 0 <= seed < 2**31 or state.schema is None:
            raise ParameterError("The facts of AdaBoost are not complete, or not what they should be.")
        model = cast("type[BaseAdaBoost]", cls)(**state.params)
        n_members = len(state.members) if state.forest is None else state.forest.n_trees
        rounds = _rounds(state, n_members)
        shared: dict[str, Any] = {
            "seed": seed,
            "schema": state.schema,
            "classes": None if state.classes is None else state.classes[0],
            "weights": np.array([each.weight for each in rounds]),
            "attempts": tuple(each.attempt for each in rounds),
        }
        if (state.classes is not None) != (model._kind == "classifier"):
            raise ParameterError("An AdaBoostRegressor has classes, or an AdaBoostClassifier has none.")
        if state.forest is not None:
            base = model._default() if state.base is None else state.base
            made: BoostedTrees | BoostedOthers = BoostedTrees(
                template=check_trees(state, base), forest=state.forest, trained_on={}, **shared
            )
        else:
            template = check_members(state, [len(state.schema.columns)] * n_members)
            fitted = [member for _, member in state.members]
            made = BoostedOthers(template=template, fitted=fitted, **shared)
        if state.forest is None or state.base is not None:
            model.estimator = clone(made.template)
        options = _fitted_options(model._checked_options(), state.extra, cls.__name__)
        model._check_kind(made.template)
        model._set_fitted(made, rounds, options, {})
        return cast("Self", model)


def _facts(options: AdaBoostOptions) -> dict[str, Any]:
    """What a file keeps of the parameters of the fit: those that are not None."""
    values = {name: getattr(options, name, None) for name in _FITTED}
    return {name: value for name, value in values.items() if value is not None}


def _fitted_options(options: AdaBoostOptions, extra: dict[str, Any], owner: str) -> AdaBoostOptions:
    """The parameters of the fit, from a file that may hold anything."""
    values = {each.name: getattr(options, each.name) for each in fields(options)}
    names = [name for name in _FITTED if name in values]
    if not set(extra) <= {"seed", *names}:
        raise ParameterError("The facts of AdaBoost are not complete, or not what they should be.")
    return checked(type(options), owner, values | {name: extra.get(name) for name in names})


def _rounds(state: SavedEnsemble, n_members: int) -> tuple[Round, ...]:
    """The rounds of a file, which may hold anything."""
    shelf = Shelf(state.arrays)
    weight = shelf.floats("weight", (n_members,))
    error = shelf.floats("error", (n_members,), low=0.0)
    attempt = shelf.integers("attempt", n_members, 0, _MOST_ATTEMPTS)
    restarted = shelf.integers("restarted", n_members, 0, 1)
    training = np.full(n_members, np.nan)
    if state.classes is not None:
        training = shelf.floats("training_error", (n_members,), low=0.0)
    if shelf.left():
        raise ParameterError(f"AdaBoost has no array {shelf.left()[0]!r:.80}.")
    if not n_members or not weight.any() or (error > 1).any():
        raise ParameterError("AdaBoost has no round, no member that counts, or an error above 1.")
    if state.classes is None and (weight < 0).any():
        raise ParameterError("A member of an AdaBoostRegressor counts less than nothing.")
    return tuple(
        Round(error=float(e), weight=float(w), attempt=int(a), restarted=bool(r), training_error=float(t))
        for e, w, a, r, t in zip(error, weight, attempt, restarted, training, strict=True)
    )
