"""Metrics against their definitions, names as users write them, and functions users bring."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import log_loss, ndcg_score, roc_auc_score

from weald.boosting.metrics import areas
from weald.boosting.metrics import pointwise as metrics
from weald.boosting.metrics.names import METRIC_NAMES, make_metric, make_metrics, parse
from weald.boosting.records import BoostTarget
from weald.errors import DataError, DataTypeError, ParameterError


def metric(name_or_callable, objective: str = "reg:squarederror", n_outputs: int = 1, **parameters):
    return make_metric(name_or_callable, objective_name=objective, n_outputs=n_outputs, parameters=parameters)


def pairs_in_order(p: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    """AUC as the weighted share of (positive, negative) pairs that the predictions order."""
    right = total = 0.0
    for i in range(len(p)):
        for j in range(len(p)):
            share = w[i] * w[j] * y[i] * (1 - y[j])
            total += share
            right += share * (1.0 if p[i] > p[j] else 0.5 if p[i] == p[j] else 0.0)
    return right / total if total else float("nan")


def area_by_steps(p: np.ndarray, y: np.ndarray, w: np.ndarray, n_steps: int = 20_000) -> float:
    """The area under precision and recall by the midpoint rule, rows of a tie mixed evenly."""
    total = np.sum(w * y)
    true = false = area = 0.0
    for value in np.unique(p)[::-1]:
        of_value = p == value
        more_true, more_false = np.sum((w * y)[of_value]), np.sum((w * (1 - y))[of_value])
        part = (np.arange(n_steps) + 0.5) / n_steps
        precision = (true + part * more_true) / (true + false + part * (more_true + more_false))
        area += more_true / total * np.mean(precision) if more_true else 0.0
        true, false = true + more_true, false + more_false
    return area


ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1), st.integers(0, 4)), min_size=2, max_size=20)


@given(ROWS)
def test_auc_is_the_share_of_ordered_pairs(rows):
    p, y, w = np.array(rows, dtype=float).T
    assert areas.auc(p, BoostTarget(y, w)) == pytest.approx(pairs_in_order(p, y, w), nan_ok=True)
    assert areas.auc(p, BoostTarget(y)) == pytest.approx(pairs_in_order(p, y, np.ones(len(p))), nan_ok=True)


@pytest.mark.parametrize("seed", range(5))
def test_aucpr_is_the_area(seed: int):
    rng = np.random.default_rng(seed)
    p, y = np.round(rng.random(40), 1), rng.integers(0, 2, 40).astype(float)
    w = rng.random(40)
    assert areas.aucpr(p, BoostTarget(y, w)) == pytest.approx(area_by_steps(p, y, w), rel=1e-4)


def test_perfect_order():
    target = BoostTarget(np.array([0.0, 0.0, 1.0, 1.0]))
    p = np.array([0.1, 0.2, 0.3, 0.4])
    assert areas.auc(p, target) == areas.aucpr(p, target) == 1.0
    assert areas.auc(-p, target) == 0.0


def test_auc_of_classes_is_weighted_by_prevalence():
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 3, 60).astype(float), rng.random((60, 3))
    w = rng.random(60)
    by_class = [roc_auc_score(y == k, p[:, k], sample_weight=w) for k in range(3)]
    share = [np.sum(w[y == k]) for k in range(3)]
    assert areas.auc(p, BoostTarget(y, w)) == pytest.approx(np.average(by_class, weights=share))
    assert np.isnan(areas.auc(p, BoostTarget(np.minimum(y, 1.0), w)))  # no row of the last class


def test_queries_without_an_area():
    target = BoostTarget(np.array([0.0, 1.0, 1.0, 1.0]), None, np.array([0, 2, 2, 4]))
    assert areas.aucpr(np.arange(4.0), target) == 1.0  # of the first query, the only one with both
    assert np.isnan(areas.aucpr(np.arange(4.0), BoostTarget(np.ones(4), None, np.array([0, 4]))))


def test_aucpr_of_graded_relevance():
    target = BoostTarget(np.array([0.0, 3.0, 1.0]), None, np.array([0, 3]))
    with pytest.raises(DataError, match=re.escape("row 1 has 3.0. Use 'ndcg'")):
        areas.aucpr(np.arange(3.0), target)


@pytest.mark.parametrize("name", ["rmse", "mape", "gamma-deviance", "logloss", "error", "auc", "aucpr"])
def test_whole_weight_is_a_repeated_row(name: str):
    rng = np.random.default_rng(2)
    y, p = rng.integers(0, 2, 50) * 1.0, rng.random(50)
    if name == "mape":
        y += 1.0
    count = rng.integers(0, 4, 50)
    weighted = metric(name)(p, BoostTarget(y, count.astype(float)))
    repeated = metric(name)(np.repeat(p, count), BoostTarget(np.repeat(y, count)))
    assert weighted == pytest.approx(repeated, rel=1e-12)


def test_rows_without_weight_are_absent():
    """Even where their loss is infinite."""
    target = BoostTarget(np.array([0.0, 2.0]), np.array([0.0, 3.0]))
    assert metric("mape")(np.array([1.0, 1.0]), target) == 0.5


def test_no_weight_at_all_is_no_number():
    target = BoostTarget(np.array([0.0, 2.0]), np.zeros(2))
    assert np.isnan(metric("rmse")(np.array([1.0, 1.0]), target))


def test_equal_to_the_threshold_is_negative():
    target = BoostTarget(np.array([0.0, 1.0]))
    assert metrics.error(np.array([0.5, 0.5]), target) == 0.5
    assert metric("error@0.4")(np.array([0.3, 0.5]), target) == 0.0


def test_column_vectors_are_vectors():
    target = BoostTarget(np.array([[1.0], [3.0]]))
    assert metric("mae")(np.array([[2.0], [2.0]]), target) == 1.0
    assert metric("mae")(np.array([2.0, 2.0]), target) == 1.0


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("rmse", ("rmse", None, False)),
        ("error@0.7", ("error", 0.7, False)),
        ("error@1e-3", ("error", 0.001, False)),
        ("tweedie-nloglik@1.5", ("tweedie-nloglik", 1.5, False)),
        ("ndcg@10", ("ndcg", 10.0, False)),
        ("map@5-", ("map", 5.0, True)),
        ("ndcg-", ("ndcg", None, True)),
    ],
)
def test_parse(text: str, parsed):
    assert parse(text) == parsed


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("logloos", "Did you mean 'logloss'?"),
        ("rmse2", "Did you mean 'rmse'?"),
        ("ndgc@10", "Did you mean 'ndcg'?"),
        ("cox", "There are 'rmse',"),
        ("auc@3", "'auc' takes nothing after '@'"),
        ("rmse-", "only 'ndcg', 'map', 'pre' may end with '-'"),
        ("error@", "a threshold after '@', such as 'error@0.7'"),
        ("error@nan", "a threshold after '@'"),
        ("ndcg@0", "a whole number from 1 after '@', such as 'ndcg@10'"),
        ("ndcg@2.5", "a whole number from 1"),
        ("tweedie-nloglik@2", "a variance power between 1 and 2"),
    ],
)
def test_wrong_names(text: str, said: str):
    with pytest.raises(ParameterError, match=re.escape(said)):
        parse(text)


def test_names_in_results():
    assert metric("error@0.50").name == "error"
    assert metric("error@0.70").name == "error@0.7"
    assert metric("tweedie-nloglik", tweedie_variance_power=1.25).name == "tweedie-nloglik@1.25"


def test_which_are_maximised():
    named = [name for name in METRIC_NAMES if name not in ("ndcg", "map", "pre", "merror", "mlogloss")]
    more = {name for name in named if metric(name, quantile_alpha=0.5).maximize}
    assert more == {"auc", "aucpr"}
    assert make_metric(len, objective_name="x", n_outputs=1, maximize=True).maximize


@pytest.mark.parametrize(
    ("name", "objective", "n_outputs", "said"),
    [
        ("logloss", "multi:softprob", 3, "predicts several classes. Use 'merror', 'mlogloss' or 'auc'."),
        ("mae", "reg:quantileerror", 2, "predicts several quantiles. Use 'quantile'."),
        ("mlogloss", "binary:logistic", 1, "predicts one number per row. Use 'logloss'."),
        ("quantile", "reg:squarederror", 1, "needs `quantile_alpha`"),
        (7, "binary:logistic", 1, "`eval_metric` holds 7. A metric is a name such as 'logloss'"),
    ],
)
def test_metrics_that_do_not_fit(name, objective: str, n_outputs: int, said: str):
    with pytest.raises(ParameterError, match=re.escape(said)):
        metric(name, objective, n_outputs)


def test_shapes_that_do_not_fit():
    three = np.zeros((2, 3))
    with pytest.raises(DataError, match=re.escape("shape (2, 3) and the target (2,)")):
        metrics.rmse(three, BoostTarget(np.zeros(2)))
    with pytest.raises(DataError, match="needs one prediction for each class"):
        metrics.merror(np.zeros(2), BoostTarget(np.zeros(2)))
    with pytest.raises(DataError, match="one target and 2 predictions per row"):
        metrics.quantile(three, BoostTarget(np.zeros(2)), alphas=[0.1, 0.2])
    with pytest.raises(DataError, match="takes one target; this one has 3"):
        areas.auc(three, BoostTarget(three))
    with pytest.raises(DataError, match="compares one prediction with each target"):
        areas.auc(np.zeros(2), BoostTarget(three))


def test_several_metrics():
    def names(asked, objective: str = "binary:logistic", n_outputs: int = 1) -> list[str]:
        return [m.name for m in make_metrics(asked, objective_name=objective, n_outputs=n_outputs)]

    assert names(None) == names([]) == ["logloss"]
    assert names(("auc", "error", "error@0.5")) == ["auc", "error"]
    assert names(None, "custom") == ["rmse"]
    assert names(None, "custom", 3) == ["rmse"]
    assert names([log_loss], "custom", 3) == ["rmse", "log_loss"]
    with pytest.raises(ParameterError, match=re.escape("two metrics called '<lambda>'")):
        names([lambda a, b: 0.0, lambda a, b: 1.0])
    with pytest.raises(ParameterError, match="two metrics called 'auc'"):
        names(["auc", areas.auc])
    with pytest.raises(ParameterError, match="must be a name, a function"):
        names(3)


@pytest.fixture
def rankings(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What the functions of rankings are asked."""
    asked: list[tuple[Any, ...]] = []
    module = ModuleType("weald.boosting.metrics.ranking")
    for name in ("ndcg", "mean_average_precision", "precision"):

        def function(p, y, start, weight=None, k=None, *, name=name, **options):
            asked.append((name, list(start), None if weight is None else list(weight), k, options))
            return 0.25

        setattr(module, name, function)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return asked


