"""Learning to rank: gradients, and how good an order is, query by query."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.arrays import Floats

RankingMeasure: TypeAlias = Literal["pairwise", "ndcg", "map"]
_MEASURES = ("pairwise", "ndcg", "map")
_METRICS = ("ndcg", "map", "pre", "auc")


class RankingQueries(NamedTuple):
    """The queries as core/boosting/ranking/ranking.h wants them."""

    start: NDArray[np.int64]  # (n_queries + 1,)
    gain: Floats  # (n_rows,)
    weight: Floats  # (n_queries,)
    inverse_ideal: Floats  # (n_queries,) for ndcg, else empty
    discount: Floats  # (rows of the largest query,) for ndcg, else empty
    order_by_gain: NDArray[np.int32]  # (n_rows,) where partners are drawn, else empty


class RankingPairs(NamedTuple):
    """Which pairs count, and what is normalised."""

    measure: RankingMeasure
    draw: bool
    n_pairs: int
    normalise: bool
    normalise_scores: bool
    seed: int


class PositionBias(NamedTuple):
    """How much seen a position is, for relevant and for other rows; empty arrays: not asked for."""

    relevant: Floats
    irrelevant: Floats
    exponent: float


def ranking_gradients(
    queries: RankingQueries,
    pairs: RankingPairs,
    bias: PositionBias,
    scores: Floats,
    g: Floats,
    h: Floats,
    *,
    round_: int,
    n_threads: int,
) -> None:
    """Fill g and h, (n_rows,), at these scores; the arrays of `bias` are brought up to date in place."""
    measure = _MEASURES.index(pairs.measure)
    options = _core.RankingOptions(
        measure, pairs.draw, pairs.n_pairs, pairs.normalise, pairs.normalise_scores, pairs.seed, round_
    )
    _core.ranking_gradients(options, *queries, scores, *bias, g, h, n_threads)


def order_queries(start: NDArray[np.int64], values: Floats, *, n_threads: int) -> NDArray[np.int32]:
    """Positions within each query by falling value; equal ones keep their order."""
    return _core.order_queries(start, values, n_threads)


def ranking_metric(
    metric: Literal["ndcg", "map", "pre", "auc"],
    start: NDArray[np.int64],
    gain: Floats,
    predictions: Floats,
    *,
    k: int,
    n_threads: int,
) -> Floats:
    """One value per query; NaN where it has none. See core/boosting/ranking/metrics.h."""
    return _core.ranking_metric(_METRICS.index(metric), start, gain, predictions, k, n_threads)
