"""Gradients, base scores and leaves of every objective against xgboost, read off its models."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from weald.boosting.links import apply_link
from weald.boosting.newton.losses import OBJECTIVES, RANKING, make_objective
from weald.boosting.records import BoostTarget

xgboost = pytest.importorskip("xgboost")

N = 40
PARAMETERS = {
    "reg:pseudohubererror": ({}, {"huber_slope": 2.0}),
    "reg:tweedie": ({}, {"tweedie_variance_power": 1.2}, {"tweedie_variance_power": 1.9}),
    "count:poisson": ({}, {"max_delta_step": 0.3}),
    "reg:quantileerror": ({"quantile_alpha": 0.3}, {"quantile_alpha": [0.1, 0.5, 0.85]}),
    "reg:logistic": ({}, {"scale_pos_weight": 3.0}),
    "binary:logistic": ({}, {"scale_pos_weight": 3.0}),
    "binary:logitraw": ({}, {"scale_pos_weight": 3.0}),
    "multi:softmax": ({"num_class": 3}, {"num_class": 5}),  # two classes are never seen
    "multi:softprob": ({"num_class": 3},),
}
CASES = [
    (name, parameters)
    for name in OBJECTIVES
    if name not in RANKING
    for parameters in PARAMETERS.get(name, ({},))
]

#: in both libraries
ONE_TARGET = ("multi:softmax", "multi:softprob", "reg:quantileerror")


def target_of(name, n=N, seed=0):
    rng = np.random.default_rng(seed)
    if name.startswith("multi"):
        return rng.choice(3, n, p=[0.2, 0.3, 0.5]).astype(float)
    if name == "reg:logistic":
        return np.r_[rng.uniform(size=n - 5), np.ones(5)]
    if name.startswith("binary"):
        return (rng.uniform(size=n) < 0.3).astype(float)
    return rng.gamma(2.0, 1.5, n)


def ours(name, y, weight, parameters):
    return make_objective(
        name, BoostTarget(y, weight), n_classes=parameters.get("num_class"), parameters=parameters
    )


def train(name, y, parameters, *, x=None, weight=None, base_margin=None):
    x = np.zeros((len(y), 1)) if x is None else x
    rows = xgboost.DMatrix(x, y, weight=weight, base_margin=base_margin)
    fixed = {"max_depth": 1, "learning_rate": 1, "min_child_weight": 0, "nthread": 1, "verbosity": 0}
    # The other parameters of a loss are the tree's too; a leaf of one tree must be the plain one.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return xgboost.train({"objective": name, **fixed, **parameters}, rows, 1)


def trees(booster):
    return [json.loads(tree) for tree in booster.get_dump(dump_format="json", with_stats=True)]


def base_scores(booster):
    """The base scores in the space of predictions."""
    found = json.loads(booster.save_config())["learner"]["learner_model_param"]["base_score"]
    return np.array(json.loads(found), float)


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_gradients_of_single_rows(name, parameters):
    # one row, lambda 1: the tree is a leaf −g / (h + 1) with cover h
    rng = np.random.default_rng(1)
    y = target_of(name, 12)
    objective = ours(name, y, None, parameters)
    scores = rng.normal(size=(objective.n_outputs, 12)) * 1.5
    if name == "reg:squaredlogerror":
        scores = np.abs(scores)
    g, h = np.empty_like(scores), np.empty_like(scores)
    objective.gradients(scores, g, h, round_=0, n_threads=1)
    # steps of trees are not limited here, except that Poisson's hessian knows the limit
    given = {**parameters} if name == "count:poisson" else {**parameters, "max_delta_step": 0}
    for row in range(12):
        booster = train(name, y[row : row + 1], given, base_margin=scores[:, row : row + 1].T)
        found = trees(booster)
        covers = np.array([tree["cover"] for tree in found])
        assert covers == pytest.approx(h[:, row], rel=2e-5, abs=1e-30)
        if objective.leaf_values(scores, 0, np.zeros(12, np.int32), 1) is not None:
            continue  # its leaves are quantiles; gains tell the gradients, below
        leaves = -g[:, row] / (h[:, row] + 1)
        limit = parameters.get("max_delta_step", objective.default_max_delta_step) or np.inf
        expected = np.clip(leaves, -limit, limit)
        assert [tree["leaf"] for tree in found] == pytest.approx(expected, rel=2e-5, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "parameters"), [("reg:absoluteerror", {}), ("reg:quantileerror", {"quantile_alpha": 0.3})]
)
@pytest.mark.parametrize("targets", [(0, 2), (2, 0), (1, 2), (1, 0), (2, 1), (0, 1)])
def test_gradients_of_quantile_losses_by_gain(name, parameters, targets):
    y, scores, weight = np.array(targets, float), np.ones((1, 2)), np.array([1.0, 2.0])
    g, h = np.empty((1, 2)), np.empty((1, 2))
    ours(name, y, None, parameters).gradients(scores, g, h, round_=0, n_threads=1)
    g, h = (g * weight)[0], (h * weight)[0]
    gain = (g**2 / h).sum() - g.sum() ** 2 / h.sum()
    booster = train(
        name,
        y,
        {**parameters, "reg_lambda": 0},
        x=np.array([[0.0], [1.0]]),
        weight=weight,
        base_margin=scores.T,
    )
    assert trees(booster)[0].get("gain", 0.0) == pytest.approx(gain, abs=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("name", "parameters", "columns"),
    [(*case, 1) for case in CASES] + [(*case, 2) for case in CASES if case[0] not in ONE_TARGET],
)
def test_base_scores(name, parameters, columns, weighted):
    y = target_of(name) if columns == 1 else np.c_[target_of(name), target_of(name, seed=3)]
    weight = np.random.default_rng(2).choice([0.0, 0.3, 1.0, 2.5], N) if weighted else None
    objective = ours(name, y, weight, parameters)
    # the link of softmax and of sorted quantiles has no part in base scores, that of the hinge leaves 0 and 1
    start = objective.base_scores()
    found = apply_link(objective.link, start) if objective.link in ("logistic", "exp") else start
    assert found == pytest.approx(base_scores(train(name, y, parameters, weight=weight)), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_base_scores_of_users(name, parameters):
    y = target_of(name)
    booster = train(name, y, {**parameters, "base_score": 0.35, "learning_rate": 0})
    raw = booster.predict(xgboost.DMatrix(np.zeros((1, 1))), output_margin=True)
    assert ours(name, y, None, parameters).raw_base_scores(0.35) == pytest.approx(np.ravel(raw), rel=1e-5)


@pytest.mark.parametrize("weights", ["none", "any", "zeros"])
@pytest.mark.parametrize("n", [1, 2, 3, 8, 25])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [("reg:absoluteerror", {})]
    + [("reg:quantileerror", {"quantile_alpha": alpha}) for alpha in (0.02, 0.25, 0.5, 0.8, 0.97)],
)
def test_leaves_of_quantile_losses(name, parameters, n, weights):
    rng = np.random.default_rng(n)
    y, scores = rng.normal(size=2 * n), rng.normal(size=(1, 2 * n))
    weight = {"none": None, "any": rng.uniform(0.1, 2, 2 * n), "zeros": rng.integers(0, 3, 2 * n) + 0.0}[
        weights
    ]
    side = np.repeat([0, 1], n)
    if weight is not None:
        weight[[0, -1]] = 1.0  # neither leaf is empty
    scores[0] += 100.0 * (2 * side - 1)  # so that there is a split
    booster = train(
        name,
        y,
        {**parameters, "reg_lambda": 0},
        x=side[:, np.newaxis] + 0.0,
        weight=weight,
        base_margin=scores.T,
    )
    tree = trees(booster)[0]
    values = ours(name, y, weight, parameters).leaf_values(scores, 0, side.astype(np.int32), 2)
    assert [child["leaf"] for child in tree["children"]] == pytest.approx(values, rel=1e-6)


def test_custom_objectives_start_where_xgboost_starts_them():
    seen = []

    def mine(y_true, y_pred):
        seen.append(y_pred.copy())
        return y_pred * 0.0, np.ones_like(y_pred)

    x, rng = np.zeros((6, 1)), np.random.default_rng(0)
    for model, y, n_classes in (
        (xgboost.XGBRegressor, rng.normal(size=6), None),
        (xgboost.XGBRegressor, rng.normal(size=(6, 2)), None),
        (xgboost.XGBClassifier, np.array([0, 1, 0, 1, 1, 1]), 2),
        (xgboost.XGBClassifier, np.array([0, 1, 0, 1, 2, 2]), 3),
    ):
        model(objective=mine, n_estimators=1).fit(x, y)
        objective = make_objective(mine, BoostTarget(y.astype(float)), n_classes=n_classes, parameters={})
        start = np.repeat(objective.base_scores()[:, np.newaxis], 6, axis=1)
        objective.gradients(start, np.empty_like(start), np.empty_like(start), round_=0, n_threads=1)
        theirs, own = seen[-2:]
        assert theirs.shape == own.shape
        assert theirs == pytest.approx(own)
