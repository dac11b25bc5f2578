"""Naive twins of ranking in NumPy and plain loops, written from the equations of docs/methods/ranking.md."""

from __future__ import annotations

import math

import numpy as np

from weald.boosting.ranking.objectives import make_ranking_objective
from weald.boosting.records import BoostTarget

MASK = 2**64 - 1
RANKING_PAIR = 40


def _scramble(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def draw(seed: int, purpose: int, a: int, b: int) -> int:
    golden = 0x9E3779B97F4A7C15
    x = _scramble((seed + golden * purpose) & MASK)
    x = _scramble((x + golden + a) & MASK)
    return _scramble((x + golden + b) & MASK)


def ranked(values) -> list[int]:
    """(R1)"""
    return sorted(range(len(values)), key=lambda row: (-values[row], row))


def ndcg_change(gain, order, rank_of, a, b, top):
    """(R5): the ordered lists with and without the swap, by the definition of DCG."""
    discount = [1 / math.log2(rank + 2) for rank in range(len(gain))]
    ideal = sum(g * d for g, d in list(zip(sorted(gain, reverse=True), discount, strict=True))[:top])
    if ideal == 0:
        return 0.0

    def dcg(rows):
        return sum(gain[row] * d for row, d in zip(rows, discount, strict=True))

    swapped = list(order)
    swapped[rank_of[a]], swapped[rank_of[b]] = b, a
    return abs(dcg(order) - dcg(swapped)) / ideal


def map_change(gain, order, rank_of, a, b, top):
    """(R7): average precision with and without the swap, by its definition."""

    def average_precision(rows):
        hits, total = 0.0, 0.0
        for rank, row in enumerate(rows):
            hits += gain[row]
            total += gain[row] * hits / (rank + 1)
        return total / hits

    swapped = list(order)
    swapped[rank_of[a]], swapped[rank_of[b]] = b, a
    return abs(average_precision(order) - average_precision(swapped))


CHANGES = {
    "rank:pairwise": lambda *_: 1.0,
    "rank:ndcg": ndcg_change,
    "rank:map": map_change,
}


def top_pairs(order, top):
    """(R3)"""
    return [(order[i], order[j]) for i in range(min(top, len(order))) for j in range(i + 1, len(order))]


def drawn_pairs(gain, first, n_pairs, seed, round_):
    """(R4)"""
    by_gain, pairs = ranked(gain), []
    for row in by_gain:
        others = [other for other in by_gain if gain[other] != gain[row]]
        for sample in range(n_pairs if others else 0):
            bits = draw(seed, RANKING_PAIR, first + row, (round_ << 32) ^ sample)
            pairs.append((row, others[int((bits >> 11) * 2.0**-53 * len(others))]))
    return pairs


def naive_gradients(name, labels, scores, start, weight=None, *, round_=0, bias=None, **parameters):
    """Gradients, hessians and, with `bias` (t+, t−), the sums of costs by position."""
    mean = parameters.get("lambdarank_pair_method", "topk") == "mean"
    n_pairs = parameters.get("lambdarank_num_pair_per_sample") or (1 if mean else 32)
    exponential = name == "rank:ndcg" and parameters.get("ndcg_exp_gain", True)
    gains = [2.0**y - 1 if exponential else float(y) for y in labels]
    g, h = np.zeros(len(labels)), np.zeros(len(labels))
    costs = None if bias is None else (np.zeros(len(bias[0])), np.zeros(len(bias[0])))
    present = [q for q in range(len(start) - 1) if weight is None or weight[start[q]] > 0]
    for q in present:
        first, last = int(start[q]), int(start[q + 1])
        gain, score = gains[first:last], [float(s) for s in scores[first:last]]
        order = ranked(score)
        rank_of = {row: rank for rank, row in enumerate(order)}
        if mean:
            pairs = drawn_pairs(gain, first, n_pairs, parameters.get("seed", 0), round_)
        else:
            pairs = top_pairs(order, n_pairs)
        total, spread = 0.0, max(score) != min(score)
        own_g, own_h = np.zeros(last - first), np.zeros(last - first)
        for a, b in pairs:
            if gain[a] == gain[b]:
                continue
            high, low = (a, b) if gain[a] > gain[b] else (b, a)
            lead = score[high] - score[low]
            worth = CHANGES[name](gain, order, rank_of, a, b, len(gain) if mean else n_pairs)
            if parameters.get("lambdarank_score_normalization", True) and spread:
                worth /= abs(lead) + 0.01
            rest = 1 / (1 + math.exp(lead))
            slope, curvature = rest * worth, 2 * max(rest * (1 - rest), 1e-16) * worth
            if costs is not None and max(high, low) < len(bias[0]):
                cost = math.log1p(math.exp(lead)) * worth
                slope /= bias[0][high] * bias[1][low]
                curvature /= bias[0][high] * bias[1][low]
                costs[0][high] += cost / bias[1][low]
                costs[1][low] += cost / bias[0][high]
            own_g[high] -= slope
            own_g[low] += slope
            own_h[[high, low]] += curvature
            total += 2 * slope
        factor = 1.0
        if parameters.get("lambdarank_normalization", True):
            factor = 1 / n_pairs if mean else (math.log2(1 + total) / total if total > 0 else 1.0)
        if weight is not None:
            factor *= weight[first] * len(present) / sum(weight[start[p]] for p in present)
        g[first:last], h[first:last] = own_g * factor, own_h * factor
    return (g, h) if costs is None else (g, h, costs)


def gradients(
    name, labels, scores, start, weight=None, *, round_=0, n_threads=1, objective=None, **parameters
):
    """What weald answers, as (g, h)."""
    target = BoostTarget(
        np.asarray(labels, float), None if weight is None else np.asarray(weight, float), np.asarray(start)
    )
    objective = objective or make_ranking_objective(name, target, parameters)
    g, h = np.full((1, len(labels)), np.nan), np.full((1, len(labels)), np.nan)
    scores = np.asarray(scores, float).reshape(1, -1)
    objective.gradients(scores, g, h, round_=round_, n_threads=n_threads)
    return g[0], h[0]


def random_queries(rng, *, n_queries=6, most_rows=9, grades=4, ties=True):
    """(labels, scores, group_start): some queries of one row, some without relevant rows, ties in both."""
    sizes = rng.integers(1, most_rows + 1, n_queries)
    start = np.concatenate([[0], np.cumsum(sizes)])
    labels = rng.integers(0, grades, start[-1]).astype(float)
    if n_queries > 2:
        labels[start[1] : start[2]] = 0
    scores = rng.normal(size=start[-1])
    if ties:
        scores = np.round(scores, 1)
    return labels, np.float32(scores).astype(float), start
