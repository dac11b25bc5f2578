"""Sets of labels of `Conformal`, against the definitions with members fitted by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

from weald import BaggingClassifier, Conformal, RandomForestClassifier, XGBClassifier
from weald.uncertainty.conformal import label_scores

LABELS = np.array(["high", "low", "mid"])


def data(n_rows=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    score = X[:, 0] + rng.normal(0, 0.7, n_rows)
    return X, LABELS[np.digitize(score, [-0.5, 0.6])]


NEW = data(15, 9)[0]


def places(y):
    return np.searchsorted(LABELS, y)


@pytest.mark.parametrize("kind", ["lac", "aps"])
def test_split_is_the_definition(kind):
    X, y = data()
    model = Conformal(GaussianNB(), conformity_score=kind, calibration_size=0.4, random_state=2).fit(X, y)
    held = model.calibration_rows_
    train = np.setdiff1d(np.arange(90), held)
    own = GaussianNB().fit(X[train], y[train])
    scores = label_scores(own.predict_proba(X[held]), kind)[np.arange(len(held)), places(y[held])]
    threshold = np.sort(scores)[math.ceil((len(held) + 1) * 0.8) - 1]
    expected = label_scores(own.predict_proba(NEW), kind) <= threshold
    found = model.predict_set(NEW, 0.8)
    assert found.dtype == np.bool_
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(model.predict(NEW), own.predict(NEW))
    np.testing.assert_array_equal(model.predict_proba(NEW), own.predict_proba(NEW))
    as_labels = model.predict_set(NEW, 0.8, as_labels=True)
    assert [each.tolist() for each in as_labels] == [LABELS[row].tolist() for row in expected]


def sets_by_loops(own, scores, group, labels, apart, coverage):
    """Romano, Sesia and Candès (2020): labels whose scores too few rows stay below."""
    found = np.zeros(scores.shape[1:], bool)
    for x, k in np.ndindex(found.shape):
        rows = [i for i in range(len(own)) if not apart or labels[i] == k]
        found[x, k] = sum(own[i] < scores[group[i], x, k] for i in rows) < coverage * (len(rows) + 1)
    return found


@pytest.mark.parametrize("apart", [False, True])
def test_cv_plus_is_the_definition(apart):
    X, y = data()
    folds = list(StratifiedKFold(3).split(X, y))
    model = Conformal(GaussianNB(), method="cv+", cv=folds, class_conditional=apart).fit(X, y)
    own, group, scores = np.empty(90), np.empty(90, int), []
    for k, (train, held) in enumerate(folds):
        member = GaussianNB().fit(X[train], y[train])
        own[held] = 1 - member.predict_proba(X[held])[np.arange(len(held)), places(y[held])]
        group[held] = k
        scores.append(1 - member.predict_proba(NEW))
    expected = sets_by_loops(own, np.stack(scores), group, places(y), apart, 0.85)
    np.testing.assert_array_equal(model.predict_set(NEW, 0.85), expected)


@pytest.mark.parametrize(
    "member",
    [
        RandomForestClassifier(25, max_depth=3, random_state=1),
        BaggingClassifier(n_estimators=25, random_state=1),
        BaggingClassifier(GaussianNB(), n_estimators=25, random_state=1),
    ],
    ids=["forest", "bagged trees", "bagged others"],
)
@pytest.mark.parametrize("kind", ["lac", "aps"])
def test_ensembles_are_judged_by_the_members_that_lack_a_row(member, kind):
    X, y = data(40)
    model = Conformal(member, method="jackknife+", conformity_score=kind).fit(X, y)
    own = clone(member).fit(X, y)
    lacks = np.array([~np.isin(np.arange(40), rows) for rows in own.estimators_samples_])
    ours, theirs = (np.stack([each.predict_proba(t) for each in own.estimators_]) for t in (X, NEW))
    means = np.stack([theirs[lacks[:, i]].mean(axis=0) for i in range(40)])
    mine = np.stack([ours[lacks[:, i], i].mean(axis=0) for i in range(40)])
    scores = label_scores(mine, kind)[np.arange(40), places(y)]
    np.testing.assert_allclose(model.conformity_scores_, scores, atol=1e-12)
    expected = sets_by_loops(
        model.conformity_scores_, label_scores(means, kind), np.arange(40), places(y), False, 0.83
    )
    # Shares of few trees have ties, which the order of a sum may part.
    assert np.mean(model.predict_set(NEW, 0.83) == expected) > 0.95


@pytest.mark.parametrize("kind", ["lac", "aps"])
def test_jackknife_plus_of_others_leaves_out_one_by_one(kind):
    X, y = data(24)
    model = Conformal(GaussianNB(), method="jackknife+", conformity_score=kind).fit(X, y)
    own, scores = np.empty(24), []
    for row in range(24):
        rest = np.arange(24) != row
        member = GaussianNB().fit(X[rest], y[rest])
        own[row] = label_scores(member.predict_proba(X[row : row + 1]), kind)[0, places(y[row])]
        scores.append(member.predict_proba(NEW))
    expected = sets_by_loops(own, label_scores(np.stack(scores), kind), np.arange(24), places(y), False, 0.9)
    np.testing.assert_array_equal(model.predict_set(NEW), expected)


def test_classes_calibrated_apart_are_covered_apart():
    X, y = data(3000)
    test, truth = data(3000, 5)
    rare = y == "mid"
    keep = ~rare | (np.arange(3000) % 4 == 0)
    base = Conformal(LogisticRegression(), calibration_size=0.5).fit(X[keep], y[keep])
    apart = clone(base).set_params(class_conditional=True).fit(X[keep], y[keep])

    def by_class(model):
        held = model.predict_set(test)[np.arange(3000), places(truth)]
        return np.array([held[truth == label].mean() for label in LABELS])

    assert by_class(base).min() < 0.8
    assert abs(by_class(apart) - 0.9).max() < 0.04


def test_classes_drawn_apart_have_their_share_and_stay_in_training():
    y = np.repeat(["a", "b", "c"], [90, 8, 2])
    X = np.arange(100.0)[:, None]
    model = Conformal(GaussianNB(), class_conditional=True, calibration_size=0.25)
    for seed in range(5):
        held = y[model.set_params(random_state=seed).fit(X, y).calibration_rows_]
        assert [np.count_nonzero(held == label) for label in "abc"] == [22, 2, 1]


@pytest.mark.parametrize(
    "labels", [[True, False], [3, -1], ["x", "y"], pd.to_datetime(["2024-01-01", "2025-01-01"])]
)
def test_labels_of_any_type(labels):
    X, y = data(60)
    y = pd.Series(labels)[(y == "high").astype(int)].reset_index(drop=True)
    model = Conformal(RandomForestClassifier(8, random_state=0)).fit(X, y)
    assert len(model.classes_) == model.n_classes_ == 2
    assert set(model.predict(NEW)) <= set(model.classes_)
    assert set(np.concatenate(model.predict_set(NEW, as_labels=True)).tolist()) <= set(
        model.classes_.tolist()
    )


def test_a_class_that_training_lacks_has_probability_zero():
    X, y = data(60)
    y = y.copy()
    y[7] = "only"
    fold = [(np.delete(np.arange(60), np.arange(10)), np.arange(10)), (np.arange(30), np.arange(30, 60))]
    model = Conformal(GaussianNB(), method="cv+", cv=fold).fit(X, y)
    assert model.classes_.tolist() == ["high", "low", "mid", "only"]
    assert model.conformity_scores_[7] == 1.0
    assert model.predict_proba(NEW).shape == (15, 4)


def test_a_fitted_classifier_is_calibrated_as_it_is():
    X, y = data(200)
    own = XGBClassifier(n_estimators=5).fit(X[:100], y[:100])
    some = y[100:] != "low"  # a class may be absent from calibration
    model = Conformal(own).calibrate(X[100:][some], y[100:][some])
    assert model.estimator_ is own
    assert model.classes_.tolist() == LABELS.tolist()
    shares = own.predict_proba(X[100:][some])[np.arange(some.sum()), places(y[100:][some])]
    np.testing.assert_allclose(model.conformity_scores_, 1 - shares)


def test_parameters_set_after_a_fit_do_not_change_what_is_fitted():
    X, y = data(90)
    model = Conformal(GaussianNB(), conformity_score="aps").fit(X, y)
    before = model.predict_set(NEW)
    model.set_params(conformity_score="lac", method="cv+")
    np.testing.assert_array_equal(model.predict_set(NEW), before)


def test_is_a_classifier_to_scikit_learn():
    X, y = data(90)
    model = Conformal(RandomForestClassifier(5, random_state=0))
    assert is_classifier(model)
    assert cross_val_score(model, X, y, cv=3, scoring="roc_auc_ovr").min() > 0.6
