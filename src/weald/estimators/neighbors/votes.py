"""What neighbours' labels and numbers make: shares of classes, means, weighted by distance or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, Integers
from weald.errors import DataError
from weald.estimators.neighbors.options import Weights


def neighbor_weights(distances: Floats, weights: Weights) -> Floats | None:
    """The weight of each neighbour, (n, k); None if all count alike.

    By "distance" it is 1 / distance; rows at distance 0 then are the only ones that count.

    >>> neighbor_weights(np.array([[0.0, 2.0], [1.0, 4.0]]), "distance").tolist()
    [[1.0, 0.0], [1.0, 0.25]]
    """
    if weights is None or weights == "uniform":
        return None
    if weights == "distance":
        with np.errstate(divide="ignore", over="ignore"):
            inverse = 1.0 / distances
        infinite = np.isinf(inverse)
        at_zero = infinite.any(axis=1)
        inverse[at_zero] = infinite[at_zero]
        return inverse
    assert callable(weights)
    given = np.asarray(weights(distances), np.float64)
    if given.shape != distances.shape:
        raise DataError(
            f"The function `weights` must give one weight per distance, shape {distances.shape}; it gave "
            f"shape {given.shape}."
        )
    if not np.isfinite(given).all() or (given < 0).any():
        raise DataError("The function `weights` gave a weight that is negative, NaN or infinite.")
    return given


def class_shares(
    rows: Integers, weight: Floats | None, labels: Sequence[NDArray[np.int32]], n_classes: Sequence[int]
) -> list[Floats]:
    """For each output the shares of its classes among the neighbours, (n, n_classes)."""
    shares = []
    everyone = np.arange(len(rows))
    _check_weights(weight)
    for of_row, n in zip(labels, n_classes, strict=True):
        share = np.zeros((len(rows), n))
        for place, label in enumerate(of_row[rows].T):  # as many steps as there are neighbours
            share[everyone, label] += 1.0 if weight is None else weight[:, place]
        share /= share.sum(axis=1)[:, None]
        shares.append(share)
    return shares


def means(rows: Integers, weight: Floats | None, target: Floats) -> Floats:
    """The means of the neighbours' numbers, (n, n_outputs)."""
    _check_weights(weight)
    if weight is None:
        found: Floats = target[rows].mean(axis=1)
        return found
    total = weight.sum(axis=1)
    columns = [(target[rows, j] * weight).sum(axis=1) / total for j in range(target.shape[1])]
    return np.stack(columns, axis=1)


def _check_weights(weight: Any) -> None:
    if weight is not None and (weight.sum(axis=1) == 0).any():
        row = int(np.argmax(weight.sum(axis=1) == 0))
        raise DataError(
            f"All neighbors of row {row} get the weight 0 from the function `weights`. Let some weight be "
            "above 0. (All neighbors of some sample is getting zero weights.)"
        )
