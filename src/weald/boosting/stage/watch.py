"""What happens around a round of stagewise boosting: curves, early stopping, a user's monitor, a table."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from weald.arrays import Floats
from weald.boosting.stage.step import StageStep
from weald.boosting.stage.table import LossTable

if TYPE_CHECKING:
    from weald.boosting.callbacks import ModelView


class StageWatch:
    """Follows a training; see `weald.boosting.loop.Around`.

    Parameters
    ----------
    step : StageStep
        What is followed.
    patience : int or None
        Rounds to look back; None: no early stopping.
    tol : float
        A round must be better by more than this than one of those.
    monitor : callable, optional
        Called as monitor(round, estimator, facts) after each round; what is true stops the training.
    owner : object
        The estimator, for the monitor.
    table : LossTable, optional
        The lines of `verbose`.

    Attributes
    ----------
    train_score, oob_scores, oob_improvement, validation_scores : list of float
        The mean loss of the rows drawn, of the rows left out, how much the round lowered that, and the mean
        loss of the rows held out: one value per round.
    """

    def __init__(
        self,
        step: StageStep,
        *,
        patience: int | None = None,
        tol: float = 0.0,
        monitor: Callable[..., Any] | None = None,
        owner: object = None,
        table: LossTable | None = None,
    ) -> None:
        self._step, self._tol = step, tol
        self._recent = None if patience is None else np.full(patience, np.inf)
        self._monitor, self._owner, self._table = monitor, owner, table
        self.train_score: list[float] = []
        self.oob_scores: list[float] = []
        self.oob_improvement: list[float] = []
        self.validation_scores: list[float] = []

    def before_training(self, view: ModelView | None) -> None:
        """Print the head of the table."""
        if self._table is not None:
            self._table.start()

    def before_round(self, view: ModelView | None, round_: int) -> bool:
        """Never stops."""
        return False

    def learning_rate(self, round_: int, otherwise: float) -> float:
        """As the parameter says."""
        return otherwise

    def after_round(self, view: ModelView | None, round_: int) -> bool:
        """Measure; True: stop."""
        step = self._step
        self.train_score.append(step.mean_loss(step.drawn.values))
        if step.out_of_bag is not None:
            self.oob_scores.append(step.mean_loss(step.out_of_bag))
            self.oob_improvement.append(step.loss_before - self.oob_scores[-1])
        stop = self._judge(round_)
        if self._table is not None:
            improvement = self.oob_improvement[-1] if self.oob_improvement else 0.0
            self._table.add(step.next_round, self.train_score[-1], improvement)
        if self._monitor is not None:
            facts = {"train_score": self.train_score[-1], "n_rounds": step.next_round}
            stop |= bool(self._monitor(step.next_round - 1, self._owner, facts))
        return stop

    def _judge(self, round_: int) -> bool:
        """Whether the rows held out have not gained for long enough: scikit-learn's rule (S14)."""
        held = self._step.held_out
        if held is None:
            return False
        found = self._step.loss.mean(
            held.scores, held.target, held.weight, n_threads=self._step.options.n_threads
        )
        self.validation_scores.append(found)
        if self._recent is None:
            return False
        if not np.any(found + self._tol < self._recent):
            return True
        self._recent[round_ % len(self._recent)] = found
        return False

    def curves(self) -> dict[str, Floats]:
        """The fitted attributes."""
        found = {"train_score_": np.array(self.train_score)}
        if self._step.out_of_bag is not None:
            found["oob_scores_"] = np.array(self.oob_scores)
            found["oob_improvement_"] = np.array(self.oob_improvement)
        if self._step.held_out is not None:
            found["validation_scores_"] = np.array(self.validation_scores)
        return found

    def after_training(self, view: ModelView | None) -> None:
        """Nothing is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is open."""
