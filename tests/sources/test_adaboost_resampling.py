"""AdaBoost by samples, as the sources draw them, and what they do with errors above one half."""

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier as TheirClassifier
from sources.adaboost_points import EIGHT_X, EIGHT_Y, keep_samples, stump_of, two_halves

from weald import AdaBoostClassifier, DecisionTreeClassifier
from weald.adaboost import loop

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


# --- samples by weight


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
