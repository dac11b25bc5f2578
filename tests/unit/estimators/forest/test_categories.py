"""`cat_penalty`: a split by categories is chosen by its gain less what its categories gain by chance."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from reference.principal_axis import positions

from weald import RandomForestClassifier, RandomForestRegressor
from weald.errors import ParameterError

N = 400
ONE_SPLIT = {"n_estimators": 1, "max_depth": 1, "bootstrap": False, "max_features": None, "random_state": 0}


def table(seed: int, n_levels: int) -> pd.DataFrame:
    """A number, and categories that mean nothing."""
    rng = np.random.default_rng(seed)
    levels = pd.Categorical([f"level {k}" for k in rng.integers(0, n_levels, N)])
    return pd.DataFrame({"x": rng.normal(size=N).round(1), "level": levels})


def loss_of(y: np.ndarray, numbers: bool) -> float:
    """Sum of squares, or the number of rows times the Gini impurity."""
    shares = y.mean()
    return float(((y - shares) ** 2).sum()) if numbers else 2 * len(y) * shares * (1 - shares)


def gain(y: np.ndarray, left: np.ndarray, numbers: bool) -> float:
    """By how much a split lowers the loss."""
    return loss_of(y, numbers) - loss_of(y[left], numbers) - loss_of(y[~left], numbers)


def best_gains(X: pd.DataFrame, y: np.ndarray, numbers: bool) -> tuple[float, float]:
    """Of all thresholds of the number, and of all sets that stand first in the order of the means."""
    values = X["x"].to_numpy()
    by_number = max(gain(y, values <= t, numbers) for t in np.unique(values)[:-1])
    means = pd.Series(y).groupby(X["level"].to_numpy()).mean().sort_values().index
    sets = (np.isin(X["level"], means[:k]) for k in range(1, len(means)))
    return by_number, max(gain(y, left, numbers) for left in sets)


@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("n_levels", [3, 15, 80])
@pytest.mark.parametrize("penalty", [0, 0.25, 1, 4])
def test_the_better_column_after_the_penalty_is_split(numbers, n_levels, penalty):
    chosen = set()
    for seed in range(8):
        X = table(seed, n_levels)
        rng = np.random.default_rng(100 + seed)
        y = 0.4 * (X["x"].to_numpy() > 0.5) + rng.normal(size=N)
        y = y if numbers else (y > 0).astype(float)
        make = RandomForestRegressor if numbers else RandomForestClassifier
        model = make(cat_penalty=penalty, **ONE_SPLIT).fit(X, y)
        by_number, by_set = best_gains(X, y, numbers)
        chance = penalty * (X["level"].nunique() - 1) * loss_of(y, numbers) / N
        expected = int(by_set - chance > by_number)
        assert model.forest_.column.tolist() == [expected]
        # What is told is the whole gain.
        np.testing.assert_allclose(model.forest_.gain[0], (by_number, by_set)[expected], rtol=1e-9)
        chosen.add(expected)
    if n_levels == 80 and penalty in (0, 4):
        assert chosen == {int(penalty == 0)}


def loss_of_rows(y: np.ndarray, task: str) -> float:
    """As `loss_of`, of any number of classes."""
    if task == "numbers":
        return loss_of(y, numbers=True)
    shares = np.bincount(y.astype(int)) / len(y)
    return float(len(y) * (1 - shares @ shares))


def by_place(levels: np.ndarray, y: np.ndarray, task: str) -> list[str]:
    """The categories present in the order of their means, or of their places on the axis of class shares."""
    present = np.unique(levels)
    if task == "three classes":
        cells = [np.bincount(y[levels == level].astype(int), minlength=3).tolist() for level in present]
        places = np.array(positions(cells))
    else:
        places = np.array([y[levels == level].mean() for level in present])
    return present[np.argsort(places, kind="stable")].tolist()


def sets_here(levels: np.ndarray, y: np.ndarray, task: str) -> list[list[str]]:
    """What (5a) tries: every set of a few categories, or those that stand first in the order of the node."""
    order = by_place(levels, y, task)
    if task != "three classes":
        return [order[:k] for k in range(1, len(order))]
    return [list(some) for k in range(1, len(order)) for some in combinations(order, k)]


def best_below(X: pd.DataFrame, y: np.ndarray, node: np.ndarray, task: str) -> tuple[int, float, bool]:
    """The split of a node by docs/methods/forests.md, 5a and 5b: column, gain, if in the tree's order."""
    values, levels, target = X["x"].to_numpy()[node], X["level"].to_numpy()[node], y[node]
    loss = loss_of_rows(target, task)

    def gain_of(left: np.ndarray) -> float:
        return loss - loss_of_rows(target[left], task) - loss_of_rows(target[~left], task)

    found = [(gain_of(values <= t), 0.0, 0, False) for t in np.unique(values)[:-1]]
    present = np.unique(levels)
    held_back = (len(present) - 1) * loss / len(target)
    for some in sets_here(levels, target, task):
        found.append((gain_of(np.isin(levels, some)), held_back, 1, False))
    tree = [level for level in by_place(X["level"].to_numpy(), y, task) if level in present]
    share = sum(np.mean(node[X["level"].to_numpy() == level]) for level in present)
    for k in range(1, len(tree) if len(tree) > 2 else 1):
        found.append((gain_of(np.isin(levels, tree[:k])), share * loss / len(target), 1, True))
    told, _, column, in_tree = max(found, key=lambda split: split[0] - split[1])
    return column, told, in_tree


