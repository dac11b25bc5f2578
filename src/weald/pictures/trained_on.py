"""What an estimator remembers of its training table beside the model: only to show the tree, never saved."""

from __future__ import annotations

import numpy as np

from weald.arrays import TableLike
from weald.data.codes import Codes
from weald.model.forest import COMBINATION, Forest

LIBRARIES = ("pandas", "polars", "pyarrow")


def frame_library(X: TableLike) -> str | None:
    """The library a table is of, if it is a frame library that can hold a tree."""
    module = type(X).__module__.partition(".")[0]
    return module if module in LIBRARIES else None


def missing_columns(codes: Codes, forest: Forest) -> tuple[int, ...]:
    """The columns with missing values among those that the trees split on."""
    # Counting is quicker than sorting where there are millions of splits.
    used = np.flatnonzero(np.bincount(forest.column[forest.kind != COMBINATION])).tolist()
    return tuple(j for j in used if codes.has_missing(j))
