"""Newton trees: gains against a brute force, threads, and tables that once went wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from support.newton_trees import grow_newton_tree
from unit.boosting.newton.growing import (
    AUTO,
    HISTOGRAM,
    ORDER,
    assert_same,
    codes_of,
    grow,
    options,
    random_problem,
)

import weald
from weald.data.codes import encode
from weald.data.table import LevelColumn, Table


def similarity(pairs: np.ndarray, lambda_: float) -> float:
    g, h = pairs.sum(axis=0).tolist()
    return g * g / (h + lambda_)


def best_gain(columns: list[np.ndarray], pairs: np.ndarray, lambda_: float) -> tuple[float, set[tuple]]:
    """The largest gain over all splits, and every (column, rows that go left) that reaches it."""
    whole = similarity(pairs, lambda_)
    best, where = 0.0, set()
    for j, x in enumerate(columns):
        missing = np.isnan(x)
        for threshold in np.unique(x[~missing]):
            for missing_left in (True, False):
                left = (x <= threshold) | (missing & missing_left)
                if left.all() or not left.any():
                    continue
                gain = similarity(pairs[left], lambda_) + similarity(pairs[~left], lambda_) - whole
                place = (j, tuple(np.flatnonzero(left).tolist()))
                if gain > best * (1 + 1e-12) + 1e-9:
                    best, where = gain, {place}
                elif abs(gain - best) <= best * 1e-12:
                    where.add(place)
    return best, where


def goes_left(tree: dict[str, np.ndarray], i: int, columns: list[np.ndarray], rows: np.ndarray) -> np.ndarray:
    x = columns[tree["column"][i]][rows]
    return np.where(np.isnan(x), tree["missing_left"][i] == 1, x <= tree["threshold"][i])


def check_against_brute_force(tree, columns, pairs, lambda_, max_depth=None) -> int:
    """Every split is a best one of its rows, every leaf has none. Returns the number of splits."""
    stack, leaves, splits = [(0, np.arange(len(pairs)), 0)], 0, 0
    while stack:
        node, rows, depth = stack.pop()
        assert tree["count"][node] == len(rows)
        assert tree["cover"][node] == pairs[rows, 1].sum()
        slot = int(tree["slot"][node])
        if slot < 0:
            assert tree["lanes"][~slot].tolist() == pairs[rows].sum(axis=0).tolist()
            if depth != max_depth:
                assert best_gain([x[rows] for x in columns], pairs[rows], lambda_)[0] <= 0
            leaves += 1
            continue
        gain, places = best_gain([x[rows] for x in columns], pairs[rows], lambda_)
        assert tree["gain"][slot] == pytest.approx(gain, rel=1e-9)
        left = goes_left(tree, slot, columns, rows)
        found = tuple(np.flatnonzero(left).tolist())
        assert (int(tree["column"][slot]), found) in places
        splits += 1
        stack.append((int(tree["right"][slot]), rows[~left], depth + 1))
        stack.append((node + 1, rows[left], depth + 1))
    assert leaves == splits + 1 == len(tree["lanes"])
    return splits


# the sources' example: x 10 20 25 35, y −10 7 8 −7, base score 0.5, squared error

X = np.array([10.0, 20.0, 25.0, 35.0])

RESIDUALS = np.array([-10.5, 6.5, 7.5, -7.5])


def grow_example(lambda_: float, **settings: Any):
    return grow(codes_of(X), np.stack([-RESIDUALS, np.ones(4)], axis=1), lambda_, max_depth=2, **settings)


@pytest.mark.parametrize("search", [AUTO, HISTOGRAM, ORDER])
@pytest.mark.parametrize(("lambda_", "gains"), [(0.0, [120.33, 140.17]), (1.0, [62.49, 82.90])])
def test_gains_of_the_textbook_example(lambda_, gains, search):
    tree = grow_example(lambda_, search=search)
    assert tree["threshold"].tolist() == [15.0, 30.0]
    assert tree["gain"].round(2).tolist() == gains
    assert tree["slot"].tolist() == [0, ~0, 1, ~1, ~2]
    assert tree["lanes"].tolist() == [[10.5, 1], [-14, 2], [7.5, 1]]


def test_similarities_of_the_textbook_example():
    """λ = 1 takes half of one residual's similarity and a fifth of four equal ones'."""
    one, four = np.array([[8, 1]]), np.array([[8, 1]] * 4)
    assert similarity(one, 1.0) == 0.5 * similarity(one, 0.0)
    assert similarity(four, 1.0) == pytest.approx(0.8 * similarity(four, 0.0))


def test_logistic_example_of_the_sources():
    """x 2 8 12 18, y 0 1 1 0, p = .5: gains 1.333 and 2.667 with λ = 0; a cover of .25 a row is below 1."""
    codes = codes_of(np.array([2.0, 8.0, 12.0, 18.0]))
    pairs = np.array([[0.5, 0.25], [-0.5, 0.25], [-0.5, 0.25], [0.5, 0.25]])
    tree = grow(codes, pairs, 0.0, max_depth=2)
    assert tree["gain"].round(3).tolist() == [1.333, 2.667]
    assert tree["threshold"].tolist() == [5.0, 15.0]
    assert len(grow_newton_tree(codes, pairs, 0.0, options(), min_weight=1)["slot"]) == 1


def test_split_that_loses_is_not_made():
    """λ > 0 can make every gain negative; without must_gain the split is made and its gain shows as 0."""
    codes, pairs = codes_of(np.arange(4.0)), np.array([[3, 1], [3, 1], [3, 1], [2, 1]])
    assert len(grow(codes, pairs, 1.0)["slot"]) == 1
    made = grow(codes, pairs, 1.0, must_gain=False, max_depth=1)
    assert made["gain"].tolist() == [0.0]


# random tables


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("lambda_", [0.0, 1.0, 700.5])
def test_every_split_is_the_best(seed, lambda_):
    columns, pairs = random_problem(seed)
    codes = codes_of(*columns)
    tree = grow(codes, pairs, lambda_, max_depth=4)
    assert check_against_brute_force(tree, columns, pairs, lambda_, 4) > (2 if lambda_ < 100 else 0)
    for search in (HISTOGRAM, ORDER):
        assert_same(grow(codes, pairs, lambda_, max_depth=4, search=search), tree, "search")


@pytest.mark.parametrize("seed", range(3))
def test_every_split_of_a_binned_table_is_the_best(seed):
    columns, pairs = random_problem(seed, 200)
    codes = codes_of(*columns, max_bins=5)
    tree = grow(codes, pairs, 1.0, max_depth=3)
    # the bins' numbers, cut at halves, have the same splits as the bins
    bins = [np.where(c == 0, np.nan, c) for c in (codes.column(j).astype(float) for j in range(3))]
    cuts = [codes.cuts(j) for j in range(3)]
    as_bins = tree | {
        "threshold": np.array(
            [
                np.searchsorted(cuts[j], t) + 1.5
                for j, t in zip(tree["column"], tree["threshold"], strict=True)
            ]
        )
    }
    assert check_against_brute_force(as_bins, bins, pairs, 1.0, 3) >= 5


def test_categories_in_order_of_their_leaf_value():
    """The best of all partitions of seven categories is found by sorting G / H."""
    rng = np.random.default_rng(1)
    category = rng.integers(0, 7, 100).astype(np.int32)
    pairs = np.stack([rng.integers(-50, 50, 100), rng.integers(1, 9, 100)], axis=1)
    codes = encode(Table((LevelColumn(0, category, tuple("abcdefg")),), 100, named=False), max_bins=None)
    for search in (HISTOGRAM, ORDER):
        tree = grow(codes, pairs, 0.0, max_depth=1, search=search)
        best = max(
            similarity(pairs[left], 0.0) + similarity(pairs[~left], 0.0)
            for mask in range(1, 127)
            for left in [(mask >> category & 1).astype(bool)]
        )
        assert tree["gain"][0] == pytest.approx(best - similarity(pairs, 0.0), rel=1e-12)


def test_threads_do_not_show():
    columns, pairs = random_problem(5, 20_000)
    codes = codes_of(*columns)
    first = grow(codes, pairs, 1.0, max_depth=9)
    assert len(first["slot"]) > 200
    for n_threads in (2, 5):
        assert_same(grow(codes, pairs, 1.0, max_depth=9, n_threads=n_threads), first)
        assert_same(grow(codes, pairs, 1.0, max_depth=9, n_threads=n_threads, search=HISTOGRAM), first)


def test_gradients_of_another_length_raise():
    with pytest.raises(RuntimeError, match="one g and h per row"):
        grow(codes_of(np.arange(4.0)), np.zeros((3, 2)), 0.0)


# known defects


def test_rows_without_gradient_are_rows_in_a_histogram_too():
    codes, pairs = codes_of(np.arange(4.0)), np.array([[5, 1], [0, 0], [0, 0], [-5, 1]])
    histogram = grow(codes, pairs, 0.0, max_depth=1, search=HISTOGRAM)
    assert_same(histogram, grow(codes, pairs, 0.0, max_depth=1, search=ORDER))


def test_gain_of_rounding_error_is_no_gain():
    rng = np.random.default_rng(0)
    for _ in range(50):
        pairs = np.tile([[int(rng.integers(1, 2**40)), 3]], (100, 1))
        assert len(grow(codes_of(rng.random(100)), pairs, 0.0)["slot"]) == 1


def far_apart(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Few values, most of them 0, and weights that leave the lightest rows without a unit."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 120))
    X = np.round(rng.normal(size=(n, 3)), int(rng.integers(0, 2)))
    X[rng.random(X.shape) < 0.4] = 0
    return X, rng.normal(size=n), 10 ** rng.uniform(-12, 12, n)


@pytest.mark.parametrize(
    "make",
    [
        lambda: weald.XGBRegressor(n_estimators=3, tree_method="exact"),
        lambda: weald.XGBRegressor(n_estimators=3, tree_method="approx"),
        lambda: weald.XGBRegressor(n_estimators=3, tree_method="hist"),
        lambda: weald.GradientBoostingRegressor(n_estimators=3, random_state=0),
        weald.DecisionTreeRegressor,
    ],
    ids=["exact", "approx", "hist", "gradient_boosting", "tree"],
)
def test_weights_far_apart_give_dense_and_sparse_tables_one_model(make):
    """Rows that round to no unit are rows still: a histogram knows them by their count."""
    for seed in range(16):
        X, y, weight = far_apart(seed)
        dense, sparse = (make().fit(x, y, sample_weight=weight) for x in (X, csr_matrix(X)))
        assert_same(dense.forest_.arrays(), sparse.forest_.arrays(), f"seed {seed}")


def test_gradients_that_cancel_give_dense_and_sparse_tables_one_model():
    """Hessians of 0 and below: the sums of some rows are 0, and they are rows still."""

    def objective(y: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.sign(scores - y), np.where(np.abs(y) < 0.5, 0.0, 1.0)

    for seed in range(8):
        X, y, _ = far_apart(seed)
        dense, sparse = (
            weald.XGBRegressor(n_estimators=2, tree_method="exact", objective=objective).fit(x, y)
            for x in (X, csr_matrix(X))
        )
        assert_same(dense.forest_.arrays(), sparse.forest_.arrays(), f"seed {seed}")
