"""Columns into codes, numbers into integers."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.engine.columns import NativeColumn, NativeColumns

InfiniteValue = _core.InfiniteValue
NativeCodes: TypeAlias = _core.Codes
LOWEST_EXPONENT: int = _core.LOWEST_EXPONENT
_EXACT, _BINNED, _ORDINAL, _CATEGORICAL = range(4)
NO_WEIGHTS = np.zeros(0, np.int64)


def encode(
    columns: NativeColumns,
    n_rows: int,
    *,
    max_bins: int | None,
    weights: NDArray[np.int64] | None,
    n_threads: int,
    all_rows: bool = False,
) -> NativeCodes:
    """Codes of every column; `max_bins` None is exact. Raises InfiniteValue where a number is infinite.

    `all_rows`: cuts are made of all rows, however many, which are a sample themselves.
    """
    limit = (n_rows,) if all_rows else ()
    numeric = _EXACT if max_bins is None else _BINNED
    rest = (NO_WEIGHTS if weights is None else weights, max_bins or 0, n_threads, *limit)
    placed = [(j, *_encoded(column, numeric)) for j, column in columns.placed.items()]
    if columns.block is None:
        return _core.encode([source[1:] for source in placed], n_rows, *rest)
    if columns.sparse:
        return _core.encode_sparse(columns.block, numeric, placed, *rest)
    return _core.encode_array(columns.block, numeric, placed, n_rows, *rest)


def _encoded(column: NativeColumn, numeric: int) -> tuple[Any, ...]:
    kind = numeric if column.n_levels is None else _ORDINAL if column.ordered else _CATEGORICAL
    return column.values, column.missing, kind, column.n_levels or 0


def first_infinite(
    values: list[NDArray[Any]], missing: list[NDArray[np.bool_] | None], n_rows: int
) -> tuple[int, int] | None:
    """The column and the row of the first number that is infinite."""
    return cast("tuple[int, int] | None", _core.first_infinite(values, missing, n_rows))


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


def log2(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Base-2 logarithms as the engine computes them: the same bits on every machine."""
    return _core.log2(np.ascontiguousarray(values, np.float64).ravel())
