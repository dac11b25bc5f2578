"""Losses on held-out rows: one pass for all alphas against pruning, predicting and scoring for each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from unit.model.forests import mixed_schema, random_forest, random_table

from weald import engine
from weald.errors import NativeError
from weald.model.held_out import LOSS_NAMES, held_out_losses
from weald.model.predict import leaf_nodes, raw_scores
from weald.model.prune import pruned, pruning_path

N_ROWS = 80
CLASS_CRITERIA = ("gini", "entropy", "log_loss", "misclassification")
NUMBER_CRITERIA = ("squared_error", "friedman_mse", "absolute_error", "poisson")


def one_loss(
    criterion: str, y: np.ndarray, prediction: np.ndarray, node_weight: float, floor: float
) -> float:
    """The loss of one row by its definition; `y` is one-hot for classes."""
    if criterion == "gini":
        return float(((y - prediction) ** 2).sum())
    if criterion == "misclassification":
        return float(y.argmax() != prediction.argmax())
    if criterion in ("entropy", "log_loss"):
        smooth = (prediction * node_weight + 0.5) / (node_weight + len(y) / 2)
        return float(-np.log2(smooth[y.argmax()]))
    if criterion == "absolute_error":
        return float(np.abs(y - prediction).sum())
    if criterion == "poisson":
        mean = np.maximum(prediction, floor)
        return float(sum(m if t == 0 else t * np.log(t / m) - t + m for t, m in zip(y, mean, strict=True)))
    return float(((y - prediction) ** 2).sum())


def setting(seed: int, outputs: list[int], *, numbers: bool):
    """A tree, values for its nodes, rows with their leaves, targets, weights, alphas."""
    rng = np.random.default_rng(seed)
    width = len(outputs) if numbers else sum(outputs)
    forest = random_forest(seed, n_leaves=25, width=width, shares=False, combinations=True)
    if numbers:
        values = rng.poisson(1.5, (forest.n_nodes, width)).astype(float)
        target = rng.poisson(2.0, (N_ROWS, width)).astype(float)
    else:
        values = np.hstack([rng.dirichlet(np.full(k, 0.4), forest.n_nodes) for k in outputs])
        values[rng.random(forest.n_nodes) < 0.3, : outputs[0]] = np.eye(outputs[0])[0]
        target = np.column_stack([rng.integers(0, k, N_ROWS) for k in outputs]).astype(np.int32)
    leaf = forest.slot < 0
    forest = replace(forest, value=values[leaf], base_score=np.zeros(width))
    table = random_table(seed, mixed_schema(), N_ROWS)
    path = pruning_path(forest).ccp_alphas
    alphas = np.unique(np.concatenate((path, (path[:-1] + path[1:]) / 2, [0.0, np.inf])))
    return forest, values, table, target, rng.uniform(0.1, 2.0, N_ROWS), alphas


@pytest.mark.parametrize("criterion", [*CLASS_CRITERIA, *NUMBER_CRITERIA])
@pytest.mark.parametrize("outputs", [[2], [4], [3, 2]])
@pytest.mark.parametrize("seed", range(3))
def test_losses_are_those_of_each_pruned_tree(criterion, outputs, seed):
    numbers = criterion in NUMBER_CRITERIA
    forest, values, table, target, weight, alphas = setting(seed, outputs, numbers=numbers)
    found = held_out_losses(
        forest,
        values,
        criterion=criterion,
        n_classes=[] if numbers else outputs,
        alphas=alphas,
        leaf=leaf_nodes(forest, table)[:, 0],
        target=target,
        weight=weight,
    )
    positive = values[0][values[0] > 0]
    floor = positive.min() * 2.0**-20 if len(positive) else 2.0**-1000
    starts = np.cumsum([0, *outputs])
    expected = []
    for alpha in alphas:
        small = pruned(forest, values, alpha)
        predictions = raw_scores(small, table)
        cover = small.cover[leaf_nodes(small, table)[:, 0]]
        total = 0.0
        for i in range(N_ROWS):
            if numbers:
                loss = one_loss(criterion, target[i], predictions[i], cover[i], floor)
            else:
                loss = sum(
                    one_loss(criterion, np.eye(k)[target[i, j]], predictions[i, s : s + k], cover[i], floor)
                    for j, (k, s) in enumerate(zip(outputs, starts, strict=False))
                )
            total += weight[i] * loss
        expected.append(total)
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_every_criterion_names_its_loss():
    assert set(LOSS_NAMES) == {*CLASS_CRITERIA, *NUMBER_CRITERIA}


def test_equal_losses_are_equal_to_the_bit():
    """Trees that predict the same lose the same, whatever was added and taken away on the way."""
    forest, values, table, target, weight, alphas = setting(4, [1], numbers=True)
    values = np.full_like(values, 1 / 3)
    losses = held_out_losses(
        forest,
        values,
        criterion="squared_error",
        n_classes=[],
        alphas=alphas,
        leaf=leaf_nodes(forest, table)[:, 0],
        target=target,
        weight=weight,
    )
    assert len(set(losses.tolist())) == 1


def test_poisson_with_a_mean_of_zero_is_finite():
    forest, values, table, target, weight, alphas = setting(5, [1], numbers=True)
    losses = held_out_losses(
        forest,
        np.zeros_like(values),
        criterion="poisson",
        n_classes=[],
        alphas=alphas,
        leaf=leaf_nodes(forest, table)[:, 0],
        target=target,
        weight=weight,
    )
    assert np.isfinite(losses).all()


def test_rows_and_labels_that_do_not_fit():
    tree = (np.array([0, -1, -2], np.int32), np.array([2], np.int32), np.zeros(3), np.zeros(1))
    ones = np.ones((3, 2))
    for leaf, lane, table in [(5, 0, ones), (-1, 0, ones), (1, 2, ones), (1, -1, ones), (1, 0, ones[:2])]:
        rows = engine.HeldOutRows(*tree, np.array([leaf], np.int32), np.ones(1))
        with pytest.raises(NativeError):
            engine.held_out_class_losses(rows, np.array([[lane]], np.int32), table)
    rows = engine.HeldOutRows(*tree, np.array([1], np.int32), np.ones(1))
    with pytest.raises(NativeError):
        engine.held_out_number_losses(rows, np.ones((1, 1)), np.ones((2, 1)), "squared", 0.1)
