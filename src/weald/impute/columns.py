"""What is known of each column of a training table, and fills for what is not."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data.frames.write import Cells, ObjectType
from weald.data.levels import missing_rows
from weald.data.table import Column, LevelColumn, Unit
from weald.errors import DataError, infinite_value
from weald.impute.rules import first_level, first_number


@dataclass(frozen=True, slots=True)
class KnownColumn:
    """One column: its values, and the rows that have one."""

    name: Hashable
    values: NDArray[Any]  # (n_rows,) float64 numbers or int32 level numbers; anything where not known
    known: NDArray[np.bool_]  # (n_rows,)
    unit: Unit | None  # None: levels
    levels: tuple[Any, ...] = ()

    @classmethod
    def of(cls, column: Column) -> KnownColumn:
        """Read a column of an aligned table; infinite numbers are refused."""
        known = ~missing_cells(column)
        if isinstance(column, LevelColumn):
            return cls(column.name, column.indices, known, None, column.levels)
        values = column.values.astype(np.float64)
        infinite = np.isinf(values) & known
        if infinite.any():
            row = int(np.argmax(infinite))
            raise infinite_value(column.name, row, float(values[row]))
        return cls(column.name, values, known, column.unit)

    @property
    def gaps(self) -> NDArray[np.intp]:
        """The rows without a value."""
        return np.flatnonzero(~self.known)

    def check_any(self) -> None:
        """Raise where no row has a value."""
        if not self.known.any():
            raise DataError(
                f"Column {self.name!r} is missing in every row: there is nothing to fill it from. Drop it."
            )

    def level_counts(self) -> NDArray[np.int64]:
        """How many rows have each level."""
        return np.bincount(self.values[self.known], minlength=len(self.levels))

    def guesses(self, group: NDArray[np.int32], n_groups: int) -> NDArray[Any]:
        """The first guess of each group of rows: of all rows where the group has no value."""
        guesses = np.empty(n_groups, np.float64 if self.unit is not None else np.int32)
        for which in range(n_groups):
            rows = self.known & (group == which)
            guesses[which] = self._guess(rows if rows.any() else self.known)
        return guesses

    def _guess(self, rows: NDArray[np.bool_]) -> float | int:
        if self.unit is not None:
            return first_number(self.values[rows])
        return first_level(np.bincount(self.values[rows], minlength=len(self.levels)))

    def spread(self) -> float:
        """The standard deviation of the known numbers."""
        return float(np.std(self.values[self.known])) if self.unit is not None else 1.0

    def changes(self, before: NDArray[Any], after: NDArray[Any]) -> NDArray[np.float64]:
        """How far fills have moved: numbers in standard deviations of the column, levels 1 or 0."""
        if self.unit is None:
            return np.asarray(before != after, np.float64)
        spread = self.spread()
        moved: NDArray[np.float64] = np.abs(after - before) / (spread if spread > 0 else np.inf)
        return moved

    def cells(self, rows: NDArray[np.intp], fills: NDArray[Any], objects: ObjectType | None = None) -> Cells:
        """Fills as they are written into a user's table."""
        if self.unit is not None:
            return Cells(rows, fills, self.unit, objects)
        return Cells(rows, [self.levels[i] for i in fills.tolist()], None, objects)


def missing_cells(column: Column) -> NDArray[np.bool_]:
    """The rows without a value, as a mask."""
    if isinstance(column, LevelColumn):
        return column.indices < 0
    found = missing_rows(column)
    return np.zeros(len(column.values), np.bool_) if found is None else found
