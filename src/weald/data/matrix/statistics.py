"""Medians, means, deviations and largest values of the columns of a matrix, with weights of rows.

Columns are read in blocks that depend on the size of the table alone and are added up in one order, so equal
tables give equal bits whatever library holds them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.data.blocks import ArrayBlock
from weald.data.matrix.columns import ColumnLayout, numbers_of
from weald.data.table import BlockColumns, Table
from weald.engine.dense_columns import dense_medians
from weald.engine.sparse_columns import SparseEntries
from weald.errors import infinite_value

if TYPE_CHECKING:
    from scipy import sparse

#: numbers that are read together, and of those that are looked at together
_BLOCK, _CACHED = 1 << 22, 1 << 17


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of every column of a matrix: its median, and after gaps are filled its mean, deviation and max|x|."""

    fill: Floats
    mean: Floats
    deviation: Floats
    largest: Floats

    @classmethod
    def empty(cls, n_columns: int) -> Statistics:
        """All zero: levels keep the fill 0."""
        return cls(*(np.zeros(n_columns) for _ in range(4)))


# --------------------------------------------------------------------------- dense


def dense_statistics(
    table: Table, layout: ColumnLayout, weight: Floats | None, *, sizes: bool = True, n_threads: int = 1
) -> Statistics:
    """The statistics of a table of numbers and levels; without `sizes` only what fills gaps is asked for."""
    found = Statistics.empty(layout.n_out)
    if not sizes and weight is None:
        medians = _array_medians(table, n_threads)
        if medians is not None:
            found.fill[:] = medians
            return found
    used, weight = _used(weight)
    _count_levels(found, table, layout, used, weight)
    plain = layout.plain
    step = max(1, _BLOCK // table.n_rows)
    for start in range(0, len(plain), step):
        positions = plain[start : start + step]
        block = _columns(table, positions)
        _refuse_infinite(block, layout, positions)
        if used is not None:
            block = block[:, used]
        few = max(1, _CACHED // block.shape[1])
        for line in range(0, len(block), few):
            lines, at = block[line : line + few], layout.starts[positions[line : line + few]]
            found.fill[at] = _fill(lines, weight)
            found.mean[at], found.deviation[at], found.largest[at] = moments(lines, weight)
    return found


def _array_medians(table: Table, n_threads: int) -> Floats | None:
    """The medians of an array of float64; None of other tables, and where a value is infinite."""
    columns = table.columns
    if not (isinstance(columns, BlockColumns) and isinstance(columns.block, ArrayBlock)) or columns.placed:
        return None
    array = columns.block.array
    if array.dtype != np.float64 or not array.flags.c_contiguous:
        return None
    medians, finite = dense_medians(array, n_threads=n_threads)
    return medians if finite else None


def _used(weight: Floats | None) -> tuple[NDArray[np.intp] | None, Floats | None]:
    """The rows that count, None for all, and their weights, None if all are alike."""
    if weight is None:
        return None, None
    used = np.flatnonzero(weight > 0)
    kept = weight[used]
    return (None if len(used) == len(weight) else used), (None if (kept == kept[:1]).all() else kept)


def _columns(table: Table, positions: NDArray[np.int64]) -> Floats:
    """Some columns, each a line of a new array; NaN is missing."""
    columns = table.columns
    if isinstance(columns, BlockColumns) and isinstance(columns.block, ArrayBlock) and not columns.placed:
        first, last = int(positions[0]), int(positions[-1])  # without other columns they follow each other
        return np.array(columns.block.array[:, first : last + 1].T, np.float64, order="C")
    out = np.empty((len(positions), table.n_rows))
    taken: Sequence[Any] = (
        columns.take(positions.tolist())
        if isinstance(columns, BlockColumns)
        else [columns[j] for j in positions.tolist()]
    )
    for line, column in zip(out, taken, strict=True):
        line[:] = numbers_of(column)
    return out


def _refuse_infinite(block: Floats, layout: ColumnLayout, positions: NDArray[np.int64]) -> None:
    infinite = np.isinf(block)
    if infinite.any():
        line, row = np.argwhere(infinite)[0]
        name = layout.schema.columns[int(positions[line])].name
        raise infinite_value(name, int(row), float(block[line, row]))


def _fill(block: Floats, weight: Floats | None) -> Floats:
    """The median of each line, which then stands in its gaps."""
    gaps = np.isnan(block)
    gapped = gaps.any(axis=1)
    fill = np.zeros(len(block))
    whole = np.flatnonzero(~gapped)
    if weight is None and len(whole):
        fill[whole] = _medians(block[whole] if gapped.any() else block)
    for line in range(len(block)) if weight is not None else np.flatnonzero(gapped).tolist():
        known = ~gaps[line]
        fill[line] = weighted_median(block[line, known], None if weight is None else weight[known])
        block[line, gaps[line]] = fill[line]
    return fill


def _medians(lines: Floats) -> Floats:
    half = lines.shape[1] // 2
    ordered = np.partition(lines, half, axis=1)  # asking for two places at once takes four times as long
    upper = ordered[:, half] + 0.0  # 0 for -0
    return upper if lines.shape[1] % 2 else _between(ordered[:, :half].max(axis=1), upper)


def _between(low: Floats, high: Floats) -> Floats:
    middle: Floats = np.where(low == high, low, 0.5 * low + 0.5 * high)  # a sum first may leave float64
    return middle + 0.0


def weighted_median(values: Floats, weight: Floats | None) -> float:
    """The median of values without gaps, where a row of weight 2 counts as two rows; 0 of none.

    >>> weighted_median(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]))
    2.0
    """
    if not len(values):
        return 0.0
    if weight is None:
        return float(_medians(values[None, :])[0])
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order])
    half = total[-1] / 2
    last = len(values) - 1
    low = order[min(last, int(np.searchsorted(total, half, side="left")))]
    high = order[min(last, int(np.searchsorted(total, half, side="right")))]
    return float(_between(values[low], values[high]))


