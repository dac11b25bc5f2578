"""What gradient boosting refuses, and how it says so."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import LinearSVC

from weald import GradientBoostingClassifier, GradientBoostingRegressor
from weald.errors import DataError, MemberError, ParameterError

X = np.random.default_rng(0).normal(size=(60, 3))
Y = X[:, 0] + 0.1
LABELS = np.where(Y > 0, "yes", "no")


class Fails(BaseEstimator):
    """An estimator that fails."""

    def __sklearn_tags__(self):
        return LinearRegression().__sklearn_tags__()

    def fit(self, X, y):
        raise RuntimeError("no luck today")

    def predict(self, X):
        return np.zeros(len(X))


class SaysNothing(Fails):
    """One that predicts NaN."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), np.nan)


def message(model, X, y, kind=ValueError, **extra):
    with pytest.raises(kind) as caught:
        model.fit(X, y, **extra)
    assert "forest_" not in vars(model)
    return str(caught.value)


@pytest.mark.parametrize(
    ("kind", "parameters", "words"),
    [
        (GradientBoostingRegressor, {"loss": "log_loss"}, "`loss` .* labels are GradientBoostingClassifier"),
        (GradientBoostingClassifier, {"loss": "huber"}, "`loss` .* numbers are GradientBoostingRegressor"),
        (GradientBoostingRegressor, {"loss": "squared_eror"}, "Did you mean 'squared_error'"),
        (GradientBoostingRegressor, {"alpha": 0.0}, "`alpha` .* above 0 and below 1; got 0.0"),
        (GradientBoostingRegressor, {"alpha": 1.5}, "`alpha`"),
        (GradientBoostingRegressor, {"learning_rate": 0}, "`learning_rate`"),
        (GradientBoostingRegressor, {"subsample": 1.2}, "`subsample`"),
        (GradientBoostingRegressor, {"n_estimators": 0}, "`n_estimators`"),
        (GradientBoostingRegressor, {"leaf": "newton"}, "`leaf`"),
        (GradientBoostingRegressor, {"criterion": "absolute_error"}, "`criterion`"),
        (GradientBoostingRegressor, {"init": "mean"}, "`init`"),
        (GradientBoostingRegressor, {"init": LinearRegression}, "`init`"),
        (GradientBoostingRegressor, {"estimator": LogisticRegression()}, "`estimator` .* regressor"),
        (GradientBoostingRegressor, {"estimator": LinearRegression(), "max_bins": 9}, "`max_bins`"),
        (GradientBoostingRegressor, {"estimator": LinearRegression(), "monotonic_cst": {0: 1}}, "`monoto"),
        (GradientBoostingRegressor, {"n_iter_no_change": 0}, "`n_iter_no_change`"),
        (GradientBoostingRegressor, {"validation_fraction": 1.0}, "`validation_fraction`"),
        (GradientBoostingRegressor, {"tol": -1}, "`tol`"),
        (GradientBoostingRegressor, {"loss": "custom:Mine"}, "does not keep its code"),
    ],
)
def test_parameters_out_of_range_are_named(kind, parameters, words):
    with pytest.raises(ParameterError, match=words):
        kind(**parameters).fit(X, LABELS if kind is GradientBoostingClassifier else Y)


def test_a_name_that_is_no_parameter():
    with pytest.raises(ParameterError, match="learning_rate"):
        GradientBoostingRegressor().set_params(learn_rate=1)


def test_targets_that_the_loss_cannot_take():
    assert "1 class: 'yes'" in message(GradientBoostingClassifier(), X, ["yes"] * 60)
    weight = (LABELS == "yes").astype(float)
    said = message(GradientBoostingClassifier(), X, LABELS, sample_weight=weight)
    assert "1 class" in said
    assert "sample_weight" in said
    assert "3 classes" in message(GradientBoostingClassifier(loss="exponential"), X, np.arange(60) % 3)
    assert "continuous" in message(GradientBoostingClassifier(), X, Y)
    assert "must be numbers" in message(GradientBoostingRegressor(), X, LABELS)
    assert "NaN" in message(GradientBoostingRegressor(), X, np.where(np.arange(60) == 5, np.nan, Y))
    assert "infinity" in message(GradientBoostingRegressor(), X, np.where(np.arange(60) == 5, np.inf, Y))
    assert "2 columns" in message(GradientBoostingRegressor(), X, np.stack([Y, Y], axis=1))
    assert "2 columns" in message(GradientBoostingClassifier(), X, np.stack([LABELS, LABELS], axis=1))


