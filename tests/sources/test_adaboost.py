"""AdaBoost as the sources work it out: METHODS, section 3, row by row."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import AdaBoostClassifier as TheirClassifier
from sklearn.ensemble import AdaBoostRegressor as TheirRegressor
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier as TheirTree

from weald import AdaBoostClassifier, AdaBoostRegressor, DecisionTreeClassifier
from weald.adaboost import loop
from weald.errors import ParameterError

EIGHT_X = np.arange(5.0, 45.0, 5.0)
EIGHT_Y = np.array([-1, -1, 1, 1, 1, -1, -1, 1])
TEN_X = np.round(np.arange(1, 11) / 10, 1)
TEN_Y = np.array([1, 1, 1, -1, -1, -1, -1, 1, 1, 1])
TEN_SAMPLES = [
    [0.1, 0.4, 0.5, 0.6, 0.6, 0.7, 0.7, 0.7, 0.8, 1],
    [0.1] * 2 + [0.2] * 4 + [0.3] * 4,
    [0.2] * 2 + [0.4] * 4 + [0.5] + [0.6] * 2 + [0.7],
]


def give_samples(monkeypatch, x, samples):
    """Let AdaBoost draw these samples, one after another, instead of its own."""
    rows = [np.searchsorted(x, np.array(sample) - 1e-9) for sample in samples]
    waiting = iter([np.bincount(each, minlength=len(x)) for each in rows])
    monkeypatch.setattr(loop, "drawn_counts", lambda *_: next(waiting))


def stump_of(tree):
    """The threshold of a stump, and what it says on either side; a leaf alone has one answer."""
    shares = tree.tree_.value[:, 0, :]
    answers = tree.classes_[np.argmax(shares, axis=1)]
    if tree.get_n_leaves() == 1:
        return (int(answers[0]),)
    return round(float(tree.tree_.threshold[0]), 10), int(answers[1]), int(answers[2])


def two_halves(n=300, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + X[:, 1] ** 2 - 0.8 + noise * rng.normal(size=n) > 0).astype(int)
    return X, y


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


# --- resampling


def test_reset_eight_points(monkeypatch):
    give_samples(monkeypatch, EIGHT_X, [[5, 10, 20, 30, 30, 35, 35, 40]])
    X = EIGHT_X[:, None]
    model = AdaBoostClassifier(n_estimators=2, resample="reset").fit(X, EIGHT_Y)
    assert [stump_of(tree) for tree in model.estimators_] == [(12.5, -1, 1), (37.5, -1, 1)]
    assert model.rounds_.error == pytest.approx([1 / 4, 1 / 8], abs=1e-12)
    assert model.rounds_.say == pytest.approx([0.549, 0.973], abs=5e-4)
    assert (model.predict(X) == EIGHT_Y).sum() == 5
    give_samples(monkeypatch, EIGHT_X, [[5, 10, 20, 30, 30, 35, 35, 40]] * 4)
    three = AdaBoostClassifier(n_estimators=3, resample="reset", keep_row_weights=True).fit(X, EIGHT_Y)
    wrong = np.isin(EIGHT_X, [15, 20, 25])
    assert three.row_weights_[2][~wrong] == pytest.approx(np.full(5, 1 / 26), abs=1e-12)
    assert three.row_weights_[2][wrong] == pytest.approx(np.full(3, 7 / 26), abs=1e-12)


def test_replace_makes_the_sample_the_data(monkeypatch):
    sample = [5, 10, 20, 30, 30, 35, 35, 40]
    give_samples(monkeypatch, EIGHT_X, [sample] * 2)
    X = EIGHT_X[:, None]
    model = AdaBoostClassifier(n_estimators=3, resample="replace", keep_row_weights=True).fit(X, EIGHT_Y)
    # the error of ⅛ on the sample: the row 20 has half of the weight, the other seven draws the other half
    expected = np.array([1, 1, 0, 7, 0, 2, 2, 1]) / 14
    assert model.row_weights_[2] == pytest.approx(expected, abs=1e-12)
    assert model.rounds_.error[:2] == pytest.approx([1 / 4, 1 / 8], abs=1e-12)


def ten_points(monkeypatch):
    give_samples(monkeypatch, TEN_X, TEN_SAMPLES)
    return AdaBoostClassifier(n_estimators=3, resample="compound", keep_row_weights=True).fit(
        TEN_X[:, None], TEN_Y
    )


def test_ten_points_compound(monkeypatch):
    model = ten_points(monkeypatch)
    assert [stump_of(tree) for tree in model.estimators_] == [(0.75, -1, 1), (1,), (0.3, 1, -1)]
    assert model.rounds_.error == pytest.approx([0.3, 2 / 7, 0.15], abs=1e-12)
    assert model.rounds_.say == pytest.approx([0.4236, 0.4581, 0.8673], abs=5e-5)
    low = TEN_X <= 0.3
    assert model.row_weights_[1][low] == pytest.approx(np.full(3, 1 / 6), abs=1e-12)
    assert model.row_weights_[1][~low] == pytest.approx(np.full(7, 1 / 14), abs=1e-12)
    votes = model.decision_function(TEN_X[:, None]) / 2 * model.rounds_.say.sum()
    assert votes[low] == pytest.approx(np.full(3, 0.902), abs=5e-4)
    assert votes[3:7] == pytest.approx(np.full(4, -0.833), abs=5e-4)
    assert votes[7:] == pytest.approx(np.full(3, 0.0145), abs=5e-5)
    assert np.array_equal(model.predict(TEN_X[:, None]), TEN_Y)


def test_the_slip_of_the_ten_point_notes(monkeypatch):
    # The notes print weights .311 and .01 for round 2: they divide the error by the number of rows once more.
    slip = 0.3 / 10
    say = 0.5 * np.log((1 - slip) / slip)
    weights = np.where(TEN_X <= 0.3, np.exp(say), np.exp(-say))
    weights /= weights.sum()
    assert weights[0] == pytest.approx(0.311, abs=5e-4)
    assert weights[-1] == pytest.approx(0.01, abs=1e-3)
    assert not np.allclose(ten_points(monkeypatch).row_weights_[1], weights, atol=0.05)


def keep_samples(monkeypatch):
    """The samples that AdaBoost draws from now on, as counts of rows, with the weights they are drawn by."""
    draw, kept = loop.drawn_counts, []

    def drawn(units, *given):
        kept.append((units, draw(units, *given)))
        return kept[-1][1]

    monkeypatch.setattr(loop, "drawn_counts", drawn)
    return kept


@pytest.mark.parametrize("resample", ["compound", "reset", "replace"])
def test_samples_are_drawn_by_weight(monkeypatch, resample):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] > 0) ^ (rng.random(40) < 0.2)
    base = DecisionTreeClassifier(max_depth=2)
    drawn, expected, varies = np.zeros(40), np.zeros(40), False
    options = {"n_estimators": 2, "worse_than_chance": "negate", "keep_row_weights": True}
    for seed in range(150):
        kept = keep_samples(monkeypatch)
        model = AdaBoostClassifier(base, resample=resample, random_state=seed, **options).fit(X, y)
        monkeypatch.undo()
        # the first attempt of "reset" and "replace" has all rows, and draws none
        _, of_round_2 = kept[model._rounds[1].attempt - (resample != "compound")]
        assert of_round_2.sum() == 40
        drawn += of_round_2
        expected += 40 * model.row_weights_[1]
        varies |= model.row_weights_[1].max() > 2 * model.row_weights_[1].min()
    assert varies  # even draws would be far off
    assert (np.abs(drawn - expected) < 5 * np.sqrt(expected)).all()
    assert ((drawn - expected) ** 2 / expected).sum() < 40 + 6 * np.sqrt(80)


# --- errors above one half


class AlwaysOne(DecisionTreeClassifier):
    """A classifier that is wrong more often than right."""

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.n_features_in_ = np.unique(y), np.shape(X)[1]
        return self

    def predict(self, X):
        return np.ones(len(X), int)


def test_above_one_half_stop():
    X = np.zeros((10, 1))
    y = np.array([1] * 6 + [0] * 4)
    # The first round says 1 everywhere (error .4), the second is on even weights: error ½, which is chance.
    model = AdaBoostClassifier(AlwaysOne(), n_estimators=5).fit(X, y)
    assert len(model) == 1
    # twice the learning rate overshoots: the error of the second round is .6
    options = {"n_estimators": 5, "learning_rate": 2.0}
    ours, theirs = (each(AlwaysOne(), **options).fit(X, y) for each in (AdaBoostClassifier, TheirClassifier))
    assert len(ours.estimators_) == len(theirs.estimators_) == 1
    with pytest.raises(ValueError, match="no better than chance"):
        AdaBoostClassifier(AlwaysOne()).fit(X, 1 - y)


def test_above_one_half_negate():
    X = np.zeros((10, 1))
    y = np.array([0] * 6 + [1] * 4)
    model = AdaBoostClassifier(AlwaysOne(), n_estimators=1, worse_than_chance="negate").fit(X, y)
    assert model.rounds_.say[0] == pytest.approx(0.5 * np.log(0.4 / 0.6))
    assert (model.predict(X) == 0).all()


def test_above_one_half_negate_of_three_classes():
    X = np.zeros((20, 1))
    y = np.r_[np.full(12, 0), np.full(2, 1), np.full(6, 2)]
    model = AdaBoostClassifier(
        AlwaysOne(), n_estimators=2, learning_rate=0.5, worse_than_chance="negate", keep_row_weights=True
    ).fit(X, y)
    # The error .9 is above that of guessing, ⅔: the member votes against class 1, and wrong rows weigh less.
    alpha = 0.5 * (np.log(0.1 / 0.9) + np.log(2))
    assert model.estimator_errors_[0] == pytest.approx(0.9)
    assert model.estimator_weights_[0] == pytest.approx(alpha)
    assert model.rounds_.say[0] == pytest.approx(alpha / 2)
    weights = np.where(y == 1, 1.0, np.exp(alpha))
    assert model.row_weights_[1] == pytest.approx(weights / weights.sum(), abs=1e-12)
    votes = next(model.staged_decision_function(X))[0]
    assert votes[1] < votes[0] == votes[2]
    assert not (model.predict(X) == 1).any()


class Second(AlwaysOne):
    """Says 0 for all rows in its second fit, where that is the lighter side."""

    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        Second.n_fits += 1
        self.says_ = int(Second.n_fits != 2)
        return super().fit(X, y, sample_weight)

    def predict(self, X):
        return np.full(len(X), self.says_)


def test_reset_is_equal_weights_and_another_sample(monkeypatch):
    """METHODS: above one half, "reset" is equal weights and a redraw."""
    monkeypatch.setattr(Second, "n_fits", 0)
    kept = keep_samples(monkeypatch)
    X, y = np.zeros((10, 1)), np.r_[np.full(7, 1), np.full(3, 0)]
    model = AdaBoostClassifier(
        Second(),
        n_estimators=2,
        resample="compound",
        learning_rate=0.5,
        worse_than_chance="reset",
        keep_row_weights=True,
        random_state=0,
    ).fit(X, y)
    first, dropped, redrawn = kept
    assert len(np.unique(first[0])) == 1
    assert len(np.unique(dropped[0])) == 2  # of compounding weights, by which its error was above one half
    assert np.array_equal(redrawn[0], first[0])
    assert not np.array_equal(redrawn[1], first[1])
    assert model.estimator_errors_ == pytest.approx([0.3, 0.3])
    assert model.row_weights_[1] == pytest.approx(np.full(10, 0.1), abs=1e-15)


def test_above_one_half_reset():
    X = np.zeros((10, 1))
    y = np.array([1] * 6 + [0] * 4)
    model = AdaBoostClassifier(
        AlwaysOne(), n_estimators=4, worse_than_chance="reset", keep_row_weights=True
    ).fit(X, y)
    assert len(model) == 4
    assert np.allclose(model.row_weights_, 0.1)  # every round after the first starts anew
    assert model.estimator_errors_ == pytest.approx([0.4] * 4)
    drawn = AdaBoostClassifier(
        n_estimators=30, resample="compound", worse_than_chance="reset", random_state=0
    ).fit(*two_halves(40, noise=3.0))
    assert len(drawn) == 30


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
