"""Prior correction: the odds of Bayes' rule, and what stays as it is."""

from __future__ import annotations

import numpy as np
import pytest

from weald.errors import DataError
from weald.resampling.priors import class_shares, correct_priors


def test_odds_change_by_the_ratio_of_shares() -> None:
    proba = np.array([[0.2, 0.8], [0.6, 0.4]])
    share, after = np.array([0.95, 0.05]), np.array([0.5, 0.5])
    found = correct_priors(proba, share, after)
    odds = proba[:, 1] / proba[:, 0] * (share[1] / after[1]) / (share[0] / after[0])
    np.testing.assert_allclose(found[:, 1] / found[:, 0], odds, rtol=1e-14)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-15)


def test_there_and_back_is_where_it_was() -> None:
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([1, 1, 1], 50)
    share, after = np.array([0.7, 0.2, 0.1]), np.array([0.3, 0.3, 0.4])
    back = correct_priors(correct_priors(proba, share, after), after, share)
    np.testing.assert_allclose(back, proba, rtol=1e-12)


def test_bayes_rule_on_two_normal_classes() -> None:
    """A model that knows the densities and learned shares of a half, corrected, is the model of the data."""
    x = np.linspace(-3, 3, 13)
    density = np.exp(-0.5 * (x[:, None] - np.array([-1.0, 1.0])) ** 2)
    learned = density / density.sum(axis=1, keepdims=True)
    true = density * np.array([0.99, 0.01])
    true /= true.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(correct_priors(learned, [99, 1], [1, 1]), true, rtol=1e-12)


def test_equal_shares_change_nothing_to_the_bit() -> None:
    proba = np.random.default_rng(0).dirichlet([1, 1, 1], 50)
    assert (correct_priors(proba, [3, 2, 1], [30, 20, 10]) == proba).all()


def test_classes_that_resampling_emptied_stay_at_zero() -> None:
    found = correct_priors([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], [0.4, 0.4, 0.2], [0.5, 0.5, 0.0])
    np.testing.assert_allclose(found, [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])


def test_tiny_shares_do_not_overflow() -> None:
    found = correct_priors([[0.5, 0.5]], [1.0, 1e-300], [1e-300, 1.0])
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, [[1.0, 0.0]])


@pytest.mark.parametrize("share", [[0.5], [0.5, np.nan], [-1.0, 2.0], [0.0, 0.0]])
def test_what_is_no_share_is_refused(share: list[float]) -> None:
    with pytest.raises(DataError, match="lass share"):
        correct_priors([[0.5, 0.5]], share, [0.5, 0.5])


def test_shares_are_by_weight_where_there_is_one() -> None:
    labels = np.array([0, 1, 1, 2])
    assert class_shares(labels, 3).tolist() == [0.25, 0.5, 0.25]
    assert class_shares(labels, 4, np.array([2.0, 1.0, 1.0, 0.0])).tolist() == [0.5, 0.5, 0.0, 0.0]
    with pytest.raises(DataError, match="without any weight"):
        class_shares(labels, 3, np.zeros(4))
