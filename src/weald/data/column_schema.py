"""What a model remembers of single columns, and of many that have only a position.

A table without names may have a hundred thousand columns that are plain numbers: `Positions` stands for all
of them at once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, overload

from weald.data.table import Kind, Unit


@dataclass(frozen=True, slots=True)
class ColumnSchema:
    """One column: its name, kind, what its numbers were, and its levels (level i has code i + 1)."""

    name: Hashable
    kind: Kind
    unit: Unit = "number"
    levels: tuple[Any, ...] = ()


class Positions(Sequence[ColumnSchema]):
    """Columns named by position, 0 to `n_columns` - 1: numbers of one unit, but for `others`.

    Parameters
    ----------
    n_columns : int
        How many columns.
    unit : {"number", "bool", "datetime", "instant", "duration"}
        What the numbers are.
    others : mapping of position to ColumnSchema
        The columns that are something else.

    Examples
    --------
    >>> columns = Positions(500_000)
    >>> len(columns), columns[7]
    (500000, ColumnSchema(name=7, kind='numeric', unit='number', levels=()))
    """

    __slots__ = ("n_columns", "others", "unit")

    def __init__(
        self,
        n_columns: int,
        unit: Unit = "number",
        others: Mapping[int, ColumnSchema] = MappingProxyType({}),
    ) -> None:
        self.n_columns = n_columns
        self.unit = unit
        self.others = dict(sorted(others.items()))

    @classmethod
    def of(cls, columns: Sequence[ColumnSchema]) -> Positions:
        """These columns, whose names are their positions; `unit` is that of the first numbers."""
        unit: Unit = next((column.unit for column in columns if column.kind == "numeric"), "number")
        others = {
            j: column for j, column in enumerate(columns) if (column.kind, column.unit) != ("numeric", unit)
        }
        return cls(len(columns), unit, others)

    def __len__(self) -> int:
        return self.n_columns

    @overload
    def __getitem__(self, position: int) -> ColumnSchema: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[ColumnSchema, ...]: ...
    def __getitem__(self, position: int | slice) -> ColumnSchema | tuple[ColumnSchema, ...]:
        if isinstance(position, slice):
            return tuple(self[j] for j in range(self.n_columns)[position])
        j = range(self.n_columns)[position]
        found = self.others.get(j)
        return ColumnSchema(j, "numeric", self.unit) if found is None else found

    def __iter__(self) -> Iterator[ColumnSchema]:
        return (self[j] for j in range(self.n_columns))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Positions):
            same_plain = (self.n_columns, self.unit) == (other.n_columns, other.unit)
            return same_plain and self.others == other.others
        if isinstance(other, tuple):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Positions({self.n_columns}, {self.unit!r}, {self.others!r})"
