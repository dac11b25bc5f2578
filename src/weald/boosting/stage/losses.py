"""The losses of stagewise boosting, bound to a target: pseudo-residuals, f0, the loss of some rows.

Equations S1 to S7 of docs/methods/gradient_boosting.md. Gradients here are minus the pseudo-residuals, so
that Newton trees on them with unit hessians are squared-error trees on the pseudo-residuals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats
from weald.boosting.links import to_raw
from weald.boosting.newton.base_scores import RowSums
from weald.data.fixed_point import weight_units

#: shares of classes are taken for no smaller, and no larger than 1 minus it (scikit-learn: float64's eps)
LEAST_SHARE = float(np.finfo(np.float32).eps)
#: the largest step of a leaf in log odds: where all rows of a leaf pull one way, no minimum ends it earlier
MOST_LOG_ODDS = 16.0

#: rows below which a pass over them is done sooner than a second thread wakes up
FEW_ROWS = 1 << 15

Rule = Literal["mean", "newton", "quantile", "huber", "search"]


def _threads(scores: Floats, n_threads: int) -> int:
    """How many threads a pass over all rows pays for; its result does not depend on that."""
    return 1 if scores.shape[1] < FEW_ROWS else n_threads


class StageLoss(Protocol):
    """What the stagewise steps ask of a loss that is bound to the training rows."""

    @property
    def name(self) -> str:
        """As the user calls it."""

    @property
    def target(self) -> Floats:
        """Numbers or class numbers of the training rows."""

    @property
    def n_outputs(self) -> int:
        """How many raw scores a row has."""

    @property
    def link(self) -> str:
        """What turns raw scores into predictions."""

    @property
    def rule(self) -> Rule:
        """How leaves are valued in one step."""

    @property
    def most(self) -> float:
        """The largest absolute value that an exact search may give a leaf; infinity: no limit."""

    def start(self) -> Floats:
        """The constant raw scores of least loss: (n_outputs,)."""

    def prepare(self, scores: Floats) -> None:
        """Learn what a round needs of the scores before it: Huber's δ."""

    def gradients(self, scores: Floats, g: Floats, h: Floats, *, n_threads: int) -> None:
        """Fill minus the pseudo-residuals and the curvatures, (n_outputs, n_rows), at these raw scores.

        Curvatures that are all 1 may be left as they are: they are 1 before the first call.
        """

    def mean(self, scores: Floats, target: Floats, weight: Floats | None, *, n_threads: int) -> float:
        """The weighted mean loss of some rows, the training rows or others."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a loss by its name."""

    native: str
    link: str
    rule: Rule
    most: float = math.inf


#: the names that users write → the losses; "log_loss" of more than two classes is "multinomial"
LOSSES: Mapping[str, _Known] = {
    "squared_error": _Known("squared_error", "identity", "mean"),
    "absolute_error": _Known("absolute_error", "identity", "quantile"),
    "huber": _Known("huber", "identity", "huber"),
    "quantile": _Known("quantile", "identity", "quantile"),
    "log_loss": _Known("binomial", "logistic", "newton", MOST_LOG_ODDS),
    "exponential": _Known("exponential", "half_logistic", "newton", MOST_LOG_ODDS / 2),
}
_MULTINOMIAL = _Known("multinomial", "softmax", "newton", MOST_LOG_ODDS)


