"""What holds at every node, whichever splits were chosen: sums, gains, leaf values, limits, routing."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from property.strategies import any_problem, problems
from reference.compare import assert_codes_are_ranks, forest_records
from reference.route import leaves_of, route_codes, route_records
from reference.splits import Limits, part
from reference.tree import EPSILON, Options

from weald.data.table import Table
from weald.model.predict import decision_path, leaf_nodes, raw_scores


@given(any_problem)
def test_counts_covers_gains_and_values_are_those_of_the_rows(problem):
    forest = problem.grow()
    columns, statistic = problem.reference_columns(), problem.statistic()
    records = forest_records(forest, columns)
    passes = route_records(records, problem.table)[:, problem.used]
    for at, node in enumerate(records):
        rows = np.flatnonzero(passes[at])
        cell = statistic.cell(rows)
        assert node.count == len(rows)
        assert node.cover == statistic.weights.real(statistic.weight(cell))
        if node.kind == "leaf":
            assert node.value == statistic.value(rows)
            continue
        column = columns[node.column]
        codes = column.codes[np.flatnonzero(passes[at + 1])]
        split = part(column, rows, statistic, frozenset(codes.tolist()) - {0}, node.missing_left)
        assert len(split.left) == records[at + 1].count
        gain = statistic.real_gain(split.score - statistic.score(cell))
        assert node.gain == max(0.0, gain)
    assert_codes_are_ranks(forest)


@given(any_problem)
def test_leaf_values_are_means_and_shares(problem):
    """In plain float64, from the weights as given: fixed point must not be seen."""
    assume(problem.criterion != "absolute_error")  # its leaves are medians
    forest = problem.grow()
    weight = np.ones(problem.table.n_rows) if problem.weight is None else problem.weight
    leaves = leaf_nodes(forest, problem.table)[:, 0]
    for leaf in np.unique(leaves[problem.used]):
        rows = (leaves == leaf) & problem.used
        value = forest.value[~forest.slot[leaf]]
        share = weight[rows] / weight[rows].sum()
        # a weight far below the largest of all loses digits: it is held to one unit of 2^-62 of their sum
        if (weight[rows].sum() / weight.sum()) < 1e-9:
            continue
        if problem.n_classes:
            expected = np.bincount(problem.target[rows], weights=share, minlength=problem.n_classes)
            np.testing.assert_allclose(value, expected, rtol=1e-6, atol=1e-9)
        else:
            spread = np.ptp(problem.target[problem.used])
            np.testing.assert_allclose(
                value, [np.sum(share * problem.target[rows])], rtol=1e-12, atol=1e-9 * spread + 1e-300
            )


@given(any_problem)
def test_routing_by_code_equals_routing_by_value(problem):
    for max_bins in (None, 4):
        forest = problem.grow(problem.encode(max_bins=max_bins))
        by_value = leaf_nodes(forest, problem.table)
        assert by_value.shape == (problem.table.n_rows, 1)
        np.testing.assert_array_equal(by_value[:, 0], route_codes(forest, problem.table))


@given(any_problem, any_problem)
def test_prediction_of_other_rows_follows_the_records(problem, other):
    """Rows never seen, with levels and missing values the nodes never saw."""
    forest = problem.grow()
    table = problem.table
    if other.table.n_columns >= table.n_columns and all(
        a.kind == b.kind and len(getattr(a, "levels", ())) >= len(getattr(b, "levels", ()))
        for a, b in zip(table.columns, other.table.columns, strict=False)
    ):
        table = Table(other.table.columns[: table.n_columns], other.table.n_rows, table.named)
    records = forest_records(forest, problem.reference_columns())
    passes = route_records(records, table)
    leaves = leaves_of(records, passes)
    np.testing.assert_array_equal(leaf_nodes(forest, table)[:, 0], leaves)
    np.testing.assert_array_equal(decision_path(forest, table).toarray().T.astype(bool), passes)
    scores = forest.value[~forest.slot[leaves]]
    np.testing.assert_array_equal(raw_scores(forest, table), forest.base_score + scores)
    np.testing.assert_array_equal(raw_scores(forest, table, n_threads=3), raw_scores(forest, table))


@given(any_problem)
def test_limits_are_respected(problem):
    options, statistic = problem.options, problem.statistic()
    forest = problem.grow()
    records = forest_records(forest, problem.reference_columns())
    limits = Limits(options.min_rows_leaf)
    total = records[0].cover
    for at, node in enumerate(records):
        if options.max_depth is not None:
            assert node.depth <= options.max_depth
        if node.kind == "leaf":
            continue
        left, right = records[at + 1], records[node.right]
        assert node.count >= options.min_rows_split
        assert min(left.count, right.count) >= limits.min_rows_leaf
        # covers are rounded to units, so a child may fall short by less than one of them
        assert min(left.cover, right.cover) >= options.min_weight_leaf * (1 - 1e-12)
        assert node.gain / total + EPSILON >= options.min_impurity_decrease
        assert left.count + right.count == node.count
        # a sum of units rounds once when it becomes a float
        assert abs(left.cover + right.cover - node.cover) <= 4 * EPSILON * node.cover
    if options.max_leaves is not None:
        assert len(forest.value) <= options.max_leaves
    assert forest.n_nodes == 2 * len(forest.value) - 1
    assert records[0].count == problem.used.sum()
    assert total == statistic.weights.real(int(statistic.weights.units.sum()))


@given(problems(weight_styles=("none",)))
def test_unlimited_tree_separates_all_that_differs(problem):
    """Without limits, rows that differ in units of the target stay together only if all columns are equal."""
    if problem.options != Options():
        return
    statistic, leaves = problem.statistic(), leaf_nodes(problem.grow(), problem.table)[:, 0]
    columns = problem.reference_columns()
    rows = [tuple(int(c.codes[i]) for c in columns) for i in range(problem.table.n_rows)]
    for leaf in np.unique(leaves):
        here = np.flatnonzero(leaves == leaf)
        if not statistic.pure(here):
            assert len({rows[i] for i in here}) == 1