def test_a_start_or_a_base_that_fails_is_named():
    said = message(GradientBoostingRegressor(init=Fails()), X, Y, MemberError)
    assert said == "The Fails of `init` failed: RuntimeError: no luck today"
    assert "predicts nan" in message(GradientBoostingRegressor(init=SaysNothing()), X, Y, DataError)
    said = message(GradientBoostingRegressor(estimator=Fails()), X, Y, MemberError)
    assert said == "The Fails of round 0 failed: RuntimeError: no luck today"
    assert "predicts nan" in message(GradientBoostingRegressor(estimator=SaysNothing()), X, Y, DataError)
    for start in (Perceptron(), LinearSVC()):
        assert "no predict_proba" in message(GradientBoostingClassifier(init=start), X, LABELS)


def test_estimators_without_weights_are_refused_where_there_are_weights():
    weight = np.linspace(0.5, 2, 60)
    for weights in (weight, np.ones(60)):
        said = message(
            GradientBoostingClassifier(init=KNeighborsClassifier()),
            X,
            LABELS,
            ValueError,
            sample_weight=weights,
        )
        assert said.startswith("The initial estimator KNeighborsClassifier does not support sample weights")
    said = message(
        GradientBoostingRegressor(estimator=KNeighborsRegressor()), X, Y, TypeError, sample_weight=weight
    )
    assert "`estimator` of GradientBoostingRegressor" in said


def test_rows_that_cannot_be_held_out():
    stopping = GradientBoostingClassifier(n_iter_no_change=2)
    assert "the class 'b' has only 1 row" in message(stopping, X[:3], ["a", "b", "a"])
    one_of_c = np.where(np.arange(60) == 7, "c", LABELS)
    said = message(stopping, X, one_of_c)
    assert "the class 'c' has only 1 row" in said
    assert "The least populated classes in y have only 1 member" in said


class Broken:
    """A loss whose slope is what it is told."""

    def __init__(self, slope):
        self.slope = slope

    def value(self, y, raw):
        return (y - raw) ** 2

    def gradient(self, y, raw):
        return self.slope(y, raw)


@pytest.mark.parametrize(
    ("slope", "words"),
    [
        (lambda y, raw: (raw - y)[:-1], "shape"),
        (lambda y, raw: np.where(y > 0, np.nan, 1.0), "nan.* in row"),
        (lambda y, raw: "text", "not numbers"),
    ],
)
def test_a_loss_that_returns_nonsense(slope, words):
    with pytest.raises(ParameterError, match=words) as caught:
        GradientBoostingRegressor(loss=Broken(slope)).fit(X, Y)
    assert "`gradient` of the loss 'Broken'" in str(caught.value)


def test_a_loss_must_be_an_object_with_both():
    class Half:
        def value(self, y, raw):
            return y

    for loss in (Half(), Broken, 3):
        with pytest.raises(ParameterError, match="value\\(y, raw\\) and gradient"):
            GradientBoostingRegressor(loss=loss).fit(X, Y)


def test_warm_start_with_other_data():
    model = GradientBoostingRegressor(n_estimators=3, warm_start=True).fit(X, Y)
    with pytest.raises(ParameterError, match="n_estimators=2 must be larger"):
        model.set_params(n_estimators=2).fit(X, Y)
    with pytest.raises(ValueError, match="3 features"):
        model.set_params(n_estimators=4).fit(X[:, :2], Y)
    with pytest.raises(ParameterError, match="`estimator`"):
        model.set_params(estimator=LinearRegression()).fit(X, Y)
    labels = GradientBoostingClassifier(n_estimators=3, warm_start=True).fit(X, LABELS)
    with pytest.raises(ParameterError, match="other labels"):
        labels.set_params(n_estimators=4).fit(X, np.where(Y > 0, "yes", "perhaps"))


def test_leaves_of_other_bases_cannot_be_told():
    model = GradientBoostingRegressor(estimator=LinearRegression(), n_estimators=1).fit(X, Y)
    with pytest.raises(AttributeError, match="apply"):
        model.apply(X)
    with pytest.raises(AttributeError, match="step_sizes_"):
        _ = GradientBoostingRegressor(n_estimators=1).fit(X, Y).step_sizes_


def test_huge_targets_are_learnt():
    huge = np.where(Y > 0, 1e300, -1e300)
    model = GradientBoostingRegressor(n_estimators=2, learning_rate=1.0).fit(X, huge)
    assert model.predict(X) == pytest.approx(huge)


class Steep:
    """A loss whose Newton steps leave float64."""

    def value(self, y, raw):
        return np.abs(y - raw)

    def gradient(self, y, raw):
        return np.where(raw > y, 1e200, -1e200)

    def hessian(self, y, raw):
        return np.full(len(y), 1e-149)


def test_leaves_that_overflow_stay_where_they_are():
    model = GradientBoostingRegressor(loss=Steep(), init="zero", n_estimators=2).fit(X, Y)
    assert model.predict(X).tolist() == [0.0] * 60
