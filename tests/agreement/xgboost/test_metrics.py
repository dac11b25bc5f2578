"""Every metric has xgboost's value, to 1e-6, on random predictions with and without weights.

xgboost evaluates a booster without trees on base margins, so its predictions are ours to choose.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weald.boosting.metrics.names import default_metric, make_metric, make_metrics
from weald.boosting.records import BoostTarget

xgboost = pytest.importorskip("xgboost")

N = 400


def evaluate(
    metrics: list[str], target: BoostTarget, margin: np.ndarray, **parameters: Any
) -> tuple[dict[str, float], np.ndarray]:
    """xgboost's values by name, and its predictions after the link."""
    rows = xgboost.DMatrix(np.zeros((len(target.values), 1)), label=target.values)
    weight = target.weight
    if target.group_start is not None:
        rows.set_group(np.diff(target.group_start))
        weight = None if weight is None else weight[target.group_start[:-1]]
    if weight is not None:
        rows.set_weight(weight)
    rows.set_base_margin(margin)
    options = {"eval_metric": metrics, "base_score": 0.5, "verbosity": 0, "nthread": 1, **parameters}
    booster = xgboost.Booster(options, [rows])
    said = [item.rsplit(":", 1) for item in booster.eval_set([(rows, "a")]).split()[1:]]
    return {name.removeprefix("a-"): float(value) for name, value in said}, booster.predict(rows)


def single(values: np.ndarray, seed: int, weighted: bool) -> BoostTarget:
    """Values and weights that float32 holds exactly; some weights are 0."""
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 64, len(values)) / 16.0 if weighted else None
    return BoostTarget(values.astype(np.float32).astype(np.float64), weight)


def compare(metrics: list[str], target: BoostTarget, margin: np.ndarray, **parameters: Any) -> None:
    theirs, predictions = evaluate(metrics, target, margin, **parameters)
    n_outputs = 1 if predictions.ndim == 1 else predictions.shape[1]
    assert len(theirs) == len(metrics)
    for name in metrics:
        ours = make_metric(
            name,
            objective_name=parameters["objective"],
            n_outputs=n_outputs,
            parameters=parameters,
        )
        value = ours(predictions.astype(np.float64), target)
        assert value == pytest.approx(theirs[ours.name], rel=1e-6, abs=1e-9), name


seeds = pytest.mark.parametrize("seed", range(3))
weights = pytest.mark.parametrize("weighted", [False, True])


@seeds
@weights
def test_numbers(seed: int, weighted: bool):
    rng = np.random.default_rng(seed)
    target = single(rng.gamma(2.0, 3.0, N) + 0.01, seed, weighted)
    margin = rng.gamma(2.0, 3.0, N).astype(np.float32)
    compare(["rmse", "rmsle", "mae", "mape", "mphe"], target, margin, objective="reg:squarederror")


@pytest.mark.parametrize("slope", [0.3, 1.0, 5.0])
def test_huber_slope(slope: float):
    rng = np.random.default_rng(7)
    target = single(rng.normal(size=N) * 3, 7, True)
    margin = rng.normal(size=N).astype(np.float32)
    compare(["mphe"], target, margin, objective="reg:pseudohubererror", huber_slope=slope)


@weights
def test_several_targets(weighted: bool):
    rng = np.random.default_rng(3)
    target = single(rng.normal(size=(N, 3)), 3, weighted)
    margin = rng.normal(size=(N, 3)).astype(np.float32)
    compare(["rmse", "mae", "mphe"], target, margin, objective="reg:squarederror")
    labels = single(rng.integers(0, 2, (N, 3)).astype(float), 3, weighted)
    compare(["logloss", "error"], labels, margin, objective="binary:logistic")


@seeds
@weights
def test_two_classes(seed: int, weighted: bool):
    rng = np.random.default_rng(seed)
    target = single(rng.integers(0, 2, N).astype(float), seed, weighted)
    margin = np.round(rng.normal(size=N) * 2 + target.values, 1).astype(np.float32)  # with ties
    metrics = ["logloss", "error", "error@0.7", "auc", "aucpr", "rmse"]
    compare(metrics, target, margin, objective="binary:logistic")


@weights
def test_sure_and_wrong(weighted: bool):
    """Where the probability is 0 or 1 in float32 the clipping constant decides."""
    rng = np.random.default_rng(5)
    target = single(rng.integers(0, 2, N).astype(float), 5, weighted)
    margin = rng.choice(np.array([-120.0, -40.0, 0.0, 30.0, 120.0], dtype=np.float32), N)
    compare(["logloss", "error", "auc", "aucpr"], target, margin, objective="binary:logistic")


@weights
def test_targets_between_two_classes(weighted: bool):
    rng = np.random.default_rng(6)
    target = single(rng.random(N), 6, weighted)
    margin = np.round(rng.normal(size=N), 1).astype(np.float32)
    compare(["logloss", "error", "auc", "aucpr"], target, margin, objective="reg:logistic")


@seeds
@weights
def test_several_classes(seed: int, weighted: bool):
    rng = np.random.default_rng(seed)
    target = single(rng.integers(0, 4, N).astype(float), seed, weighted)
    margin = np.round(rng.normal(size=(N, 4)) * 3, 1).astype(np.float32)
    margin[:20] = 0.0  # all alike: the first class counts
    margin[20:40, 1] = 90.0
    metrics = ["merror", "mlogloss", "auc", "aucpr"]
    compare(metrics, target, margin, objective="multi:softprob", num_class=4)


