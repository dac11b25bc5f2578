"""Curves, coupling and agreement with predictions: against scikit-learn, a general optimiser, brute force."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.calibration import _sigmoid_calibration
from sklearn.isotonic import IsotonicRegression

from weald.errors import DataError
from weald.svm.calibration import (
    LEAST,
    Sigmoid,
    agreeing_with,
    couple,
    fit_sigmoid,
    fit_steps,
    normalise,
    probabilities_of_two,
)
from weald.svm.held_out import deal, fold_count

RNG = np.random.default_rng(7)


def held_out(n_rows=400, slope=1.5, shift=0.4):
    values = RNG.normal(size=n_rows) * 2
    positive = RNG.random(n_rows) < 1 / (1 + np.exp(-slope * values - shift))
    return values, positive


def test_the_sigmoid_is_scikit_learns():
    values, positive = held_out()
    found = fit_sigmoid(values, positive, np.ones(len(values)))
    a, b = _sigmoid_calibration(values, positive.astype(int))
    assert (found.a, found.b) == pytest.approx((a, b), rel=1e-3)


def test_the_weighted_sigmoid_is_that_of_a_general_optimiser():
    values, positive = held_out(60)
    weight = RNG.random(60) * 3
    found = fit_sigmoid(values, positive, weight)
    above, below = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (above + 1) / (above + 2), 1 / (below + 2))

    def loss(ab):
        z = ab[0] * values + ab[1]
        return weight @ (target * z + np.logaddexp(0, -z))

    best = minimize(loss, [0.0, 0.0], tol=1e-12)
    assert loss([found.a, found.b]) <= best.fun + 1e-9


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_the_sigmoid_follows_the_scale_of_the_values(scale):
    values = np.linspace(-2, 2, 80)
    positive = values + np.tile([0.5, -0.5, 0.0, 0.2], 20) > 0
    one = fit_sigmoid(values, positive, np.ones(80))
    other = fit_sigmoid(values * scale, positive, np.ones(80))
    assert (other.a * scale, other.b) == pytest.approx((one.a, one.b))


def test_a_machine_that_is_wrong_about_everything_gives_the_shares_of_the_classes():
    values = np.linspace(-1, 1, 40)
    found = fit_sigmoid(values, values < -0.5, np.ones(40))
    assert found.a == 0
    assert 1 / (1 + np.exp(found.b)) == pytest.approx(11 / 42)


def test_values_that_are_all_alike_give_the_shares_of_the_classes():
    found = fit_sigmoid(np.zeros(10), np.arange(10) < 3, np.ones(10))
    assert 1 / (1 + np.exp(found.b)) == pytest.approx(4 / 12, abs=0.02)


def test_steps_are_isotonic_regression():
    values, positive = held_out(300)
    values = values.round(1)  # ties
    weight = RNG.random(300) + 0.1
    found = fit_steps(values, positive, weight)
    theirs = IsotonicRegression(y_min=LEAST, y_max=1 - LEAST, out_of_bounds="clip")
    above, below = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (above + 1) / (above + 2), 1 / (below + 2))
    theirs.fit(values, target, sample_weight=weight)
    new = np.linspace(-8, 8, 500)
    ours = 1 / (1 + np.exp(-found.log_odds(new)))
    assert ours == pytest.approx(theirs.predict(new), abs=1e-9)
    assert (np.diff(found.values) > 0).all()
    assert (np.diff(found.shares) >= 0).all()


def test_two_classes_agree_with_the_sign_and_keep_the_order():
    decisions = np.concatenate([np.linspace(-3, 3, 1001), [0.0, 1e-300, -1e-300, 1e-17, -1e-17]])
    for curve in (Sigmoid(-2.0, 1.0), Sigmoid(-2.0, -1.0), Sigmoid(0.0, 0.7)):
        shares = probabilities_of_two(curve.log_odds(decisions), decisions)
        assert np.array_equal(shares.argmax(axis=1), (decisions >= 0).astype(int))
        assert (np.diff(shares[:1001, 1]) > 0).all()
        assert shares.sum(axis=1) == pytest.approx(1)


def test_two_classes_keep_calibrated_values_where_they_agree_with_the_sign():
    decisions = np.array([-2.0, 2.0])
    shares = probabilities_of_two(Sigmoid(-1.0, 0.5).log_odds(decisions), decisions)
    assert shares[:, 1] == pytest.approx(1 / (1 + np.exp([2.5, -1.5])), abs=1e-6)


def test_coupling_gives_back_a_distribution_that_pairs_were_made_of():
    p = RNG.dirichlet(np.ones(4), 20)
    odds = np.stack([np.log(p[:, i] / p[:, j]) for i in range(4) for j in range(i + 1, 4)], axis=1)
    assert couple(odds, 4) == pytest.approx(p, abs=1e-6)


def test_coupling_finds_the_minimum_of_its_equation():
    odds = RNG.normal(size=(5, 3))
    found = couple(odds, 3)
    for row, p in zip(odds, found, strict=True):
        r = np.zeros((3, 3))
        for k, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
            r[i, j] = 1 / (1 + np.exp(-row[k]))
            r[j, i] = 1 - r[i, j]

        def cost(p, r=r):
            return sum((r[j, i] * p[i] - r[i, j] * p[j]) ** 2 for i in range(3) for j in range(3) if i != j)

        for _ in range(50):
            other = np.abs(p + RNG.normal(size=3) * 0.01)
            assert cost(p) <= cost(other / other.sum()) + 1e-12


def test_certain_pairs_couple_to_a_certain_class():
    shares = couple(np.array([[50.0, 50.0, 0.0]]), 3)
    assert shares[0, 0] > 0.999


def test_one_against_the_rest_adds_up_to_one():
    shares = normalise(RNG.normal(size=(6, 5)) * 40)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (shares > 0).all()


def test_agreement_is_the_nearest_distribution_that_agrees():
    shares = RNG.dirichlet(np.ones(5), 200)
    labels = RNG.integers(5, size=200)
    found = agreeing_with(shares, labels)
    assert np.array_equal(found.argmax(axis=1), labels)
    assert found.sum(axis=1) == pytest.approx(1)
    for p, q, k in zip(shares[:20], found[:20], labels[:20], strict=True):
        constraints = [
            {"type": "eq", "fun": lambda x: x.sum() - 1},
            *({"type": "ineq", "fun": lambda x, j=j, k=k: x[k] - x[j]} for j in range(5) if j != k),
        ]
        best = minimize(lambda x, p=p: ((x - p) ** 2).sum(), p, constraints=constraints, tol=1e-14)
        assert q == pytest.approx(best.x, abs=1e-4)


def test_agreement_leaves_what_agrees():
    shares = np.array([[0.5, 0.3, 0.2]])
    assert agreeing_with(shares, np.array([0])) == pytest.approx(shares, abs=1e-6)


def test_every_class_is_dealt_evenly():
    labels = np.repeat([0, 1, 2], [50, 13, 7]).astype(np.int32)
    fold = deal(labels, 5, 3)
    for k in range(3):
        counts = np.bincount(fold[labels == k], minlength=5)
        assert counts.max() - counts.min() <= 1
    assert np.array_equal(fold, deal(labels, 5, 3))
    assert not np.array_equal(fold, deal(labels, 5, 4))


def test_rare_classes_have_fewer_folds():
    classes = np.array(["a", "b"])
    assert fold_count(np.array([0] * 9 + [1] * 3, np.int32), classes, "SVC") == 3
    assert fold_count(np.array([0] * 9 + [1] * 8, np.int32), classes, "SVC") == 5
    with pytest.raises(DataError, match=r"two rows of every class.*label 'b' has 1"):
        fold_count(np.array([0] * 9 + [1], np.int32), classes, "SVC")
