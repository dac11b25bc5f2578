"""Trees with hundreds of classes and more: a node costs what its rows cost, and the trees are the same."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from unit.rows.growing import assert_same, mixed_table

import weald
from weald import engine
from weald.data.codes import encode
from weald.rows.growth import GrowOptions, TreeBags
from weald.rows.memory import grow_classification_tree

DRAWN = TreeBags(n_trees=3, n_draws=2000, seed=1)
FEW, MANY = 200, 300  # classes: below and above the number from which lanes are compact


def grown(n_classes: int | list[int], labels: np.ndarray, *, bags: TreeBags | None = None, **settings: Any):
    weight = settings.pop("weight", None)
    codes = encode(mixed_table(3, len(labels)), max_bins=settings.pop("max_bins", None))
    options = GrowOptions(**{"criterion": "gini", "seed": 5} | settings)
    return grow_classification_tree(codes, labels, n_classes, weight, options, bags)


def labels_of(n: int, n_classes: int = FEW) -> np.ndarray:
    rng = np.random.default_rng(n)
    return np.minimum(rng.integers(0, n_classes, n), rng.integers(0, n_classes, n)).astype(np.int32)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"criterion": "misclassification"},
        {"min_rows_leaf": 3},
        {"max_depth": 4},
        {"max_leaves": 40},
        {"max_bins": 16},
        {"search": "histogram"},
        {"splitter": "random"},
        {"max_columns": 2},
        {"max_columns": 2, "bags": DRAWN, "category_chance": 1.0, "tree_orders": True},
        {"splitter": "random", "bags": TreeBags(n_trees=3, seed=1), "leaf_values_only": True},
        {"n_threads": 3},
    ],
    ids=str,
)
def test_classes_that_no_row_has_change_nothing(settings):
    """Of 300 classes, 200 have rows: the tree of these 200, grown without compact lanes, is the same."""
    labels = labels_of(2000)
    few, many = grown(FEW, labels, **settings), grown(MANY, labels, **settings)
    assert not many.forest.value[:, FEW:].any()
    found = many.forest.arrays() | {"value": many.forest.value[:, :FEW]}
    assert_same(few.forest.arrays() | {"base_score": found["base_score"]}, found)
    if not settings.get("leaf_values_only"):
        np.testing.assert_array_equal(few.node_value, many.node_value[:, :FEW])


def test_entropy_is_summed_in_another_way_to_the_same_splits():
    labels = labels_of(2000)
    few, many = (grown(n, labels, criterion="entropy", max_depth=6).forest for n in (FEW, MANY))
    np.testing.assert_array_equal(few.column, many.column)
    np.testing.assert_array_equal(few.threshold, many.threshold)
    np.testing.assert_allclose(few.impurity, many.impurity, rtol=1e-12)


def test_whole_weights_and_several_outputs_change_nothing():
    labels = np.stack([labels_of(1500), labels_of(1500, 3)[::-1]], axis=1)
    weight = np.random.default_rng(0).integers(0, 4, 1500).astype(float)
    few, many = (grown([n, 3], labels, weight=weight).forest for n in (FEW, MANY))
    kept = [*range(FEW), *range(MANY, MANY + 3)]
    found = many.arrays() | {"value": many.value[:, kept], "base_score": few.base_score}
    assert_same(few.arrays(), found)


def test_any_weights_and_threads():
    labels = labels_of(3000, 1000)
    weight = 10 ** np.random.default_rng(0).uniform(-6, 6, 3000)
    one, three = (grown(1000, labels, weight=weight, n_threads=n).forest for n in (1, 3))
    assert_same(one.arrays(), three.arrays())
    np.testing.assert_allclose(one.value.sum(axis=1), 1)


def test_a_fit_with_as_many_classes_as_rows_takes_seconds():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 3)), rng.permutation(20_000)
    began = time.process_time()
    tree = weald.DecisionTreeClassifier(criterion="entropy", max_depth=9).fit(X, y)
    assert time.process_time() - began < 30  # the classes times the rows of every level took many minutes
    assert tree.get_n_leaves() > 400
    assert tree.predict_proba(X[:5]).shape == (5, 20_000)


@pytest.mark.parametrize(
    "model",
    [weald.DecisionTreeClassifier(), weald.RandomForestClassifier(n_estimators=4, random_state=0, n_jobs=1)],
)
def test_shares_that_do_not_fit_are_refused_with_what_they_take(model, monkeypatch):
    monkeypatch.setattr(engine, "memory_bytes", lambda: 2 * 10**8)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5000, 3)), rng.permutation(5000)
    with pytest.raises(MemoryError, match=r"5000 classes in every leaf: .* GB.*max_depth.*merge rare"):
        model.fit(X, y)
    model.set_params(max_depth=2).fit(X, y)


def test_pruning_reads_the_shares_of_inner_nodes():
    labels = labels_of(2000)
    X = np.random.default_rng(1).normal(size=(2000, 3))
    X[:, 0] += labels
    padded = np.concatenate([labels, np.arange(MANY)])
    with_all = np.concatenate([X, np.full((MANY, 3), 1e6) + np.arange(MANY)[:, None]])
    tree = weald.DecisionTreeClassifier(ccp_alpha=1e-3).fit(with_all, padded)
    np.testing.assert_allclose(tree.predict_proba(with_all).sum(axis=1), 1)
    assert tree.get_n_leaves() < weald.DecisionTreeClassifier().fit(with_all, padded).get_n_leaves()
