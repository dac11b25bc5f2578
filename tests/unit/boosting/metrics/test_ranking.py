"""Metrics of ranking against their definitions in plain loops, worked examples, bits and refusals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from unit.boosting.ranking.twin import random_queries, ranked

from weald import engine
from weald.boosting.metrics.ranking import auc_by_group, mean_average_precision, ndcg, precision
from weald.errors import DataError, NativeError


def naive(metric, predictions, labels, start, weight, k, without_relevant):
    total, total_weight = 0.0, 0.0
    for q in range(len(start) - 1):
        rows = slice(start[q], start[q + 1])
        value = metric([labels[rows][row] for row in ranked(predictions[rows])], k or 10**9)
        w = 1.0 if weight is None else weight[q]
        total += w * (without_relevant if value is None else value)
        total_weight += w
    return total / total_weight


def naive_ndcg(relevances, k):
    def dcg(values):
        return sum((2**y - 1) / math.log2(rank + 2) for rank, y in enumerate(values[:k]))

    ideal = dcg(sorted(relevances, reverse=True))
    return dcg(relevances) / ideal if ideal else None


def naive_average_precision(relevances, k):
    hits = [rank for rank, y in enumerate(relevances) if y]
    precisions = [(at + 1) / (rank + 1) for at, rank in enumerate(hits) if rank < k]
    return sum(precisions) / min(len(hits), k) if hits else None


def naive_precision(relevances, k):
    return sum(relevances[:k]) / len(relevances[:k])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [None, 1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_their_definitions(seed, k, weighted):
    rng = np.random.default_rng(seed)
    labels, scores, start = random_queries(rng, n_queries=20)
    weight = rng.uniform(0, 2, 20) if weighted else None
    for minus in (False, True):
        expected = naive(naive_ndcg, scores, labels, start, weight, k, 0.0 if minus else 1.0)
        assert ndcg(scores, labels, start, weight, k, minus=minus) == pytest.approx(expected, rel=1e-12)
    labels = np.minimum(labels, 1)
    for minus in (False, True):
        expected = naive(naive_average_precision, scores, labels, start, weight, k, 0.0 if minus else 1.0)
        found = mean_average_precision(scores, labels, start, weight, k, minus=minus)
        assert found == pytest.approx(expected, rel=1e-12)
    expected = naive(naive_precision, scores, labels, start, weight, k, 0.0)
    assert precision(scores, labels, start, weight, k) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("most_rows", [9, 400])
def test_auc_counts_pairs(seed, most_rows):
    labels, scores, start = random_queries(np.random.default_rng(seed), n_queries=8, most_rows=most_rows)
    shares = []
    for first, last in itertools.pairwise(start):
        s = scores[first:last][np.argsort(-labels[first:last], kind="stable")]
        right = (np.sign(np.subtract.outer(s, s)) + 1) / 2
        upper = np.triu_indices(len(s), 1)
        if len(s) > 2:
            shares.append(right[upper].mean())
    assert auc_by_group(scores, labels, start) == pytest.approx(np.mean(shares), rel=1e-12)


def test_worked_examples():
    one = np.array([0, 3])
    scores = np.array([0.3, 0.9, 0.1])
    assert ndcg(scores, np.array([2.0, 0.0, 1.0]), one) == pytest.approx(
        (3 / math.log2(3) + 1 / 2) / (3 + 1 / math.log2(3))
    )
    assert ndcg(scores, np.array([2.0, 0.0, 1.0]), one, exponential=False) == pytest.approx(
        (2 / math.log2(3) + 1 / 2) / (2 + 1 / math.log2(3))
    )
    assert ndcg(scores, np.array([2.0, 0.0, 1.0]), one, k=1) == 0
    assert mean_average_precision(scores, np.array([1.0, 0.0, 1.0]), one) == pytest.approx(
        (1 / 2 + 2 / 3) / 2
    )
    assert precision(scores, np.array([1.0, 0.0, 1.0]), one, k=2) == 0.5
    assert precision(scores, np.array([1.0, 0.0, 1.0]), one, k=50) == pytest.approx(2 / 3)


def test_queries_without_relevant_rows_have_their_weight():
    """Where xgboost gives them the weight 1 whatever they weigh, and so a mean above 1."""
    scores, labels, start = np.zeros(4), np.array([1.0, 0.0, 0.0, 0.0]), np.array([0, 2, 4])
    assert ndcg(scores, labels, start, np.array([1.0, 3.0])) == 1.0
    assert ndcg(scores, labels, start, np.array([1.0, 3.0]), minus=True) == 0.25
    assert mean_average_precision(scores, labels, start, np.array([1.0, 3.0]), minus=True) == 0.25


def test_an_ideal_order_is_exactly_one():
    rng = np.random.default_rng(0)
    labels, _, start = random_queries(rng, n_queries=200, grades=6)
    assert ndcg(labels, labels, start) == 1.0
    assert mean_average_precision(labels, np.minimum(labels, 1), start) == 1.0


def test_nothing_to_average():
    none = np.array([0])
    assert math.isnan(ndcg(np.zeros(0), np.zeros(0), none))
    assert math.isnan(auc_by_group(np.zeros(2), np.zeros(2), np.array([0, 2])))
    assert math.isnan(precision(np.zeros(2), np.zeros(2), np.array([0, 2]), np.array([0.0])))


def test_same_bits_with_any_threads():
    labels, scores, start = random_queries(np.random.default_rng(1), n_queries=2000)
    for metric in (ndcg, mean_average_precision, precision, auc_by_group):
        y = labels if metric in (ndcg, auc_by_group) else np.minimum(labels, 1)
        found = {metric(scores, y, start, n_threads=n_threads) for n_threads in (1, 2, 3)}
        assert len(found) == 1


def test_predictions_that_are_no_numbers_do_no_harm():
    scores = np.array([np.nan, 1.0, -np.nan, np.inf, -np.inf])
    value = ndcg(scores, np.array([0.0, 1, 2, 3, 0]), np.array([0, 5]))
    assert 0 <= value <= 1


@pytest.mark.parametrize(
    ("metric", "bad", "message"),
    [
        (ndcg, 1.5, r"whole number from 0 to 31 for ndcg; row 2 of y holds 1\.5"),
        (mean_average_precision, 2.0, "0 or 1 for map; row 2 of y holds 2"),
        (precision, 2.0, "0 or 1 for pre; row 2 of y holds 2"),
        (auc_by_group, np.nan, "finite number for auc; row 2 of y holds nan"),
    ],
)
def test_relevances_that_do_not_fit(metric, bad, message):
    with pytest.raises(DataError, match=message):
        metric(np.zeros(3), np.array([0.0, 1.0, bad]), np.array([0, 3]))


def test_the_core_refuses_arrays_that_do_not_fit():
    with pytest.raises(NativeError, match="all rows"):
        engine.ranking_metric("ndcg", np.array([0, 2]), np.zeros(3), np.zeros(3), k=1, n_threads=1)
    with pytest.raises(NativeError, match="one rank"):
        engine.ranking_metric("ndcg", np.array([0, 3]), np.zeros(3), np.zeros(3), k=0, n_threads=1)
