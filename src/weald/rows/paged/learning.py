"""The first read of a store: columns, levels and cuts, the same as memory finds in the whole table.

Cuts come from a sample of rows chosen by the hash of the row number. How many rows count in all is known only
at the end; the bound of the hash falls with their number, so that rows are taken by the bound so far, and let
go again as it falls: what stays is the sample of the whole.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats
from weald.data.blocks import ArrayBlock, SparseBlock
from weald.data.column_schema import ColumnSchema, Positions
from weald.data.fixed_point import EXACT_FLOAT, MOST_POWER
from weald.data.levels import level_key, plain_levels, sorted_positions
from weald.data.native import native_columns
from weald.data.rows import take_rows
from weald.data.schema import Schema
from weald.data.table import BlockColumns, Column, LevelColumn, NumericColumn, Table
from weald.engine import NativeCodes, blocks, native_values
from weald.engine.storage import pages as native
from weald.errors import DataError, infinite_value

_CATEGORY = "category"


@dataclass
class WeightSum:
    """What is to be known of all weights to turn some of them into whole units (fixed_point.weight_units)."""

    whole: bool = True
    total: float = 0.0
    n_present: int = 0
    n_rows: int = 0
    exponents: NDArray[np.int64] | None = None

    def add(self, weight: Floats | None, n_rows: int) -> None:
        """Add a block; None: all 1."""
        self.n_rows += n_rows
        if weight is None:
            self.n_present += n_rows
            return
        self.n_present += int(np.count_nonzero(weight))
        self.whole = self.whole and bool(np.all(weight == np.floor(weight)))
        with np.errstate(over="ignore"):
            self.total += float(weight.sum())
        counts = engine.count_exponents(weight)
        self.exponents = counts if self.exponents is None else self.exponents + counts

    def merge(self, other: WeightSum) -> None:
        """Add what another has added up."""
        self.n_rows += other.n_rows
        self.n_present += other.n_present
        self.whole = self.whole and other.whole
        with np.errstate(over="ignore"):
            self.total += other.total
        if other.exponents is not None:
            mine = self.exponents
            self.exponents = other.exponents if mine is None else mine + other.exponents

    def units(self, weight: Floats) -> NDArray[np.int64]:
        """The weights of some rows in the units that the whole table gives them."""
        if self.total < EXACT_FLOAT and self.whole:
            return weight.astype(np.int64)
        assert self.exponents is not None
        power = min(blocks.common_power(self.exponents), MOST_POWER)
        return np.maximum(engine.to_units(weight, power), (weight > 0).astype(np.int64))


@dataclass
class _Levels:
    """The levels of one column, in order of appearance."""

    ordered: bool
    levels: list[Any] = field(default_factory=list)
    used: list[bool] = field(default_factory=list)
    place: dict[Any, int] = field(default_factory=dict)

    def add(self, column: LevelColumn, used: NDArray[np.bool_] | None) -> None:
        indices = column.indices if used is None else column.indices[used]
        count = np.bincount(indices + np.int32(1), minlength=len(column.levels) + 1)[1:]
        for level, n in zip(plain_levels(column.levels), count.tolist(), strict=True):
            if not n and not self.ordered:
                continue
            key = level_key(level)
            at = self.place.setdefault(key, len(self.levels))
            if at == len(self.levels):
                self.levels.append(level)
                self.used.append(False)
            self.used[at] |= n > 0

    def merge(self, other: _Levels) -> None:
        for level, used in zip(other.levels, other.used, strict=True):
            at = self.place.setdefault(level_key(level), len(self.levels))
            if at == len(self.levels):
                self.levels.append(level)
                self.used.append(False)
            self.used[at] |= used

    def schema(self, name: Hashable) -> ColumnSchema:
        levels = plain_levels(self.levels)
        if self.ordered:
            return ColumnSchema(name, "ordinal", levels=levels)
        return ColumnSchema(name, "categorical", levels=tuple(levels[i] for i in sorted_positions(levels)))


@dataclass
class _Sample:
    """Rows of one block that are in the sample so far."""

    table: Table
    draws: NDArray[np.uint64]
    weight: Floats | None

    def below(self, bound: int) -> _Sample:
        kept = np.flatnonzero(self.draws < np.uint64(bound))
        if len(kept) == len(self.draws):
            return self
        weight = None if self.weight is None else self.weight[kept]
        return _Sample(take_rows(self.table, kept), self.draws[kept], weight)


class Learner:
    """Takes the blocks of a table, and tells its schema and codebook.

    Parameters
    ----------
    max_bins : int
        At most this many bins per numeric column.
    unknown : {"missing", "error"}
        Kept in the schema.
    weighted : bool
        Whether blocks have weights.
    """

    def __init__(self, max_bins: int, *, unknown: Literal["missing", "error"], weighted: bool) -> None:
        self._max_bins, self._unknown, self._weighted = max_bins, unknown, weighted
        self._first: Table | None = None
        self._levels: dict[int, _Levels] = {}
        self._samples: list[_Sample] = []
        self._n_sampled = 0
        self.weights = WeightSum()

    @property
    def n_rows(self) -> int:
        """Rows taken so far."""
        return self.weights.n_rows

    def add(self, first_row: int, table: Table, weight: Floats | None) -> None:
        """Take the next block."""
        _refuse_infinite(table, first_row)
        if self._first is None or table.n_columns > self._first.n_columns:
            self._first = take_rows(table, np.zeros(0, np.int64))
        self.weights.add(weight, table.n_rows)
        used = None if weight is None or (weight > 0).all() else weight > 0
        columns = table.columns
        some = columns.placed.items() if isinstance(columns, BlockColumns) else enumerate(columns)
        for j, column in some:
            if isinstance(column, LevelColumn):
                self._levels.setdefault(j, _Levels(column.ordered)).add(column, used)
        self._take_sample(first_row, table, weight, used)

    def _take_sample(
        self, first_row: int, table: Table, weight: Floats | None, used: NDArray[np.bool_] | None
    ) -> None:
        bound = native.sample_bound(self.weights.n_present)
        rows, draws = native.sampled_rows(first_row, table.n_rows, bound)
        if used is not None:
            kept = used[rows]
            rows, draws = rows[kept], draws[kept]
        part = (
            take_rows(_without_levels(table), rows)
            if len(rows) < table.n_rows
            else _own(_without_levels(table))
        )
        self._samples.append(_Sample(part, draws, None if weight is None else weight[rows]))
        self._n_sampled += len(rows)
        if self._n_sampled > 2 * native.SAMPLE_LIMIT:
            self._prune(bound)

    def copy(self) -> Learner:
        """The same, to be changed without changing this."""
        other = copy.copy(self)
        other.weights, other._samples = replace(self.weights), list(self._samples)
        other._levels = copy.deepcopy(self._levels)
        return other

    def merge(self, other: Learner) -> None:
        """Take what another has taken of the rows after these."""
        if other._first is not None and (
            self._first is None or other._first.n_columns > self._first.n_columns
        ):
            self._first = other._first
        self.weights.merge(other.weights)
        for j, levels in other._levels.items():
            self._levels.setdefault(j, _Levels(levels.ordered)).merge(levels)
        self._samples.extend(other._samples)
        self._n_sampled += other._n_sampled
        if self._n_sampled > native.SAMPLE_LIMIT:
            self._prune(native.sample_bound(self.weights.n_present))

    def _prune(self, bound: int) -> None:
        self._samples = [sample.below(bound) for sample in self._samples]
        self._n_sampled = sum(len(sample.draws) for sample in self._samples)

    def schema(self) -> Schema:
        """The columns, as `Schema.of` finds them in the whole table."""
        assert self._first is not None
        first = self._first
        found = {j: levels.schema(first.names[j]) for j, levels in self._levels.items()}
        if not isinstance(first.columns, BlockColumns):
            columns = tuple(
                found[j] if j in found else ColumnSchema(column.name, "numeric", _unit(column))
                for j, column in enumerate(first.columns)
            )
            return Schema(columns, first.named, self._unknown)
        for j, column in first.columns.placed.items():
            if j not in found:
                found[j] = ColumnSchema(column.name, "numeric", _unit(column))
        unit = first.columns.block.unit if len(found) < first.n_columns else "number"
        return Schema(Positions(first.n_columns, unit, found), first.named, self._unknown)

    def codebook(self, schema: Schema, n_threads: int) -> NativeCodes:
        """The codebook, as `encode` finds it in the whole table."""
        bound = native.sample_bound(self.weights.n_present)
        if bound != 2**64 - 1:
            self._prune(bound)
        sample = joined([each.table for each in self._samples])
        units = None
        if self._weighted:
            units = self.weights.units(np.concatenate([_weights(each) for each in self._samples]))
        self._samples = []
        codes = engine.encode(
            native_columns(sample),
            sample.n_rows,
            max_bins=self._max_bins,
            weights=units,
            n_threads=n_threads,
            all_rows=True,
        )
        columns = native.codebook_columns(codes)
        absent_missing = _absent_missing(sample)
        for j, column in enumerate(columns):
            if j in self._levels:
                known = schema.columns[j]
                kind = native.ORDINAL if known.kind == "ordinal" else native.CATEGORICAL
                columns[j] = native.CodebookColumn(kind, len(known.levels), np.zeros(0))
            elif column.sparse:
                default = 0 if absent_missing else int(np.searchsorted(column.marks, 0.0)) + 1
                columns[j] = column._replace(default_code=default)
        return native.make_codebook(columns)


def _weights(sample: _Sample) -> Floats:
    assert sample.weight is not None
    return sample.weight


def _unit(column: Column) -> Any:
    assert isinstance(column, NumericColumn)
    return column.unit


def _absent_missing(table: Table) -> bool:
    columns = table.columns
    block = columns.block if isinstance(columns, BlockColumns) else None
    return isinstance(block, SparseBlock) and block.absent_missing


def _without_levels(table: Table) -> Table:
    """The same table with one level in every column of levels: no cut depends on them."""

    def plain(column: Column) -> Column:
        if isinstance(column, NumericColumn):
            return replace(column, nanoseconds=None)
        return LevelColumn(column.name, np.zeros(table.n_rows, np.int32), (_CATEGORY,))

    columns = table.columns
    if not isinstance(columns, BlockColumns):
        return replace(table, columns=tuple(map(plain, columns)))
    placed = {j: plain(column) for j, column in columns.placed.items()}
    return replace(table, columns=BlockColumns(columns.block, placed, columns.names))


def _own(table: Table) -> Table:
    """The table in memory of its own: a view would keep the whole block that it came from."""
    return take_rows(table, np.arange(table.n_rows))


def joined(tables: Sequence[Table]) -> Table:
    """Tables of the same columns, one under the other."""
    first = tables[0]
    n_rows = sum(table.n_rows for table in tables)
    if not isinstance(first.columns, BlockColumns):
        columns = tuple(
            _joined_columns([table.columns[j] for table in tables]) for j in range(first.n_columns)
        )
        return Table(columns, n_rows, first.named)
    parts = [table.columns for table in tables if isinstance(table.columns, BlockColumns)]
    placed = {j: _joined_columns([part.placed[j] for part in parts]) for j in first.columns.placed}
    found: list[Any] = [part.block for part in parts]
    if isinstance(first.columns.block, ArrayBlock):
        block: Any = ArrayBlock(np.concatenate([each.array for each in found]))
    else:
        block = joined_sparse([each.compressed_by_rows() for each in found])
    return Table(BlockColumns(block, placed, first.columns.names), n_rows, first.named)


def joined_sparse(parts: Sequence[SparseBlock]) -> SparseBlock:
    """Matrices by rows, one under the other; as many columns as the widest has."""
    ends = np.cumsum([0, *(int(part.indptr[-1]) for part in parts)])
    starts = [part.indptr[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
    shape = (sum(part.shape[0] for part in parts), max(part.shape[1] for part in parts))
    return replace(
        parts[0],
        shape=shape,
        indptr=np.concatenate([*starts, ends[-1:]]).astype(np.int64),
        indices=np.concatenate([part.indices for part in parts]),
        data=np.concatenate([part.data for part in parts]),
    )


def _joined_columns(columns: Iterable[Column]) -> Column:
    parts = list(columns)
    first = parts[0]
    if isinstance(first, LevelColumn):
        return replace(first, indices=np.concatenate([part.indices for part in parts]))  # type: ignore[union-attr]
    numbers = [part for part in parts if isinstance(part, NumericColumn)]
    missing = None
    if any(part.missing is not None for part in numbers):
        missing = np.concatenate(
            [np.zeros(len(p.values), np.bool_) if p.missing is None else p.missing for p in numbers]
        )
    return replace(first, values=np.concatenate([p.values for p in numbers]), missing=missing)


def _refuse_infinite(table: Table, first_row: int) -> None:
    """Name the first infinite number of a block, by its row in the whole table."""
    columns = table.columns
    if isinstance(columns, BlockColumns) and isinstance(columns.block, SparseBlock):
        found = columns.block.first_infinite()
        if found is not None:
            raise infinite_value(table.names[found[0]], first_row + found[1], found[2])
        columns = list(columns.placed.values())
    floats = [c for c in columns if isinstance(c, NumericColumn) and c.values.dtype.kind == "f"]
    values = [native_values(c.values) for c in floats]
    at = engine.first_infinite(values, [c.missing for c in floats], table.n_rows)
    if at is not None:
        column, row = at
        raise infinite_value(floats[column].name, first_row + row, float(values[column][row]))


def read_block_weight(column: Column, name: str, first_row: int) -> Floats:
    """Weights of a block: finite numbers of at least 0."""
    if isinstance(column, LevelColumn) or column.unit not in ("number", "bool"):
        raise DataError(f"The weights in column {name!r} must be numbers.")
    weight = np.ascontiguousarray(column.values, np.float64)
    if column.missing is not None:
        weight = np.where(column.missing, np.nan, weight)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        what = "no weight" if np.isnan(weight[row]) else f"the weight {weight[row]:g}"
        raise DataError(
            f"Row {first_row + row} has {what} in column {name!r}. Weights must be finite and at least 0."
        )
    return weight