@seeds
@weights
def test_counts_and_sizes(seed: int, weighted: bool):
    rng = np.random.default_rng(seed)
    margin = (rng.normal(size=N) * 2).astype(np.float32)
    counts = single(rng.poisson(2.0, N).astype(float), seed, weighted)
    margin[:10] = -50.0  # below the clipping constant
    compare(["poisson-nloglik"], counts, margin, objective="count:poisson")
    sizes = single(rng.gamma(2.0, 1.0, N) + 0.001, seed, weighted)
    compare(["gamma-nloglik", "gamma-deviance"], sizes, margin, objective="reg:gamma")
    margin[:10] = -5.0
    metrics = ["tweedie-nloglik@1.1", "tweedie-nloglik@1.5", "tweedie-nloglik@1.9"]
    compare(metrics, counts, margin, objective="reg:tweedie", tweedie_variance_power=1.5)


@weights
@pytest.mark.parametrize("alphas", [[0.25], [0.125, 0.5, 0.75]])
def test_quantiles(weighted: bool, alphas: list[float]):
    rng = np.random.default_rng(8)
    target = single(rng.normal(size=N), 8, weighted)
    margin = rng.normal(size=(N, len(alphas))).astype(np.float32)
    compare(["quantile"], target, margin, objective="reg:quantileerror", quantile_alpha=alphas)


@weights
@pytest.mark.parametrize("metric", ["auc", "aucpr"])
def test_areas_of_rankings(weighted: bool, metric: str):
    if metric == "auc":
        pytest.importorskip("weald.boosting.metrics.ranking")
    rng = np.random.default_rng(9)
    start = np.array([0, 50, 150, 180, 182, 190, N])
    weight = np.repeat(rng.integers(1, 9, 6) / 4.0, np.diff(start)) if weighted else None
    margin = np.round(rng.normal(size=N), 1).astype(np.float32)
    relevance = rng.integers(0, 2, N).astype(float)
    relevance[182:190] = 1.0  # a query without an area under precision and recall
    if metric == "auc":
        relevance = rng.integers(0, 4, N).astype(float)
    compare([metric], BoostTarget(relevance, weight, start), margin, objective="rank:pairwise")


def test_one_class_has_no_area():
    target = BoostTarget(np.ones(N))
    margin = np.linspace(-1, 1, N).astype(np.float32)
    theirs, predictions = evaluate(["auc", "aucpr"], target, margin, objective="binary:logistic")
    for name in ("auc", "aucpr"):
        ours = make_metric(name, objective_name="binary:logistic", n_outputs=1)
        assert np.isnan(theirs[name])
        assert np.isnan(ours(predictions.astype(float), target))


OBJECTIVES: list[tuple[str, dict[str, Any]]] = [
    ("reg:squarederror", {}),
    ("reg:squaredlogerror", {}),
    ("reg:pseudohubererror", {}),
    ("reg:absoluteerror", {}),
    ("reg:quantileerror", {"quantile_alpha": 0.3}),
    ("reg:logistic", {}),
    ("reg:gamma", {}),
    ("reg:tweedie", {}),
    ("reg:tweedie", {"tweedie_variance_power": 1.25}),
    ("count:poisson", {}),
    ("binary:logistic", {}),
    ("binary:logitraw", {}),
    ("binary:hinge", {}),
    ("multi:softmax", {"num_class": 2}),
    ("multi:softprob", {"num_class": 2}),
    ("rank:pairwise", {}),
    ("rank:ndcg", {"lambdarank_num_pair_per_sample": 7}),
    ("rank:ndcg", {"lambdarank_pair_method": "mean"}),
    ("rank:map", {}),
]


@pytest.mark.parametrize(("objective", "parameters"), OBJECTIVES)
def test_default_metric(objective: str, parameters: dict[str, Any]):
    rows = xgboost.DMatrix(np.arange(8.0)[:, None], label=np.arange(8) % 2)
    if objective.startswith("rank:"):
        rows.set_group([4, 4])
    booster = xgboost.Booster({"objective": objective, "verbosity": 0, "nthread": 1, **parameters}, [rows])
    if objective == "reg:gamma":
        rows.set_label(np.arange(8) % 2 + 1)
    said = booster.eval_set([(rows, "a")]).split()[1].rsplit(":", 1)[0]
    assert default_metric(objective, parameters) == said.removeprefix("a-")


def test_order_of_names_and_functions():
    """A function comes last, whatever the order, and alone it has the default metric before it."""

    def share(y_true: np.ndarray, y_pred: np.ndarray) -> float:
        return float(np.mean(y_pred))

    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    for asked in (share, ["auc", "error"], [share, "error", "auc"], ["error@0.5"], None):
        model = xgboost.XGBClassifier(n_estimators=1, eval_metric=asked, n_jobs=1)
        model.fit(X, y, eval_set=[(X, y)], verbose=False)
        ours = make_metrics(asked, objective_name="binary:logistic", n_outputs=1)
        assert [m.name for m in ours] == list(model.evals_result()["validation_0"])
