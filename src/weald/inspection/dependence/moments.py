"""Weighted means and spreads of curves, some rows after others, and what is picked out of several outputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weald.arrays import Floats


@dataclass(frozen=True, slots=True)
class Pick:
    """One target out of what a model predicts: offset + sign * result."""

    result: int
    sign: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Curves of some targets at the points of one column, or of two."""

    mean: Floats  # (targets, points)
    squares: Floats  # (targets, points): the weighted sum of squared deviations from the mean
    individual: Floats | None  # (targets, rows, points)


class Moments:
    """Means and sums of squared deviations (targets, points), to which rows are added."""

    def __init__(self, n_targets: int, n_points: int) -> None:
        self.weight = 0.0
        self.mean = np.zeros((n_targets, n_points))
        self.squares = np.zeros((n_targets, n_points))

    def add(self, values: Floats, weight: Floats | None) -> None:
        """Some more rows, (targets, rows, points), as Chan, Golub and LeVeque put two groups together."""
        n_rows = values.shape[1]
        by_row = np.ones(n_rows) if weight is None else weight
        more = float(by_row.sum())
        if more <= 0:
            return
        scaled = by_row[:, None]
        mean = (values * scaled).sum(axis=1) / more
        squares = (np.square(values - mean[:, None]) * scaled).sum(axis=1)
        share, apart = more / (self.weight + more), mean - self.mean
        self.squares += squares + np.square(apart) * (self.weight * share)
        self.mean += apart * share
        self.weight += more

    def curves(self, individual: Floats | None) -> Curves:
        """What was found."""
        return Curves(self.mean, self.squares, individual)


def standard_error(squares: Floats, weight: Floats | None, n_rows: int) -> Floats:
    """How far the mean over rows is from that over all rows there might be: equation E4; NaN for one row."""
    if weight is None:
        total, n_effective = float(n_rows), float(n_rows)
    else:
        total = float(weight.sum())
        n_effective = total * total / float(np.square(weight).sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = squares / total / (n_effective - 1.0)
    return np.sqrt(spread) if n_effective > 1 else np.full_like(squares, np.nan)
