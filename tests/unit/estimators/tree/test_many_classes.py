"""Thousands of classes: shares that are sure not to fit are refused before a tree is grown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from unit.rows.growing import mixed_table

import weald
from weald import engine
from weald.data.adapters import to_table
from weald.data.codes import encode
from weald.rows.growth import GrowOptions, TreeBags
from weald.rows.many_classes import _rows_of_trees, fewest_leaves, rows_apart
from weald.rows.memory import grow_classification_tree


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


def forest(kind: Any = weald.RandomForestClassifier, **settings: Any) -> Any:
    return kind(**{"n_estimators": 3, "n_jobs": 1, "random_state": 0} | settings)


def bagging(limits: dict[str, Any] | None = None, **settings: Any) -> Any:
    tree = weald.DecisionTreeClassifier(**limits or {})
    settings = {"n_estimators": 3, "n_jobs": 1, "random_state": 0} | settings
    return weald.BaggingClassifier(tree, **settings)


@pytest.mark.parametrize(
    ("model", "room"),
    [
        (bagging(), 3),
        (bagging(n_estimators=10), 10),
        (bagging(bootstrap=False), 3),
        (bagging(max_features=0.5), 3),
        (bagging(max_samples=0.5), 1.8),
        (bagging({"class_weight": "balanced"}), 3),
        (bagging({"max_leaf_nodes": 1000}), 2.3),
        (forest(), 3),
        (forest(n_estimators=100), 100),
        (forest(max_samples=0.5), 1.8),
        (forest(verbose=1, n_estimators=40), 40),
        (forest(weald.ExtraTreesClassifier, bootstrap=True), 3),
        (forest(max_leaf_nodes=1000), 2.3),
        (forest(max_depth=1000), 2.3),
        (forest(bootstrap=False, min_samples_leaf=5), 0.5),
        (forest(min_samples_split=10), 0.3),
    ],
    ids=str,
)
def test_what_all_trees_take_is_refused_before_the_first(
    model: Any, room: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2,000 classes of one row: a tree of 1,264 rows takes 20 MB. There is room for a bit less than all."""

    def grow(*_: object) -> None:
        raise AssertionError("a tree was grown")

    monkeypatch.setattr(engine, "memory_bytes", lambda: int(2 * 16_000 * 1264 * room * 0.95))
    monkeypatch.setattr(engine, "grow_class_trees", grow)
    rng = np.random.default_rng(0)
    with pytest.raises(
        MemoryError, match=r"at least \d+ leaves.*2000 classes.*trees take .* GB.*max_depth.*merge rare"
    ):
        model.fit(rng.normal(size=(2000, 4)), rng.permutation(2000))


def test_the_message_says_how_many_trees_have_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "memory_bytes", lambda: int(2 * 16_000 * 1264 * 4.5))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 4)), rng.permutation(2000)
    for model in (forest(n_estimators=20), bagging(n_estimators=20)):
        with pytest.raises(MemoryError, match=r"20 trees take .* grow at most 4 of them"):
            model.fit(X, y)
        model.set_params(n_estimators=4).fit(X, y)


