"""Objectives of learning to rank: rank:ndcg, rank:pairwise and rank:map, as xgboost 3 defines them.

The gradients are those of LambdaMART; docs/methods/ranking.md has the equations, (R1) to (R11). The work is
done in core/boosting/ranking/ranking.cpp.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats
from weald.boosting.ranking.relevance import check_relevance, gains
from weald.boosting.records import BoostTarget
from weald.engine.ranking import RankingMeasure
from weald.errors import DataError, ParameterError
from weald.parameters import Choice, Instance, Nothing, Number, Whole, check_names, checked, parameter

RANKING_OBJECTIVES: dict[str, RankingMeasure] = {
    "rank:ndcg": "ndcg",
    "rank:pairwise": "pairwise",
    "rank:map": "map",
}
DEFAULT_TOP = 32
DEFAULT_DRAWN = 1
MOST_DRAWN_POSITIONS = 32
NO_FLOATS = np.zeros(0)
NO_ORDER = np.zeros(0, np.int32)

_YES_NO = Instance((bool, np.bool_), "True or False")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingParameters:
    """The parameters of ranking under xgboost's names."""

    lambdarank_pair_method: str = parameter(
        Choice(("topk", "mean")), hint="Use 'topk' to compare the highest ranks with all below them."
    )
    lambdarank_num_pair_per_sample: int | None = parameter(
        Nothing(), Whole(1, 2**31 - 1), hint="Leave it None for 32 with 'topk' and 1 with 'mean'."
    )
    lambdarank_normalization: bool = parameter(_YES_NO, hint="Use True unless training makes no progress.")
    lambdarank_score_normalization: bool = parameter(_YES_NO, hint="Use True, xgboost's default.")
    lambdarank_unbiased: bool = parameter(_YES_NO, hint="Use False unless the labels are clicks.")
    lambdarank_bias_norm: float = parameter(Number(0), hint="Use 1.0, xgboost's default.")
    ndcg_exp_gain: bool = parameter(_YES_NO, hint="Use True for gains of 2^relevance - 1.")
    seed: int = parameter(Whole(0, 2**63 - 1), hint="Use a whole number.")

    @property
    def draws(self) -> bool:
        """Whether partners are drawn ("mean")."""
        return self.lambdarank_pair_method == "mean"

    @property
    def n_pairs(self) -> int:
        """Ranks at the top, or partners per row."""
        default = DEFAULT_DRAWN if self.draws else DEFAULT_TOP
        return self.lambdarank_num_pair_per_sample or default


DEFAULTS: dict[str, Any] = {
    "lambdarank_pair_method": "topk",
    "lambdarank_num_pair_per_sample": None,
    "lambdarank_normalization": True,
    "lambdarank_score_normalization": True,
    "lambdarank_unbiased": False,
    "lambdarank_bias_norm": 1.0,
    "ndcg_exp_gain": True,
    "seed": 0,
}


def read_ranking_parameters(parameters: Mapping[str, Any], owner: str = "XGBRanker") -> RankingParameters:
    """The parameters of ranking, checked; None, or no entry, is the default."""
    check_names(list(parameters), owner, [each.name for each in fields(RankingParameters)])
    given = {name: value for name, value in parameters.items() if value is not None}
    return checked(RankingParameters, owner, {**DEFAULTS, **given})


def make_ranking_objective(name: str, target: BoostTarget, parameters: Mapping[str, Any]) -> RankingObjective:
    """The objective of that name, bound to the training target.

    Parameters
    ----------
    name : {"rank:ndcg", "rank:pairwise", "rank:map"}
        xgboost's name.
    target : BoostTarget
        Relevances, weights that are equal within a query, and `group_start` (None: one query).
    parameters : mapping
        Those of `RankingParameters`; None, or no entry, is the default.

    Returns
    -------
    RankingObjective
        What the boosting loop asks for gradients.
    """
    if name not in RANKING_OBJECTIVES:
        known = ", ".join(RANKING_OBJECTIVES)
        raise ParameterError(f"`objective` of XGBRanker must be one of {known}; got {name!r}.")
    return RankingObjective(name, target, read_ranking_parameters(parameters))


