"""A `Table` is the user's data as named, typed columns, without copying where the frame allows.

Three kinds of column exist. A numeric column holds numbers (bool, dates and durations too). An ordinal
column holds levels whose order counts and whose distances do not. A categorical column holds values
without order. The last two share one shape: small integers that point into a tuple of levels.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Unit: TypeAlias = Literal["number", "bool", "datetime", "instant", "duration"]
Kind: TypeAlias = Literal["numeric", "ordinal", "categorical"]


@dataclass(frozen=True, slots=True)
class NumericColumn:
    """Numbers as the frame stores them: any integer, float or bool dtype, any stride.

    `missing` marks missing rows where the dtype cannot (None: only NaN is missing). Dates and
    durations arrive here as float64 microseconds (since 1970 for dates), so that the same instant is
    the same number whatever library and resolution it came from; `unit` remembers what they were. A date
    with a time zone is an "instant", in UTC; one without is a "datetime": the two are never mixed.
    """

    name: Hashable
    values: NDArray[Any]
    missing: NDArray[np.bool_] | None = None
    unit: Unit = "number"

    @property
    def kind(self) -> Kind:
        """Always "numeric"."""
        return "numeric"


@dataclass(frozen=True, slots=True)
class LevelColumn:
    """Levels by index: `indices[row]` points into `levels`; -1 is missing. `levels` has no duplicates.

    An ordinal column keeps the order of `levels`; for a categorical one the order means nothing.
    """

    name: Hashable
    indices: NDArray[np.int32]
    levels: tuple[Any, ...]
    ordered: bool = False

    @property
    def kind(self) -> Kind:
        """Either "ordinal" or "categorical"."""
        return "ordinal" if self.ordered else "categorical"


Column: TypeAlias = NumericColumn | LevelColumn


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length. `named` tells whether the names are the user's or only positions."""

    columns: tuple[Column, ...]
    n_rows: int
    named: bool

    @property
    def names(self) -> tuple[Hashable, ...]:
        """The column names, in order; positions 0, 1, … when the data had none."""
        return tuple(column.name for column in self.columns)

    @property
    def n_columns(self) -> int:
        """How many columns the table has."""
        return len(self.columns)
