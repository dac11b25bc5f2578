"""Columns into codes, numbers into integers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.data.blocks import SparseBlock
from weald.data.table import BlockColumns, Column, NumericColumn, Table
from weald.errors import infinite_value

NativeCodes: TypeAlias = _core.Codes
LOWEST_EXPONENT: int = _core.LOWEST_EXPONENT
_EXACT, _BINNED, _ORDINAL, _CATEGORICAL = range(4)
NO_WEIGHTS = np.zeros(0, np.int64)


def native_values(values: NDArray[Any]) -> NDArray[Any]:
    """A column in a layout the core reads: converted only if in a foreign byte order, unaligned or exotic."""
    if values.dtype == np.float16:
        return values.astype(np.float32)
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        return values.astype(np.float64)
    if not (values.dtype.isnative and values.flags.aligned):
        return values.astype(values.dtype.newbyteorder("="))
    return values


@contextmanager
def naming_infinite(table: Table) -> Iterator[None]:
    """Name the first infinite value, by column and row, when the core has met one."""
    try:
        yield
    except _core.InfiniteValue:
        block = table.columns.block if isinstance(table.columns, BlockColumns) else None
        if isinstance(block, SparseBlock) and (at := block.first_infinite()) is not None:
            raise infinite_value(table.names[at[0]], *at[1:]) from None
        floats = [c for c in table.columns if isinstance(c, NumericColumn) and c.values.dtype.kind == "f"]
        values = [native_values(c.values) for c in floats]
        found = _core.first_infinite(values, [c.missing for c in floats], table.n_rows)
        column, row = cast(tuple[int, int], found)
        raise infinite_value(floats[column].name, row, float(values[column][row])) from None


def encode(
    table: Table, *, max_bins: int | None, weights: NDArray[np.int64] | None, n_threads: int
) -> NativeCodes:
    """Codes of every column; `max_bins` None is exact."""
    numeric = _EXACT if max_bins is None else _BINNED
    rest = (NO_WEIGHTS if weights is None else weights, max_bins or 0, n_threads)
    columns = table.columns
    with naming_infinite(table):
        if not isinstance(columns, BlockColumns):
            sources = [_encode_column(column, numeric) for column in columns]
            return _core.encode(sources, table.n_rows, *rest)
        placed = [(j, *_encode_column(column, numeric)) for j, column in columns.placed.items()]
        if isinstance(columns.block, SparseBlock):
            return _core.encode_sparse(columns.block.parts, numeric, placed, *rest)
        return _core.encode_array(columns.block.array, numeric, placed, table.n_rows, *rest)


def _encode_column(column: Column, numeric: int) -> tuple[Any, ...]:
    if isinstance(column, NumericColumn):
        return native_values(column.values), column.missing, numeric, 0
    return column.indices, None, _ORDINAL if column.ordered else _CATEGORICAL, len(column.levels)


def count_exponents(values: NDArray[np.float64], times: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """How many values have each binary exponent, from LOWEST_EXPONENT up; zeros are not counted.

    A value counts `times` times, once if that is not given.
    """
    return _core.count_exponents(
        np.ascontiguousarray(values, np.float64), NO_WEIGHTS if times is None else times
    )


def to_units(values: NDArray[np.float64], power: int) -> NDArray[np.int64]:
    """The integers nearest to values · 2^power, half to even."""
    return _core.to_units(np.ascontiguousarray(values, np.float64), power)


def to_narrow(
    g: NDArray[np.float64], h: NDArray[np.float64], powers: tuple[int, int], *, seed: int, round_: int
) -> NDArray[np.uint32]:
    """Gradients and hessians in 16 bits each, rounded by hash(seed, round, row)."""
    return _core.to_narrow(g, h, *powers, seed, round_)


def log2(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Base-2 logarithms as the engine computes them: the same bits on every machine."""
    return _core.log2(np.ascontiguousarray(values, np.float64).ravel())