def test_members_of_limited_depth_are_refused_after_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is sure but a leaf for each level; what one tree has, the others will have too."""
    grow, grown = engine.grow_class_trees, []

    def counted(*given: Any) -> Any:
        grown.append(given)
        return grow(*given)

    monkeypatch.setattr(engine, "memory_bytes", lambda: 2 * 16_000 * 1000)
    monkeypatch.setattr(engine, "grow_class_trees", counted)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 4)), rng.permutation(2000)
    limits = {"criterion": "entropy", "max_depth": 6}
    with pytest.raises(MemoryError, match="100 trees take about"):
        bagging(limits, n_estimators=100).fit(X, y)
    assert len(grown) == 1
    bagging(limits).fit(X, y)


@pytest.mark.parametrize(
    "model",
    [
        weald.AdaBoostClassifier(n_estimators=2),
        weald.GradientBoostingClassifier(n_estimators=1),
        weald.XGBClassifier(n_estimators=1),
    ],
    ids=["AdaBoost", "gradient boosting", "XGB"],
)
def test_boosting_is_refused_where_rows_times_classes_have_no_room(
    model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "memory_bytes", lambda: 10**6)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), np.arange(400)
    with pytest.raises(MemoryError, match=r"400 rows has .* each of 400 classes.* GB.*Merge rare classes"):
        model.fit(X, y)
    model.fit(X, y % 20)


def test_a_member_of_adaboost_is_asked_for_classes_not_for_their_shares(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Shares of all classes for every row were 8 bytes times rows times classes in every round."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 40, 300)
    boosted = weald.AdaBoostClassifier(weald.DecisionTreeClassifier(max_depth=5), n_estimators=4)
    expected = boosted.fit(X, y).rounds_
    monkeypatch.setattr("weald.estimators.adaboost.trees.raw_scores", None)
    assert str(boosted.fit(X, y).rounds_) == str(expected)


LIMITS = [
    {},
    {"splitter": "random"},
    {"max_columns": 1},
    {"max_depth": 4},
    {"max_leaves": 7},
    {"min_rows_leaf": 3},
    {"min_rows_leaf": 2, "max_columns": 1},
    {"min_rows_split": 9},
    {"min_rows_leaf": 2, "min_rows_split": 5, "max_depth": 5},
    {"splitter": "random", "min_rows_leaf": 3},
]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("settings", LIMITS, ids=str)
@pytest.mark.parametrize("n_draws", [None, 150])
def test_a_tree_has_no_fewer_leaves_than_it_is_sure_to_have(
    seed: int, settings: dict[str, Any], n_draws: int | None
) -> None:
    """Columns of numbers, levels and categories with missing values; rows of weight 0; one or two outputs."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 300))
    codes = encode(mixed_table(seed, n), max_bins=None if seed % 2 else 16)
    labels = rng.integers(0, [n // 2, 3][: 1 + seed % 2], (n, 1 + seed % 2)).astype(np.int32)
    n_classes = [n // 2, 3][: labels.shape[1]]
    weight = rng.integers(0, 3, n).astype(float)
    options = GrowOptions(criterion="gini", seed=seed, **settings)
    bags = TreeBags(n_trees=2, n_draws=n_draws, seed=seed)
    grown = grow_classification_tree(codes, labels, n_classes, weight, options, bags).forest
    apart = rows_apart(codes, labels, weight > 0, options)
    starts = zip(grown.tree_start[:-1], grown.tree_start[1:], strict=True)
    for rows, (first, last) in zip(_rows_of_trees(weight > 0, bags, 2), starts, strict=True):
        fewest = fewest_leaves(codes, labels, rows, options, apart)
        assert np.count_nonzero(grown.slot[first:last] < 0) >= fewest


def test_rows_apart_count_every_class_and_limits_count_what_they_leave() -> None:
    rng = np.random.default_rng(0)
    labels = rng.permutation(400).astype(np.int32)[:, None]
    codes = encode(mixed_table(1, 400), max_bins=None)
    rows = np.ones(400, np.bool_)

    def fewest(**limits: Any) -> int:
        options = GrowOptions(criterion="gini", **limits)
        return fewest_leaves(codes, labels, rows, options, rows_apart(codes, labels, rows, options))

    assert fewest() > 300
    assert fewest(max_depth=9) == 10
    assert fewest(max_leaves=5) == fewest(max_leaves=5, max_depth=9) == 5
    assert fewest(min_impurity_decrease=0.1) == fewest(min_weight_leaf=2.0) == 1


def test_rows_of_a_leaf_are_counted_where_no_two_are_alike() -> None:
    rng = np.random.default_rng(0)
    labels, rows = rng.permutation(400).astype(np.int32)[:, None], np.ones(400, np.bool_)
    codes = encode(to_table(rng.normal(size=(400, 2))), max_bins=None)
    for limits, most in (({"min_rows_leaf": 5}, 9), ({"min_rows_split": 20}, 19)):
        options = GrowOptions(criterion="gini", **limits)
        assert fewest_leaves(codes, labels, rows, options, rows[:, None]) == -(-400 // most)
