"""Two models compared: the tests by their definitions, and that they tell what is there."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

import weald
from weald.errors import DataError, ParameterError, UncertaintyWarning
from weald.uncertainty.scores.compare import mcnemar

X, Y = make_classification(300, n_features=6, flip_y=0.2, random_state=0)
GOOD = LogisticRegression().fit(X[:150], Y[:150])
POOR = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X[:150], Y[:150])
ROWS, TRUTH = X[150:], Y[150:]


def test_mcnemar_by_counting_all_outcomes():
    for b, c in ((7, 1), (5, 5), (0, 3), (4, 6), (0, 0)):
        n = b + c
        heads = np.array([sum(each) for each in product((0, 1), repeat=n)])
        at_least, at_most = np.mean(heads >= b), np.mean(heads <= b)
        assert mcnemar(b, c, "greater", exact=True) == pytest.approx(at_least)
        assert mcnemar(b, c, "less", exact=True) == pytest.approx(at_most)
        both = min(1.0, 2 * min(at_least, at_most))
        assert mcnemar(b, c, "two-sided", exact=True) == pytest.approx(both)
        assert mcnemar(b, c, "greater", exact=False) == pytest.approx(at_least - np.mean(heads == b) / 2)
        middle = 2 * np.mean(heads <= min(b, c)) - np.mean(heads == min(b, c))
        assert mcnemar(b, c, "two-sided", exact=False) == pytest.approx(middle)


def test_accuracy_goes_by_mcnemar():
    found = weald.compare_scores(GOOD, POOR, ROWS, TRUTH, "accuracy")
    right = [model.predict(ROWS) == TRUTH for model in (GOOD, POOR)]
    b, c = np.sum(right[0] & ~right[1]), np.sum(right[1] & ~right[0])
    assert found.method == "mcnemar"
    assert found.difference == pytest.approx((b - c) / 150)
    exact = weald.compare_scores(GOOD, POOR, ROWS, TRUTH, "accuracy", method="mcnemar-exact")
    assert exact.p_value == pytest.approx(stats.binomtest(min(b, c), b + c).pvalue)
    assert found.p_value < exact.p_value
    drawn = weald.compare_scores(GOOD, POOR, ROWS, TRUTH, "accuracy", method="bca", random_state=0)
    np.testing.assert_allclose((found.low, found.high), (drawn.low, drawn.high), atol=0.03)
    assert found.low < found.difference < found.high


def test_areas_go_by_delong():
    found = weald.compare_scores(GOOD, POOR, ROWS, TRUTH, "roc_auc")
    areas = [roc_auc_score(TRUTH, model.predict_proba(ROWS)[:, 1]) for model in (GOOD, POOR)]
    assert found.method == "delong"
    assert (found.first, found.second) == pytest.approx(tuple(areas))
    drawn = weald.compare_scores(GOOD, POOR, ROWS, TRUTH, "roc_auc", method="normal", random_state=0)
    assert found.standard_error == pytest.approx(drawn.standard_error, rel=0.1)
    same = weald.compare_scores(GOOD, GOOD, ROWS, TRUTH, "roc_auc")
    assert (same.difference, same.p_value) == (0, 1)


def test_other_metrics_by_the_same_rows_of_both():
    found = weald.compare_scores(GOOD, POOR, ROWS, TRUTH, "neg_log_loss", n_resamples=500, random_state=0)
    apart = [
        weald.score_interval(model, ROWS, TRUTH, "neg_log_loss", n_resamples=500, random_state=0)
        for model in (GOOD, POOR)
    ]
    both = apart[0].bootstrap.distribution - apart[1].bootstrap.distribution
    np.testing.assert_allclose(found.bootstrap.distribution, both)
    assert (found.p_value < 0.05) == (not found.low <= 0 <= found.high)
    swapped = weald.compare_scores(POOR, GOOD, ROWS, TRUTH, "neg_log_loss", n_resamples=500, random_state=0)
    assert swapped.difference == pytest.approx(-found.difference)
    assert swapped.p_value == pytest.approx(found.p_value, abs=0.01)
    sided = weald.compare_scores(
        GOOD, POOR, ROWS, TRUTH, "neg_log_loss", n_resamples=500, random_state=0, alternative="greater"
    )
    assert sided.p_value == pytest.approx(found.p_value / 2)


def test_folds_by_the_corrected_t():
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    found = weald.compare_scores(LogisticRegression(), DummyClassifier(), X, Y, "accuracy", cv=folds)
    one, other = (
        cross_val_score(model, X, Y, scoring="accuracy", cv=folds)
        for model in (LogisticRegression(), DummyClassifier())
    )
    d = one - other
    error = np.sqrt((1 / 6 + 1 / 2) * d.var(ddof=1))
    np.testing.assert_allclose(found.fold_scores, [one, other])
    assert found.standard_error == pytest.approx(error)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(d.mean() / error), 5))
    plain = stats.ttest_rel(one, other)
    assert found.p_value > plain.pvalue
    again = weald.fold_t_test(one, other, n_train=200, n_test=100)
    assert again.p_value == pytest.approx(found.p_value)
    assert "folds" in repr(again)


def test_p_values_are_uniform_where_there_is_no_difference():
    """Of models that guess, the share of p-values below 0.1 is about 0.1."""
    small = {"accuracy": 0, "roc_auc": 0}
    for seed in range(120):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 80)
        small["accuracy"] += (
            weald.compare_scores(*rng.integers(0, 2, (2, 80)), None, y, "accuracy").p_value < 0.1
        )
        small["roc_auc"] += weald.compare_scores(*rng.normal(size=(2, 80)), None, y, "roc_auc").p_value < 0.1
    assert 4 <= small["accuracy"] <= 22
    assert 4 <= small["roc_auc"] <= 22


def test_bad_input():
    with pytest.raises(ParameterError, match="one of 'auto', 'delong'"):
        weald.compare_scores(GOOD, POOR, ROWS, TRUTH, method="t")
    with pytest.raises(ParameterError, match="is for the metric 'accuracy'"):
        weald.compare_scores(GOOD, POOR, ROWS, TRUTH, "f1", method="mcnemar")
    with pytest.raises(ParameterError, match="one method, the corrected t-test"):
        weald.compare_scores(GOOD, POOR, X, Y, cv=3, method="bca")
    with pytest.raises(DataError, match="got predictions"):
        weald.compare_scores(Y, POOR, X, Y, cv=3)
    with pytest.raises(DataError, match="at least 2 of them"):
        weald.fold_t_test([0.5], [0.4], n_train=2, n_test=1)
    with pytest.raises(DataError, match="for each fold"):
        weald.fold_t_test([0.5, 0.4], [0.4], n_train=2, n_test=1)
    with pytest.raises(ParameterError, match="`n_test`"):
        weald.fold_t_test([0.5, 0.4], [0.4, 0.3], n_train=2, n_test=0)
    with pytest.warns(UncertaintyWarning, match="same amount on every fold"):
        assert weald.fold_t_test([0.5, 0.5], [0.5, 0.5], n_train=2, n_test=1).p_value == 1
