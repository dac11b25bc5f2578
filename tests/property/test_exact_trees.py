"""An exact tree is the reference's, split by split: thresholds, sets, missing sides, gains, leaf values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property.strategies import Problem, classification_problems, problems, regression_problems
from reference.brute_force import best_partition_bruteforce, exact_score
from reference.compare import assert_same_tree
from reference.tree import Options

from weald.data.table import LevelColumn, NumericColumn, Table

SPLIT_BY_SPLIT = settings(max_examples=3 * settings().max_examples)  # 120 in CI


def check(problem: Problem) -> None:
    columns = problem.reference_columns()
    assert_same_tree(
        problem.grow(), problem.reference(columns), columns, impurity_scale=problem.impurity_scale
    )


@SPLIT_BY_SPLIT
@given(classification_problems(criteria=("gini",)))
def test_gini_tree_equals_the_reference(problem):
    check(problem)


@SPLIT_BY_SPLIT
@given(classification_problems(criteria=("entropy",)))
def test_entropy_tree_equals_the_reference(problem):
    check(problem)


@SPLIT_BY_SPLIT
@given(classification_problems(criteria=("misclassification",)))
def test_misclassification_tree_equals_the_reference(problem):
    check(problem)


@SPLIT_BY_SPLIT
@given(regression_problems(criteria=("squared_error",)))
def test_regression_tree_equals_the_reference(problem):
    check(problem)


@SPLIT_BY_SPLIT
@given(regression_problems(criteria=("poisson",)))
def test_poisson_tree_equals_the_reference(problem):
    check(problem)


@SPLIT_BY_SPLIT
@given(regression_problems(criteria=("absolute_error",)))
def test_absolute_error_tree_equals_the_reference(problem):
    check(problem)


@given(classification_problems(weight_styles=("none",), kinds=("level",)))
def test_classification_tree_of_categories_equals_the_reference(problem):
    check(problem)


@given(regression_problems(weight_styles=("none",), kinds=("level",)))
def test_regression_tree_of_categories_equals_the_reference(problem):
    check(problem)


@given(problems(weight_styles=("none", "whole", "fractions")))
def test_binned_tree_equals_the_reference_on_the_same_cuts(problem):
    for max_bins in (2, 4, 255):
        codes = problem.encode(max_bins=max_bins)
        columns = problem.reference_columns([codes.cuts(j) for j in range(problem.table.n_columns)])
        for j, column in enumerate(columns):
            assert codes.n_codes[j] <= max(max_bins, 1) or column.kind != "numeric"
            np.testing.assert_array_equal(
                codes.column(j)[problem.used], column.codes, err_msg=f"codes of column {j}"
            )
        records = problem.reference(columns)
        assert_same_tree(problem.grow(codes), records, columns, impurity_scale=problem.impurity_scale)


@given(problems(weight_styles=("none",)))
def test_exact_codes_are_ranks(problem):
    codes = problem.encode()
    for j, column in enumerate(problem.reference_columns()):
        np.testing.assert_array_equal(
            codes.column(j)[problem.used], column.codes, err_msg=f"codes of column {j}"
        )
        if column.values is not None:
            np.testing.assert_array_equal(codes.cuts(j), column.values)


@given(
    st.one_of(
        classification_problems(weight_styles=("none", "whole"), kinds=("level",)),
        regression_problems(
            criteria=("squared_error", "poisson"), weight_styles=("none", "whole"), kinds=("level",)
        ),
    )
)
def test_no_partition_of_categories_beats_the_root_split(problem):
    """Over every subset and both sides for missing, in exact fractions, without the ordering."""
    forest = problem.grow()
    if problem.options.min_rows_leaf > 1 or problem.options.min_weight_leaf > 0 or forest.n_nodes == 1:
        return
    statistic, rows = problem.statistic(), np.arange(problem.used.sum())
    columns = [column for column in problem.reference_columns() if column.kind == "categorical"]
    found = [best_partition_bruteforce(column, rows, statistic) for column in columns]
    best = max((float(score) for score in found if score is not None), default=None)
    if best is None:
        return
    reached = float(forest.gain[0]) + float(exact_score(statistic, statistic.cell(rows)))
    if problem.n_classes == 0:
        # the gain is in real units, the score in fixed-point units
        scale = statistic.real_gain(1.0)
        best, reached = (
            best * scale,
            float(forest.gain[0]) + float(statistic.score(statistic.cell(rows))) * scale,
        )
    assert reached >= best - 1e-9 * max(abs(best), abs(reached))


@pytest.mark.parametrize("weight", [None, 1.0, 0.87177779, 1e-9, 1e9])
@pytest.mark.parametrize("scale", [1.0, 0.1, 1e12])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_xor_is_split_in_spite_of_rounding(criterion, scale, weight):
    """The gain of the first split is 0, or a hair below it: no reason to stop, whatever the weights."""
    x = np.array([[0.0, 0, 1, 1], [0.0, 1, 0, 1]])
    table = Table(tuple(NumericColumn(j, x[j]) for j in range(2)), 4, named=False)
    labels = np.array([0, 1, 1, 0], dtype=np.int32)
    weights = None if weight is None else np.full(4, weight)
    if criterion == "squared_error":
        problem = Problem(table, criterion, scale * labels / 3, 0, weights, Options())
    else:
        problem = Problem(table, criterion, labels, 2, weights, Options())
    assert problem.grow().n_nodes == 7
    check(problem)


@pytest.mark.parametrize("search", ["histogram", "order", "auto"])
def test_limit_on_weight_counts_no_rows(search):
    table = Table((NumericColumn(0, np.array([0.0, 0, 0, 1, 1, 1])),), 6, named=False)
    labels = np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)
    problem = Problem(table, "gini", labels, 2, np.full(6, 2.0), Options(min_weight_leaf=6.0))
    assert problem.grow(search=search).n_nodes == 3


@pytest.mark.parametrize("search", ["histogram", "order", "auto"])
def test_weighted_categories_go_left_from_the_lowest_mean(search):
    table = Table((LevelColumn(0, np.array([0, 0, 1, 1], dtype=np.int32), ("a", "b")),), 4, named=False)
    labels = np.array([1, 1, 0, 0], dtype=np.int32)
    forest = Problem(table, "gini", labels, 2, np.full(4, 3.0), Options()).grow(search=search)
    assert forest.value.tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("seed", range(30))
def test_many_categories_of_many_classes_are_ordered_as_in_the_reference(seed):
    """More than ten categories of three or four classes: prefixes along the first principal axis."""
    rng = np.random.default_rng(seed)
    n_rows, n_levels, n_classes = 120, int(rng.integers(12, 25)), int(rng.integers(3, 5))
    indices = rng.integers(-1 if seed % 2 else 0, n_levels, n_rows).astype(np.int32)
    labels = ((indices * 7 + rng.integers(0, 3, n_rows)) % n_classes).astype(np.int32)
    table = Table((LevelColumn(0, indices, tuple(range(n_levels))),), n_rows, named=False)
    weights = rng.random(n_rows) if seed % 3 == 0 else None
    limits = Options(max_depth=1, min_rows_leaf=20 if seed % 5 == 0 else 1)
    for criterion in ("gini", "entropy"):
        check(Problem(table, criterion, labels, n_classes, weights, limits))
