"""What must not change a forest: how small nodes are put in order, threads, growth in parts."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from property.strategies import Problem, problems, take
from property.test_same_bits import table
from reference.compare import assert_same_forest
from unit.rows.growing import mixed_table

from weald import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from weald.data.codes import encode
from weald.io import model_file
from weald.model.join import joined
from weald.rows.growth import GrowOptions, TreeBags
from weald.rows.memory import grow_classification_tree, grow_regression_tree

#: tables of more rows are put in order by sorting, not by rank
MOST_RANKED = 1 << 13


def padded(problem: Problem) -> Problem:
    """The same problem and rows of weight 0, so many that small nodes are sorted."""
    n = problem.table.n_rows
    weight = np.ones(n) if problem.weight is None else problem.weight
    rows = np.concatenate([np.arange(n), np.zeros(MOST_RANKED, np.intp)]).astype(np.intp)
    return replace(problem.take(rows), weight=np.concatenate([weight, np.zeros(MOST_RANKED)]))


@given(problems(), st.integers(1, 4), st.integers(0, 3))
def test_order_by_rank_equals_sorting(problem, max_columns, seed):
    if max_columns >= problem.table.n_columns:
        max_columns = 1
    drawn = {"max_columns": max_columns, "seed": seed}
    ranked = problem.grow(**drawn)
    assert_same_forest(ranked, problem.grow(search="order", **drawn), "every node by rank")
    assert_same_forest(ranked, problem.grow(search="histogram", **drawn), "histograms")
    assert_same_forest(ranked, padded(problem).grow(search="order", **drawn), "every node sorted")
    assert_same_forest(ranked, padded(problem).grow(**drawn), "small nodes sorted")


def grow(
    criterion: str, n_rows: int, n_extra: int = 0, bags: TreeBags | None = None, **more: object
) -> object:
    """A tree, or those of some bags, on a table of every kind of column, with rows of weight 0 behind it."""
    rng = np.random.default_rng(n_rows)
    rows = np.concatenate([np.arange(n_rows), np.zeros(n_extra, np.intp)])
    columns = take(mixed_table(1, n_rows), rows)
    weight = np.repeat([1.0, 0.0], [n_rows, n_extra])
    codes = encode(columns, max_bins=None, weight=weight)
    y = rng.normal(size=n_rows)[rows]
    options = GrowOptions(criterion=criterion, **({"max_columns": 2, "seed": 3} | more))
    if criterion in ("gini", "entropy"):
        n_classes = 2 if criterion == "gini" else 4
        labels = np.digitize(y, [0.0] if n_classes == 2 else [-1.0, 0.0, 1.0]).astype(np.int32)
        return grow_classification_tree(codes, labels, n_classes, weight, options, bags).forest
    return grow_regression_tree(codes, np.abs(np.round(y, 3)) + 0.001, weight, options, bags).forest


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("n_rows", [700, 1500, 5000])
def test_parts_of_ranked_tables_equal_sorting(criterion, n_rows):
    """Ranks of a part come from those of the whole; ranks, sorting and histograms agree."""
    limits = {"min_rows_leaf": 3} if criterion == "absolute_error" else {}
    ranked = grow(criterion, n_rows, **limits)
    assert_same_forest(ranked, grow(criterion, n_rows, n_threads=3, **limits), "three threads")
    assert_same_forest(ranked, grow(criterion, n_rows, search="order", **limits), "order")
    assert_same_forest(ranked, grow(criterion, n_rows, MOST_RANKED, search="order", **limits), "sorted")
    assert_same_forest(ranked, grow(criterion, n_rows, search="histogram", **limits), "histogram")


@given(problems(), st.integers(1, 7), st.integers(0, 5), st.booleans())
def test_bags_in_parts_on_any_threads(problem, n_draws, seed, random):
    codes = problem.encode()
    splitter = "random" if random else "best"
    options = GrowOptions(criterion=problem.criterion, max_columns=1, splitter=splitter)
    n_draws = min(n_draws, int(problem.used.sum()))

    def trees(n_trees: int, first: int = 0, n_threads: int = 1):
        bags = TreeBags(n_trees=n_trees, first_tree=first, n_draws=n_draws, seed=seed)
        here = replace(options, n_threads=n_threads)
        if problem.n_classes == 0:
            return grow_regression_tree(codes, problem.target, problem.weight, here, bags).forest
        return grow_classification_tree(
            codes, problem.target, problem.n_classes, problem.weight, here, bags
        ).forest

    whole = trees(6)
    assert whole.n_trees == 6
    assert_same_forest(whole, trees(6, n_threads=3), "a tree for each of three threads")
    assert_same_forest(whole, trees(6, n_threads=5), "five threads for each tree")
    assert_same_forest(whole, joined([trees(2), trees(4, 2, 2)]), "two parts")


def forests(n_jobs: int) -> list[object]:
    """One of each, and the other criteria."""
    X, labels, target = table(1_500)
    settings = {"n_estimators": 7, "n_jobs": n_jobs, "random_state": 1}
    return [
        RandomForestClassifier(oob_score=False, **settings).fit(X, labels),
        RandomForestClassifier(class_weight="balanced_subsample", **settings).fit(X, labels == "low"),
        RandomForestClassifier(criterion="entropy", max_bins=31, max_leaf_nodes=40, **settings).fit(
            X, labels == "low"
        ),
        RandomForestRegressor(max_features="third", **settings).fit(X, target),
        RandomForestRegressor(criterion="absolute_error", max_depth=6, **settings).fit(X, target),
        RandomForestRegressor(criterion="poisson", max_samples=0.5, **settings).fit(X, np.abs(target)),
        ExtraTreesClassifier(**settings).fit(X, labels),
        ExtraTreesRegressor(max_bins=63, bootstrap=True, **settings).fit(X, target),
    ]


def digest(n_jobs: int = 2) -> list[str]:
    """The hashes of the model files."""
    return [hashlib.sha256(model_file.to_bytes(model)).hexdigest() for model in forests(n_jobs)]


def test_thread_count_gives_the_same_files():
    one = digest(1)
    assert digest(2) == one
    assert digest(5) == one


def test_large_trees_meet_blocks_of_any_size():
    """Rows pass large trees many at a time: how many must not show, wherever the rows are."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(8000, 4)).astype(np.float32)
    y = (X[:, 0] + rng.normal(size=8000) > 0).astype(int)
    model = RandomForestClassifier(3, random_state=0, n_jobs=1).fit(X, y)
    assert model.forest_.n_nodes > 3 * 2048, "trees that are large"
    many = rng.normal(size=(40_001, 4)).astype(np.float32)
    whole = model.predict_proba(many)
    pieces = [model.predict_proba(many[first : first + 700]) for first in range(0, len(many), 700)]
    assert np.array_equal(whole, np.concatenate(pieces))
    assert np.array_equal(whole, model.predict_proba(np.asfortranarray(many)))
    for n_jobs in (2, 5):
        assert np.array_equal(whole, model.set_params(n_jobs=n_jobs).predict_proba(many))