@pytest.mark.parametrize("task", ["two classes", "three classes", "numbers"])
def test_nodes_below_the_root_split_in_the_order_of_the_tree_too(task):
    in_tree_order = 0
    for seed in range(25):
        X, rng = table(seed, 6), np.random.default_rng(200 + seed)
        effect = rng.normal(size=6)[X["level"].cat.codes]
        y = 2 * (X["x"].to_numpy() > 1.0) + 0.35 * effect + rng.normal(size=N)
        cuts = {"two classes": [0.5], "three classes": [-0.5, 1.0]}.get(task)
        y = y if cuts is None else np.digitize(y, cuts).astype(float)
        make = RandomForestRegressor if task == "numbers" else RandomForestClassifier
        forest = make(cat_penalty=1, **(ONE_SPLIT | {"max_depth": 2})).fit(X, y).forest_
        assert forest.column[0] == 0
        left = X["x"].to_numpy() <= forest.threshold[0]
        for slot, node in ((1, left), (2, ~left)):
            column, told, in_tree = best_below(X, y, node, task)
            assert forest.column[slot] == column
            np.testing.assert_allclose(forest.gain[slot], told, rtol=1e-9)
            in_tree_order += in_tree
    assert in_tree_order >= 5, in_tree_order


def test_meaningless_categories_cost_less():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(1200, 4)), columns=list("abcd"))
    X["id"] = pd.Categorical([f"id {k}" for k in rng.integers(0, 400, len(X))])
    y = (X["a"] + X["b"] + rng.normal(size=len(X)) > 0).to_numpy()
    scores = [
        RandomForestClassifier(60, cat_penalty=penalty, oob_score=True, random_state=0).fit(X, y).oob_score_
        for penalty in (0, 1)
    ]
    assert scores[1] > scores[0] + 0.02


def test_the_same_for_any_scale_of_weights_and_target():
    X, rng = table(3, 40), np.random.default_rng(5)
    y = rng.normal(size=N) + X["x"].to_numpy()
    plain = RandomForestRegressor(5, random_state=0, cat_penalty=1).fit(X, y)
    scaled = RandomForestRegressor(5, random_state=0, cat_penalty=1).fit(X, 8 * y, np.full(N, 4.0))
    np.testing.assert_array_equal(plain.forest_.column, scaled.forest_.column)
    np.testing.assert_array_equal(8 * plain.predict(X), scaled.predict(X))


@pytest.mark.parametrize("value", [-0.5, "much", None])
def test_bad_values_are_named(value):
    with pytest.raises(ParameterError, match="`cat_penalty` of RandomForestClassifier must be"):
        RandomForestClassifier(cat_penalty=value).fit([[1.0], [2.0]], [0, 1])
