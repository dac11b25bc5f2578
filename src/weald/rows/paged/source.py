"""Where rows for a store come from: blocks of a table and of the columns that are kept, as often as asked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol

import numpy as np

from weald.data.rows import take_rows
from weald.data.table import Column, Table


class SourceRows(NamedTuple):
    """A block of rows."""

    first_row: int
    table: Table  # as the data has it: columns are matched by name, levels by value
    extras: Mapping[str, Column]


class Source(Protocol):
    """Rows that can be read more than once, in the same order."""

    def rows(self, page_rows: int) -> Iterator[SourceRows]:
        """All rows in blocks of exactly `page_rows`, but for the last."""

    def key(self) -> str:
        """What tells this data from other data, or from itself after a change."""

    def check(self) -> None:
        """Raise DataError if the data has changed since `key` was asked."""


class TableSource:
    """A table in memory."""

    def __init__(self, table: Table, extras: Mapping[str, Column] = {}) -> None:
        self._table, self._extras = table, dict(extras)

    def rows(self, page_rows: int) -> Iterator[SourceRows]:
        """Slices of it."""
        from weald.data.rows import take_values

        for first in range(0, self._table.n_rows, page_rows):
            rows = np.arange(first, min(first + page_rows, self._table.n_rows))
            extras = {name: take_values(column, rows) for name, column in self._extras.items()}
            yield SourceRows(first, take_rows(self._table, rows), extras)

    def key(self) -> str:
        """No two tables are the same: it is made for one store."""
        return hashlib.sha256(repr((id(self._table), self._table.n_rows)).encode()).hexdigest()

    def check(self) -> None:
        """It does not change."""
