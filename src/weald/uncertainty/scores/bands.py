"""`roc_band` and `precision_recall_band`: bands from resampled rows, as numbers.

Equation S8 of `docs/methods/uncertainty.md`. `weald.pictures.bands` draws them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_curve, roc_curve

from weald.arrays import Estimator, Floats, RandomState, TableLike, TargetLike, WeightLike
from weald.data.target import read_weight
from weald.engine import RankedRows, ResamplePlan, thread_count
from weald.errors import DataError
from weald.parameters import Flag, Whole, checked, parameter
from weald.uncertainty.bootstrap.options import ResamplingOptions, drawn_seed
from weald.uncertainty.bootstrap.plans import stratified
from weald.uncertainty.bootstrap.records import checked_confidence
from weald.uncertainty.scores.areas import check_two_classes, ranked
from weald.uncertainty.scores.curve_band import CurveBand
from weald.uncertainty.scores.fast import binary_scores
from weald.uncertainty.scores.score_interval import score_interval
from weald.uncertainty.scores.told import model_name, read_told

#: counts that are in memory together: 8 MB, and as much again for sums
_CELLS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class BandOptions(ResamplingOptions):
    """The parameters of bands that are resampled."""

    n_points: int = parameter(Whole(2, 10_000), hint="Use 101 points.")
    simultaneous: bool = parameter(Flag(), hint="Use True for a band that holds the whole curve.")


def roc_band(
    model: Estimator | TargetLike,
    X: TableLike | None,
    y: TargetLike,
    *,
    sample_weight: WeightLike | None = None,
    confidence: float = 0.95,
    simultaneous: bool = False,
    n_points: int = 101,
    n_resamples: int = 2000,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> CurveBand:
    """The ROC curve of a model with a band: true positive rates at given false positive rates.

    Parameters
    ----------
    model : fitted classifier, or scores
        Scores or probabilities of the second label, or a probability for each.
    X : table, or None with scores
        Rows that the model did not see.
    y : array-like of shape (n_rows,)
        Their labels, of two kinds; the second in ascending order is the positive one.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of rows.
    confidence : float, default=0.95
        Of the band.
    simultaneous : bool, default=False
        Whether the band holds the whole curve; else it holds at every point by itself, and is narrower.
    n_points : int, default=101
        False positive rates, from 0 to 1.
    n_resamples : int, default=2000
        Resamples, drawn within the labels.
    random_state : int, RandomState or None, default=None
        The seed.
    n_jobs : int, default=None
        Threads; the band does not depend on it.

    Returns
    -------
    CurveBand
        `x`, `estimate`, `low`, `high`, and the `area` with its interval.

    Examples
    --------
    >>> import numpy as np, weald
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> band = weald.roc_band(y + rng.normal(size=200), None, y, random_state=0)
    >>> bool((band.low <= band.estimate).all()), len(band.x)
    (True, 101)
    """
    options = checked(
        BandOptions, "roc_band", _band_values(n_points, simultaneous, n_resamples, random_state, n_jobs)
    )
    return _resampled_band("roc", model, X, y, sample_weight, confidence, options)


def precision_recall_band(
    model: Estimator | TargetLike,
    X: TableLike | None,
    y: TargetLike,
    *,
    sample_weight: WeightLike | None = None,
    confidence: float = 0.95,
    simultaneous: bool = False,
    n_points: int = 101,
    n_resamples: int = 2000,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> CurveBand:
    """The precision–recall curve of a model with a band: precisions at given recalls.

    A precision at a recall is that of the highest threshold that reaches it, as in the average precision.

    Parameters
    ----------
    model, X, y, sample_weight, confidence, simultaneous, n_points, n_resamples, random_state, n_jobs
        As in `roc_band`.

    Returns
    -------
    CurveBand
        With recalls as `x`, precisions as `estimate`, and the average precision as `area`.

    Examples
    --------
    >>> import numpy as np, weald
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> band = weald.precision_recall_band(y + rng.normal(size=200), None, y, random_state=0)
    >>> band.area.metric
    'average_precision'
    """
    owner = "precision_recall_band"
    values = _band_values(n_points, simultaneous, n_resamples, random_state, n_jobs)
    options = checked(BandOptions, owner, values)
    return _resampled_band("precision_recall", model, X, y, sample_weight, confidence, options)


def _band_values(
    n_points: int, simultaneous: bool, n_resamples: int, random_state: RandomState, n_jobs: int | None
) -> dict[str, object]:
    return {
        "n_points": n_points,
        "simultaneous": simultaneous,
        "n_resamples": n_resamples,
        "random_state": random_state,
        "n_jobs": n_jobs,
    }


def _resampled_band(
    kind: Literal["roc", "precision_recall"],
    model: Estimator | TargetLike,
    X: TableLike | None,
    y: TargetLike,
    sample_weight: WeightLike | None,
    confidence: float,
    options: BandOptions,
) -> CurveBand:
    owner = f"{kind}_band"
    level = checked_confidence(confidence, owner)
    scores, labels, target = _two_classes(model, X, y, owner)
    positive = target == labels[1]
    weight = read_weight(sample_weight, n_rows=len(target))
    rows = ranked(scores, positive, weight)
    grid = np.linspace(0, 1, options.n_points)
    seed, n_threads = drawn_seed(options.random_state), thread_count(options.n_jobs)
    plan = stratified(positive.astype(np.int32))
    read = _roc_at if kind == "roc" else _precision_at
    drawn = np.concatenate(
        [
            np.stack([read(a, b, grid) for a, b in zip(*_masses(rows, counts), strict=True)])
            for counts in _count_blocks(plan, rows, seed, options.n_resamples, n_threads)
        ]
    )
    negative, positives = _masses(rows, np.ones((1, len(target)), np.int64))
    estimate = read(negative[0], positives[0], grid)
    low, high = _band(estimate, drawn, level, int(positive.sum()) if options.simultaneous else None)
    area = score_interval(
        scores,
        None,
        positive.astype(np.int64),
        "roc_auc" if kind == "roc" else "average_precision",
        sample_weight=sample_weight,
        confidence=level,
        n_resamples=options.n_resamples,
        random_state=seed,
        n_jobs=options.n_jobs,
    )
    make = roc_curve if kind == "roc" else precision_recall_curve
    first, second, _ = make(target, scores, pos_label=labels[1], sample_weight=weight)
    curve = (first, second) if kind == "roc" else (second, first)
    share = float(np.average(positive, weights=weight))
    name, label = model_name(model), str(labels[1])
    return CurveBand(
        kind, grid, estimate, low, high, level, options.simultaneous, name, label, curve, share, area
    )


def _two_classes(
    model: object, X: TableLike | None, y: TargetLike, owner: str
) -> tuple[Floats, NDArray[np.object_], NDArray[np.object_]]:
    """Scores, the two labels and the labels of rows."""
    stand_in, target = read_told(model, X, y, owner)
    labels = check_two_classes(target, owner)
    scores = binary_scores(stand_in)
    if scores is None or not np.isfinite(scores).all():
        raise DataError(
            f"{owner} needs a finite score for each row: decision_function or predict_proba of a model, or "
            "numbers as predictions."
        )
    return scores, labels, target


def _count_blocks(
    plan: ResamplePlan, rows: RankedRows, seed: int, n_resamples: int, n_threads: int
) -> Iterator[NDArray[np.int32]]:
    """How often each resample has the row at each place, some resamples at a time."""
    slot = np.empty(plan.n, np.int32)
    slot[rows.order] = np.arange(plan.n, dtype=np.int32)
    together = max(1, _CELLS // plan.n)
    for first in range(0, n_resamples, together):
        last = min(n_resamples, first + together)
        yield plan.counts(slot, plan.n, seed, first, last, n_threads=n_threads)


def _masses(rows: RankedRows, counts: NDArray[np.int32] | NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The weight of negative and of positive rows up to each step: (resamples, steps)."""
    weighted = counts * rows.weight
    ends = np.flatnonzero(rows.last)
    positive = np.cumsum(np.where(rows.positive > 0, weighted, 0.0), axis=1)[:, ends]
    negative = np.cumsum(np.where(rows.positive > 0, 0.0, weighted), axis=1)[:, ends]
    return negative, positive


