"""What a classifier says: which labels are taken for which, calibration, curves, thresholds."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from weald.arrays import Flags, Floats
from weald.errors import UncertaintyWarning
from weald.report.records import (
    Calibration,
    Classes,
    Curve,
    LabelScore,
    Threshold,
    Thresholds,
    Values,
)
from weald.report.subject import Subject
from weald.uncertainty.scores.bands import precision_recall_band, roc_band
from weald.uncertainty.scores.calibration import calibration_band, wilson
from weald.uncertainty.scores.curve_band import CurveBand

_BINS, _POINTS, _RESAMPLES, _THRESHOLDS = 10, 51, 500, 101
#: labels that have a line and a column of their own
MOST_LABELS = 20


def classes_of(subject: Subject) -> Classes:
    """What can be told of what the model says."""
    truth = subject.rows.y
    notes: list[str] = []
    shown, counts = _confusion(subject, truth)
    roc = precision_recall = thresholds = None
    both = len(np.unique(truth)) == 2
    if subject.two_labels and not both:
        notes.append("All rows have one label: there are no curves.")
    if subject.scores is not None and both:
        name, scores = subject.scores
        positive = truth == subject.labels[1]
        options: dict[str, Any] = {
            "n_points": _POINTS,
            "n_resamples": _RESAMPLES,
            "random_state": subject.seed,
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UncertaintyWarning)  # a perfect area has no spread
            roc = _curve(roc_band(scores, None, positive, **options))
            precision_recall = _curve(precision_recall_band(scores, None, positive, **options))
        thresholds = _thresholds(name, scores, positive)
    if subject.labels.size > 2:
        notes.append("ROC curves and thresholds are of two labels; this model tells more apart.")
    if subject.shares is None:
        notes.append("The model gives no probabilities: there is no calibration.")
    return Classes(
        str(subject.labels[1]) if subject.two_labels else None,
        shown,
        counts,
        _by_label(subject, truth),
        _calibration(subject, truth),
        roc,
        precision_recall,
        thresholds,
        tuple(notes),
    )


def _confusion(subject: Subject, truth: NDArray[Any]) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """Counts of truths (rows) by predictions (columns); of many labels the commonest, the others together."""
    labels = subject.labels
    n = len(labels)
    at, said = _place(labels, truth), _place(labels, subject.said)
    order = np.arange(n)
    if n > MOST_LABELS:
        common = np.argsort(-np.bincount(at, minlength=n), kind="stable")[: MOST_LABELS - 1]
        order = np.sort(common)
    place = np.full(n, len(order))
    place[order] = np.arange(len(order))
    names = [str(labels[k]) for k in order.tolist()]
    if len(order) < n:
        names.append(f"{n - len(order)} others")
    cells = np.zeros((len(names), len(names)), np.int64)
    np.add.at(cells, (place[at], place[said]), 1)
    return tuple(names), tuple(tuple(row) for row in cells.tolist())


def _place(labels: NDArray[Any], values: NDArray[Any]) -> NDArray[np.int64]:
    place = {label: k for k, label in enumerate(labels.tolist())}
    return np.array([place[value] for value in values.tolist()], np.int64)


def _by_label(subject: Subject, truth: NDArray[Any]) -> tuple[LabelScore, ...]:
    """The commonest labels, each with the share found and the share right among those said."""
    labels, said = subject.labels, subject.said
    counts = np.array([(truth == label).sum() for label in labels])
    found = []
    for k in sorted(np.argsort(-counts, kind="stable")[:MOST_LABELS].tolist()):
        mine, theirs = truth == labels[k], said == labels[k]
        right, n, m = int((mine & theirs).sum()), int(mine.sum()), int(theirs.sum())
        found.append(LabelScore(str(labels[k]), n, m, *_share(right, n), *_share(right, m)))
    return tuple(found)


def _share(right: int, n: int) -> tuple[float, float, float]:
    if n == 0:
        return float("nan"), float("nan"), float("nan")
    low, high = wilson(np.array([right / n]), np.array([float(n)]), 0.95)
    return right / n, float(low[0]), float(high[0])


def _calibration(subject: Subject, truth: NDArray[Any]) -> Calibration | None:
    """Of two labels the second's probabilities; of more those of the likeliest label."""
    if subject.shares is None:
        return None
    if subject.two_labels:
        shares, came = subject.shares[:, 1], truth == subject.labels[1]
        of = f"“{subject.labels[1]}”"
    else:
        shares = subject.shares.max(axis=1)
        came = truth == subject.labels[subject.shares.argmax(axis=1)]
        of = "the likeliest label"
    shares = np.clip(shares, 0.0, 1.0)
    if came.all() or not came.any():
        return None
    band = calibration_band(shares, None, came, n_bins=_BINS)
    assert band.n_in_bin is not None
    error = float(np.average(np.abs(band.estimate - band.x), weights=band.n_in_bin))
    return Calibration(
        of,
        floats(band.x),
        floats(band.estimate),
        floats(band.low),
        floats(band.high),
        tuple(int(n) for n in band.n_in_bin),
        error,
        calibration_p(shares, came),
    )


