"""A `Table` is the user's data as named, typed columns, without copying where the frame allows.

Three kinds of column exist. A numeric column holds numbers (bool, dates and durations too). An ordinal
column holds levels whose order counts and whose distances do not. A categorical column holds values
without order. The last two share one shape: small integers that point into a tuple of levels.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from weald.data.blocks import Block

Unit: TypeAlias = Literal["number", "bool", "datetime", "instant", "duration"]
Kind: TypeAlias = Literal["numeric", "ordinal", "categorical"]


@dataclass(frozen=True, slots=True)
class NumericColumn:
    """Numbers as the frame stores them: any integer, float or bool dtype, any stride.

    `missing` marks missing rows where the dtype cannot (None: only NaN is missing). Dates and
    durations arrive here as float64 microseconds (since 1970 for dates), so that the same instant is
    the same number whatever library and resolution it came from; `unit` remembers what they were. A date
    with a time zone is an "instant", in UTC; one without is a "datetime": the two are never mixed.
    `nanoseconds` are there where times have parts of microseconds, which float64 does not tell apart:
    categories and labels are made of them.
    """

    name: Hashable
    values: NDArray[Any]
    missing: NDArray[np.bool_] | None = None
    unit: Unit = "number"
    nanoseconds: NDArray[np.int64] | None = None

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


class BlockColumns(Sequence[Column]):
    """The columns of a block, made one by one when asked for; `placed` columns stand in for some of them.

    Parameters
    ----------
    block : ArrayBlock or SparseBlock
        The numbers.
    placed : mapping of position to Column
        Columns that are read otherwise, such as categories.
    names : sequence, optional
        The names of all columns; their positions if not given.
    """

    __slots__ = ("block", "names", "placed")

    def __init__(
        self,
        block: Block,
        placed: Mapping[int, Column] = MappingProxyType({}),
        names: Sequence[Hashable] | None = None,
    ) -> None:
        self.block = block
        self.placed = dict(sorted(placed.items()))
        self.names: Sequence[Hashable] = range(block.shape[1]) if names is None else names

    def __len__(self) -> int:
        return self.block.shape[1]

    @overload
    def __getitem__(self, position: int) -> Column: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[Column, ...]: ...
    def __getitem__(self, position: int | slice) -> Column | tuple[Column, ...]:
        if isinstance(position, slice):
            return tuple(self.take(range(len(self))[position]))
        return self.take([range(len(self))[position]])[0]

    def take(self, positions: Sequence[int]) -> list[Column]:
        """Some columns, those of a sparse block in one pass."""
        plain = [j for j in positions if j not in self.placed]
        values = dict(zip(plain, self.block.take(plain), strict=True))
        return [
            self.placed[j]
            if j in self.placed
            else NumericColumn(self.names[j], values[j], unit=self.block.unit)
            for j in positions
        ]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length. `named` tells whether the names are the user's or only positions.

    `columns` is a tuple, or `BlockColumns` where the data came as one array or sparse matrix.
    """

    columns: Sequence[Column]
    n_rows: int
    named: bool

    @property
    def names(self) -> Sequence[Hashable]:
        """The column names, in order: a tuple, or a range where the data had none."""
        if isinstance(self.columns, BlockColumns):
            return self.columns.names
        return tuple(column.name for column in self.columns)

    @property
    def n_columns(self) -> int:
        """How many columns the table has."""
        return len(self.columns)


@dataclass(frozen=True, slots=True)
class Outline:
    """The names and the size of a table whose values nobody has read."""

    names: Sequence[Hashable]
    n_rows: int
    named: bool

    @property
    def n_columns(self) -> int:
        """How many columns the table has."""
        return len(self.names)