def moments(block: Floats, weight: Floats | None) -> tuple[Floats, Floats, Floats]:
    """Mean, standard deviation and largest absolute value of each line.

    Lines are first divided by a power of two near their largest value: squares neither overflow nor vanish.
    """
    low, high = block.min(axis=1), block.max(axis=1)
    largest = np.maximum(-low, high)
    power = _power(largest)
    scaled = block / power[:, None]
    if weight is None:
        mean = scaled.mean(axis=1)
        scaled -= mean[:, None]
        deviation = np.sqrt((scaled * scaled).mean(axis=1))
    else:
        share = weight / weight.sum()
        mean = (scaled * share).sum(axis=1)
        scaled -= mean[:, None]
        deviation = np.sqrt((scaled * scaled * share).sum(axis=1))
    constant = low == high  # a rounded mean would leave a deviation of a constant column
    return np.where(constant, low, mean * power), np.where(constant, 0.0, deviation * power), largest


def _power(largest: Floats) -> Floats:
    """A power of two so that largest / power is from 1 to 2; 1 for 0."""
    exponent = np.frexp(np.where(largest > 0, largest, 1.0))[1]
    power: Floats = np.ldexp(1.0, exponent - 1)
    return power


def _count_levels(
    found: Statistics,
    table: Table,
    layout: ColumnLayout,
    used: NDArray[np.intp] | None,
    weight: Floats | None,
) -> None:
    """The share of rows of each level tells everything about its 0/1 column."""
    for j in layout.categorical:
        column: Any = table.columns[j]
        indices = column.indices if used is None else column.indices[used]
        at = slice(int(layout.starts[j]), int(layout.starts[j + 1]))
        width = at.stop - at.start
        share = np.bincount(indices + np.int64(1), weights=weight, minlength=width + 1)[1:]
        share = share / (len(indices) if weight is None else weight.sum())
        found.mean[at] = share
        found.deviation[at] = np.sqrt(share * np.maximum(0.0, 1.0 - share))
        found.largest[at] = share > 0


# --------------------------------------------------------------------------- sparse


def sparse_statistics(
    matrix: sparse.csr_array, layout: ColumnLayout, weight: Floats | None, *, spread: bool, sizes: bool = True
) -> Statistics:
    """The statistics of a CSR matrix without duplicates, whose stored NaN are gaps.

    Without `spread` the mean is not asked for, and of the deviation only whether it is 0; without `sizes`
    nothing but what fills gaps.
    """
    layout.refuse_infinite_csr(matrix)
    total = float(matrix.shape[0]) if weight is None else float(weight.sum())
    entries = SparseEntries.of(matrix, weight)
    fill = _sparse_fill(matrix, entries, total, weight)
    fill[layout.is_level] = 0.0
    if not sizes:
        return Statistics(fill, *np.zeros((3, len(fill))))
    low, high, mean, deviation = entries.moments(fill, total, spread=spread)
    if not spread:
        deviation = (low < high).astype(np.float64)
    return Statistics(fill, mean, deviation, np.maximum(-low, high))


def _sparse_fill(
    matrix: sparse.csr_array, entries: SparseEntries, total: float, weight: Floats | None
) -> Floats:
    """The median of each column, zeros included: 0 unless half of what is known is stored."""
    stored, missing = entries.counts()
    fill = np.zeros(matrix.shape[1])
    columns = np.flatnonzero((stored > 0) & (2 * stored >= (total - missing) * (1 - 1e-9)))
    if not len(columns):
        return fill
    used, weight = _used(weight)
    few = matrix[:, columns].tocsc()
    for k, j in enumerate(columns.tolist()):
        at = slice(few.indptr[k], few.indptr[k + 1])
        values = np.zeros(few.shape[0])
        values[few.indices[at]] = few.data[at]
        values = values if used is None else values[used]
        known = ~np.isnan(values)
        fill[j] = weighted_median(values[known], None if weight is None else weight[known])
    return fill
