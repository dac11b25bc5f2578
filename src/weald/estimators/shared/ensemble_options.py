"""The parameters of bagging and voting, each with its range."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Estimator, RandomState
from weald.parameters import Choice, Flag, Function, Instance, Nothing, NotZero, Number, Whole, parameter


@dataclass(frozen=True, slots=True)
class Trainable:
    """An estimator: an object with `fit` and, unless others suffice, `predict`."""

    says: str = "an estimator with fit and predict"
    methods: tuple[str, ...] = ("fit", "predict")

    def admits(self, value: object) -> bool:
        """Whether `value` is such an object; a class is none."""
        return not isinstance(value, type) and all(
            callable(getattr(value, name, None)) for name in (*self.methods, "get_params")
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BaggingOptions:
    """The parameters of `BaggingClassifier` and `BaggingRegressor`."""

    estimator: Estimator | None = parameter(
        Nothing(), Trainable(), hint="Leave it None for weald's decision trees; give an object, not a class."
    )
    n_estimators: int = parameter(Whole(1), hint="Use 10 or more.")
    max_samples: int | float | None = parameter(
        Nothing(),
        Whole(1),
        Number(0, 1, "(]", fraction=True),
        hint="Leave it None to draw as many as there are.",
    )
    max_features: int | float = parameter(
        Whole(1), Number(0, 1, "(]", fraction=True), hint="Use 1.0 for all columns."
    )
    bootstrap: bool = parameter(Flag(), hint="Use True to draw rows with replacement.")
    bootstrap_features: bool = parameter(Flag(), hint="Use False to draw columns without replacement.")
    oob_score: bool | Callable[..., float] = parameter(
        Flag(), Function("a function of (y_true, y_pred)"), hint="Use True for accuracy or R²."
    )
    warm_start: bool = parameter(Flag(), hint="Use False to start anew with every fit.")
    n_jobs: int | None = parameter(Nothing(), NotZero(), hint="Use -1 for every CPU of the process.")
    random_state: RandomState = parameter(
        Nothing(),
        Whole(0, 2**32 - 1),
        Instance((np.random.RandomState,), "a numpy.random.RandomState"),
        hint="Use a whole number for results that can be repeated.",
    )
    verbose: int = parameter(Whole(0), Flag(), hint="Use 0 for silence.")


@dataclass(frozen=True, slots=True, kw_only=True)
class VotingOptions:
    """The parameters that `VotingClassifier` and `VotingRegressor` share."""

    estimators: Sequence[tuple[str, Any]] = parameter(
        Instance((list, tuple), "a list of (name, estimator)"),
        hint="For example [('tree', DecisionTreeClassifier()), ...].",
    )
    weights: Sequence[float] | NDArray[Any] | None = parameter(
        Nothing(),
        Instance((Collection,), "a list of numbers, one per estimator"),
        hint="Leave it None if all count alike.",
    )
    n_jobs: int | None = parameter(Nothing(), NotZero(), hint="Use -1 for every CPU of the process.")
    verbose: bool = parameter(Flag(), Whole(0), hint="Use False for silence.")


@dataclass(frozen=True, slots=True, kw_only=True)
class VotingClassifierOptions(VotingOptions):
    """The parameters of `VotingClassifier`."""

    voting: str = parameter(
        Choice(("hard", "soft")), hint="Use 'soft' to average probabilities, 'hard' to count votes."
    )
    flatten_transform: bool = parameter(Flag(), hint="Use True for a table of rows.")
