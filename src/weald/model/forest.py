"""The `Forest`: every tree model after training, as flat arrays that all readers share.

Nodes of all trees stand one after another, each tree in preorder: a node's left child is the next node,
its right child is named. Inner nodes and leaves keep their own arrays, so that neither pays for the other:
`slot[node]` is an index into the inner arrays, or `~slot[node]` an index into the leaf arrays.

A split sends a row left when, by `kind`,

- NUMERIC: `value <= threshold` (equally: `code_of(value) <= code`);
- CATEGORIES: its code is listed in the node's set of the side table and `set_left`, or neither holds: the
  listed codes go to one child, all others (also those the node never saw) to the other;
- COMBINATION: `sum(coefficient * value) <= threshold` over the node's columns of the side table.

A missing value (code 0) follows `missing_left`. The threshold +inf separates missing from present.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald import engine

NUMERIC, CATEGORIES, COMBINATION = 0, 1, 2

INNER_ARRAYS = ("column", "threshold", "kind", "missing_left", "right", "gain", "side")


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees as arrays. T trees, N nodes, I inner nodes, L leaves (N = I + L), all trees concatenated."""

    n_columns: int
    #: raw score of output k = base_score[k] + sum over trees of tree_weight * leaf value
    base_score: NDArray[np.float64]  # (n_outputs,)
    #: what turns raw scores into predictions: "identity", "shares", later "logistic", "softmax", "exp" …
    link: str

    # per tree
    tree_start: NDArray[np.int64]  # (T + 1,) first node of each tree; the last entry is N
    tree_output: NDArray[np.int32]  # (T,) the first output its leaf values add to
    tree_weight: NDArray[np.float64]  # (T,)
    tree_round: NDArray[np.int32]  # (T,)

    # per node
    slot: NDArray[np.int32]  # (N,) inner index, or ~leaf index
    cover: NDArray[np.float64]  # (N,) sum of weights (or of hessians)
    count: NDArray[np.int64]  # (N,) rows
    impurity: NDArray[np.float64] | None  # (N,) where the method has one

    # per inner node
    column: NDArray[np.int32]  # (I,) column of the split; -1 for COMBINATION
    threshold: NDArray[np.float64]  # (I,) NaN never, -inf never; 0.0 for CATEGORIES
    kind: NDArray[np.uint8]  # (I,)
    missing_left: NDArray[np.bool_]  # (I,)
    right: NDArray[np.int32]  # (I,) node id of the right child, counted from the first node of its tree
    gain: NDArray[np.float64]  # (I,) score(left) + score(right) - score(node), times weight, ≥ 0
    side: NDArray[np.int32]  # (I,) row of the side table of its kind; -1 for NUMERIC

    # per leaf
    value: NDArray[np.float64]  # (L, width)
    #: (I, width) values of inner nodes, where those of the leaves do not determine them (medians, values held
    #: back by a constraint); else None: the mean of the leaves below, weighted by cover
    inner_value: NDArray[np.float64] | None = None

    # side tables
    set_start: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))  # (S + 1,)
    #: the codes of each set, ascending, distinct, ≥ 1
    set_codes: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    #: whether the listed codes go left (all others right), or right (all others left)
    set_left: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))  # (S,)
    combination_start: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))  # (C + 1,)
    combination_column: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    combination_coefficient: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0, np.float64))

    def __repr__(self) -> str:
        """One line, however many arrays."""
        trees = f"{self.n_trees:,} {'tree' if self.n_trees == 1 else 'trees'}"
        outputs = f", {self.n_outputs:,} outputs" if self.n_outputs > 1 else ""
        size = f"{self.n_nodes:,} nodes, {self.n_columns:,} columns{outputs}"
        return f"<Forest: {trees}, {size}, link {self.link!r}>"

    @property
    def n_trees(self) -> int:
        """How many trees."""
        return len(self.tree_output)

    @property
    def n_nodes(self) -> int:
        """How many nodes, inner and leaves, over all trees."""
        return len(self.slot)

    @property
    def n_outputs(self) -> int:
        """How many raw scores a row gets."""
        return len(self.base_score)

    @property
    def width(self) -> int:
        """How many outputs one leaf speaks for."""
        return int(self.value.shape[1])

    @cached_property
    def code(self) -> NDArray[np.uint32]:
        """The largest code of each split that goes left, (I,); 0 for CATEGORIES and COMBINATION."""
        return rank_codes(self.column, self.threshold, self.kind)

    def listed_codes(self, side: int) -> NDArray[np.uint32]:
        """The codes of one row of the table of category sets; `set_left` tells which way they go."""
        return self.set_codes[self.set_start[side] : self.set_start[side + 1]]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by field name, absent ones left out."""
        named = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in named.items() if isinstance(value, np.ndarray)}


def rank_codes(
    column: NDArray[np.int32], threshold: NDArray[np.float64], kind: NDArray[np.uint8]
) -> NDArray[np.uint32]:
    """The code of each inner node: the rank, from 1, of its threshold among those used on its column.

    Codes made this way depend on the trees alone, not on the codebook that grew them. Nodes that are not
    NUMERIC get 0.

    >>> column, threshold = np.array([0, 1, 0, 0], np.int32), np.array([2.5, 7.0, 0.5, 2.5])
    >>> rank_codes(column, threshold, np.zeros(4, np.uint8)).tolist()
    [2, 1, 1, 2]
    """
    return engine.rank_thresholds(column, threshold, kind)
