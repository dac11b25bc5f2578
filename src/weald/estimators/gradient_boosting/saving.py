"""What model files keep of gradient boosting, and a booster made again from that.

Trees are one forest; other regressors, and an estimator as `init`, are members, which must be weald's. The
curves of the training are not kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor

from weald.arrays import Estimator, Floats
from weald.boosting.links import LINKS
from weald.errors import ParameterError
from weald.estimators.gradient_boosting.any_bases import FittedBase
from weald.estimators.gradient_boosting.models import BaseRounds, TreeRounds
from weald.estimators.gradient_boosting.options import CUSTOM
from weald.estimators.gradient_boosting.start import EstimatorStart
from weald.estimators.shared.saving import check_boosted
from weald.io.saved_state import SavedEnsemble

if TYPE_CHECKING:
    from weald.estimators.gradient_boosting.base import BaseGradientBoosting

_INIT = "init"


class StageState:
    """The parts of a fitted gradient booster."""

    def _saved_state(self) -> SavedEnsemble:
        own = cast("BaseGradientBoosting", self)
        model = own._rounds
        params = own.get_params(deep=False)
        params.pop("estimator")
        if not isinstance(params["loss"], str):
            params["loss"] = f"{CUSTOM}{own._loss_name}"
        members: list[tuple[str, Any]] = []
        params["init"] = "zero" if model.zero else None
        if model.init is not None:
            params.pop("init")
            members.append((_INIT, model.init.estimator))
        kept: dict[str, Any] = {
            "params": params,
            "schema": model.schema,
            "classes": None if not hasattr(own, "classes_") else (own.classes_,),
            "extra": {"seed": int(own._seed), "loss": own._loss_name},
        }
        if isinstance(model, TreeRounds):
            return SavedEnsemble(**kept, forest=model.forest, members=tuple(members))
        flat = [each for members_of_round in model.rounds for each in members_of_round]
        members += [(f"round {t // len(model.base)}", each.estimator) for t, each in enumerate(flat)]
        kept["extra"] |= {"link": model.link}
        arrays = {
            "base": _bits(model.base),
            "size": _bits(np.array([each.size for each in flat])),
            "rate": _bits(np.array([each.rate for each in flat])),
        }
        return SavedEnsemble(**kept, members=tuple(members), arrays=arrays)

    @classmethod
    def _from_saved_state(cls, state: SavedEnsemble) -> Self:
        seed, loss = state.extra.get("seed"), state.extra.get("loss")
        if type(seed) is not int or not 0 <= seed < 2**31 or not isinstance(loss, str):
            raise ParameterError("The facts of a boosted model are not complete, or not what they should be.")
        if state.schema is None or state.base is not None:
            raise ParameterError("A boosted model has no columns, or a base beside its rounds.")
        if state.classes is not None and len(state.classes) > 1:
            raise ParameterError("A boosted model of labels has one output.")
        classes = None if state.classes is None else state.classes[0]
        members = list(state.members)
        if any(member is None for _, member in members):
            raise ParameterError("A member of a boosted model is missing.")
        init = members.pop(0)[1] if members and members[0][0] == _INIT else None
        model = cast("type[BaseGradientBoosting]", cls)(**state.params)
        if init is not None:
            if "init" in state.params:
                raise ParameterError("A boosted model starts twice.")
            model.init = clone(init)
        rounds = (
            cls._trees(state, init, members) if state.forest is not None else cls._bases(state, init, members)
        )
        if isinstance(rounds, BaseRounds) and rounds.rounds:
            model.estimator = clone(rounds.rounds[0][0].estimator)
        options = model._checked_options()
        rounds = replace(rounds, zero=isinstance(model.init, str))
        if isinstance(rounds, TreeRounds):
            model._check_declared(rounds.schema)
            rounds = replace(rounds, declared=options.categorical_features)
        model._set_fitted(rounds, classes, {}, seed=seed, loss=loss)
        return cast("Self", model)

    @classmethod
    def _trees(
        cls, state: SavedEnsemble, init: Estimator | None, members: list[tuple[str, Any]]
    ) -> TreeRounds:
        forest, schema = state.forest, state.schema
        assert forest is not None
        assert schema is not None
        if members or state.arrays or len(state.extra) > 2:
            raise ParameterError("A forest has members or facts beside its trees.")
        check_boosted(forest)
        n_outputs = forest.n_outputs
        in_turn = np.arange(forest.n_trees)
        if forest.n_trees % n_outputs or (
            np.any(forest.tree_output != in_turn % n_outputs)
            or np.any(forest.tree_round != in_turn // n_outputs)
        ):
            raise ParameterError("The trees of a boosted model do not come round by round, one per output.")
        if forest.width != 1 or forest.link not in LINKS:
            raise ParameterError("The leaves of a boosted model do not hold one number, or it has no link.")
        start = _start(init, forest.link, n_outputs, state)
        return TreeRounds(forest, schema, start, None)

    @classmethod
    def _bases(
        cls, state: SavedEnsemble, init: Estimator | None, members: list[tuple[str, Any]]
    ) -> BaseRounds:
        assert state.schema is not None
        link = state.extra.get("link")
        if not isinstance(link, str) or link not in LINKS or len(state.extra) > 3:
            raise ParameterError("The facts of a boosted model are not complete, or not what they should be.")
        if set(state.arrays) != {"base", "size", "rate"}:
            raise ParameterError("The arrays of a boosted model are not complete.")
        base, size, rate = (_floats(state.arrays[name]) for name in ("base", "size", "rate"))
        n_outputs = len(base)
        classes = None if state.classes is None else state.classes[0]
        wanted = 1 if classes is None or link != "softmax" else len(classes)
        if n_outputs != wanted or not len(size) == len(rate) == len(members) or len(members) % n_outputs:
            raise ParameterError("The members of a boosted model do not match its steps or its classes.")
        if classes is not None and n_outputs == 1 and len(classes) != 2:
            raise ParameterError("A boosted model of one output and labels has two of them.")
        n_columns = len(state.schema.columns)
        fitted = [each for _, each in members]
        if len({type(each) for each in fitted}) > 1 or not all(is_regressor(each) for each in fitted):
            raise ParameterError("The members of a boosted model differ in kind, or are no regressors.")
        if any(each.n_features_in_ != n_columns or getattr(each, "n_outputs_", 1) != 1 for each in fitted):
            raise ParameterError("The members of a boosted model have other columns, or several outputs.")
        flat = [FittedBase(e, float(s), float(r)) for e, s, r in zip(fitted, size, rate, strict=True)]
        rounds = [flat[t : t + n_outputs] for t in range(0, len(flat), n_outputs)]
        return BaseRounds(rounds, base, link, state.schema, _start(init, link, n_outputs, state))


def _start(init: Estimator | None, link: str, n_outputs: int, state: SavedEnsemble) -> EstimatorStart | None:
    """The estimator a model starts from, which comes from a file."""
    if init is None:
        return None
    classes = None if state.classes is None else state.classes[0]
    theirs = getattr(init, "classes_", None)
    fits = (theirs is None) == (classes is None)
    if fits and classes is not None:
        fits = isinstance(theirs, np.ndarray) and set(theirs.tolist()) <= set(classes.tolist())
        fits = fits and hasattr(init, "predict_proba")
    elif fits:
        fits = is_regressor(init) and getattr(init, "n_outputs_", 1) == 1
    if not fits:
        raise ParameterError("The estimator that a boosted model starts from does not fit its target.")
    return EstimatorStart(init, link, classes)


def _bits(values: Floats) -> NDArray[np.int64]:
    """Floats as whole numbers, which is what arrays of ensembles hold."""
    return np.ascontiguousarray(values, np.float64).view(np.int64)


def _floats(bits: NDArray[Any]) -> Floats:
    if bits.ndim != 1 or bits.dtype.kind not in "iu":
        raise ParameterError("An array of a boosted model is not what it should be.")
    found = bits.astype(np.int64).view(np.float64)
    if not np.isfinite(found).all():
        raise ParameterError("A step of a boosted model is not finite.")
    return found
