"""The parameters of `Thresholded`, each with its range, and its cost matrix."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Estimator, Folds, RandomState
from weald.errors import ParameterError, listing, told
from weald.estimators.shared.ensemble_options import Trainable
from weald.parameters import Choice, Function, Instance, Nothing, Number, Splitter, Whole, parameter

Threshold: TypeAlias = str | float | list[list[float]] | NDArray[np.float64] | Callable[..., float]

METRICS = ("balanced_accuracy", "f1")


@dataclass(frozen=True, slots=True)
class Label:
    """A label of any type; whether it is one of `y` is told by the fit."""

    says: str = "a label"

    def admits(self, value: object) -> bool:
        """Whether it can be looked up among labels: lists and tables cannot."""
        return isinstance(value, Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdOptions:
    """The parameters of `Thresholded`."""

    estimator: Estimator = parameter(
        Trainable("a classifier with fit and predict_proba", ("fit", "predict_proba")),
        hint="Give an object, not a class; for an SVC set probability=True.",
    )
    threshold: Threshold = parameter(
        Choice(METRICS),
        Number(0, 1, "()"),
        Instance((list, tuple, np.ndarray), "a matrix of costs, true classes by decided ones"),
        Function("a function of (y_true, y_pred), of which more is better"),
        hint="Use 'balanced_accuracy' or 'f1' to have it found.",
    )
    cv: Folds | str | None = parameter(
        Nothing(),
        Choice(("oob", "prefit")),
        Whole(2),
        Splitter(),
        hint="Leave it None for out-of-bag rows where there are any, and else five folds.",
    )
    pos_label: object = parameter(Label(), hint="Leave it None for the rarer of two classes.")
    random_state: RandomState = parameter(
        Nothing(),
        Whole(0, 2**32 - 1),
        Instance((np.random.RandomState,), "a numpy.random.RandomState"),
        hint="Use a whole number for folds that can be repeated.",
    )


def is_cost(threshold: object) -> bool:
    """Whether the parameter is a matrix of costs."""
    return isinstance(threshold, list | tuple | np.ndarray)


def cost_matrix(given: object, classes: NDArray[Any], owner: str) -> NDArray[np.float64]:
    """The costs of decisions, checked: (true classes, decided classes), in the order of the labels."""
    n = len(classes)
    try:
        cost = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        cost = np.empty(0)
    wanted = (
        f"a {n} × {n} matrix: in row i and column j what it costs to call a row of class i class j, classes "
        f"in the order {listing(classes.tolist())}"
    )
    if cost.shape != (n, n):
        shape = "another form" if not cost.size else f"the shape {' × '.join(map(str, cost.shape))}"
        raise ParameterError(
            f"The costs that are `threshold` of {owner} must be {wanted}. They have {shape}."
        )
    if not np.isfinite(cost).all():
        raise ParameterError(f"The costs that are `threshold` of {owner} must be finite numbers in {wanted}.")
    dearer = np.argwhere(cost < np.diag(cost)[:, None])
    if len(dearer):
        i, j = dearer[0]
        raise ParameterError(
            f"The costs that are `threshold` of {owner} make it dearer to call a row of class "
            f"{told(classes.tolist()[i])} right ({cost[i, i]:g}) than to call it {told(classes.tolist()[j])} "
            f"({cost[i, j]:g}). Row i, column j is what it costs to call a row of class i class j."
        )
    return cost
