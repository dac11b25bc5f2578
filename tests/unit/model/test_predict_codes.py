"""Scores by codes, without walking: at every threshold, for every width of code and shape of tree."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from unit.model.forests import mixed_schema, random_forest, random_table
from unit.model.test_predict import (
    N_COLUMNS,
    boosted,
    naive_leaves,
    naive_scores,
    numbers,
    numeric_schema,
    numeric_table,
)

from weald import _core
from weald.data.schema import ColumnSchema, Schema
from weald.data.table import LevelColumn, NumericColumn, Table
from weald.errors import DataError, ParameterError
from weald.model.forest import CATEGORIES, NUMERIC, Forest
from weald.model.predict import add_tree_scores, leaf_nodes, raw_scores, staged_scores


@pytest.fixture(params=["baseline", "best"])
def _simd(request):
    """Both builds of the kernels."""
    before = _core.simd_level()
    _core.set_simd(request.param == "best")
    yield
    _core.set_simd(before != "baseline")


def stumps(
    threshold: np.ndarray,
    missing_left: np.ndarray,
    *,
    column: np.ndarray | None = None,
    sets: list[tuple[list[int], bool]] | None = None,
) -> Forest:
    """A tree of one split for each threshold (or each set), whose right leaf is worth a number of its own."""
    n = len(missing_left)
    each = np.arange(n)
    none = np.zeros(0, np.int32)
    columns = np.zeros(n, np.int32) if column is None else column.astype(np.int32)
    codes = [] if sets is None else [code for listed, _ in sets for code in listed]
    value = np.zeros((2 * n, 1))
    value[1::2, 0] = np.random.default_rng(n).normal(size=n)
    return Forest(
        n_columns=int(columns.max()) + 1,
        base_score=np.array([0.5]),
        link="identity",
        tree_start=3 * np.arange(n + 1),
        tree_output=np.zeros(n, np.int32),
        tree_weight=np.full(n, 0.1),
        tree_round=np.arange(n, dtype=np.int32),
        slot=np.stack([each, ~(2 * each), ~(2 * each + 1)], 1).ravel().astype(np.int32),
        cover=np.ones(3 * n),
        count=np.ones(3 * n, np.int64),
        impurity=None,
        column=columns,
        threshold=threshold,
        kind=np.full(n, NUMERIC if sets is None else CATEGORIES, np.uint8),
        missing_left=missing_left,
        right=np.full(n, 2, np.int32),
        gain=np.ones(n),
        side=np.full(n, -1, np.int32) if sets is None else np.arange(n, dtype=np.int32),
        value=value,
        set_start=np.cumsum([0] + [len(listed) for listed, _ in sets or []]).astype(np.int64),
        set_codes=np.array(codes, np.uint32),
        set_left=np.array([left for _, left in sets or []], np.bool_),
        combination_column=none,
    )


def stump_scores(forest: Forest, column: np.ndarray) -> np.ndarray:
    """By the definition: one tree after another, every row at once."""
    scores = np.full(len(column), forest.base_score[0])
    missing = np.isnan(column)
    for tree in range(forest.n_trees):
        left = np.where(missing, forest.missing_left[tree], column <= forest.threshold[tree])
        value = forest.value[2 * tree : 2 * tree + 2, 0]
        scores += forest.tree_weight[tree] * np.where(left, value[0], value[1])
    return scores


# thresholds


@pytest.mark.usefixtures("_simd")
@pytest.mark.parametrize("n", [1, 2, 3, 254, 255, 256, 300, 3000])
@pytest.mark.parametrize("spread", ["even", "normal", "skewed", "two clumps"])
def test_every_value_around_every_threshold(n, spread):
    """Codes of one byte and of two, found by buckets or by search alone."""
    rng = np.random.default_rng(n)
    threshold = {
        "even": np.arange(n) / 7.0,
        "normal": rng.normal(size=n),
        "skewed": np.exp(rng.normal(size=n) * 20),
        "two clumps": np.where(np.arange(n) % 2, 1e9, -1.0) + np.arange(n) * 1e-3,
    }[spread]
    forest = stumps(rng.permutation(threshold), rng.random(n) < 0.5)
    around = [threshold, np.nextafter(threshold, -np.inf), np.nextafter(threshold, np.inf)]
    column = np.concatenate([*around, [np.nan, 0.0, -0.0, 1.7e308, -1.7e308, 5e-324]])
    expected = stump_scores(forest, column)
    for values in (column[:, None], np.asfortranarray(np.stack([column, column], 1))[:, :1]):
        np.testing.assert_array_equal(raw_scores(forest, numeric_table(values))[:, 0], expected)


@pytest.mark.usefixtures("_simd")
def test_thresholds_at_the_ends_of_the_numbers():
    threshold = np.array([np.inf, 1.7e308, -1.7e308, 0.0, 5e-324, -5e-324, 1.0, np.inf, 0.0])
    for n in range(1, len(threshold) + 1):
        for left in (False, True):
            forest = stumps(threshold[:n], np.arange(n) % 2 == left)
            column = np.concatenate([threshold[np.isfinite(threshold)], [np.nan, -1e300, 2.0, -0.0, np.nan]])
            column = np.tile(column, 3)
            np.testing.assert_array_equal(
                raw_scores(forest, numeric_table(column[:, None]))[:, 0], stump_scores(forest, column)
            )


def test_more_thresholds_than_codes_have_room_for():
    n = 70_000
    forest = stumps(np.arange(n) + 0.5, np.arange(n) % 3 == 0)
    column = np.append(np.linspace(-3, n + 3, 30), np.nan)
    np.testing.assert_array_equal(
        raw_scores(forest, numeric_table(column[:, None]))[:, 0], stump_scores(forest, column)
    )


@pytest.mark.usefixtures("_simd")
@pytest.mark.parametrize("n_rows", [7, 8, 9, 31, 32, 33, 127, 129, 500, 1024, 1111])
def test_every_number_of_rows(n_rows):
    forest = random_forest(4, numeric_schema(), n_trees=20, n_leaves=30, width=1, shares=False, cuts=100)
    matrix = numbers(n_rows, missing=True, seed=n_rows)
    for table in (numeric_table(matrix), numeric_table(np.asfortranarray(matrix))):
        expected = naive_scores(forest, leaf_nodes(forest, table))
        np.testing.assert_array_equal(raw_scores(forest, table, n_threads=2), expected)


# trees


@pytest.mark.usefixtures("_simd")
@pytest.mark.parametrize("n_leaves", [1, 2, 63, 255, 256, 257, 700])
def test_trees_below_and_above_the_largest_top(n_leaves):
    rng = np.random.default_rng(n_leaves)
    matrix = rng.normal(size=(300, N_COLUMNS))
    matrix[rng.random(matrix.shape) < 0.1] = np.nan
    forest = random_forest(
        n_leaves, numeric_schema(), n_trees=3, n_leaves=n_leaves, width=1, shares=False, cuts=90
    )
    for table in (numeric_table(matrix), numeric_table(np.asfortranarray(matrix))):
        leaves = naive_leaves(forest, table)
        np.testing.assert_array_equal(leaf_nodes(forest, table), leaves)
        np.testing.assert_array_equal(raw_scores(forest, table), naive_scores(forest, leaves))


@pytest.mark.usefixtures("_simd")
@pytest.mark.parametrize("n_classes", [2, 3, 40])
def test_trees_take_turns_at_the_outputs(n_classes):
    forest = random_forest(1, numeric_schema(), n_trees=100, n_leaves=12, width=1, shares=False)
    forest = replace(
        forest,
        base_score=np.linspace(-1, 1, n_classes),
        tree_output=(np.arange(100) % n_classes).astype(np.int32),
        tree_weight=np.random.default_rng(0).normal(size=100),
    )
    table = numeric_table(numbers(700, missing=True))
    expected = naive_scores(forest, leaf_nodes(forest, table))
    np.testing.assert_array_equal(raw_scores(forest, table, n_threads=2), expected)


@pytest.mark.usefixtures("_simd")
def test_wide_leaves_whose_outputs_overlap():
    forest = random_forest(2, numeric_schema(), n_trees=60, n_leaves=9, width=3, n_outputs=5, shares=False)
    outputs = np.random.default_rng(1).integers(0, 3, 60).astype(np.int32)
    forest = replace(forest, tree_output=outputs, tree_weight=np.linspace(-3, 3, 60))
    table = numeric_table(numbers(200, missing=False))
    expected = naive_scores(forest, leaf_nodes(forest, table))
    np.testing.assert_array_equal(raw_scores(forest, table), expected)


# categories


@pytest.mark.usefixtures("_simd")
@pytest.mark.parametrize("seed", range(3))
def test_mixed_trees_with_large_ones_among_them(seed):
    schema = mixed_schema(many=300)
    forest = random_forest(seed, schema, n_trees=4, n_leaves=400, combinations=seed == 1)
    assert (forest.kind == CATEGORIES).any()
    table = random_table(seed, schema, 100)
    np.testing.assert_array_equal(
        raw_scores(forest, table), naive_scores(forest, naive_leaves(forest, table))
    )


@pytest.mark.usefixtures("_simd")
@pytest.mark.parametrize("largest", [40, 100_000, 2**32 - 1])
def test_listed_codes_of_any_size(largest):
    """Also where a table of answers would be too large."""
    sets = [([], True), ([1], True), ([1, largest], False), ([2, 3], False), ([largest], True)] * 10
    missing_left = np.arange(len(sets)) % 2 == 0
    forest = stumps(np.zeros(len(sets)), missing_left, sets=sets)
    indices = np.array([-1, 0, 1, 2, 3, min(largest, 2**31 - 1) - 1, 39, 38], np.int32)
    levels = Table((LevelColumn(0, np.tile(indices, 3), ("a",)),), 24, named=False)
    # Plain numbers in the place of codes: whole parts count, and nothing below 1 is a code.
    given = np.array([np.nan, 1.0, 1.5, 0.5, -3.0, 1e300, float(largest), float(largest) + 1])
    plain = Table((NumericColumn(0, np.tile(given, 3)),), 24, named=False)
    for table in (levels, plain):
        np.testing.assert_array_equal(
            raw_scores(forest, table), naive_scores(forest, naive_leaves(forest, table))
        )


# ranges


def parts(n_trees: int) -> list[tuple[int, int]]:
    return [(0, 0), (0, 1), (1, 20), (20, 20), (20, n_trees - 1), (n_trees - 1, n_trees)]


@pytest.mark.parametrize("order", ["C", "F"])
def test_scores_of_a_range_of_trees(order):
    forest = replace(boosted_numbers(50), base_score=np.array([0.25, -1.5]))
    table = numeric_table(np.asarray(numbers(300, missing=True), order=order))
    leaves = leaf_nodes(forest, table)
    for first, last in parts(50):
        part = np.tile(forest.base_score, (300, 1))
        for tree in range(first, last):
            values = forest.value[~forest.slot[forest.tree_start[tree] + leaves[:, tree]]]
            part[:, forest.tree_output[tree]] += forest.tree_weight[tree] * values[:, 0]
        np.testing.assert_array_equal(raw_scores(forest, table, trees=(first, last)), part)
        np.testing.assert_array_equal(leaf_nodes(forest, table, trees=(first, last)), leaves[:, first:last])


def boosted_numbers(n_trees: int) -> Forest:
    forest = random_forest(5, numeric_schema(), n_trees=n_trees, n_leaves=25, width=1, shares=False)
    rng = np.random.default_rng(5)
    return replace(
        forest,
        base_score=np.array([0.25, -1.5]),
        tree_output=rng.integers(0, 2, n_trees).astype(np.int32),
        tree_weight=rng.normal(size=n_trees),
    )


def test_parts_add_up_to_the_whole_to_the_bit():
    forest = boosted_numbers(50)
    table = numeric_table(numbers(1500, missing=True))
    expected = raw_scores(forest, table)
    by_row = np.tile(forest.base_score, (1500, 1))
    by_output = np.repeat(forest.base_score[:, None], 1500, axis=1)
    spaced = np.full((3000, 4), 7.0)
    spaced[::2, 1::2] = forest.base_score
    for first, last in parts(50):
        for out in (by_row, by_output.T, spaced[::2, 1::2]):
            add_tree_scores(forest, table, out, first, last, n_threads=2)
    np.testing.assert_array_equal(by_row, expected)
    np.testing.assert_array_equal(by_output.T, expected)
    np.testing.assert_array_equal(spaced[::2, 1::2], expected)
    assert (spaced[1::2] == 7.0).all()
    assert (spaced[:, ::2] == 7.0).all()


def test_staged_scores_after_each_boundary():
    forest = boosted_numbers(30)
    table = numeric_table(numbers(100, missing=True))
    boundaries = [0, 1, 1, 12, 30]
    stages = list(staged_scores(forest, table, boundaries, n_threads=2))
    assert len(stages) == len(boundaries)
    for boundary, stage in zip(boundaries, stages, strict=True):
        np.testing.assert_array_equal(stage, raw_scores(forest, table, trees=(0, boundary)))


@pytest.mark.parametrize("trees", [(-1, 3), (4, 3), (0, 31)])
def test_a_range_outside_the_forest_raises(trees):
    forest, table = boosted_numbers(30), numeric_table(numbers(20, missing=False))
    out = np.zeros((20, 2))
    with pytest.raises(ParameterError, match=r"not within the model's 30"):
        raw_scores(forest, table, trees=trees)
    with pytest.raises(ParameterError, match=r"not within the model's 30"):
        leaf_nodes(forest, table, trees=trees)
    with pytest.raises(ParameterError, match=r"not within the model's 30"):
        add_tree_scores(forest, table, out, *trees)
    assert not out.any()


@pytest.mark.parametrize(
    "out", [np.zeros((20, 3)), np.zeros((19, 2)), np.zeros((20, 2), np.float32), np.zeros(40)]
)
def test_scores_of_another_shape_or_type_are_not_added_to(out):
    forest, table = boosted_numbers(30), numeric_table(numbers(20, missing=False))
    with pytest.raises(DataError, match=r"\(20, 2\)"):
        add_tree_scores(forest, table, out, 0, 30)


def test_scores_that_cannot_be_written_raise():
    forest, table = boosted_numbers(30), numeric_table(numbers(20, missing=False))
    out = np.zeros((20, 2))
    out.flags.writeable = False
    with pytest.raises(DataError, match="written"):
        add_tree_scores(forest, table, out, 0, 30)


# tables


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("row", [0, 1023, 1024, 2999])
@pytest.mark.parametrize("column", [0, 2, 3])
def test_an_infinite_value_is_named(order, row, column):
    """Column 3 has no split."""
    matrix = np.asarray(numbers(3000, missing=True), order=order)
    matrix[row, column] = np.inf
    forest = stumps(np.linspace(-1, 1, 90), np.zeros(90, np.bool_), column=np.arange(90) % 3)
    forest = replace(forest, n_columns=N_COLUMNS)
    with pytest.raises(DataError, match=rf"Column {column} contains inf: row {row} holds inf"):
        raw_scores(forest, numeric_table(matrix), n_threads=2)


def test_a_wide_table_of_which_few_columns_are_used():
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(200, 500)).astype(np.float32)
    schema = Schema(tuple(ColumnSchema(j, "numeric") for j in range(500)), named=False)
    forest = random_forest(3, schema, n_trees=100, n_leaves=8, width=1, shares=False)
    forest = replace(forest, column=(forest.column % 3 * 200 + 7).astype(np.int32))
    for table in (numeric_table(matrix), numeric_table(np.asfortranarray(matrix))):
        expected = naive_scores(forest, leaf_nodes(forest, table))
        np.testing.assert_array_equal(raw_scores(forest, table), expected)


def test_python_threads_with_all_kinds_of_tables_at_once():
    """The layouts are made on first use, by whoever comes first."""
    matrix = numbers(1500, missing=True)
    tables = [
        numeric_table(matrix),
        numeric_table(np.asfortranarray(matrix)),
        numeric_table(matrix[:1]),
        numeric_table(matrix[:60].astype(np.float32)),
    ]
    forests = [boosted_numbers(40), random_forest(6, numeric_schema(), n_trees=4, n_leaves=500)]
    expected = {
        (f, t): (raw_scores(forest, table), leaf_nodes(forest, table))
        for f, forest in enumerate(forests)
        for t, table in enumerate(tables)
    }
    for _ in range(5):
        fresh = [replace(forest) for forest in forests]
        with ThreadPoolExecutor(6) as pool:
            jobs = {
                (f, t, n): (
                    pool.submit(raw_scores, fresh[f], tables[t], n_threads=n),
                    pool.submit(leaf_nodes, fresh[f], tables[t], n_threads=n),
                )
                for f, t in expected
                for n in (1, 2)
            }
            for (f, t, _n), (scores, leaves) in jobs.items():
                np.testing.assert_array_equal(scores.result(timeout=60), expected[f, t][0])
                np.testing.assert_array_equal(leaves.result(timeout=60), expected[f, t][1])


def test_both_instruction_sets_give_the_same_bits():
    forest, table = boosted(3), random_table(3, mixed_schema(), 500)
    before = _core.simd_level()
    try:
        _core.set_simd(False)
        baseline = raw_scores(forest, table)
    finally:
        _core.set_simd(before != "baseline")
    assert baseline.tobytes() == raw_scores(replace(forest), table).tobytes()
