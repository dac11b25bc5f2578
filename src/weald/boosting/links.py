"""Links: what turns raw scores into predictions, and back.

The functions are the native ones that make the gradients, so predictions have the same bits everywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats
from weald.errors import ParameterError, listing, nearest

#: "shares" is the link of single trees, whose leaves hold predictions already; "sign" is the hinge loss's,
#: 0 or 1; "sorted" puts the quantiles of a row in ascending order; "half_logistic" is the exponential loss's,
#: whose raw scores are half the log odds
LINKS = ("identity", "logistic", "half_logistic", "softmax", "exp", "sign", "sorted", "shares")


def apply_link(name: str, raw: Floats, *, n_threads: int = 1) -> Floats:
    """Predictions from raw scores.

    Parameters
    ----------
    name : str
        One of LINKS.
    raw : ndarray of shape (n_rows, n_outputs)
        Raw scores; all links but "softmax" and "sorted" take any shape.
    n_threads : int
        The result does not depend on it.

    Returns
    -------
    ndarray
        In the shape of `raw`; `raw` itself where the link changes nothing.
    """
    _check(name)
    if name == "logistic":
        return engine.map_values("sigmoid", raw, n_threads=n_threads)
    if name == "half_logistic":
        return engine.map_values("sigmoid", 2 * raw, n_threads=n_threads)
    if name == "exp":
        return engine.map_values("exp", raw, n_threads=n_threads)
    if name == "softmax":
        return engine.softmax(raw, n_threads=n_threads)
    if name == "sign":
        return (raw > 0).astype(np.float64)
    return np.sort(raw, axis=-1) if name == "sorted" else raw


def to_raw(name: str, value: object, *, parameter: str = "base_score") -> Floats:
    """Raw scores from predictions, of any shape; softmax works along the last axis and centres the scores.

    Parameters
    ----------
    name : str
        One of LINKS.
    value : float or array
        Predictions. Between 0 and 1, both excluded, for "logistic", "half_logistic" and "softmax"; positive
        for "exp".
    parameter : str
        What the value is called in the error.

    Returns
    -------
    ndarray
        In the shape of `value`.
    """
    _check(name)
    given: Floats = np.asarray(value, np.float64)
    if name in ("logistic", "half_logistic", "softmax"):
        _require(given, (given > 0) & (given < 1), "between 0 and 1, both excluded", "0.5", parameter)
    if name in ("logistic", "half_logistic"):
        return engine.map_values("log", given / (1 - given)) * (1.0 if name == "logistic" else 0.5)
    if name == "softmax":
        logs = engine.map_values("log", given)
        centred: Floats = logs - logs.mean(axis=-1, keepdims=True)
        return centred
    if name == "exp":
        _require(given, (given > 0) & (given < np.inf), "positive and finite", "1.0", parameter)
        return engine.map_values("log", given)
    return given


def _require(value: Floats, good: NDArray[np.bool_], must: str, such_as: str, parameter: str) -> None:
    if not np.all(good):
        bad = value[~np.asarray(good)].ravel()[0]
        raise ParameterError(f"`{parameter}` must be {must}; got {bad}. Use a value such as {such_as}.")


def _check(name: str) -> None:
    if name not in LINKS:
        close = nearest(name, LINKS)
        hint = f"Did you mean {close!r}?" if close else f"There are {listing(LINKS, most=len(LINKS))}."
        raise ParameterError(f"There is no link {name!r}. {hint}")
