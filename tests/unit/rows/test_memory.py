"""Growing one tree: several outputs, memory for histograms, drawn columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.newton_trees import grow_newton_tree
from unit.rows.growing import (
    AUTO,
    ENTROPY,
    GINI,
    HISTOGRAM,
    ORDER,
    assert_same,
    assert_same_forest,
    grow_classification_tree,
    mixed_table,
    numeric,
    options,
)

from weald import engine
from weald.data.codes import Codes, encode
from weald.data.table import Table
from weald.errors import NativeError
from weald.rows.growth import GrowOptions

# several outputs, against all splits of the root


def grow_class_tree(codes, lane, output_start, weights, weight_power, criterion, options, n_threads):
    """One tree of all rows."""
    return engine.grow_class_trees(
        codes, lane, output_start, weights, weight_power, False, criterion, options, None, n_threads
    )


def grow_moment_tree(*given):
    """One tree of all rows."""
    return engine.grow_moment_trees(*given[:-1], None, given[-1])


def all_splits(codes: Codes, table: Table):
    """Every two-way partition of the rows that a column allows, as (column, rows that go left)."""
    for j, column in enumerate(table.columns):
        code = codes.column(j).astype(np.int64)
        present = np.unique(code[code > 0])
        if column.kind == "categorical":
            masks = range(1, 2 ** len(present) - 1)
            sets = [present[[mask >> i & 1 == 1 for i in range(len(present))]] for mask in masks]
        else:
            sets = [present[:length] for length in range(1, len(present))]
        for left in sets:
            yield j, np.isin(code, left)
            if (code == 0).any():
                yield j, np.isin(code, left) | (code == 0)
        if (code == 0).any():
            yield j, code > 0


def check_root(tree, codes: Codes, table: Table, score, scale: float = 1.0) -> None:
    """The root's split has the largest score(left) + score(right) of all, and its numbers are its own."""
    rows = np.arange(table.n_rows)
    whole = score(rows)
    splits = [(j, left, score(rows[left]) + score(rows[~left])) for j, left in all_splits(codes, table)]
    best = max(value for _, _, value in splits)
    assert tree["gain"][0] == pytest.approx((best - whole) * scale, rel=1e-9)
    n_left = int(tree["count"][1])
    reached = [(j, int(left.sum())) for j, left, value in splits if value >= best - 1e-9 * abs(best)]
    assert (int(tree["column"][0]), n_left) in reached


def impurity_of(shares: np.ndarray, criterion: int) -> float:
    if criterion == GINI:
        return 1 - float((shares**2).sum())
    present = shares[shares > 0]
    return -float((present * np.log2(present)).sum())


@pytest.mark.parametrize("criterion", [GINI, ENTROPY])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_classes_of_two_outputs(criterion, weighted, seed):
    rng = np.random.default_rng(seed)
    n, sizes = 50, (2, 3)
    table = mixed_table(seed, n)
    codes = encode(table, max_bins=None)
    labels = np.stack([rng.integers(0, k, n) for k in sizes], axis=1)
    weight = rng.integers(1, 5, n) if weighted else np.ones(n, np.int64)
    lane = (labels + np.array([0, sizes[0]])).astype(np.int32)

    def score(rows):
        total = 0.0
        for output, k in enumerate(sizes):
            counts = np.bincount(labels[rows, output], weight[rows], k)
            total -= counts.sum() * impurity_of(counts / counts.sum(), criterion)
        return total

    def grow(search, n_threads=1, **more):
        return grow_class_tree(
            codes.native, lane, [0, 2, 5], weight if weighted else None, 0, criterion,
            options(search=search, **more), n_threads,
        )  # fmt: skip

    tree = grow(AUTO)
    check_root(tree, codes, table, score, scale=0.5)  # gains are the mean over the outputs
    for search in (HISTOGRAM, ORDER):
        assert_same(grow(search, 2), tree)
    # every row adds its weight to one lane of each output
    assert (
        tree["lanes"][tree["slot"] < 0][:, :2].sum()
        == tree["lanes"][tree["slot"] < 0][:, 2:].sum()
        == weight.sum()
    )
    assert tree["impurity"][0] == pytest.approx(-score(np.arange(n)) / weight.sum() / 2)
    leaves = tree["lanes"][tree["slot"] < 0]
    assert (np.count_nonzero(leaves[:, :2], axis=1) == 1).all()  # grown until both are pure
    assert (np.count_nonzero(leaves[:, 2:], axis=1) == 1).all()


