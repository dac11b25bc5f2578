"""Gradient boosting beside scikit-learn's: every limit, weights, early stopping, starts. Data without ties.

Weights that differ make ties rare where losses have few slopes. With weights, scikit-learn starts absolute
losses from the lower median, so those start from 0 here.
"""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier as TheirClassifier
from sklearn.ensemble import GradientBoostingRegressor as TheirRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

from weald import GradientBoostingClassifier, GradientBoostingRegressor


def numbers(n=240, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).astype(np.float32).astype(float)
    y = 2 * X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=n)
    return X, y, rng.uniform(0.2, 3.0, size=n)


def agree(mine, theirs, X, asked, close=1e-6):
    for ours, other in zip(getattr(mine, asked)(X), getattr(theirs, asked)(X), strict=True):
        assert np.abs(ours - other).max() < close
    assert mine.train_score_ == pytest.approx(theirs.train_score_, abs=close)
    assert mine.feature_importances_ == pytest.approx(theirs.feature_importances_, abs=close)


SETTINGS = [
    {"max_leaf_nodes": 5, "min_samples_leaf": 7},
    {"min_samples_split": 60},
    {"min_samples_leaf": 0.1},
    {"min_samples_leaf": 10, "min_impurity_decrease": 0.003},
    {"min_samples_leaf": 10, "ccp_alpha": 0.004},
    {"min_weight_fraction_leaf": 0.1},
    {"max_depth": 1},
    {"min_samples_leaf": 10, "learning_rate": 1.0},
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_limits_mean_the_same(settings, weighted):
    X, y, weight = numbers()
    weight = weight if weighted else None
    mine = GradientBoostingRegressor(n_estimators=12, **settings).fit(X, y, sample_weight=weight)
    theirs = TheirRegressor(n_estimators=12, **settings).fit(X, y, sample_weight=weight)
    agree(mine, theirs, X, "staged_predict")
    if "max_leaf_nodes" in settings:
        return  # scikit-learn numbers nodes in the order they are split
    for ours, other in zip(mine.estimators_.ravel(), theirs.estimators_.ravel(), strict=True):
        assert ours.tree_.feature.tolist() == other.tree_.feature.tolist()
        assert ours.tree_.value[:, 0, 0][ours.tree_.feature == -2] == pytest.approx(
            other.tree_.value[:, 0, 0][other.tree_.feature == -2]
        )


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_weighted_regression(loss):
    X, y, weight = numbers(seed=1)
    settings = {"loss": loss, "n_estimators": 15, "init": "zero", "min_samples_leaf": 10}
    mine = GradientBoostingRegressor(**settings).fit(X, y, sample_weight=weight)
    theirs = TheirRegressor(**settings).fit(X, y, sample_weight=weight)
    agree(mine, theirs, X, "staged_predict")


@pytest.mark.parametrize(("loss", "cuts"), [("log_loss", [0]), ("exponential", [0]), ("log_loss", [-1, 1])])
def test_weighted_classification(loss, cuts):
    X, y, weight = numbers()
    labels = np.array(["d", "c", "a", "b"])[np.digitize(y, cuts)]
    settings = {"loss": loss, "n_estimators": 15, "min_samples_leaf": 10}
    mine = GradientBoostingClassifier(**settings).fit(X, labels, sample_weight=weight)
    theirs = TheirClassifier(**settings).fit(X, labels, sample_weight=weight)
    agree(mine, theirs, X, "staged_decision_function")
    agree(mine, theirs, X, "staged_predict_proba")
    assert mine.predict(X).tolist() == theirs.predict(X).tolist()
    assert mine.apply(X).shape == theirs.apply(X).shape


def test_early_stopping_holds_out_the_same_rows_and_stops_in_the_same_round():
    X, y, _ = numbers(400)
    settings = {
        "n_estimators": 300,
        "n_iter_no_change": 4,
        "tol": 1e-3,
        "min_samples_leaf": 20,
        "random_state": 3,
    }
    mine, theirs = GradientBoostingRegressor(**settings).fit(X, y), TheirRegressor(**settings).fit(X, y)
    assert mine.n_estimators_ == theirs.n_estimators_ < 300
    agree(mine, theirs, X, "staged_predict")
    assert len(mine.validation_scores_) == mine.n_estimators_


def test_an_estimator_as_the_start():
    """scikit-learn hands float32 to the estimator, so that both are close, not equal."""
    X, y, weight = numbers()
    labels = np.digitize(y, [-1, 1])
    settings = {"n_estimators": 10, "min_samples_leaf": 10}
    mine = GradientBoostingRegressor(init=LinearRegression(), **settings).fit(X, y, sample_weight=weight)
    theirs = TheirRegressor(init=LinearRegression(), **settings).fit(X, y, sample_weight=weight)
    agree(mine, theirs, X, "staged_predict", close=1e-4)
    for cut in (labels, labels > 0):
        ours = GradientBoostingClassifier(init=LogisticRegression(), **settings).fit(X, cut)
        other = TheirClassifier(init=LogisticRegression(), **settings).fit(X, cut)
        agree(ours, other, X, "staged_decision_function", close=1e-3)


def test_missing_values_are_learnt_not_refused():
    X, y, _ = numbers()
    X[::7, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        TheirRegressor().fit(X, y)
    assert GradientBoostingRegressor().fit(X, y).score(X, y) > 0.8
