"""`to_shap`: a tree as the dictionary of arrays that shap's `TreeExplainer` takes for a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.errors import DataError
from weald.model.forest import CATEGORIES, COMBINATION, Forest
from weald.pictures.nodes import ShownTree


def to_shap(model: object) -> dict[str, Any]:
    """The tree of an estimator for shap; see `TreePictures.to_shap`."""
    tree = ShownTree.of(model, "to_shap")
    forest = tree.forest
    _check_splits(tree, forest)
    inner = np.flatnonzero(forest.slot >= 0)
    slot = forest.slot[inner]

    def per_node(entries: NDArray[Any], leaf: int, dtype: type) -> NDArray[Any]:
        out: NDArray[Any] = np.full(forest.n_nodes, leaf, dtype)
        out[inner] = entries
        return out

    left, right = inner + 1, forest.right[slot]
    return {
        "trees": [
            {
                "children_left": per_node(left, -1, np.int32),
                "children_right": per_node(right, -1, np.int32),
                "children_default": per_node(np.where(forest.missing_left[slot], left, right), -1, np.int32),
                "features": per_node(forest.column[slot], -1, np.int32),
                # +inf, missing against present, works as it is: every number is below it.
                "thresholds": per_node(forest.threshold[slot], -1, np.float64),
                "values": _expectations(forest, inner),
                "node_sample_weight": forest.cover.astype(np.float64),
            }
        ],
        "base_offset": forest.base_score.astype(np.float64),
        "tree_output": "probability" if forest.link == "shares" else "raw_value",
        "objective": None if forest.link == "shares" else "squared_error",
        "input_dtype": np.float64,
        "internal_dtype": np.float64,
    }


def _check_splits(tree: ShownTree, forest: Forest) -> None:
    by_category = np.flatnonzero(forest.kind == CATEGORIES)
    if len(by_category):
        name = tree.names[int(forest.column[by_category[0]])]
        raise DataError(
            f"The tree splits the column {name} by categories, which shap's format cannot say. "
            "Encode its categories as numbers before fit, or explain with a model-agnostic method of shap."
        )
    if (forest.kind == COMBINATION).any():
        raise DataError("The tree splits on sums of columns, which shap's format cannot say.")


def _expectations(forest: Forest, inner: NDArray[np.intp]) -> NDArray[np.float64]:
    """Leaf values, and at inner nodes their mean by cover, which explanations must add up to.

    Not what inner nodes would predict: a median, say, is no mean of the leaves below.
    """
    value = np.empty((forest.n_nodes, forest.width))
    leaf = np.flatnonzero(forest.slot < 0)
    value[leaf] = forest.value[~forest.slot[leaf]] * float(forest.tree_weight[0])
    for node in inner[::-1].tolist():  # children have larger numbers
        left, right = node + 1, int(forest.right[forest.slot[node]])
        weights = forest.cover[[left, right]]
        value[node] = (value[left] * weights[0] + value[right] * weights[1]) / weights.sum()
    return value
