"""Trees of other libraries as a `Forest`, to hold what is told of them against what those libraries tell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from weald.model.forest import Forest

#: column, threshold, whether missing values go left, children (-1 at leaves), value, cover
Node: TypeAlias = tuple[int, float, bool, int, int, float, float]


class SavesRaw(Protocol):
    """xgboost's Booster, as far as it is asked here."""

    def save_raw(self, raw_format: str) -> bytes | bytearray:
        """The model as JSON."""


class HasTrees(Protocol):
    """A fitted forest of scikit-learn, as far as it is asked here."""

    @property
    def estimators_(self) -> Sequence[object]:
        """Its trees."""


def forest_of_xgboost(booster: SavesRaw, n_columns: int) -> Forest:
    """The trees of an xgboost Booster with one output and splits on numbers.

    xgboost sends values below a threshold left, weald those up to it: the next lower float32.

    Parameters
    ----------
    booster : xgboost.Booster
        The fitted model.
    n_columns : int
        How many columns its tables have.
    """
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    base = float(learner["learner_model_param"]["base_score"].strip("[]"))
    trees = []
    for tree in learner["gradient_booster"]["model"]["trees"]:
        condition = np.float32(tree["split_conditions"])
        threshold = np.nextafter(condition, np.float32(-np.inf))
        columns: tuple[Any, ...] = (
            tree["split_indices"],
            threshold.astype(np.float64).tolist(),
            map(bool, tree["default_left"]),
            tree["left_children"],
            tree["right_children"],
            condition.astype(np.float64).tolist(),  # of a leaf its value
            np.float64(tree["sum_hessian"]).tolist(),
        )
        trees.append(list(zip(*columns, strict=True)))
    return _forest(trees, n_columns, base)


def forest_of_sklearn(model: HasTrees, n_columns: int) -> Forest:
    """The trees of scikit-learn's forest of regressors with one output; their mean is its prediction.

    Parameters
    ----------
    model : RandomForestRegressor, ExtraTreesRegressor or BaggingRegressor of trees
        The fitted model.
    n_columns : int
        How many columns its tables have.
    """
    trees = []
    for each in model.estimators_:
        tree: Any = each.tree_  # type: ignore[attr-defined]
        columns = (
            tree.feature.tolist(),
            tree.threshold.tolist(),
            map(bool, tree.missing_go_to_left),
            tree.children_left.tolist(),
            tree.children_right.tolist(),
            (tree.value[:, 0, 0] / len(model.estimators_)).tolist(),
            tree.weighted_n_node_samples.tolist(),
        )
        trees.append(list(zip(*columns, strict=True)))
    return _forest(trees, n_columns, 0.0)


def _forest(trees: Sequence[Sequence[Node]], n_columns: int, base_score: float) -> Forest:
    """Trees whose nodes stand in any order, in preorder."""
    start, slot, cover = [0], list[int](), list[float]()
    value: list[list[float]] = []
    inner: list[tuple[int, float, bool]] = []
    right: list[int] = []
    for nodes in trees:
        first = len(slot)
        waiting: list[tuple[int, int | None]] = [(0, None)]  # a node, and the split whose right child it is
        while waiting:
            at, split = waiting.pop()
            if split is not None:
                right[split] = len(slot) - first
            column, threshold, missing_left, left, other, leaf, weight = nodes[at]
            cover.append(weight)
            if left < 0:
                slot.append(~len(value))
                value.append([leaf])
                continue
            slot.append(len(inner))
            inner.append((column, threshold, missing_left))
            right.append(0)
            waiting += [(other, len(inner) - 1), (left, None)]
        start.append(len(slot))
    n_trees, n_inner = len(trees), len(inner)
    return Forest(
        n_columns=n_columns,
        base_score=np.array([base_score]),
        link="identity",
        tree_start=np.array(start, np.int64),
        tree_output=np.zeros(n_trees, np.int32),
        tree_weight=np.ones(n_trees),
        tree_round=np.arange(n_trees, dtype=np.int32),
        slot=np.array(slot, np.int32),
        cover=np.array(cover, np.float64),
        count=np.zeros(len(slot), np.int64),
        impurity=None,
        column=np.array([each[0] for each in inner], np.int32),
        threshold=np.array([each[1] for each in inner], np.float64),
        kind=np.zeros(n_inner, np.uint8),
        missing_left=np.array([each[2] for each in inner], np.bool_),
        right=np.array(right, np.int32),
        gain=np.zeros(n_inner),
        side=np.full(n_inner, -1, np.int32),
        value=np.array(value, np.float64).reshape(-1, 1),
    )
