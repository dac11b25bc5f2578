"""Single machines on the dual solver: problems so small that every variable counts."""

import numpy as np
import pytest
from sklearn import svm

from weald.svm.kernel_sources import GivenSource
from weald.svm.machines import BinaryTask, ExactTrainer, Limits, kkt_gap, slack


def trainer(K):
    return ExactTrainer(GivenSource(K, np.arange(len(K), dtype=np.int32), len(K)), 1 << 20, 1)


@pytest.mark.parametrize("n_rows", [2, 3, 4, 5, 7])
@pytest.mark.parametrize("seed", range(5))
def test_the_smallest_problems_are_solved(n_rows, seed):
    X = 3 * np.random.default_rng(seed).uniform(size=(n_rows, 3))
    K = X @ X.T
    target = np.where(np.arange(n_rows) % 2, 1.0, -1.0)
    task = BinaryTask(np.arange(n_rows, dtype=np.int32), target, np.ones(n_rows))
    machine = trainer(K).solve(task, Limits(1e-6, max_time=5.0), None)
    assert machine.converged
    theirs = svm.SVC(kernel="precomputed", tol=1e-6).fit(K, target)
    assert machine.values == pytest.approx(theirs.decision_function(K), abs=1e-4)
    assert machine.primal == pytest.approx(machine.dual, abs=1e-5)


@pytest.mark.parametrize("epsilon", [None, 0.2])
def test_the_gap_follows_from_coefficients_and_values(epsilon):
    random = np.random.default_rng(3)
    K = (X := random.normal(size=(40, 3))) @ X.T
    target = np.where(X[:, 0] > 0, 1.0, -1.0) if epsilon is None else X[:, 0] + random.normal(size=40)
    task = BinaryTask(np.arange(40, dtype=np.int32), target, random.uniform(0.5, 2.0, 40), epsilon=epsilon)
    for max_iter in (0, 5, -1):
        machine = trainer(K).solve(task, Limits(1e-6, max_iter=max_iter), None)
        found = kkt_gap(task, machine.coefficients, machine.values)
        assert found == pytest.approx(machine.gap, abs=1e-12)


def test_slack_is_what_lies_beyond_the_margin_or_the_tube():
    rows = np.arange(3, dtype=np.int32)
    classes = BinaryTask(rows, np.array([1.0, 1.0, -1.0]), np.ones(3))
    assert slack(classes, np.array([2.0, 0.25, 0.5])).tolist() == [0.0, 0.75, 1.5]
    numbers = BinaryTask(rows, np.array([1.0, 1.0, -1.0]), np.ones(3), epsilon=0.5)
    assert slack(numbers, np.array([1.25, 3.0, -2.0])).tolist() == [0.0, 1.5, 0.5]


def test_machines_of_one_trainer_share_the_time_that_is_left():
    limits = Limits(1e-3, max_time=8.0, n_left=4)
    first = limits.seconds()
    limits.n_left = 1
    assert first == pytest.approx(2, abs=0.1)
    assert limits.seconds() == pytest.approx(8, abs=0.1)
    assert Limits(1e-3).seconds() is None
