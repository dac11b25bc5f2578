"""What an estimator remembers of its training table beside the model: only to show the tree, never saved."""

from __future__ import annotations

from typing import Any

import numpy as np

from weald.arrays import TableLike
from weald.data.codes import Codes
from weald.model.forest import COMBINATION, Forest

LIBRARIES = ("pandas", "polars", "pyarrow")


#: what a model remembers that was not trained here, or goes on from another
UNTOLD: dict[str, Any] = {"_frame_library": None, "_missing_columns": None}


def trained_on(X: TableLike, codes: Codes, forest: Forest) -> dict[str, Any]:
    """What an estimator remembers of its training table, by the names of its attributes."""
    return {"_frame_library": frame_library(X), "_missing_columns": missing_columns(codes, forest)}


def frame_library(X: TableLike) -> str | None:
    """The library a table is of, if it is a frame library that can hold a tree."""
    module = type(X).__module__.partition(".")[0]
    return module if module in LIBRARIES else None


def missing_columns(codes: Codes, forest: Forest) -> tuple[int, ...]:
    """The columns with missing values among those that the trees split on."""
    # Counting is quicker than sorting where there are millions of splits.
    used = np.flatnonzero(np.bincount(forest.column[forest.kind != COMBINATION])).tolist()
    return tuple(j for j in used if codes.has_missing(j))
