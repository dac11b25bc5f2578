"""What a model file keeps of a booster, and a booster made again from that."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self, cast

from numpy.typing import NDArray

from weald.boosting.links import LINKS
from weald.errors import ParameterError
from weald.estimators.shared.saving import check_boosted
from weald.estimators.xgboost.plan import given_rate
from weald.io import canonical
from weald.io.saved_state import SavedState

if TYPE_CHECKING:
    from weald.estimators.xgboost.base import BaseXGB

#: parameters that hold code or rows, which no file keeps
_NOT_KEPT = ("callbacks", "early_stopping")


class BoostedState:
    """The parts of a fitted booster. Learning curves are not among them."""

    def _saved_state(self) -> SavedState:
        own = cast("BaseXGB", self)
        extra: dict[str, int | float | str] = {
            "objective": own.objective_,
            "tree_method": own.tree_method_,
            "targets": own.n_outputs_,
        }
        if own.max_bin_ is not None:
            extra["max_bin"] = own.max_bin_
        if own.learning_rate_ != given_rate(own._options()):
            extra["learning_rate"] = own.learning_rate_
        if own._best is not None:
            extra |= {"best_iteration": own._best[0], "best_score": own._best[1]}
        if "_checkpoint" in vars(own):
            extra["checkpoint"] = vars(own)["_checkpoint"]
        return SavedState(
            params=_kept_parameters(own._set_params(), own.objective_),
            schema=own.schema_,
            forest=own.forest_,
            classes=own._classes_by_output(),
            extra=extra,
        )

    def _classes_by_output(self) -> tuple[NDArray[Any], ...] | None:
        """The labels of each output; None for numbers."""
        classes = getattr(self, "classes_", None)
        if classes is None:
            return None
        return tuple(classes) if isinstance(classes, list) else (classes,)

    @classmethod
    def _from_saved_state(cls, state: SavedState) -> Self:
        model = cast("type[BaseXGB]", cls)(**state.params)
        options, extra = model._options(), _checked_extra(state)
        best = extra.get("best_iteration")
        learned = {
            "objective_": extra["objective"],
            "tree_method_": extra["tree_method"],
            "max_bin_": extra.get("max_bin"),
            "learning_rate_": extra.get("learning_rate", given_rate(options)),
            "n_outputs_": extra["targets"],
            "_best": None if best is None else (best, extra["best_score"]),
        }
        if "checkpoint" in extra:
            learned["_resumable"] = extra["checkpoint"]
        model._set_fitted(state.forest, state.schema, state.classes, learned)
        return cast("Self", model)


def _kept_parameters(params: dict[str, Any], objective: str) -> dict[str, Any]:
    """Without code and rows: a custom objective leaves its name, a custom metric nothing."""
    kept = {name: value for name, value in params.items() if name not in _NOT_KEPT}
    if not isinstance(params.get("early_stopping", ()), tuple | list):
        kept["early_stopping"] = params["early_stopping"]
    if callable(kept.get("objective")):
        kept["objective"] = objective
    metrics = kept.pop("eval_metric", None)
    if isinstance(metrics, list | tuple):
        metrics = [metric for metric in metrics if isinstance(metric, str)]
    if metrics and not callable(metrics):
        kept["eval_metric"] = metrics
    return kept


def saved_parts(state: SavedState) -> tuple[dict[str, Any], dict[str, str], list[str] | None]:
    """What a file says of a Booster: the facts of its model, its attributes, and the types of its columns."""
    extra: dict[str, Any] = dict(state.extra)
    attributes, types = extra.pop("attributes", "{}"), extra.pop("feature_types", None)
    if not isinstance(attributes, str):
        raise ParameterError("The attributes of the Booster are not texts by name.")
    found = canonical.loads(attributes, "text of the Booster's attributes")
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise ParameterError("The attributes of the Booster are not texts by name.")
    if types is None:
        return extra, found, None
    if not isinstance(types, str) or types.count(" ") + 1 != len(state.schema.columns):
        raise ParameterError("The types of the columns are not one per column.")
    return extra, found, types.split(" ")


def _checked_extra(state: SavedState) -> dict[str, Any]:
    """The fitted numbers, which come from a file: each of its type, and possible."""
    wanted = {
        "objective": str,
        "tree_method": str,
        "targets": int,
        "max_bin": int,
        "learning_rate": float,
        "best_iteration": int,
        "best_score": float,
        "checkpoint": str,
    }
    extra: dict[str, Any] = dict(state.extra)
    for name, value in extra.items():
        if type(value) is not wanted.get(name):
            raise ParameterError(f"{name!r} holds {value!r:.40}, which is not what it should be.")
    lacking = {"objective", "tree_method", "targets"} - extra.keys()
    if lacking or ("best_iteration" in extra) != ("best_score" in extra):
        raise ParameterError("The facts of a boosted model are not complete.")
    if extra["tree_method"] not in ("exact", "approx", "hist") or not 0 < extra["targets"] < 2**31:
        raise ParameterError("The method or the number of targets is impossible.")
    if state.forest.link not in LINKS:
        raise ParameterError(f"There is no link {state.forest.link!r:.40}.")
    check_boosted(state.forest)
    if not 0 <= extra.get("learning_rate", 0.0) < math.inf:
        raise ParameterError("The learning rate is impossible.")
    if extra.get("best_iteration", 0) < 0:
        raise ParameterError("The best round is negative.")
    return extra
