"""The criteria from their definitions, in plain float64: what a tree's own integers are compared with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

CLASS_CRITERIA = ("gini", "entropy", "misclassification")
NUMBER_CRITERIA = ("squared_error", "absolute_error", "poisson")


def weighted_median(y: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Where half of the weight is reached; halfway to the next target if that is exactly half."""
    order = np.argsort(y, kind="stable")
    y, reached = y[order], np.cumsum(weight[order])
    at = int(np.searchsorted(reached, reached[-1] / 2))
    return float(y[at]) if reached[at] > reached[-1] / 2 else float((y[at] + y[at + 1]) / 2)


def loss(criterion: str, y: NDArray, weight: NDArray[np.float64] | None = None) -> float:
    """The impurity of some rows times their weight; the sum over the outputs, if y has several columns."""
    if y.ndim == 2:
        return sum(loss(criterion, column, weight) for column in y.T)
    if len(y) == 0:
        return 0.0
    w = np.ones(len(y)) if weight is None else weight
    total = w.sum()
    if criterion in CLASS_CRITERIA:
        share = np.array([w[y == label].sum() / total for label in np.unique(y)])
        impurity = {
            "gini": 1 - np.sum(share**2),
            "entropy": -np.sum(share * np.log2(share)),
            "misclassification": 1 - share.max(),
        }[criterion]
        return float(total * impurity)
    if criterion == "absolute_error":
        return float(np.sum(w * np.abs(y - weighted_median(y, w))))
    mean = np.sum(w * y) / total
    if criterion == "squared_error":
        return float(np.sum(w * (y - mean) ** 2))
    some = y > 0
    return float(np.sum(w[some] * y[some] * np.log(y[some] / mean)))


def gain(criterion: str, y: NDArray, left: NDArray[np.bool_], weight: NDArray | None = None) -> float:
    """How much parting the rows lowers the loss; -inf where Poisson would leave a mean of 0."""
    w = np.ones(len(y)) if weight is None else weight
    if criterion == "poisson" and not all((y[side] > 0).any(axis=0).all() for side in (left, ~left)):
        return -np.inf
    after = sum(loss(criterion, y[side], w[side]) for side in (left, ~left))
    return loss(criterion, y, w) - after
