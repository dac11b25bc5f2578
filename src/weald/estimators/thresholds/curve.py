"""The score of every threshold, and the best of them."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.errors import DataError

#: truth and decisions as False and True → how good the decisions are
Judge: TypeAlias = Callable[[NDArray[np.bool_], NDArray[np.bool_]], float]
#: rows of the positive class that are called so, rows of the other that are called so, and all rows of each
CountJudge: TypeAlias = Callable[
    [NDArray[np.float64], NDArray[np.float64], float, float], NDArray[np.float64]
]

#: thresholds that a judge who wants decisions row by row is asked of: even steps of log odds, since a rare
#: class has probabilities near 0
GRID: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-np.linspace(-9.0, 9.0, 181)))
_MOST_ROWS = 12


@dataclass(frozen=True, eq=False)
class ThresholdCurve:
    """What the score would be at each threshold, on rows that were held out.

    Printed, it is a table of text, thinned if it is long; `to_dict` gives the columns for a frame of any
    library.

    Parameters
    ----------
    thresholds : ndarray
        In ascending order.
    scores : ndarray
        The score at each; more is better. Of a cost matrix, the mean cost with a minus.
    """

    thresholds: NDArray[np.float64]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        """How many thresholds."""
        return len(self.thresholds)

    @property
    def best(self) -> int:
        """The place of the highest score; of equal ones the first."""
        return int(np.argmax(self.scores))

    def to_dict(self) -> dict[str, list[float]]:
        """The columns by name, as lists."""
        return {"threshold": self.thresholds.tolist(), "score": self.scores.tolist()}

    def __repr__(self) -> str:
        """The table as text, with a mark at the best threshold."""
        lines = ["threshold   score"]
        lines += [f"{t:9.4f}  {s:6.4f}{' best' * best}" for t, s, best in self._shown()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The table for notebooks."""
        rows = "".join(
            f"<tr><td>{t:.4f}</td><td>{s:.4f}</td><td>{html.escape('best' * best)}</td></tr>"
            for t, s, best in self._shown()
        )
        return (
            "<table><thead><tr><th>threshold</th><th>score</th><th></th></tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )

    def _shown(self) -> list[tuple[float, float, bool]]:
        places = np.unique(np.linspace(0, len(self) - 1, min(len(self), _MOST_ROWS)).astype(int))
        places = np.union1d(places, [self.best])
        return [(float(self.thresholds[i]), float(self.scores[i]), bool(i == self.best)) for i in places]


def curve_of_counts(
    probability: NDArray[np.float64], positive: NDArray[np.bool_], judge: CountJudge
) -> ThresholdCurve:
    """The score between every two adjacent probabilities, for scores that follow from counts; equation T1.

    Parameters
    ----------
    probability : ndarray of shape (n_rows,)
        Of the positive class.
    positive : ndarray of shape (n_rows,)
        Which rows are of it.
    judge : function
        The score of counts.
    """
    values, place = np.unique(probability, return_inverse=True)
    check_varied(values)
    rows = [np.bincount(place.reshape(-1)[mask], minlength=len(values)) for mask in (positive, ~positive)]
    # Rows at or above each value but the lowest are called positive.
    right, wrong = (np.cumsum(each[::-1])[::-1][1:].astype(np.float64) for each in rows)
    scores = judge(right, wrong, float(rows[0].sum()), float(rows[1].sum()))
    return ThresholdCurve(values[:-1] + (values[1:] - values[:-1]) / 2, scores)


def curve_of_decisions(
    probability: NDArray[np.float64], positive: NDArray[np.bool_], judge: Judge
) -> ThresholdCurve:
    """The score at the thresholds of a grid, for scores that want every decision."""
    check_varied(np.unique(probability))
    return ThresholdCurve(GRID, np.array([judge(positive, probability >= t) for t in GRID]))


def check_varied(values: NDArray[np.float64]) -> None:
    """Refuse probabilities that are all the same, between which no threshold can decide."""
    if len(values) < 2:
        raise DataError(
            "The estimator gives every row that was held out the same probability, so that no threshold "
            "parts them. Use a stronger estimator, or columns that tell the classes apart."
        )


def f1_of_counts(
    right: NDArray[np.float64], wrong: NDArray[np.float64], n_positive: float, n_negative: float
) -> NDArray[np.float64]:
    """F1 of the positive class: 2 TP / (2 TP + FP + FN)."""
    found: NDArray[np.float64] = 2.0 * right / (right + wrong + n_positive)
    return found


def balanced_accuracy_of_counts(
    right: NDArray[np.float64], wrong: NDArray[np.float64], n_positive: float, n_negative: float
) -> NDArray[np.float64]:
    """The mean of the shares of both classes that are called right."""
    found: NDArray[np.float64] = (right / n_positive + 1.0 - wrong / n_negative) / 2.0
    return found


def cost_of_counts(cost: NDArray[np.float64], place: int) -> CountJudge:
    """Minus the mean cost of decisions; `place`: of the positive class among the two."""
    other = 1 - place

    def judge(
        right: NDArray[np.float64], wrong: NDArray[np.float64], n_positive: float, n_negative: float
    ) -> NDArray[np.float64]:
        positive = right * cost[place, place] + (n_positive - right) * cost[place, other]
        negative = wrong * cost[other, place] + (n_negative - wrong) * cost[other, other]
        found: NDArray[np.float64] = -(positive + negative) / (n_positive + n_negative)
        return found

    return judge


#: the scores that have names
OF_COUNTS: dict[str, CountJudge] = {
    "balanced_accuracy": balanced_accuracy_of_counts,
    "f1": f1_of_counts,
}
