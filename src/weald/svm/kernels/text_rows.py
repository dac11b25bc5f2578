"""Texts as rows that a user's function compares, with what spaces ask of a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class TextRows:
    """One text per row; None where it is missing.

    Parameters
    ----------
    values : ndarray of objects, shape (n_rows,)
        The texts.
    """

    values: NDArray[Any]

    @property
    def n_rows(self) -> int:
        """How many texts."""
        return len(self.values)

    @property
    def n_columns(self) -> int:
        """Texts are one column."""
        return 1

    def take(self, rows: NDArray[np.integer[Any]]) -> TextRows:
        """The texts of these rows."""
        return TextRows(self.values[rows])

    def block(self, start: int, stop: int) -> TextRows:
        """Texts next to each other."""
        return TextRows(self.values[start:stop])
