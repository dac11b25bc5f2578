"""AdaBoost as the sources work it out: METHODS, section 3, row by row."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import AdaBoostClassifier as TheirClassifier
from sklearn.ensemble import AdaBoostRegressor as TheirRegressor
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier as TheirTree
from sources.adaboost_points import EIGHT_X, EIGHT_Y, keep_samples, stump_of, two_halves

from weald import AdaBoostClassifier, AdaBoostRegressor, DecisionTreeClassifier
from weald.errors import ParameterError

# --- reweighting


def test_reweighting_eight_points():
    X = EIGHT_X[:, None]
    model = AdaBoostClassifier(n_estimators=2).fit(X, EIGHT_Y)
    assert stump_of(model.estimators_[0]) == (12.5, -1, 1)
    assert model.rounds_.error[0] == pytest.approx(1 / 4, abs=1e-12)
    assert model.rounds_.say[0] == pytest.approx(0.549, abs=5e-4)
    assert model.estimator_weights_[0] == pytest.approx(2 * model.rounds_.say[0])
    weights = model.row_weights(X, EIGHT_Y, round_number=2)
    wrong = np.isin(EIGHT_X, [30, 35])
    assert weights[~wrong] == pytest.approx(np.full(6, 1 / 12), abs=1e-12)
    assert weights[wrong] == pytest.approx(np.full(2, 1 / 4), abs=1e-12)


def test_the_two_conventions_of_say_differ_by_a_factor_that_cancels():
    X, y = two_halves()
    model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    f = sum(
        say * np.where(tree.predict(X) == 1, 1, -1)
        for say, tree in zip(model.rounds_.say, model.estimators_, strict=True)
    )
    assert np.array_equal(f > 0, model.predict(X) == 1)
    assert 2 * f / model.rounds_.say.sum() == pytest.approx(model.decision_function(X), abs=1e-12)


# --- several classes, numbers, any base


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("learning_rate", [1.0, 0.4])
def test_samme_equals_scikit_learn(n_classes, learning_rate):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(400, 5))
    score = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=400)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    options = {"n_estimators": 40, "learning_rate": learning_rate}
    ours = AdaBoostClassifier(**options).fit(X, y)
    theirs = TheirClassifier(TheirTree(max_depth=1), **options).fit(X, y)
    assert ours.estimator_weights_ == pytest.approx(theirs.estimator_weights_, abs=1e-6)
    assert ours.estimator_errors_ == pytest.approx(theirs.estimator_errors_, abs=1e-6)
    new = rng.normal(size=(200, 5))
    for a, b in zip(ours.staged_predict_proba(new), theirs.staged_predict_proba(new), strict=True):
        assert a == pytest.approx(b, abs=1e-6)


def test_bases_without_weights_are_drawn_for():
    X, y = two_halves()
    assert (
        AdaBoostClassifier(KNeighborsClassifier(5), resample="compound", n_estimators=5, random_state=0)
        .fit(X, y)
        .score(X, y)
        > 0.8
    )
    with pytest.raises(ParameterError, match="resample='compound'"):
        AdaBoostClassifier(KNeighborsClassifier(5)).fit(X, y)
    weighed = AdaBoostClassifier(SVC(C=1000), n_estimators=5, random_state=0).fit(X, y)
    assert weighed.score(X, y) > 0.8


def test_numbers_by_r2():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (200, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=200)
    model = AdaBoostRegressor(n_estimators=3).fit(X, y)
    weight = np.full(200, 1 / 200)
    for tree, error, count in zip(
        model.estimators_, model.estimator_errors_, model.estimator_weights_, strict=True
    ):
        loss = np.abs(tree.predict(X) - y)
        loss /= loss.max()
        mean = (weight * loss).sum()
        beta = mean / (1 - mean)
        assert error == pytest.approx(mean, abs=1e-9)
        assert count == pytest.approx(np.log(1 / beta), abs=1e-9)
        weight = weight * beta ** (1 - loss)
        weight /= weight.sum()


@pytest.mark.parametrize("resample", [None, "compound", "reset", "replace"])
@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_r2_of_every_form(monkeypatch, resample, loss):
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (80, 2))
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=80)
    kept = keep_samples(monkeypatch)
    model = AdaBoostRegressor(
        n_estimators=5, resample=resample, loss=loss, keep_row_weights=True, random_state=0
    ).fit(X, y)
    samples = [counts for _, counts in kept]
    if resample in ("reset", "replace"):
        samples.insert(0, np.ones(80, int))  # the first member has all rows
    assert len(model) == 5
    for t, tree in enumerate(model.estimators_):
        now = model.row_weights_[t]
        judged = samples[t] / 80 if resample in ("reset", "replace") else now
        base = {"reset": np.full(80, 1 / 80), "replace": judged}.get(resample, now)
        share = np.abs(tree.predict(X) - y)
        share = share / share[base > 0].max()
        lost = {"linear": share, "square": share**2, "exponential": 1 - np.exp(-share)}[loss]
        mean = (judged * lost).sum()
        assert model.estimator_errors_[t] == pytest.approx(mean, abs=1e-9)
        beta = mean / (1 - mean)
        assert model.estimator_weights_[t] == pytest.approx(-np.log(beta), abs=1e-9)
        new = base * beta ** (1 - lost)
        if t + 1 < len(model):
            assert model.row_weights_[t + 1] == pytest.approx(new / new.sum(), abs=1e-9)


class Next(RegressorMixin, BaseEstimator):
    """A regressor that takes its slopes from a list, whatever its rows: both libraries get the same."""

    slopes: list[np.ndarray] = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.slope_ = Next.slopes.pop(0)
        return self

    def predict(self, X):
        return X @ self.slope_


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
@pytest.mark.parametrize("learning_rate", [1.0, 0.6])
def test_r2_equals_scikit_learn_given_the_same_members(loss, learning_rate):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    truth = np.array([1.0, -2.0, 0.5, 0.0])
    y = X @ truth + 0.1 * rng.normal(size=150)
    slopes = [truth + 0.5 * rng.normal(size=4) for _ in range(10)]
    weight = rng.exponential(size=150)
    weight[:10] = 0.0
    options = {"n_estimators": 10, "loss": loss, "learning_rate": learning_rate}
    for extra in (None, weight):
        fitted = []
        for make, more in ((AdaBoostRegressor, {"resample": "compound"}), (TheirRegressor, {})):
            Next.slopes = list(slopes)
            fitted.append(make(Next(), random_state=0, **options, **more).fit(X, y, extra))
        ours, theirs = fitted
        n = len(ours)
        assert n == len(theirs.estimators_)
        assert n > 3
        assert ours.estimator_weights_ == pytest.approx(theirs.estimator_weights_[:n], abs=1e-6)
        assert ours.estimator_errors_ == pytest.approx(theirs.estimator_errors_[:n], abs=1e-6)
        for a, b in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
            assert a == pytest.approx(b, abs=1e-6)


# --- probabilities


def test_probabilities_rise_with_the_decision_function():
    X, y = two_halves()
    softmax = AdaBoostClassifier(n_estimators=15).fit(X, y)
    logistic = AdaBoostClassifier(n_estimators=15, probability="logistic").fit(X, y)
    decision = softmax.decision_function(X)
    order = np.argsort(decision)
    f = decision / 2 * softmax.rounds_.say.sum()
    assert logistic.predict_proba(X)[:, 1] == pytest.approx(1 / (1 + np.exp(-2 * f)), abs=1e-12)
    for model in (softmax, logistic):
        shares = model.predict_proba(X)
        assert (np.diff(shares[order, 1]) >= -1e-15).all()
        assert shares.sum(axis=1) == pytest.approx(np.ones(len(X)))
    theirs = TheirClassifier(TheirTree(max_depth=1), n_estimators=15).fit(X, y)
    assert softmax.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-6)


# --- the bound


@pytest.mark.parametrize("resample", [None, "compound"])
def test_training_error_stays_below_its_bound(resample):
    X, y = two_halves(500, noise=1.0)
    model = AdaBoostClassifier(n_estimators=60, resample=resample, random_state=0).fit(X, y)
    rounds = model.rounds_
    assert (rounds.training_error <= rounds.bound).all()
    edges = 0.5 - rounds.error
    assert rounds.bound == pytest.approx(np.cumprod(np.sqrt(1 - 4 * edges**2)), abs=1e-12)
    assert (rounds.bound <= np.exp(-2 * np.cumsum(edges**2)) + 1e-12).all()
    actual = [1 - score for score in model.staged_score(X, y)]
    assert rounds.training_error == pytest.approx(actual, abs=1e-9)


def test_no_bound_where_it_need_not_hold():
    X, y = two_halves()
    for options in ({"learning_rate": 0.5}, {"resample": "reset"}, {"resample": "replace"}):
        model = AdaBoostClassifier(n_estimators=3, random_state=0, **options).fit(X, y)
        assert np.isnan(model.rounds_.bound).all()
    three = AdaBoostClassifier(n_estimators=3).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    assert np.isnan(three.rounds_.bound).all()


# --- forward stagewise


def test_forward_stagewise_under_exponential_loss():
    """The pair (β, G) of least exponential loss, over all stumps of ±1, is AdaBoost's, round by round."""
    X, labels = two_halves(60, seed=3, noise=1.0)
    y = 2 * labels - 1
    stump = DecisionTreeClassifier(max_depth=1, criterion="misclassification")
    model = AdaBoostClassifier(stump, n_estimators=12).fit(X, y)
    candidates = [np.ones(len(X)), -np.ones(len(X))]
    for column in X.T:
        cuts = np.sort(column)
        for cut in (cuts[:-1] + cuts[1:]) / 2:
            side = np.where(column <= cut, -1.0, 1.0)
            candidates += [side, -side]
    f = np.zeros(len(X))
    for number, tree in enumerate(model.estimators_):
        weight = np.exp(-y * f)
        losses, betas = [], []
        for G in candidates:
            error = weight[y != G].sum() / weight.sum()
            beta = 0.5 * np.log((1 - error) / error)
            betas.append(beta)
            losses.append(np.exp(-y * (f + beta * G)).sum())
        best = int(np.argmin(losses))
        said = tree.predict(X).astype(float)
        assert np.exp(-y * (f + model.rounds_.say[number] * said)).sum() == pytest.approx(
            losses[best], rel=1e-9
        )
        assert np.array_equal(said, candidates[best] * np.sign(betas[best]))
        assert model.rounds_.say[number] == pytest.approx(abs(betas[best]), abs=1e-9)
        f += betas[best] * candidates[best]


# --- ten normals


def test_ten_normals():
    rng = np.random.default_rng(1)
    median = 9.34182  # of χ² with 10 degrees of freedom

    def rows_of_each_class(n):
        parts = {0: [], 1: []}
        while min(map(len, parts.values())) < n:
            row = rng.normal(size=10)
            parts[int((row**2).sum() > median)].append(row)
        return np.array(parts[0][:n] + parts[1][:n]), np.repeat([0, 1], n)

    X, y = rows_of_each_class(1000)
    X_test, y_test = rows_of_each_class(5000)
    model = AdaBoostClassifier(n_estimators=400).fit(X, y)
    errors = [1 - score for score in model.staged_score(X_test, y_test)]
    assert errors[0] == pytest.approx(0.46, abs=0.02)
    assert errors[-1] < 0.13
