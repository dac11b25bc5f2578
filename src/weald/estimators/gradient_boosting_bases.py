"""Stagewise boosting by any regressor, fitted to the pseudo-residuals; its step is found by line search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weald.boosting.base_scores import RowSums
from weald.boosting.line_search import minimise
from weald.boosting.records import Floats
from weald.boosting.stage_losses import StageLoss
from weald.boosting.stage_options import StageOptions
from weald.boosting.stage_step import HeldOut, StageStep
from weald.data.user_rows import take
from weald.errors import DataError
from weald.estimators.members import naming, seeded


@dataclass(frozen=True, slots=True)
class FittedBase:
    """A regressor of one round and output: b(x), and the step β that it was given."""

    estimator: Any
    size: float
    rate: float

    def predict(self, X: Any) -> Floats:
        """b(x): one number a row."""
        return numbers(self.estimator, X)


class BaseStep(StageStep):
    """A round of regressors, one an output.

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
        template: Any,
        X: Any,
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
        with naming(f"The {type(self._template).__name__} of round {self.next_round}"):
            estimator = seeded(self._template, self.options.seed, number)
            extra = {}
            if self._weighs and weight is not None:
                extra["sample_weight"] = weight if rows is None else weight[rows]
            said = residual if rows is None else residual[rows]
            estimator = estimator.fit(take(self._X, rows), said, **extra)
            base = numbers(estimator, self._X)
        return estimator, base, self._search(output, base)

    def _search(self, output: int, base: Floats) -> float:
        """β: where the loss along F + β·b is least, over the rows drawn (S13)."""
        sums = RowSums(self.drawn.values)
        moved = self.scores.copy()
        g, h = np.empty_like(moved), np.ones_like(moved)
        smooth = self.loss.rule in ("mean", "newton")

        def slopes(place: Floats) -> tuple[Floats, Floats | None]:
            moved[output] = self.scores[output] + place[0] * base
            self.loss.gradients(moved, g, h, n_threads=self.options.n_threads)
            slope = np.array([sums.of(g[output] * base)])
            return slope, np.array([sums.of(h[output] * base * base)]) if smooth else None

        size = float(np.abs(base).max(initial=0.0))
        most = self.loss.most / size if size > 0 else 0.0
        return float(minimise(slopes, 1, most=most)[0]) if size > 0 else 0.0

    def _take(self, fitted: list[tuple[Any, Floats, float]], learning_rate: float) -> None:
        held = self.held_out
        members = []
        for output, (estimator, base, size) in enumerate(fitted):
            member = FittedBase(estimator, size, learning_rate)
            self.scores[output] += (learning_rate * size) * base
            if held is not None:
                held.scores[output] += (learning_rate * size) * member.predict(held.rows)
            members.append(member)
        self.rounds.append(members)


def numbers(estimator: Any, X: Any) -> Floats:
    """What a regressor says of some rows: (n_rows,), finite."""
    said = np.asarray(estimator.predict(X), np.float64)
    if said.ndim == 2 and said.shape[1] == 1:
        said = said[:, 0]
    if said.ndim != 1:
        raise DataError(f"it predicts the shape {said.shape} where one number a row is needed.")
    if not np.isfinite(said).all():
        raise DataError(f"it predicts {said[~np.isfinite(said)][0]}.")
    return said
