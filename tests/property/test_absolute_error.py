"""Absolute error: no sum tells the loss of a set of rows, so the search is one of its own.

Every split is held against all candidates, each judged from nothing with exact fractions: targets and weights
here are such that the engine's integers stand for them without rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from agreement.test_scikit_learn_trees import distinct
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from property.strategies import Problem, level_columns, numeric_columns, picks, take, up_to
from reference.compare import assert_same_forest
from reference.tree import Options
from sklearn.tree import DecisionTreeRegressor as Peer
from support.losses import weighted_median

from weald import DecisionTreeRegressor
from weald.data.table import LevelColumn, NumericColumn, Table
from weald.errors import DataError
from weald.io.model_file import to_bytes
from weald.model.forest import Forest
from weald.model.predict import decision_path

# ------------------------------------------------------------------------------------- the definition


def exact_loss(y: NDArray[np.float64], weight: NDArray[np.float64]) -> Fraction:
    """Σ w |y − median|, summed over the outputs, without rounding."""
    total = Fraction(0)
    for column in y.T:
        pairs = sorted(zip(column.tolist(), weight.tolist(), strict=True))
        w = [Fraction(each) for _, each in pairs]
        reached, at = w[0], 0
        while 2 * reached < sum(w):
            at += 1
            reached += w[at]
        median = Fraction(pairs[at][0])
        total += sum(b * abs(Fraction(v) - median) for (v, _), b in zip(pairs, w, strict=True))
    return total


def codes_of(column: NumericColumn | LevelColumn) -> NDArray[np.float64]:
    """What orders the rows, NaN where missing."""
    if isinstance(column, LevelColumn):
        return np.where(column.indices < 0, np.nan, column.indices)
    values = column.values.astype(np.float64)
    return values if column.missing is None else np.where(column.missing, np.nan, values)


def lower_median(y: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    order = np.argsort(y, kind="stable")
    reached = np.cumsum(weight[order])
    return float(y[order][np.searchsorted(2 * reached, reached[-1])])


def candidates(column, rows, y, weight) -> Iterator[NDArray[np.bool_]]:
    """Every split of one column among these rows, as who goes left: prefixes, missing on either side."""
    values = codes_of(column)[rows]
    present = np.unique(values[~np.isnan(values)]).tolist()
    if column.kind == "categorical":
        # by median, a heuristic; several outputs have no order of their own, and here only two levels
        present.sort(key=lambda v: (lower_median(y[values == v, 0], weight[values == v]), v))
    missing = np.isnan(values)
    for length in range(1, len(present)):
        left = np.isin(values, present[:length])
        yield left
        if missing.any():
            yield left | missing
    if missing.any() and present:
        yield ~missing


def check_every_split(problem: Problem, forest: Forest) -> int:
    """No candidate beats the split of any node, and the gain is what the losses say. How many splits."""
    passes = decision_path(forest, problem.table).toarray().T.astype(bool) & problem.used
    target = problem.target.reshape(len(passes[0]), -1)
    weight = np.ones(len(target)) if problem.weight is None else problem.weight
    inner = np.flatnonzero(forest.slot >= 0)
    for node in inner:
        rows, slot = np.flatnonzero(passes[node]), forest.slot[node]
        y, w = target[rows], weight[rows]

        def split_loss(left: NDArray[np.bool_], y=y, w=w) -> Fraction:
            return exact_loss(y[left], w[left]) + exact_loss(y[~left], w[~left])

        found = split_loss(passes[node + 1][rows])
        tried = [
            split_loss(left)
            for column in problem.table.columns
            for left in candidates(column, rows, y, w)
            if within_limits(left, w, problem.options)
        ]
        assert found == min(tried)
        gain = (exact_loss(y, w) - found) / target.shape[1]
        assert forest.gain[slot] == pytest.approx(float(gain), rel=1e-12)
    for node in np.flatnonzero(forest.slot < 0):
        rows = np.flatnonzero(passes[node])
        expected = [weighted_median(column, weight[rows]) for column in target[rows].T]
        assert forest.value[~forest.slot[node]].tolist() == expected
    return len(inner)


def within_limits(left: NDArray[np.bool_], weight: NDArray[np.float64], options: Options) -> bool:
    return all(
        side.sum() >= options.min_rows_leaf and weight[side].sum() >= options.min_weight_leaf
        for side in (left, ~left)
    )


# ------------------------------------------------------------------------------------------ small tables

WEIGHTS = {
    "whole": [0.0, 1.0, 2.0, 3.0, 7.0],
    "fractions": [0.0, 0.125, 0.25, 0.375, 1.0, 2.75],  # eighths: exact in any power of two
    "a few huge": [1.0, 1.0, 1.0, 1.0, 2.0, 3.0, 2.0**47],
    "every size": [1.0, 2.0**12, 2.0**24, 2.0**36, 2.0**47],
}


@st.composite
def absolute_problems(draw: st.DrawFn, most_outputs: int = 1) -> Problem:
    """Tables of every kind, targets in quarters, weights without rounding."""
    n_rows, n_outputs = draw(up_to(30)), draw(st.integers(1, most_outputs))
    columns = []
    for j in range(draw(up_to(3))):
        if draw(st.booleans()):
            columns.append(draw(numeric_columns(j, n_rows)))
        else:
            column = draw(level_columns(j, n_rows, 5 if n_outputs == 1 else 2))
            columns.append(column)
    target = np.stack([picks(draw, n_rows, draw(up_to(20))) / 4 - 2 for _ in range(n_outputs)], axis=1)
    style = draw(st.sampled_from(["none", *WEIGHTS]))
    weight = None if style == "none" else np.array(WEIGHTS[style])[picks(draw, n_rows, len(WEIGHTS[style]))]
    assume(weight is None or weight.any())
    # a limit that rules out the best set of categories opens all subsets: the sources' tests do that
    numbers_only = all(column.kind != "categorical" for column in columns)
    options = Options(min_rows_leaf=draw(st.sampled_from([1, 1, 3])) if numbers_only else 1)
    table = Table(tuple(columns), n_rows, named=False)
    return Problem(table, "absolute_error", target[:, 0] if n_outputs == 1 else target, 0, weight, options)


@given(absolute_problems())
def test_every_split_equals_brute_force(problem):
    check_every_split(problem, problem.grow())


@given(absolute_problems(most_outputs=3))
def test_every_split_of_several_outputs_equals_brute_force(problem):
    check_every_split(problem, problem.grow())


@pytest.mark.parametrize("huge", [2.0**20, 2.0**44, 2.0**51])
@pytest.mark.parametrize("seed", range(4))
def test_a_few_huge_weights_do_not_upset_the_medians(huge, seed):
    """The pointer at the median has far to go when a row that outweighs all others leaves."""
    rng = np.random.default_rng(seed)
    n = 40
    weight = np.ones(n)
    weight[rng.choice(n, 1 + seed % 2, replace=False)] = huge
    values = rng.permutation(n) / 2.0
    values[rng.random(n) < 0.2] = np.nan
    table = Table((NumericColumn(0, values), NumericColumn(1, rng.integers(0, 6, n) / 1.0)), n, named=False)
    target = rng.integers(-50, 50, n) / 4
    problem = Problem(table, "absolute_error", target, 0, weight, Options())
    assert check_every_split(problem, problem.grow()) > 10


@pytest.mark.parametrize("seed", range(4))
def test_weights_that_need_rounding_change_little(seed):
    """Tenths, and weights of 1e-100 to 1e100: the loss is the best one up to the rounding of weights."""
    rng = np.random.default_rng(seed)
    n = 30
    x, y = rng.integers(0, 10, n) / 1.0, rng.integers(0, 40, n) / 4
    weight = np.array([[0.1, 0.7, 1 / 3], [1e-100, 1e-9, 1.0, 1e9, 1e100]][seed % 2])
    weight = weight[rng.integers(0, len(weight), n)]
    table = Table((NumericColumn(0, x),), n, named=False)
    problem = Problem(table, "absolute_error", y, 0, weight, Options(max_depth=1))
    forest = problem.grow()
    target, rows = y[:, None], np.arange(n)

    def split_loss(left: NDArray[np.bool_]) -> Fraction:
        return exact_loss(target[left], weight[left]) + exact_loss(target[~left], weight[~left])

    tried = [split_loss(left) for left in candidates(table.columns[0], rows, target, weight)]
    unit = Fraction(weight.sum()) * Fraction(y.max()) / 2**50
    assert split_loss(x <= forest.threshold[0]) - min(tried) <= unit


@given(absolute_problems(), st.integers(0, 2**32 - 1))
def test_threads_and_row_order_do_not_show(problem, seed):
    rows = np.random.default_rng(seed).permutation(problem.table.n_rows)
    first = problem.grow()
    assert_same_forest(first, problem.grow(n_threads=2), "2 threads")
    assert_same_forest(first, problem.take(rows).grow(), "rows permuted")


@given(absolute_problems())
def test_whole_weight_is_a_repeated_row(problem):
    weight = np.random.default_rng(problem.table.n_rows).integers(0, 4, problem.table.n_rows)
    assume(weight.any())
    rows = np.repeat(np.arange(problem.table.n_rows), weight)
    options = Options()
    weighted = Problem(
        problem.table, "absolute_error", problem.target, 0, weight.astype(np.float64), options
    ).grow()
    repeated = Problem(
        take(problem.table, rows), "absolute_error", problem.target[rows], 0, None, options
    ).grow()
    for name, array in weighted.arrays().items():
        if name != "count":
            np.testing.assert_array_equal(array, repeated.arrays()[name], err_msg=name)


def test_whole_weight_is_a_repeated_row_for_categories_of_several_outputs():
    level = np.array([0, 0, 0, 0, 1], dtype=np.int32)
    target = np.array([[2.0, 1.0], [2.0, 2.0], [1.0, 1.0], [2.0, 1.0], [1.0, 2.0]])
    weight = np.array([1, 1, 1, 1, 3])
    table = Table((LevelColumn(0, level, ("a", "b")),), 5, named=False)
    rows = np.repeat(np.arange(5), weight)
    weighted = Problem(table, "absolute_error", target, 0, weight.astype(np.float64), Options()).grow()
    repeated = Problem(take(table, rows), "absolute_error", target[rows], 0, None, Options()).grow()
    np.testing.assert_array_equal(weighted.value, repeated.value)


# -------------------------------------------------------------------------------------------------- leaves


@pytest.mark.parametrize("seed", range(3))
def test_leaf_is_the_median_of_numpy(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 6, (200, 2)) / 1.0, rng.normal(size=(200, 2))
    model = DecisionTreeRegressor(criterion="absolute_error", max_depth=4).fit(X, y)
    leaves = model.apply(X)
    assert len(np.unique(leaves)) > 8
    assert {(leaves == leaf).sum() % 2 for leaf in np.unique(leaves)} == {0, 1}
    for leaf in np.unique(leaves):
        # the same middle, but for the order in which it is computed
        np.testing.assert_allclose(
            model.tree_.value[leaf, :, 0], np.median(y[leaves == leaf], axis=0), rtol=1e-15
        )


def test_leaf_of_whole_weights_is_the_median_of_repeated_rows():
    rng = np.random.default_rng(3)
    X, y, weight = rng.integers(0, 6, (150, 2)) / 1.0, rng.normal(size=150), rng.integers(1, 6, 150)
    model = DecisionTreeRegressor(criterion="absolute_error", max_depth=4).fit(X, y, weight)
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        expected = np.median(np.repeat(y[rows], weight[rows]))
        assert model.tree_.value[leaf, 0, 0] == pytest.approx(expected, rel=1e-15)


# -------------------------------------------------------------------------------------------- large tables


def large(n: int = 20_000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct values, exact in float32; weights that keep losses from being equal."""
    rng = np.random.default_rng(0)
    X = distinct(rng, n, 3)
    y = np.sin(X[:, 0] * 8 / n) + X[:, 1] / n + rng.normal(size=n) / 2
    return X, y, rng.integers(500, 2000, n).astype(float)


