"""Kept columns of a store: targets, weights and the like, row by row as the user's data has them.

Numbers keep their type, text and categories become positions in `levels`. A page of one holds the narrowest
type that keeps every value, so that a pass over a target of 0 and 1 reads a byte a row.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data.levels import level_key, missing_rows, plain_levels
from weald.data.table import Column, LevelColumn, NumericColumn
from weald.engine.storage import pages as native
from weald.errors import DataError

_HEADER = struct.Struct("<8sQQQIIQ8s8x")  # magic, checksum, store, first row, rows, constant, bytes, dtype
_MAGIC = b"wealdex1"
_CHECKED_FROM = 16
_NARROW = {"i": ("u1", "i1", "<i2", "<i4"), "u": ("u1", "<u2", "<u4"), "f": ("u1", "<f4"), "b": ()}


@dataclass
class Extra:
    """One kept column: its name, the type of its values, and the levels that positions point into."""

    name: str
    dtype: str | None = None  # of NumPy; that of the first block, widened by later ones
    unit: str = "number"
    levels: list[Any] | None = None
    _place: dict[Any, int] = field(default_factory=dict, repr=False)

    def read(self, column: Column) -> NDArray[Any]:
        """The values of a block; levels that are new get the next positions."""
        if isinstance(column, LevelColumn):
            return self._read_levels(column)
        if self.levels is not None:
            raise DataError(f"Column {self.name!r} held text or categories before and now holds numbers.")
        values = _numbers(column)
        self.unit = column.unit
        self.dtype = values.dtype.str if self.dtype is None else np.result_type(self.dtype, values).str
        return values

    def _read_levels(self, column: LevelColumn) -> NDArray[np.int32]:
        if self.levels is None:
            if self.dtype is not None:
                raise DataError(f"Column {self.name!r} held numbers before and now holds text or categories.")
            self.levels, self.dtype, self.unit = [], "<i4", "levels"
        if not self._place:
            self._place = {level_key(level): i for i, level in enumerate(self.levels)}
        target = np.full(len(column.levels) + 1, -1, np.int32)
        for i in np.unique(column.indices[column.indices >= 0]).tolist():
            level = plain_levels([column.levels[i]])[0]
            key = level_key(level)
            if key not in self._place:
                self._place[key] = len(self.levels)
                self.levels.append(level)
            target[i] = self._place[key]
        return target[column.indices]


def _numbers(column: NumericColumn) -> NDArray[Any]:
    values, missing = column.values, missing_rows(column)
    if column.nanoseconds is not None:
        values = column.nanoseconds
    if missing is not None:
        values = np.where(missing, np.nan, values.astype(np.float64))
    if values.dtype == np.float16:
        values = values.astype(np.float32)
    return np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<"), copy=False)


def make_extra_page(values: NDArray[Any], *, store: int, first_row: int) -> NDArray[np.uint8]:
    """The bytes of a block of a kept column."""
    constant = len(values) > 1 and bool(
        (values.view(np.uint8).reshape(len(values), -1) == values[:1].view(np.uint8)).all()
    )
    kept = values[:1] if constant else narrowest(values)
    body = np.ascontiguousarray(kept).view(np.uint8)
    dtype = kept.dtype.str.encode().ljust(8)
    page = np.empty(_HEADER.size + len(body), np.uint8)
    parts = [_MAGIC, 0, store, first_row, len(values), int(constant), len(page), dtype]
    page[: _HEADER.size] = np.frombuffer(_HEADER.pack(*parts), np.uint8)
    page[_HEADER.size :] = body
    parts[1] = native.checksum(page[_CHECKED_FROM:])
    page[: _HEADER.size] = np.frombuffer(_HEADER.pack(*parts), np.uint8)
    return page


def narrowest(values: NDArray[Any]) -> NDArray[Any]:
    """The values in the narrowest type that keeps each of them; the bits of −0 and NaN are kept too."""
    for name in _NARROW.get(values.dtype.kind, ()):
        dtype = np.dtype(name)
        if dtype.itemsize >= values.dtype.itemsize:
            break
        with np.errstate(over="ignore", invalid="ignore"):
            short = values.astype(dtype)
            back = short.astype(values.dtype)
        if np.array_equal(back.view(np.uint8), values.view(np.uint8)):
            return short
    return values


def read_extra_page(
    page: NDArray[np.uint8], dtype: str, *, store: int, first_row: int, n_rows: int
) -> NDArray[Any]:
    """The values of a block; raises DataError, which says what is wrong, unless it is whole and expected."""
    if len(page) < _HEADER.size:
        raise DataError("it is shorter than its header")
    magic, found, owner, first, n, constant, n_bytes, kept = _HEADER.unpack(page[: _HEADER.size].tobytes())
    for holds, what in (
        (magic == _MAGIC, "it does not begin as a page does"),
        (n_bytes == len(page), "it is cut off"),
        (found == native.checksum(page[_CHECKED_FROM:]), "its checksum is wrong"),
        (owner == store, "it belongs to another store"),
        (first == first_row and n == n_rows, "it holds other rows than it should"),
    ):
        if not holds:
            raise DataError(what)
    values = page[_HEADER.size :].view(np.dtype(kept.decode().strip()))
    if constant:
        return np.repeat(values.astype(dtype), n)
    out: NDArray[Any] = values.astype(dtype)
    return out
