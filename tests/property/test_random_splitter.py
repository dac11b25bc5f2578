"""`splitter="random"`: one candidate per column, drawn; the best is taken; the same draws every time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from property.strategies import Problem, any_problem
from reference.compare import assert_same_forest
from reference.tree import Options
from scipy.stats import chisquare, kstest
from sklearn import tree as peers
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import cross_val_score
from support.losses import CLASS_CRITERIA, NUMBER_CRITERIA, gain

from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.data.table import LevelColumn, NumericColumn, Table
from weald.model.forest import Forest
from weald.model.predict import decision_path, leaf_nodes

CRITERIA = [*CLASS_CRITERIA, *NUMBER_CRITERIA]
LEAST_P = 1e-4  # the seeds are fixed: this fails for a wrong distribution, not by chance


def model_of(criterion: str, **parameters: Any) -> DecisionTreeClassifier | DecisionTreeRegressor:
    model = DecisionTreeClassifier if criterion in CLASS_CRITERIA else DecisionTreeRegressor
    return model(criterion=criterion, splitter="random", **parameters)


def target(criterion: str, signal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    signal = signal + rng.normal(size=len(signal)) / 2
    if criterion in CLASS_CRITERIA:
        return np.digitize(signal, np.quantile(signal, [0.3, 0.7]))
    return rng.poisson(np.exp(signal / 2)) + 0.5 if criterion == "poisson" else signal


def mixed(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns of every kind with missing values, and a signal."""
    gone = rng.random((3, n)) < 0.1
    number, rank, town = rng.normal(size=n), rng.integers(0, 5, n), rng.integers(0, 8, n)
    X = pd.DataFrame(
        {
            "number": np.where(gone[0], np.nan, number),
            "rank": pd.Categorical.from_codes(np.where(gone[1], -1, rank), list("abcde"), ordered=True),
            "town": pd.Categorical.from_codes(np.where(gone[2], -1, town), list("stuvwxyz")),
            "ties": np.round(rng.normal(size=n)),
        }
    )
    return X, number + rank / 2 - (town % 3) + X["ties"].to_numpy() ** 2 / 2


# ------------------------------------------------------------------------------------------ what is drawn


