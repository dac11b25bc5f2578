"""Scores with intervals: every way to compute them gives scikit-learn's numbers; bad input is refused."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

import weald
from weald.engine import ResamplePlan
from weald.errors import DataError, ParameterError, UncertaintyWarning
from weald.uncertainty.bootstrap.plans import leave_out_groups
from weald.uncertainty.scores.areas import delong, placements
from weald.uncertainty.scores.evaluators import ByCells, ByCounts, ByRanks, ByScorer, BySums
from weald.uncertainty.scores.fast import evaluator_of
from weald.uncertainty.scores.told import read_told, scorer_of

X, Y = make_classification(260, n_features=6, flip_y=0.2, random_state=0)
WEIGHT = np.random.default_rng(0).random(120) + 0.1
MODEL = LogisticRegression().fit(X[:140], Y[:140])
ROWS, TRUTH = X[140:], Y[140:]
X3, Y3 = make_classification(260, n_features=6, n_informative=4, n_classes=3, flip_y=0.2, random_state=0)
MODEL3 = LogisticRegression().fit(X3[:140], Y3[:140])
XR, YR = make_regression(200, 4, noise=30, random_state=0)
MODELR = LinearRegression().fit(XR[:100], YR[:100])

TWO = {
    "accuracy": ByCounts,
    "balanced_accuracy": ByCounts,
    "f1": ByCounts,
    "precision_macro": ByCounts,
    "recall_weighted": ByCounts,
    "jaccard": ByCounts,
    "matthews_corrcoef": ByCounts,
    "roc_auc": ByRanks,
    "average_precision": ByRanks,
    "neg_log_loss": BySums,
    "neg_brier_score": BySums,
    "top_k_accuracy": ByScorer,
}
THREE = {
    "accuracy": ByCounts,
    "f1_macro": ByCounts,
    "f1_micro": ByCounts,
    "matthews_corrcoef": ByCounts,
    "neg_log_loss": BySums,
    "neg_brier_score": BySums,
    "roc_auc_ovr": ByScorer,
}
NUMBERS = {
    "r2": BySums,
    "neg_mean_squared_error": BySums,
    "neg_root_mean_squared_error": BySums,
    "neg_mean_absolute_error": BySums,
    "neg_median_absolute_error": ByScorer,
}
CASES = [
    *((MODEL, ROWS, TRUTH, name, kind) for name, kind in TWO.items()),
    *((MODEL3, X3[140:], Y3[140:], name, kind) for name, kind in THREE.items()),
    *((MODELR, XR[80:], YR[80:], name, kind) for name, kind in NUMBERS.items()),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("model", "rows", "truth", "name", "kind"),
    CASES,
    ids=[f"{case[3]}-{len(np.unique(case[2]))}" for case in CASES],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_fast_ways_are_scikit_learns(model, rows, truth, name, kind, weighted):
    weight = WEIGHT if weighted and name != "neg_median_absolute_error" else None
    told, y = read_told(model, rows, truth, "test")
    scorer, _ = scorer_of(name, told, None, "test")
    fast = evaluator_of(name, scorer, told, y, weight, None)
    if weight is None:
        assert type(fast) is kind
    plain = ByScorer(scorer, told, y, weight, None)
    extra = {} if weight is None else {"sample_weight": weight}
    assert fast.value() == pytest.approx(float(metrics.get_scorer(name)(model, rows, truth, **extra)))
    plan = ResamplePlan(len(y))
    np.testing.assert_allclose(
        fast.drawn(plan, 3, 0, 40, n_threads=2), plain.drawn(plan, 3, 0, 40, n_threads=1), atol=1e-9
    )
    groups = leave_out_groups(plan, 30, 0)
    np.testing.assert_allclose(
        fast.without(groups, n_threads=1), plain.without(groups, n_threads=1), atol=1e-9
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning", "ignore::UserWarning")
def test_every_scorer_of_scikit_learns():
    """Each that takes these predictions gives its own score, with an interval around it."""
    n_done = 0
    for name in metrics.get_scorer_names():
        for model, rows, truth in ((MODEL, ROWS, TRUTH), (MODELR, XR[100:], np.abs(YR[100:]) + 1)):
            try:
                score = float(metrics.get_scorer(name)(model, rows, truth))
            except (ValueError, AttributeError):
                continue
            found = weald.score_interval(
                model, rows, truth, name, n_resamples=9, method="percentile", random_state=0
            )
            assert found.score == pytest.approx(score), name
            assert found.low <= found.high
            n_done += 1
    assert n_done > 60


def test_labels_of_scikit_learns_functions_go_by_kinds_of_rows():
    told, y = read_told(MODEL3, X3[140:], Y3[140:], "test")
    scorer, name = scorer_of(metrics.cohen_kappa_score, told, None, "test")
    fast = evaluator_of(name, scorer, told, y, None, None)
    assert type(fast) is ByCells
    plain, plan = ByScorer(scorer, told, y, None, None), ResamplePlan(len(y))
    np.testing.assert_allclose(
        fast.drawn(plan, 1, 0, 30, n_threads=1), plain.drawn(plan, 1, 0, 30, n_threads=1)
    )
    groups = leave_out_groups(plan, 1000, 0)
    np.testing.assert_allclose(fast.without(groups, n_threads=1), plain.without(groups, n_threads=1))


def test_names_scorers_and_functions_agree():
    scorer = metrics.make_scorer(metrics.log_loss, response_method="predict_proba", greater_is_better=False)
    answers = [
        weald.score_interval(MODEL, ROWS, TRUTH, metric, n_resamples=99, random_state=0)
        for metric in ("neg_log_loss", scorer, metrics.log_loss)
    ]
    assert answers[0].score == pytest.approx(answers[1].score) == pytest.approx(-answers[2].score)
    assert answers[0].standard_error == pytest.approx(answers[2].standard_error)

    def own(y_true, y_pred):
        return float(np.mean(y_true == y_pred))

    def by_itself(estimator, X, y):
        return float(np.mean(estimator.predict(X) == y))

    same = {
        weald.score_interval(MODEL, ROWS, TRUTH, metric, n_resamples=99, random_state=0).interval(
            method="basic"
        )
        for metric in ("accuracy", own, by_itself)
    }
    assert np.ptp([ends.low for ends in same]) < 1e-12


def test_predictions_stand_for_the_model():
    shares, values = MODEL.predict_proba(ROWS), MODEL.decision_function(ROWS)
    for metric in ("roc_auc", "neg_log_loss", "accuracy"):
        by_model = weald.score_interval(MODEL, ROWS, TRUTH, metric, n_resamples=99, random_state=0)
        by_shares = weald.score_interval(shares, None, TRUTH, metric, n_resamples=99, random_state=0)
        np.testing.assert_allclose(by_model.interval(), by_shares.interval())
    assert weald.score_interval(values, None, TRUTH, "roc_auc").score == pytest.approx(
        metrics.roc_auc_score(TRUTH, values)
    )
    assert weald.score_interval(shares[:, 1], None, TRUTH, "neg_log_loss", random_state=0).score < 0
    labels = MODEL.predict(ROWS)
    frame = weald.score_interval(pd.Series(labels), None, pd.Series(TRUTH), n_resamples=99, random_state=0)
    lists = weald.score_interval(labels.tolist(), None, TRUTH.tolist(), n_resamples=99, random_state=0)
    assert frame.interval() == lists.interval()


def test_models_of_all_kinds():
    forest = weald.RandomForestClassifier(10, random_state=0).fit(X[:140], Y[:140])
    found = weald.score_interval(forest, ROWS, TRUTH, n_resamples=99, random_state=0)
    assert found.metric == "accuracy"
    assert found.score == pytest.approx(forest.score(ROWS, TRUTH))
    machine = LinearSVC().fit(X[:140], Y[:140])
    assert weald.score_interval(machine, ROWS, TRUTH, "roc_auc").method == "delong"
    assert weald.score_interval(MODELR, XR[100:], YR[100:], n_resamples=99).metric == "r2"


def test_jobs_do_not_show():
    for metric in ("f1", "roc_auc", "neg_log_loss", lambda y_true, y_pred: float(np.sum(y_true == y_pred))):
        found = {
            weald.score_interval(
                MODEL, ROWS, TRUTH, metric, method="bca", n_resamples=60, random_state=0, n_jobs=n
            ).bootstrap.distribution.tobytes()
            for n in (1, 2, 5)
        }
        assert len(found) == 1


# --------------------------------------------------------------------------- DeLong


def brute_force(scores: np.ndarray, positive: np.ndarray) -> tuple[float, float]:
    """Area and variance of the U-statistic, over all pairs."""
    above, below = scores[positive], scores[~positive]
    m, n = len(above), len(below)
    wins = np.array([[(a > b) + 0.5 * (a == b) for b in below] for a in above])
    area = wins.mean()
    rows, columns = wins.mean(axis=1), wins.mean(axis=0)
    of_positive = sum((r - area) ** 2 for r in rows) / (m - 1)
    of_negative = sum((c - area) ** 2 for c in columns) / (n - 1)
    return area, of_positive / m + of_negative / n


@pytest.mark.parametrize("seed", range(6))
def test_delong_is_the_u_statistics_variance(seed):
    rng = np.random.default_rng(seed)
    positive = rng.random(25) < 0.4
    positive[:2], positive[2:4] = True, False
    scores = rng.integers(0, 8, 25).astype(float) + positive  # with ties
    areas, covariance = delong([scores], positive)
    area, variance = brute_force(scores, positive)
    assert areas[0] == pytest.approx(area) == pytest.approx(metrics.roc_auc_score(positive, scores))
    assert covariance[0, 0] == pytest.approx(variance)
    # The difference of two models has the variance of the difference of their placements.
    other = rng.normal(size=25)
    _, both = delong([scores, other], positive)
    one, two = placements(scores, positive), placements(other, positive)
    pairs = [np.cov(a, b)[0, 1] / len(a) for a, b in zip(one, two, strict=True)]
    assert both[0, 1] == pytest.approx(sum(pairs))
    assert both[1, 1] == pytest.approx(brute_force(other, positive)[1])


def test_the_variance_is_that_of_all_samples():
    """Over all ways to draw rows from a small population the mean of DeLong's variance is the variance."""
    rng = np.random.default_rng(0)
    above, below = rng.normal(1, 1, 3), rng.normal(0, 1, 3)
    positive = np.repeat([True, False], 3)
    areas, variances = [], []
    for picks in product(range(3), repeat=6):
        scores = np.concatenate([above[list(picks[:3])], below[list(picks[3:])]])
        found, covariance = delong([scores], positive)
        areas.append(found[0])
        variances.append(covariance[0, 0])
    assert np.mean(variances) >= np.var(areas)  # never too small on average,
    assert np.mean(variances) == pytest.approx(np.var(areas), rel=0.1)  # and hardly too large


