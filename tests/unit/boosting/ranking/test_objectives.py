"""Gradients of ranking against the naive twin, their laws, the same bits everywhere, and what is refused."""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, strategies
from unit.boosting.ranking.twin import gradients, naive_gradients, random_queries

from weald import engine
from weald.boosting.ranking.objectives import make_ranking_objective
from weald.boosting.records import BoostTarget
from weald.errors import DataError, NativeError, ParameterError

NAMES = ["rank:ndcg", "rank:pairwise", "rank:map"]
MEAN = {"lambdarank_pair_method": "mean"}
VARIANTS = [
    {},
    {"lambdarank_num_pair_per_sample": 2},
    {"lambdarank_normalization": False},
    {"lambdarank_score_normalization": False},
    {**MEAN, "seed": 5},
    {**MEAN, "lambdarank_num_pair_per_sample": 3, "lambdarank_normalization": False},
    {"ndcg_exp_gain": False},
]


def queries(seed, name, **how):
    return random_queries(np.random.default_rng(seed), grades=2 if name == "rank:map" else 4, **how)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("parameters", VARIANTS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_equal_the_naive_twin(name, parameters, seed):
    labels, scores, start = queries(seed, name)
    weights = np.random.default_rng(seed).integers(0, 3, len(start) - 1).astype(float)
    weights[0] = 1
    for weight in (None, np.repeat(weights, np.diff(start))):
        g, h = gradients(name, labels, scores, start, weight, round_=seed, **parameters)
        expected_g, expected_h = naive_gradients(
            name, labels, scores, start, weight, round_=seed, **parameters
        )
        np.testing.assert_allclose(g, expected_g, rtol=1e-11, atol=1e-14)
        np.testing.assert_allclose(h, expected_h, rtol=1e-11, atol=1e-14)
        assert np.abs(g).max() > 0


@pytest.mark.parametrize("name", NAMES)
def test_long_queries_equal_the_naive_twin(name):
    """Beyond the lengths that are sorted by comparison, and beyond one block of queries."""
    labels, scores, start = queries(0, name, n_queries=8, most_rows=700)
    assert np.diff(start).max() > 256
    parameters = {"lambdarank_pair_method": "mean", "lambdarank_num_pair_per_sample": 2}
    ours = gradients(name, labels, scores, start, **parameters)
    if name == "rank:pairwise":
        np.testing.assert_allclose(
            ours, naive_gradients(name, labels, scores, start, **parameters), rtol=1e-10
        )
    alone = [gradients(name, labels[a:b], scores[a:b], [0, b - a]) for a, b in itertools.pairwise(start)]
    np.testing.assert_array_equal(gradients(name, labels, scores, start), np.concatenate(alone, axis=1))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", ["topk", "mean"])
def test_position_biases_equal_the_naive_twin(name, method):
    labels, scores, start = queries(3, name, n_queries=25)
    parameters = {"lambdarank_pair_method": method, "lambdarank_num_pair_per_sample": 4}
    objective = make_ranking_objective(
        name,
        BoostTarget(labels, None, start),
        {**parameters, "lambdarank_unbiased": True, "lambdarank_bias_norm": 2},
    )
    bias = objective.position_bias
    assert len(bias[0]) == (4 if method == "topk" else np.diff(start).max())
    for round_ in range(3):
        ours = gradients(name, labels, scores, start, objective=objective, round_=round_)
        g, h, costs = naive_gradients(name, labels, scores, start, round_=round_, bias=bias, **parameters)
        np.testing.assert_allclose(ours, (g, h), rtol=1e-10, atol=1e-14)
        again = gradients(name, labels, scores, start, objective=objective, round_=round_)
        np.testing.assert_array_equal(again, ours)
        bias = tuple((cost / cost[0]) ** (1 / 3) for cost in costs)
        np.testing.assert_allclose(objective.position_bias, bias, rtol=1e-10)
    assert bias[0][0] == 1
    assert (bias[0][1:] != 1).all()


def test_biases_are_not_touched_by_whoever_reads_them():
    objective = make_ranking_objective(
        "rank:ndcg", BoostTarget(np.array([1.0, 0.0])), {"lambdarank_unbiased": True}
    )
    objective.position_bias[0][:] = 0
    assert (objective.position_bias[0] == 1).all()
    plain = make_ranking_objective("rank:ndcg", BoostTarget(np.array([1.0, 0.0])), {})
    assert len(plain.position_bias[0]) == 0


@given(
    seed=strategies.integers(0, 2**32 - 1),
    name=strategies.sampled_from(NAMES),
    parameters=strategies.sampled_from(VARIANTS),
    spread=strategies.sampled_from([0.0, 1.0, 30.0, 1e4]),
)
def test_gradients_of_a_query_add_up_to_nothing(seed, name, parameters, spread):
    labels, scores, start = queries(seed, name)
    g, h = gradients(name, labels, scores * spread, start, **parameters)
    assert np.isfinite(g).all()
    assert (h >= 0).all()
    for first, last in itertools.pairwise(start):
        assert abs(g[first:last].sum()) <= 1e-12 * max(1.0, np.abs(g[first:last]).max())
        if len(set(labels[first:last])) == 1:
            assert not g[first:last].any()
            assert not h[first:last].any()


@given(
    seed=strategies.integers(0, 2**32 - 1),
    name=strategies.sampled_from(NAMES),
    parameters=strategies.sampled_from([each for each in VARIANTS if "mean" not in each.values()]),
)
def test_queries_in_another_order_have_their_gradients_in_that_order(seed, name, parameters):
    labels, scores, start = queries(seed, name)
    order = np.random.default_rng(seed).permutation(len(start) - 1)
    rows = np.concatenate([np.arange(start[q], start[q + 1]) for q in order])
    moved = np.concatenate([[0], np.cumsum(np.diff(start)[order])])
    here = gradients(name, labels, scores, start, **parameters)
    there = gradients(name, labels[rows], scores[rows], moved, **parameters)
    np.testing.assert_array_equal(there, np.array(here)[:, rows])


@given(seed=strategies.integers(0, 2**32 - 1), name=strategies.sampled_from(NAMES))
def test_a_query_without_weight_is_absent(seed, name):
    labels, scores, start = queries(seed, name)
    weight = np.repeat(np.arange(len(start) - 1.0), np.diff(start))
    there = gradients(name, labels, scores, start, weight)
    kept = slice(start[1], None)
    alone = gradients(name, labels[kept], scores[kept], start[1:] - start[1], weight[kept])
    np.testing.assert_array_equal(np.array(there)[:, kept], alone)
    assert not np.array(there)[:, : start[1]].any()


def test_only_the_relative_size_of_weights_counts():
    labels, scores, start = queries(1, "rank:ndcg")
    weight = np.repeat(np.arange(1.0, len(start)), np.diff(start))
    np.testing.assert_array_equal(
        gradients("rank:ndcg", labels, scores, start, weight),
        gradients("rank:ndcg", labels, scores, start, 1024 * weight),
    )


def test_ties_keep_the_order_of_the_rows():
    """Zeros of both signs are equal too: the first row has rank 1."""
    start, labels = [0, 3], [0.0, 2.0, 0.0]
    parameters = {"lambdarank_num_pair_per_sample": 1}  # the first rank against the others
    for scores in ([0.0, 0.0, 0.0], [-0.0, 0.0, -0.0]):
        g, _ = gradients("rank:pairwise", labels, scores, start, **parameters)
        assert g[0] == -g[1] > 0
        assert g[2] == 0


def test_draws_depend_on_seed_and_round_only():
    labels, scores, start = queries(2, "rank:pairwise", n_queries=20)

    def drawn(round_, seed):
        parameters = {"lambdarank_pair_method": "mean", "seed": seed}
        return gradients("rank:pairwise", labels, scores, start, round_=round_, **parameters)[0].tolist()

    assert drawn(0, 1) == drawn(0, 1)
    assert len({tuple(drawn(round_, seed)) for round_ in range(3) for seed in range(3)}) == 9


def digest(n_threads):
    found = hashlib.sha256()
    for name in NAMES:
        labels, scores, start = queries(4, name, n_queries=300, most_rows=80)
        for parameters in (*VARIANTS, {"lambdarank_unbiased": True}):
            objective = make_ranking_objective(name, BoostTarget(labels, None, start), parameters)
            for round_ in range(2):
                answer = gradients(
                    name, labels, scores, start, objective=objective, round_=round_, n_threads=n_threads
                )
                found.update(np.array(answer).tobytes())
    return found.hexdigest()


def test_same_bits_with_any_threads_and_vector_units():
    here = digest(1)
    assert digest(2) == here
    assert digest(3) == here
    script = "from unit.boosting.ranking.test_objectives import digest; print(digest(2))"
    environment = {**os.environ, "WEALD_SIMD": "baseline", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == here


def test_what_the_loop_asks():
    objective = make_ranking_objective("rank:ndcg", BoostTarget(np.array([1.0, 0.0])), {})
    assert (objective.name, objective.n_outputs, objective.link, objective.weighted) == (
        "rank:ndcg", 1, "identity", True,
    )  # fmt: skip
    assert objective.base_scores().tolist() == [0.0]
    assert objective.leaf_values(np.zeros((1, 2)), 0, np.zeros(2, np.int32), 1) is None


def test_a_target_of_one_column_is_a_target():
    flat = make_ranking_objective("rank:pairwise", BoostTarget(np.array([1.0, 0.0])), {})
    column = make_ranking_objective("rank:pairwise", BoostTarget(np.array([[1.0], [0.0]])), {})
    answers = [
        gradients("rank:pairwise", [1, 0], [0.5, 1], [0, 2], objective=each) for each in (flat, column)
    ]
    np.testing.assert_array_equal(*answers)
    with pytest.raises(DataError, match="y has 2 columns"):
        make_ranking_objective("rank:pairwise", BoostTarget(np.zeros((3, 2))), {})


@pytest.mark.parametrize(
    ("name", "parameters", "bad", "message"),
    [
        (
            "rank:ndcg",
            {},
            1.5,
            r"whole number from 0 to 31 for rank:ndcg; row 1 of y holds 1\.5.*ndcg_exp_gain=False",
        ),
        ("rank:ndcg", {}, 32, "row 1 of y holds 32"),
        ("rank:ndcg", {}, -1, "row 1 of y holds -1"),
        ("rank:ndcg", {"ndcg_exp_gain": False}, -0.5, r"at least 0 for rank:ndcg; row 1 of y holds -0\.5"),
        ("rank:map", {}, 2, r"0 or 1 for rank:map; row 1 of y holds 2\..*rank:ndcg"),
        ("rank:pairwise", {}, np.nan, "finite number for rank:pairwise; row 1 of y holds nan"),
        ("rank:pairwise", {}, np.inf, "row 1 of y holds inf"),
    ],
)
def test_relevances_that_do_not_fit(name, parameters, bad, message):
    with pytest.raises(DataError, match=message):
        make_ranking_objective(name, BoostTarget(np.array([0.0, bad, 1.0])), parameters)


def test_relevances_at_the_end_of_the_range():
    g, _ = gradients("rank:ndcg", [31, 0], [0, 0], [0, 2])
    assert g[0] == -g[1] < 0
    make_ranking_objective("rank:ndcg", BoostTarget(np.array([100.5, 0.0])), {"ndcg_exp_gain": False})
    make_ranking_objective("rank:pairwise", BoostTarget(np.array([-3.25, 1e9])), {})


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lambdarank_pair_method": "top"}, "must be 'topk' or 'mean'; got 'top'. Did you mean 'topk'"),
        ({"lambdarank_num_pair_per_sample": 0}, "lambdarank_num_pair_per_sample.*got 0"),
        ({"lambdarank_bias_norm": -1}, "lambdarank_bias_norm.*at least 0; got -1"),
        ({"lambdarank_unbiased": "yes"}, "lambdarank_unbiased.*True or False; got 'yes'"),
        ({"lambdarank_normalisation": True}, "did you mean `lambdarank_normalization`"),
    ],
)
def test_parameters_that_do_not_fit(parameters, message):
    with pytest.raises(ParameterError, match=message):
        make_ranking_objective("rank:ndcg", BoostTarget(np.zeros(2)), parameters)


