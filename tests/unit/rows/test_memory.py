"""Growing one tree: several outputs, memory for histograms, drawn columns, deep chains, categories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weald import engine
from weald.data.codes import Codes, encode
from weald.data.table import LevelColumn, NumericColumn, Table
from weald.errors import DataError, NativeError
from weald.model.forest import CATEGORIES
from weald.model.predict import decision_path, leaf_nodes, raw_scores
from weald.rows import memory
from weald.rows.memory import GrowOptions, grow_classification_tree, grow_regression_tree

AUTO, HISTOGRAM, ORDER = range(3)
GINI, ENTROPY = range(2)


def options(**settings: Any) -> engine.NativeOptions:
    native = engine.NativeOptions()
    for name, value in settings.items():
        setattr(native, name, value)
    return native


def numeric(*columns: np.ndarray) -> Table:
    return Table(tuple(NumericColumn(j, x) for j, x in enumerate(columns)), len(columns[0]), named=False)


def categories(indices: np.ndarray, n_levels: int) -> Table:
    column = LevelColumn(0, indices.astype(np.int32), tuple(range(n_levels)))
    return Table((column,), len(indices), named=False)


def assert_same(a: dict[str, np.ndarray], b: dict[str, np.ndarray], what: str = "") -> None:
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=f"{what} {name}")


def assert_same_forest(a, b, what: str = "") -> None:
    assert_same(a.arrays(), b.arrays(), what)


def mixed_table(seed: int, n: int, n_levels: int = 6) -> Table:
    """Ties, distinct values, missing values, levels of both kinds."""
    rng = np.random.default_rng(seed)
    ties, distinct = np.round(rng.normal(size=n), 1), rng.random(n)
    ties[rng.random(n) < 0.15] = np.nan
    return Table(
        (
            NumericColumn(0, ties),
            NumericColumn(1, distinct),
            LevelColumn(2, rng.integers(-1, n_levels, n).astype(np.int32), tuple(range(n_levels))),
            LevelColumn(3, rng.integers(-1, 4, n).astype(np.int32), tuple("abcd"), ordered=True),
        ),
        n,
        named=False,
    )


# several outputs, against all splits of the root


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
        return engine.grow_class_tree(
            codes.native, lane, [0, 2, 5], weight if weighted else None, 0, criterion,
            options(search=search, **more), n_threads,
        )  # fmt: skip

    tree = grow(AUTO)
    check_root(tree, codes, table, score)
    for search in (HISTOGRAM, ORDER):
        assert_same(grow(search, 2), tree)
    # every row adds its weight to one lane of each output
    assert tree["leaf_lanes"][:, :2].sum() == tree["leaf_lanes"][:, 2:].sum() == weight.sum()
    assert tree["impurity"][0] == pytest.approx(-score(np.arange(n)) / weight.sum() / 2)
    leaves = tree["leaf_lanes"]
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
        return engine.grow_moment_tree(
            codes.native, lanes, squares, targets, powers, -1, 0,
            options(search=search, gain_power=1), n_threads,
        )  # fmt: skip

    tree = grow(AUTO)
    check_root(tree, codes, table, score)
    for search in (HISTOGRAM, ORDER):
        assert_same(grow(search, 2), tree)
    assert tree["leaf_lanes"].sum(axis=0).tolist() == lanes.sum(axis=0).tolist()
    spread = float(squares.sum()) - score(np.arange(n))
    assert tree["impurity"][0] == pytest.approx(spread / (weight.sum() * 0.5) / 2)


def test_outputs_that_agree_make_the_tree_of_one():
    table = mixed_table(7, 300)
    codes = encode(table, max_bins=None)
    label = np.random.default_rng(7).integers(0, 3, 300).astype(np.int32)[:, None]
    one = engine.grow_class_tree(codes.native, label, [0, 3], None, 0, GINI, options(), 1)
    both = np.concatenate([label, label + 3], axis=1)
    two = engine.grow_class_tree(codes.native, both, [0, 3, 6], None, 0, GINI, options(), 1)
    for name in ("slot", "column", "threshold", "count", "missing_left", "set_codes", "set_left", "impurity"):
        np.testing.assert_array_equal(one[name], two[name], err_msg=name)
    np.testing.assert_array_equal(2 * one["gain"], two["gain"])


def test_class_out_of_range_raises():
    codes = encode(numeric(np.arange(3.0)), max_bins=None)
    for lane in ([0, 1, 2], [0, -1, 1]):
        with pytest.raises(NativeError, match="class out of range"):
            engine.grow_class_tree(
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
        return engine.grow_class_tree(
            codes.native, lane, [0, 2], None, 0, GINI, options(**settings), n_threads
        )
    if kind == "classes":
        lane = (signal % 4).astype(np.int32)[:, None]
        return engine.grow_class_tree(
            codes.native, lane, [0, 4], weight, 0, ENTROPY, options(**settings), n_threads
        )
    pairs = np.stack([(signal - 5) * weight, weight], axis=1)
    if kind == "newton":
        return engine.grow_newton_tree(
            codes.native, pairs, 1.0, options(must_gain=True, **settings), n_threads
        )
    if kind == "narrow":
        packed = pairs.astype(np.int16).view(np.uint32).ravel()
        return engine.grow_narrow_tree(
            codes.native, packed, 1.0, options(must_gain=True, **settings), n_threads
        )
    target = (signal - 5.0)[:, None]
    squares = weight * (signal - 5) ** 2
    return engine.grow_moment_tree(
        codes.native, pairs, squares, target, [0], 0, 0, options(**settings), n_threads
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
    for settings in ({}, {"max_columns": 2, "seed": 5}):
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


# deep chains


@pytest.mark.parametrize(("n", "best_first"), [(20_001, False), (4_001, True)])
def test_chain_of_thousands_of_levels(n, best_first):
    """All candidates tie, so the lowest code parts from the rest at every level."""
    values = np.random.default_rng(6).permutation(n).astype(float)
    table = numeric(values)
    codes = encode(table, max_bins=None)
    pairs = np.stack([np.zeros(n, np.int64), np.ones(n, np.int64)], axis=1)
    native = options(max_leaves=n if best_first else 0)
    arrays = engine.grow_newton_tree(codes.native, pairs, 0.0, native, 2)
    assert len(arrays["slot"]) == 2 * n - 1
    assert arrays["threshold"].tolist() == (np.arange(n - 1) + 0.5).tolist()
    forest = memory._one_tree(codes, arrays, np.arange(n, dtype=float)[:, None], "identity", 0)
    some = numeric(values[:500])
    expected = np.minimum(2 * values[:500] + 1, 2 * n - 2)
    np.testing.assert_array_equal(leaf_nodes(forest, some, n_threads=2).ravel(), expected)
    np.testing.assert_array_equal(raw_scores(forest, some).ravel(), values[:500])
    few = numeric(np.array([0.0, 5.0, n - 1.0]))
    assert decision_path(forest, few).sum(axis=1).ravel().tolist()[0] == [2, 7, n]


# categories


def test_unseen_categories_go_with_the_larger_child():
    # column 0 parts the rows; below it, each side sees other categories than the whole does
    side = np.repeat([0.0, 1.0], 20)
    level = np.concatenate([np.repeat([0, 1], [13, 7]), np.repeat([2, 3], [6, 14])]).astype(np.int32)
    target = np.concatenate([np.repeat([0.0, 1.0], [13, 7]), np.repeat([100.0, 101.0], [6, 14])])
    levels = tuple("abcdef")
    table = Table((NumericColumn(0, side), LevelColumn(1, level, levels)), 40, named=False)
    for search in ("histogram", "order"):
        tree = grow_regression_tree(
            encode(table, max_bins=None), target, None, GrowOptions(criterion="squared_error", search=search)
        )
        assert tree.column.tolist() == [0, 1, 1]
        unseen = Table(
            (
                NumericColumn(0, np.repeat([0.0, 1.0], 7)),
                LevelColumn(1, np.array([0, 1, 2, 3, 4, 5, -1] * 2, np.int32), levels),
            ),
            14,
            named=False,
        )
        assert raw_scores(tree, unseen).ravel().tolist() == [
            0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0,
            101.0, 101.0, 100.0, 101.0, 101.0, 101.0, 101.0,
        ]  # fmt: skip


def test_equal_children_send_unseen_categories_left():
    table = categories(np.array([1, 1, 3, 3]), 6)
    tree = grow_classification_tree(
        encode(table, max_bins=None), np.array([0, 0, 1, 1], np.int32), 2, None, GrowOptions(criterion="gini")
    )
    nodes = leaf_nodes(tree, categories(np.array([-1, 0, 1, 2, 3, 4, 5]), 6)).ravel()
    assert nodes.tolist() == [1, 1, 1, 1, 2, 1, 1]


def gini_gain(label: np.ndarray, left: np.ndarray, n_classes: int) -> float:
    def loss(y):
        counts = np.bincount(y, minlength=n_classes)
        return len(y) - float((counts**2).sum()) / len(y)

    return loss(label) - loss(label[left]) - loss(label[~left])


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("n_levels", "n_classes"), [(12, 3), (40, 3), (40, 5)])
def test_many_categories_of_many_classes(seed, n_levels, n_classes):
    """A heuristic order: the split is a true one, and no lone category does better against the rest."""
    rng = np.random.default_rng(seed)
    n = 2000
    level = rng.integers(0, n_levels, n)
    shares = rng.dirichlet(np.full(n_classes, 0.5), n_levels)
    label = np.array([rng.choice(n_classes, p=shares[c]) for c in level], np.int32)
    table = categories(level, n_levels)
    codes = encode(table, max_bins=None)
    first = None
    for search in ("histogram", "order"):
        tree = grow_classification_tree(
            codes, label, n_classes, None, GrowOptions(criterion="gini", max_depth=1, search=search)
        )
        first = first or tree
        assert_same_forest(tree, first, search)
    assert first.kind.tolist() == [CATEGORIES]
    left = leaf_nodes(first, table).ravel() == 1
    assert 0 < left.sum() == first.count[1] < n
    assert first.gain[0] == pytest.approx(gini_gain(label, left, n_classes))
    alone = max(gini_gain(label, level == c, n_classes) for c in range(n_levels))
    assert first.gain[0] >= alone


def test_categories_along_a_line_are_cut_at_its_best_place():
    """Where the class shares of the categories lie on a line, its order is the right one."""
    n_levels, per_level = 24, 120
    rng = np.random.default_rng(1)
    rank = rng.permutation(n_levels)
    level = np.repeat(np.arange(n_levels), per_level)
    place = rank[level] / (n_levels - 1)
    within = np.tile(np.arange(per_level), n_levels) / per_level
    label = np.where(within < place, 0, 1 + (np.arange(len(level)) % 2)).astype(np.int32)
    tree = grow_classification_tree(
        encode(categories(level, n_levels), max_bins=None),
        label,
        3,
        None,
        GrowOptions(criterion="gini", max_depth=1),
    )
    best = max(gini_gain(label, rank[level] < k, 3) for k in range(1, n_levels))
    assert tree.gain[0] == pytest.approx(best)


def test_missing_categories_may_stand_alone():
    level = np.repeat([-1, *range(15)], 10)
    label = np.where(level < 0, 2, level % 2).astype(np.int32)
    tree = grow_classification_tree(
        encode(categories(level, 15), max_bins=None), label, 3, None, GrowOptions(criterion="gini")
    )
    shares = raw_scores(tree, categories(level, 15))
    np.testing.assert_array_equal(shares.argmax(axis=1), label)


# weights and targets


def test_no_row_of_positive_weight_raises():
    codes = encode(numeric(np.arange(3.0)), max_bins=None)
    with pytest.raises(DataError, match="no row has a positive weight"):
        grow_classification_tree(
            codes, np.array([0, 1, 0], np.int32), 2, np.zeros(3), GrowOptions(criterion="gini")
        )


def test_weight_times_target_beyond_float64_raises():
    codes = encode(numeric(np.arange(3.0)), max_bins=None)
    with pytest.raises(DataError, match="too large"):
        grow_regression_tree(
            codes, np.array([1e300, -1e300, 0.0]), np.full(3, 1e10), GrowOptions(criterion="squared_error")
        )


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e140])
def test_targets_of_any_size_make_the_same_splits(scale):
    rng = np.random.default_rng(8)
    columns, target = rng.normal(size=(2, 500)), rng.normal(size=500)
    codes = encode(numeric(*columns), max_bins=None)
    settings = GrowOptions(criterion="squared_error", min_rows_leaf=5)
    scale = 2.0 ** round(np.log2(scale))  # exact
    one, other = (grow_regression_tree(codes, target * s, None, settings) for s in (1.0, scale))
    np.testing.assert_array_equal(one.threshold, other.threshold)
    np.testing.assert_array_equal(one.value * scale, other.value)


def test_targets_far_from_zero_keep_their_spread():
    rng = np.random.default_rng(9)
    x = rng.permutation(200).astype(float)
    target = np.round(rng.normal(size=200) * 8)  # whole: exact beside 2^40
    codes = encode(numeric(x), max_bins=None)
    settings = GrowOptions(criterion="squared_error", max_depth=4)
    near, far = (grow_regression_tree(codes, target + shift, None, settings) for shift in (0.0, 2.0**40))
    np.testing.assert_array_equal(near.threshold, far.threshold)
    np.testing.assert_allclose(near.gain, far.gain, rtol=1e-9)
    np.testing.assert_allclose(near.impurity, far.impurity, rtol=1e-9)


def test_cover_counts_weight_and_count_counts_rows():
    x = np.arange(6.0)
    weight = np.array([0.5, 0.25, 0.0, 1.0, 2.0, 0.25])
    label = np.array([0, 0, 1, 1, 1, 1], np.int32)
    tree = grow_classification_tree(
        encode(numeric(x), max_bins=None), label, 2, weight, GrowOptions(criterion="gini")
    )
    assert tree.threshold.tolist() == [2.0]  # between 1 and 3: the row of weight 0 is not there
    assert tree.cover.tolist() == [4.0, 0.75, 3.25]
    assert tree.count.tolist() == [5, 2, 3]


def test_gain_and_impurity_of_tiny_targets():
    rng = np.random.default_rng(8)
    x, target = rng.normal(size=200), rng.normal(size=200) + 3
    codes = encode(numeric(x), max_bins=None)
    settings = GrowOptions(criterion="squared_error", max_depth=1)
    scale = 2.0**-500  # squares of it are still normal numbers
    one, tiny = (grow_regression_tree(codes, target * s, None, settings) for s in (1.0, scale))
    np.testing.assert_allclose(tiny.gain, one.gain * scale**2, rtol=1e-9)
    np.testing.assert_allclose(tiny.impurity, one.impurity * scale**2, rtol=1e-9)
