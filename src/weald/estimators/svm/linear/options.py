"""The parameters of linear machines, each with its range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from weald.errors import ParameterError
from weald.estimators.svm.kernel.options import ColumnOptions
from weald.parameters import Choice, Flag, Instance, Nothing, Number, Whole, parameter


@dataclass(frozen=True, slots=True)
class FinitePenalty:
    """A finite number above 0: linear machines have soft margins."""

    says: str = "a number above 0, and finite"

    def admits(self, value: object) -> bool:
        """Whether `value` is such a number; NaN never is."""
        return Number(0, ends="(]").admits(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearOptions(ColumnOptions):
    """The parameters that `LinearSVC` and `LinearSVR` share."""

    dual: bool | str = parameter(Flag(), Choice(("auto",)), hint="Use 'auto' for the fastest way.")
    tol: float = parameter(Number(0, ends="(]"), hint="Use 1e-4.")
    fit_intercept: bool = parameter(Flag(), hint="Use True unless the columns are centred.")
    intercept_scaling: float | str = parameter(
        Choice(("free",)),
        Number(0, ends="(]"),
        hint="Use 1.0 for LIBLINEAR's intercept, 'free' for one that the penalty does not see.",
    )
    verbose: int | bool = parameter(Whole(0), Flag(), hint="Use 1 for a progress bar.")
    max_iter: int = parameter(Whole(1), hint="Use 1000.")
    max_time: float | None = parameter(
        Nothing(), Number(0, ends="(]"), hint="Leave it None to set no limit, or give seconds."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearSVCOptions(LinearOptions):
    """The parameters of `LinearSVC`."""

    C: float = parameter(
        FinitePenalty(),
        hint="Use 1.0, less to allow more rows within the margin; for a hard margin use "
        "SVC(kernel='linear', C=inf).",
    )
    penalty: Literal["l1", "l2"] = parameter(Choice(("l1", "l2")), hint="Use 'l2'; 'l1' leaves columns out.")
    loss: Literal["hinge", "squared_hinge"] = parameter(
        Choice(("hinge", "squared_hinge")), hint="Use 'squared_hinge'."
    )
    multi_class: str = parameter(
        Choice(("ovr", "crammer_singer")), hint="Use 'ovr' for a machine per class against the rest."
    )
    class_weight: str | Mapping[Any, float] | None = parameter(
        Nothing(),
        Choice(("balanced",)),
        Instance((Mapping,), "a dict from label to weight"),
        hint="Use 'balanced' to give every class the same total weight.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearSVROptions(LinearOptions):
    """The parameters of `LinearSVR`."""

    C: float = parameter(
        FinitePenalty(),
        hint="Use 1.0, less to allow larger errors; to allow none beyond `epsilon` use "
        "SVR(kernel='linear', C=inf).",
    )
    epsilon: float = parameter(Number(0), hint="Use 0: errors within it cost nothing.")
    loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = parameter(
        Choice(("epsilon_insensitive", "squared_epsilon_insensitive")), hint="Use 'epsilon_insensitive'."
    )


def check_together(options: LinearSVCOptions, owner: str) -> None:
    """Refuse parameters that contradict each other, as LIBLINEAR does."""
    if options.multi_class == "crammer_singer" or options.penalty == "l2":
        return
    in_scikit_learns_words = (
        f"(Unsupported set of arguments: penalty={options.penalty!r}, loss={options.loss!r}, "
        f"dual={options.dual!r}.)"
    )
    if options.loss == "hinge":
        raise ParameterError(
            f"`penalty`='l1' of {owner} goes with loss='squared_hinge', not with 'hinge'. Use one of the "
            f"two. {in_scikit_learns_words}"
        )
    if options.dual is True:
        raise ParameterError(
            f"`penalty`='l1' of {owner} has no dual that could be solved: use dual='auto' or dual=False. "
            f"{in_scikit_learns_words}"
        )