def roots(column: NumericColumn | LevelColumn, criterion: str, n_seeds: int) -> Iterator[Forest]:
    """Stumps on one column, one per seed."""
    n = len(column.indices if isinstance(column, LevelColumn) else column.values)
    y = np.random.default_rng(n).integers(0, 3, n)
    is_class = criterion in CLASS_CRITERIA
    y = y.astype(np.int32) if is_class else y.astype(np.float64)
    table = Table((column,), n, named=False)
    problem = Problem(table, criterion, y, 3 * is_class, None, Options(max_depth=1))
    codes = problem.encode()
    for seed in range(n_seeds):
        yield problem.grow(codes, splitter="random", seed=seed)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_thresholds_of_numbers_are_uniform(criterion):
    """In value, not in rank: half of the rows crowd at one end."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(2.0, 2.1, 30), rng.uniform(2.1, 12.0, 30)])
    drawn = np.array([forest.threshold[0] for forest in roots(NumericColumn(0, x), criterion, 2000)])
    assert x.min() <= drawn.min()
    assert drawn.max() < x.max()
    assert kstest((drawn - x.min()) / np.ptp(x), "uniform").pvalue > LEAST_P


def test_thresholds_are_uniform_over_random_state():
    x, y = np.array([[0.0], [0.1], [0.2], [10.0]]), [0, 1, 0, 1]
    drawn = [
        DecisionTreeClassifier(splitter="random", max_depth=1, random_state=seed).fit(x, y).tree_.threshold[0]
        for seed in range(300)
    ]
    assert kstest(np.array(drawn) / 10, "uniform").pvalue > LEAST_P


def test_thresholds_below_the_root_are_uniform_between_the_values_of_the_node():
    rng = np.random.default_rng(1)
    x, y = rng.exponential(size=(40, 1)), rng.normal(size=40)
    places = []
    for seed in range(60):
        model = DecisionTreeRegressor(splitter="random", random_state=seed).fit(x, y)
        passes, tree = model.decision_path(x).toarray().T.astype(bool), model.tree_
        for node in np.flatnonzero(tree.feature >= 0):
            low, high = x[passes[node]].min(), x[passes[node]].max()
            assert low <= tree.threshold[node] < high
            if node:
                places.append((tree.threshold[node] - low) / (high - low))
    assert len(places) > 1500
    assert kstest(places, "uniform").pvalue > LEAST_P


def test_thresholds_lie_within_the_node_for_extreme_values():
    """Neighbouring floats, the whole range of float64, denormals: a threshold in [min, max) all the same."""
    for values in ([1.0, 1.0 + 2**-52], [-1.7e308, 0.0, 1.7e308], [0.0, 5e-324], [-0.0, 1e-300, 1e300]):
        x = np.array(values)[:, None]
        for seed in range(50):
            tree = DecisionTreeRegressor(splitter="random", random_state=seed).fit(x, np.arange(len(x))).tree_
            inner = tree.threshold[tree.feature >= 0]
            assert tree.n_leaves == len(x)
            assert (inner >= min(values)).all()
            assert (inner < max(values)).all()


@pytest.mark.parametrize("criterion", ["entropy", "absolute_error"])
def test_ranks_are_drawn_evenly(criterion):
    """Each rank but the highest present is as likely, however the rows spread over them."""
    ranks = np.repeat([0, 1, 2, 3], [30, 5, 1, 4]).astype(np.int32)
    stumps = roots(LevelColumn(0, ranks, tuple("abcdef"), ordered=True), criterion, 1500)
    drawn = Counter(float(forest.threshold[0]) for forest in stumps)
    assert set(drawn) == {1.0, 2.0, 3.0}
    assert chisquare(list(drawn.values())).pvalue > LEAST_P


@pytest.mark.parametrize("criterion", ["entropy", "absolute_error"])
def test_categories_fall_to_both_sides_by_a_coin(criterion):
    """Of the 14 proper subsets of four categories each is drawn; where all fell one way, one was turned."""
    column = LevelColumn(0, np.tile(np.arange(4), 5).astype(np.int32), tuple("abcd"))
    table, drawn = Table((column,), 20, named=False), Counter()
    for forest in roots(column, criterion, 2000):
        drawn[frozenset(column.indices[leaf_nodes(forest, table)[:, 0] == 1].tolist())] += 1
    assert len(drawn) == 14
    share = [1 / 16 + (len(left) in (1, 3)) / 64 for left in drawn]  # one of four is turned
    assert chisquare(list(drawn.values()), np.array(share) * 2000).pvalue > LEAST_P


@pytest.mark.parametrize("criterion", CRITERIA)
def test_missing_rows_go_to_the_better_side(criterion):
    rng = np.random.default_rng(4)
    X, signal = mixed(80, rng)
    y = target(criterion, signal, rng)
    for seed in range(12):
        for name in ("number", "rank", "town"):
            model = model_of(criterion, max_depth=1, random_state=seed).fit(X[[name]], y)
            left, missing = model.apply(X[[name]]) == 1, X[name].isna().to_numpy()
            assert len(set(left[missing].tolist())) == 1
            here = gain(criterion, y, left)
            assert model.forest_.gain[0] == pytest.approx(here, rel=1e-9, abs=1e-9)
            assert here >= gain(criterion, y, np.where(missing, ~left, left)) - 1e-9


@pytest.mark.parametrize("criterion", CRITERIA)
def test_missing_stands_against_the_only_value_present(criterion):
    for x in (np.array([7.0, np.nan] * 5)[:, None], pd.DataFrame({"x": ["a", None] * 5})):
        y = np.array([1, 2] * 5)
        model = model_of(criterion, random_state=0).fit(x, y)
        assert model.get_n_leaves() == 2
        assert model.predict(x).tolist() == y.tolist()


# ----------------------------------------------------------------------------------------- what is taken


@pytest.mark.parametrize("criterion", CRITERIA)
def test_best_of_the_candidates_is_taken(criterion):
    """Draws belong to (seed, node, column), so a table with the other columns blank draws the same."""
    rng = np.random.default_rng(5)
    X, signal = mixed(60, rng)
    y = target(criterion, signal, rng)
    taken = Counter()
    for seed in range(15):
        parameters = {"max_depth": 1, "random_state": seed}
        gains = []
        for name in X:
            blank = X.copy()
            for other in X.columns.drop(name):
                blank[other] = blank[other].iloc[0]
            alone = model_of(criterion, **parameters).fit(blank, y)
            assert set(alone.tree_.feature[alone.tree_.feature >= 0]) == {X.columns.get_loc(name)}
            gains.append(alone.forest_.gain[0])
        together = model_of(criterion, **parameters).fit(X, y)
        assert together.forest_.gain[0] == max(gains)
        assert together.tree_.feature[0] == int(np.argmax(gains))
        taken[int(together.tree_.feature[0])] += 1
    assert len(taken) > 1


@given(problem=any_problem, seed=st.integers(0, 2**31 - 1))
def test_every_split_separates_rows(problem, seed):
    """Children with rows in both, within the limits; a leaf's rows differ only if nothing could part them."""
    forest = problem.grow(splitter="random", seed=seed)
    passes = decision_path(forest, problem.table).toarray().T.astype(bool) & problem.used
    for node in range(forest.n_nodes):
        slot = forest.slot[node]
        assert passes[node].sum() == forest.count[node]
        if slot >= 0:
            left, right = passes[node + 1], passes[forest.right[slot]]
            assert not (left & right).any()
            assert ((left | right) == passes[node]).all()
            assert min(left.sum(), right.sum()) >= max(1, problem.options.min_rows_leaf)
            assert forest.gain[slot] >= 0


