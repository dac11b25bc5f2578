"""Ranking against xgboost: gradients row by row, stumps, biases of positions, metrics with ties."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xgboost as xgb
from unit.boosting.ranking.twin import gradients, random_queries

from weald.boosting.metrics import ranking as ranking_metrics
from weald.boosting.ranking.objectives import make_ranking_objective
from weald.boosting.records import BoostTarget

NAMES = ["rank:ndcg", "rank:pairwise", "rank:map"]
ALL_PAIRS = {"lambdarank_num_pair_per_sample": 1000}
REG_LAMBDA = 0.5


def data(X, labels, start, scores=None, weight=None):
    """One thread: xgboost's others would wait for each other longer than they work."""
    matrix = xgb.DMatrix(X, labels, group=np.diff(start), weight=weight, nthread=1)
    if scores is not None:
        matrix.set_base_margin(scores)
    return matrix


def stumps(name, X, labels, scores, start, weight=None, n_rounds=1, eta=1.0, **parameters):
    """The booster of depth 1 that xgboost grows from these scores."""
    matrix = data(X, labels, start, scores, weight)
    settings = {
        "objective": name,
        "max_depth": 1,
        "eta": eta,
        "lambda": REG_LAMBDA,
        "min_child_weight": 0,
        "base_score": 0,
        "tree_method": "exact",
        "nthread": 1,
        **parameters,
    }
    return xgb.train(settings, matrix, n_rounds)


def row_gradients(name, labels, scores, start, weight=None, **parameters):
    """xgboost's g and h of every row, read from stumps that split off that row alone."""
    g, h = np.zeros(len(labels)), np.zeros(len(labels))
    for row in range(len(labels)):
        X = np.zeros((len(labels), 1))
        X[row] = 1
        booster = stumps(name, X, labels, scores, start, weight, **parameters)
        root = json.loads(booster.get_dump(dump_format="json", with_stats=True)[0])
        if "children" not in root:
            continue  # nothing to gain: g is 0
        leaf = next(child for child in root["children"] if child["nodeid"] == root["no"])
        h[row] = leaf["cover"]
        g[row] = -leaf["leaf"] * (h[row] + REG_LAMBDA)
    return g, h