def test_an_unknown_objective():
    with pytest.raises(ParameterError, match="rank:ndcg, rank:pairwise, rank:map; got 'rank:mrr'"):
        make_ranking_objective("rank:mrr", BoostTarget(np.zeros(2)), {})


def test_none_is_the_default():
    labels, scores, start = queries(5, "rank:ndcg")
    given_nothing = gradients("rank:ndcg", labels, scores, start)
    named = dict.fromkeys(["lambdarank_pair_method", "lambdarank_normalization", "ndcg_exp_gain", "seed"])
    np.testing.assert_array_equal(gradients("rank:ndcg", labels, scores, start, **named), given_nothing)


def test_the_core_refuses_arrays_that_do_not_fit():
    pairs = engine.RankingPairs("pairwise", False, 1, True, True, 0)
    none, bias = np.zeros(0), engine.PositionBias(np.zeros(0), np.zeros(0), 1.0)
    for start, n_rows in (([0, 3], 2), ([1, 2], 2), ([0, 2, 1, 2], 2), ([0], 2)):
        queries_ = engine.RankingQueries(
            np.array(start), np.zeros(n_rows), np.ones(len(start) - 1), none, none, np.zeros(0, np.int32)
        )
        with pytest.raises(NativeError):
            engine.ranking_gradients(
                queries_, pairs, bias, np.zeros(2), np.zeros(2), np.zeros(2), round_=0, n_threads=1
            )
