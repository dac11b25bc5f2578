"""What a tree loses on rows it did not see, for many prunings of it at once.

Every criterion has a loss of its own, equation 6 of docs/methods/pruning.md. A row passes few nodes, and each
of them predicts for one stretch of alphas, so that one walk from leaf to root serves all alphas (equation 7).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.model.forest import Forest
from weald.model.prune import collapse_alphas

#: what each criterion is judged by
LOSS_NAMES = {
    "gini": "Brier score, summed over the classes",
    "entropy": "log loss in bits",
    "log_loss": "log loss in bits",
    "misclassification": "share of wrong labels",
    "squared_error": "squared error",
    "friedman_mse": "squared error",
    "absolute_error": "absolute error",
    "poisson": "half Poisson deviance",
}
_NUMBERS: dict[str, Literal["squared", "absolute", "poisson"]] = {
    "squared_error": "squared",
    "friedman_mse": "squared",
    "absolute_error": "absolute",
    "poisson": "poisson",
}


def held_out_losses(
    forest: Forest,
    node_value: NDArray[np.float64],
    *,
    criterion: str,
    n_classes: Sequence[int],
    alphas: NDArray[np.float64],
    leaf: NDArray[np.int32],
    target: NDArray[Any],
    weight: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The weighted sum of the losses of some rows, for the tree pruned at each alpha.

    Parameters
    ----------
    forest : Forest
        One tree, unpruned.
    node_value : ndarray of shape (nodes, width)
        What each node predicts as a leaf.
    criterion : str
        The criterion the tree was grown by.
    n_classes : sequence of int
        The classes of each output; empty for numbers.
    alphas : ndarray
        Ascending, of at least 0; the last may be infinite.
    leaf : ndarray of shape (n_rows,)
        The leaf that each row comes to, by node number.
    target : ndarray of shape (n_rows, n_outputs)
        Class numbers or numbers.
    weight : ndarray of shape (n_rows,)
        Weights.

    Returns
    -------
    ndarray
        One sum for each alpha.
    """
    rows = engine.HeldOutRows(
        forest.slot, forest.right, collapse_alphas(forest), alphas, np.ascontiguousarray(leaf), weight
    )
    if not n_classes:
        numbers = np.ascontiguousarray(target, np.float64)
        floor = _least_mean(node_value[0])
        return engine.held_out_number_losses(rows, numbers, node_value, _NUMBERS[criterion], floor)
    start = np.cumsum([0, *n_classes])
    outputs = [node_value[:, begin:end] for begin, end in pairwise(start)]
    table = np.hstack([_class_losses(criterion, shares, forest.cover[:, None]) for shares in outputs])
    return engine.held_out_class_losses(rows, np.ascontiguousarray(target + start[:-1], np.int32), table)


def _class_losses(
    criterion: str, shares: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The loss of a row of each class at each node: (nodes, classes)."""
    if criterion == "gini":
        squares: NDArray[np.float64] = np.square(shares).sum(axis=1, keepdims=True)
        return 1.0 - 2.0 * shares + squares
    if criterion == "misclassification":
        losses = np.ones_like(shares)
        losses[np.arange(len(shares)), shares.argmax(axis=1)] = 0.0
        return losses
    # A class the node never saw must not cost infinity: half a row of each class is added, for scoring only.
    n_classes = shares.shape[1]
    smooth = (shares * weight + 0.5) / (weight + 0.5 * n_classes)
    return -engine.log2(smooth).reshape(smooth.shape)


def _least_mean(means: NDArray[np.float64]) -> float:
    """The least mean that Poisson predictions are scored with: a millionth of the mean of all rows."""
    positive = means[means > 0]
    return max(float(positive.min()) * 2.0**-20, 2.0**-1000) if len(positive) else 2.0**-1000
