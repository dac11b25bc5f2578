"""The judgement of a round against plain arithmetic."""

import numpy as np
import pytest

from weald.adaboost.following import LabelScore
from weald.adaboost.judging import LabelTask, NumberTask
from weald.adaboost.medians import staged_medians, weighted_median
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
    assert task.losses(np.array([1.0, 1.0, 5.0, 0.0])) == pytest.approx([*expected, 0.0])
    assert not task.losses(np.array([1.0, 2.0, 3.0, 0.0])).any()


def test_numbers_that_are_none_are_refused():
    task = NumberTask(np.zeros(2), np.ones(2, bool), "linear", 1.0)
    with pytest.raises(DataError, match="missing, infinite"):
        task.losses(np.array([0.0, np.nan]))


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


def naive_median(said, weights):
    order = np.argsort(said)
    total = np.cumsum(weights[order])
    return said[order][np.argmax(total >= 0.5 * total[-1])]


def test_weighted_medians_at_every_stage():
    rng = np.random.default_rng(0)
    said, weights = rng.integers(0, 6, (40, 9)).astype(float), rng.exponential(size=9)
    stages = list(staged_medians(said, weights, range(1, 10)))
    for n, found in enumerate(stages, start=1):
        assert found.tolist() == [naive_median(row[:n], weights[:n]) for row in said]
    assert np.array_equal(weighted_median(said, weights), stages[-1])
    assert weighted_median(said[:, :1], np.zeros(1)).tolist() == said[:, 0].tolist()