@pytest.mark.parametrize("weights", ["whole", "fractions"])
def test_large_tree_equals_that_of_scikit_learn(weights):
    X, y, weight = large()
    weight = weight if weights == "whole" else weight / 1000 + 1 / 3
    parameters = {"criterion": "absolute_error", "min_samples_leaf": 20}
    ours = DecisionTreeRegressor(**parameters).fit(X, y, weight)
    theirs = Peer(random_state=0, **parameters).fit(X, y, weight)
    assert ours.tree_.node_count > 1000
    for name in ("feature", "threshold", "children_left", "children_right", "n_node_samples"):
        np.testing.assert_array_equal(getattr(ours.tree_, name), getattr(theirs.tree_, name), err_msg=name)
    np.testing.assert_allclose(ours.tree_.value, theirs.tree_.value, rtol=1e-12)
    np.testing.assert_allclose(ours.tree_.impurity, theirs.tree_.impurity, rtol=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)


def large_problem(n_outputs: int, weights: str) -> Problem:
    """20,000 rows of mixed columns with ties and missing values."""
    rng = np.random.default_rng(1)
    n = 20_000
    numeric = np.round(rng.normal(size=(n, 2)), 2)
    numeric[rng.random(n) < 0.1, 0] = np.nan
    level = rng.integers(-1, 40, n).astype(np.int32)
    y = np.nan_to_num(numeric[:, :1]) + (level % 5)[:, None] + rng.normal(size=(n, n_outputs))
    weight = {"none": None, "fractions": rng.random(n), "a few huge": np.where(rng.random(n) < 1e-3, 1e9, 1)}
    table = Table(
        (
            *(NumericColumn(j, numeric[:, j].copy()) for j in range(2)),
            LevelColumn(2, level, tuple(range(40))),
        ),
        n,
        named=False,
    )
    return Problem(table, "absolute_error", y, 0, weight[weights], Options(min_rows_leaf=3))