@pytest.mark.parametrize("seed", range(5))
def test_squared_error_of_two_targets(seed):
    rng = np.random.default_rng(seed)
    n = 50
    table = mixed_table(seed, n)
    codes = encode(table, max_bins=None)
    sums = rng.integers(-1000, 1000, (n, 2))
    weight = rng.integers(1, 6, n)
    powers = [-2, 1]  # units of the two sums differ; units of the weight are halves
    scales = np.exp2(powers)
    real = sums * scales

    def score(rows):
        return float((real[rows].sum(axis=0) ** 2).sum() / (weight[rows].sum() * 0.5))

    lanes = np.concatenate([sums, weight[:, None]], axis=1)
    targets = real / (weight * 0.5)[:, None]
    squares = np.rint((targets**2).sum(axis=1) * weight * 0.5).astype(np.int64)

    def grow(search, n_threads=1):
        return grow_moment_tree(
            codes.native, lanes, squares, targets, powers, -1, 0, 0,
            options(search=search), n_threads,
        )  # fmt: skip

    tree = grow(AUTO)
    check_root(tree, codes, table, score, scale=0.5)  # gains are the mean over the outputs
    for search in (HISTOGRAM, ORDER):
        assert_same(grow(search, 2), tree)
    assert tree["lanes"][tree["slot"] < 0].sum(axis=0).tolist() == lanes.sum(axis=0).tolist()
    spread = float(squares.sum()) - score(np.arange(n))
    assert tree["impurity"][0] == pytest.approx(spread / (weight.sum() * 0.5) / 2)


def test_outputs_that_agree_make_the_tree_of_one():
    table = mixed_table(7, 300)
    codes = encode(table, max_bins=None)
    label = np.random.default_rng(7).integers(0, 3, 300).astype(np.int32)[:, None]
    one = grow_class_tree(codes.native, label, [0, 3], None, 0, GINI, options(), 1)
    both = np.concatenate([label, label + 3], axis=1)
    two = grow_class_tree(codes.native, both, [0, 3, 6], None, 0, GINI, options(), 1)
    for name in ("slot", "column", "threshold", "count", "missing_left", "set_codes", "set_left", "impurity"):
        np.testing.assert_array_equal(one[name], two[name], err_msg=name)
    np.testing.assert_array_equal(one["gain"], two["gain"])


def test_class_out_of_range_raises():
    codes = encode(numeric(np.arange(3.0)), max_bins=None)
    for lane in ([0, 1, 2], [0, -1, 1]):
        with pytest.raises(NativeError, match="class out of range"):
            grow_class_tree(
                codes.native, np.array(lane, np.int32)[:, None], [0, 2], None, 0, GINI, options(), 1
            )


# memory for histograms


def grow_any(kind: str, codes: Codes, n_threads: int = 1, **settings: Any) -> dict[str, np.ndarray]:
    """A tree of each family of statistics on the same made-up target."""
    n = codes.n_rows
    rng = np.random.default_rng(0)
    signal = codes.column(0) % 7 + 3 * (codes.column(1) % 5 == 0) + rng.integers(0, 4, n)
    weight = rng.integers(1, 4, n)
    if kind == "two classes":
        lane = (signal > 4).astype(np.int32)[:, None]
        return grow_class_tree(codes.native, lane, [0, 2], None, 0, GINI, options(**settings), n_threads)
    if kind == "classes":
        lane = (signal % 4).astype(np.int32)[:, None]
        return grow_class_tree(codes.native, lane, [0, 4], weight, 0, ENTROPY, options(**settings), n_threads)
    pairs = np.stack([(signal - 5) * weight, weight], axis=1)
    if kind in ("newton", "narrow"):
        native = options(must_gain=True, **settings)
        return grow_newton_tree(codes, pairs, 1.0, native, narrow=kind == "narrow", n_threads=n_threads)
    target = (signal - 5.0)[:, None]
    squares = weight * (signal - 5) ** 2
    return grow_moment_tree(
        codes.native, pairs, squares, target, [0], 0, 0, 0, options(**settings), n_threads
    )


@pytest.mark.parametrize("kind", ["two classes", "classes", "moments", "newton", "narrow"])
@pytest.mark.parametrize("settings", [{}, {"min_rows_leaf": 7}, {"max_leaves": 60}, {"search": HISTOGRAM}])
def test_memory_budget_does_not_show(kind, settings):
    codes = encode(mixed_table(1, 6000, n_levels=30), max_bins=40)
    first = grow_any(kind, codes, max_depth=9, **settings)
    assert len(first["slot"]) > 100
    for histogram_bytes in (0, 1, 20_000, 50_000):
        for n_threads in (1, 2):
            again = grow_any(kind, codes, n_threads, max_depth=9, histogram_bytes=histogram_bytes, **settings)
            assert_same(again, first, f"{histogram_bytes} bytes, {n_threads} threads")


