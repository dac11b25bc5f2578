"""What a model file keeps of a classifier with a threshold; the classifier must be weald's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from sklearn.base import clone

from weald.errors import ParameterError
from weald.estimators.bagging.saving import check_outputs
from weald.estimators.thresholds.curve import ThresholdCurve
from weald.estimators.thresholds.options import cost_matrix, is_cost
from weald.estimators.thresholds.task import Decision
from weald.io.arrays import Shelf
from weald.io.saved_state import SavedEnsemble

if TYPE_CHECKING:
    from weald.estimators.thresholds.thresholded import Thresholded


class ThresholdState:
    """The parts of a fitted `Thresholded`."""

    def _saved_state(self) -> SavedEnsemble:
        own = cast("Thresholded", self)
        params = {name: value for name, value in own.get_params(deep=False).items() if name != "estimator"}
        if is_cost(own.threshold):
            params["threshold"] = np.asarray(own.threshold, np.float64).tolist()
        elif callable(own.threshold):
            params["threshold"] = own._decision.threshold  # a metric of the user's own is code
        extra: dict[str, int | float | str] = {"place": own._decision.place}
        if own._decision.threshold is not None:
            extra["threshold"] = own._decision.threshold
        arrays = {}
        if "curve_" in vars(own):
            arrays = {"thresholds": own.curve_.thresholds, "scores": own.curve_.scores}
        return SavedEnsemble(
            params=params,
            classes=(own.classes_,),
            extra=extra,
            members=(("estimator", own.estimator_),),
            arrays=arrays,
        )

    @classmethod
    def _from_saved_state(cls, state: SavedEnsemble) -> Self:
        fitted = [each for _, each in state.members if each is not None]
        if len(fitted) != 1 or len(state.members) != 1 or state.classes is None:
            raise ParameterError("A classifier with a threshold has one member, and labels.")
        if state.schema is not None or state.forest is not None or state.base is not None:
            raise ParameterError("A classifier with a threshold has no trees of its own.")
        check_outputs(fitted, state.classes)
        classes = state.classes[0]
        if not hasattr(fitted[0], "predict_proba") or not np.array_equal(fitted[0].classes_, classes):
            raise ParameterError("The member of a classifier with a threshold has other labels.")
        model = cast("type[Thresholded]", cls)(clone(fitted[0]), **state.params)
        options = model._checked_options()
        cost = cost_matrix(options.threshold, classes, cls.__name__) if is_cost(options.threshold) else None
        decision = Decision(*_numbers(state.extra, len(classes)), cost)
        if decision.threshold is None and cost is None:
            raise ParameterError("A classifier with a threshold has neither threshold nor costs.")
        model._set_fitted(fitted[0], decision, classes, _curve(state))
        return cast("Self", model)


def _numbers(extra: dict[str, Any], n_classes: int) -> tuple[int, float | None]:
    """The place of the positive class, and the threshold, from a file that may hold anything."""
    place, threshold = extra.get("place"), extra.get("threshold")
    if type(place) is not int or not 0 <= place < n_classes or not set(extra) <= {"place", "threshold"}:
        raise ParameterError("The facts of a classifier with a threshold are not what they should be.")
    if threshold is None and n_classes > 2:
        return place, None
    if threshold is not None and (n_classes != 2 or not isinstance(threshold, float)):
        raise ParameterError("A threshold of a model file is no number, or parts more than two classes.")
    if threshold is not None and not 0 <= threshold <= 1:
        raise ParameterError("A threshold of a model file is not between 0 and 1.")
    return place, threshold


def _curve(state: SavedEnsemble) -> ThresholdCurve | None:
    if not state.arrays:
        return None
    shelf = Shelf(state.arrays)
    thresholds = state.arrays.get("thresholds")
    n = 0 if thresholds is None else len(thresholds)
    found = ThresholdCurve(
        np.asarray(shelf.floats("thresholds", (n,)), np.float64),
        np.asarray(shelf.floats("scores", (n,)), np.float64),
    )
    if shelf.left() or n < 1:
        raise ParameterError("The scores of thresholds in a model file are not complete.")
    return found
