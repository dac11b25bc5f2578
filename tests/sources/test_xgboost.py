"""XGBoost as the sources explain it: every figure of their worked examples, from fitted models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.boosted_trees import Node, our_trees

from weald import XGBClassifier, XGBRegressor

METHODS = ("exact", "approx", "hist")

#: four drug dosages and their effects
DOSAGE = np.array([[10.0], [20.0], [25.0], [35.0]])
EFFECT = np.array([-10.0, 7.0, 8.0, -7.0])
#: four dosages that help or do not
HELPED_DOSAGE = np.array([[2.0], [8.0], [12.0], [18.0]])
HELPED = np.array([0, 1, 1, 0])


def one_tree(X: Any, y: Any, *, classes: bool = False, **parameters: Any) -> Node:
    """The only tree of a model with a learning rate of 1, by default from the sources' base score."""
    model = XGBClassifier if classes else XGBRegressor
    given = {"n_estimators": 1, "learning_rate": 1.0, "base_score": 0.5, "tree_method": "exact"} | parameters
    return our_trees(model(**given).fit(X, y).forest_)[0]


def leaves(node: Node) -> list[Node]:
    """From left to right."""
    return [node] if node.is_leaf else leaves(node.left) + leaves(node.right)


def gains(node: Node) -> list[float]:
    """Of every split, from the root down and from left to right."""
    return [] if node.is_leaf else [node.gain, *gains(node.left), *gains(node.right)]


# the objective


def penalty(tree: Node, reg_lambda: float, gamma: float, reg_alpha: float = 0.0) -> float:
    """γT + ½λ Σw² + α Σ|w| of a tree that is not shrunk."""
    w = np.array([leaf.value for leaf in leaves(tree)])
    return float(gamma * len(w) + reg_lambda / 2 * np.sum(w**2) + reg_alpha * np.sum(np.abs(w)))


def tree_with_leaves_of_the_example() -> tuple[Node, np.ndarray]:
    """Three leaves of three equal rows each: with λ = 1 a leaf keeps three quarters of its residual."""
    x, y = np.repeat([0.0, 1.0, 2.0], 3)[:, None], np.repeat([2.0, 0.1, -1.0], 3) / 0.75
    return one_tree(x, y, base_score=0.0, max_depth=2), y


@pytest.mark.parametrize(("reg_lambda", "gamma"), [(1.0, 0.0), (1.0, 1.0), (0.5, 7.0)])
def test_penalty_of_leaves_2_and_a_tenth_and_minus_1(reg_lambda, gamma):
    tree, _ = tree_with_leaves_of_the_example()
    assert sorted(leaf.value for leaf in leaves(tree)) == pytest.approx([-1.0, 0.1, 2.0], rel=1e-9)
    assert penalty(tree, reg_lambda, gamma) == pytest.approx(2.505 * reg_lambda + 3 * gamma, rel=1e-9)


def test_structure_score_is_the_objective_at_its_best():
    """Loss + penalty − the loss without a tree = −½ Σ G²/(H + λ) + γT, for squared error ½(y − f)²."""
    tree, y = tree_with_leaves_of_the_example()
    gamma, n = 0.25, 3
    fitted = np.repeat([2.0, 0.1, -1.0], n)
    change = np.sum((y - fitted) ** 2) / 2 + penalty(tree, 1.0, gamma) - np.sum(y**2) / 2
    G = np.array([-part.sum() for part in y.reshape(3, n)])
    assert change == pytest.approx(-np.sum(G**2 / (n + 1.0)) / 2 + gamma * 3, rel=1e-9)


@pytest.mark.parametrize("reg_alpha", [0.0, 2.0, 4.0, 40.0])
@pytest.mark.parametrize("reg_lambda", [0.0, 1.0, 3.0])
def test_leaf_is_the_sum_of_residuals_over_rows_and_lambda(reg_lambda, reg_alpha):
    """α takes from the sum, and nothing is left where the sum is smaller."""
    leaf = one_tree(DOSAGE, EFFECT, reg_lambda=reg_lambda, reg_alpha=reg_alpha, gamma=1e9)
    total = np.sum(EFFECT - 0.5)
    expected = np.sign(total) * max(abs(total) - reg_alpha, 0.0) / (4 + reg_lambda)
    assert leaf.is_leaf
    assert leaf.value == pytest.approx(expected, rel=1e-9)


# similarity, gain, cover


def similarity(leaf: Node, reg_lambda: float) -> float:
    """G²/(H + λ), read from a leaf: its value is −G/(H + λ), its cover H."""
    return leaf.value**2 * (leaf.cover + reg_lambda)