class RankingObjective:
    """LambdaMART bound to the training target; an `Objective` of `weald.boosting.records`.

    With `lambdarank_unbiased` it remembers, round by round, how much seen each position is: `position_bias`.
    """

    n_outputs = 1
    link = "identity"
    weighted = True
    refreshes_leaves = False

    def __init__(self, name: str, target: BoostTarget, parameters: RankingParameters) -> None:
        self.name = name
        self.parameters = parameters
        measure = RANKING_OBJECTIVES[name]
        start = np.array([0, target.n_rows], np.int64) if target.group_start is None else target.group_start
        labels = _one_relevance(target.values)
        check_relevance(labels, _kind(measure, parameters), name)
        gain = gains(labels, measure == "ndcg" and parameters.ndcg_exp_gain)
        self._pairs = engine.RankingPairs(
            measure,
            parameters.draws,
            parameters.n_pairs,
            parameters.lambdarank_normalization,
            parameters.lambdarank_score_normalization,
            parameters.seed,
        )
        self._queries = _queries(start, gain, target.weight, self._pairs)
        self._bias = _no_bias(parameters, start)
        self._round = -1
        self._bias_before = self._bias

    @property
    def remembers(self) -> bool:
        """Whether positions have biases, which every round changes."""
        return self.parameters.lambdarank_unbiased

    @property
    def default_metric(self) -> str:
        """What xgboost watches by default: "ndcg@32", "map@32" or, where pairs are drawn, without "@"."""
        metric = "map" if self._pairs.measure == "map" else "ndcg"
        return metric if self._pairs.draw else f"{metric}@{self._pairs.n_pairs}"

    @property
    def position_bias(self) -> tuple[Floats, Floats]:
        """t+ and t− of (R10), by position in the user's list; empty without `lambdarank_unbiased`."""
        return self._bias.relevant.copy(), self._bias.irrelevant.copy()

    def base_scores(self) -> Floats:
        """0: the gradients of a query add up to 0, so that xgboost's Newton step from 0 stays there, too."""
        return np.zeros(1)

    def gradients(self, scores: Floats, g: Floats, h: Floats, *, round_: int, n_threads: int) -> None:
        """Fill g and h, (1, n_rows), at these scores, query weights included.

        Asked for the same round twice in a row, it answers from the same position biases.
        """
        if round_ != self._round:
            self._bias_before = self._bias
        before = self._bias_before
        bias = before._replace(relevant=before.relevant.copy(), irrelevant=before.irrelevant.copy())
        engine.ranking_gradients(
            self._queries, self._pairs, bias, scores[0], g[0], h[0], round_=round_, n_threads=n_threads
        )
        self._bias, self._round = bias, round_

    def row_loss(self, output: int) -> None:
        """None: the rows of a query belong together."""
        return

    def leaf_values(
        self, scores: Floats, output: int, leaf_of_row: NDArray[np.int32], n_leaves: int
    ) -> Floats | None:
        """None: Newton's values stay."""
        return None


def _one_relevance(values: Floats) -> Floats:
    if values.ndim == 2 and values.shape[1] != 1:
        raise DataError(
            f"Ranking learns one relevance per row; y has {values.shape[1]} columns. "
            "Fit one model per column."
        )
    return np.ascontiguousarray(values.reshape(len(values)), np.float64)


def _kind(measure: RankingMeasure, parameters: RankingParameters) -> Any:
    if measure == "ndcg":
        return "grade" if parameters.ndcg_exp_gain else "gain"
    return "binary" if measure == "map" else "number"


def _queries(
    start: NDArray[np.int64], gain: Floats, weight: Floats | None, pairs: engine.RankingPairs
) -> engine.RankingQueries:
    """The queries with what can be known of them before training."""
    ndcg = pairs.measure == "ndcg"
    order = engine.order_queries(start, gain, n_threads=1) if ndcg or pairs.draw else NO_ORDER
    discount = inverse_ideal = NO_FLOATS
    if ndcg:
        largest = int(np.diff(start).max(initial=0))
        discount = 1.0 / engine.log2(np.arange(2.0, largest + 2.0))  # (R2)
        top = largest if pairs.draw else min(largest, pairs.n_pairs)
        inverse_ideal = _inverse_ideal(start, gain, order, discount, top)
    return engine.RankingQueries(
        np.ascontiguousarray(start, np.int64),
        gain,
        _query_weights(start, weight),
        inverse_ideal,
        discount,
        order if pairs.draw else NO_ORDER,
    )


def _inverse_ideal(
    start: NDArray[np.int64], gain: Floats, order: NDArray[np.int32], discount: Floats, top: int
) -> Floats:
    """1 / IDCG of the first `top` ranks; 0 where no row is relevant."""
    sizes = np.diff(start)
    first = np.repeat(start[:-1], sizes)
    rank = np.arange(len(gain)) - first
    added = np.where(rank < top, gain[first + order] * discount[rank], 0.0)
    # bincount adds one row after the other, in their order, on every machine.
    ideal = np.bincount(np.repeat(np.arange(len(sizes)), sizes), weights=added, minlength=len(sizes))
    return np.divide(1.0, ideal, out=np.zeros(len(sizes)), where=ideal > 0)


def _query_weights(start: NDArray[np.int64], weight: Floats | None) -> Floats:
    """Factors of the queries (R9): weights with a mean of 1 over the queries that are there."""
    if weight is None:
        return np.ones(len(start) - 1)
    # A query without rows has no weight of its own; it counts as absent.
    of_query = np.where(np.diff(start) > 0, weight[np.minimum(start[:-1], len(weight) - 1)], 0.0)
    present = of_query > 0
    # Added one after the other, in order, on every machine.
    total = float(np.cumsum(of_query)[-1]) if len(of_query) else 0.0
    return of_query * (np.count_nonzero(present) / total) if total > 0 else of_query


def _no_bias(parameters: RankingParameters, start: NDArray[np.int64]) -> engine.PositionBias:
    """Every position seen alike; as many positions as xgboost follows."""
    exponent = 1.0 / (1.0 + parameters.lambdarank_bias_norm)
    if not parameters.lambdarank_unbiased:
        return engine.PositionBias(NO_FLOATS, NO_FLOATS, exponent)
    largest = int(np.diff(start).max(initial=0))
    n = min(largest, MOST_DRAWN_POSITIONS) if parameters.draws else parameters.n_pairs
    return engine.PositionBias(np.ones(n), np.ones(n), exponent)