# --------------------------------------------------------------------------- bad input


def test_one_class_only():
    for metric in ("roc_auc", "average_precision"):
        with pytest.raises(DataError, match=r"needs rows of two labels.*one label only"):
            weald.score_interval(np.arange(10.0), None, np.ones(10, int), metric)


def test_perfect_separation_is_said_aloud():
    with pytest.warns(UncertaintyWarning, match="part the classes without an error"):
        found = weald.score_interval(np.arange(10.0), None, np.repeat([0, 1], 5), "roc_auc")
    assert found.interval() == (1.0, 1.0)
    with pytest.warns(UncertaintyWarning, match="Every resample has the same value"):
        weald.score_interval([0, 1] * 5, None, [0, 1] * 5, "accuracy", n_resamples=50)


def test_a_class_that_resamples_miss():
    y = np.repeat([0, 1], [40, 1])
    options = {"method": "percentile", "n_resamples": 200, "random_state": 0}
    scores = np.arange(41.0) % 7
    with pytest.raises(DataError, match="stratify=True"):
        weald.score_interval(scores, None, y, "roc_auc", stratify=False, **options)
    assert weald.score_interval(scores, None, y, "roc_auc", **options).low >= 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"metric": "acuracy"}, "Did you mean 'accuracy'"),
        ({"metric": 3}, "a scorer's name"),
        ({"confidence": 95}, "Use 0.95 for 95 %"),
        ({"metric": "accuracy", "method": "delong"}, "is for the metric 'roc_auc'"),
        ({"method": "studentised"}, "must be 'auto', 'delong'"),
        ({"stratify": "yes"}, "`stratify`"),
        ({"nan_policy": "drop"}, "`nan_policy`"),
        ({"n_resamples": 0}, "at least 1"),
    ],
)
def test_bad_parameters(given, words):
    with pytest.raises(ParameterError, match=words):
        weald.score_interval(MODEL, ROWS, TRUTH, **{"n_resamples": 20, **given})