def assert_same(theirs, ours):
    """To float32's precision; where a row pulls neither way xgboost's stump does not tell h."""
    known = theirs[0] != 0
    assert known.any()
    np.testing.assert_allclose(ours[0], theirs[0], rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(ours[1][known], theirs[1][known], rtol=2e-5, atol=2e-6)


def queries(seed, name, **how):
    return random_queries(np.random.default_rng(seed), grades=2 if name == "rank:map" else 5, **how)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scores_differ", [False, True])
@pytest.mark.parametrize(
    "parameters",
    [
        ALL_PAIRS,
        {},
        {"lambdarank_num_pair_per_sample": 2},
        {"lambdarank_normalization": False, **ALL_PAIRS},
        {"lambdarank_score_normalization": False, **ALL_PAIRS},
        {"lambdarank_normalization": False, "lambdarank_score_normalization": False},
        {"ndcg_exp_gain": False},
    ],
    ids=lambda each: ",".join(f"{key[11:]}={value}" for key, value in each.items()) or "default",
)
def test_gradients_of_every_row(name, scores_differ, parameters):
    labels, scores, start = queries(1, name, n_queries=4)
    scores = scores if scores_differ else np.zeros(len(labels))
    theirs = row_gradients(name, labels, scores, start, **parameters)
    assert_same(theirs, gradients(name, labels, scores, start, **parameters))


@pytest.mark.parametrize("name", NAMES)
def test_gradients_with_weights_of_queries(name):
    labels, scores, start = queries(2, name, n_queries=5)
    weight = np.array([0.5, 3.0, 1.25, 2.0, 0.125])
    theirs = row_gradients(name, labels, scores, start, weight)
    assert_same(theirs, gradients(name, labels, scores, start, np.repeat(weight, np.diff(start))))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("normalise", [False, True])
def test_drawn_pairs_where_only_one_can_be_drawn(name, normalise):
    """In queries of two rows every draw is the other row, so that the two generators cannot differ."""
    rng = np.random.default_rng(3)
    start = np.arange(0, 13, 2)
    labels = np.tile([0.0, 1.0], 6)
    scores = np.float32(rng.normal(size=12)).astype(float)
    parameters = {
        "lambdarank_pair_method": "mean",
        "lambdarank_num_pair_per_sample": 3,
        "lambdarank_normalization": normalise,
    }
    theirs = row_gradients(name, labels, scores, start, **parameters)
    assert_same(theirs, gradients(name, labels, scores, start, **parameters))


@pytest.mark.parametrize("name", NAMES)
def test_drawn_pairs_agree_on_average(name):
    rng = np.random.default_rng(4)
    labels, scores = np.array([0.0, 0, 1, 1, 0, 1]), np.float32(rng.normal(size=6)).astype(float)
    parameters = {"lambdarank_pair_method": "mean", "lambdarank_num_pair_per_sample": 3000}
    theirs = row_gradients(name, labels, scores, [0, 6], **parameters)
    ours = gradients(name, labels, scores, [0, 6], **parameters)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=0.05, atol=0.02 * np.abs(theirs[0]).max())
    np.testing.assert_allclose(ours[1], theirs[1], rtol=0.05)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_stumps_have_the_split_and_the_leaves_of_our_gradients(name, seed):
    labels, scores, start = queries(seed, name, n_queries=12, most_rows=20)
    X = np.random.default_rng(seed).integers(0, 6, (len(labels), 3)).astype(float)
    frame = stumps(name, X, labels, scores, start).trees_to_dataframe().set_index("ID")
    g, h = gradients(name, labels, scores, start)

    def worth(rows):
        return g[rows].sum() ** 2 / (h[rows].sum() + REG_LAMBDA)

    cuts = [(column, low) for column in range(3) for low in range(5)]
    gain = {(c, low): worth(X[:, c] <= low) + worth(X[:, c] > low) for c, low in cuts}
    column, low = max(gain, key=gain.get)
    root = frame.loc["0-0"]
    assert root["Feature"] == f"f{column}"
    assert low < root["Split"] <= low + 1
    for leaf, rows in ((root["Yes"], X[:, column] <= low), (root["No"], X[:, column] > low)):
        value = -g[rows].sum() / (h[rows].sum() + REG_LAMBDA)
        assert frame.loc[leaf, "Gain"] == pytest.approx(value, rel=1e-4, abs=1e-6)
        assert frame.loc[leaf, "Cover"] == pytest.approx(h[rows].sum(), rel=1e-4)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", ["topk", "mean"])