@pytest.mark.parametrize(
    ("text", "function", "k", "options"),
    [
        ("ndcg@10", "ndcg", 10, {"minus": False, "exponential": True}),
        ("ndcg-", "ndcg", None, {"minus": True, "exponential": True}),
        ("map@5-", "mean_average_precision", 5, {"minus": True}),
        ("pre@2", "precision", 2, {}),
    ],
)
def test_rankings_by_name(rankings, text: str, function: str, k: int | None, options: dict[str, Any]):
    found = metric(text, "rank:ndcg")
    assert found.name == text
    assert found.maximize
    y, start = np.array([1.0, 0.0, 1.0]), np.array([0, 2, 3, 3])
    assert found(np.zeros(3), BoostTarget(y, np.array([2.0, 2.0, 5.0]), start)) == 0.25
    found(np.zeros(3), BoostTarget(y, None, start))
    found(np.zeros(3), BoostTarget(y))  # no queries: all rows are one
    assert rankings == [
        (function, [0, 2, 3, 3], [2.0, 5.0, 0.0], k, options),
        (function, [0, 2, 3, 3], None, k, options),
        (function, [0, 3], None, k, options),
    ]


def test_gain_of_ndcg(rankings):
    metric("ndcg", "rank:ndcg", ndcg_exp_gain=False)(np.zeros(1), BoostTarget(np.zeros(1)))
    assert rankings[0][-1]["exponential"] is False


