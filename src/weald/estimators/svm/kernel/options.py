"""The parameters of kernel machines, each with its range."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from weald.arrays import RandomState
from weald.estimators.shared.reading_options import ReadingOptions
from weald.numbers import as_float
from weald.parameters import Choice, Flag, Function, Instance, Nothing, Number, Whole, parameter
from weald.svm.kernels.choice import KernelLike
from weald.svm.kernels.gamma import Gamma

KERNELS = (
    "linear",
    "poly",
    "rbf",
    "sigmoid",
    "laplacian",
    "chi2",
    "intersection",
    "spectrum",
    "precomputed",
)


@dataclass(frozen=True, slots=True)
class Penalty:
    """A number above 0, or infinity: no row may then lie on the wrong side."""

    says: str = "a number above 0, or inf for a hard margin"

    def admits(self, value: object) -> bool:
        """Whether `value` is such a number; NaN never is."""
        return as_float(value) > 0


@dataclass(frozen=True, slots=True)
class AnyNumber:
    """Any finite number."""

    says: str = "a finite number"

    def admits(self, value: object) -> bool:
        """Whether `value` is such a number."""
        return math.isfinite(as_float(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnOptions(ReadingOptions):
    """How estimators that turn tables into numbers read them, draw and share out the work."""

    random_state: RandomState = parameter(
        Nothing(),
        Whole(0, 2**32 - 1),
        Instance((np.random.RandomState,), "a numpy.random.RandomState"),
        hint="Use a whole number for results that can be repeated.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelOptions(ColumnOptions):
    """The numbers of kernels that are chosen by name."""

    if TYPE_CHECKING:
        kernel: KernelLike  # each class has a choice of its own

    degree: int = parameter(Whole(1, 1000), hint="Use 3.")
    gamma: Gamma = parameter(Choice(("scale", "auto")), Number(0, ends="(]"), hint="Use 'scale', or `sigma`.")
    coef0: float = parameter(AnyNumber(), hint="Use 0.0, or 1.0 with 'poly'.")
    sigma: float | None = parameter(Nothing(), Number(0, ends="(]"), hint="Leave it None to go by `gamma`.")


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineOptions(KernelOptions):
    """The parameters that `SVC` and `SVR` share."""

    C: float = parameter(Penalty(), hint="Use 1.0, less to allow more rows within the margin.")
    kernel: KernelLike = parameter(
        Choice(KERNELS),
        Function("a kernel of weald.kernels or a function f(X, Z)"),
        hint="Use 'rbf' unless you know better.",
    )
    shrinking: bool = parameter(Flag(), hint="Use True.")
    tol: float = parameter(Number(0, ends="(]"), hint="Use 1e-3.")
    cache_size: float = parameter(Number(0, ends="(]"), hint="Use 1000: the memory for kernel values in MB.")
    verbose: int | bool = parameter(Whole(0), Flag(), hint="Use 1 for a progress bar.")
    max_iter: int = parameter(Whole(-1), hint="Use -1 to set no limit.")
    max_time: float | None = parameter(
        Nothing(), Number(0, ends="(]"), hint="Leave it None to set no limit, or give seconds."
    )
    solver: str = parameter(
        Choice(("auto", "exact", "landmarks")), hint="Use 'auto' to decide by the size of the table."
    )
    n_landmarks: int | None = parameter(
        Nothing(), Whole(1), hint="Leave it None for 5 % of the rows, at most 2000."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SVCOptions(MachineOptions):
    """The parameters of `SVC`."""

    probability: bool | str = parameter(
        Flag(),
        Choice(("sigmoid", "isotonic")),
        hint="Use True (or 'sigmoid') for probabilities, which take five more fits.",
    )
    class_weight: str | Mapping[Any, float] | None = parameter(
        Nothing(),
        Choice(("balanced",)),
        Instance((Mapping,), "a dict from label to weight"),
        hint="Use 'balanced' to give every class the same total weight.",
    )
    decision_function_shape: str = parameter(
        Choice(("ovr", "ovo")), hint="Use 'ovr' for one score per class, 'ovo' for one per pair."
    )
    break_ties: bool = parameter(Flag(), hint="Use False for LIBSVM's ties.")
    multi_class: str = parameter(
        Choice(("ovo", "ovr")), hint="Use 'ovo' for a machine per pair of classes, 'ovr' for one per class."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SVROptions(MachineOptions):
    """The parameters of `SVR`."""

    epsilon: float = parameter(Number(0), hint="Use 0.1: errors within it cost nothing.")
