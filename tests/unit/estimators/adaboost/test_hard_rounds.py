"""Rounds of AdaBoost at the edge: chance, perfection, samples that lose a class, rates out of range."""

import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression
from unit.estimators.adaboost.data import rows

from weald import AdaBoostClassifier, AdaBoostRegressor, DecisionTreeClassifier, DecisionTreeRegressor
from weald.adaboost import loop
from weald.errors import DataError, ParameterError


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
        with pytest.raises(DataError, match="in the last of 20 tries"):
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
    with pytest.raises(DataError, match="failed in 20 tries, the last time on a sample that lacks a class"):
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


def test_replace_never_loses_a_class():
    X, y = rows(12, noise=0.3)
    for seed in range(20):
        model = AdaBoostClassifier(n_estimators=60, resample="replace", random_state=seed).fit(X, y)
        shown = [np.unique(y[weights > 0]) for weights in model.staged_row_weights(X, y)]
        assert all(len(labels) == 2 for labels in shown)
    far = np.full(12, 1e-12)
    far[np.argmax(y)] = 1.0
    with pytest.raises(
        DataError, match=r"first round .* none of 20 samples would do, and the last one lacks a"
    ):
        AdaBoostClassifier(resample="replace", random_state=0).fit(X, y, far)


def test_replace_loses_none_of_three_classes(monkeypatch):
    X, _ = rows(30)
    y = np.digitize(X[:, 0] + X[:, 1], [-0.8, 0.8])
    base = DecisionTreeClassifier(max_depth=2)
    redrawn = False
    for seed in range(20):
        model = AdaBoostClassifier(base, n_estimators=30, resample="replace", random_state=seed)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "AdaBoostClassifier stops after", UserWarning)
            model.fit(X, y)
        shown = [np.unique(y[weights > 0]) for weights in model.staged_row_weights(X, y)]
        assert all(len(labels) == 3 for labels in shown)
        attempts = [each.attempt for each in model._rounds]
        redrawn |= attempts != list(range(len(attempts)))
    assert redrawn  # some samples lacked a class


def test_replace_says_that_it_ends_for_want_of_a_class(monkeypatch):
    X, y = rows(60, noise=1.0)
    draw = loop.drawn_counts

    def without_a_class(units, n_draws, seed, attempt):
        return draw(units, n_draws, seed, attempt) if attempt < 3 else (y == 1).astype(np.int64)

    monkeypatch.setattr(loop, "drawn_counts", without_a_class)
    model = AdaBoostClassifier(n_estimators=10, resample="replace", random_state=0)
    with pytest.warns(UserWarning, match=r"stops after 3 rounds: none of 20 samples would do.*lacks a class"):
        model.fit(X, y)
    assert len(model) == 3


class Fussy(DecisionTreeClassifier):
    """Cannot do with one class: fails with `error` in the step `at`."""

    error: type[Exception] = ValueError
    at = "fit"

    def fit(self, X, y, sample_weight=None):
        self._alone = len(np.unique(y)) == 1
        if self._alone and self.at == "fit":
            raise self.error("one class")
        return super().fit(X, y, sample_weight)

    def predict(self, X):
        if self._alone:
            raise self.error("one class")
        return super().predict(X)


@pytest.mark.parametrize("error", [ValueError, TypeError, RuntimeError])
@pytest.mark.parametrize("at", ["fit", "predict"])
def test_whatever_fails_on_a_sample_of_one_class_leads_to_another(monkeypatch, error, at):
    monkeypatch.setattr(Fussy, "error", error)
    monkeypatch.setattr(Fussy, "at", at)
    X, y = rows(60)
    draw = loop.drawn_counts

    def first_of_one_class(units, n_draws, seed, attempt):
        return draw(units, n_draws, seed, attempt) if attempt else y.astype(np.int64)

    monkeypatch.setattr(loop, "drawn_counts", first_of_one_class)
    model = AdaBoostClassifier(Fussy(max_depth=1), n_estimators=3, resample="compound", random_state=0)
    model.fit(X, y)
    assert [each.attempt for each in model._rounds] == [1, 2, 3]


def test_replace_of_numbers_without_their_worst_row():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = X[:, 0] + rng.normal(size=100)
    options = {"resample": "replace", "learning_rate": 10, "n_estimators": 3, "random_state": 0}
    model = AdaBoostRegressor(DecisionTreeRegressor(), keep_row_weights=True, **options)
    model.fit(X, y, sample_weight=rng.uniform(0.5, 1, 100))
    assert np.isfinite(model.row_weights_).all()
    assert model.row_weights_.sum(axis=1) == pytest.approx(np.ones(len(model)))


@pytest.mark.parametrize("resample", ["reset", "replace"])
def test_samples_that_are_all_right_at_a_large_learning_rate(resample):
    X, y = rows(60, noise=2.0)
    base = DecisionTreeClassifier(max_depth=4)
    model = AdaBoostClassifier(
        base, resample=resample, learning_rate=200, random_state=0, keep_row_weights=True
    ).fit(X, y)
    assert model.estimator_errors_.min() == 0.5 / 60  # there was such a sample
    assert model.row_weights_.sum(axis=1) == pytest.approx(np.ones(len(model)))
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("make", [AdaBoostClassifier, AdaBoostRegressor])
@pytest.mark.parametrize(("rate", "size"), [(1e306, "large"), (1e-306, "small"), (5e-324, "small")])
def test_a_learning_rate_that_numbers_cannot_hold(make, rate, size):
    X, y = rows()
    with pytest.raises(ParameterError, match=f"`learning_rate` of {make.__name__} is too {size}"):
        make(learning_rate=rate).fit(X, y)


def test_the_size_of_weights_is_a_hint_to_those_who_get_them():
    X, y = np.zeros((40, 2)), np.arange(40) % 2
    with pytest.raises(DataError, match="Weights of rows add up to 1"):
        AdaBoostClassifier(DummyClassifier()).fit(X, y)
    with pytest.raises(DataError, match=r"tell the classes apart\.$"):
        AdaBoostClassifier(DummyClassifier(strategy="constant", constant=1), resample="reset").fit(X, y)
    with pytest.raises(DataError, match=r"tell the classes apart\.$"):
        AdaBoostClassifier().fit(X, y)


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