class NativeStageLoss:
    """A loss of the core, bound to the training rows; see `StageLoss`.

    Parameters
    ----------
    name : str
        A key of LOSSES.
    target : ndarray of shape (n_rows,)
        Numbers, or class numbers.
    weight : ndarray of shape (n_rows,) or None
        Weights; 0 is an absent row.
    n_classes : int or None
        For classes.
    alpha : float
        The quantile of the quantile loss, and of the absolute residuals that Huber's δ is.
    exact : bool
        Whether f0 of the quantile loss is a true minimum; else it is interpolated, as scikit-learn has it.
    """

    def __init__(
        self,
        name: str,
        target: Floats,
        weight: Floats | None,
        *,
        n_classes: int | None = None,
        alpha: float = 0.9,
        exact: bool = False,
    ) -> None:
        several = n_classes is not None and n_classes > 2
        known = _MULTINOMIAL if several and name == "log_loss" else LOSSES[name]
        self.name, self.native, self.link, self.rule, self.most = (
            name,
            known.native,
            known.link,
            known.rule,
            known.most,
        )
        self.n_outputs = n_classes if several and n_classes else 1
        self.target, self.weight, self.alpha, self._exact = target, weight, alpha, exact
        self.delta = 1.0
        units = None if weight is None else weight_units(weight)
        self._units = None if units is None else units.units
        self._repeats = units is None or units.repeats  # weights are numbers of rows

    @property
    def parameters(self) -> Floats:
        """What the core needs besides the name."""
        if self.native == "huber":
            return np.array([self.delta])
        return np.array([self.alpha] if self.native == "quantile" else [], np.float64)

    def start(self) -> Floats:
        """f0: the constant raw scores of least loss."""
        sums, y = RowSums(self.weight), self.target
        if self.native == "multinomial":
            shares = _clipped(sums.by_class(y, self.n_outputs) / sums.total(len(y)))
            return to_raw("softmax", shares)
        if self.native in ("binomial", "exponential"):
            share = _clipped(np.array([sums.mean(y)]))
            return to_raw(self.link, share)
        if self.native == "squared_error":
            return np.array([sums.mean(y)])
        if self.native == "quantile" and not self._exact and self._repeats:
            return np.array([interpolated(y, self._units, self.alpha)])
        return np.array([self._quantile(y, self.alpha if self.native == "quantile" else 0.5, middle=True)])

    @property
    def steady(self) -> bool:
        """Whether the slopes at some scores are the same in every round: Huber's δ changes."""
        return self.native != "huber"

    def prepare(self, scores: Floats) -> None:
        """Huber's δ: the α-quantile of the absolute residuals."""
        if self.native == "huber":
            self.delta = self._quantile(np.abs(self.target - scores[0]), self.alpha, middle=False)

    def _quantile(self, values: Floats, alpha: float, *, middle: bool) -> float:
        found = engine.stage_quantiles(
            values,
            np.zeros(len(values)),
            self._units,
            np.zeros(len(values), np.int32),
            n_leaves=1,
            alpha=alpha,
            middle=middle,
            n_threads=1,
        )
        return float(found[0])

    def gradients(self, scores: Floats, g: Floats, h: Floats, *, n_threads: int) -> None:
        """Minus the pseudo-residuals, and the curvatures where they are not all 1."""
        engine.stage_pass(
            self.native,
            self.parameters,
            scores,
            self.target,
            fill=(g, h),
            wants_loss=False,
            n_threads=_threads(scores, n_threads),
        )

    def mean(self, scores: Floats, target: Floats, weight: Floats | None, *, n_threads: int) -> float:
        """The weighted mean loss; NaN where no row counts."""
        total, of_all = engine.stage_pass(
            self.native,
            self.parameters,
            scores,
            target,
            weight=weight,
            n_threads=_threads(scores, n_threads),
        )
        return total / of_all if of_all else math.nan

    def gradients_and_mean(
        self, scores: Floats, g: Floats, h: Floats, weight: Floats | None, *, n_threads: int
    ) -> float:
        """Both of the training rows, in one pass."""
        total, of_all = engine.stage_pass(
            self.native,
            self.parameters,
            scores,
            self.target,
            fill=(g, h),
            weight=weight,
            n_threads=_threads(scores, n_threads),
        )
        return total / of_all if of_all else math.nan


def interpolated(values: Floats, times: NDArray[np.int64] | None, alpha: float) -> float:
    """The value at the share `alpha` of the way from the least to the largest, rows counted `times` times.

    >>> interpolated(np.array([4.0, 1.0, 2.0]), None, 0.75)
    3.0
    """
    order = np.argsort(values, kind="stable")
    up_to = np.cumsum(np.ones(len(values), np.int64) if times is None else times[order])
    place = alpha * float(up_to[-1] - 1)
    first = math.floor(place)
    low, high = values[order[np.searchsorted(up_to, [first, min(first + 1, up_to[-1] - 1)], side="right")]]
    return float(low + (place - first) * (high - low))


def _clipped(shares: Floats) -> Floats:
    return shares.clip(LEAST_SHARE, 1 - LEAST_SHARE)
