"""The parameters of logistic regression, each with its range, and the penalty that they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from weald.errors import ParameterError
from weald.estimators.svm.kernel.options import ColumnOptions
from weald.numbers import as_float
from weald.parameters import Choice, Flag, Instance, Nothing, Number, Whole, parameter

#: scikit-learn's names; all but "liblinear" leave the intercept out of the penalty
SOLVERS = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
#: "auto" and scikit-learn's own word for it: `C` and `l1_ratio` tell everything
_UNSAID = ("auto", "deprecated")


@dataclass(frozen=True, slots=True)
class Strength:
    """A number above 0, or infinity for no penalty."""

    says: str = "a number above 0, or inf for no penalty"

    def admits(self, value: object) -> bool:
        """Whether `value` is such a number; NaN never is."""
        return as_float(value) > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LogisticOptions(ColumnOptions):
    """The parameters of `LogisticRegression`."""

    penalty: str | None = parameter(
        Nothing(),
        Choice(("auto", "l1", "l2", "elasticnet", "deprecated")),
        hint="Leave it 'auto' and use `l1_ratio` and `C`, as scikit-learn 1.9 does.",
    )
    C: float = parameter(Strength(), hint="Use 1.0, less for a stronger penalty.")
    l1_ratio: float | None = parameter(
        Nothing(), Number(0, 1), hint="Use 0 for squares, 1 for absolute values, between for both."
    )
    dual: bool = parameter(Flag(), hint="Leave it False; the solution is the same.")
    tol: float = parameter(Number(0, ends="(]"), hint="Use 1e-4.")
    fit_intercept: bool = parameter(Flag(), hint="Use True unless the columns are centred.")
    intercept_scaling: float = parameter(Number(0, ends="(]"), hint="Use 1.")
    class_weight: str | Mapping[Any, float] | None = parameter(
        Nothing(),
        Choice(("balanced",)),
        Instance((Mapping,), "a dict from label to weight"),
        hint="Use 'balanced' to give every class the same total weight.",
    )
    solver: str = parameter(Choice(SOLVERS), hint="Leave it 'lbfgs'; the fastest way is taken anyway.")
    max_iter: int = parameter(Whole(1), hint="Use 100.")
    multi_class: str = parameter(
        Choice(("auto", "multinomial", "ovr")), hint="Use 'auto' for all classes in one model."
    )
    verbose: int | bool = parameter(Whole(0), Flag(), hint="Use 1 for a progress bar.")
    warm_start: bool = parameter(Flag(), hint="Use True to start from the last solution.")

    @property
    def one_against_rest(self) -> bool:
        """Whether several classes get a model each."""
        return self.multi_class == "ovr" or (self.multi_class == "auto" and self.solver == "liblinear")


class Penalty(NamedTuple):
    """What weights cost, and what losses are multiplied with."""

    ridge: float
    lasso: float
    C: float

    @property
    def none(self) -> bool:
        """Whether weights cost nothing."""
        return self.ridge == 0 and self.lasso == 0


def chosen_penalty(options: LogisticOptions, owner: str) -> Penalty:
    """The penalty that `penalty`, `l1_ratio` and `C` stand for, in scikit-learn's old words or new ones."""
    penalty, ratio = options.penalty, options.l1_ratio
    if penalty == "elasticnet" and ratio is None:
        raise ParameterError(
            f"`penalty`='elasticnet' of {owner} needs `l1_ratio`, a number from 0 to 1; got None. Use 0.5 "
            "for half of each."
        )
    fixed = {"l1": 1.0, "l2": 0.0}.get(penalty or "")
    if fixed is not None and ratio not in (None, 0.0, fixed):
        raise ParameterError(
            f"`penalty`={penalty!r} of {owner} contradicts `l1_ratio`={ratio}. Leave `penalty` at 'auto', or "
            "use 'elasticnet' for both kinds of penalty."
        )
    if penalty is None or np.isinf(options.C):
        return Penalty(0.0, 0.0, 1.0)
    share = float(ratio or 0.0) if fixed is None else fixed
    return Penalty(1.0 - share, share, float(options.C))
