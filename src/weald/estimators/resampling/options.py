"""The parameters of the samplers, each with its range."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from weald.arrays import AnyEstimator, CategoricalFeatures, Estimator, RandomState
from weald.parameters import (
    Choice,
    Flag,
    Function,
    Instance,
    Nothing,
    NotZero,
    Number,
    Rule,
    Whole,
    parameter,
)
from weald.resampling.strategy import WORDS, Strategy


@dataclass(frozen=True, slots=True)
class WithMethods:
    """An object that has some methods; a class is none."""

    says: str
    methods: tuple[str, ...]

    def admits(self, value: object) -> bool:
        """Whether `value` is such an object."""
        return not isinstance(value, type) and all(
            callable(getattr(value, name, None)) for name in (*self.methods, "get_params")
        )


#: how much noise, for all classes or by label
Shrinkage: TypeAlias = float | Mapping[Any, float] | None
#: what random_state may be
_SEED: Final[tuple[Rule, ...]] = (
    Nothing(),
    Whole(0, 2**32 - 1),
    Instance((np.random.RandomState,), "a numpy.random.RandomState"),
)
_REPEATED: Final = "Use a whole number for results that can be repeated."
#: imbalanced-learn takes such objects wherever it takes a number of neighbours
_SEARCH: Final[Rule] = WithMethods("an object with fit and kneighbors", ("fit", "kneighbors"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplerOptions:
    """What all samplers share."""

    sampling_strategy: Strategy = parameter(
        Choice(WORDS),
        Number(0, 1, "(]"),
        Instance((Mapping,), "a dict of label to rows"),
        Instance((list, tuple), "a list of labels"),
        Function("a function of y"),
        hint="Use 'auto' to bring every class to the same number of rows.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawingOptions(SamplerOptions):
    """Of samplers that draw."""

    random_state: RandomState = parameter(*_SEED, hint=_REPEATED)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions(SamplerOptions):
    """Of samplers that read the table, by the values of its columns."""

    categorical_features: CategoricalFeatures = parameter(
        Nothing(),
        Choice(("from_dtype", "auto")),
        Instance((Collection,), "a list of column names, of positions or of True and False"),
        hint="Leave it None to tell categories by the type of the column.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions(TableOptions):
    """Of samplers that look for neighbours."""

    scale: bool | None = parameter(
        Nothing(), Flag(), hint="Use True to compare columns in standard deviations, False as they are."
    )
    n_jobs: int | None = parameter(
        Nothing(), NotZero(), hint="Leave it None for every CPU of the process, or count back with -1."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomOverOptions(TableOptions):
    """The parameters of `RandomOverSampler`."""

    random_state: RandomState = parameter(*_SEED, hint=_REPEATED)
    shrinkage: Shrinkage = parameter(
        Nothing(),
        Number(0),
        Instance((Mapping,), "a dict of label to a number"),
        hint="Leave it None to repeat rows as they are.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomUnderOptions(DrawingOptions):
    """The parameters of `RandomUnderSampler`."""

    replacement: bool = parameter(Flag(), hint="Use False to keep every row at most once.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SmoteOptions(SearchOptions):
    """The parameters of `SMOTE`."""

    random_state: RandomState = parameter(*_SEED, hint=_REPEATED)
    k_neighbors: int | Estimator = parameter(
        Whole(1), _SEARCH, hint="Use 5, or less if a class has fewer than 6 rows."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NominalOptions(SmoteOptions):
    """The parameters of `SMOTENC` and `SMOTEN`."""

    categorical_encoder: object = parameter(
        Nothing(),
        WithMethods("an encoder", ("fit_transform",)),
        hint="Leave it None: categories are compared as they are.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BorderlineOptions(SmoteOptions):
    """The parameters of `BorderlineSMOTE`."""

    m_neighbors: int | Estimator = parameter(Whole(1), _SEARCH, hint="Use 10.")
    kind: Literal["borderline-1", "borderline-2"] = parameter(
        Choice(("borderline-1", "borderline-2")),
        hint="Use 'borderline-1' to make rows between rows of the class alone.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AdasynOptions(SearchOptions):
    """The parameters of `ADASYN`."""

    random_state: RandomState = parameter(*_SEED, hint=_REPEATED)
    n_neighbors: int | Estimator = parameter(
        Whole(1), _SEARCH, hint="Use 5, or less if a class has fewer than 6 rows."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedOptions(SearchOptions):
    """The parameters of `EditedNearestNeighbours`."""

    n_neighbors: int | Estimator = parameter(Whole(1), _SEARCH, hint="Use 3.")
    kind_sel: Literal["all", "mode"] = parameter(
        Choice(("all", "mode")),
        hint="Use 'mode' to drop fewer rows, only those that most neighbours outvote.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMissOptions(SearchOptions):
    """The parameters of `NearMiss`."""

    version: int = parameter(Whole(1, 3), hint="Use 1, 2 or 3.")
    n_neighbors: int | Estimator = parameter(Whole(1), _SEARCH, hint="Use 3.")
    n_neighbors_ver3: int | Estimator = parameter(Whole(1), _SEARCH, hint="Use 3.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinedOptions(DrawingOptions):
    """What `SMOTEENN` and `SMOTETomek` share."""

    smote: AnyEstimator = parameter(
        Nothing(), WithMethods("a sampler", ("fit_resample",)), hint="Leave it None for SMOTE()."
    )
    n_jobs: int | None = parameter(
        Nothing(), NotZero(), hint="Leave it None for every CPU of the process, or count back with -1."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SmoteEnnOptions(CombinedOptions):
    """The parameters of `SMOTEENN`."""

    enn: AnyEstimator = parameter(
        Nothing(),
        WithMethods("a sampler", ("fit_resample",)),
        hint="Leave it None for EditedNearestNeighbours(sampling_strategy='all').",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SmoteTomekOptions(CombinedOptions):
    """The parameters of `SMOTETomek`."""

    tomek: AnyEstimator = parameter(
        Nothing(),
        WithMethods("a sampler", ("fit_resample",)),
        hint="Leave it None for TomekLinks(sampling_strategy='all').",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionOptions:
    """The parameters of `Resampled` that predictions go by."""

    correct_prior: bool | Literal["blend", "shares"] = parameter(
        Flag(),
        Choice(("blend", "shares")),
        hint="Use True for probabilities under the class shares of the data, 'shares' for fewer fits.",
    )
    decide: Literal["resampled", "corrected"] = parameter(
        Choice(("resampled", "corrected")),
        hint="Use 'resampled' to find more of the rare rows, 'corrected' to be right most often.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResampledOptions(CorrectionOptions):
    """The parameters of `Resampled`."""

    estimator: Estimator = parameter(
        WithMethods("a classifier with fit and predict", ("fit", "predict")),
        hint="Give an object, not a class.",
    )
    sampler: AnyEstimator = parameter(
        WithMethods("a sampler with fit_resample", ("fit_resample",)),
        hint="For example SMOTE(), or a sampler of imbalanced-learn; model files keep none but weald's.",
    )