@pytest.mark.parametrize(
    ("n_outputs", "weights"), [(1, "none"), (1, "fractions"), (1, "a few huge"), (2, "none")]
)
def test_large_tree_is_the_same_with_threads_and_rows_permuted(n_outputs, weights):
    problem = large_problem(n_outputs, weights)
    first = problem.grow()
    assert first.n_nodes > 1000
    for n_threads in (2, 5):
        assert_same_forest(first, problem.grow(n_threads=n_threads), f"{n_threads} threads")
    rows = np.random.default_rng(2).permutation(problem.table.n_rows)
    assert_same_forest(first, problem.take(rows).grow(n_threads=2), "rows permuted")


@pytest.mark.parametrize("weights", ["none", "fractions"])
def test_branch_of_a_large_tree_is_the_tree_of_its_rows(weights):
    """What grows inside a large tree, and aside of it, is what grows from the rows alone."""
    problem = large_problem(1, weights)
    if problem.weight is not None:  # in 1/1024, so that fixed point is exact for any set of rows
        problem = Problem(
            problem.table,
            "absolute_error",
            np.round(problem.target * 1024) / 1024,
            0,
            np.ceil(problem.weight * 1024) / 1024,
            problem.options,
        )
    else:
        problem = Problem(
            problem.table, "absolute_error", np.round(problem.target * 1024), 0, None, problem.options
        )
    whole = problem.grow()
    passes = decision_path(whole, problem.table)
    checked = 0
    for node in np.flatnonzero((whole.count < 2500) & (whole.count > 400)):
        rows = np.flatnonzero(passes[:, [node]].toarray()[:, 0])
        alone = problem.take(rows).grow()
        end = node + alone.n_nodes
        np.testing.assert_array_equal(alone.count, whole.count[node:end])
        slot = whole.slot[node:end]
        np.testing.assert_array_equal(alone.value, whole.value[~slot[slot < 0]])
        np.testing.assert_array_equal(alone.threshold, whole.threshold[slot[slot >= 0]])
        np.testing.assert_array_equal(alone.column, whole.column[slot[slot >= 0]])
        checked += 1
        if checked == 8:
            break
    assert checked == 8


