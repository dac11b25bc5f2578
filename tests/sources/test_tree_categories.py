"""Categorical columns: the best partition in two, against every subset there is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from support.losses import CLASS_CRITERIA, gain, weighted_median
from support.newton_trees import grow_newton_tree

from weald import DecisionTreeClassifier, DecisionTreeRegressor, engine
from weald.data.codes import encode
from weald.data.table import LevelColumn, Table

# two classes, or one target: ordered by a mean
ORDERED = ["gini", "entropy", "misclassification", "squared_error", "poisson"]


def levels(indices: np.ndarray) -> pd.DataFrame:
    """The column as text; -1 is missing."""
    return pd.DataFrame({"town": pd.Series(np.array([*"abcdefghijkl", None], dtype=object)[indices])})


def partitions(indices: np.ndarray) -> Iterator[np.ndarray]:
    """Every way to part the levels present in two, missing being one of them."""
    present = np.unique(indices)
    for mask in range(1, 2 ** (len(present) - 1)):
        yield np.isin(indices, present[[bool(mask >> bit & 1) for bit in range(len(present))]])


def problem(criterion: str, seed: int, n: int = 60, n_levels: int = 8, n_classes: int = 2):
    """Levels, some missing every second time, a target and weights: none, whole or fractions."""
    rng = np.random.default_rng(seed)
    indices = rng.integers(0, n_levels, n)
    indices[rng.random(n) < 0.15 * (seed % 2)] = -1
    if criterion in CLASS_CRITERIA:
        y = (indices % n_classes + rng.integers(0, 2, n)) % n_classes
    elif criterion == "poisson":
        y = rng.poisson(1 + indices % 3, n) + 0.5
    else:
        y = np.round(rng.normal(size=n), 2) + indices % 3
    weight = [np.ones(n), rng.integers(1, 5, n).astype(float), rng.random(n) + 0.1][seed % 3]
    return indices, y, weight


def model_of(criterion: str, **parameters) -> DecisionTreeClassifier | DecisionTreeRegressor:
    model = DecisionTreeClassifier if criterion in CLASS_CRITERIA else DecisionTreeRegressor
    return model(cat_penalty=0, criterion=criterion, max_depth=1, **parameters)


def root_gain(model: DecisionTreeClassifier | DecisionTreeRegressor) -> float:
    return float(model.forest_.gain[0]) if len(model.forest_.gain) else 0.0


@pytest.mark.parametrize("criterion", ORDERED)
@pytest.mark.parametrize("seed", range(12))
def test_partition_equals_brute_force(criterion, seed):
    indices, y, weight = problem(criterion, seed)
    model = model_of(criterion).fit(levels(indices), y, weight)
    best = max(gain(criterion, y, left, weight) for left in partitions(indices))
    assert root_gain(model) == pytest.approx(best, rel=1e-9, abs=1e-9)


def test_partition_of_counts_with_a_level_of_zeros_equals_brute_force():
    indices, y, weight = np.arange(3), np.array([0.0, 9.0, 10.0]), np.array([100.0, 1.25, 1.0])
    model = model_of("poisson").fit(levels(indices), y, weight)
    best = max(gain("poisson", y, left, weight) for left in partitions(indices))
    assert root_gain(model) == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
@pytest.mark.parametrize("seed", range(4))
def test_partition_of_many_classes_equals_brute_force(criterion, seed):
    """All subsets are tried up to 10 categories."""
    indices, y, weight = problem(criterion, seed, n=80, n_levels=10 if seed == 0 else 6, n_classes=3)
    model = model_of(criterion).fit(levels(indices), y, weight)
    best = max(gain(criterion, y, left, weight) for left in partitions(indices))
    assert root_gain(model) == pytest.approx(best, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("criterion", ORDERED)
@pytest.mark.parametrize("seed", range(3))
def test_partition_of_several_outputs_equals_brute_force(criterion, seed):
    indices, y, weight = problem(criterion, seed, n_levels=6)
    y = np.column_stack([y, np.roll(y, 7)])
    model = model_of(criterion).fit(levels(indices), y, weight)
    best = max(gain(criterion, y, left, weight) for left in partitions(indices))
    assert root_gain(model) == pytest.approx(best / 2, rel=1e-9, abs=1e-9)  # the mean over the outputs


def newton_gain(pairs: np.ndarray, left: np.ndarray, lambda_: float) -> float:
    """G² / (H + λ) of both sides less that of all."""
    (g, h), (gl, hl), (gr, hr) = (part.sum(axis=0).tolist() for part in (pairs, pairs[left], pairs[~left]))
    return gl**2 / (hl + lambda_) + gr**2 / (hr + lambda_) - g**2 / (h + lambda_)


def grow_newton(indices: np.ndarray, pairs: np.ndarray, lambda_: float, **settings) -> float:
    """The gain of the first split, 0 if there is none."""
    table = Table((LevelColumn(0, indices.astype(np.int32), tuple(range(12))),), len(indices), named=False)
    options = engine.NativeOptions()
    for name, value in {"must_gain": True, "max_depth": 1, **settings}.items():
        setattr(options, name, value)
    codes = encode(table, max_bins=None)
    tree = grow_newton_tree(codes, pairs, lambda_, options)
    return float(tree["gain"][0]) if len(tree["gain"]) else 0.0


@pytest.mark.parametrize("lambda_", [0.0, 1.0, 30.0, 500.0])
@pytest.mark.parametrize("seed", range(8))
def test_partition_by_newton_gain_equals_brute_force(lambda_, seed):
    """Categories in order of G / H, not of G / (H + λ): exact wherever some split gains."""
    rng = np.random.default_rng(seed)
    indices = rng.integers(-1 if seed % 2 else 0, 8, 50)
    pairs = np.stack([rng.integers(-50, 50, 50), rng.integers(1, 9 if seed % 3 else 200, 50)], axis=1)
    best = max(newton_gain(pairs, left, lambda_) for left in partitions(indices))
    assert grow_newton(indices, pairs, lambda_) == pytest.approx(max(0.0, best), rel=1e-9, abs=1e-9)


def test_newton_partition_with_categories_of_no_hessian_equals_brute_force():
    indices, pairs = np.arange(3), np.array([[-6, 0], [-8, 2], [-3, 0]])
    best = max(newton_gain(pairs, left, 1.0) for left in partitions(indices))
    assert grow_newton(indices, pairs, 1.0) == pytest.approx(best)


def test_order_is_by_g_over_h_and_not_by_leaf_value():
    """Three categories whose leaf values G / (H + λ) have another order than G / H."""
    pairs, lambda_ = np.array([[-2, 4], [-10, 11], [-10, 28]]), 5.0
    indices, sums = np.arange(3), pairs.T
    assert np.argsort(sums[0] / sums[1]).tolist() == [1, 0, 2]
    assert np.argsort(sums[0] / (sums[1] + lambda_)).tolist() == [1, 2, 0]
    best = max(newton_gain(pairs, left, lambda_) for left in partitions(indices))
    by_leaf_value = max(newton_gain(pairs, indices == k, lambda_) for k in (1, 0))
    assert 0 < by_leaf_value < best / 2
    assert grow_newton(indices, pairs, lambda_) == pytest.approx(best)


# where a limit on the children binds


def within(left: np.ndarray, weight: np.ndarray, min_rows: int, min_weight: float) -> bool:
    sides = (left, ~left)
    return min(s.sum() for s in sides) >= min_rows and min(weight[s].sum() for s in sides) >= min_weight


@pytest.mark.parametrize("limit", ["rows", "weight"])
@pytest.mark.parametrize("criterion", [*ORDERED, "absolute_error"])
def test_partition_under_a_limit_that_binds_equals_brute_force(criterion, limit):
    """Up to 10 categories every subset is tried, so nothing that is allowed is missed."""
    bound = 0
    for seed in range(6):
        indices, y, weight = problem(criterion, seed, n=40, n_levels=(4, 7, 10)[seed % 3])
        # one level that stands out, too small to stand alone
        indices[:3] = 0
        indices[3:][indices[3:] == 0] = 1
        y[:3] = y.max() if criterion in CLASS_CRITERIA else 40
        min_rows, share = (15, 0.0) if limit == "rows" else (1, 0.4)
        free = model_of(criterion).fit(levels(indices), y, weight)
        rules_out = not within(free.apply(levels(indices)) == 1, weight, min_rows, share * weight.sum())
        bound += rules_out
        if criterion == "absolute_error" and not rules_out:
            continue  # by median, a heuristic
        model = model_of(criterion, min_samples_leaf=min_rows, min_weight_fraction_leaf=share)
        best = max(
            gain(criterion, y, left, weight)
            for left in partitions(indices)
            if within(left, weight, min_rows, share * weight.sum())
        )
        assert root_gain(model.fit(levels(indices), y, weight)) == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert bound >= 3


@pytest.mark.parametrize("n_levels", [4, 10])
def test_newton_partition_under_a_limit_that_binds_equals_brute_force(n_levels):
    bound = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        indices = rng.integers(0, n_levels, 40)
        pairs = np.stack([rng.integers(-50, 50, 40), rng.integers(1, 9, 40)], axis=1)
        allowed = [left for left in partitions(indices) if min(left.sum(), (~left).sum()) >= 17]
        best = max((newton_gain(pairs, left, 1.0) for left in allowed), default=0.0)
        found = grow_newton(indices, pairs, 1.0, min_rows_leaf=17)
        assert found == pytest.approx(max(0.0, best), rel=1e-9, abs=1e-9)
        bound += grow_newton(indices, pairs, 1.0) > best + 1e-9
    assert bound >= 2


# absolute error: no mean orders the categories


def median_prefixes(indices: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Iterator[np.ndarray]:
    """Categories from the lowest median to the highest, cut anywhere; missing on either side or alone."""

    def lower_median(level: int) -> float:
        rows = indices == level
        order = np.argsort(y[rows], kind="stable")
        reached = np.cumsum(weight[rows][order])
        return y[rows][order][np.searchsorted(reached, reached[-1] / 2)]

    present = sorted((int(k) for k in np.unique(indices) if k >= 0), key=lambda k: (lower_median(k), k))
    for length in range(1, len(present)):
        yield np.isin(indices, present[:length])
        yield np.isin(indices, [*present[:length], -1])
    if (indices < 0).any():
        yield indices >= 0


@pytest.mark.parametrize("seed", range(12))
def test_categories_of_absolute_error_are_ordered_by_median(seed):
    indices, y, weight = problem("absolute_error", seed, n_levels=12)
    weight = np.round(weight * 8) + 1
    model = model_of("absolute_error").fit(levels(indices), y, weight)
    best = max(gain("absolute_error", y, left, weight) for left in median_prefixes(indices, y, weight))
    assert root_gain(model) == pytest.approx(best, rel=1e-9)


def test_order_by_median_is_a_heuristic():
    """It loses to the best subset on some tables, by little on most."""
    shares = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        indices, y = rng.integers(0, 6, 40), rng.normal(size=40)
        best = max(gain("absolute_error", y, left) for left in partitions(indices))
        shares.append(root_gain(model_of("absolute_error").fit(levels(indices), y)) / best)
    assert max(shares) <= 1 + 1e-9
    assert min(shares) < 0.99
    assert np.mean(shares) > 0.99


def test_absolute_error_parts_categories_that_stand_apart():
    rng = np.random.default_rng(0)
    indices = rng.integers(0, 12, 400)
    y = np.where(indices % 3 == 0, 100.0, 0.0) + rng.normal(size=400)
    model = model_of("absolute_error").fit(levels(indices), y)
    left = model.apply(levels(indices)) == 1
    assert {*indices[left]} == {k for k in range(12) if k % 3}
    low, high = model.forest_.value[:, 0]
    assert low == pytest.approx(weighted_median(y[left], np.ones(left.sum())))
    assert high == pytest.approx(weighted_median(y[~left], np.ones((~left).sum())))


# many categories


def test_many_categories_are_parted_in_two_and_not_one_by_one():
    rng = np.random.default_rng(2)
    level = rng.integers(0, 200, 4000)
    X = pd.DataFrame({"level": pd.Categorical.from_codes(level, [f"L{i}" for i in range(200)])})
    model = DecisionTreeClassifier(max_depth=1).fit(X, level % 2)
    assert model.score(X, level % 2) == 1.0
    many = DecisionTreeClassifier(max_depth=2).fit(
        X, level % 3
    )  # three classes: along the first principal axis
    assert many.score(X, level % 3) == 1.0
