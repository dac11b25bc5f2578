"""What averaging and voting can gain, as formulas: equations B6 to B8 of docs/methods/forests.md; log odds.

Every function takes numbers or arrays, which are broadcast against each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weald.errors import ParameterError, told

__all__ = ["forest_bound", "logit", "majority_vote_error", "odds", "sigmoid", "variance_of_average"]


def majority_vote_error(n_voters: ArrayLike, error: ArrayLike) -> float | NDArray[np.float64]:
    r"""The error of a majority of independent voters who each err with the same probability.

    .. math:: \sum_{k > N/2} \binom{N}{k} p^k (1 - p)^{N - k}

    Of an even number of voters more than half must err: a tie counts as right.

    Parameters
    ----------
    n_voters : int or array-like
        How many vote, N; at least 1.
    error : float or array-like
        The probability p that one of them errs, from 0 to 1.

    Returns
    -------
    float or ndarray
        The probability that more than half of them err.

    Examples
    --------
    >>> round(majority_vote_error(3, 0.4), 3)
    0.352
    """
    voters = _whole("n_voters", n_voters)
    chance = _numbers("error", error, 0.0, 1.0, "a probability from 0 to 1")
    from scipy.special import betainc

    least = np.floor(voters / 2) + 1
    # The upper tail of a binomial distribution is an incomplete beta function.
    return _plain(betainc(least, voters - least + 1, chance))


def variance_of_average(
    variance: ArrayLike, correlation: ArrayLike, n: ArrayLike
) -> float | NDArray[np.float64]:
    r"""The variance of the average of equally varying, equally correlated predictions.

    .. math:: \rho \sigma^2 + \frac{(1 - \rho) \sigma^2}{M}

    Parameters
    ----------
    variance : float or array-like
        The variance of one of them, at least 0.
    correlation : float or array-like
        The correlation of any two, from -1 / (n - 1) (less cannot be) to 1.
    n : int or array-like
        How many are averaged, M; at least 1.

    Returns
    -------
    float or ndarray
        The variance of their average.

    Examples
    --------
    >>> variance_of_average(4.0, 0.25, 3)
    2.0
    """
    spread = _numbers("variance", variance, 0.0, np.inf, "a finite number of at least 0")
    members = _whole("n", n)
    rho = _numbers("correlation", correlation, -1.0, 1.0, "a number from -1 to 1")
    least = np.where(members > 1, -1 / np.maximum(members - 1, 1), -1.0)
    possible = rho >= least - 1e-12
    if not np.all(possible):
        low, rho, _ = np.broadcast_arrays(least, rho, possible)
        at = int(np.argmin(possible))
        raise ParameterError(
            f"`correlation` must be at least -1 / (n - 1) = {low.flat[at]:.4g}: more predictions cannot all "
            f"differ so much from each other; got {rho.flat[at]:g}."
        )
    return _plain(np.maximum(rho * spread + (1 - rho) * spread / members, 0.0))


def forest_bound(strength: ArrayLike, correlation: ArrayLike) -> float | NDArray[np.float64]:
    r"""Breiman's bound on the generalisation error of a forest.

    .. math:: \frac{\bar\rho\,(1 - s^2)}{s^2}

    Parameters
    ----------
    strength : float or array-like
        The mean margin s of the forest, above 0 and at most 1.
    correlation : float or array-like
        The mean correlation of two of its trees, from 0 to 1.

    Returns
    -------
    float or ndarray
        The bound; where it exceeds 1 it says nothing.

    Examples
    --------
    >>> forest_bound(0.5, 0.25)
    0.75
    """
    margin = _numbers("strength", strength, -np.inf, 1.0, "a number above 0 and at most 1")
    if np.any(margin <= 0):
        raise ParameterError(
            "`strength` must be above 0: a forest that is more often wrong than right has no bound; got "
            f"{float(np.min(margin)):g}."
        )
    rho = _numbers("correlation", correlation, 0.0, 1.0, "a number from 0 to 1")
    with np.errstate(over="ignore", invalid="ignore"):
        bound = rho * ((1 / margin) ** 2 - 1)  # a margin that is tiny has no square
    return _plain(np.where(rho == 0, 0.0, bound))


def odds(probability: ArrayLike) -> float | NDArray[np.float64]:
    """How much likelier something is than not: p / (1 - p).

    Parameters
    ----------
    probability : float or array-like
        Probabilities, from 0 to 1.

    Returns
    -------
    float or ndarray
        From 0 to infinity.

    Examples
    --------
    >>> odds(0.75)
    3.0
    """
    p = _numbers("probability", probability, 0.0, 1.0, "a probability from 0 to 1")
    with np.errstate(divide="ignore"):
        return _plain(p / (1 - p))


def logit(probability: ArrayLike) -> float | NDArray[np.float64]:
    """The logarithm of the odds, log(p / (1 - p)): what `sigmoid` undoes.

    Parameters
    ----------
    probability : float or array-like
        Probabilities, from 0 to 1.

    Returns
    -------
    float or ndarray
        Log odds: 0 for one half, -infinity for 0 and infinity for 1.

    Examples
    --------
    >>> round(logit(0.9), 6), round(logit(0.1), 6)
    (2.197225, -2.197225)
    """
    p = _numbers("probability", probability, 0.0, 1.0, "a probability from 0 to 1")
    with np.errstate(divide="ignore"):
        return _plain(np.log(p) - np.log1p(-p))


def sigmoid(log_odds: ArrayLike) -> float | NDArray[np.float64]:
    """The probability of these log odds, 1 / (1 + exp(-x)).

    Parameters
    ----------
    log_odds : float or array-like
        Any numbers, infinite ones included.

    Returns
    -------
    float or ndarray
        From 0 to 1.

    Examples
    --------
    >>> sigmoid(0.0)
    0.5
    """
    x = np.asarray(log_odds)
    if x.dtype.kind not in "iuf" or not x.size or np.isnan(x.astype(np.float64)).any():
        raise ParameterError(f"`log_odds` must be numbers, and none of them NaN; got {told(log_odds)}.")
    small = np.exp(-np.abs(x.astype(np.float64)))  # at most 1: nothing overflows
    return _plain(np.where(x >= 0, 1.0, small) / (1.0 + small))


def _numbers(name: str, value: ArrayLike, low: float, high: float, says: str) -> NDArray[np.float64]:
    """The argument as float64, each within the range."""
    array = np.asarray(value)
    if array.dtype.kind not in "iuf" or not array.size:
        raise ParameterError(f"`{name}` must be {says}; got {told(value)}.")
    numbers = array.astype(np.float64)
    good = (numbers >= low) & (numbers <= high) & np.isfinite(numbers)
    if not good.all():
        raise ParameterError(f"`{name}` must be {says}; got {numbers.flat[int(np.argmin(good))]:g}.")
    return numbers


def _whole(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """The argument as whole numbers of at least 1."""
    says = "a whole number of at least 1"
    numbers = _numbers(name, value, 1.0, 2.0**53, says)
    broken = numbers != np.floor(numbers)
    if broken.any():
        raise ParameterError(f"`{name}` must be {says}; got {numbers.flat[int(np.argmax(broken))]:g}.")
    return numbers


def _plain(values: NDArray[np.float64]) -> float | NDArray[np.float64]:
    """A float for one number, the array for several."""
    return float(values) if np.ndim(values) == 0 else values
