"""Objectives: a loss bound to the training target. Equations L1 to L12 of docs/methods/boosting.md."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weald import engine
from weald.arrays import Floats
from weald.boosting.links import apply_link, to_raw
from weald.boosting.newton.base_scores import given_start, mean_start, newton_start, prior_start
from weald.boosting.newton.custom import CustomObjective
from weald.boosting.newton.loss_table import LOSSES, POISSON_MAX_DELTA_STEP, Loss, check_target, class_rule
from weald.boosting.records import BoostTarget, Objective
from weald.data.fixed_point import weight_units
from weald.errors import DataError, ParameterError, listing, nearest

RANKING = ("rank:pairwise", "rank:ndcg", "rank:map")
#: every objective that has a name here; a function is one too
OBJECTIVES = (*LOSSES, *RANKING)
_ABSENT = {
    "reg:linear": 'It is the old name of "reg:squarederror": use that.',
    "survival:": 'Survival times are not modelled here. Use "reg:gamma" where no row is censored, or pass a '
    "function f(y_true, y_pred) -> (grad, hess) as the objective.",
}


class NativeObjective:
    """A loss of the core bound to the training target; see `weald.boosting.records.Objective`.

    Parameters
    ----------
    name : str
        A key of LOSSES.
    target : BoostTarget
        Checked here: the first value the loss cannot take raises.
    n_classes : int or None
        For softmax.
    parameters : mapping
        `huber_slope`, `quantile_alpha`, `scale_pos_weight`, `max_delta_step` (Poisson),
        `tweedie_variance_power`. The names that the loss does not have are not read; None means the default.
    """

    #: weights are left to the loop
    weighted = False
    remembers = False

    def __init__(
        self, name: str, target: BoostTarget, *, n_classes: int | None, parameters: Mapping[str, Any]
    ) -> None:
        loss = LOSSES[name]
        self.name = name
        self._loss = _for_classes(name, loss, target, n_classes)
        self._parameters = np.array(loss.parameters(parameters), np.float64)
        self._n_classes = n_classes or 0
        check_target(name, target.values, self._loss.rule)
        self._weight = target.weight
        self._y = _by_output(name, target.values)
        native = loss.native
        self._target = engine.map_values("log1p", self._y) if native == "squared_log_error" else self._y
        self._units: NDArray[np.int64] | None = None

    @property
    def n_outputs(self) -> int:
        """One per class, quantile or column of the target."""
        if self._loss.native == "softmax":
            return self._n_classes
        return len(self._parameters) if self._loss.native == "quantile" else len(self._y)

    @property
    def link(self) -> str:
        """What turns raw scores into predictions; one quantile needs no order."""
        return "identity" if self._loss.link == "sorted" and self.n_outputs == 1 else self._loss.link

    @property
    def default_max_delta_step(self) -> float:
        """The `max_delta_step` of trees where the user gives none: 0.7 for Poisson, else 0 (no limit)."""
        return POISSON_MAX_DELTA_STEP if self._loss.native == "poisson" else 0.0

    @property
    def refreshes_leaves(self) -> bool:
        """Whether leaves hold quantiles of the residuals: absolute and quantile error."""
        return self._loss.base == "quantile"

    def base_scores(self) -> Floats:
        """Raw scores to start from, as xgboost estimates them (equation L12)."""
        base = self._loss.base
        if base == "priors":
            return prior_start(self._y[0], self._weight, self._n_classes)
        if base == "quantile":
            everywhere = np.zeros(self._y.shape[1], np.int32)
            zeros = np.zeros((self.n_outputs, self._y.shape[1]))
            values = [self.leaf_values(zeros, k, everywhere, 1) for k in range(self.n_outputs)]
            return np.concatenate(cast(list[Floats], values))
        balanced = self._loss.native == "logistic" and self._parameters[0] != 1.0
        if base == "mean" and not balanced:
            return mean_start(self._y, self._weight, self.link)
        scores = np.zeros((self.n_outputs, self._y.shape[1]))
        g, h = np.empty_like(scores), np.empty_like(scores)
        self.gradients(scores, g, h, round_=0, n_threads=1)
        step = newton_start(g, h, self._weight)
        # A start is a prediction: that of the hinge loss is 0 or 1.
        return to_raw(self.link, apply_link(self.link, step)) if self.link == "sign" else step

    def raw_base_scores(self, base_score: ArrayLike) -> Floats:
        """The user's `base_score`, a prediction (of softmax: a raw score), as raw scores: (n_outputs,)."""
        return given_start(base_score, n_outputs=self.n_outputs, link=self.link)

    def gradients(self, scores: Floats, g: Floats, h: Floats, *, round_: int, n_threads: int) -> None:
        """Fill g and h, (n_outputs, n_rows), at these raw scores; row weights are not in them."""
        engine.fill_gradients(
            self._loss.native, self._parameters, scores, self._target, g, h, n_threads=n_threads
        )

    def row_loss(self, output: int) -> engine.RowLoss | None:
        """The loss of one output for the core; None for softmax, whose rows need all their scores."""
        native = self._loss.native
        if native == "softmax":
            return None
        target = self._target[output if len(self._target) > 1 else 0]
        return engine.RowLoss(native, self._parameters, output, target)

    @property
    def loss_of_core(self) -> tuple[str, Floats]:
        """The loss of the core and its parameters."""
        return self._loss.native, self._parameters

    @property
    def targets_of_core(self) -> Floats:
        """What it is measured against, (n_targets, n_rows): the target, or its logarithm."""
        return self._target

    def leaf_values(
        self,
        scores: Floats,
        output: int,
        leaf_of_row: NDArray[np.int32],
        n_leaves: int,
        *,
        n_threads: int = 1,
    ) -> Floats | None:
        """Quantiles of the residuals for absolute and quantile error (equations L4, L5); else None."""
        if not self.refreshes_leaves:
            return None
        if self._weight is not None and self._units is None:
            self._units = weight_units(self._weight).units
        return engine.leaf_quantiles(
            self._y[output if len(self._y) > 1 else 0],
            scores[output],
            self._units,
            leaf_of_row,
            n_leaves=n_leaves,
            alpha=0.5 if self._loss.native == "absolute_error" else float(self._parameters[output]),
            n_threads=n_threads,
        )


