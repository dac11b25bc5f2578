"""The parameters of gradient boosting, each with its range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from weald.arrays import Estimator
from weald.boosting.stage.custom import Loss
from weald.boosting.stage.table import LossTable
from weald.estimators.shared.ensemble_options import Trainable
from weald.parameters import Choice, Flag, GrowthOptions, Nothing, Number, Whole, parameter

REGRESSION_LOSSES = ("squared_error", "absolute_error", "huber", "quantile")
LABEL_LOSSES = ("log_loss", "exponential")
#: what a model file writes in the place of a loss that is code
CUSTOM = "custom:"


@dataclass(frozen=True, slots=True)
class LossObject:
    """A loss of the user's own."""

    says: str = "an object with value(y, raw) and gradient(y, raw)"

    def admits(self, value: object) -> bool:
        """Whether `value` is such an object, or the name that a model file keeps of one."""
        if isinstance(value, str):
            return value.startswith(CUSTOM)
        has_both = all(callable(getattr(value, name, None)) for name in ("value", "gradient"))
        return has_both and not isinstance(value, type)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageBoostingOptions(GrowthOptions):
    """The parameters that both classes share, in scikit-learn's words."""

    if TYPE_CHECKING:
        loss: str | Loss  # each class has a choice of its own

    learning_rate: float = parameter(Number(0, ends="(]"), hint="Use 0.1, and less with more trees.")
    n_estimators: int = parameter(Whole(1), hint="Use 100, or more with `n_iter_no_change`.")
    subsample: float = parameter(Number(0, 1, "(]"), hint="Use 1.0 for all rows in every round.")
    criterion: str = parameter(
        Choice(("friedman_mse", "squared_error")), hint="Both are the same rule here: leave it as it is."
    )
    init: str | Estimator | None = parameter(
        Nothing(),
        Choice(("zero",)),
        Trainable(),
        hint="Leave it None to start from the best constant.",
    )
    estimator: Estimator | None = parameter(
        Nothing(), Trainable("a regressor with fit and predict"), hint="Leave it None to boost trees."
    )
    leaf: str = parameter(
        Choice(("one_step", "exact")), hint="Use 'one_step' for scikit-learn's leaves, 'exact' for minima."
    )
    cat_smooth: float | Literal["auto", "rows"] | None = parameter(
        Nothing(), Number(0), Choice(("auto", "rows")), hint="Leave it 'auto'; 0 trusts rare categories."
    )
    cat_l2: float | None = parameter(
        Nothing(), Number(0), hint="Leave it None; 0 judges categories as numbers."
    )
    verbose: int | bool = parameter(
        Whole(0), Flag(), hint="Use 1 for a table of losses, 2 for a line every round."
    )
    warm_start: bool = parameter(Flag(), hint="Use True to add rounds to those of the last fit.")
    validation_fraction: float = parameter(
        Number(0, 1, "()"), hint="Use 0.1 to hold out a tenth of the rows."
    )
    n_iter_no_change: int | None = parameter(
        Nothing(), Whole(1), hint="Leave it None for no early stopping, or use 10."
    )
    tol: float = parameter(Number(0), hint="Use 1e-4.")

    def loss_table(self, first_round: int) -> LossTable | None:
        """The lines that `verbose` asks for."""
        if not self.verbose:
            return None
        return LossTable(
            int(self.verbose),
            first_round=first_round,
            n_rounds=self.n_estimators,
            out_of_bag=self.subsample < 1,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientBoostingClassifierOptions(StageBoostingOptions):
    """The parameters of `GradientBoostingClassifier`."""

    loss: str | Loss = parameter(
        Choice(LABEL_LOSSES),
        LossObject(),
        hint="Use 'log_loss'; losses of numbers are GradientBoostingRegressor's.",
    )
    init: str | Estimator | None = parameter(
        Nothing(),
        Choice(("zero",)),
        Trainable(),
        hint="Leave it None to start from the best constant. (The 'init' parameter of "
        "GradientBoostingClassifier must be a str among {'zero'}, None or an object implementing 'fit' and "
        "'predict_proba'.)",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientBoostingRegressorOptions(StageBoostingOptions):
    """The parameters of `GradientBoostingRegressor`."""

    loss: str | Loss = parameter(
        Choice(REGRESSION_LOSSES),
        LossObject(),
        hint="Use 'squared_error'; losses of labels are GradientBoostingClassifier's.",
    )
    alpha: float = parameter(
        Number(0, 1, "()"), hint="Use 0.9: the quantile of 'quantile', and of Huber's residuals."
    )
