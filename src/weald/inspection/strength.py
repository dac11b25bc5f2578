"""Margins, strength and correlation of a forest on its out-of-bag votes, and the bound they give.

Breiman, Random Forests (2001), with the standard deviation of a tree's raw margin as its definition gives it.
Equations F-M1 to F-M6 of docs/methods/forests.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.inspection.votes import TrainingRows, class_votes


@dataclass(frozen=True, slots=True)
class Strength:
    """How good the trees of a forest are, how alike, and what that says of its error.

    Attributes
    ----------
    strength : float
        The mean margin s: how far, on average, the right class leads the most voted wrong one.
    correlation : float
        The mean correlation of the trees' raw margins.
    margin_variance : float
        The variance of the margin over the rows.
    variance_bound : float
        margin_variance / s²: no smaller than the error of the votes. inf unless s is above 0.
    bound : float
        correlation · (1 - s²) / s²: Breiman's bound of the error. inf unless s is above 0.
    """

    strength: float
    correlation: float
    margin_variance: float
    variance_bound: float
    bound: float


def margins_of(votes: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.float64]:
    """The share of votes for the right class minus the largest share of another: equation F-M1.

    NaN for a row without votes.

    >>> margins_of(np.array([[3, 1, 0], [1, 1, 2]]), np.array([0, 1])).tolist()
    [0.5, -0.25]
    """
    row = np.arange(len(votes))
    lead = votes[row, labels] - _without_right(votes, labels).max(axis=1, initial=0)
    with np.errstate(invalid="ignore"):
        margins: NDArray[np.float64] = lead / votes.sum(axis=1)
    return margins


def _without_right(votes: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
    """The votes with those for the right class taken out of every comparison."""
    others = votes.copy()
    others[np.arange(len(votes)), labels] = -1
    return others


def strength_of(rows: TrainingRows, labels: NDArray[Any]) -> tuple[Strength, NDArray[np.int64]]:
    """Strength and correlation by out-of-bag votes, and these votes: equations F-M2 to F-M6.

    Two passes over the trees: one counts the votes, which tell the most voted wrong class of each row, the
    other how often each tree votes for the right class and for that one.
    """
    votes = class_votes(rows)
    judged = rows.counting() & (votes.sum(axis=1) > 0)
    if not judged.any():
        return Strength(*[math.nan] * 5), votes
    margins = margins_of(votes[judged], labels[judged])
    runner_up = np.argmax(_without_right(votes, labels), axis=1)
    deviation = _mean_deviation(rows, labels, runner_up)
    strength, variance = float(margins.mean()), float(margins.var())
    correlation = _ratio(variance, deviation**2)
    if strength <= 0:
        return Strength(strength, correlation, variance, math.inf, math.inf), votes
    bound = generalisation_bound(strength, correlation)
    return Strength(strength, correlation, variance, variance / strength**2, bound), votes


def generalisation_bound(strength: float, correlation: float) -> float:
    """ρ̄ (1 - s²) / s², for a strength s above 0: equation F-M6.

    >>> generalisation_bound(0.5, 0.2)
    0.6000000000000001
    """
    return correlation * (1 - strength**2) / strength**2


def _mean_deviation(rows: TrainingRows, labels: NDArray[Any], runner_up: NDArray[Any]) -> float:
    """The mean, over trees, of the standard deviation of the raw margin: equation F-M4."""
    counting = rows.counting()
    vote_of_leaf = np.argmax(rows.forest.value, axis=1)
    deviations = []
    for unseen, leaf in rows.unseen_leaves():
        kept = counting[unseen]
        unseen, vote = unseen[kept], vote_of_leaf[leaf[kept]]
        if len(unseen):
            right = float((vote == labels[unseen]).mean())
            wrong = float(((vote == runner_up[unseen]) & (vote != labels[unseen])).mean())
            deviations.append(math.sqrt(max(0.0, right + wrong - (right - wrong) ** 2)))
    return math.fsum(deviations) / len(deviations)


def _ratio(a: float, b: float) -> float:
    """`a` / `b`, and 0 / 0 = 0: margins that do not vary, where the bound is 0 too."""
    if b > 0:
        return a / b
    return 0.0 if a == 0 else math.inf
