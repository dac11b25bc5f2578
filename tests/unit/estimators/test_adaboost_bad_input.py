"""What AdaBoost says to what it cannot use: never a division by zero, never an endless redraw."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression
from unit.estimators.adaboost_data import curve, rows

from weald import AdaBoostClassifier, AdaBoostRegressor, DecisionTreeClassifier, DecisionTreeRegressor
from weald.adaboost import loop
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


def test_no_better_than_chance_from_the_first_round():
    X, y = np.zeros((40, 2)), np.arange(40) % 2
    with pytest.raises(
        DataError, match=r"first round .* no better than chance: .* 0\.5, and guessing one of 2"
    ):
        AdaBoostClassifier().fit(X, y)
    with pytest.raises(DataError, match="no better than chance"):
        AdaBoostClassifier(worse_than_chance="reset").fit(X, y)
    with pytest.raises(DataError, match="no better than chance"):
        AdaBoostClassifier(worse_than_chance="negate").fit(X, y)
    with pytest.raises(DataError, match=r"guessing one of 3 classes has 0\.667"):
        AdaBoostClassifier().fit(np.zeros((30, 1)), np.arange(30) % 3)


def test_redraws_are_bounded(monkeypatch):
    tries = []
    draw = loop.drawn_counts
    monkeypatch.setattr(loop, "drawn_counts", lambda *given: tries.append(1) or draw(*given))
    X, y = np.zeros((40, 2)), np.arange(40) % 2
    for rule in ("reset", "negate"):
        tries.clear()
        base = DummyClassifier(strategy="constant", constant=1)
        model = AdaBoostClassifier(base, resample="compound", worse_than_chance=rule, random_state=0)
        with pytest.raises(DataError, match="in 20 tries"):
            model.fit(X, y)
        assert len(tries) == 20


def test_rounds_that_stay_at_chance_end_with_a_warning():
    X = np.zeros((10, 1))
    y = np.array([1] * 6 + [0] * 4)
    base = DummyClassifier(strategy="constant", constant=1)
    model = AdaBoostClassifier(base, n_estimators=5, resample="compound", worse_than_chance="negate")
    with pytest.warns(UserWarning, match="stops after 1 rounds"):
        model.fit(X, y)
    assert len(model) == 1
    assert np.isfinite(model.predict_proba(X)).all()


def test_a_perfect_member_ends_boosting():
    X = np.arange(20.0)[:, None]
    model = AdaBoostClassifier(n_estimators=10).fit(X, X[:, 0] > 9)
    assert model.estimator_weights_.tolist() == [1.0]
    assert model.estimator_errors_.tolist() == [0.0]
    assert model.score(X, X[:, 0] > 9) == 1
    assert (model.rounds_.training_error <= model.rounds_.bound).all()
    numbers = AdaBoostRegressor(DecisionTreeRegressor(), n_estimators=10).fit(X, X[:, 0] ** 2)
    assert len(numbers) == 1
    assert numbers.score(X, X[:, 0] ** 2) == 1


class Opposite(DecisionTreeClassifier):
    """Always says the other class."""

    def fit(self, X, y, sample_weight=None):
        self.classes_, self._truth = np.unique(y), dict(zip(np.ravel(X).tolist(), y, strict=True))
        self.n_features_in_ = 1
        return self

    def predict(self, X):
        return np.array([1 - self._truth[x] for x in np.ravel(X).tolist()])


def test_a_member_that_is_always_wrong():
    X, y = np.arange(10.0)[:, None], np.arange(10) % 2
    model = AdaBoostClassifier(Opposite(), worse_than_chance="negate").fit(X, y)
    assert model.estimator_weights_.tolist() == [-1.0]
    assert np.array_equal(model.predict(X), y)
    with pytest.raises(DataError, match="no better than chance"):
        AdaBoostClassifier(Opposite()).fit(X, y)


@pytest.mark.parametrize("resample", ["reset", "replace"])
def test_perfect_on_a_sample_is_not_perfect(resample):
    X, y = rows(60, noise=1.0)
    base = DecisionTreeClassifier(max_depth=4)
    model = AdaBoostClassifier(base, n_estimators=8, resample=resample, random_state=0).fit(X, y)
    assert np.isfinite(model.estimator_weights_).all()
    assert len(model) > 1
    assert model.estimator_errors_.min() == 0.5 / 60


def test_a_class_that_vanishes_from_a_sample(monkeypatch):
    X, y = rows(60)
    one_sided = y.astype(np.int64)  # every row of class 1, once
    draw = loop.drawn_counts

    def first_two(units, n_draws, seed, attempt):
        return one_sided if attempt < 2 else draw(units, n_draws, seed, attempt)

    monkeypatch.setattr(loop, "drawn_counts", first_two)
    options = {"resample": "compound", "n_estimators": 3, "random_state": 0}
    refusing = AdaBoostClassifier(LogisticRegression(), **options).fit(X, y)
    assert len(refusing) == 3  # it was drawn again
    tree = AdaBoostClassifier(worse_than_chance="negate", **options).fit(X, y)
    assert tree.estimators_[0].get_n_leaves() == 1  # a tree can learn from one class
    monkeypatch.setattr(loop, "drawn_counts", lambda *what: one_sided)
    with pytest.raises(DataError, match="20 samples in a row had rows of one class"):
        AdaBoostClassifier(LogisticRegression(), **options).fit(X, y)


def test_one_class_and_one_row():
    X = np.arange(6.0)[:, None]
    model = AdaBoostClassifier().fit(X, np.full(6, "only"))
    assert model.predict(X).tolist() == ["only"] * 6
    assert model.predict_proba(X).tolist() == [[1.0]] * 6
    assert model.decision_function(X).tolist() == [[0.0]] * 6
    assert AdaBoostRegressor().fit(X[:1], [3.0]).predict(X).tolist() == [3.0] * 6


def test_a_first_number_above_the_limit_stays_alone():
    # half of the rows are as far off as the worst: the mean loss is ½ or more
    X, y = np.zeros((10, 1)), np.arange(10) % 2 * 1.0
    model = AdaBoostRegressor(DummyRegressor()).fit(X, y)
    assert len(model) == 1
    assert model.predict(X).tolist() == [0.5] * 10
    assert np.isfinite(model.estimator_weights_).all()


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


def test_replace_never_loses_a_class():
    X, y = rows(12, noise=0.3)
    for seed in range(20):
        model = AdaBoostClassifier(n_estimators=60, resample="replace", random_state=seed).fit(X, y)
        shown = [np.unique(y[weights > 0]) for weights in model.staged_row_weights(X, y)]
        assert all(len(labels) == 2 for labels in shown)
    far = np.full(12, 1e-12)
    far[np.argmax(y)] = 1.0
    with pytest.raises(DataError, match="no sample with rows of more than one class"):
        AdaBoostClassifier(resample="replace", random_state=0).fit(X, y, far)


def test_wrong_on_all_of_a_sample_is_not_always_wrong(monkeypatch):
    X, y = np.zeros((10, 1)), np.r_[np.zeros(4, int), np.ones(6, int)]
    only_zeros = np.r_[np.full(4, 2), np.zeros(6)].astype(np.int64)
    monkeypatch.setattr(loop, "drawn_counts", lambda *_: only_zeros)

    class One(Opposite):
        def predict(self, X):
            return np.ones(len(X), int)

    model = AdaBoostClassifier(One(), n_estimators=3, resample="reset", worse_than_chance="negate").fit(X, y)
    assert len(model) == 3
    assert model.estimator_errors_[1:].tolist() == [1 - 0.5 / 8] * 2
    assert np.isfinite(model.estimator_weights_).all()