@given(problem=any_problem, seed=st.integers(0, 2**31 - 1), order=st.integers(0, 2**32 - 1))
def test_threads_and_row_order_do_not_show(problem, seed, order):
    rows = np.random.default_rng(order).permutation(problem.table.n_rows)
    first = problem.grow(splitter="random", seed=seed)
    assert_same_forest(first, problem.grow(splitter="random", seed=seed, n_threads=2), "2 threads")
    shuffled = problem.take(rows)
    assert_same_forest(first, shuffled.grow(splitter="random", seed=seed), "rows permuted")
    for max_bins in (3, 255):
        binned = problem.grow(problem.encode(max_bins), splitter="random", seed=seed)
        again = shuffled.grow(shuffled.encode(max_bins), splitter="random", seed=seed, n_threads=2)
        assert_same_forest(binned, again, f"max_bins {max_bins}")


@given(problem=any_problem, seed=st.integers(0, 2**31 - 1))
def test_a_row_of_weight_zero_is_absent(problem, seed):
    without = problem.take(np.flatnonzero(problem.used))
    assert_same_forest(
        problem.grow(splitter="random", seed=seed), without.grow(splitter="random", seed=seed), "weight 0"
    )


def large_problem(criterion: str) -> Problem:
    """20,000 rows of every kind of column."""
    rng = np.random.default_rng(6)
    n = 20_000
    numeric = rng.normal(size=(n, 2))
    numeric[rng.random(n) < 0.1, 0] = np.nan
    level, ordinal = (rng.integers(-1, k, n).astype(np.int32) for k in (60, 5))
    signal = np.nan_to_num(numeric[:, 0]) + level % 3 + ordinal / 2
    y = target(criterion, signal, rng)
    table = Table(
        (
            *(NumericColumn(j, numeric[:, j].copy()) for j in range(2)),
            LevelColumn(2, level, tuple(range(60))),
            LevelColumn(3, ordinal, tuple("abcde"), ordered=True),
        ),
        n,
        named=False,
    )
    is_class = criterion in CLASS_CRITERIA
    return Problem(table, criterion, y.astype(np.int32) if is_class else y, 3 * is_class, None, Options())


@pytest.mark.parametrize("max_bins", [None, 255])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_large_tree_is_the_same_with_threads_and_rows_permuted(criterion, max_bins):
    problem = large_problem(criterion)
    rows = np.random.default_rng(7).permutation(problem.table.n_rows)
    shuffled = problem.take(rows)
    for more in ({}, {"max_columns": 2}):
        drawn = {"splitter": "random", "seed": 3, "min_rows_leaf": 4, **more}
        first = problem.grow(problem.encode(max_bins), **drawn)
        assert first.n_nodes > 1000
        assert_same_forest(first, problem.grow(problem.encode(max_bins), n_threads=2, **drawn), "2 threads")
        permuted = shuffled.grow(shuffled.encode(max_bins), n_threads=2, **drawn)
        assert_same_forest(first, permuted, "rows permuted")


# ------------------------------------------------------------------------------------- through the estimators


@pytest.mark.parametrize("criterion", CRITERIA)
def test_random_state_repeats_the_tree(criterion):
    rng = np.random.default_rng(8)
    X, signal = mixed(200, rng)
    y = target(criterion, signal, rng)
    first = model_of(criterion, random_state=5, n_jobs=1).fit(X, y)
    for again in (
        model_of(criterion, random_state=5, n_jobs=2),
        model_of(criterion, random_state=np.random.RandomState(5), n_jobs=3),
    ):
        assert_same_forest(first.forest_, again.fit(X, y).forest_, "again")
    others = [model_of(criterion, random_state=seed).fit(X, y).forest_.threshold for seed in range(5)]
    assert len({tuple(thresholds) for thresholds in others}) == 5


@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification", *NUMBER_CRITERIA])
def test_several_outputs(criterion):
    rng = np.random.default_rng(9)
    X, signal = mixed(300, rng)
    y = np.column_stack([target(criterion, signal, rng), target(criterion, -signal, rng)])
    model = model_of(criterion, max_depth=1, random_state=0).fit(X, y)
    left = model.apply(X) == 1
    assert model.forest_.gain[0] == pytest.approx(gain(criterion, y, left) / 2, rel=1e-9)
    whole = model_of(criterion, random_state=0).fit(X, y)
    assert whole.predict(X).shape == (300, 2)
    assert (np.abs(whole.predict(X) - y) < 1e-9).mean() > 0.9  # it grows until the rows are told apart


