"""`cat_penalty="auto"`: a split by categories is chosen by what it gains beyond chance (trees.md, 8a)."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from weald import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from weald.errors import ParameterError

N = 600
FEW = {"n_estimators": 10, "random_state": 0}


def ids(n: int, first: str = "row") -> list[str]:
    """A level of its own for every row."""
    return [f"{first} {i}" for i in range(n)]


def above_zero(n: int, seed: int, first: str) -> tuple[pd.DataFrame, np.ndarray]:
    """What x > 0 tells, with an id beside it."""
    x = np.random.default_rng(seed).normal(size=n)
    return pd.DataFrame({"id": ids(n, first), "x": x}), (x > 0).astype(int)


MODELS = {
    "gini": DecisionTreeClassifier(),
    "entropy": DecisionTreeClassifier(criterion="entropy"),
    "misclassification": DecisionTreeClassifier(criterion="misclassification"),
    "shallow": DecisionTreeClassifier(max_depth=2),
    "few leaves": DecisionTreeClassifier(max_leaf_nodes=4),
    "pruned": DecisionTreeClassifier(prune="cv", random_state=0),
    "squares": DecisionTreeRegressor(),
    "medians": DecisionTreeRegressor(criterion="absolute_error"),
    "poisson": DecisionTreeRegressor(criterion="poisson"),
    "forest": RandomForestClassifier(**FEW),
    "forest of all columns": RandomForestClassifier(max_features=None, **FEW),
    "forest of numbers": RandomForestRegressor(**FEW),
    "extra trees": ExtraTreesClassifier(n_estimators=50, random_state=0),
    "extra trees of numbers": ExtraTreesRegressor(**FEW),
    "bagging": BaggingClassifier(**FEW),
    "bagging of numbers": BaggingRegressor(**FEW),
    "stumps": AdaBoostClassifier(**FEW),
    "deeper": AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), **FEW),
    "AdaBoost of numbers": AdaBoostRegressor(**FEW),
}


@pytest.mark.parametrize("name", MODELS)
def test_an_id_does_not_ruin_a_column_that_tells_all(name):
    X, y = above_zero(N, 0, "row")
    new, truth = above_zero(2000, 1, "new")
    predicted = MODELS[name].fit(X, y).predict(new)
    assert np.mean((predicted > 0.5) == truth) >= 0.99


def test_without_the_penalty_it_does():
    X, y = above_zero(N, 0, "row")
    new, truth = above_zero(2000, 1, "new")
    assert np.mean(DecisionTreeClassifier(cat_penalty=0).fit(X, y).predict(new) == truth) < 0.6
    assert np.mean(AdaBoostClassifier(cat_penalty=0, **FEW).fit(X, y).predict(new) == truth) < 0.6


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_an_id_is_not_split_where_nothing_else_is_left(criterion):
    rng = np.random.default_rng(0)
    two = rng.integers(0, 2, N)
    X = pd.DataFrame({"id": ids(N), "two": np.where(two, "b", "a")})
    y = np.exp(two + 0.5 * rng.normal(size=N))
    tree = DecisionTreeRegressor(criterion=criterion).fit(X, y)
    assert tree.tree_.n_leaves == 2
    assert DecisionTreeRegressor(criterion=criterion).fit(X[["id"]], y).tree_.n_leaves == 1
    assert DecisionTreeRegressor(criterion=criterion, cat_penalty=0).fit(X, y).tree_.n_leaves == N


def test_categories_of_two_rows_each_are_split_if_they_tell_something():
    level = np.repeat(np.arange(N // 2), 2)
    X = pd.DataFrame({"level": pd.Categorical([f"level {k}" for k in level])})
    rng = np.random.default_rng(0)
    effect = rng.normal(size=N // 2)[level]
    signal = DecisionTreeRegressor(max_depth=1).fit(X, effect + 0.1 * rng.normal(size=N))
    chance = DecisionTreeRegressor(max_depth=1).fit(X, rng.normal(size=N))
    assert (signal.tree_.n_leaves, chance.tree_.n_leaves) == (2, 1)


def test_few_categories_may_be_split_at_a_loss():
    a, b = np.meshgrid(np.arange(3), np.arange(3))
    a, b = np.tile(a.ravel(), 20), np.tile(b.ravel(), 20)
    X = pd.DataFrame({"a": a, "b": b}, dtype=str)
    y = (a + b) % 3 == 0  # neither column tells anything alone
    assert DecisionTreeClassifier().fit(X, y).score(X, y) == 1.0


def loss_of(y: np.ndarray, task: str) -> float:
    """Sum of squares, or the number of rows times the Gini impurity."""
    if task == "numbers":
        return float(((y - y.mean()) ** 2).sum())
    shares = np.bincount(y.astype(int)) / len(y)
    return float(len(y) * (1 - shares @ shares))


def expected_split(X: pd.DataFrame, y: np.ndarray, task: str) -> tuple[int, float]:
    """The column of the root, and what its split gains, by equation (8a)."""
    values, levels = X["x"].to_numpy(), X["level"].to_numpy()
    loss, n = loss_of(y, task), len(y)

    def gain(left: np.ndarray) -> float:
        return loss - loss_of(y[left], task) - loss_of(y[~left], task)

    present = np.unique(levels)
    within = sum(loss_of(y[levels == level], task) for level in present)
    noise = (within + 5 * loss / (n - 1)) / (n - len(present) + 5)
    if task == "three classes":
        sets = [some for k in range(1, len(present)) for some in combinations(present, k)]
    else:
        order = sorted(present, key=lambda level: y[levels == level].mean())
        sets = [order[:k] for k in range(1, len(order))]
    by_set = max(gain(np.isin(levels, some)) for some in sets)
    by_number = max(gain(values <= t) for t in np.unique(values)[:-1])
    # In the order of the tree, which at the root is the same, there is more to gain.
    chosen = int(by_set - noise * (len(present) - 1) > by_number)
    return chosen, (by_number, by_set)[chosen]


@pytest.mark.parametrize("task", ["two classes", "three classes", "numbers"])
@pytest.mark.parametrize("n_levels", [2, 6, 40, 150])
def test_the_better_column_beyond_chance_is_split(task, n_levels):
    if task == "three classes" and n_levels > 10:
        pytest.skip("all sets are tried up to ten categories")
    chosen = set()
    for seed in range(10):
        rng = np.random.default_rng(seed)
        level = rng.integers(0, n_levels, 300)
        X = pd.DataFrame(
            {"x": rng.normal(size=300).round(1), "level": pd.Categorical([f"level {k}" for k in level])}
        )
        effect = rng.normal(size=n_levels)[level] * rng.choice([0, 0.2, 1])
        y = 0.8 * (X["x"].to_numpy() > 0.5) + effect + 0.7 * rng.normal(size=300)
        cuts = {"two classes": [0.3], "three classes": [-0.3, 0.8]}.get(task)
        y = y if cuts is None else np.digitize(y, cuts).astype(float)
        tree = (DecisionTreeRegressor if task == "numbers" else DecisionTreeClassifier)(max_depth=1).fit(X, y)
        column, told = expected_split(X, y, task)
        assert tree.forest_.column.tolist() == [column]
        np.testing.assert_allclose(tree.forest_.gain[0], told, rtol=1e-9)
        chosen.add(column)
    assert chosen == {0, 1}


def test_forests_of_any_search_grow_the_same_trees():
    """Nodes that draw columns have a grower of their own, with the same rules."""
    rng = np.random.default_rng(0)
    level = rng.integers(0, 150, N)
    X = pd.DataFrame({"id": ids(N), "level": pd.Categorical([f"level {k}" for k in level])})
    for name in "abc":
        X[name] = rng.normal(size=N)
    y = X["a"] + rng.normal(size=150)[level] + 0.3 * rng.normal(size=N)
    forest = RandomForestRegressor(3, max_features=2, bootstrap=False, random_state=0).fit(X, y)
    for tree in forest.estimators_:
        again = tree.__class__(**tree.get_params()).fit(X, y)
        assert again.to_text() == tree.to_text()


@pytest.mark.parametrize("make", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_tables_without_categories_do_not_change(make):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)).round(1), rng.integers(0, 2, 200)
    trees = [make(cat_penalty=penalty).fit(X, y) for penalty in ("auto", 0, 1.5)]
    assert len({tree.to_text() for tree in trees}) == 1


def test_the_same_for_any_scale_order_and_threads():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 100, N)
    X = pd.DataFrame({"level": pd.Categorical([f"level {k}" for k in level]), "x": rng.normal(size=N)})
    y = X["x"].to_numpy() + rng.normal(size=100)[level] + rng.normal(size=N)
    plain = DecisionTreeRegressor(n_jobs=1).fit(X, y)
    mixed = rng.permutation(N)
    others = [
        DecisionTreeRegressor(n_jobs=2).fit(X, 8 * y, np.full(N, 4.0)),
        DecisionTreeRegressor(n_jobs=5).fit(X.iloc[mixed], 8 * y[mixed]),
    ]
    for other in others:
        np.testing.assert_array_equal(plain.forest_.column, other.forest_.column)
        np.testing.assert_array_equal(8 * plain.predict(X), other.predict(X))


def test_adaboost_leaves_auto_to_its_tree():
    X, y = above_zero(N, 0, "row")
    exact = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1, cat_penalty=0), **FEW).fit(X, y)
    assert exact.estimators_[0].forest_.column[0] == 0
    held = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1, cat_penalty=0), cat_penalty=2.0, **FEW)
    assert held.fit(X, y).estimators_[0].forest_.column[0] == 1


@pytest.mark.parametrize("value", [-1, "much", None])
def test_bad_values_are_named(value):
    with pytest.raises(ParameterError, match=r"`cat_penalty` of DecisionTreeClassifier must be .* or 'auto'"):
        DecisionTreeClassifier(cat_penalty=value).fit([[1.0], [2.0]], [0, 1])


def test_absolute_error_tells_the_whole_gain_of_a_column_that_may_be_an_id():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 12, 40)
    X = pd.DataFrame({"id": [f"l{v}" for v in level], "x": rng.normal(size=40)})
    y = 5 * rng.normal(size=12)[level] + 0.1 * rng.normal(size=40)
    forest = DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(X, y).forest_
    assert forest.impurity is not None
    loss = forest.impurity * forest.cover
    assert forest.column.tolist() == [0]
    assert forest.gain[0] == pytest.approx(loss[0] - loss[1] - loss[2], rel=1e-12)
