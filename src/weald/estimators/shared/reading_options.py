"""How estimators that compare rows by numbers read tables, and share out the work."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from weald.arrays import CategoricalFeatures
from weald.parameters import Choice, Flag, Instance, Nothing, NotZero, parameter


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """The parameters by which tables become numbers, and the number of threads."""

    scale: bool = parameter(Flag(), hint="Use True to standardise columns inside the model.")
    unknown: Literal["missing", "error"] = parameter(
        Choice(("missing", "error")),
        hint="Use 'missing' to treat categories not seen in training as missing.",
    )
    categorical_features: CategoricalFeatures = parameter(
        Nothing(),
        Choice(("from_dtype",)),
        Instance((Collection,), "a list of column names, of positions or of True and False"),
        hint="Leave it None to tell categories by the type of the column.",
    )
    n_jobs: int | None = parameter(
        Nothing(),
        NotZero(),
        hint="Leave it None for every CPU of the process, or count back from them with -1.",
    )