@pytest.mark.parametrize("kind", ["two classes", "classes", "moments", "newton", "narrow"])
def test_best_first_without_a_limit_is_depth_first(kind):
    """Best-first never sets subtrees aside, depth-first does; the tree is the same, drawn columns too."""
    codes = encode(mixed_table(2, 5000), max_bins=None)
    for settings in ({}, {"max_columns": 2, "seed": 5}) if kind != "narrow" else ({},):
        settings = {"max_depth": 12, "min_rows_leaf": 3, **settings}
        first = grow_any(kind, codes, **settings)
        assert len(first["slot"]) > 100
        assert_same(grow_any(kind, codes, max_leaves=10**6, **settings), first, str(settings))


# drawn columns


@pytest.fixture(scope="module")
def twelve() -> tuple[Codes, np.ndarray]:
    rng = np.random.default_rng(3)
    columns = rng.normal(size=(4000, 12))
    label = (columns.sum(axis=1) + rng.normal(size=4000) > 0).astype(np.int32)
    return encode(numeric(*columns.T), max_bins=None), label


def drawn(codes: Codes, label: np.ndarray, **more: Any):
    return grow_classification_tree(codes, label, 2, None, GrowOptions(criterion="gini", **more))


def test_draws_do_not_depend_on_threads_or_search(twelve):
    for seed in (0, 1, 2**63):
        first = drawn(*twelve, max_columns=3, seed=seed)
        for more in ({"n_threads": 2}, {"n_threads": 5}, {"search": "histogram"}, {"search": "order"}):
            assert_same_forest(drawn(*twelve, max_columns=3, seed=seed, **more), first, str(more))


def test_seeds_differ(twelve):
    roots = [drawn(*twelve, max_columns=1, max_depth=1, seed=seed) for seed in range(200)]
    counts = np.bincount([int(tree.column[0]) for tree in roots], minlength=12)
    assert (counts > 3).all()  # 200 / 12 = 17 expected of each
    assert (counts < 40).all()


def test_nodes_of_one_tree_draw_apart(twelve):
    tree = drawn(*twelve, max_columns=1, seed=4)
    counts = np.bincount(tree.column, minlength=12)
    assert (counts > 0.5 * counts.mean()).all()
    assert (counts < 2 * counts.mean()).all()


def test_limits_and_weights_do_not_move_the_draws(twelve):
    """A draw is keyed by the seed and the path from the root, not by how much was drawn before."""
    codes, label = twelve
    whole = drawn(codes, label, max_columns=2, seed=9)
    weight = np.ones(len(label))
    limited = grow_classification_tree(
        codes, label, 2, weight, GrowOptions(criterion="gini", max_columns=2, seed=9, max_depth=3)
    )
    shallow = drawn(codes, label, max_columns=2, seed=9, max_depth=3)
    assert_same_forest(limited, shallow, "weights of one")
    assert limited.column[0] == whole.column[0]
    assert limited.column[1] == whole.column[1]
    right, right_whole = (tree.slot[tree.right[0]] for tree in (limited, whole))
    assert limited.column[right] == whole.column[right_whole]
    assert limited.threshold[right] == whole.threshold[right_whole]


def test_search_goes_on_until_a_valid_split():
    rng = np.random.default_rng(5)
    n = 200
    useless = [np.zeros(n), np.full(n, np.nan), np.ones(n), np.full(n, -3.0), np.zeros(n, np.float32)]
    informative = rng.normal(size=n)
    label = (informative > 0.3).astype(np.int32)
    for max_bins in (None, 20):
        codes = encode(numeric(*useless[:3], informative, *useless[3:]), max_bins=max_bins)
        for seed in range(30):
            tree = drawn(codes, label, max_columns=1, seed=seed, max_depth=1)
            assert tree.column.tolist() == [3]


def test_search_goes_on_past_splits_that_break_a_limit():
    n = 100
    lone = np.zeros(n)
    lone[0] = 1.0  # its one split leaves a child of one row
    codes = encode(numeric(lone, np.arange(n, dtype=float), lone), max_bins=None)
    label = (np.arange(n) % 3 == 0).astype(np.int32)
    for seed in range(10):
        tree = drawn(codes, label, max_columns=1, seed=seed, min_rows_leaf=5, max_depth=1)
        assert tree.column.tolist() == [1]


def test_nothing_to_split_on():
    codes = encode(numeric(np.zeros(10), np.full(10, np.nan)), max_bins=None)
    label = (np.arange(10) % 2).astype(np.int32)
    for max_columns in (None, 1):
        tree = drawn(codes, label, max_columns=max_columns)
        assert tree.n_nodes == 1
        assert tree.value.tolist() == [[0.5, 0.5]]
