"""A tree of boosting that was just grown: forests are assembled from these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(slots=True)
class BoostedTree:
    """A grown tree: its arrays, the leaf values it adds, the outputs they are for."""

    arrays: dict[str, NDArray[Any]]
    value: NDArray[np.float64]  # (leaves, width)
    output: int  # the first output it adds to
    round_: int
    weight: float = 1.0

    @property
    def n_leaves(self) -> int:
        """How many leaves."""
        return len(self.value)


def compact(leaves: NDArray[np.int32], n_leaves: int) -> NDArray[np.unsignedinteger]:
    """Leaf numbers in as few bytes as they need."""
    kinds: tuple[type[np.unsignedinteger], ...] = (np.uint8, np.uint16, np.uint32)
    kind = next(each for each in kinds if n_leaves - 1 <= np.iinfo(each).max)
    return leaves.astype(kind)
