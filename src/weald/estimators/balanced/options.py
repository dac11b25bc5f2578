"""The parameters of balanced ensembles, each with its range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weald.arrays import Estimator
from weald.estimators.adaboost.options import AdaBoostClassifierOptions
from weald.estimators.balanced.class_rows import (
    Strategy,
    correct_prior_rule,
    replacement_rule,
    sampling_strategy_rule,
)
from weald.estimators.forest.options import RandomForestClassifierOptions
from weald.estimators.shared.ensemble_options import BaggingOptions, Trainable
from weald.parameters import Choice, Flag, Nothing, parameter


@dataclass(frozen=True, slots=True, kw_only=True)
class BalancedForestOptions(RandomForestClassifierOptions):
    """The parameters of `BalancedRandomForestClassifier`."""

    sampling_strategy: Strategy = sampling_strategy_rule()  # noqa: RUF009
    replacement: bool = replacement_rule()
    correct_prior: bool | Literal["blend"] = parameter(
        Flag(),
        Choice(("blend",)),
        hint="Use True for probabilities under the class shares of the training rows, 'blend' to ask a "
        "forest of the rows as they are too.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BalancedBaggingOptions(BaggingOptions):
    """The parameters of `EasyEnsembleClassifier`, and of `BalancedBaggingClassifier` but for the sampler."""

    sampling_strategy: Strategy = sampling_strategy_rule()  # noqa: RUF009
    replacement: bool = replacement_rule()
    correct_prior: bool = correct_prior_rule()


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledBaggingOptions(BalancedBaggingOptions):
    """The parameters of `BalancedBaggingClassifier`."""

    sampler: Estimator | None = parameter(
        Nothing(),
        Trainable("a sampler with fit_resample", ("fit_resample",)),
        hint="Leave it None to draw rows by counter, without copying the table.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RUSBoostOptions(AdaBoostClassifierOptions):
    """The parameters of `RUSBoostClassifier`."""

    sampling_strategy: Strategy = sampling_strategy_rule()  # noqa: RUF009
    replacement: bool = replacement_rule()
    correct_prior: bool = correct_prior_rule()
