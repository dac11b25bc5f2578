"""Stagewise boosting by any regressor, fitted to the pseudo-residuals; its step is found by line search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weald.arrays import Estimator, Floats, TableLike
from weald.boosting.newton.base_scores import RowSums
from weald.boosting.stage.leaf_rules import least_step
from weald.boosting.stage.line_search import minimise
from weald.boosting.stage.losses import StageLoss
from weald.boosting.stage.options import StageOptions
from weald.boosting.stage.step import HeldOut, StageStep
from weald.data.frames.user_rows import take
from weald.errors import naming_member
from weald.estimators.shared.members import fit_member, number_of_row, seeded


@dataclass(frozen=True, slots=True)
class FittedBase:
    """A regressor of one round and output: b(x), and the step β that it was given."""

    estimator: Estimator
    size: float
    rate: float

    def predict(self, X: TableLike, n_rows: int) -> Floats:
        """b(x): one number per row."""
        with naming_member(f"The {type(self.estimator).__name__} of `estimator`"):
            return number_of_row(self.estimator, X, n_rows)


class BaseStep(StageStep):
    """A round of regressors, one per output.

    Parameters
    ----------
    template : estimator
        The regressor; a copy is fitted each time.
    X : table
        The training rows, as the regressor reads them.
    weighs : bool
        Whether it takes weights.
    loss, options, scores, weight, held_out
        See `StageStep`; the rows held out are rows of the user's table.
    start : list of list of FittedBase
        The rounds to go on from.
    """

    def __init__(
        self,
        template: Estimator,
        X: TableLike,
        loss: StageLoss,
        options: StageOptions,
        scores: Floats,
        weight: Floats | None,
        held_out: HeldOut | None = None,
        start: list[list[FittedBase]] | None = None,
        *,
        weighs: bool,
    ) -> None:
        self.rounds = list(start or [])
        super().__init__(loss, options, scores, weight, held_out, len(self.rounds))
        self._template, self._X, self._weighs = template, X, weighs

    def _fit(self, output: int) -> tuple[Any, Floats, float]:
        """The regressor, what it says of the training rows, and its step."""
        weight = self.drawn.values
        rows = None if weight is None or weight.all() else np.flatnonzero(weight)
        residual = -self._g[output]
        number = self.next_round * self.loss.n_outputs + output
        with naming_member(f"The {type(self._template).__name__} of round {self.next_round}"):
            estimator = seeded(self._template, self.options.seed, number)
            extra = {}
            if self._weighs and weight is not None:
                extra["sample_weight"] = weight if rows is None else weight[rows]
            predicted = residual if rows is None else residual[rows]
            fit_member(estimator, take(self._X, rows), predicted, **extra)
            base = number_of_row(estimator, self._X, len(residual))
        return estimator, base, self._search(output, base)

    def _search(self, output: int, base: Floats) -> float:
        """β: where the loss along F + β·b is least, over the rows drawn (S13)."""
        if not base.any():
            return 0.0
        sums = RowSums(self.drawn.values)
        moved = self.scores.copy()
        g, h = np.empty_like(moved), np.ones_like(moved)
        smooth = self.loss.rule in ("mean", "newton")
        # Products of b and slopes may leave float64: both are divided by powers of two.
        power, steep = exponent(base), exponent(self._g[output])
        unit = np.ldexp(base, -power)

        def slopes(place: Floats) -> tuple[Floats, Floats | None]:
            moved[output] = self.scores[output] + place[0] * unit
            self.loss.gradients(moved, g, h, n_threads=self.options.n_threads)
            slope = np.array([sums.mean(np.ldexp(g[output], -steep) * unit)])
            return slope, np.array([sums.mean(np.ldexp(h[output], -steep) * unit * unit)]) if smooth else None

        size = float(np.abs(unit).max())
        least = least_step(self.loss, self.scores[output]) / size
        found = minimise(slopes, 1, most=self.loss.most / size, least=least)[0]
        with np.errstate(over="ignore"):
            return float(np.ldexp(found, -power))

    def _take(self, fitted: list[tuple[Any, Floats, float]], learning_rate: float) -> None:
        held = self.held_out
        members = []
        for output, (estimator, base, size) in enumerate(fitted):
            member = FittedBase(estimator, size, learning_rate)
            with np.errstate(over="ignore", invalid="ignore"):  # the step refuses scores that overflow
                self.scores[output] += (learning_rate * size) * base
            if held is not None:
                of_held = member.predict(held.rows, len(held.target))
                with np.errstate(over="ignore", invalid="ignore"):
                    held.scores[output] += (learning_rate * size) * of_held
            members.append(member)
        self.rounds.append(members)


def exponent(values: Floats) -> int:
    """The smallest power of two above all sizes."""
    return int(np.frexp(np.abs(values).max(initial=0.0))[1])
