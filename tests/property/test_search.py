"""What must not change a tree: the search, the threads, the order of rows, a weight as repeated rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from property.strategies import Problem, any_problem, problems, take
from reference.compare import assert_same_forest
from reference.tree import Options

from weald.data.table import LevelColumn, NumericColumn, Table
from weald.model.forest import Forest
from weald.model.predict import leaf_nodes


@given(any_problem)
def test_histogram_equals_code_order(problem):
    for max_bins in (None, 3, 255):
        codes = problem.encode(max_bins=max_bins)
        histogram = problem.grow(codes, search="histogram")
        assert_same_forest(histogram, problem.grow(codes, search="order"), f"order, max_bins {max_bins}")
        assert_same_forest(histogram, problem.grow(codes, search="auto"), f"auto, max_bins {max_bins}")


@given(problems(), st.integers(1, 5), st.integers(0, 3))
def test_histogram_equals_code_order_with_columns_drawn(problem, max_columns, seed):
    codes = problem.encode()
    histogram = problem.grow(codes, search="histogram", max_columns=max_columns, seed=seed)
    order = problem.grow(codes, search="order", max_columns=max_columns, seed=seed)
    assert_same_forest(histogram, order, "order")
    threads = problem.grow(codes, max_columns=max_columns, seed=seed, n_threads=3)
    assert_same_forest(histogram, threads, "three threads")


@given(problems())
def test_drawing_all_columns_is_drawing_none(problem):
    """Ties between columns go to the lower one, in whatever order they are visited."""
    all_drawn = problem.grow(max_columns=problem.table.n_columns, seed=7)
    assert_same_forest(problem.grow(), all_drawn, "all columns drawn")


@given(any_problem)
def test_thread_count_does_not_show(problem):
    for max_bins in (None, 255):
        one = problem.grow(problem.encode(max_bins=max_bins))
        for n_threads in (2, 5):
            many = problem.grow(problem.encode(max_bins=max_bins, n_threads=n_threads), n_threads=n_threads)
            assert_same_forest(one, many, f"{n_threads} threads, max_bins {max_bins}")


@given(any_problem, st.randoms(use_true_random=False))
def test_row_order_does_not_show(problem, random):
    rows = list(range(problem.table.n_rows))
    random.shuffle(rows)
    shuffled = problem.take(np.array(rows, dtype=np.intp))
    for max_bins in (None, 3):
        first = problem.grow(problem.encode(max_bins=max_bins))
        second = shuffled.grow(shuffled.encode(max_bins=max_bins))
        assert_same_forest(first, second, f"rows permuted, max_bins {max_bins}")


def expand(problem: Problem) -> Problem:
    """Whole weights as repeated rows; rows of weight 0 disappear."""
    assert problem.weight is not None
    rows = np.repeat(np.arange(problem.table.n_rows, dtype=np.intp), problem.weight.astype(np.int64))
    return replace(problem.take(rows), weight=None)


def shape(forest: Forest) -> dict[str, np.ndarray]:
    """All arrays but the counts of rows, which differ between a row of weight 3 and three rows."""
    return {name: array for name, array in forest.arrays().items() if name != "count"}


@given(problems(weight_styles=("whole",)))
def test_whole_weight_is_a_repeated_row(problem):
    # limits that count rows see three rows where there was one; those that see only weight stay
    limits = replace(problem.options, min_rows_split=2, min_rows_leaf=1)
    problem = replace(problem, options=limits)
    weighted, rows = shape(problem.grow()), shape(expand(problem).grow())
    for name, array in weighted.items():
        np.testing.assert_array_equal(array, rows[name], err_msg=name)


@given(problems(weight_styles=("whole", "fractions", "huge")))
def test_row_of_weight_zero_is_absent(problem):
    assert_same_forest(
        problem.grow(), problem.take(np.flatnonzero(problem.used)).grow(), "weight 0 against absent"
    )
    binned, without = problem, problem.take(np.flatnonzero(problem.used))
    assert_same_forest(binned.grow(binned.encode(4)), without.grow(without.encode(4)), "weight 0, binned")


@given(problems(weight_styles=("none",)))
def test_weights_of_one_are_no_weights(problem):
    ones = replace(problem, weight=np.ones(problem.table.n_rows))
    assert_same_forest(problem.grow(), ones.grow(), "weights of one")


def cubed(column: NumericColumn | LevelColumn) -> NumericColumn | LevelColumn:
    """A numeric column under a strictly rising map that keeps no distances; others as they are."""
    if isinstance(column, LevelColumn):
        return column
    values = column.values.astype(np.float64)
    mapped = 3.0 * values**3 + values
    kept = len(np.unique(mapped[~np.isnan(mapped)])) == len(np.unique(values[~np.isnan(values)]))
    assume(kept and not np.isinf(mapped).any())
    return replace(column, values=mapped)


@given(problems())
def test_rising_map_of_a_column_keeps_the_partition(problem):
    with np.errstate(all="ignore"):
        table = Table(
            tuple(cubed(c) for c in problem.table.columns), problem.table.n_rows, problem.table.named
        )
    mapped = replace(problem, table=table)
    before, after = problem.grow(), mapped.grow()
    used = np.flatnonzero(problem.used)
    np.testing.assert_array_equal(
        leaf_nodes(before, take(problem.table, used)), leaf_nodes(after, take(table, used))
    )
    np.testing.assert_array_equal(before.value, after.value)
    np.testing.assert_array_equal(before.gain, after.gain)


# Small tables run on the caller's thread and in few blocks: some of this has to be seen on a larger one.


@pytest.fixture(scope="module", params=["gini", "entropy", "squared_error"])
def large_problem(request: pytest.FixtureRequest) -> Problem:
    """30,000 rows with ties, missing values and categories."""
    rng = np.random.default_rng(5)
    n = 30_000
    numeric = rng.normal(size=(n, 3))
    numeric[rng.random(size=n) < 0.1, 1] = np.nan
    numeric[:, 2] = np.round(numeric[:, 2], 1)
    level = rng.integers(-1, 300, n).astype(np.int32)
    ordinal = rng.integers(-1, 5, n).astype(np.int32)
    signal = np.nan_to_num(numeric[:, 1]) + numeric[:, 2] * (level % 3) + ordinal + rng.normal(size=n)
    table = Table(
        (
            *(NumericColumn(j, numeric[:, j].copy()) for j in range(3)),
            LevelColumn(3, level, tuple(range(300))),
            LevelColumn(4, ordinal, tuple("abcde"), ordered=True),
        ),
        n,
        named=False,
    )
    options = Options(min_rows_leaf=3)
    weight = rng.random(n) + 0.1
    if request.param == "squared_error":
        return Problem(table, request.param, signal, 0, weight, options)
    return Problem(table, request.param, (signal > 1).astype(np.int32), 2, weight, options)


@pytest.mark.parametrize("max_bins", [None, 255])
def test_large_tree_is_the_same_by_any_search_and_threads(large_problem, max_bins):
    codes = large_problem.encode(max_bins=max_bins)
    first = large_problem.grow(codes)
    assert first.n_nodes > 1000
    assert_same_forest(first, large_problem.grow(codes, search="order"), "order")
    assert_same_forest(first, large_problem.grow(codes, search="histogram"), "histogram")
    for n_threads in (2, 5):
        again = large_problem.grow(
            large_problem.encode(max_bins=max_bins, n_threads=n_threads), n_threads=n_threads
        )
        assert_same_forest(first, again, f"{n_threads} threads")


def test_large_tree_is_the_same_with_rows_permuted(large_problem):
    rows = np.random.default_rng(6).permutation(large_problem.table.n_rows)
    assert_same_forest(large_problem.grow(), large_problem.take(rows).grow(n_threads=2), "rows permuted")


def test_large_tree_is_the_same_best_first(large_problem):
    limits = replace(large_problem.options, max_leaves=100)
    problem = replace(large_problem, options=limits)
    codes = problem.encode()
    first = problem.grow(codes)
    assert len(first.value) == 100
    assert_same_forest(first, problem.grow(codes, search="order", n_threads=2), "order")
    assert_same_forest(first, problem.grow(codes, search="histogram", n_threads=5), "histogram")
