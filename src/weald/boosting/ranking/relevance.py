"""Relevances: what ranking learns, checked with the first bad row, and the gains that NDCG makes of them."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.errors import DataError

Kind: TypeAlias = Literal["number", "gain", "grade", "binary"]

MOST_RELEVANT = 31  # xgboost's limit, so that 2^relevance − 1 stays a 32-bit number


def check_relevance(labels: Floats, kind: Kind, asker: str) -> None:
    """Raise a `DataError` for the first relevance that `asker` cannot use.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        The relevances.
    kind : {"number", "gain", "grade", "binary"}
        Any finite number; at least 0; a whole number from 0 to 31; 0 or 1.
    asker : str
        The objective or metric, for the message.
    """
    _raise_first(
        labels, ~np.isfinite(labels), asker, "a finite number", "Drop the row, or give it a relevance."
    )
    if kind == "binary":
        bad = (labels != 0) & (labels != 1)
        way_out = "Turn relevances into 0 and 1, or use rank:ndcg and ndcg for several grades."
        _raise_first(labels, bad, asker, "0 or 1", way_out)
    if kind == "gain":
        _raise_first(
            labels, labels < 0, asker, "a number of at least 0", "Move them up so that the lowest is 0."
        )
    if kind == "grade":
        bad = (labels < 0) | (labels > MOST_RELEVANT) | (labels != np.floor(labels))
        way_out = "Number the grades from 0, or set ndcg_exp_gain=False to use relevances as gains."
        _raise_first(labels, bad, asker, f"a whole number from 0 to {MOST_RELEVANT}", way_out)


def _raise_first(labels: Floats, bad: NDArray[np.bool_], asker: str, allowed: str, way_out: str) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(
            f"A relevance must be {allowed} for {asker}; row {row} of y holds {labels[row]:g}. {way_out}"
        )


def gains(labels: Floats, exponential: bool) -> Floats:
    """What a row of each relevance adds to DCG: 2^relevance − 1, or the relevance itself.

    >>> gains(np.array([0.0, 1.0, 3.0]), exponential=True)
    array([0., 1., 7.])
    """
    if not exponential:
        return np.ascontiguousarray(labels, np.float64)
    # By whole numbers: a library's power function need not be exact.
    return ((np.int64(1) << labels.astype(np.int64)) - 1).astype(np.float64)
