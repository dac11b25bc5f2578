"""Objectives that are functions of users: what they see, what they may give, and errors that say so."""

from __future__ import annotations

import numpy as np
import pytest
from unit.boosting.newton.objectives import bound, derivatives

from weald.errors import DataError, ParameterError, WealdError


def squared(y_true, y_pred):
    return y_pred - y_true, np.ones_like(y_pred)


def test_custom_objective_sees_targets_and_raw_scores():
    seen = []

    def mine(y_true, y_pred):
        seen.append((y_true.copy(), y_pred.copy()))
        y_true[:], y_pred[:] = 0, 0  # must not reach the model
        return np.array([1.0, 2.0]), np.array([[3.0], [4.0]])

    objective = bound(mine, [5.0, 6.0])
    scores = np.array([[0.5, 0.25]])
    g, h = derivatives(objective, scores)
    assert (g.tolist(), h.tolist()) == ([[1, 2]], [[3, 4]])
    derivatives(objective, scores)
    for y_true, y_pred in seen:
        assert (y_true.tolist(), y_pred.tolist()) == ([5, 6], [0.5, 0.25])
    assert (objective.name, objective.weighted, objective.n_outputs, objective.link) == (
        "mine",
        True,
        1,
        "identity",
    )
    assert objective.base_scores().tolist() == [0.5]
    assert objective.leaf_values(scores, 0, np.zeros(2, np.int32), 1) is None


def test_custom_objective_of_classes():
    def mine(y_true, y_pred):
        assert y_pred.shape == (3, 4)
        return y_pred - np.eye(4)[y_true.astype(int)], np.arange(12.0).reshape(3, 4)

    objective = bound(mine, [0.0, 2.0, 3.0], n_classes=4)
    assert (objective.n_outputs, objective.link) == (4, "softmax")
    assert objective.base_scores().tolist() == [0.5] * 4
    g, h = derivatives(objective, np.zeros((4, 3)))
    assert g.tolist() == (-np.eye(4)[[0, 2, 3]].T).tolist()
    assert h.tolist() == np.arange(12.0).reshape(3, 4).T.tolist()
    two = bound(squared, [0.0, 1.0], n_classes=2)
    assert (two.n_outputs, two.link) == (1, "logistic")
    assert two.base_scores().tolist() == [0.0]
    assert bound(squared, np.zeros((3, 2))).n_outputs == 2


def test_custom_objective_multiplies_its_own_weights():
    def weighted(y_true, y_pred, sample_weight=None):
        return sample_weight * (y_pred - y_true), sample_weight + 1

    objective = bound(weighted, [1.0, 2.0, 3.0], weight=[2.0, 0.0, 1.0])
    g, h = derivatives(objective, np.zeros((1, 3)))
    assert g.tolist() == [[-2, 0, -3]]
    assert h.tolist() == [[3, 0, 2]]  # the row of weight 0 is absent
    with pytest.raises(ParameterError, match=r"'squared' has no parameter `sample_weight`.*Define it as"):
        bound(squared, [1.0, 2.0], weight=[1.0, 2.0])


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (np.zeros(3), r"must return two arrays, \(grad, hess\); got ndarray"),
        ((np.zeros(3),), "got tuple of 1"),
        ((np.zeros(2), np.ones(3)), r"grad of shape \(2,\). Return one number for each row: shape \(3,\)"),
        ((np.zeros(3), 1.0), r"hess of shape \(\)"),
        ((np.array([0, np.nan, 0]), np.ones(3)), "returned NaN in grad: row 1"),
        ((np.zeros(3), np.array([1, 1, np.inf])), "returned inf in hess: row 2"),
        ((np.array(["a", "b", "c"]), np.ones(3)), "which is not numbers"),
    ],
)
def test_custom_objective_errors(result, message):
    objective = bound(lambda y_true, y_pred: result, [0.0, 1.0, 2.0])
    with pytest.raises(WealdError, match=message):
        derivatives(objective, np.zeros((1, 3)))


def test_custom_objective_errors_name_the_output():
    bad = np.zeros((2, 3))
    bad[1, 2] = np.nan
    objective = bound(lambda y_true, y_pred: (bad, bad), [0.0, 2.0], n_classes=3)
    with pytest.raises(ParameterError, match="NaN in grad: row 1 of output 2"):
        derivatives(objective, np.zeros((3, 2)))
    objective = bound(lambda y_true, y_pred: (bad.T, bad), [0.0, 2.0], n_classes=3)
    with pytest.raises(ParameterError, match=r"shape \(3, 2\). Return .* row and output: shape \(2, 3\)"):
        derivatives(objective, np.zeros((3, 2)))
    with pytest.raises(DataError, match="row 0 holds nan"):
        bound(squared, [np.nan])
