"""Where rows for a store come from: blocks of a table and of the columns that are kept, as often as asked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.data.blocks import ArrayBlock
from weald.data.rows import take_rows, take_values
from weald.data.table import BlockColumns, Column, LevelColumn, Table
from weald.engine.storage import pages as native


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
        for first in range(0, self._table.n_rows, page_rows):
            rows = np.arange(first, min(first + page_rows, self._table.n_rows))
            extras = {name: take_values(column, rows) for name, column in self._extras.items()}
            yield SourceRows(first, take_rows(self._table, rows), extras)

    def key(self) -> str:
        """That of its values: an equal table has the same."""
        found = hashlib.sha256(repr((self._table.n_rows, self._table.named)).encode())
        columns = self._table.columns
        if isinstance(columns, BlockColumns):
            block = columns.block
            parts = (
                (block.array,) if isinstance(block, ArrayBlock) else (block.indptr, block.indices, block.data)
            )
            for part in parts:
                found.update(_told(part))
            found.update(repr(list(columns.placed)).encode())
            columns = list(columns.placed.values())
        for column in (*columns, *self._extras.values()):
            found.update(repr((column.name, column.kind)).encode())
            if isinstance(column, LevelColumn):
                found.update(repr(column.levels).encode() + _told(column.indices))
            else:
                found.update(_told(column.values))
                found.update(b"" if column.missing is None else _told(column.missing))
        return found.hexdigest()

    def check(self) -> None:
        """It does not change."""


def _told(values: NDArray[Any]) -> bytes:
    """Type and checksum of an array."""
    plain = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    return f"{values.dtype.str}{values.shape}{native.checksum(plain)}".encode()