@pytest.mark.parametrize("max_bins", [4, 32])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_binned_thresholds_are_cuts_of_the_table(criterion, max_bins):
    rng = np.random.default_rng(10)
    x = rng.exponential(size=(400, 1))
    y = target(criterion, np.sin(3 * x[:, 0]), rng)
    cuts, drawn = None, set()
    for seed in range(40):
        model = model_of(criterion, max_bins=max_bins, random_state=seed, min_samples_leaf=5).fit(x, y)
        best = DecisionTreeRegressor(max_bins=max_bins).fit(x, x[:, 0]).tree_
        cuts = set(best.threshold[best.feature >= 0].tolist())
        inner = model.tree_.threshold[model.tree_.feature >= 0].tolist()
        assert len(inner) == len(set(inner))
        assert set(inner) <= cuts
        drawn |= {inner[0]}
    assert len(cuts) == max_bins - 1
    assert len(drawn) > len(cuts) / 2


def test_limits_are_kept():
    rng = np.random.default_rng(11)
    X, signal = mixed(500, rng)
    for criterion in CRITERIA:
        y = target(criterion, signal, rng)
        limits = {"max_depth": 7, "min_samples_leaf": 6, "min_samples_split": 30, "max_leaf_nodes": 25}
        model = model_of(criterion, random_state=1, **limits).fit(X, y)
        assert 10 < model.get_n_leaves() <= 25
        assert model.get_depth() <= 7
        inner = model.tree_.feature >= 0
        assert model.tree_.n_node_samples[~inner].min() >= 6
        assert model.tree_.n_node_samples[inner].min() >= 30


def test_one_column_of_no_split_is_a_leaf():
    for x in (np.zeros((10, 1)), np.full((10, 1), np.nan), pd.DataFrame({"x": ["a"] * 10})):
        assert DecisionTreeRegressor(splitter="random").fit(x, np.arange(10.0)).get_n_leaves() == 1


# ------------------------------------------------------------------------------------------ as good as


def compare(ours: list[float], theirs: list[float]) -> None:
    """Means within three standard errors of their difference."""
    error = np.sqrt((np.var(ours, ddof=1) + np.var(theirs, ddof=1)) / len(ours))
    assert abs(np.mean(ours) - np.mean(theirs)) < 3 * error


@pytest.mark.parametrize(("load", "name"), [(load_breast_cancer, "Classifier"), (load_diabetes, "Regressor")])
def test_as_good_as_that_of_scikit_learn_on_real_tables(load, name):
    X, y = load(return_X_y=True)
    model = {"Classifier": DecisionTreeClassifier, "Regressor": DecisionTreeRegressor}[name]
    scores = [
        [
            cross_val_score(tree(splitter="random", min_samples_leaf=5, random_state=seed), X, y, cv=3).mean()
            for seed in range(30)
        ]
        for tree in (model, getattr(peers, f"DecisionTree{name}"))
    ]
    compare(*scores)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error", "poisson"])
def test_as_good_as_that_of_scikit_learn_on_simulated_tables(criterion):
    """Error on fresh rows, over 30 tables and seeds."""
    scores: tuple[list[float], list[float]] = ([], [])
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(900, 4))
        y = target(criterion, 2 * np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2], rng)
        ours = model_of(criterion, min_samples_leaf=20, random_state=seed)
        theirs = getattr(peers, type(ours).__name__)(
            criterion=criterion, splitter="random", min_samples_leaf=20, random_state=seed
        )
        for model, out in zip((ours, theirs), scores, strict=True):
            out.append(model.fit(X[:600], y[:600]).score(X[600:], y[600:]))
    compare(*scores)
    assert np.mean(scores[0]) > 0.05  # there was something to learn


def test_depth_is_that_of_scikit_learn():
    """A full tree of random cuts is deeper than one of best cuts; ours as deep as theirs."""
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(400, 3)), rng.normal(size=400)
    depths = [
        [tree(splitter="random", random_state=seed).fit(X, y).get_depth() for seed in range(30)]
        for tree in (DecisionTreeRegressor, peers.DecisionTreeRegressor)
    ]
    compare(*depths)


def test_leaves_are_those_of_the_draws():
    """The leaf of a row at prediction is the one it had in training."""
    problem = large_problem("squared_error")
    forest = problem.grow(splitter="random", seed=1, min_rows_leaf=4)
    leaves = leaf_nodes(forest, problem.table)[:, 0]
    counted = np.bincount(leaves, minlength=forest.n_nodes)
    np.testing.assert_array_equal(counted[forest.slot < 0], forest.count[forest.slot < 0])