def test_position_biases(name, method):
    """With a learning rate of 0 the scores stay, so that the biases of each round can be compared."""
    labels, scores, start = queries(6, name, n_queries=40, most_rows=2 if method == "mean" else 12)
    parameters = {"lambdarank_pair_method": method, "lambdarank_unbiased": True, "lambdarank_bias_norm": 0.5}
    parameters["lambdarank_num_pair_per_sample"] = 6
    target = BoostTarget(labels, None, start)
    objective = make_ranking_objective(name, target, parameters)
    X = np.arange(len(labels), dtype=float)[:, None]
    for n_rounds in range(1, 4):
        g, h = gradients(name, labels, scores, start, objective=objective, round_=n_rounds)
        booster = stumps(name, X, labels, scores, start, n_rounds=n_rounds, eta=0, **parameters)
        learnt = json.loads(booster.save_config())["learner"]["objective"]
        ours = objective.position_bias
        np.testing.assert_allclose(ours[0], np.array(learnt["ti+"], float), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(ours[1], np.array(learnt["tj-"], float), rtol=1e-4, atol=1e-6)
        cover = booster.trees_to_dataframe().query("Tree == @n_rounds - 1 and Node == 0")["Cover"].iloc[0]
        assert cover == pytest.approx(h.sum(), rel=1e-4)
        assert np.abs(g).max() > 0


@pytest.mark.parametrize("name", NAMES)
def test_base_score(name):
    labels, _, start = queries(7, name, n_queries=20)
    matrix = data(np.zeros((len(labels), 1)), labels, start)
    booster = xgb.train({"objective": name, "nthread": 1}, matrix, 1)
    theirs = json.loads(booster.save_config())["learner"]["learner_model_param"]["base_score"]
    ours = make_ranking_objective(name, BoostTarget(labels, None, start), {}).base_scores()
    np.testing.assert_allclose(json.loads(theirs), ours, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", [None, "mean"])
@pytest.mark.parametrize("n_pairs", [None, 7])
def test_default_metric(name, method, n_pairs):
    parameters = {"lambdarank_pair_method": method, "lambdarank_num_pair_per_sample": n_pairs}
    given = {key: value for key, value in parameters.items() if value is not None}
    labels, _, start = queries(8, name)
    booster = stumps(name, np.zeros((len(labels), 1)), labels, np.zeros(len(labels)), start, **given)
    matrix = data(np.zeros((len(labels), 1)), labels, start)
    objective = make_ranking_objective(name, BoostTarget(labels, None, start), parameters)
    assert booster.eval(matrix).split("eval-")[1].split(":")[0] == objective.default_metric


def their_metric(metric, predictions, labels, start, weight=None, **parameters):
    matrix = data(np.zeros((len(labels), 1)), labels, start, predictions, weight)
    settings = {"objective": "rank:pairwise", "eta": 0, "eval_metric": metric, "nthread": 1, **parameters}
    return float(xgb.train(settings, matrix, 1).eval(matrix).split(":")[-1])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [None, 1, 3, 100])
@pytest.mark.parametrize("minus", [False, True])
@pytest.mark.parametrize("exponential", [False, True])
def test_ndcg(seed, k, minus, exponential):
    labels, scores, start = queries(seed, "rank:ndcg", n_queries=30, most_rows=12)
    name = "ndcg" + (f"@{k}" if k else "") + ("-" if minus else "")
    theirs = their_metric(name, scores, labels, start, ndcg_exp_gain=exponential)
    ours = ranking_metrics.ndcg(scores, labels, start, None, k, minus=minus, exponential=exponential)
    assert ours == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("k", [None, 2])
def test_ndcg_with_weights(k):
    """Queries without a relevant row count 0 here: docs/methods/ranking.md says why."""
    labels, scores, start = queries(9, "rank:ndcg", n_queries=30)
    weight = np.random.default_rng(9).uniform(0.1, 3, 30)
    theirs = their_metric(f"ndcg@{k}-" if k else "ndcg-", scores, labels, start, weight)
    ours = ranking_metrics.ndcg(scores, labels, start, weight, k, minus=True)
    assert ours == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [None, 1, 3, 100])
@pytest.mark.parametrize("weighted", [False, True])
def test_precisions(seed, k, weighted):
    labels, scores, start = queries(seed, "rank:map", n_queries=30, most_rows=12)
    weight = np.random.default_rng(seed).uniform(0.1, 3, 30) if weighted else None
    at = f"@{k}" if k else ""
    for minus in (False, True):
        theirs = their_metric(f"map{at}{'-' * minus}", scores, labels, start, weight)
        ours = ranking_metrics.mean_average_precision(scores, labels, start, weight, k, minus=minus)
        assert ours == pytest.approx(theirs, abs=1e-6)
    theirs = their_metric(f"pre{at}", scores, labels, start, weight)
    assert ranking_metrics.precision(scores, labels, start, weight, k) == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_auc_by_query(seed):
    rng = np.random.default_rng(seed)
    labels, scores, start = random_queries(rng, n_queries=30, most_rows=12)
    weight = rng.uniform(0.1, 3, 30)
    theirs = their_metric("auc", scores, labels, start, weight)
    assert ranking_metrics.auc_by_group(scores, labels, start) == pytest.approx(theirs, abs=1e-6)
