"""Thousands of classes: shares that are sure not to fit are refused before a tree is grown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from unit.rows.growing import mixed_table

import weald
from weald import engine
from weald.data.codes import encode
from weald.rows.many_classes import fewest_leaves
from weald.rows.memory import Bags, GrowOptions, grow_classification_tree


@pytest.mark.parametrize(
    "model",
    [
        weald.DecisionTreeClassifier(),
        weald.DecisionTreeClassifier(criterion="entropy", splitter="random", max_features=1, random_state=0),
        weald.BaggingClassifier(weald.DecisionTreeClassifier(), n_estimators=3, n_jobs=1, random_state=0),
        weald.ExtraTreesClassifier(n_estimators=3, n_jobs=1, random_state=0),
    ],
    ids=["tree", "random tree", "bagging", "extra trees"],
)
def test_as_many_classes_as_rows_are_refused_before_growing(
    model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """50,000 classes of one row: 20 GB of leaves, which a chain of 50,000 nodes took minutes to find out."""

    def grow(*_: object) -> None:
        raise AssertionError("a tree was grown")

    monkeypatch.setattr(engine, "memory_bytes", lambda: 8 * 10**9)
    monkeypatch.setattr(engine, "grow_class_trees", grow)
    rng = np.random.default_rng(0)
    with pytest.raises(
        MemoryError, match=r"at least \d{5} leaves.*\d{5} classes.* GB.*max_depth.*merge rare"
    ):
        model.fit(rng.normal(size=(50_000, 2)), rng.permutation(50_000))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("settings", [{}, {"splitter": "random"}, {"max_columns": 1}], ids=str)
def test_a_tree_has_no_fewer_leaves_than_it_is_sure_to_have(seed: int, settings: dict[str, Any]) -> None:
    """Columns of numbers, levels and categories with missing values; rows of weight 0; one or two outputs."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 300))
    codes = encode(mixed_table(seed, n), max_bins=None if seed % 2 else 16)
    labels = rng.integers(0, [n // 2, 3][: 1 + seed % 2], (n, 1 + seed % 2)).astype(np.int32)
    n_classes = [n // 2, 3][: labels.shape[1]]
    weight = rng.integers(0, 3, n).astype(float)
    options = GrowOptions(criterion="gini", seed=seed, **settings)
    forest = grow_classification_tree(codes, labels, n_classes, weight, options, Bags(n_trees=2)).forest
    fewest = fewest_leaves(codes, labels, weight, options)
    for first, last in zip(forest.tree_start[:-1], forest.tree_start[1:], strict=True):
        assert np.count_nonzero(forest.slot[first:last] < 0) >= fewest


def test_rows_apart_count_every_class_and_limits_count_none() -> None:
    rng = np.random.default_rng(0)
    labels = rng.permutation(400).astype(np.int32)[:, None]
    codes = encode(mixed_table(1, 400), max_bins=None)
    assert fewest_leaves(codes, labels, None, GrowOptions(criterion="gini")) > 300
    for limit in ({"max_depth": 9}, {"min_rows_leaf": 2}, {"max_leaves": 5}, {"min_impurity_decrease": 0.1}):
        assert fewest_leaves(codes, labels, None, GrowOptions(criterion="gini", **limit)) == 1
