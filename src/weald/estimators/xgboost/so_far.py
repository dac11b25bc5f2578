"""The model of a training that is still under way, as callbacks and checkpoints see it."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, cast

from weald.arrays import AnyTable
from weald.io.saved_state import Saveable
from weald.model.forest import Forest

if TYPE_CHECKING:
    from weald.estimators.xgboost.base import BaseXGB, Data
    from weald.estimators.xgboost.native.booster import Booster
    from weald.estimators.xgboost.plan import Plan


class SoFar:
    """Makes a fitted model of the trees so far.

    Parameters
    ----------
    model : estimator
        The one that is fitted.
    data, plan
        What it learns from, and how.
    attributes : dict
        What callbacks set; all Boosters share it.
    """

    def __init__(self, model: BaseXGB, data: Data, plan: Plan, attributes: dict[str, str]) -> None:
        self._model, self._data, self._plan, self._attributes = model, data, plan, attributes

    def predict(self, forest: Forest, X: AnyTable) -> Any:
        """Predictions of a forest, for callbacks."""
        return self._fitted(forest, {"_best": None, "objective_": ""}).predict(X)

    def booster(self, forest: Forest) -> Booster:
        """A forest as a Booster, for callbacks."""
        from weald.estimators.xgboost.native.booster import Booster

        return Booster._of_estimator(self._planned(forest), self._attributes)

    def kept(self, forest: Forest, text: str) -> Saveable:
        """A forest as a model to be saved, with the text of a checkpoint; all its rounds predict."""
        model = self._planned(forest)
        model.__dict__["_checkpoint"] = text
        return cast("Saveable", model)

    def _planned(self, forest: Forest) -> BaseXGB:
        learned = self._model._planned(self._plan) | {"objective_": self._plan.objective_name, "_best": None}
        return self._fitted(forest, learned)

    def _fitted(self, forest: Forest, learned: dict[str, Any]) -> BaseXGB:
        model, data = copy.copy(self._model), self._data
        model._set_fitted(forest, data.schema, data.classes, learned | {"n_outputs_": data.n_targets})
        return model
