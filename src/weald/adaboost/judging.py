"""How a round is judged and rows are weighed anew: labels by SAMME, numbers by R2.

Equations A2–A6 of docs/methods/adaboost.md. Each task has the truth of every row; a member's answers come in
the same terms, class numbers or numbers.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.adaboost.weights import TOTAL, exp, in_units, log, share
from weald.errors import DataError

#: what a wrong member can be told apart from one that is always wrong
_NEARLY_ONE = 1.0 - 2.0**-52


class Task(Protocol):
    """What the loop asks of a task."""

    #: from this error on a member is no better than chance
    chance: float
    #: what that error is, in words
    chance_words: str
    #: whether a single member may be no better than chance
    keeps_single: bool

    def losses(self, predicted: NDArray[Any], data: NDArray[np.bool_]) -> NDArray[Any]:
        """What each row loses by a member's answers: 0 to 1. `data`: the rows that weigh anything now."""

    def error(self, losses: NDArray[Any], units: NDArray[np.int64]) -> float:
        """The mean loss, rows counting by units."""

    def weight(self, error: float) -> float:
        """What a member of that error counts in the ensemble."""

    def reweighed(self, values: NDArray[np.float64], losses: NDArray[Any], weight: float) -> Weighed:
        """Rows that weigh `values` after a member of this weight has lost `losses`: with the sum TOTAL."""

    def shown(self, units: NDArray[np.int64]) -> int:
        """How many classes the rows of these units have; 0 for numbers."""


Weighed = tuple[NDArray[np.float64], NDArray[np.int64]]


class LabelTask:
    """Labels: a row is right or wrong.

    Parameters
    ----------
    label : ndarray of int32, shape (n_rows,)
        Class numbers.
    n_classes : int
        How many classes.
    learning_rate : float
        What the weights of members are multiplied with.
    n_threads : int
        Threads to use; nothing depends on it.
    """

    keeps_single = False

    def __init__(
        self, label: NDArray[np.int32], n_classes: int, learning_rate: float, n_threads: int = 1
    ) -> None:
        self.label = label
        self._n_threads = n_threads
        self.n_classes = n_classes
        self.chance = 1.0 - 1.0 / n_classes
        self.chance_words = f"guessing one of {n_classes} classes has {self.chance:.3g}"
        self._rate = learning_rate

    def losses(self, predicted: NDArray[np.int32], data: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which rows are wrong."""
        wrong: NDArray[np.bool_] = predicted != self.label
        return wrong

    def error(self, losses: NDArray[np.bool_], units: NDArray[np.int64]) -> float:
        """The share of wrong rows: A2."""
        return engine.wrong_units(losses, units, n_threads=self._n_threads) / int(units.sum())

    def weight(self, error: float) -> float:
        """Of a member, which is twice its say: A3."""
        error = min(error, _NEARLY_ONE)
        return self._rate * (log((1.0 - error) / error) + log(max(1.0, self.n_classes - 1.0)))

    def reweighed(self, values: NDArray[np.float64], losses: NDArray[np.bool_], weight: float) -> Weighed:
        """Wrong rows times e^weight: A4. The larger of the two factors is 1, so that nothing overflows."""
        for_right, for_wrong = min(1.0, exp(-weight)), min(1.0, exp(weight))
        return engine.reweigh(values, losses, for_right, for_wrong, TOTAL, n_threads=self._n_threads)

    def shown(self, units: NDArray[np.int64]) -> int:
        """How many classes the rows of these units have."""
        return int(np.count_nonzero(np.bincount(self.label[units > 0], minlength=self.n_classes)))


class NumberTask:
    """Numbers: a row loses by how far off it is, relative to the worst one.

    Parameters
    ----------
    target : ndarray of shape (n_rows,)
        Numbers.
    present : ndarray of bool, shape (n_rows,)
        The rows that count.
    loss : {"linear", "square", "exponential"}
        The loss of a row that is a share x of the worst distance off: x, x² or 1 − e^−x.
    learning_rate : float
        What the weights of members are multiplied with.
    """

    chance = 0.5
    chance_words = "half of the worst row's loss is the limit"
    keeps_single = True  # as in scikit-learn: it speaks for itself

    def __init__(
        self, target: NDArray[np.float64], present: NDArray[np.bool_], loss: str, learning_rate: float
    ) -> None:
        self.target = target
        self._present = present
        self._loss = loss
        self._rate = learning_rate

    def losses(self, predicted: NDArray[np.float64], data: NDArray[np.bool_]) -> NDArray[np.float64]:
        """By distance from the truth, as a share of the worst of the data: A5.

        Rows that a sample has left out may be further off, but lose no more. Rows that never counted lose
        nothing.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            away = np.where(self._present, np.abs(predicted - self.target), 0.0)
        if not np.isfinite(away.max()):
            raise DataError("a member predicts a number that is missing, infinite or far beyond the targets.")
        worst = float(away[data].max())
        if worst == 0.0:
            return (away > 0.0).astype(np.float64)
        with np.errstate(over="ignore"):
            away = np.minimum(away / worst, 1.0)
        if self._loss == "square":
            return away * away
        if self._loss == "exponential":
            return np.where(self._present, 1.0 - engine.map_values("exp", -away), 0.0)
        return away

    def error(self, losses: NDArray[np.float64], units: NDArray[np.int64]) -> float:
        """The mean loss. Losses are rounded to units, of which there must be many more than rows."""
        return share(in_units(units * losses), units)

    def weight(self, error: float) -> float:
        """Of a member: the logarithm of 1 / β, β = error / (1 − error)."""
        return self._rate * log((1.0 - error) / error)

    def reweighed(self, values: NDArray[np.float64], losses: NDArray[np.float64], weight: float) -> Weighed:
        """Rows times β^(1 − loss): A6. The worst of them keeps its weight, so that some weight is left."""
        spared = np.maximum(losses[values > 0].max() - losses, 0.0)
        changed = values * engine.map_values("exp", -weight * spared)
        total = int(in_units(changed).sum())
        return weighed(changed * (TOTAL / total), values > 0)

    def shown(self, units: NDArray[np.int64]) -> int:
        """None: numbers have no classes."""
        return 0


def weighed(values: NDArray[np.float64], present: NDArray[np.bool_]) -> Weighed:
    """New weights, at least a unit for each row that counts, and their units."""
    values = np.maximum(values, present.astype(np.float64))
    return values, in_units(values)
