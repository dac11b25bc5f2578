"""What AdaBoost says to what it cannot use: parameters, weights, targets, members, sets of early stopping."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from unit.estimators.adaboost.data import curve, rows

from weald import AdaBoostClassifier, AdaBoostRegressor, DecisionTreeClassifier, DecisionTreeRegressor
from weald.errors import DataError, ParameterError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_estimators": 0}, "`n_estimators` of AdaBoostClassifier must be a whole number of at least 1"),
        ({"learning_rate": 0.0}, "`learning_rate` .* above 0"),
        ({"resample": "bootstrap"}, "`resample`"),
        ({"resample": "compund"}, "Did you mean 'compound'"),
        ({"worse_than_chance": "go on"}, "'stop' or 'reset' or 'negate'"),
        ({"probability": "platt"}, "`probability`"),
        ({"early_stopping": 1.5}, "`early_stopping`"),
        ({"early_stopping": (1, 2, 3)}, r"a set \(X, y\); got 3"),
        ({"early_stopping_rounds": 5}, "needs rows to measure on"),
        ({"keep_row_weights": "yes"}, "True or False"),
        ({"estimator": DecisionTreeClassifier}, "an object, not a class"),
        ({"estimator": DecisionTreeRegressor()}, "must be a classifier.*AdaBoostRegressor"),
    ],
)
def test_parameters_are_checked(options, message):
    with pytest.raises(ParameterError, match=message):
        AdaBoostClassifier(**options).fit(*rows())


def test_parameters_of_the_regressor_are_checked():
    for options, message in (
        ({"worse_than_chance": "negate"}, "no opposite to vote for"),
        ({"loss": "huber"}, "`loss`"),
        ({"estimator": DecisionTreeClassifier()}, "must be a regressor.*AdaBoostClassifier"),
    ):
        with pytest.raises(ParameterError, match=message):
            AdaBoostRegressor(**options).fit(*curve())


def test_unknown_parameters_raise():
    with pytest.raises(ParameterError, match="did you mean `learning_rate`"):
        AdaBoostClassifier().set_params(learning_rat=0.1)
    with pytest.raises(TypeError):
        AdaBoostClassifier(rounds=3)
    model = AdaBoostClassifier(DecisionTreeClassifier()).set_params(estimator__max_depth=4)
    assert model.estimator.max_depth == 4


@pytest.mark.parametrize("make", [AdaBoostClassifier, AdaBoostRegressor])
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-1.0, "negative"),
        (np.nan, "NaN"),
        (np.inf, "infinity"),
        (0.0, "zero in every row"),
    ],
)
def test_weights_are_checked(make, weight, message):
    X, y = rows()
    weights = np.zeros(len(y)) if weight == 0.0 else np.ones(len(y))
    weights[3] = weight
    with pytest.raises(DataError, match=message):
        make(n_estimators=2).fit(X, y, weights)


def test_targets_are_checked():
    X, y = rows()
    with pytest.raises(DataError, match="one label per row; y has 2 columns"):
        AdaBoostClassifier().fit(X, np.stack([y, y], axis=1))
    with pytest.raises(DataError, match="one number per row; y has 2 columns"):
        AdaBoostRegressor().fit(X, np.stack([y, y], axis=1))
    with pytest.raises(DataError, match="NaN"):
        AdaBoostRegressor().fit(X, np.where(y > 0, y, np.nan))
    with pytest.raises(DataError):
        AdaBoostClassifier().fit(X, y[:-1])


def test_a_member_that_fails_is_named():
    class Broken(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            raise RuntimeError("no such luck")

    with pytest.raises(RuntimeError, match="The Broken of round 1 failed: RuntimeError: no such luck"):
        AdaBoostClassifier(Broken()).fit(*rows())


def test_a_failed_fit_leaves_the_estimator_as_it_was():
    X, y = rows()
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    before = model.predict(X)
    with pytest.raises(DataError):
        model.fit(np.zeros((40, 5)), np.arange(40) % 2)
    assert np.array_equal(model.predict(X), before)


# --- the set of early_stopping


BASES = {"trees": None, "others": LogisticRegression()}


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda X, y: (X, np.stack([y, y], axis=1)), DataError, "y has 2 columns"),
        (lambda X, y: (X[:, :3], y), DataError, "3|columns|features"),
        (lambda X, y: (X, y[:-1]), DataError, "rows"),
        (lambda X, y: (X[:0], y[:0]), DataError, "row|sample"),
        (lambda X, y: (X, np.where(y > 0, np.nan, y)), DataError, "NaN|missing"),
        (
            lambda X, y: (X, y + 5),
            DataError,
            "none of its labels was trained on: it has 5, 6, training has 0",
        ),
        (lambda X, y: (X, y.astype(str)), DataError, "none of its labels was trained on: it has '0'"),
    ],
)
def test_the_set_of_early_stopping_is_checked(base, change, error, message):
    X, y = rows()
    model = AdaBoostClassifier(BASES[base], early_stopping=change(X, y))
    with pytest.raises(error, match=rf"(?s)The set of `early_stopping` failed: .*({message})"):
        model.fit(X, y)


def test_the_set_of_early_stopping_for_numbers():
    X, y = curve()
    with pytest.raises(DataError, match=r"The set of `early_stopping` failed: .*y has 2 columns"):
        AdaBoostRegressor(early_stopping=(X, np.stack([y, y], axis=1))).fit(X, y)


def test_answers_on_the_set_name_it():
    X, y = rows()

    class Short(LogisticRegression):
        def predict(self, X):
            if len(X) == 7:
                raise RuntimeError("seven rows are too few")
            return super().predict(X)

    with pytest.raises(RuntimeError, match="The set of `early_stopping` failed: RuntimeError: seven rows"):
        AdaBoostClassifier(Short(), early_stopping=(X[:7], y[:7])).fit(X, y)
