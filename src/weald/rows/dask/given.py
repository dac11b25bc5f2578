"""Whether something is Dask's, told without importing Dask."""

from __future__ import annotations

import sys
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray


class Blocks(Protocol):
    """A Dask frame or array."""

    def rechunk(self, chunks: dict[int, int]) -> Self:
        """The same in other blocks; of arrays."""

    def to_delayed(self) -> NDArray[np.object_]:
        """Its partitions."""


def is_dask(X: object) -> bool:
    """Whether rows are a Dask frame, array, delayed object or future, or a list of the last two."""
    if "dask" not in sys.modules:
        return False
    if isinstance(X, list | tuple):
        return len(X) > 0 and all(is_piece(each) for each in X)
    return is_piece(X) or is_collection(X)


def is_collection(X: object) -> bool:
    """Whether this is a Dask frame, series or array."""
    return hasattr(X, "__dask_graph__") and (hasattr(X, "npartitions"))


def is_piece(X: object) -> bool:
    """Whether this is a delayed object or a future, which stands for one partition."""
    for module, name in (("dask.delayed", "Delayed"), ("distributed.client", "Future")):
        found = sys.modules.get(module)
        if found is not None and isinstance(X, getattr(found, name)):
            return True
    return False