def _roc_at(negative: Floats, positive: Floats, grid: Floats) -> Floats:
    """The true positive rate at each false positive rate: the upper end of a rise, straight between steps."""
    across = np.concatenate([[0.0], negative / negative[-1]])
    up = np.concatenate([[0.0], positive / positive[-1]])
    left = np.clip(np.searchsorted(across, grid, side="right") - 1, 0, len(across) - 1)
    right = np.minimum(left + 1, len(across) - 1)
    width = across[right] - across[left]
    share = np.where(width > 0, (grid - across[left]) / np.where(width > 0, width, 1.0), 0.0)
    found: Floats = up[left] + share * (up[right] - up[left])
    return found


def _precision_at(negative: Floats, positive: Floats, grid: Floats) -> Floats:
    """The precision at the highest threshold whose recall reaches each of the grid's."""
    said = positive + negative
    known = said > 0
    recall, precision = positive[known] / positive[-1], positive[known] / said[known]
    # Sums of weights leave a recall of 1 a little below it; at 0 the first positive row counts.
    at = np.searchsorted(recall, np.maximum(grid - 1e-12, 1e-12), side="left")
    found: Floats = precision[np.minimum(at, len(precision) - 1)]
    return found


def _band(estimate: Floats, drawn: Floats, level: float, n_positive: int | None) -> tuple[Floats, Floats]:
    """Quantiles at every point, or as many standard errors everywhere as hold whole curves.

    Where hardly a resample differs, as at rates of nearly 0 and 1, the error of a share of so many rows
    stands in: else the band would have no width there and hold no curve.
    """
    if n_positive is None:
        low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return np.minimum(low, estimate), np.maximum(high, estimate)
    share = (n_positive * estimate + 2) / (n_positive + 4)
    error = np.maximum(drawn.std(axis=0, ddof=1), np.sqrt(share * (1 - share) / (n_positive + 4)))
    farthest = np.max(np.abs(drawn - estimate) / error, axis=1)
    away = np.quantile(farthest, level) * error
    return np.clip(estimate - away, 0, 1), np.clip(estimate + away, 0, 1)
