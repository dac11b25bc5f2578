"""Friedman's H: which part of a joint effect is no sum of effects (equation E9)."""

from __future__ import annotations

import numpy as np

from weald.arrays import Floats

#: the share of squared values that rounding may leave of nothing
_NOTHING = 1e-26


def h_squared(joint: Floats, first: Floats, second: Floats, weight: Floats | None) -> tuple[Floats, Floats]:
    """H² of each target, and the root mean square of what is no sum: (targets,) each; 0 where nothing varies.

    Parameters
    ----------
    joint, first, second : ndarray of shape (n_rows, n_targets)
        The effects together and apart at every row, not centred.
    weight : ndarray of shape (n_rows,), optional
        None for 1 each.
    """
    w = np.ones(len(joint)) if weight is None else weight
    share = (w / w.sum())[:, None]
    size = (share * (np.square(joint) + np.square(first) + np.square(second))).sum(axis=0)
    joint, first, second = (values - (share * values).sum(axis=0) for values in (joint, first, second))
    both = (share * np.square(joint)).sum(axis=0)
    rest = (share * np.square(joint - first - second)).sum(axis=0)
    rest = np.where(rest <= _NOTHING * size, 0.0, rest)
    found = np.divide(rest, both, out=np.zeros_like(rest), where=both > 0)
    return found, np.sqrt(rest)
