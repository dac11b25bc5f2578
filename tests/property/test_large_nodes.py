"""Nodes of thousands of rows and codes of every width, which small tables do not reach."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from property.strategies import Problem
from reference.compare import assert_same_tree
from reference.statistics import Moments
from reference.tree import Options

from weald.data.table import LevelColumn, NumericColumn, Table


def few_codes(criterion: str, weights: str, seed: int) -> Problem:
    """3,000 rows of columns with few codes: large nodes that the reference can still search."""
    rng = np.random.default_rng(seed)
    n = 3_000
    numeric = rng.integers(0, 12, n) / 4
    numeric[rng.random(n) < 0.1] = np.nan
    ordinal, town, unused = (rng.integers(-1, k, n).astype(np.int32) for k in (4, 7, 2))
    signal = np.nan_to_num(numeric, nan=2.0) + (town % 3) * ordinal + rng.normal(size=n)
    table = Table(
        (
            NumericColumn(0, numeric),
            LevelColumn(1, ordinal, tuple("abcd"), ordered=True),
            LevelColumn(2, town, tuple("abcdefg")),
            LevelColumn(3, unused, tuple("ab")),
        ),
        n,
        named=False,
    )
    weight = {"none": None, "whole": rng.integers(0, 4, n).astype(float), "fractions": rng.random(n)}[weights]
    if criterion == "squared_error":
        return Problem(table, criterion, signal, 0, weight, Options(min_rows_leaf=15))
    return Problem(
        table, criterion, np.digitize(signal, [1, 4]).astype(np.int32), 3, weight, Options(min_rows_leaf=15)
    )


@pytest.mark.parametrize("weights", ["none", "whole", "fractions"])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_large_nodes_equal_the_reference(criterion, weights):
    problem = few_codes(criterion, weights, seed=1)
    columns = problem.reference_columns()
    for options in (problem.options, replace(problem.options, max_leaves=20)):
        limited = replace(problem, options=options)
        records = limited.reference(columns)
        assert len(records) > 30
        for n_threads in (1, 2):
            forest = limited.grow(n_threads=n_threads)
            assert_same_tree(forest, records, columns, impurity_scale=limited.impurity_scale)


@pytest.mark.parametrize("weights", ["none", "fractions"])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e12, -1e12])
def test_candidates_are_not_given_up_too_early(offset, weights):
    """Means far from 0, of which the differences are a small part, and two classes; no missing values."""
    rng = np.random.default_rng(5)
    n = 400
    values = np.round(rng.normal(size=(n, 2)), 1)
    table = Table(tuple(NumericColumn(j, values[:, j].copy()) for j in range(2)), n, named=False)
    signal = values[:, 0] + rng.normal(size=n)
    weight = None if weights == "none" else rng.random(n) * rng.choice([1e-6, 1.0, 1e6], n)
    for problem in (
        Problem(table, "squared_error", signal + offset, 0, weight, Options()),
        Problem(table, "gini", (signal > 2).astype(np.int32), 2, weight, Options()),
    ):
        columns = problem.reference_columns()
        records = problem.reference(columns)
        assert len(records) > 30
        assert_same_tree(problem.grow(), records, columns, impurity_scale=problem.impurity_scale)


@pytest.mark.parametrize("n_codes", [255, 256, 65_535, 65_536, 80_000])
def test_root_split_of_codes_of_every_width(n_codes):
    """1, 2 and 4 bytes per code and the borders between them; all candidates by cumulated sums."""
    rng = np.random.default_rng(n_codes)
    n = 80_000
    code = np.concatenate([np.arange(n_codes), rng.integers(0, n_codes, n - n_codes)])
    x = rng.permutation(code).astype(np.float64)
    y = rng.normal(size=n) + (x > 0.3 * n_codes)
    table = Table((NumericColumn(0, x),), n, named=False)
    statistic = Moments.of(y, None)
    order = np.argsort(x, kind="stable")
    last = np.flatnonzero(np.diff(x[order]) > 0)
    left, n_left = np.cumsum(statistic.sums.units[order])[last], last + 1
    total = statistic.sums.units.sum()
    scores = left.astype(float) ** 2 / n_left + (total - left).astype(float) ** 2 / (n - n_left)
    best = int(np.argmax(scores))
    problem = Problem(table, "squared_error", y, 0, None, Options(max_depth=1))
    for search in ("histogram", "order", "auto"):
        forest = problem.grow(search=search)
        assert forest.threshold[0] == x[order[last[best]]] + 0.5
        assert forest.count.tolist() == [n, n_left[best], n - n_left[best]]
        assert forest.gain[0] == statistic.real_gain(scores[best] - statistic.score((int(total), n)))
