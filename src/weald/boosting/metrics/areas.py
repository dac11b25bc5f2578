"""Areas under curves: ROC and precision–recall, of two classes, of several, and of the queries of a ranking.

A curve joins the points (false positives, true positives), counted in weight, that one meets while the
threshold falls; rows of equal prediction are passed together, so ties count half in the ROC area.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.boosting.records import BoostTarget
from weald.errors import DataError


def auc(predictions: Floats, target: BoostTarget) -> float:
    """Area under the ROC curve; NaN where a class is absent.

    Several classes: each against the rest, averaged by the classes' weight. Ranking: the share of pairs in
    the right order, averaged over the queries of three rows and more.
    """
    if target.group_start is not None:
        ranking_metrics = import_module("weald.boosting.metrics.ranking")  # late: only rankings need it
        p, y = predictions.reshape(-1), target.values.reshape(-1)
        return float(ranking_metrics.auc_by_group(p, y, target.group_start))
    if predictions.ndim == 2 and predictions.shape[1] > 1:
        area, positive = _one_against_rest("auc", _roc, predictions, target)
        return float(np.sum(area * positive) / np.sum(positive)) if np.sum(positive) > 0 else float("nan")
    _check_one_target("auc", predictions, target)
    return _roc(predictions.reshape(-1), target.values.reshape(-1), target.weight)


def aucpr(predictions: Floats, target: BoostTarget) -> float:
    """Area under the precision–recall curve; NaN where a class is absent.

    Between two points the curve is the one that any threshold between them gives on average. Several
    classes: each against the rest, the plain mean. Ranking: the mean over queries that hold both.
    """
    if target.group_start is not None:
        _check_relevance(target.values)
        return _mean_of_queries(predictions, target, target.group_start)
    if predictions.ndim == 2 and predictions.shape[1] > 1:
        return float(np.mean(_one_against_rest("aucpr", _precision_recall, predictions, target)[0]))
    _check_one_target("aucpr", predictions, target)
    return _precision_recall(predictions.reshape(-1), target.values.reshape(-1), target.weight)


def _curve(p: Floats, y: Floats, weight: Floats | None) -> tuple[Floats, Floats]:
    """False and true positives, in weight, after each distinct prediction, the largest first."""
    order = np.ascontiguousarray(np.argsort(p)[::-1])
    falling = np.take(p, order)  # half the time of p[order]
    last = np.flatnonzero(np.append(falling[1:] != falling[:-1], True))
    y = np.take(y, order)
    if weight is None:
        true = np.cumsum(y)[last]
        return last + 1.0 - true, true
    weight = np.take(weight, order)
    return np.cumsum((1.0 - y) * weight)[last], np.cumsum(y * weight)[last]


def _roc(p: Floats, y: Floats, weight: Floats | None) -> float:
    false, true = _curve(p, y, weight)
    if false[-1] <= 0.0 or true[-1] <= 0.0:
        return float("nan")
    before = np.append(0.0, true[:-1])
    return float(np.sum(np.diff(false, prepend=0.0) * (before + true)) / 2.0 / (false[-1] * true[-1]))


def _precision_recall(p: Floats, y: Floats, weight: Floats | None) -> float:
    """Between two points false positives grow linearly with true ones: precision t / (t + f(t)), integrated.

    With f(t) = f₀ + h (t − t₀) the integral over t is (Δt − (f₀ − h t₀) / (1 + h) · log(n₁ / n₀)) / (1 + h),
    where n = t + f is what has been passed.
    """
    false, true = _curve(p, y, weight)
    if false[-1] <= 0.0 or true[-1] <= 0.0:
        return float("nan")
    false_before, true_before = np.append(0.0, false[:-1]), np.append(0.0, true[:-1])
    rises = true > true_before  # elsewhere recall stands still
    f0, t0, f1, t1 = false_before[rises], true_before[rises], false[rises], true[rises]
    h = (f1 - f0) / (t1 - t0)
    intercept = f0 - h * t0
    passed = np.where(intercept != 0.0, t0 + f0, t1 + f1)  # 0 at the first point, where there is no logarithm
    area = (t1 - t0 - intercept / (1.0 + h) * np.log((t1 + f1) / passed)) / (1.0 + h)
    return float(np.sum(area) / true[-1])


def _one_against_rest(
    name: str,
    area: Callable[[Floats, Floats, Floats | None], float],
    predictions: Floats,
    target: BoostTarget,
) -> tuple[Floats, Floats]:
    """Each class's area against the rest, and its weight."""
    if target.values.size != len(predictions):
        raise DataError(
            f"`{name}` takes one target; this one has {target.values.shape[1]}. Use 'logloss' or 'error'."
        )
    label = target.values.reshape(-1)
    areas, positives = [], []
    for k in range(predictions.shape[1]):
        y = (label == k).astype(np.float64)
        areas.append(area(np.ascontiguousarray(predictions[:, k]), y, target.weight))
        positives.append(np.sum(y if target.weight is None else y * target.weight))
    return np.array(areas), np.array(positives)


def _mean_of_queries(predictions: Floats, target: BoostTarget, start: NDArray[np.int64]) -> float:
    """The plain mean over the queries that have an area; as in xgboost their weights do not count."""
    p, y = predictions.reshape(-1), target.values.reshape(-1)
    areas = np.array([_precision_recall(p[a:b], y[a:b], None) for a, b in pairwise(start) if b > a])
    known = areas[~np.isnan(areas)]
    return float(np.mean(known)) if len(known) else float("nan")


def _check_one_target(name: str, predictions: Floats, target: BoostTarget) -> None:
    if predictions.size != target.values.size:
        raise DataError(
            f"`{name}` compares one prediction with each target; the predictions have shape "
            f"{predictions.shape} and the target {target.values.shape}."
        )


def _check_relevance(relevance: Floats) -> None:
    outside = np.flatnonzero((relevance < 0.0) | (relevance > 1.0))
    if len(outside):
        raise DataError(
            f"`aucpr` of a ranking needs relevances from 0 to 1; row {outside[0]} has "
            f"{relevance.reshape(-1)[outside[0]]}. Use 'ndcg', or relevances 0 and 1."
        )