class TestFunctions:
    target = BoostTarget(np.array([0.0, 1.0, 1.0]), np.array([1.0, 2.0, 0.0]))
    p = np.array([0.2, 0.7, 0.9])

    def test_scikit_learn(self):
        found = metric(log_loss)
        expected = log_loss(self.target.values, self.p, sample_weight=self.target.weight)
        assert found.name == "log_loss"
        assert not found.maximize
        assert found(self.p, self.target) == pytest.approx(expected)

    def test_names(self):
        class Loss:
            def __call__(self, y_true, y_pred):
                return 1.0

        assert metric(Loss()).name == "Loss"
        assert metric(partial(log_loss, labels=[0, 1])).name == "log_loss"

    def test_without_weights(self):
        """A function that takes no weights sees the rows that have one."""
        assert metric(lambda y_true, y_pred: len(y_true))(self.p, self.target) == 2.0

    def test_arrays_are_read_only(self):
        def spoil(y_true, y_pred):
            y_pred[0] = 3.0
            return 0.0

        with pytest.raises(ValueError, match="read-only"):
            metric(spoil)(self.p, self.target)

    @pytest.mark.parametrize(
        ("answer", "error", "said"),
        [
            (None, DataTypeError, "The metric 'broken' gave nothing: None."),
            ("good", DataTypeError, "The metric 'broken' gave 'good' (str)."),
            (np.zeros(3), DataTypeError, "(ndarray). A function f(y_true, y_pred) must give one number."),
            (float("nan"), DataError, "The metric 'broken' gave NaN"),
        ],
    )
    def test_no_number(self, answer, error: type, said: str):
        def broken(y_true, y_pred):
            return answer

        with pytest.raises(error, match=re.escape(said)):
            metric(broken)(self.p, self.target)

    @pytest.mark.parametrize("answer", [1, np.float32(1.0), np.array(1.0), True])
    def test_numbers(self, answer):
        assert metric(lambda y_true, y_pred: answer)(self.p, self.target) == 1.0

    def test_rankings(self):
        """Query by query; a query of one row counts 1."""

        def ndcg(y_true, y_pred):
            return ndcg_score(y_true[None], y_pred[None])

        y, p = np.array([0.0, 1.0, 2.0, 1.0, 0.0, 4.0]), np.array([0.3, 0.2, 0.1, 0.4, 0.5, 0.6])
        start = np.array([0, 3, 5, 6])
        each = [ndcg(y[:3], p[:3]), ndcg(y[3:5], p[3:5]), 1.0]
        found = metric(ndcg, "rank:ndcg")
        assert found.maximize  # xgboost goes by the name
        assert found(p, BoostTarget(y, None, start)) == pytest.approx(np.mean(each))
        weight = np.array([2.0, 2.0, 2.0, 1.0, 1.0, 5.0])
        expected = np.average(each, weights=[2.0, 1.0, 5.0])
        assert found(p, BoostTarget(y, weight, start)) == pytest.approx(expected)


def test_import_is_light():
    code = (
        "import sys, weald.boosting.newton.watch\n"
        "late = [m for m in ('rich', 'scipy.special', 'pandas', 'xgboost') if m in sys.modules]\n"
        "assert not late, late"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
