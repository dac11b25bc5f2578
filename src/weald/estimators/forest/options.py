"""The parameters of forests, each with its range."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weald.parameters import (
    Choice,
    GrowthOptions,
    Instance,
    Nothing,
    Number,
    Whole,
    category_penalty,
    parameter,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestOptions(GrowthOptions):
    """The parameters that all forests share, in scikit-learn's words."""

    n_estimators: int = parameter(Whole(1), hint="Use 100, and more for steadier out-of-bag estimates.")
    bootstrap: bool = parameter(
        Instance((bool, np.bool_), "True or False"), hint="Use True to draw the rows of every tree."
    )
    oob_score: bool | Callable[..., float] = parameter(
        Instance((bool, np.bool_), "True or False"),
        Instance((Callable,), "a metric(y_true, y_pred)"),  # type: ignore[arg-type]  # an abstract class
        hint="Use True to judge every row by the trees that did not see it.",
    )
    max_samples: int | float | None = parameter(
        Nothing(),
        Whole(1),
        Number(0, ends="(]", fraction=True),
        hint="Leave it None to draw as many rows as there are.",
    )
    warm_start: bool = parameter(
        Instance((bool, np.bool_), "True or False"), hint="Use True to add trees to those of the last fit."
    )
    leaf_dtype: str = parameter(
        Choice(("float64", "float32")), hint="Use 'float32' for smaller files, with 24 bits per leaf value."
    )
    verbose: int | bool = parameter(
        Whole(0), Instance((bool, np.bool_), "True or False"), hint="Use 1 for a progress bar."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassificationForestOptions(ForestOptions):
    """The parameters of forests that classify."""

    criterion: str = parameter(
        Choice(("gini", "entropy", "log_loss", "misclassification")),
        hint="Use 'gini' unless you compare criteria.",
    )
    class_weight: str | Mapping[Any, float] | Sequence[Any] | None = parameter(
        Nothing(),
        Choice(("balanced", "balanced_subsample")),
        Instance((Mapping,), "a dict from label to weight"),
        Instance((list, tuple), "a list of such, one per output"),
        hint="Use 'balanced' to give every class the same total weight.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionForestOptions(ForestOptions):
    """The parameters of forests that predict numbers."""

    criterion: str = parameter(
        Choice(("squared_error", "friedman_mse", "absolute_error", "poisson")),
        hint="Use 'squared_error' to predict means.",
    )


def _combinations() -> Any:
    """The range of `feature_combinations`."""
    return parameter(
        Nothing(),
        Whole(1),
        Instance((tuple, list), "a pair: columns combined, combinations tried in a node"),
        hint="Use 3 to combine three columns at a time, or None for plain columns.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomForestClassifierOptions(ClassificationForestOptions):
    """The parameters of `RandomForestClassifier`."""

    feature_combinations: int | tuple[int, int] | None = _combinations()
    cat_penalty: float | str = category_penalty()


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomForestRegressorOptions(RegressionForestOptions):
    """The parameters of `RandomForestRegressor`."""

    feature_combinations: int | tuple[int, int] | None = _combinations()
    cat_penalty: float | str = category_penalty()
