"""AdaBoost beside scikit-learn's: the same members, weights and answers; and scikit-learn's contract.

R2 beside theirs, given the same members, is in tests/sources/test_adaboost.py.
"""

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier as TheirClassifier
from sklearn.ensemble import AdaBoostRegressor as TheirRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as TheirTree
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from weald import AdaBoostClassifier, AdaBoostRegressor, DecisionTreeClassifier
from weald.testing import expected_failed_checks


def rows(n_classes, n=400, seed=0):
    """No two cuts tie: every value is there once."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    score = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6, equal_nan=False)


def agree(ours, theirs, X):
    n = len(ours)
    assert n == len(theirs.estimators_)
    near(ours.estimator_weights_, theirs.estimator_weights_[:n])
    near(ours.estimator_errors_, theirs.estimator_errors_[:n])
    assert np.array_equal(ours.classes_, theirs.classes_)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    near(ours.decision_function(X), theirs.decision_function(X))
    for name in ("staged_predict_proba", "staged_decision_function"):
        for a, b in zip(getattr(ours, name)(X), getattr(theirs, name)(X), strict=True):
            near(a, b)


# In deeper trees small pure nodes tie, and entropies that are equal differ in their last bit.
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # theirs, of a weight of 0
@pytest.mark.parametrize(("depth", "criterion"), [(1, "gini"), (1, "entropy"), (2, "gini")])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_trees(n_classes, depth, criterion):
    X, y = rows(n_classes)
    weight = np.random.default_rng(1).exponential(size=len(y))
    weight[:15] = 0.0
    base = {"max_depth": depth, "criterion": criterion}
    for options, extra in (({}, None), ({"learning_rate": 0.3}, None), ({}, weight)):
        ours = AdaBoostClassifier(DecisionTreeClassifier(**base), n_estimators=25, **options)
        theirs = TheirClassifier(TheirTree(**base, random_state=0), n_estimators=25, **options)
        agree(ours.fit(X, y, extra), theirs.fit(X, y, extra), X)
    if depth == 1:
        assert ours.feature_importances_ == pytest.approx(theirs.feature_importances_, abs=1e-6)


@pytest.mark.parametrize("base", [GaussianNB(), LogisticRegression(C=100.0)], ids=["bayes", "logistic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_other_members(base, n_classes):
    X, y = rows(n_classes)
    words = np.array(["a", "b", "c"])[y]
    options = {"n_estimators": 6, "learning_rate": 0.5}
    agree(
        AdaBoostClassifier(base, **options).fit(X, words), TheirClassifier(base, **options).fit(X, words), X
    )


def test_r2_is_as_good():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (600, 4))
    y = np.sin(X[:, 0]) + np.abs(X[:, 1]) + 0.2 * rng.normal(size=600)
    theirs = np.mean(cross_val_score(TheirRegressor(random_state=0), X, y))
    for options in ({}, {"resample": "compound", "random_state": 0}):
        assert np.mean(cross_val_score(AdaBoostRegressor(**options), X, y)) > theirs - 0.03


def test_tools():
    X, y = rows(3)
    search = GridSearchCV(
        AdaBoostClassifier(DecisionTreeClassifier(), n_estimators=5),
        {"estimator__max_depth": [1, 2], "learning_rate": [0.5, 1.0]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.5
    assert make_pipeline(StandardScaler(), AdaBoostClassifier(n_estimators=5)).fit(X, y).score(X, y) > 0.5


ESTIMATORS = [
    AdaBoostClassifier(n_estimators=5),
    AdaBoostClassifier(DecisionTreeClassifier(max_depth=3, max_features=2), n_estimators=5),
    AdaBoostClassifier(n_estimators=5, resample="compound", worse_than_chance="reset"),
    AdaBoostClassifier(n_estimators=5, probability="logistic", early_stopping=0.2),
    AdaBoostClassifier(GaussianNB(), n_estimators=5),
    AdaBoostRegressor(n_estimators=5),
    AdaBoostRegressor(n_estimators=5, resample="reset", loss="square"),
    AdaBoostRegressor(n_estimators=5, early_stopping=0.2, loss="exponential"),
    AdaBoostRegressor(Ridge(), n_estimators=5),
]


@pytest.mark.filterwarnings("ignore:AdaBoostClassifier stops after:UserWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_keeps_the_contract(estimator, check):
    check(estimator)


# These members take no weights, and so neither does what is weighed; all other checks must pass.
WITHOUT_WEIGHTS = [
    (estimator, check)
    for estimator in (
        AdaBoostClassifier(
            KNeighborsClassifier(), n_estimators=3, resample="compound", worse_than_chance="negate"
        ),
        AdaBoostRegressor(
            make_pipeline(StandardScaler(), KNeighborsRegressor()), n_estimators=3, resample="compound"
        ),
    )
    for _, check in estimator_checks_generator(estimator)
    if "sample_weight_equivalence" not in check.func.__name__
]


@pytest.mark.parametrize(
    ("estimator", "check"),
    WITHOUT_WEIGHTS,
    ids=[f"{estimator!r}-{check.func.__name__}" for estimator, check in WITHOUT_WEIGHTS],
)
def test_keeps_the_contract_without_weights(estimator, check):
    check(estimator)
