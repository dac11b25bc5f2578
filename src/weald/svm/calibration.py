"""Probabilities for machines that have none: a sigmoid or a rising step function of held-out decision values.

A machine says how far a row lies from its boundary, not how likely a class is there. Rows that the machine
has not seen tell: of all held-out rows with a value near f, how many were of the positive class? Platt's
sigmoid answers by 1 / (1 + exp(a f + b)); isotonic regression by the best rising function.
docs/methods/svm_probabilities.md has the equations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.svm.votes import pairs

#: probabilities of pairs stay this far from 0 and 1, so that coupling can divide by them
LEAST = 1e-7
#: how much strictly rising function is mixed in, so that order never gets lost (equation C4)
_TILT = 1e-6
_SMALLEST = 1e-12
#: numbers that coupling holds at once
_BLOCK = 1 << 21
_NEWTON_STEPS = 100


@dataclass(frozen=True, slots=True)
class Sigmoid:
    """Platt's sigmoid (equation C1): the probability of the positive class is 1 / (1 + exp(a f + b))."""

    a: float
    b: float

    def log_odds(self, values: Floats) -> Floats:
        """The logarithm of p / (1 - p)."""
        return -(self.a * values + self.b)


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """A rising function (equation C3): straight lines between these points, level beyond them."""

    values: Floats  # ascending
    shares: Floats  # rising, within (0, 1)

    def log_odds(self, values: Floats) -> Floats:
        """The logarithm of p / (1 - p)."""
        share = np.interp(values, self.values, self.shares)
        return np.log(share) - np.log1p(-share)


Calibrator: TypeAlias = Sigmoid | Steps


def fit_sigmoid(values: Floats, positive: NDArray[np.bool_], weight: Floats) -> Sigmoid:
    """Platt's sigmoid by Newton's method with a line search, as Lin, Lin and Weng (2007) advise.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Decision values of rows that the machine has not seen.
    positive : ndarray of bool
        Whether the row is of the positive class.
    weight : ndarray
        Weights of the rows; both classes have some.
    """
    above, below, target = _targets(positive, weight)
    scale = float(np.abs(values).max()) or 1.0  # so that the two parameters are of one size
    x = values / scale
    a, b = 0.0, math.log((below + 1) / (above + 1))
    loss = _sigmoid_loss(a, b, x, target, weight)
    for _ in range(_NEWTON_STEPS):
        z = a * x + b
        p = _logistic(-z)
        slope = weight * (target - p)
        curve = weight * p * (1 - p)
        g1, g2 = float(slope @ x), float(slope.sum())
        if max(abs(g1), abs(g2)) < 1e-9 * (above + below):
            break
        h11, h12, h22 = float(curve @ (x * x)) + 1e-12, float(curve @ x), float(curve.sum()) + 1e-12
        determinant = h11 * h22 - h12 * h12
        da, db = -(h22 * g1 - h12 * g2) / determinant, -(h11 * g2 - h12 * g1) / determinant
        descent, step = g1 * da + g2 * db, 1.0
        while step >= 1e-10:
            tried = _sigmoid_loss(a + step * da, b + step * db, x, target, weight)
            if tried < loss + 1e-4 * step * descent:
                break
            step /= 2
        else:
            break
        a, b, loss = a + step * da, b + step * db, tried
    # A machine that speaks against the truth knows nothing: level, instead of the wrong way round.
    if a > 0:
        a, b = 0.0, math.log((below + 1) / (above + 1))
    return Sigmoid(a / scale, b)


def _targets(positive: NDArray[np.bool_], weight: Floats) -> tuple[float, float, Floats]:
    """The weights of the two classes, and Platt's targets (equation C2).

    These are a little short of 1 and 0, as if one more row of each class were there.
    """
    above, below = float(weight[positive].sum()), float(weight[~positive].sum())
    return above, below, np.where(positive, (above + 1) / (above + 2), 1 / (below + 2))


def _sigmoid_loss(a: float, b: float, x: Floats, target: Floats, weight: Floats) -> float:
    """Cross entropy, in the form that never overflows."""
    z = a * x + b
    return float(weight @ (target * z + np.logaddexp(0, -z)))


def _logistic(z: Floats) -> Floats:
    with np.errstate(over="ignore"):
        found: Floats = 1 / (1 + np.exp(-z))
    return found


