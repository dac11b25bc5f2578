"""The parameters of `Landmarks`, each with its range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weald.arrays import TableLike
from weald.estimators.svm.kernel.options import KernelOptions
from weald.parameters import Choice, Function, Number, Whole, parameter
from weald.svm.kernels.choice import KernelLike
from weald.svm.kernels.functions import BY_NAME

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
class LandmarksOptions(KernelOptions):
    """The parameters of `Landmarks`."""

    n_landmarks: int | float = parameter(
        Whole(1), Number(0, 1, "(]", fraction=True), hint="Use 100, or 0.05 for one row in twenty."
    )
    kernel: KernelLike = parameter(
        Choice(tuple(BY_NAME)),
        Function("a kernel of weald.kernels or a function f(X, Z)"),
        hint="Use 'rbf' unless you know better.",
    )
    landmarks: str | TableLike = parameter(Choice(CHOICES), Rows(), hint="Use 'k-means++'.")
    features: str = parameter(Choice(FEATURES), hint="Use 'nystroem' before a linear machine.")
