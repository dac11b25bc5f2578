"""Scores that follow from sums or counts of rows: thousands of resamples take no longer than one call.

A way that does not give what scikit-learn's scorer gives on all rows is not taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.errors import WealdError
from weald.uncertainty.scores.areas import ranked
from weald.uncertainty.scores.evaluators import ByCells, ByCounts, ByRanks, ByScorer, BySums, Evaluator
from weald.uncertainty.scores.told import Labelled, Told, is_discrete

#: labels up to which pairs of true and predicted ones are counted
_MOST_LABELS = 20
#: names of functions that are the same as scorers
_FUNCTIONS = {
    "accuracy_score": "accuracy",
    "balanced_accuracy_score": "balanced_accuracy",
    "matthews_corrcoef": "matthews_corrcoef",
    "roc_auc_score": "roc_auc",
    "average_precision_score": "average_precision",
    "log_loss": "log_loss",
    "brier_score_loss": "brier_score",
    "mean_squared_error": "mean_squared_error",
    "root_mean_squared_error": "root_mean_squared_error",
    "mean_absolute_error": "mean_absolute_error",
    "r2_score": "r2",
    "f1_score": "f1",
    "precision_score": "precision",
    "recall_score": "recall",
}


def evaluator_of(
    name: str,
    scorer: Callable[..., float],
    model: Told,
    y: NDArray[Any],
    weight: Floats | None,
    n_jobs: int | None,
) -> Evaluator:
    """The fastest way that gives scikit-learn's own score on all rows."""
    plain = ByScorer(scorer, model, y, weight, n_jobs)
    truth = plain.value()
    labels_alone = model.asked == {"predict"}
    quick = quick_evaluator(name, model, y, weight)
    if quick is not None and math.isclose(truth, quick.value(), rel_tol=1e-9, abs_tol=1e-12):
        return quick
    by_kind = labels_alone and weight is None and is_discrete(y)
    cells = _cells(scorer, model, y, truth) if by_kind else None
    return plain if cells is None else cells


def quick_evaluator(name: str, model: Told, y: NDArray[Any], weight: Floats | None) -> Evaluator | None:
    """By the name of the metric, where the model answers what it takes; nobody has asked scikit-learn."""
    name = _FUNCTIONS.get(name, name)
    sign = -1.0 if name.startswith("neg_") else 1.0
    name = name.removeprefix("neg_")
    if y.ndim != 1:
        return None
    if name in _OF_ERRORS and y.dtype.kind in "fiub":
        return _of_errors(name, sign, model, y, weight)
    if not is_discrete(y):
        return None
    base = name.partition("_")[0]
    if name in ("accuracy", "balanced_accuracy", "matthews_corrcoef") or base in _RATIOS:
        return _of_pairs(name, model, y, weight)
    labels = np.unique(y)
    if name in ("roc_auc", "average_precision") and len(labels) == 2:
        scores = binary_scores(model)
        if scores is None or not np.isfinite(scores).all():
            return None
        rows = ranked(scores, y == labels[1], weight)
        return ByRanks(rows, "roc" if name == "roc_auc" else "precision")
    if name in ("log_loss", "brier_score") and hasattr(model, "predict_proba"):
        return _of_probabilities(name, sign, model, y, weight)
    return None


