"""The order of many categories of many classes: along the line on which their class shares spread the most.

No order of three or more shares is exact, so this is a heuristic; but it must be the same one everywhere, so
it is written out in plain float64, term by term, in a fixed order.
"""

from __future__ import annotations

from collections.abc import Sequence

POWER_STEPS = 40


def positions(cells: Sequence[Sequence[int]]) -> list[float]:
    """Where each cell of class weights lies on the first principal axis of the shares, weighted by weight."""
    weights = [float(sum(cell)) for cell in cells]
    shares = [[float(n_c) / weight for n_c in cell] for cell, weight in zip(cells, weights, strict=True)]
    mean = _mean(shares, weights)
    away = [[p - m for p, m in zip(share, mean, strict=True)] for share in shares]
    axis = _first_axis(_spread(away, weights))
    return [_dot(axis, a) for a in away]


def _mean(shares: list[list[float]], weights: list[float]) -> list[float]:
    total, sums = 0.0, [0.0] * len(shares[0])
    for share, weight in zip(shares, weights, strict=True):
        total += weight
        sums = [s + weight * p for s, p in zip(sums, share, strict=True)]
    return [s / total for s in sums]


def _spread(away: list[list[float]], weights: list[float]) -> list[list[float]]:
    """The weighted sum of outer products: how the shares vary together."""
    size = len(away[0])
    spread = [[0.0] * size for _ in range(size)]
    for a, weight in zip(away, weights, strict=True):
        for k in range(size):
            for m in range(size):
                spread[k][m] += (weight * a[k]) * a[m]
    return spread


def _first_axis(spread: list[list[float]]) -> list[float]:
    """Power iteration from the row of the class that varies most; a fixed number of steps."""
    widest = max(range(len(spread)), key=lambda k: spread[k][k])
    axis = list(spread[widest])
    for _ in range(POWER_STEPS):
        turned = [_dot(row, axis) for row in spread]
        length = max(abs(t) for t in turned)
        if not length > 0:
            break
        axis = [t / length for t in turned]
    return axis


def _dot(a: list[float], b: list[float]) -> float:
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total
