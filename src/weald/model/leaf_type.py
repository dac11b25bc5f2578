"""Leaf values in the type that a user asks for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weald.model.forest import Forest


def with_leaves_of(forest: Forest, leaf_dtype: str) -> Forest:
    """The forest with leaf values of this type; shares of whole rows stay, as files keep them as counts.

    Values that float32 cannot hold with all its 24 bits, being too large or too small, stay float64 too, and
    the others with them: a file has one type for all.
    """
    if leaf_dtype == "float64":
        return forest
    if forest.link == "shares" and np.all(forest.cover == np.floor(forest.cover)):
        return forest
    size, limits = np.abs(forest.value), np.finfo(np.float32)
    if np.any(size > limits.max) or np.any((size > 0) & (size < limits.tiny)):
        return forest
    return replace(forest, value=forest.value.astype(np.float32).astype(np.float64))
