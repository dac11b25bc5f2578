"""Rows about rows: noise on the numbers of rows that are repeated (equation R4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Flags, Floats
from weald.data.table import NumericColumn, Table
from weald.resampling.draws import normals
from weald.resampling.made import Rows, known_numbers


@dataclass(frozen=True, slots=True)
class Around:
    """Numbers about those of a row: x + scale · a normal draw, equation R4.

    `scale` has the standard deviation of the noise by class and column, `runs` the class of the new rows.
    Whole numbers stay within `lowest` and `highest`.
    """

    base: Rows
    runs: tuple[tuple[int, int], ...]  # class, how many new rows, in order
    scale: Mapping[int, Floats]
    seed: int
    lowest: Floats
    highest: Floats
    whole: Flags

    def of_column(self, j: int, values: Floats) -> Floats:
        """The numbers of one column."""
        made: Floats = values[self.base] + self.noise(j)
        return np.clip(made, self.lowest[j], self.highest[j]) if self.whole[j] else made

    def noise(self, j: int) -> Floats:
        """What is added to a column."""
        noise = [self.scale[k][j] * normals(self.seed, k, j, n) for k, n in self.runs]
        return np.concatenate([np.zeros(0), *noise])

    def of_block(self, array: NDArray[Any], out: NDArray[Any]) -> None:
        """The numbers of all columns."""
        kind = array.dtype.kind
        for j in range(array.shape[1]):
            made = self.of_column(j, array[:, j].astype(np.float64))
            out[:, j] = made if kind == "f" else np.rint(made)


def around(
    table: Table,
    base: Rows,
    rows: Mapping[int, Rows],
    asked: Mapping[int, int],
    shrinkage: Mapping[int, float],
    seed: int,
) -> Around:
    """Numbers about those of drawn rows, by Silverman's rule for the rows of each class.

    Parameters
    ----------
    table : Table
        The rows that are there.
    base : ndarray of int
        The drawn rows, class by class.
    rows, asked, shrinkage : mapping of the position of a class
        Its rows, how many new ones it gets, and how much noise.
    seed : int
        What the draws start from.
    """
    # Levels and bools are as in the drawn row.
    numeric = {
        j: column
        for j, column in enumerate(table.columns)
        if isinstance(column, NumericColumn) and column.unit != "bool"
    }
    d, n_columns = max(len(numeric), 1), table.n_columns
    factor = (4.0 / ((d + 2) * table.n_rows)) ** (1.0 / (d + 4))
    scale = {k: np.zeros(n_columns) for k in asked}
    lowest, highest = np.full(n_columns, -np.inf), np.full(n_columns, np.inf)
    whole = np.zeros(n_columns, np.bool_)
    for j, column in numeric.items():
        values = known_numbers(column)
        known = ~np.isnan(values)
        if known.any():
            lowest[j], highest[j] = values[known].min(), values[known].max()
        whole[j] = column.values.dtype.kind in "iu"
        for k, own in rows.items():
            some = values[own[known[own]]]
            scale[k][j] = shrinkage[k] * factor * (float(np.std(some)) if len(some) else 0.0)
    return Around(base, tuple(asked.items()), scale, seed, lowest, highest, whole)
