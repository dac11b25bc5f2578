"""Scores and losses of a trace against their definitions, worked out row by row."""

from __future__ import annotations

import math

import numpy as np
import pytest

from weald.inspection.trace.columns import TracedColumn
from weald.inspection.trace.judges import ClassJudge, MomentJudge, NewtonJudge
from weald.inspection.trace.records import Agreement
from weald.inspection.trace.sides import Bounds, Parts
from weald.inspection.trace.targets import number_target


@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification"])
def test_scores_of_classes_are_minus_impurity_times_weight(criterion: str) -> None:
    cells = np.array([[3, 1, 0], [5, 5, 5], [7, 0, 0]])
    shares = cells / cells.sum(axis=1, keepdims=True)
    impurity = {
        "gini": 1 - (shares**2).sum(axis=1),
        "entropy": -sum(np.where(p > 0, p * np.log2(np.where(p > 0, p, 1)), 0) for p in shares.T),
        "misclassification": 1 - shares.max(axis=1),
    }[criterion]
    score = ClassJudge(criterion, (0, 3)).score(cells)
    np.testing.assert_allclose(score, -impurity * cells.sum(axis=1), rtol=1e-13, atol=1e-13)


def test_scores_of_gradients() -> None:
    judge = NewtonJudge(reg_lambda=1.0, alpha=2.0, max_step=0.0, smooth=0.0, category_lambda=0.0)
    cells = np.array([[-14, 2], [1, 4], [9, 0]])
    np.testing.assert_allclose(judge.score(cells), [12**2 / 3, 0.0, 49.0])
    np.testing.assert_allclose(judge.value(cells), [4.0, 0.0, -7.0])
    np.testing.assert_allclose(judge.score_at(cells, judge.value(cells)), judge.score(cells))
    held = NewtonJudge(reg_lambda=1.0, alpha=0.0, max_step=1.0, smooth=0.0, category_lambda=0.0)
    np.testing.assert_allclose(held.score(cells[:1]), [2 * 14 - 3])


def test_poisson_has_no_side_of_0() -> None:
    judge = MomentJudge(poisson=True, sum_powers=(0,), weight_power=0)
    score = judge.score(np.array([[0, 3], [6, 3]]))
    assert score[0] == -math.inf
    assert score[1] == pytest.approx(6 * math.log2(2))


def test_losses_around_medians_are_those_of_every_side() -> None:
    rng = np.random.default_rng(0)
    y, weight = rng.normal(size=12).round(1), rng.integers(1, 4, 12).astype(float)
    codes = np.array([0, 1, 1, 2, 3, 2, 0, 1, 3, 3, 2, 1])
    column = TracedColumn(0, 0, "categorical", codes, 3, np.zeros(0))
    target = number_target(y[:, np.newaxis], weight, "absolute_error")
    parts = Parts.of(column, np.arange(12))
    sides = target.statistic.prefixes(parts, list(range(parts.n)), Bounds(), missing_left=True)

    def loss(rows: np.ndarray) -> float:
        repeated = np.repeat(y[rows], weight[rows].astype(int))
        return float(np.abs(repeated - np.median(repeated)).sum()) if len(repeated) else 0.0

    for place, last in enumerate(parts.codes.tolist()):
        left = codes <= last  # missing rows, code 0, too
        told = -target.statistic.real(float(sides.score[place]))
        assert told == pytest.approx(loss(np.flatnonzero(left)) + loss(np.flatnonzero(~left)), rel=1e-12)


def test_what_agrees() -> None:
    agreement = Agreement()
    assert agreement.number("gain", 1.0, 1.0 + 1e-10)
    assert agreement.largest == pytest.approx(1e-10, rel=1e-3)
    assert agreement.number("gain", 0.0, 1e-14, scale=1.0)
    assert not agreement.number("gain", 1.0, 1.0 + 1e-8, at=(2, 3, 4))
    assert not agreement.number("gain", 1.0, math.nan)
    assert not agreement.numbers("value", [1.0, 2.0], [1.0, 2.5])
    assert not agreement.numbers("value", [1.0], [1.0, 2.5])
    assert not agreement.same("rows", 3, 4)
    assert str(agreement.disagreements[0]).startswith("round 2, tree 3, node 4: gain")
    assert agreement.largest == math.inf
    assert agreement.n_compared == 7
