"""The ensemble's answers as rounds add to them: errors of training, and early stopping on rows held out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.adaboost.medians import RunningMedians
from weald.rows.many_classes import check_scores


class Score(Protocol):
    """How well an ensemble does on some rows, member by member."""

    def add(self, predicted: NDArray[Any], weight: float) -> float:
        """The error with one more member."""


class LabelScore:
    """The share of wrong rows, by weight.

    Parameters
    ----------
    label : ndarray of int32, shape (n_rows,)
        Class numbers; one that no class has is always wrong.
    n_classes : int
        How many classes.
    units : ndarray of int64, shape (n_rows,)
        What rows count.
    n_threads : int
        Threads to use; nothing depends on it.
    """

    def __init__(
        self, label: NDArray[np.int32], n_classes: int, units: NDArray[np.int64], n_threads: int = 1
    ) -> None:
        self._label, self._units, self._n_threads = label, units, n_threads
        check_scores(len(label), n_classes, "a sum of votes", 1)
        self._votes = np.zeros((len(label), n_classes))
        self._total = int(units.sum())

    def add(self, predicted: NDArray[np.int32], weight: float) -> float:
        """The error with one more member."""
        wrong = engine.add_votes(
            self._votes, predicted, weight, self._label, self._units, n_threads=self._n_threads
        )
        return wrong / self._total


class NumberScore:
    """The mean squared error, by weight.

    Parameters
    ----------
    target : ndarray of shape (n_rows,)
        The truth.
    units : ndarray of int64, shape (n_rows,)
        What rows count.
    """

    def __init__(self, target: NDArray[np.float64], units: NDArray[np.int64]) -> None:
        self._target, self._share = target, units / units.sum()
        self._medians = RunningMedians(len(target))

    def add(self, predicted: NDArray[np.float64], weight: float) -> float:
        """The error with one more member."""
        median = self._medians.add(predicted, weight)
        return float(np.sum(self._share * (median - self._target) ** 2))


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Rows that say when to stop."""

    score: Score
    #: (member, its answers to the rows of the table) → its answers to these rows
    answers: Callable[[Any, NDArray[Any]], NDArray[Any]]


class Follower:
    """Is told of every member: keeps errors, and says when to stop.

    Parameters
    ----------
    training : Score or None
        On the rows of training, if that is followed.
    held_out : HeldOut or None
        Rows that say when to stop.
    wait : int
        Rounds without improvement before that.
    done : function
        Is called after each round.
    """

    def __init__(
        self, training: Score | None, held_out: HeldOut | None, wait: int, done: Callable[[], None]
    ) -> None:
        self._training, self._held_out, self._wait, self._done = training, held_out, wait, done
        self.errors: list[float] = []

    @property
    def n_best(self) -> int | None:
        """How many rounds are best on the rows held out; None without such."""
        return int(np.argmin(self.errors)) + 1 if self.errors else None

    def __call__(self, member: object, predicted: NDArray[Any], weight: float) -> tuple[float, bool]:
        """The error on the rows of training, or NaN, and whether to stop."""
        training = np.nan if self._training is None else self._training.add(predicted, weight)
        if self._held_out is not None:
            self.errors.append(self._held_out.score.add(self._held_out.answers(member, predicted), weight))
        self._done()
        best = self.n_best
        return training, best is not None and len(self.errors) - best >= self._wait