def test_lambda_halves_one_residual_and_takes_a_fifth_of_four():
    x, y = np.array([[0.0], [1.0], [1.0], [1.0], [1.0]]), np.array([-3.0, 5.0, 5.0, 5.0, 5.0])
    plain, shrunk = (leaves(one_tree(x, y, reg_lambda=value)) for value in (0.0, 1.0))
    lost = [
        1 - similarity(after, 1.0) / similarity(before, 0.0)
        for before, after in zip(plain, shrunk, strict=True)
    ]
    assert lost == pytest.approx([0.5, 0.2], rel=1e-9)


def test_gain_is_left_and_right_less_root():
    tree = one_tree(DOSAGE, EFFECT, reg_lambda=0.0, max_depth=1)
    root = np.sum(EFFECT - 0.5) ** 2 / 4
    parts = sum(similarity(leaf, 0.0) for leaf in leaves(tree))
    assert tree.gain == pytest.approx(parts - root, rel=1e-9)
    assert [round(similarity(leaf, 0.0), 2) for leaf in leaves(tree)] == [110.25, 14.08]
    assert root == 4.0


def test_cover_is_rows_or_p_times_1_minus_p():
    numbers = one_tree(DOSAGE, EFFECT, reg_lambda=0.0)
    assert numbers.cover == 4.0
    classes = one_tree(HELPED_DOSAGE, HELPED, classes=True, reg_lambda=0.0, min_child_weight=0.0)
    assert classes.cover == pytest.approx(4 * 0.25, rel=1e-9)
    assert [leaf.cover for leaf in leaves(classes)] == pytest.approx([0.25, 0.5, 0.25], rel=1e-9)


# pruning by gamma


@pytest.mark.parametrize("tree_method", METHODS)
@pytest.mark.parametrize(
    ("reg_lambda", "expected"), [(0.0, [120.33, 140.17]), (1.0, [62.49, 82.90])], ids=["λ=0", "λ=1"]
)
def test_gains_of_the_four_dosages(tree_method, reg_lambda, expected):
    tree = one_tree(DOSAGE, EFFECT, max_depth=2, reg_lambda=reg_lambda, tree_method=tree_method)
    assert gains(tree) == pytest.approx(expected, abs=0.006)
    if tree_method == "exact":  # a binned threshold is a cut
        assert (tree.threshold, tree.right.threshold) == (15.0, 30.0)


@pytest.mark.parametrize("tree_method", METHODS)
@pytest.mark.parametrize(
    ("reg_lambda", "gamma", "n_leaves"), [(0.0, 130.0, 3), (0.0, 150.0, 1), (1.0, 70.0, 3), (1.0, 130.0, 1)]
)
def test_gamma_prunes_from_the_bottom(tree_method, reg_lambda, gamma, n_leaves):
    """130 is above the gain of the root, but the split below it holds it."""
    parameters = {"max_depth": 2, "reg_lambda": reg_lambda, "gamma": gamma, "tree_method": tree_method}
    assert one_tree(DOSAGE, EFFECT, **parameters).n_leaves == n_leaves


@pytest.mark.parametrize("tree_method", METHODS)
def test_pruning_before_stops_at_the_root(tree_method):
    parameters = {"max_depth": 2, "reg_lambda": 0.0, "tree_method": tree_method, "prune": "pre"}
    assert one_tree(DOSAGE, EFFECT, gamma=130.0, **parameters).n_leaves == 1
    assert one_tree(DOSAGE, EFFECT, gamma=120.0, **parameters).n_leaves == 3


def test_lambda_can_make_a_gain_negative_and_such_a_split_is_not_made():
    """Two equal residuals of ½: apart ⅛ + ⅛, together ⅓."""
    x, y = np.array([[0.0], [1.0]]), np.array([1.0, 1.0])
    assert one_tree(x, y, reg_lambda=1.0).is_leaf
    assert one_tree(x, np.array([1.0, 1.5]), reg_lambda=0.0).n_leaves == 2
    assert one_tree(x, np.array([1.0, 1.5]), reg_lambda=1.0).is_leaf


def test_without_lambda_no_gain_is_negative():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(30, 2)), rng.normal(size=30)
        tree = one_tree(x, y, reg_lambda=0.0, min_child_weight=0.0, max_depth=20)
        assert tree.n_leaves == 30  # every split of unlike residuals gains
        assert min(gains(tree)) > 0.0


# the defaults, and the least cover of a child


def test_defaults_are_depth_6_rate_three_tenths_weight_1():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(400, 3)), rng.normal(size=400)
    stated = {"max_depth": 6, "learning_rate": 0.3, "min_child_weight": 1, "reg_lambda": 1, "gamma": 0}
    forests = [
        XGBRegressor(n_estimators=3, tree_method="exact", **given).fit(X, y).forest_ for given in ({}, stated)
    ]
    for name, array in forests[0].arrays().items():
        np.testing.assert_array_equal(array, forests[1].arrays()[name], err_msg=name)


