"""What scikit-learn asks of every estimator that takes tables and fits a forest."""

from __future__ import annotations

from typing import Any


class ForestManners:
    """Whether it is fitted, and which tables it takes; stands before scikit-learn's own classes."""

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` has ended well once."""
        return "forest_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn may expect of the tables this takes."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags
