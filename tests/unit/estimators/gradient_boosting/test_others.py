"""Gradient boosting with estimators as `init` and `estimator`: going on, asking later, what they must say."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LinearRegression
from sklearn.utils import get_tags

import weald
from weald import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from weald.boosting.stage.losses import LEAST_SHARE
from weald.errors import DataError
from weald.estimators.gradient_boosting.start import ConstantStart, EstimatorStart

X = np.random.default_rng(0).normal(size=(60, 3))
Y = X[:, 0] + 0.1 * X[:, 1] ** 2
LABELS = np.where(Y > 0, "yes", "no")


class Short(BaseEstimator):
    """Says too little of `asked` rows, and enough of others."""

    def __init__(self, said=1, asked=60):
        self.said, self.asked = said, asked

    def __sklearn_tags__(self):
        return LinearRegression().__sklearn_tags__()

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.ones(self.said if len(X) == self.asked else len(X))


class ShortShares(DecisionTreeClassifier):
    """Leaves the last row away."""

    def predict_proba(self, X):
        return super().predict_proba(X)[:-1]


@pytest.mark.parametrize("said", [1, 59])
@pytest.mark.parametrize("name", ["init", "estimator"])
def test_too_few_predictions_are_refused(name, said):
    with pytest.raises(DataError, match=f"The Short of .* it predicts {said} rows where there are 60"):
        GradientBoostingRegressor(**{name: Short(said)}).fit(X, Y)
    stopping = GradientBoostingRegressor(**{name: Short(said, asked=6)}, n_iter_no_change=2)
    with pytest.raises(DataError, match=f"it predicts {said} rows where there are 6"):
        stopping.fit(X, Y)
    model = GradientBoostingRegressor(**{name: Short(said, asked=7)}, n_estimators=1).fit(X, Y)
    with pytest.raises(DataError, match=f"it predicts {said} rows where there are 7"):
        model.predict(X[:7])
    with pytest.raises(DataError, match="it predicts 59 rows where there are 60"):
        GradientBoostingClassifier(init=ShortShares(max_depth=1)).fit(X, LABELS)


@pytest.mark.parametrize("now", [None, "zero"])
@pytest.mark.parametrize("estimator", [None, DecisionTreeRegressor(max_depth=1)])
def test_going_on_keeps_the_start_whatever_init_is_now(estimator, now):
    first = {"init": LinearRegression(), "estimator": estimator, "warm_start": True}
    model = GradientBoostingRegressor(n_estimators=2, **first).fit(X, Y)
    model.set_params(init=now, n_estimators=4).fit(X, Y)
    whole = GradientBoostingRegressor(n_estimators=4, **first).fit(X, Y)
    assert model.predict(X).tolist() == whole.predict(X).tolist()
    assert isinstance(model.init_, LinearRegression)


def test_fitted_attributes_tell_of_the_fit_not_of_parameters(tmp_path):
    zero = GradientBoostingRegressor(init="zero", n_estimators=2).fit(X, Y)
    zero.set_params(init=LinearRegression(), estimator=LinearRegression())
    assert zero.init_ == "zero"
    assert zero.apply(X).shape == (60, 2)
    constant = GradientBoostingRegressor(n_estimators=2).fit(X, Y).set_params(init="zero")
    assert isinstance(constant.init_, ConstantStart)
    others = GradientBoostingRegressor(estimator=LinearRegression(), n_estimators=2).fit(X, Y)
    assert not hasattr(others.set_params(estimator=None), "apply")
    for model, start in ((zero, str), (constant, ConstantStart)):
        model.save(tmp_path / "m.weald")
        back = weald.load(tmp_path / "m.weald")
        assert isinstance(back.init_, start)
        assert back.predict(X).tolist() == model.predict(X).tolist()


class Counts:
    """Poisson's loss, which has no logarithm of a negative count."""

    def value(self, y, raw):
        with np.errstate(invalid="ignore"):
            return np.exp(raw) - y * raw + np.log(y)

    def gradient(self, y, raw):
        return np.where(y < 0, np.nan, np.exp(raw) - y)


class CountsWithHessian(Counts):
    """The same with Newton steps."""

    def hessian(self, y, raw):
        return np.where(y < 0, np.inf, np.exp(raw))


@pytest.mark.parametrize("loss", [Counts(), CountsWithHessian()])
def test_absent_rows_need_no_loss(loss):
    y = np.random.default_rng(1).integers(1, 9, 60).astype(float)
    y[::5] = -1.0
    present = y > 0
    settings = {"loss": loss, "n_estimators": 3, "learning_rate": 0.5}
    absent = GradientBoostingRegressor(**settings).fit(X, y, sample_weight=present.astype(float))
    without = GradientBoostingRegressor(**settings).fit(X[present], y[present])
    assert absent.predict(X).tolist() == without.predict(X).tolist()
    assert absent.train_score_ == pytest.approx(without.train_score_)


def test_shares_of_0_and_1_are_held_to_float32():
    fitted = DecisionTreeClassifier().fit(X, LABELS)
    raw = EstimatorStart(fitted, "logistic", fitted.classes_).raw(X)[:, 0]
    end = np.log((1 - LEAST_SHARE) / LEAST_SHARE)
    assert raw == pytest.approx(np.where(LABELS == "yes", end, -end), rel=1e-12)
    assert pytest.approx(2.0**-23) == LEAST_SHARE
    model = GradientBoostingClassifier(init=DecisionTreeClassifier(), n_estimators=1).fit(X, LABELS)
    assert np.abs(model.decision_function(X)) == pytest.approx(end, abs=1.0)


def test_tags_are_those_of_the_estimators():
    def allows(**parameters):
        return get_tags(clone(GradientBoostingRegressor(**parameters))).input_tags.allow_nan

    assert allows()
    assert allows(init="zero")
    assert allows(estimator=DecisionTreeRegressor())
    assert not allows(estimator=LinearRegression())
    assert not allows(init=LinearRegression())
    assert not allows(init=LinearRegression(), estimator=DecisionTreeRegressor())
    assert allows(estimator="no estimator")
