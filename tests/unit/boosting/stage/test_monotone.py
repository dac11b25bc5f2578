"""Leaf values in the order that constrained splits ask for, where they were chosen after growth."""

from __future__ import annotations

import numpy as np
import pytest

from weald import XGBClassifier, XGBRegressor
from weald.boosting.stage.monotone import hold_monotone
from weald.errors import ParameterError

#: (0: x0 <= 1 ((1: x1 <= 2 (a) (b))) (c)) in preorder
TREE = {
    "slot": np.array([0, 1, -1, -2, -3], np.int32),
    "column": np.array([0, 1], np.int32),
    "threshold": np.array([1.0, 2.0]),
    "right": np.array([4, 3], np.int32),
}


@pytest.mark.parametrize(
    ("directions", "given", "held"),
    [
        ((1, 0), [5.0, 1.0, 3.0], [4.0, 1.0, 4.0]),
        ((-1, 0), [5.0, 1.0, 3.0], [5.0, 2.0, 2.0]),
        ((0, 1), [5.0, 1.0, 3.0], [3.0, 3.0, 3.0]),
        ((0, -1), [5.0, 1.0, 3.0], [5.0, 1.0, 3.0]),
        ((1, 1), [5.0, 1.0, 2.0], [2.5, 2.5, 2.5]),
        ((1, 1), [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
    ],
)
def test_overlaps_are_cut_in_the_middle(directions, given, held):
    value = np.array(given).reshape(-1, 1)
    assert hold_monotone(TREE, value, directions).ravel().tolist() == held
    assert value.ravel().tolist() == given


def test_each_output_for_itself():
    value = np.array([[5.0, 1.0], [1.0, 2.0], [3.0, 3.0]])
    assert hold_monotone(TREE, value, (1, 0)).tolist() == [[4.0, 1.0], [1.0, 2.0], [4.0, 3.0]]


def test_known_against_missing_has_no_order():
    tree = TREE | {"threshold": np.array([np.inf, 2.0])}
    value = np.array([[5.0], [1.0], [3.0]])
    assert hold_monotone(tree, value, (1, 0)).tolist() == value.tolist()


def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(500, 4)) * 8) / 8
    y = X[:, 0] - X[:, 2] + np.sin(3 * X[:, 1]) * X[:, 2] + rng.standard_t(2, 500)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.mark.parametrize(
    "parameters",
    [
        {"objective": "reg:absoluteerror"},
        {"objective": "reg:quantileerror", "quantile_alpha": 0.8},
        {"objective": "reg:quantileerror", "quantile_alpha": [0.1, 0.9]},
        {"objective": "reg:absoluteerror", "tree_method": "hist", "max_bin": 16, "subsample": 0.5},
        {"objective": "reg:absoluteerror", "booster": "dart", "rate_drop": 0.4},
        {"objective": "reg:squarederror"},
    ],
)
def test_predictions_keep_the_order_along_every_line(parameters):
    X, y = data()
    model = XGBRegressor(n_estimators=20, monotone_constraints=(1, 0, -1, 0), **parameters).fit(X, y)
    steps = np.linspace(-4, 4, 49)
    for column, direction in ((0, 1), (2, -1)):
        grid = np.repeat(X[:60], len(steps), axis=0)
        grid[:, column] = np.tile(steps, 60)
        said = model.predict(grid).reshape(60, len(steps), -1)
        assert (direction * np.diff(said, axis=1)).min() >= -1e-12
        assert said.std(axis=1).max() > 0


def test_trees_for_several_outputs_refuse_constraints():
    X, y = data()
    given = {"multi_strategy": "multi_output_tree", "n_estimators": 2, "monotone_constraints": (1, 0, 0, 0)}
    with pytest.raises(ParameterError, match="one_output_per_tree"):
        XGBRegressor(**given).fit(X, np.stack([y, -y], axis=1))
    with pytest.raises(ParameterError, match="3 outputs"):
        XGBClassifier(**given).fit(X, np.digitize(y, [-1, 1]))
    XGBRegressor(**given).fit(X, y)  # one output: no matter
    XGBRegressor(**(given | {"monotone_constraints": (0, 0, 0, 0)})).fit(X, np.stack([y, -y], axis=1))