def _cells(scorer: Callable[..., float], model: Told, y: NDArray[Any], truth: float) -> ByCells | None:
    """By kinds of rows, if the scorer, which asks for labels alone, takes weights for repeated rows."""
    said = np.asarray(model.answers("predict"))
    if said.shape != y.shape:
        return None
    labels, own = np.unique(y, return_inverse=True)
    names, other = np.unique(said, return_inverse=True)
    if len(names) > len(labels) + _MOST_LABELS or len(labels) > _MOST_LABELS:
        return None
    pairs, slot = np.unique(own * len(names) + other, return_inverse=True)
    kinds = Told(Labelled(names[pairs % len(names)], getattr(model, "classes_", labels)), None)
    found = ByCells(scorer, kinds, labels[pairs // len(names)], slot.astype(np.int32))
    try:
        same = math.isclose(truth, found.value(), rel_tol=1e-9, abs_tol=1e-12)
    except (WealdError, ValueError, TypeError, AttributeError):
        return None  # it takes no weights
    return found if same else None


def binary_scores(model: Told) -> Floats | None:
    """What ranks rows by how likely the second label is, as scikit-learn's scorers take it."""
    for response in ("decision_function", "predict_proba"):
        if hasattr(model, response):
            values = np.asarray(model.answers(response), np.float64)
            if values.ndim == 1:
                return values
            return values[:, 1] if values.ndim == 2 and values.shape[1] == 2 else None
    return None


# --------------------------------------------------------------------------- numbers


def _mean(sign: float, sums: Floats) -> Floats:
    return sign * sums[:, 0] / sums[:, 1]


def _root(sign: float, sums: Floats) -> Floats:
    found: Floats = sign * np.sqrt(np.maximum(sums[:, 0], 0) / sums[:, 1])
    return found


def _r2(sign: float, sums: Floats) -> Floats:
    total = sums[:, 3] - sums[:, 2] ** 2 / sums[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(total > 0, 1 - sums[:, 0] / total, np.nan)
    return found


_OF_ERRORS: dict[str, Callable[[float, Floats], Floats]] = {
    "mean_squared_error": _mean,
    "root_mean_squared_error": _root,
    "mean_absolute_error": _mean,
    "r2": _r2,
}


def _of_errors(name: str, sign: float, model: Told, y: NDArray[Any], weight: Floats | None) -> BySums | None:
    said = np.asarray(model.answers("predict"))
    if said.shape != y.shape or said.dtype.kind not in "fiub":
        return None
    error = y.astype(np.float64) - said
    loss = np.abs(error) if name == "mean_absolute_error" else error * error
    weights = np.ones(len(y)) if weight is None else weight
    columns = [weights * loss, weights]
    if name == "r2":
        away = y - np.average(y, weights=weight)
        columns += [weights * away, weights * away * away]
    return BySums(np.ascontiguousarray(np.stack(columns, axis=1)), partial(_OF_ERRORS[name], sign))


# --------------------------------------------------------------------------- probabilities


def _of_probabilities(
    name: str, sign: float, model: Told, y: NDArray[Any], weight: Floats | None
) -> BySums | None:
    shares = np.asarray(model.answers("predict_proba"), np.float64)
    labels = model.classes_
    if shares.ndim != 2 or shares.shape[1] != len(labels) or not np.isin(y, labels).all():
        return None
    place = np.searchsorted(labels, y)
    own = shares[np.arange(len(y)), place]
    if name == "log_loss":
        tiny = np.finfo(shares.dtype).eps
        loss = -np.log(np.clip(own, tiny, 1 - tiny))
    elif len(labels) == 2:
        loss = (1 - own) ** 2
    else:
        loss = (shares**2).sum(axis=1) - 2 * own + 1
    weights = np.ones(len(y)) if weight is None else weight
    columns = np.stack([weights * loss, weights], axis=1)
    return BySums(np.ascontiguousarray(columns), partial(_mean, sign))


# --------------------------------------------------------------------------- labels


def _of_pairs(name: str, model: Told, y: NDArray[Any], weight: Floats | None) -> Evaluator | None:
    """By how often each label was predicted for each."""
    said = np.asarray(model.answers("predict"))
    if said.shape != y.shape:
        return None
    labels = np.unique(np.concatenate([np.unique(y), np.unique(said)]))
    k = len(labels)
    if k > _MOST_LABELS:
        return _of_hits(name, labels, said, y) if weight is None else None
    slot = (np.searchsorted(labels, y) * k + np.searchsorted(labels, said)).astype(np.int32)
    base, _, average = name.partition("_")
    if name == "accuracy":
        finish = _accuracy
    elif name == "balanced_accuracy":
        finish = _balanced
    elif name == "matthews_corrcoef":
        finish = _matthews
    else:
        if average not in ("", "macro", "micro", "weighted") or (average == "" and k != 2):
            return None
        finish = partial(_ratio, kind=base, average=average)
    if weight is None:
        return ByCounts(slot, k * k, lambda counts: finish(counts.reshape(-1, k, k).astype(np.float64)))
    columns = np.zeros((len(y), k * k))
    columns[np.arange(len(y)), slot] = weight
    return BySums(columns, lambda sums: finish(sums.reshape(-1, k, k)))


def _of_hits(name: str, labels: NDArray[Any], said: NDArray[Any], y: NDArray[Any]) -> Evaluator | None:
    """By how often each label was right and wrong, which is all that some metrics ask of many labels."""
    if name not in ("accuracy", "balanced_accuracy"):
        return None
    k = len(labels)
    slot = (2 * np.searchsorted(labels, y) + (said == y)).astype(np.int32)

    def finish(counts: NDArray[Any]) -> Floats:
        hits: Floats = counts.reshape(-1, k, 2).astype(np.float64)
        own, right = hits.sum(axis=2), hits[:, :, 1]
        if name == "accuracy":
            return np.asarray(right.sum(axis=1) / own.sum(axis=1))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.nanmean(np.where(own > 0, right / own, np.nan), axis=1))

    return ByCounts(slot, 2 * k, finish)


def _accuracy(table: Floats) -> Floats:
    found: Floats = np.trace(table, axis1=1, axis2=2) / table.sum(axis=(1, 2))
    return found


def _balanced(table: Floats) -> Floats:
    """The mean recall of the labels that are there."""
    own, right = table.sum(axis=2), np.diagonal(table, axis1=1, axis2=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.nanmean(np.where(own > 0, right / own, np.nan), axis=1)
    return found


def _matthews(table: Floats) -> Floats:
    own, said, total = table.sum(axis=2), table.sum(axis=1), table.sum(axis=(1, 2))
    right = np.trace(table, axis1=1, axis2=2)
    top = right * total - (own * said).sum(axis=1)
    bottom = (total**2 - (own**2).sum(axis=1)) * (total**2 - (said**2).sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(bottom > 0, top / np.sqrt(bottom), 0.0)
    return found


_RATIOS = ("f1", "precision", "recall", "jaccard")


def _ratio(table: Floats, *, kind: str, average: str) -> Floats:
    """Precision, recall, F1 and Jaccard: 0 where nothing is to be divided by."""
    right = np.diagonal(table, axis1=1, axis2=2)
    own, said = table.sum(axis=2), table.sum(axis=1)
    if average == "micro":
        right, own, said = (part.sum(axis=1, keepdims=True) for part in (right, own, said))
    bottom = {"precision": said, "recall": own, "f1": (own + said) / 2, "jaccard": own + said - right}[kind]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(bottom > 0, right / bottom, 0.0)
    if average == "":
        return ratios[:, 1]
    there = own + said > 0  # scikit-learn knows only labels that some row has or was given
    found = ratios[:, 0]
    if average == "macro":
        found = np.where(there, ratios, 0.0).sum(axis=1) / there.sum(axis=1)
    elif average == "weighted":
        found = (ratios * own).sum(axis=1) / own.sum(axis=1)
    return found