@pytest.mark.parametrize("n", [300, 6000])
def test_skewed_weights_are_searched_by_an_index_with_the_same_result(n):
    """Light rows in the middle, heavy ones outside: the pointer of the list would walk for ever."""
    at = np.arange(n)
    x, y = at[:, None].astype(float), np.where(at % 2, at, -at).astype(float)
    weight = np.exp2(np.floor(at / n * 50))
    model = DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(x, y, sample_weight=weight)
    order = np.argsort(y, kind="stable")

    def loss(rows):
        kept = order[np.isin(order, rows)]
        reached = np.cumsum(weight[kept])
        median = y[kept[np.argmax(2 * reached >= reached[-1])]]
        return float((weight[kept] * np.abs(y[kept] - median)).sum())

    cuts = range(1, n) if n < 1000 else [*range(n - 40, n), int(np.ceil(model.tree_.threshold[0]))]
    best = min(loss(at[:cut]) + loss(at[cut:]) for cut in cuts)
    chosen = int(np.ceil(model.tree_.threshold[0]))
    assert loss(at[:chosen]) + loss(at[chosen:]) == pytest.approx(best, rel=1e-12)


def test_zero_and_minus_zero_are_one_target():
    X = np.zeros((3, 1))
    one, other = (
        DecisionTreeRegressor(criterion="absolute_error").fit(X, y)
        for y in ([0.0, -0.0, 0.0], [-0.0, 0.0, 0.0])
    )
    assert to_bytes(one) == to_bytes(other)


def test_targets_at_the_end_of_float64_are_refused():
    with pytest.raises(DataError, match=r"y reaches 1\.7e\+308, and sample_weight times y must"):
        DecisionTreeRegressor(criterion="absolute_error").fit(np.zeros((2, 1)), [1.7e308, -1.7e308])