def fit_steps(values: Floats, positive: NDArray[np.bool_], weight: Floats) -> Steps:
    """The rising function of least squared error: neighbours that fall are pooled until none do."""
    order = np.argsort(values, kind="stable")
    x, first = np.unique(values[order], return_index=True)
    mass = np.add.reduceat(weight[order], first)
    hits = np.add.reduceat((weight * _targets(positive, weight)[2])[order], first)
    start: list[int] = []
    pooled_mass: list[float] = []
    pooled_hits: list[float] = []
    for k, (m, h) in enumerate(zip(mass.tolist(), hits.tolist(), strict=True)):
        begin = k
        while pooled_mass and pooled_hits[-1] * m >= h * pooled_mass[-1]:
            m, h, begin = m + pooled_mass.pop(), h + pooled_hits.pop(), start.pop()
        start.append(begin)
        pooled_mass.append(m)
        pooled_hits.append(h)
    share = np.clip(np.array(pooled_hits) / np.array(pooled_mass), LEAST, 1 - LEAST)
    # Both ends of every pool, one point where they are the same.
    at = np.stack([np.array(start), np.array([*start[1:], len(x)]) - 1], axis=1).reshape(-1)
    keep = np.append(True, np.diff(at) > 0)
    return Steps(x[at[keep]], np.repeat(share, 2)[keep])


# --------------------------------------------------------------------------- from machines to classes


def probabilities_of_two(log_odds: Floats, decisions: Floats) -> Floats:
    """Two classes: (n_rows, 2), the larger one on the side that the machine decides for (equation C4)."""
    tilt = _TILT * decisions / (1 + np.abs(decisions))
    # A value of 0 is the second class's, and values next to 0 must not round to a tie.
    tilted = np.where(
        decisions >= 0,
        np.maximum(np.maximum(log_odds, 0) + tilt, _SMALLEST),
        np.minimum(np.minimum(log_odds, 0) + tilt, -_SMALLEST),
    )
    return np.stack([_logistic(-tilted), _logistic(tilted)], axis=1)


def couple(log_odds: Floats, n_classes: int) -> Floats:
    """One distribution from those of all pairs: Wu, Lin and Weng (2004), second method (equation C5).

    Parameters
    ----------
    log_odds : ndarray of shape (n_rows, n_pairs)
        Of the first class against the second.
    n_classes : int
        How many classes.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        They add up to 1.
    """
    size = max(1, _BLOCK // (n_classes + 1) ** 2)
    blocks = [_coupled(log_odds[k : k + size], n_classes) for k in range(0, max(len(log_odds), 1), size)]
    return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)


def _coupled(log_odds: Floats, n_classes: int) -> Floats:
    n_rows = len(log_odds)
    r = np.zeros((n_rows, n_classes, n_classes))
    for k, (i, j) in enumerate(pairs(n_classes)):
        r[:, i, j] = np.clip(_logistic(log_odds[:, k]), LEAST, 1 - LEAST)
        r[:, j, i] = 1 - r[:, i, j]
    # Minimise Σ (r_ji p_i - r_ij p_j)² over distributions: the linear system of its Lagrangian.
    system = np.zeros((n_rows, n_classes + 1, n_classes + 1))
    system[:, :-1, :-1] = -r * r.transpose(0, 2, 1)
    diagonal = np.arange(n_classes)
    system[:, diagonal, diagonal] = (r * r).sum(axis=1)
    system[:, -1, :-1] = system[:, :-1, -1] = 1
    right = np.zeros((n_rows, n_classes + 1, 1))
    right[:, -1] = 1
    found = np.clip(np.linalg.solve(system, right)[:, :-1, 0], 0, None)
    shares: Floats = found / found.sum(axis=1, keepdims=True)
    return shares


def normalise(log_odds: Floats) -> Floats:
    """One against the rest: each class's own probability, divided by their sum (equation C6)."""
    own = np.clip(_logistic(log_odds), LEAST, 1 - LEAST)
    shares: Floats = own / own.sum(axis=1, keepdims=True)
    return shares


def agreeing_with(shares: Floats, labels: NDArray[np.intp]) -> Floats:
    """The distributions nearest to `shares` in which the class of `labels` is the largest (equation C7).

    Classes that are likelier than the label are brought down, and the label up, to their common mean. A tilt
    of a millionth to the label decides ties.
    """
    rows = np.arange(len(shares))
    own = shares[rows, labels]
    others = shares.copy()
    others[rows, labels] = -np.inf
    others = np.sort(others, axis=1)[:, ::-1]
    level, total = own.copy(), own.copy()
    for k in range(shares.shape[1] - 1):
        higher = others[:, k] > level
        if not higher.any():
            break
        total = np.where(higher, total + others[:, k], total)
        level = np.where(higher, total / (k + 2), level)
    found = np.minimum(shares, level[:, None])
    found[rows, labels] = level
    found *= 1 - _TILT
    found[rows, labels] += _TILT
    return found
