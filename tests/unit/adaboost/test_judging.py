"""The judgement of a round against plain arithmetic."""

import numpy as np
import pytest

from weald.adaboost import medians
from weald.adaboost.following import LabelScore, NumberScore
from weald.adaboost.judging import LabelTask, NumberTask
from weald.adaboost.loop import RowChoice
from weald.adaboost.medians import RunningMedians, weighted_median
from weald.adaboost.records import RoundsPlan
from weald.adaboost.weights import TOTAL, RowWeights
from weald.errors import DataError


def naive_reweighed(values, wrong, alpha):
    new = values * np.where(wrong, np.exp(alpha), 1.0)
    return np.maximum(new * (TOTAL / new.sum()), values > 0)


@pytest.mark.parametrize("n", [1, 5, 40_000])
@pytest.mark.parametrize("alpha", [0.3, 3.0, -2.0])
def test_labels_are_reweighed(n, alpha):
    rng = np.random.default_rng(n)
    weight = rng.exponential(size=n)
    weight[rng.random(n) < 0.2] = 0.0
    weight[0] = 1.0
    start = RowWeights(weight, n)
    wrong = rng.random(n) < 0.4
    label = np.zeros(n, np.int32)
    found = [
        LabelTask(label, 2, 1.0, n_threads).reweighed(start.values, wrong, alpha) for n_threads in (1, 2, 5)
    ]
    for values, units in found:
        assert np.array_equal(values, found[0][0])
        assert np.array_equal(units, np.rint(values))
    assert found[0][0] == pytest.approx(naive_reweighed(start.values, wrong, alpha), rel=1e-9)
    assert (found[0][1][weight == 0] == 0).all()
    assert (found[0][1][weight > 0] >= 1).all()


def test_no_learning_rate_overflows():
    start = RowWeights(None, 4)
    wrong = np.array([True, False, False, False])
    for alpha in (5000.0, -5000.0):
        values, units = LabelTask(np.zeros(4, np.int32), 2, 1.0).reweighed(start.values, wrong, alpha)
        heavy = wrong if alpha > 0 else ~wrong
        assert np.isfinite(values).all()
        assert units[~heavy].tolist() == [1] * int((~heavy).sum())


@pytest.mark.parametrize("alpha", [5000.0, -5000.0, 0.4])
@pytest.mark.parametrize("all_wrong", [True, False])
def test_rows_that_are_all_right_or_all_wrong_keep_their_weights(alpha, all_wrong):
    # Under "replace" rows without weight may be the other way round.
    start = RowWeights(np.array([1.0, 2.0, 0.0, 5.0]), 4)
    wrong = np.where(start.present, all_wrong, not all_wrong)
    values, units = LabelTask(np.zeros(4, np.int32), 2, 1.0).reweighed(start.values, wrong, alpha)
    assert values == pytest.approx(start.values, rel=1e-15)
    assert units == pytest.approx(start.units, rel=1e-15)


def test_errors_are_exact_shares():
    units = np.array([2**51, 1, 2**51 - 1], np.int64)
    task = LabelTask(np.zeros(3, np.int32), 2, 1.0)
    assert task.error(np.array([True, False, False]), units) == 0.5
    assert task.error(np.array([False, True, False]), units) == 2.0**-52


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_votes_give_the_training_error(n_classes):
    rng = np.random.default_rng(n_classes)
    n = 5000
    label = rng.integers(0, n_classes, n).astype(np.int32)
    units = rng.integers(0, 5, n)
    scores = [LabelScore(label, n_classes, units, n_threads) for n_threads in (1, 2, 5)]
    votes = np.zeros((n, n_classes))
    for weight in (1.0, 0.5, -0.25, 0.5):
        said = rng.integers(0, n_classes, n).astype(np.int32)
        votes[np.arange(n), said] += weight
        expected = units[votes.argmax(axis=1) != label].sum() / units.sum()
        assert [score.add(said, weight) for score in scores] == [expected] * 3


