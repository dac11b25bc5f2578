"""The parameters of AdaBoost, each with its range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from weald.arrays import Estimator, RandomState
from weald.estimators.shared.ensemble_options import Trainable
from weald.parameters import (
    Choice,
    Flag,
    Instance,
    Nothing,
    NotZero,
    Number,
    Whole,
    category_penalty,
    optional,
    parameter,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaBoostOptions:
    """The parameters that both AdaBoost estimators share."""

    if TYPE_CHECKING:
        worse_than_chance: str  # each class has a choice of its own

    estimator: Estimator | None = parameter(
        Nothing(), Trainable(), hint="Leave it None for weald's trees; give an object, not a class."
    )
    n_estimators: int = parameter(Whole(1), hint="Use 50, or more with `early_stopping`.")
    learning_rate: float = parameter(Number(0, ends="(]"), hint="Use 1.0, or less with more estimators.")
    resample: str | None = parameter(
        Nothing(),
        Choice(("compound", "reset", "replace")),
        hint="Leave it None to weigh rows; use 'compound' for estimators that take no weights.",
    )
    cat_penalty: float | str = category_penalty()
    early_stopping: float | Sequence[Any] | None = optional(
        Number(0, 1, "()", fraction=True),
        Instance((tuple, list), "a set (X, y)"),
        hint="Use 0.1 to hold out a tenth of the rows.",
    )
    early_stopping_rounds: int | None = optional(Whole(1), hint="Use 10.")
    keep_row_weights: bool = parameter(Flag(), hint="Use False: `row_weights` tells them again.")
    n_jobs: int | None = parameter(Nothing(), NotZero(), hint="Use -1 for every CPU of the process.")
    random_state: RandomState = parameter(
        Nothing(),
        Whole(0, 2**32 - 1),
        Instance((np.random.RandomState,), "a numpy.random.RandomState"),
        hint="Use a whole number for results that can be repeated.",
    )
    verbose: int = parameter(Whole(0), Flag(), hint="Use 0 for silence.")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaBoostClassifierOptions(AdaBoostOptions):
    """The parameters of `AdaBoostClassifier`."""

    worse_than_chance: str = parameter(
        Choice(("stop", "reset", "negate")), hint="Use 'stop', as scikit-learn does."
    )
    probability: str = parameter(Choice(("softmax", "logistic")), hint="Use 'softmax', as scikit-learn does.")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaBoostRegressorOptions(AdaBoostOptions):
    """The parameters of `AdaBoostRegressor`."""

    worse_than_chance: str = parameter(
        Choice(("stop", "reset")), hint="Use 'stop': a number has no opposite to vote for."
    )
    loss: str = parameter(Choice(("linear", "square", "exponential")), hint="Use 'linear'.")


Options = TypeVar("Options", bound=AdaBoostOptions)


def as_fitted(options: Options) -> Options:
    """Parameters as a fitted model remembers them: without estimators, generators and rows of the user's."""
    asked = options.early_stopping
    return replace(
        options,
        estimator=None,
        early_stopping=asked if isinstance(asked, float) else None,
        early_stopping_rounds=None,
        random_state=None,
    )
