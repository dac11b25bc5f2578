"""How good an order of rows is: NDCG, mean average precision, precision, AUC, each the mean over the queries.

Definitions are xgboost's, with one exception that docs/methods/ranking.md names. Rows are ranked by falling
prediction; equal predictions keep the order of the rows.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats
from weald.boosting.ranking.relevance import check_relevance, gains

ALL_RANKS = 2**62


def ndcg(
    predictions: Floats,
    labels: Floats,
    group_start: NDArray[np.int64],
    query_weight: Floats | None = None,
    k: int | None = None,
    *,
    minus: bool = False,
    exponential: bool = True,
    n_threads: int = 1,
) -> float:
    """Normalised discounted cumulative gain of the first `k` ranks (R12).

    Parameters
    ----------
    predictions, labels : ndarray of float64, (n_rows,)
        Scores, and relevances: whole numbers from 0 to 31, or any numbers from 0 if not `exponential`.
    group_start : ndarray of int64, (n_queries + 1,)
        The queries.
    query_weight : ndarray of float64, (n_queries,), optional
        Weights of the mean.
    k : int, optional
        How many ranks count; None: all.
    minus : bool
        Whether a query without a relevant row counts 0 ("ndcg-") or 1.
    exponential : bool
        Whether the gain is 2^relevance − 1 or the relevance itself.
    n_threads : int
        Threads; the value does not depend on it.

    Returns
    -------
    float
        The weighted mean over the queries.

    Examples
    --------
    >>> ndcg(np.array([0.1, 0.9]), np.array([1.0, 0.0]), np.array([0, 2]))
    0.6309297535714575
    """
    check_relevance(labels, "grade" if exponential else "gain", "ndcg")
    values = engine.ranking_metric(
        "ndcg",
        group_start,
        gains(labels, exponential),
        _floats(predictions),
        k=k or ALL_RANKS,
        n_threads=n_threads,
    )
    return _mean(values, query_weight, 0.0 if minus else 1.0)


def mean_average_precision(
    predictions: Floats,
    labels: Floats,
    group_start: NDArray[np.int64],
    query_weight: Floats | None = None,
    k: int | None = None,
    *,
    minus: bool = False,
    n_threads: int = 1,
) -> float:
    """Mean average precision of the first `k` ranks (R13); `labels` are 0 or 1, the rest as for `ndcg`.

    >>> mean_average_precision(np.array([3.0, 2.0, 1.0]), np.array([1.0, 0.0, 1.0]), np.array([0, 3]))
    0.8333333333333333
    """
    check_relevance(labels, "binary", "map")
    values = engine.ranking_metric(
        "map", group_start, _floats(labels), _floats(predictions), k=k or ALL_RANKS, n_threads=n_threads
    )
    return _mean(values, query_weight, 0.0 if minus else 1.0)


def precision(
    predictions: Floats,
    labels: Floats,
    group_start: NDArray[np.int64],
    query_weight: Floats | None = None,
    k: int | None = None,
    *,
    n_threads: int = 1,
) -> float:
    """Share of relevant rows among the first `k` (R14), or among all if there are fewer; `labels` 0 or 1.

    >>> precision(np.array([3.0, 2.0, 1.0]), np.array([1.0, 0.0, 1.0]), np.array([0, 3]), k=2)
    0.5
    """
    check_relevance(labels, "binary", "pre")
    values = engine.ranking_metric(
        "pre", group_start, _floats(labels), _floats(predictions), k=k or ALL_RANKS, n_threads=n_threads
    )
    return _mean(values, query_weight, 0.0)


def auc_by_group(
    predictions: Floats, labels: Floats, group_start: NDArray[np.int64], *, n_threads: int = 1
) -> float:
    """Mean over the queries of the share of pairs in the right order (R15); NaN if no query has three rows.

    As in xgboost, weights are not used, queries of one or two rows are left out, and pairs of equal relevance
    count as if the row that stands first were the more relevant one.

    >>> auc_by_group(np.array([3.0, 2.0, 1.0]), np.array([2.0, 1.0, 0.0]), np.array([0, 3]))
    1.0
    """
    check_relevance(labels, "number", "auc")
    values = engine.ranking_metric(
        "auc", group_start, _floats(labels), _floats(predictions), k=ALL_RANKS, n_threads=n_threads
    )
    values = values[~np.isnan(values)]
    return math.fsum(values) / len(values) if len(values) else math.nan


def _floats(values: NDArray[np.floating]) -> Floats:
    return np.ascontiguousarray(values, np.float64)


def _mean(values: Floats, weight: Floats | None, without_relevant: float) -> float:
    """The weighted mean, added up exactly so that no order of the queries shows; NaN without any weight."""
    values = np.where(np.isnan(values), without_relevant, values)
    if weight is None:
        return math.fsum(values) / len(values) if len(values) else math.nan
    total = math.fsum(weight)
    return math.fsum(values * weight) / total if total > 0 else math.nan