@pytest.mark.parametrize(
    ("loss", "expected"),
    [("linear", [0, 0.5, 1]), ("square", [0, 0.25, 1]), ("exponential", 1 - np.exp([0.0, -0.5, -1.0]))],
)
def test_losses_of_numbers(loss, expected):
    task = NumberTask(np.array([1.0, 2.0, 3.0, 9.0]), np.array([True, True, True, False]), loss, 1.0)
    data = np.array([True, True, True, False])
    assert task.losses(np.array([1.0, 1.0, 5.0, 0.0]), data) == pytest.approx([*expected, 0.0])
    assert not task.losses(np.array([1.0, 2.0, 3.0, 0.0]), data).any()
    # A sample has lost the worst row: the others are a share of the worst that is left.
    data = np.array([True, True, False, False])
    lost = task.losses(np.array([1.0, 1.0, 1e300, 0.0]), data)
    assert lost == pytest.approx([0.0, expected[2], expected[2], 0.0])
    assert task.losses(np.array([1.0, 2.0, 5.0, 0.0]), data).tolist() == [0, 0, 1, 0]


def test_numbers_that_are_none_are_refused():
    task = NumberTask(np.zeros(2), np.ones(2, bool), "linear", 1.0)
    with pytest.raises(DataError, match="missing, infinite"):
        task.losses(np.array([0.0, np.nan]), np.ones(2, bool))


def test_numbers_are_reweighed():
    rng = np.random.default_rng(0)
    start, losses = RowWeights(rng.exponential(size=50), 50), rng.random(50)
    task = NumberTask(np.zeros(50), np.ones(50, bool), "linear", 1.0)
    alpha = 1.3
    values, units = task.reweighed(start.values, losses, alpha)
    expected = start.values * np.exp(-alpha * (1 - losses))
    assert values == pytest.approx(expected * (TOTAL / expected.sum()), rel=1e-9)
    assert units.sum() == pytest.approx(TOTAL, rel=1e-9)
    far, _ = task.reweighed(start.values, losses, 1e5)
    assert np.isfinite(far).all()
    assert far.argmax() == losses.argmax()
    # The worst row may not be in the data: some weight is left all the same.
    values = start.values.copy()
    values[losses.argmax()] = 0.0
    left, units = task.reweighed(values, losses, 1e5)
    assert left.argmax() == np.where(values > 0, losses, -1).argmax()
    assert left[losses.argmax()] == 0
    assert units.sum() == pytest.approx(TOTAL)


@pytest.mark.parametrize("resample", [None, "compound", "reset", "replace"])
def test_errors_of_numbers_are_mean_losses(resample):
    rng = np.random.default_rng(1)
    weights = RowWeights(rng.exponential(size=30), 30)
    seen = RowChoice(RoundsPlan(5, resample, "stop", 3, "AdaBoostRegressor"), weights).seen(2)
    losses = rng.random(30)
    by = seen.training.units if resample in ("reset", "replace") else weights.values
    task = NumberTask(np.zeros(30), np.ones(30, bool), "linear", 1.0)
    assert task.error(losses, seen.judging) == pytest.approx((by * losses).sum() / by.sum(), abs=1e-12)


def test_a_loss_of_a_part_is_not_rounded_to_a_row():
    seen = RowChoice(RoundsPlan(5, "reset", "stop", 0, "AdaBoostRegressor"), RowWeights(None, 4)).seen(0)
    assert seen.training.units.tolist() == [1, 1, 1, 1]
    task = NumberTask(np.zeros(4), np.ones(4, bool), "linear", 1.0)
    assert task.error(np.array([0.4, 0.4, 0.4, 1.0]), seen.judging) == pytest.approx(0.55, abs=1e-12)
    assert seen.n_parts == 4


def naive_median(said, weights):
    order = np.argsort(said, kind="stable")
    total = np.cumsum(weights[order])
    return said[order][np.argmax(total >= 0.5 * total[-1])]


@pytest.mark.parametrize("block", [1, 50, 2**15])
def test_weighted_medians_at_every_stage(monkeypatch, block):
    monkeypatch.setattr(medians, "_BLOCK", block)
    rng = np.random.default_rng(0)
    said, weights = rng.integers(0, 6, (40, 20)).astype(float), rng.exponential(size=20)
    running, target = RunningMedians(40), rng.normal(size=40)
    score = NumberScore(target, np.ones(40, np.int64))
    for n in range(1, 21):
        found = running.add(said[:, n - 1], weights[n - 1])
        assert found.tolist() == [naive_median(row[:n], weights[:n]) for row in said]
        assert np.array_equal(found, weighted_median(said[:, :n], weights[:n]))
        error = score.add(said[:, n - 1], weights[n - 1])
        assert error == pytest.approx(((found - target) ** 2).mean())
    assert weighted_median(said[:, :1], np.zeros(1)).tolist() == said[:, 0].tolist()
