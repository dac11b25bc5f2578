"""Probabilities of a model that learned from other class shares than the data has: the shift undone.

Equation R10 of docs/methods/resampling.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weald.errors import DataError


def class_shares(
    labels: NDArray[np.integer], n_classes: int, weight: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The share of each class among rows, by weight if there is one.

    >>> class_shares(np.array([0, 1, 1, 1]), 2).tolist()
    [0.25, 0.75]
    """
    counts: NDArray[np.float64] = np.bincount(labels, weights=weight, minlength=n_classes).astype(np.float64)
    total = float(counts.sum())
    if not total > 0:
        raise DataError("Class shares are asked of rows without any weight. At least one row needs some.")
    counts /= total
    return counts


def correct_priors(proba: ArrayLike, share: ArrayLike, share_after: ArrayLike) -> NDArray[np.float64]:
    """Probabilities under the class shares of the data, from a model that learned under others.

    Every probability is multiplied by `share / share_after` of its class, and rows are brought back to a sum
    of 1. Right where resampling changed how many rows a class has and not what its rows are like.

    Parameters
    ----------
    proba : array-like of shape (n_rows, n_classes)
        What the model predicts.
    share : array-like of shape (n_classes,)
        The class shares of the data; any multiple of them will do, as counts.
    share_after : array-like of shape (n_classes,)
        The class shares of the rows that the model learned from. A class of share 0 there, which the model
        cannot know, keeps its probability of 0.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        The corrected probabilities; those given where the shares are the same. A row that has probability
        only where the data has no row stays as it is.

    Examples
    --------
    >>> correct_priors([[0.5, 0.5]], share=[0.9, 0.1], share_after=[0.5, 0.5]).round(3).tolist()
    [[0.9, 0.1]]
    """
    given = np.asarray(proba, np.float64)
    before, after = (_normalised(each, given.shape[-1]) for each in (share, share_after))
    factor = np.divide(before, after, out=np.zeros_like(before), where=after > 0)
    if bool((before == after).all()):
        return given
    weighed = given * (factor / factor.max())
    total = weighed.sum(axis=-1, keepdims=True)
    corrected: NDArray[np.float64] = np.divide(weighed, total, out=given.copy(), where=total > 0)
    return corrected


def _normalised(share: ArrayLike, n_classes: int) -> NDArray[np.float64]:
    """Shares that add up to 1, checked."""
    found = np.asarray(share, np.float64)
    if found.shape != (n_classes,):
        raise DataError(f"One class share per column of proba is expected: {n_classes}; got {found.shape}.")
    if not (np.isfinite(found).all() and (found >= 0).all() and found.sum() > 0):
        raise DataError(
            f"Class shares must be finite, at least 0 and not all 0; got {found.tolist()}. Counts will do."
        )
    normalised: NDArray[np.float64] = found / found.sum()
    return normalised
