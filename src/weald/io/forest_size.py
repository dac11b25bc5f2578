"""How large a forest of a model file will be, told from its description and the lengths of its arrays."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from weald.errors import ModelFileError
from weald.io.arrays import Shelf

#: Files hold so many times less than their forest takes in memory, at most; small ones need not care.
_DENSEST, _SMALL = 8, 20_000


@dataclass(frozen=True, slots=True)
class ForestSize:
    """The numbers of a forest: every tree has one leaf more than inner nodes."""

    n_trees: int
    n_nodes: int
    n_columns: int
    n_outputs: int
    width: int

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> ForestSize:
        """The numbers that a file gives, if such a forest can be."""
        found = cls(*(_natural(facts, name) for name in ("trees", "nodes", "columns", "outputs", "width")))
        if not 1 <= found.width <= found.n_outputs:
            raise ModelFileError("The description of the model file names leaves wider than its outputs.")
        if found.n_nodes < found.n_trees or (found.n_nodes - found.n_trees) % 2:
            raise ModelFileError(
                f"The description of the model file has {found.n_nodes} nodes, which do not form "
                f"{found.n_trees} whole binary trees."
            )
        return found

    @property
    def n_inner(self) -> int:
        """How many nodes are split."""
        return (self.n_nodes - self.n_trees) // 2

    @property
    def n_leaves(self) -> int:
        """How many are not."""
        return self.n_nodes - self.n_inner

    def check_lengths(self, shelf: Shelf) -> None:
        """Raise ModelFileError unless the arrays are as long as they must be: before any is looked at."""
        nodes, inner, leaves = self.n_nodes, self.n_inner, self.n_leaves
        wanted = {
            "leaf": -(-nodes // 8),
            "column": inner,
            "missing_left": -(-inner // 8),
            "gain": inner,
            "base_score": self.n_outputs,
            "tree_output": self.n_trees,
            "tree_weight": self.n_trees,
            "tree_round": self.n_trees,
        }
        optional = {
            "kind": inner,
            "leaf_count": leaves,
            "count": nodes,
            "leaf_cover": leaves,
            "cover": nodes,
            "impure": -(-nodes // 8),
            "class_weights": leaves,
            "value": leaves,
            "inner_value": inner,
            "cut_count": self.n_columns,
        }
        wanted |= {name: length for name, length in optional.items() if name in shelf}
        for name, length in wanted.items():
            shelf.check_length(name, length)

    def n_bytes(self, names: Container[str]) -> int:
        """The memory of the forest while it is made of these arrays."""
        per_node = 4 + 8 + 8 + 8 * ("impurity" in names) + 5  # its arrays, and what sums need
        per_inner = 30 + 24  # its arrays, and how thresholds are looked up
        per_leaf = 8 * self.width * (3 if "class_weights" in names else 1) + 8 * ("leaf_cover" in names)
        return (
            per_node * self.n_nodes
            + (per_inner + 8 * self.width * ("inner_value" in names)) * self.n_inner
            + per_leaf * self.n_leaves
            + 40 * self.n_trees
            + 24 * self.n_columns * ("cut_count" in names)
            + 8 * self.n_outputs
        )

    def n_bytes_to_write(self) -> int:
        """The memory that it takes to make the arrays, whichever they will be, beside the forest itself."""
        return self.n_bytes({"impurity", "class_weights", "leaf_cover", "cut_count"}) + 24 * self.n_nodes

    def too_dense(self, tensors: Mapping[str, NDArray[Any]]) -> bool:
        """Whether a file of these arrays would take too much memory for its size."""
        stored = sum(tensor.nbytes for tensor in tensors.values())
        small = max(self.n_nodes, self.n_columns * ("cut_count" in tensors)) < _SMALL
        return not small and self.n_bytes(tensors) > _DENSEST * stored


def _natural(facts: Mapping[str, Any], name: str) -> int:
    value = facts.get(name)
    if type(value) is not int or not 0 <= value < 2**31:
        raise ModelFileError(f"The description of the model file gives no valid number of {name}.")
    return value
