"""The step of stagewise boosting: pseudo-residuals at the scores so far, a fit to them for each output.

    r ← minus the slope of the loss at F, for all outputs
    for each output k: fit something to r_k on the rows drawn for the round
    F ← F + learning rate · what was fitted

What is fitted is a subclass's: trees with leaf values (`TreeStep`), or any regressor (`BaseStep`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from weald.arrays import Floats
from weald.boosting.stage.losses import NativeStageLoss, StageLoss
from weald.boosting.stage.options import StageOptions
from weald.boosting.stage.rows import RowWeight
from weald.errors import DataError
from weald.random import Purpose, draw


@dataclass(slots=True)
class HeldOut:
    """Rows that are not trained on, and their raw scores so far."""

    rows: Any  # a Table aligned to the model's schema, or rows of the user's own table
    target: Floats
    weight: Floats | None
    scores: Floats  # (n_outputs, n_rows)


class StageStep(ABC):
    """What all stagewise steps share: rows drawn for a round, pseudo-residuals, the out-of-bag rows.

    Parameters
    ----------
    loss : StageLoss
        The loss, bound to the training rows.
    options : StageOptions
        How to boost.
    scores : ndarray of shape (n_outputs, n_rows)
        Raw scores of the training rows at the start; changed in place.
    weight : ndarray of shape (n_rows,) or None
        Weights; 0 is an absent row.
    held_out : HeldOut, optional
        Rows to follow.
    first_round : int
        How many rounds the model has already.

    Attributes
    ----------
    drawn : RowWeight
        The weights of the rows that the last round was fitted on.
    out_of_bag : ndarray of shape (n_rows,) or None
        The weights of the others; None if all were drawn.
    loss_before : float
        The mean loss of those before the last round.
    """

    def __init__(
        self,
        loss: StageLoss,
        options: StageOptions,
        scores: Floats,
        weight: Floats | None,
        held_out: HeldOut | None = None,
        first_round: int = 0,
    ) -> None:
        self.loss, self.options, self.scores = loss, options, scores
        self.held_out = held_out
        self.next_round = first_round
        n_rows = scores.shape[1]
        self._all = self.drawn = RowWeight(weight, n_rows)
        self.out_of_bag: Floats | None = None
        self.loss_before = np.nan
        self._g, self._h = np.empty_like(scores), np.ones_like(scores)
        self._looked_ahead = False  # these are the slopes at the scores so far
        self._check_scores()

    def mean_loss(self, weight: Floats | None) -> float:
        """The mean loss of the training rows at the scores so far, by these weights."""
        loss, n_threads = self.loss, self.options.n_threads
        if not isinstance(loss, NativeStageLoss) or not loss.steady or self._looked_ahead:
            return loss.mean(self.scores, loss.target, weight, n_threads=n_threads)
        # The next round needs the slopes there: rows come into the cache once.
        self._looked_ahead = True
        return loss.gradients_and_mean(self.scores, self._g, self._h, weight, n_threads=n_threads)

    def add_round(self, learning_rate: float) -> None:
        """Fit one round, and bring it to all scores."""
        self._draw_rows()
        if not self._looked_ahead:
            self.loss.prepare(self.scores)
            self.loss.gradients(self.scores, self._g, self._h, n_threads=self.options.n_threads)
            self._looked_ahead = True
        if not self._all_finite(self._g, self._all.values):
            self._diverged()
        if self.out_of_bag is not None:
            self.loss_before = self.mean_loss(self.out_of_bag)
        # All outputs are fitted to the same scores, as in Algorithm 10.4.
        fitted = [self._fit(output) for output in range(self.loss.n_outputs)]
        self._take(fitted, learning_rate)
        self._looked_ahead = False
        self._check_scores()
        self.next_round += 1

    def _check_scores(self) -> None:
        """Refuse to go on from scores that have left float64."""
        held = self.held_out
        fine = self._all_finite(self.scores, None)
        if not fine or (held is not None and not np.isfinite(held.scores).all()):
            self._diverged()

    def _all_finite(self, values: Floats, weight: Floats | None) -> bool:
        """Whether values of the rows that count, times weights, are all finite."""
        with np.errstate(over="ignore", invalid="ignore"):
            if weight is not None:
                # Almost always, and a sum is found sooner than all products.
                if np.isfinite(np.sum(values @ weight)):
                    return True
                values = values * weight
        fine = np.isfinite(values)
        present = self._all.values
        return bool(fine.all() or (present is not None and fine[:, present > 0].all()))

    def _diverged(self) -> NoReturn:
        raise DataError(
            f"Boosting under the loss {self.loss.name!r} has diverged in round {self.next_round}: raw "
            "scores, or slopes times weights, overflow float64. Use a smaller learning_rate, or bring "
            "the target and sample_weight to a smaller scale."
        )

    def _draw_rows(self) -> None:
        """So many of the rows that count, without replacement; the same for every output."""
        if self.options.subsample >= 1:
            return
        n = self._all.n_present
        n_drawn = max(1, int(self.options.subsample * n))
        places = np.arange(self._all.n_rows, dtype=np.uint64)
        if self._all.values is not None:
            places = places[self._all.values > 0]
        keys = draw(self.options.seed, Purpose.STAGE_ROWS, self.next_round, places)
        mask = np.zeros(self._all.n_rows, np.bool_)
        mask[places[np.argpartition(keys, n_drawn - 1)[:n_drawn]].astype(np.int64)] = True
        self.drawn = RowWeight(self._all.some(mask), self._all.n_rows)
        self.out_of_bag = self._all.some(~mask)

    @abstractmethod
    def _fit(self, output: int) -> Any:
        """What is to be added to one output."""

    @abstractmethod
    def _take(self, fitted: list[Any], learning_rate: float) -> None:
        """Add the round to the model, to the scores and to those of the rows held out."""