def calibration_p(shares: Floats, came: Flags) -> float:
    """The p-value of two tests together that probabilities are what they say: equation S9.

    With p the probabilities and y the truth, both sums are normal with mean 0 if so: Spiegelhalter's
    Σ (y − p)(1 − 2p), which finds probabilities that are too sure or not sure enough, and Σ (y − p), which
    finds those that are too high or too low. Their variances are Σ w² p (1 − p), w being 1 − 2p or 1.
    """
    found = [_tail(weight, shares, came) for weight in (1 - 2 * shares, np.ones(len(shares)))]
    return min(1.0, 2 * min(found))


def _tail(weight: Floats, shares: Floats, came: Flags) -> float:
    spread = float(np.sum(weight**2 * shares * (1 - shares)))
    above = abs(float(np.sum((came - shares) * weight)))
    if spread <= 0:
        return 1.0 if above == 0 else 0.0
    return float(2 * ndtr(-above / np.sqrt(spread)))


def _curve(band: CurveBand) -> Curve:
    assert band.area is not None
    return Curve(
        floats(band.x),
        floats(band.estimate),
        floats(band.low),
        floats(band.high),
        float(band.area.score),
        float(band.area.low),
        float(band.area.high),
    )


def _thresholds(name: str, scores: Floats, positive: Flags) -> Thresholds:
    """Counts at thresholds: from 0 to 1 for probabilities, else at quantiles of the scores."""
    n, n_positive = len(scores), int(positive.sum())
    if name == "probability":
        at, usual = np.linspace(0, 1, _THRESHOLDS), 0.5
    else:
        at, usual = np.unique(np.append(np.quantile(scores, np.linspace(0, 1, _THRESHOLDS - 1)), 0.0)), 0.0
    order = np.sort(scores)
    mine = np.sort(scores[positive])
    flagged = n - np.searchsorted(order, at, side="left")
    right = n_positive - np.searchsorted(mine, at, side="left")
    recall = right / n_positive
    f1 = 2 * right / np.maximum(flagged + n_positive, 1)
    balanced = (recall + 1 - (flagged - right) / max(n - n_positive, 1)) / 2
    chosen = []
    for why, k in (
        ("usual", int(np.argmin(np.abs(at - usual)))),
        ("best F1", int(np.argmax(f1))),
        ("best balanced accuracy", int(np.argmax(balanced))),
    ):
        precision = right[k] / flagged[k] if flagged[k] else float("nan")
        chosen.append(Threshold(why, float(at[k]), float(precision), float(recall[k]), float(flagged[k] / n)))
    return Thresholds(
        name,
        floats(at),
        tuple(int(each) for each in flagged),
        tuple(int(each) for each in right),
        n_positive,
        n,
        tuple(chosen),
    )


def floats(values: NDArray[Any]) -> Values:
    """An array as plain numbers."""
    return tuple(float(value) for value in values)
