"""The parameters of `Landmarks`, each with its range."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from weald.estimators.ensemble_options import Flag, Function
from weald.estimators.options import Choice, Instance, Nothing, NotZero, Number, Whole, parameter
from weald.estimators.svm_options import AnyNumber
from weald.svm.kernels import BY_NAME

CHOICES = ("k-means++", "random")
FEATURES = ("nystroem", "similarity")


@dataclass(frozen=True, slots=True)
class Rows:
    """A table of rows."""

    says: str = "a table of rows"

    def admits(self, value: object) -> bool:
        """Whether `value` may be one; what it holds is seen when it is read."""
        return value is not None and not isinstance(value, str | bytes) and not np.isscalar(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class LandmarksOptions:
    """The parameters of `Landmarks`."""

    n_landmarks: int | float = parameter(
        Whole(1), Number(0, 1, "(]", fraction=True), hint="Use 100, or 0.05 for one row in twenty."
    )
    kernel: Any = parameter(
        Choice(tuple(BY_NAME)),
        Function("a kernel of weald.kernels or a function f(X, Z)"),
        hint="Use 'rbf' unless you know better.",
    )
    degree: int = parameter(Whole(1, 1000), hint="Use 3.")
    gamma: float | str = parameter(
        Choice(("scale", "auto")), Number(0, ends="(]"), hint="Use 'scale', or `sigma`."
    )
    coef0: float = parameter(AnyNumber(), hint="Use 0.0, or 1.0 with 'poly'.")
    sigma: float | None = parameter(Nothing(), Number(0, ends="(]"), hint="Leave it None to go by `gamma`.")
    landmarks: Any = parameter(Choice(CHOICES), Rows(), hint="Use 'k-means++'.")
    features: str = parameter(Choice(FEATURES), hint="Use 'nystroem' before a linear machine.")
    scale: bool = parameter(Flag(), hint="Use True to standardise columns inside the model.")
    unknown: str = parameter(
        Choice(("missing", "error")),
        hint="Use 'missing' to treat categories not seen in training as missing.",
    )
    categorical_features: Any = parameter(
        Nothing(),
        Choice(("from_dtype",)),
        Instance((Collection,), "a list of column names, of positions or of True and False"),
        hint="Leave it None to tell categories by the type of the column.",
    )
    random_state: Any = parameter(
        Nothing(),
        Whole(0, 2**32 - 1),
        Instance((np.random.RandomState,), "a numpy.random.RandomState"),
        hint="Use a whole number for results that can be repeated.",
    )
    n_jobs: int | None = parameter(
        Nothing(),
        NotZero(),
        hint="Leave it None for every CPU of the process, or count back from them with -1.",
    )
