"""`calibration_band`: shares of positive rows against predicted probabilities, with Wilson's intervals.

Equation S8 of `docs/methods/uncertainty.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from weald.arrays import Estimator, Floats, TableLike, TargetLike, WeightLike
from weald.data.target import read_weight
from weald.errors import DataError
from weald.parameters import Choice, Whole, checked, parameter
from weald.uncertainty.bootstrap.records import checked_confidence
from weald.uncertainty.scores.areas import check_two_classes
from weald.uncertainty.scores.curve_band import CurveBand
from weald.uncertainty.scores.told import model_name, read_told


@dataclass(frozen=True, kw_only=True)
class CalibrationOptions:
    """The parameters of `calibration_band`."""

    n_bins: int = parameter(Whole(1, 10_000), hint="Use 10 bins.")
    strategy: str = parameter(
        Choice(("uniform", "quantile")), hint="Use 'quantile' for bins of as many rows each."
    )


def calibration_band(
    model: Estimator | TargetLike,
    X: TableLike | None,
    y: TargetLike,
    *,
    sample_weight: WeightLike | None = None,
    confidence: float = 0.95,
    n_bins: int = 10,
    strategy: str = "quantile",
) -> CurveBand:
    """How often the positive label comes where a model gives it some probability, with an interval per bin.

    The intervals are Wilson's for a share, which holds for few rows and shares of 0 and 1 too. With weights
    the rows of a bin count as (Σ w)² / Σ w².

    Parameters
    ----------
    model : fitted classifier, or probabilities
        Probabilities of the second label, or one for each.
    X : table, or None with probabilities
        Rows that the model did not see.
    y : array-like of shape (n_rows,)
        Their labels, of two kinds.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of rows.
    confidence : float, default=0.95
        Of each interval.
    n_bins : int, default=10
        Bins of probability; empty ones are left out.
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins of as many rows each, or as wide as each other.

    Examples
    --------
    >>> import numpy as np, weald
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(500)
    >>> band = weald.calibration_band(p, None, rng.random(500) < p, n_bins=5)
    >>> bool(((band.low < band.x) & (band.x < band.high)).all())
    True
    """
    owner = "calibration_band"
    options = checked(CalibrationOptions, owner, {"n_bins": n_bins, "strategy": strategy})
    level = checked_confidence(confidence, owner)
    stand_in, target = read_told(model, X, y, owner)
    labels = check_two_classes(target, owner)
    if not hasattr(stand_in, "predict_proba"):
        raise DataError(
            f"{owner} needs probabilities: predict_proba of a model, or numbers from 0 to 1 as predictions. "
            "Calibrate the model first."
        )
    shares = np.asarray(stand_in.answers("predict_proba"), np.float64)[:, 1]
    positive = target == labels[1]
    weight = read_weight(sample_weight, n_rows=len(target))
    weights = np.ones(len(target)) if weight is None else weight
    place = _bins(shares, options)
    n = np.bincount(place, minlength=options.n_bins)
    sums = [
        np.bincount(place, weights=part, minlength=options.n_bins)
        for part in (weights, weights * shares, weights * positive, weights**2)
    ]
    there = sums[0] > 0
    total, predicted, right, squares = (part[there] for part in sums)
    found = right / total
    low, high = wilson(found, total**2 / squares, level)
    name, label = model_name(model), str(labels[1])
    share = float(np.average(positive, weights=weight))
    x = predicted / total
    return CurveBand(
        "calibration", x, found, low, high, level, False, name, label, (x, found), share, None, n[there]
    )


def _bins(shares: Floats, options: CalibrationOptions) -> NDArray[np.int64]:
    """The bin of each row."""
    if options.strategy == "uniform":
        return np.minimum((shares * options.n_bins).astype(np.int64), options.n_bins - 1)
    inner = np.quantile(shares, np.arange(1, options.n_bins) / options.n_bins)
    return np.searchsorted(inner, shares, side="right").astype(np.int64)


def wilson(share: Floats, n: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Wilson's interval of a share of n rows.

    >>> low, high = wilson(np.array([0.0]), np.array([10.0]), 0.95)
    >>> float(low[0]), round(float(high[0]), 4)
    (0.0, 0.2775)
    """
    z = -float(ndtri((1 - confidence) / 2))
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    away = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return np.maximum(centre - away, 0.0), np.minimum(centre + away, 1.0)
