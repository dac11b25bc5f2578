"""Boosting's rows in memory: gradients in, a tree and the place of every row out."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.engine.codes import NativeCodes
from weald.engine.grow import TreeArrays

NewtonOptions: TypeAlias = _core.NewtonOptions
NewtonTree: TypeAlias = _core.NewtonTree
_NO_WEIGHT = np.zeros(0)


class RowLoss(NamedTuple):
    """A loss of the core under which every row is on its own, and the target of one output."""

    name: str
    parameters: NDArray[np.float64]
    output: int
    target: NDArray[np.float64]  # (n_rows,)


class NewtonRows:
    """The rows of one fit; see core/tree/newton/rows.h."""

    def __init__(self, codes: NativeCodes) -> None:
        self._native = _core.NewtonRows(codes)

    def grow(
        self,
        g: NDArray[np.float64],
        h: NDArray[np.float64],
        weight: NDArray[np.float64] | None,
        options: NewtonOptions,
        *,
        whole: bool,
        n_threads: int,
        curvature: NDArray[np.float64] | None = None,
        unit_h: bool = False,
    ) -> NewtonTree:
        """One tree on gradients and hessians of shape (outputs, n_rows).

        With curvatures, (n_rows,), the tree has Σ g and Σ curvature of its leaves: `leaf_sums()`. `unit_h`:
        every hessian is 1, which saves work.
        """
        weights = _NO_WEIGHT if weight is None else weight
        curvatures = _NO_WEIGHT if curvature is None else curvature
        return self._native.grow(g, h, weights, whole, options, n_threads, curvatures, unit_h)

    def grow_loss(
        self,
        loss: RowLoss,
        scores: NDArray[np.float64],
        weight: NDArray[np.float64] | None,
        options: NewtonOptions,
        *,
        whole: bool,
        n_threads: int,
    ) -> NewtonTree:
        """One tree on the gradients of a loss at these raw scores, (n_rows,), which are never stored."""
        weights = _NO_WEIGHT if weight is None else weight
        name, parameters, output, target = loss
        return self._native.grow_loss(
            name, parameters, output, scores, target, weights, whole, options, n_threads
        )

    def add_scores(
        self,
        tree: NewtonTree,
        leaf_values: NDArray[np.float64],
        scores: NDArray[np.float64],
        *,
        n_threads: int,
    ) -> None:
        """Add to each row's score the value of its leaf, in place."""
        self._native.add_scores(tree, leaf_values, scores, n_threads)

    def leaf_sums(
        self,
        tree: NewtonTree,
        g: NDArray[np.float64],
        h: NDArray[np.float64],
        weight: NDArray[np.float64] | None,
        *,
        whole: bool,
        n_threads: int,
    ) -> NDArray[np.float64]:
        """Σ g and Σ h of each leaf, (leaves, 2), over the rows of positive weight; g and h: (n_rows,)."""
        weights = _NO_WEIGHT if weight is None else weight
        return self._native.leaf_sums(tree, g, h, weights, whole, n_threads)

    def leaf_of_row(self, tree: NewtonTree, *, drawn_only: bool = False) -> NDArray[np.int32]:
        """The leaf of every row; -1 for rows the tree was not grown on, if `drawn_only`."""
        return self._native.leaf_of_row(tree, drawn_only)


def tree_arrays(tree: NewtonTree) -> TreeArrays:
    """The arrays of a grown tree, with `value` and `cover` of every node."""
    return tree.arrays()
