"""Gradient boosting of very small and very large numbers: the unit does not matter, or the error says why."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression

from weald import GradientBoostingClassifier, GradientBoostingRegressor
from weald.errors import DataError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + 0.3 * RNG.normal(size=60)
#: powers of two near 1e-15, 1e-12, 1.7e18
UNITS = [2.0**-50, 2.0**-40, 2.0**60]


class Smooth:
    """A loss of the user's own, of no unit: √(1 + (d/s)²)."""

    def __init__(self, unit):
        self.unit = unit

    def value(self, y, raw):
        return np.hypot(1.0, (raw - y) / self.unit)

    def gradient(self, y, raw):
        d = (raw - y) / self.unit
        return d / np.hypot(1.0, d)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_steps_of_other_bases_know_no_unit(loss, unit):
    settings = {"loss": loss, "estimator": LinearRegression(), "n_estimators": 4, "learning_rate": 0.7}
    plain = GradientBoostingRegressor(**settings).fit(X, Y)
    scaled = GradientBoostingRegressor(**settings).fit(X, unit * Y)
    assert scaled.predict(X) / unit == pytest.approx(plain.predict(X), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("unit", UNITS)
def test_searched_leaves_know_no_unit(unit):
    plain = GradientBoostingRegressor(loss=Smooth(1.0), n_estimators=4).fit(X, Y)
    scaled = GradientBoostingRegressor(loss=Smooth(unit), n_estimators=4).fit(X, unit * Y)
    assert scaled.init_.constant_ / unit == pytest.approx(plain.init_.constant_, rel=1e-9)
    assert scaled.predict(X) / unit == pytest.approx(plain.predict(X), rel=1e-9)


class Halves(RegressorMixin, BaseEstimator):
    """The mean of what is below a place of one column, and of what is above: no square overflows."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.means_ = [y[X[:, self.column] > 0].mean(), y[X[:, self.column] <= 0].mean()]
        return self

    def predict(self, X):
        return np.where(X[:, self.column] > 0, *self.means_)


@pytest.mark.parametrize("unit", [1e154, 1e160, 1e300])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber"])
def test_other_bases_take_large_targets(loss, unit):
    settings = {"estimator": Halves(), "loss": loss, "n_estimators": 3, "learning_rate": 0.5}
    plain = GradientBoostingRegressor(**settings).fit(X, Y)
    large = GradientBoostingRegressor(**settings).fit(X, unit * Y)
    assert large.predict(X) / unit == pytest.approx(plain.predict(X), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("leaf", ["one_step", "exact"])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_trees_take_targets_at_the_end_of_float64(loss, leaf):
    settings = {"loss": loss, "leaf": leaf, "n_estimators": 5}
    plain = GradientBoostingRegressor(**settings).fit(X, Y)
    large = GradientBoostingRegressor(**settings).fit(X, 2.0**1020 * Y)
    assert (large.predict(X) / 2.0**1020).tolist() == plain.predict(X).tolist()


@pytest.mark.parametrize("estimator", [None, LinearRegression()])
def test_a_sum_of_targets_may_overflow(estimator):
    model = GradientBoostingRegressor(estimator=estimator, n_estimators=2).fit(X, np.full(60, 1e308))
    assert model.predict(X).tolist() == [1e308] * 60
    weighted = GradientBoostingRegressor(estimator=estimator, n_estimators=2)
    weighted.fit(X, np.full(60, 1e8), sample_weight=np.linspace(1.0, 1.5, 60) * 1e299)
    assert weighted.predict(X).tolist() == [1e8] * 60


@pytest.mark.parametrize("estimator", [None, Halves()])
def test_scores_that_diverge_are_an_error(estimator):
    model = GradientBoostingRegressor(estimator=estimator, learning_rate=1e10)
    with pytest.raises(DataError, match=r"diverged in round [1-9].*smaller learning_rate"):
        model.fit(X, Y)
    assert "n_estimators_" not in vars(model)


@pytest.mark.parametrize("estimator", [None, LinearRegression()])
def test_weights_times_slopes_that_overflow_are_an_error(estimator):
    weight = np.full(60, 1.5e300) * np.linspace(0.9, 1.0, 60)
    with pytest.raises(DataError, match=r"diverged in round 0.*sample_weight"):
        GradientBoostingRegressor(estimator=estimator).fit(X, 1e10 * Y, sample_weight=weight)
    assert np.isfinite(
        GradientBoostingRegressor(n_estimators=2).fit(X, Y, sample_weight=weight).predict(X)
    ).all()


def test_small_weights_have_curvature():
    labels = Y > 0
    plain = GradientBoostingClassifier(n_estimators=3).fit(X, labels, sample_weight=np.full(60, 0.5))
    small = GradientBoostingClassifier(n_estimators=3).fit(X, labels, sample_weight=np.full(60, 2.0**-800))
    assert small.decision_function(X).tolist() == plain.decision_function(X).tolist()


@pytest.mark.parametrize("leaf", ["one_step", "exact"])
def test_a_delta_of_zero_learns_no_more(leaf):
    y = np.where(np.arange(60) % 30 == 7, 5.0, 2.0)
    model = GradientBoostingRegressor(loss="huber", leaf=leaf, n_estimators=3).fit(X, y)
    assert model.predict(X).tolist() == [2.0] * 60
    assert model.train_score_.tolist() == [0.0] * 3
    assert (model.forest_.slot < 0).all()