def make_objective(
    objective: str | Callable[..., Any],
    target: BoostTarget,
    *,
    n_classes: int | None,
    parameters: Mapping[str, Any],
) -> Objective:
    """The objective of that name, or the user's function, bound to a target.

    Parameters
    ----------
    objective : str or callable
        One of OBJECTIVES, or `f(y_true, y_pred) -> (grad, hess)`; see CustomObjective.
    target : BoostTarget
        What is learnt.
    n_classes : int or None
        The number of classes of a classifier; None for regression and ranking.
    parameters : mapping
        Parameters of the objective under xgboost's names; others are not read.

    Returns
    -------
    Objective
        Ready for the loop.
    """
    if not isinstance(objective, str):
        if not callable(objective):
            raise ParameterError(
                f"`objective` must be a name such as 'binary:logistic', or a function; got {objective!r}."
            )
        return CustomObjective(objective, target, n_classes)
    if objective in RANKING:
        ranking = importlib.import_module("weald.boosting.ranking.objectives")
        return cast(Objective, ranking.make_ranking_objective(objective, target, parameters=parameters))
    if objective not in LOSSES:
        raise _unknown(objective)
    return NativeObjective(objective, target, n_classes=n_classes, parameters=parameters)


def _unknown(name: str) -> ParameterError:
    for start, way_out in _ABSENT.items():
        if name.startswith(start):
            return ParameterError(f"There is no `objective` {name!r}. {way_out}")
    close = nearest(name, OBJECTIVES)
    hint = f"Did you mean {close!r}?" if close else f"There are {listing(OBJECTIVES, most=len(OBJECTIVES))}."
    return ParameterError(f"There is no `objective` {name!r}. {hint}")


def _for_classes(name: str, loss: Loss, target: BoostTarget, n_classes: int | None) -> Loss:
    """The loss with the rule of its class numbers; raises where the number of classes does not fit."""
    if loss.native == "softmax":
        if n_classes is None or n_classes < 2:
            raise ParameterError(
                f"{name!r} needs two classes or more (`num_class`); got {n_classes}. "
                "For numbers use 'reg:squarederror'."
            )
        return replace(loss, rule=class_rule(n_classes))
    if name.startswith("binary:") and n_classes is not None and n_classes > 2:
        raise ParameterError(f"{name!r} is for two classes; y has {n_classes}. Use 'multi:softprob'.")
    return loss


def _by_output(name: str, values: Floats) -> Floats:
    """Targets as (n_targets, n_rows), contiguous; one where the outputs are classes or quantiles."""
    columns = values[:, np.newaxis] if values.ndim == 1 else values
    if columns.shape[1] > 1 and LOSSES[name].native in ("softmax", "quantile"):
        raise DataError(
            f"{name!r} takes one target; y has {columns.shape[1]} columns. Fit one model for each column."
        )
    return np.ascontiguousarray(columns.T, np.float64)