def test_bad_data():
    with pytest.raises(DataError, match="X of score_interval has 120 rows and y 5"):
        weald.score_interval(MODEL, ROWS, TRUTH[:5])
    with pytest.raises(DataError, match="needs X"):
        weald.score_interval(MODEL, None, TRUTH)
    with pytest.raises(DataError, match="one prediction for each of the 120 rows"):
        weald.score_interval([0, 1], None, TRUTH)
    with pytest.raises(DataError, match="3 columns and y has 2 labels"):
        weald.score_interval(np.ones((120, 3)) / 3, None, TRUTH)
    with pytest.raises(DataError, match="positive one, as in make_scorer"):
        weald.score_interval(["a", "b"] * 10, None, ["a", "b"] * 9 + ["b", "a"], "f1")
    with pytest.raises(DataError, match="NaN in row 1"):
        weald.score_interval([0.0, 1.0], None, [0.0, np.nan], "r2")


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy"])
def test_many_labels_are_counted_by_hits(metric: str) -> None:
    rng = np.random.default_rng(2)
    y = rng.choice([f"label {k}" for k in range(24)], 300)
    said = np.where(rng.random(300) < 0.6, y, rng.permutation(y))
    found = weald.score_interval(said, None, y, metric, random_state=0, n_resamples=60)
    # the same resamples, each scored by scikit-learn itself: of a function it knows nothing
    plain = getattr(metrics, f"{metric}_score")

    def asks(y_true: object, y_pred: object) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # labels that a resample lacks
            return float(plain(y_true, y_pred))

    asked = weald.score_interval(said, None, y, asks, random_state=0, n_resamples=60)
    assert found.score == pytest.approx(asked.score)
    assert (found.low, found.high) == pytest.approx((asked.low, asked.high))
