"""A training that is kept from time to time, so that it can go on where it was ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from weald.boosting.newton.recall import Recall
from weald.boosting.newton.step import NewtonStep
from weald.model.forest import Forest


class Keeper(Protocol):
    """Where a training is kept."""

    @property
    def recall(self) -> Recall | None:
        """The rounds that were kept before; None: the training begins."""

    @property
    def every(self) -> int:
        """After how many rounds it is kept again."""

    def check_rate(self, round_: int, rate: float) -> None:
        """Raise ParameterError if a round that is recalled had another learning rate."""

    def keep(self, forest: Forest, rates: list[float]) -> None:
        """Keep the trees so far, and the learning rates of the rounds of this training."""


class KeptStep:
    """A step whose model is kept every so many rounds.

    It is kept before the next round begins, when metrics and early stopping have seen those that it has.
    """

    def __init__(self, step: NewtonStep, keeper: Keeper, forest: Callable[[], Forest]) -> None:
        self._step, self._keeper, self._forest = step, keeper, forest
        self._rates: list[float] = []
        recall = keeper.recall
        self._n_kept = -1 if recall is None else max(recall.n_rounds - step.first_round, 0)

    def add_round(self, learning_rate: float) -> None:
        """Keep the rounds so far if it is time, and add one."""
        if len(self._rates) >= max(self._n_kept, 0) + self._keeper.every:
            self._keep()
        if len(self._rates) < self._n_kept:
            self._keeper.check_rate(len(self._rates), learning_rate)
        self._step.add_round(learning_rate)
        self._rates.append(learning_rate)

    def finish(self) -> None:
        """Keep all rounds, unless they are kept."""
        if len(self._rates) > self._n_kept:
            self._keep()

    def _keep(self) -> None:
        self._keeper.keep(self._forest(), self._rates)
        self._n_kept = len(self._rates)
