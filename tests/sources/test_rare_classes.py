"""METHODS sections 7 and 10: thresholds for every classifier, and the shift in class shares undone."""

import numpy as np
import pytest
from sklearn.base import clone

import weald
from weald import Thresholded

CLASSIFIERS = {
    "tree": weald.DecisionTreeClassifier(max_depth=4),
    "forest": weald.RandomForestClassifier(20, random_state=0),
    "extra trees": weald.ExtraTreesClassifier(10, max_depth=5, random_state=0),
    "bagging": weald.BaggingClassifier(weald.DecisionTreeClassifier(max_depth=4), 20, random_state=0),
    "AdaBoost": weald.AdaBoostClassifier(n_estimators=5),
    "gradient boosting": weald.GradientBoostingClassifier(n_estimators=5),
    "XGBoost": weald.XGBClassifier(n_estimators=5, max_depth=3),
    "XGBoost forest": weald.XGBRFClassifier(n_estimators=5, max_depth=3),
    "SVM": weald.SVC(probability=True, random_state=0),
    "vote": weald.VotingClassifier([("tree", weald.DecisionTreeClassifier(max_depth=4))], voting="soft"),
    "balanced forest": weald.BalancedRandomForestClassifier(20, random_state=0),
    "balanced bagging": weald.BalancedBaggingClassifier(
        weald.DecisionTreeClassifier(max_depth=4), 20, random_state=0
    ),
    "easy ensemble": weald.EasyEnsembleClassifier(
        2, weald.AdaBoostClassifier(n_estimators=4), random_state=0
    ),
    "RUSBoost": weald.RUSBoostClassifier(n_estimators=4, random_state=0),
}
BALANCED = ("balanced forest", "balanced bagging", "easy ensemble", "RUSBoost")


def rows(n=400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + X[:, 1] / 2 + rng.normal(size=n) / 2 > 1.6).astype(int)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_thresholds_for_every_classifier(name):
    X, y = rows()
    model = Thresholded(clone(CLASSIFIERS[name]), "balanced_accuracy", cv=None if "bag" in name else 2).fit(
        X, y
    )
    plain = clone(CLASSIFIERS[name]).fit(X, y)
    assert 0 < model.threshold_ < 1
    assert np.mean(model.predict(X)[y == 1]) >= np.mean(plain.predict(X)[y == 1]) - 0.12
    assert ((model.predict(X) == 1) == (model.predict_proba(X)[:, 1] >= model.threshold_)).all()


#: these fit their probabilities on rows that members did not see (docs/methods/balanced_ensembles.md, R11)
BY_UNSEEN_ROWS = ("balanced forest", "easy ensemble")


@pytest.mark.parametrize("name", sorted({*BALANCED} - {*BY_UNSEEN_ROWS}))
def test_the_odds_change_by_the_ratio_of_the_shares(name):
    """odds'(k) = odds(k) · π_k / π'_k, the others likewise."""
    X, y = rows()
    model = clone(CLASSIFIERS[name]).fit(X, y)
    corrected = model.predict_proba(X)
    plain = model.set_params(correct_prior=False).predict_proba(X)
    inner = ((plain > 0) & (plain < 1)).all(axis=1)
    odds, before = (each[inner, 1] / each[inner, 0] for each in (corrected, plain))
    share = y.mean()
    assert inner.any()
    assert np.allclose(odds / before, share / (1 - share))


@pytest.mark.parametrize("name", BY_UNSEEN_ROWS)
def test_probabilities_fit_the_shares_of_rows_not_seen(name):
    X, y = rows(4000)
    model = clone(CLASSIFIERS[name]).fit(X[:2000], y[:2000])
    corrected = model.predict_proba(X[2000:])[:, 1]
    plain = model.set_params(correct_prior=False).predict_proba(X[2000:])[:, 1]
    share = y[2000:].mean()
    noise = 3 * np.sqrt(share * (1 - share) / 2000)
    assert abs(corrected.mean() - share) < noise < abs(plain.mean() - share)
    assert (np.diff(corrected[np.argsort(plain)]) >= -1e-12).all()  # the order of rows stays


def test_three_classes_are_brought_back_in_proportion():
    X, _ = rows()
    y = np.digitize(X[:, 0], [-1.5, 1.0])
    model = weald.BalancedBaggingClassifier(
        weald.DecisionTreeClassifier(max_depth=4), 20, random_state=0
    ).fit(X, y)
    corrected = model.predict_proba(X)
    plain = model.set_params(correct_prior=False).predict_proba(X)
    expected = plain * np.bincount(y)
    assert np.allclose(corrected, expected / expected.sum(axis=1, keepdims=True))