def test_base_score_is_estimated_unless_given():
    """The mean of the target, or its log odds; .5 in the sources."""
    numbers = XGBRegressor(n_estimators=1).fit(DOSAGE, EFFECT)
    assert numbers.forest_.base_score[0] == pytest.approx(np.mean(EFFECT), abs=1e-9)
    classes = XGBClassifier(n_estimators=1).fit(HELPED_DOSAGE, np.array([0, 1, 1, 1]))
    assert classes.forest_.base_score[0] == pytest.approx(np.log(3.0), rel=1e-6)
    assert XGBRegressor(n_estimators=1, base_score=0.5).fit(DOSAGE, EFFECT).forest_.base_score[0] == 0.5
    assert XGBClassifier(base_score=0.5).fit(HELPED_DOSAGE, HELPED).forest_.base_score[0] == 0.0


def test_min_child_weight_of_1_makes_no_split_of_four_rows():
    """At p = ½ a row has a cover of ¼."""
    assert one_tree(HELPED_DOSAGE, HELPED, classes=True, reg_lambda=0.0).is_leaf
    tree = one_tree(HELPED_DOSAGE, HELPED, classes=True, reg_lambda=0.0, min_child_weight=0.0)
    assert gains(tree) == pytest.approx([1.333, 2.667], abs=0.0006)


# the three ways to candidates


def thresholds(tree: Node) -> list[tuple[int, float]]:
    """Column and threshold of every split."""
    if tree.is_leaf:
        return []
    return [(tree.column, tree.threshold), *thresholds(tree.left), *thresholds(tree.right)]


def candidates_used(tree_method: str, X: Any, y: Any) -> int:
    """The distinct thresholds of one large tree."""
    tree = one_tree(X, y, tree_method=tree_method, max_depth=14, min_child_weight=0.0, reg_lambda=0.0)
    return len(set(thresholds(tree)))


def test_33_candidates_of_a_column_by_default():
    """Of six columns at most 198, where the exact method has nearly as many as there are values."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(5000, 6)), rng.normal(size=5000)
    assert 150 < candidates_used("approx", X, y) <= 198
    assert candidates_used("exact", X, y) > 3 * 198


def test_candidates_are_proposed_anew_for_each_tree():
    """The hessians of classes change from round to round, and with them the quantiles."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(3000, 1))
    y = (rng.random(3000) < 1 / (1 + np.exp(-3 * x[:, 0]))).astype(int)
    model = XGBClassifier(n_estimators=5, tree_method="approx", max_depth=10, min_child_weight=0.0).fit(x, y)
    trees = [set(thresholds(tree)) for tree in our_trees(model.forest_)]
    assert max(len(tree) for tree in trees) <= 33
    assert len(set.union(*trees)) > 33


@pytest.mark.parametrize("tree_method", METHODS)
@pytest.mark.parametrize("high", [False, True])
def test_missing_values_go_where_the_gain_is_larger(tree_method, high):
    """The two rows without a dosage are like those of high, or of low dosages."""
    x = np.array([[1.0], [2.0], [9.0], [10.0], [np.nan], [np.nan]])
    y = np.array([0.0, 0.0, 10.0, 10.0, 10.0 * high, 10.0 * high])
    tree = one_tree(x, y, max_depth=1, reg_lambda=0.0, tree_method=tree_method)
    assert tree.missing_left is not high
    assert tree.gain == pytest.approx(np.sum((y - y.mean()) ** 2), rel=1e-9)


def test_auto_is_exact_when_small_and_hist_when_large():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(60_000, 4)).astype(np.float32), rng.normal(size=60_000)
    found = [XGBRegressor(n_estimators=1, max_depth=2).fit(X[:n], y[:n]) for n in (500, 60_000)]
    assert [model.tree_method_ for model in found] == ["exact", "hist"]
    assert found[1].max_bin_ == 255
    assert XGBRegressor(n_estimators=1, tree_method="approx").fit(X[:500], y[:500]).max_bin_ == 33


@pytest.mark.parametrize("direction", [1, -1])
def test_a_monotone_model_never_turns_along_its_column(direction):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(500, 3))
    y = direction * X[:, 0] + np.sin(5 * X[:, 0]) + X[:, 1] + rng.normal(size=500)
    model = XGBRegressor(n_estimators=20, monotone_constraints={0: direction}).fit(X, y)
    grid = np.repeat(rng.normal(size=(20, 1, 3)), 200, axis=1)
    grid[:, :, 0] = np.linspace(-4, 4, 200)
    curves = model.predict(grid.reshape(-1, 3)).reshape(20, 200)
    assert (direction * np.diff(curves, axis=1) >= 0).all()
    assert np.ptp(curves, axis=1).min() > 0.5
