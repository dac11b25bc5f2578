"""The area under the ROC curve: DeLong's variance, and resamples by the order of scores.

Equations S2 and S3 of `docs/methods/uncertainty.md`, after DeLong, DeLong and Clarke-Pearson (1988).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from weald.arrays import Flags, Floats
from weald.engine import RankedRows
from weald.errors import DataError


def check_two_classes(y: NDArray[Any], owner: str) -> NDArray[Any]:
    """The labels, which must be two."""
    labels = np.unique(y)
    if len(labels) != 2:
        found = "one label only" if len(labels) == 1 else f"{len(labels)} labels"
        raise DataError(
            f"An area under the curve needs rows of two labels; y of {owner} has {found}"
            f"{f' ({labels.tolist()[0]!r})' if len(labels) == 1 else ''}. "
            + ("Score rows of both classes." if len(labels) == 1 else "Use metric='roc_auc_ovr'.")
        )
    return labels


def placements(scores: Floats, positive: Flags) -> tuple[Floats, Floats]:
    """For each positive row the share of negative ones below it, for each negative that of positives above.

    Ties count half.
    """
    above, below = scores[positive], scores[~positive]
    n_positive, n_negative = len(above), len(below)
    together = rankdata(np.concatenate([above, below]))
    of_positive = (together[:n_positive] - rankdata(above)) / n_negative
    of_negative = 1 - (together[n_positive:] - rankdata(below)) / n_positive
    return of_positive, of_negative


def delong(scores: list[Floats], positive: Flags) -> tuple[Floats, Floats]:
    """The areas of some models on the same rows, and their covariance matrix (equation S2)."""
    found = [placements(np.asarray(each, np.float64), positive) for each in scores]
    of_positive = np.stack([each[0] for each in found])
    of_negative = np.stack([each[1] for each in found])
    areas = of_positive.mean(axis=1)
    if min(of_positive.shape[1], of_negative.shape[1]) < 2:
        raise DataError(
            "DeLong's variance needs at least 2 rows of each class. Score more rows, or use "
            "method='percentile'."
        )
    covariance = np.atleast_2d(np.cov(of_positive)) / of_positive.shape[1]
    covariance = covariance + np.atleast_2d(np.cov(of_negative)) / of_negative.shape[1]
    return areas, covariance


def ranked(scores: Floats, positive: Flags, weight: Floats | None) -> RankedRows:
    """Rows by descending score."""
    order = np.argsort(-scores, kind="stable").astype(np.int32)
    ordered = scores[order]
    last = np.append(ordered[1:] != ordered[:-1], True).astype(np.uint8)
    weights = np.ones(len(order)) if weight is None else np.ascontiguousarray(weight[order])
    return RankedRows(order, positive[order].astype(np.uint8), last, weights)
