"""Checks of out-of-bag estimates, strength and correlation, and permutation importance of forests."""

from __future__ import annotations

import numpy as np
import pytest

from weald import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor

FORESTS = [RandomForestClassifier, ExtraTreesClassifier]


def drawn(seed: int, n: int, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping clouds in two columns, beside two columns of noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    angle = 2 * np.pi * y / n_classes
    centre = 1.3 * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.hstack([centre + rng.normal(size=(n, 2)), rng.normal(size=(n, 2))]), y


def grown(kind, n_classes: int = 3, n_trees: int = 200):
    X, y = drawn(1, 700, n_classes)
    model = kind(n_trees, bootstrap=True, oob_score=True, random_state=0, min_samples_leaf=3)
    return model.fit(X, y), X, y


@pytest.mark.parametrize("kind", FORESTS)
def test_oob_error_votes_and_decision_function_are_close_to_test_error(kind):
    model, X, y = grown(kind)
    new, truth = drawn(2, 4000)
    error = np.mean(model.predict(new) != truth)
    noise = 3 * np.sqrt(error * (1 - error) * (1 / len(y) + 1 / len(truth)))
    by_curve = model.oob_error_curve(X, y)
    by_votes = np.mean(np.argmax(model.oob_votes(X), axis=1) != y)
    by_shares = np.mean(np.argmax(model.oob_decision_function_, axis=1) != y)
    assert np.abs(np.array([by_curve[-1], by_votes, by_shares]) - error).max() < noise
    # One tree is worse than all of them, and what trees say of the rows they saw is no estimate at all.
    assert by_curve[0] > by_curve[-1] + 0.02
    assert np.mean(model.predict(X) != y) < error - noise


def test_oob_error_of_a_regression_is_close_to_test_error():
    rng = np.random.default_rng(3)
    X, new = rng.uniform(size=(500, 4)), rng.uniform(size=(3000, 4))
    y, truth = (np.sin(6 * Z[:, 0]) + Z[:, 1] + rng.normal(size=len(Z)) / 3 for Z in (X, new))
    model = RandomForestRegressor(100, random_state=0).fit(X, y)
    missed = (model.predict(new) - truth) ** 2
    noise = 3 * missed.std() * np.sqrt(1 / 500 + 1 / 3000)
    assert abs(model.oob_error_curve(X, y)[-1] - missed.mean()) < noise


def simulated(model, n_classes: int) -> tuple[float, float]:
    """Strength, and the mean correlation of pairs of trees, by their definitions on many new rows."""
    X, y = drawn(4, 5000, n_classes)
    said = np.stack([tree.predict(X) for tree in model.estimators_])
    share = np.stack([(said == c).mean(axis=0) for c in range(n_classes)], axis=1)
    right = np.arange(len(y)), y
    others = share.copy()
    others[right] = -1
    rival = np.argmax(others, axis=1)
    raw = (said == y).astype(float) - (said == rival)
    covariance = np.cov(raw)
    deviation = np.sqrt(np.diag(covariance))
    pairs = ~np.eye(len(raw), dtype=bool)
    rho = covariance[pairs].mean() / np.outer(deviation, deviation)[pairs].mean()
    return float((share[right] - others.max(axis=1)).mean()), float(rho)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", FORESTS)
def test_strength_and_correlation_are_within_noise_of_a_direct_simulation(kind, n_classes):
    model, X, y = grown(kind, n_classes)
    strength, rho = simulated(model, n_classes)
    found = model.strength(X, y)
    noise = 3 * np.sqrt(found.margin_variance / len(y))
    assert abs(found.strength - strength) < noise
    assert abs(found.correlation - rho) < 0.05


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("kind", FORESTS)
def test_error_is_at_most_the_variance_ratio_which_is_at_most_the_bound(kind, n_classes):
    model, X, y = grown(kind, n_classes)
    found = model.strength(X, y)
    error = np.mean(model.oob_margins(X, y) < 0)
    assert 0 < error <= found.variance_bound <= found.bound
    assert found.variance_bound == found.margin_variance / found.strength**2


@pytest.mark.parametrize("kind", FORESTS)
def test_permutation_importance_of_a_pure_noise_column_is_about_0(kind):
    model, X, y = grown(kind)
    found = model.permutation_importance(X, y)
    assert (found.importances_mean[:2] > 10 * found.importances_se[:2]).all()
    assert (np.abs(found.importances_mean[2:]) < 0.02).all()
    assert (found.importances_mean[:2] > 10 * np.abs(found.importances_mean[2:]).max()).all()


def test_grouped_columns_are_worth_more_than_each_that_stands_in_for_the_other():
    """A column and its twin: either alone is missed little, both together much; noise stays noise."""
    X, y = drawn(5, 500)
    X = np.hstack([X[:, :1], X[:, :1], X[:, 1:]])
    model = RandomForestClassifier(100, random_state=0, min_samples_leaf=3).fit(X, y)
    found = model.permutation_importance(X, y, groups={"one": 0, "two": 1, "both": [0, 1], "noise": [3, 4]})
    one, two, both, noise = found.importances_mean
    assert both > 1.3 * max(one, two) > 1.3 * min(one, two) > 0.05
    assert abs(noise) < 0.02
