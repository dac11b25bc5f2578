"""One tree of a `Forest` under scikit-learn's array names, so that tools written for `tree_` can read it.

Every array has one entry per node, in preorder, and is computed when first asked for. Nothing recurses in
Python: a tree may be a hundred thousand levels deep.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from weald.arrays import CategoricalFeatures, TableLike
from weald.data.schema import Schema
from weald.data.table import Table
from weald.model import predict
from weald.model.forest import CATEGORIES, Forest
from weald.model.read import read_aligned

if TYPE_CHECKING:
    from scipy import sparse

#: scikit-learn's marks: no child, and no column or threshold
NO_CHILD, NO_SPLIT = -1, -2


class TreeView:
    """What `tree_` of a fitted tree returns: scikit-learn's names for the arrays of one tree.

    A split on categories has no threshold: `threshold` is NaN there, and `left_categories(node)` tells
    which values go left. A split of missing against present has the threshold +inf.

    Parameters
    ----------
    forest : Forest
        The model.
    schema : Schema
        Its columns.
    n_classes : int, or sequence of int
        How many classes each output has; 1 for regression.
    declared : None, names, positions or a mask, default=None
        The columns that training declared as categories, for reading new tables.
    tree : int, default=0
        Which tree of the forest.

    Examples
    --------
    >>> from weald import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor().fit([[0.0], [1.0], [4.0]], [1.0, 1.0, 7.0]).tree_
    >>> tree.threshold
    array([ 2.5, -2. , -2. ])
    >>> tree.value.ravel()
    array([3., 1., 7.])
    """

    def __init__(
        self,
        forest: Forest,
        schema: Schema,
        *,
        n_classes: int | Sequence[int],
        declared: CategoricalFeatures = None,
        tree: int = 0,
    ) -> None:
        self.forest = forest
        self.schema = schema
        self.declared = declared
        self.tree = tree
        self.n_features = forest.n_columns
        self._n_classes = [n_classes] if isinstance(n_classes, int) else list(n_classes)

    def __getstate__(self) -> dict[str, Any]:
        """Without the arrays that are computed anew."""
        cached = {name for name, value in vars(type(self)).items() if isinstance(value, cached_property)}
        return {name: value for name, value in vars(self).items() if name not in cached}

    @property
    def _nodes(self) -> slice:
        return slice(int(self.forest.tree_start[self.tree]), int(self.forest.tree_start[self.tree + 1]))

    @cached_property
    def _slot(self) -> NDArray[np.int32]:
        return self.forest.slot[self._nodes]

    @cached_property
    def _inner(self) -> NDArray[np.intp]:
        """The inner nodes, ascending."""
        return np.flatnonzero(self._slot >= 0)

    def _from_inner(self, array: NDArray[Any], fill: float, dtype: DTypeLike) -> NDArray[Any]:
        """Per node: the inner node's entry of `array`, or `fill` at leaves."""
        out = np.full(self.node_count, fill, dtype)
        out[self._inner] = array[self._slot[self._inner]]
        return out

    @property
    def node_count(self) -> int:
        """How many nodes the tree has."""
        return len(self._slot)

    @property
    def capacity(self) -> int:
        """As `node_count`: nothing is held in reserve."""
        return self.node_count

    @property
    def n_leaves(self) -> int:
        """How many leaves the tree has."""
        return self.node_count - len(self._inner)

    @property
    def n_outputs(self) -> int:
        """How many columns the target had."""
        return len(self._n_classes)

    @property
    def n_classes(self) -> NDArray[np.intp]:
        """The classes of each output; 1 for regression."""
        return np.array(self._n_classes, np.intp)

    @property
    def max_n_classes(self) -> int:
        """The classes of the output that has most."""
        return max(self._n_classes)

    @cached_property
    def children_left(self) -> NDArray[np.int64]:
        """The left child of each node; -1 at leaves."""
        out = np.full(self.node_count, NO_CHILD, np.int64)
        out[self._inner] = self._inner + 1
        return out

    @cached_property
    def children_right(self) -> NDArray[np.int64]:
        """The right child of each node; -1 at leaves."""
        return self._from_inner(self.forest.right, NO_CHILD, np.int64)

    @cached_property
    def feature(self) -> NDArray[np.int64]:
        """The column each node splits on; -2 at leaves."""
        return self._from_inner(self.forest.column, NO_SPLIT, np.int64)

    @cached_property
    def threshold(self) -> NDArray[np.float64]:
        """Values up to it go left; -2.0 at leaves, NaN where the split is on categories."""
        by_category = self.forest.kind == CATEGORIES
        return self._from_inner(np.where(by_category, np.nan, self.forest.threshold), NO_SPLIT, np.float64)

    @cached_property
    def missing_go_to_left(self) -> NDArray[np.uint8]:
        """1 where missing values go left; 0 at leaves."""
        return self._from_inner(self.forest.missing_left, 0, np.uint8)

    @cached_property
    def impurity(self) -> NDArray[np.float64]:
        """The criterion at each node; NaN if the model keeps none."""
        if self.forest.impurity is None:
            return np.full(self.node_count, np.nan)
        return self.forest.impurity[self._nodes]

    @property
    def n_node_samples(self) -> NDArray[np.int64]:
        """How many rows of the training table came to each node."""
        return self.forest.count[self._nodes]

    @property
    def weighted_n_node_samples(self) -> NDArray[np.float64]:
        """The weight of those rows."""
        return self.forest.cover[self._nodes]

    @cached_property
    def value(self) -> NDArray[np.float64]:
        """Class shares, or means, of each node: (nodes, outputs, classes), with 0 beyond an output's classes.

        Where the model keeps no values of inner nodes, those are the means of their children, weighted by
        their rows.
        """
        flat = self._inner_means if self.forest.inner_value is None else self._kept_values
        if self.n_outputs == 1:
            return flat[:, None, :]
        out = np.zeros((self.node_count, self.n_outputs, self.max_n_classes))
        # True at the places of an output's own classes: the entries of a leaf, in their order.
        out[:, np.arange(self.max_n_classes) < self.n_classes[:, None]] = flat
        return out

    @property
    def _kept_values(self) -> NDArray[np.float64]:
        """Values of leaves and inner nodes as the forest has them: (nodes, width)."""
        out = np.empty((self.node_count, self.forest.width))
        leaf = self._slot < 0
        out[leaf] = self.forest.value[~self._slot[leaf]]
        if self.forest.inner_value is not None:
            out[self._inner] = self.forest.inner_value[self._slot[self._inner]]
        return out

    @property
    def _inner_means(self) -> NDArray[np.float64]:
        """Values of leaves, and of inner nodes worked out from them: (nodes, width)."""
        leaf = np.flatnonzero(self._slot < 0)
        cover = self.weighted_n_node_samples
        if not (cover > 0).all():  # sums of hessians may be 0, or below with an objective of the user's
            cover = np.maximum(self.n_node_samples, 1).astype(np.float64)
        total = np.empty((self.node_count, self.forest.width))
        total[leaf] = self.forest.value[~self._slot[leaf]] * cover[leaf, None]
        if self.max_n_classes > 1:
            total[leaf] = _whole_again(total[leaf])
        right = self.children_right
        for inner in reversed(self._levels):
            total[inner] = total[inner + 1] + total[right[inner]]
        out = total / cover[:, None]
        out[leaf] = self.forest.value[~self._slot[leaf]]
        return out

    @cached_property
    def _levels(self) -> list[NDArray[np.int64]]:
        """The inner nodes of depth 0, 1, …; the last depth that has any comes last."""
        levels, right = [], self.children_right
        nodes = np.zeros(1, np.int64)
        while len(inner := nodes[right[nodes] != NO_CHILD]):
            levels.append(inner)
            nodes = np.concatenate((inner + 1, right[inner]))
        return levels

    @property
    def max_depth(self) -> int:
        """The splits on the longest way from the root to a leaf."""
        return len(self._levels)

    def left_categories(self, node: int) -> tuple[Any, ...]:
        """The categories that `node`, a split on categories, sends left.

        Raises
        ------
        ValueError
            If `node` is a leaf or splits on a number.
        """
        slot = int(self._slot[node])
        if slot < 0 or self.forest.kind[slot] != CATEGORIES:
            raise ValueError(f"Node {node} of this tree does not split on categories; see `threshold`.")
        side = int(self.forest.side[slot])
        levels = self.schema.columns[int(self.forest.column[slot])].levels
        # Level i has code i + 1; code 0 is missing and follows `missing_go_to_left`.
        left = np.full(len(levels), not self.forest.set_left[side])
        left[self.forest.listed_codes(side).astype(np.int64) - 1] = self.forest.set_left[side]
        return tuple(levels[i] for i in np.flatnonzero(left).tolist())

    def compute_feature_importances(self, normalize: bool = True) -> NDArray[np.float64]:
        """How much the splits on each column lowered the criterion, per unit of weight.

        Parameters
        ----------
        normalize : bool, default=True
            Whether the importances are scaled to add up to 1. Without any gain they are all 0.

        Returns
        -------
        ndarray of shape (n_features,)
            The importance of each column.
        """
        slot = self._slot[self._inner]
        gains = np.bincount(self.forest.column[slot], self.forest.gain[slot], self.n_features)
        importance: NDArray[np.float64] = gains.astype(np.float64) / self.weighted_n_node_samples[0]
        total = importance.sum()
        return importance / total if normalize and total > 0 else importance

    def apply(self, X: TableLike) -> NDArray[np.int64]:
        """The leaf each row of a table comes to, by node number."""
        return predict.leaf_nodes(self.forest, self._aligned(X))[:, self.tree].astype(np.int64)

    def predict(self, X: TableLike) -> NDArray[np.float64]:
        """The leaf value of each row of a table: (rows, classes), or (rows, outputs, classes) if several."""
        value: NDArray[np.float64] = self.value[self.apply(X)]
        return value[:, 0, :] if self.n_outputs == 1 else value

    def decision_path(self, X: TableLike) -> sparse.csr_matrix:
        """Which nodes each row of a table passes: a sparse indicator, (rows, nodes)."""
        return predict.decision_path(self.forest, self._aligned(X))[:, self._nodes]

    def _aligned(self, X: TableLike) -> Table:
        return read_aligned(X, self.schema, declared=self.declared, owner="tree_")


def _whole_again(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Class weights that were whole before the division by their sum, whole again; others as they are.

    share * sum misses a whole number by an ulp or so; sums over many leaves would carry that to the root.
    """
    whole = np.rint(weights)
    return whole if np.all(np.abs(weights - whole) <= 4e-16 * weights) else weights
