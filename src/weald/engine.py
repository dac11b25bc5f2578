"""The only importer of the compiled core: typed calls, thread count, array checks."""

from __future__ import annotations

import atexit
import functools
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.data.blocks import SparseBlock
from weald.data.table import BlockColumns, Column, NumericColumn, Table
from weald.errors import ParameterError, infinite_value

# --- Arrow streams ----------------------------------------------------------------------------------------


class ArrowColumn(NamedTuple):
    """One column as the core read it.

    `values` are numbers, or int32 positions (-1 missing) in `levels` (unit "text") or in the values of
    `dictionary` (unit "dictionary"). `missing` marks null rows of numbers; None: no nulls. A column of unit
    "unsupported" has no values, and `type` says what it was.
    """

    name: str
    type: str
    unit: Literal["number", "bool", "datetime", "instant", "duration", "text", "dictionary", "unsupported"]
    values: NDArray[Any]
    missing: NDArray[np.bool_] | None
    levels: list[str] | None
    dictionary: ArrowColumn | None
    ordered: bool


class ArrowTable(NamedTuple):
    """Every column of an Arrow stream; `is_table` is False when the stream was one bare column."""

    columns: list[ArrowColumn]
    n_rows: int
    is_table: bool


def read_arrow_stream(capsule: object) -> ArrowTable:
    """Read an "arrow_array_stream" capsule to its end."""
    return _arrow_table(*_core.read_arrow_stream(capsule))


def read_arrow_array(schema: object, array: object) -> ArrowTable:
    """Read an "arrow_schema" and an "arrow_array" capsule."""
    return _arrow_table(*_core.read_arrow_array(schema, array))


def _arrow_table(columns: list[tuple[Any, ...]], n_rows: int, is_table: bool) -> ArrowTable:
    return ArrowTable([_arrow_column(column) for column in columns], n_rows, is_table)


def _arrow_column(fields: tuple[Any, ...]) -> ArrowColumn:
    column = ArrowColumn(*fields)
    if column.dictionary is None:
        return column
    return column._replace(dictionary=_arrow_column(tuple(column.dictionary)))


# --- Threads and instruction sets ---------------------------------------------------------------------------


MOST_THREADS = 256


def thread_count(n_jobs: int | None) -> int:
    """Threads for `n_jobs`: None or -1 means every processor this process may use, -2 all but one, and so on.

    With None, OMP_NUM_THREADS is an upper bound: joblib sets it in its workers, so that processes share the
    machine.
    """
    if n_jobs is not None and n_jobs > 0:
        return min(n_jobs, MOST_THREADS)
    if n_jobs == 0:
        raise ParameterError(
            "`n_jobs` must be a whole number other than 0, or None; got 0. Use 1 for one thread."
        )
    available = _available_processors()
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        return min(available, int(limit)) if limit.isdecimal() and int(limit) > 0 else available
    return max(1, available + 1 + n_jobs)


def _available_processors() -> int:
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(affinity, _cgroup_processors() or affinity))


@functools.cache
def _cgroup_processors() -> int | None:
    """The processors the container grants, rounded up; None where there is no limit."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()[:2]
        return None if quota == "max" else math.ceil(int(quota) / int(period))
    except (OSError, ValueError):
        return None


def _choose_simd() -> None:
    """WEALD_SIMD=baseline|avx2|avx512 caps the instruction set; unset means the best. Same bits."""
    wanted = os.environ.get("WEALD_SIMD", "")
    if wanted not in ("", "baseline", "avx2", "avx512"):
        raise ParameterError(
            f"The environment variable WEALD_SIMD must be baseline, avx2 or avx512; got {wanted!r}."
        )
    _core.set_simd(wanted != "baseline")


_choose_simd()
atexit.register(_core.begin_exit)


def simd_level() -> str:
    """The instruction set in use: "baseline" or "avx2"."""
    return _core.simd_level()


# --- Columns, codes -----------------------------------------------------------------------------------------

NativeCodes: TypeAlias = _core.Codes
LOWEST_EXPONENT: int = _core.LOWEST_EXPONENT
_EXACT, _BINNED, _ORDINAL, _CATEGORICAL = range(4)
_NO_WEIGHTS = np.zeros(0, np.int64)


def _native_values(values: NDArray[Any]) -> NDArray[Any]:
    """A column in a layout the core reads: converted only if in a foreign byte order, unaligned or exotic."""
    if values.dtype == np.float16:
        return values.astype(np.float32)
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        return values.astype(np.float64)
    if not (values.dtype.isnative and values.flags.aligned):
        return values.astype(values.dtype.newbyteorder("="))
    return values


@contextmanager
def _naming_infinite(table: Table) -> Iterator[None]:
    """Name the first infinite value, by column and row, when the core has met one."""
    try:
        yield
    except _core.InfiniteValue:
        block = table.columns.block if isinstance(table.columns, BlockColumns) else None
        if isinstance(block, SparseBlock) and (at := block.first_infinite()) is not None:
            raise infinite_value(table.names[at[0]], *at[1:]) from None
        floats = [c for c in table.columns if isinstance(c, NumericColumn) and c.values.dtype.kind == "f"]
        values = [_native_values(c.values) for c in floats]
        found = _core.first_infinite(values, [c.missing for c in floats], table.n_rows)
        column, row = cast(tuple[int, int], found)
        raise infinite_value(floats[column].name, row, float(values[column][row])) from None


def encode(
    table: Table, *, max_bins: int | None, weights: NDArray[np.int64] | None, n_threads: int
) -> NativeCodes:
    """Codes of every column; `max_bins` None is exact."""
    numeric = _EXACT if max_bins is None else _BINNED
    rest = (_NO_WEIGHTS if weights is None else weights, max_bins or 0, n_threads)
    columns = table.columns
    with _naming_infinite(table):
        if not isinstance(columns, BlockColumns):
            sources = [_encode_column(column, numeric) for column in columns]
            return _core.encode(sources, table.n_rows, *rest)
        placed = [(j, *_encode_column(column, numeric)) for j, column in columns.placed.items()]
        if isinstance(columns.block, SparseBlock):
            return _core.encode_sparse(columns.block.parts, numeric, placed, *rest)
        return _core.encode_array(columns.block.array, numeric, placed, table.n_rows, *rest)


def _encode_column(column: Column, numeric: int) -> tuple[Any, ...]:
    if isinstance(column, NumericColumn):
        return _native_values(column.values), column.missing, numeric, 0
    return column.indices, None, _ORDINAL if column.ordered else _CATEGORICAL, len(column.levels)


def count_exponents(values: NDArray[np.float64], times: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """How many values have each binary exponent, from LOWEST_EXPONENT up; zeros are not counted.

    A value counts `times` times, once if that is not given.
    """
    return _core.count_exponents(
        np.ascontiguousarray(values, np.float64), _NO_WEIGHTS if times is None else times
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


# --- Growing ------------------------------------------------------------------------------------------------

NativeOptions: TypeAlias = _core.GrowOptions
TreeArrays: TypeAlias = dict[str, NDArray[Any]]


def grow_class_tree(
    codes: NativeCodes,
    lane: NDArray[np.int32],
    output_start: list[int],
    weights: NDArray[np.int64] | None,
    weight_power: int,
    criterion: int,
    options: NativeOptions,
    n_threads: int,
) -> TreeArrays:
    """One tree on classes; see core/tree/grow_tree.h."""
    units = _NO_WEIGHTS if weights is None else weights
    return _core.grow_class_tree(
        codes, lane, output_start, units, weight_power, criterion, options, n_threads
    )


def grow_moment_tree(
    codes: NativeCodes,
    lanes: NDArray[np.int64],
    squares: NDArray[np.int64],
    targets: NDArray[np.float64],
    sum_powers: list[int],
    weight_power: int,
    square_power: int,
    criterion: int,
    options: NativeOptions,
    n_threads: int,
) -> TreeArrays:
    """One tree on squared error or Poisson deviance; see core/tree/grow_tree.h."""
    return _core.grow_moment_tree(
        codes, lanes, squares, targets, sum_powers, weight_power, square_power, criterion, options, n_threads
    )


def grow_absolute_tree(
    codes: NativeCodes,
    values: NDArray[np.int64],
    weights: NDArray[np.int64],
    targets: NDArray[np.float64],
    value_power: int,
    weight_power: int,
    wide: bool,
    options: NativeOptions,
    n_threads: int,
) -> TreeArrays:
    """One tree on absolute error; see core/tree/grow_tree.h."""
    return _core.grow_absolute_tree(
        codes, values, weights, targets, value_power, weight_power, wide, options, n_threads
    )


def grow_newton_tree(
    codes: NativeCodes, pairs: NDArray[np.int64], lambda_: float, options: NativeOptions, n_threads: int
) -> TreeArrays:
    """One tree on gradient and hessian sums; see core/tree/grow_tree.h."""
    return _core.grow_newton_tree(codes, pairs, lambda_, options, n_threads)


def grow_narrow_tree(
    codes: NativeCodes, packed: NDArray[np.uint32], lambda_: float, options: NativeOptions, n_threads: int
) -> TreeArrays:
    """The same from 16-bit gradients and hessians (`to_narrow`), by packed histograms."""
    return _core.grow_narrow_tree(codes, packed, lambda_, options, n_threads)


# --- Pruning ------------------------------------------------------------------------------------------------


class PruneSequence(NamedTuple):
    """The cuts that weakest-link pruning makes, in order; alphas in the unit of the gains."""

    node: NDArray[np.int32]  # what becomes a leaf
    alpha: NDArray[np.float64]
    gain: NDArray[np.float64]  # what the cut gives up
    splits: NDArray[np.int32]  # how many inner nodes it removes
    collapse: NDArray[np.float64]  # per node: from which alpha on it splits no more


def prune_sequence(
    slot: NDArray[np.int32], right: NDArray[np.int32], gain: NDArray[np.float64]
) -> PruneSequence:
    """The weakest-link sequence of one tree; see core/tree/prune.h."""
    return PruneSequence(**_core.prune_sequence(slot, right, gain))


class HeldOutRows(NamedTuple):
    """A pruned tree and the rows it is judged by."""

    slot: NDArray[np.int32]
    right: NDArray[np.int32]
    collapse: NDArray[np.float64]
    alphas: NDArray[np.float64]  # ascending
    leaf: NDArray[np.int32]  # per row, in the unpruned tree
    weight: NDArray[np.float64]  # per row


def held_out_class_losses(
    rows: HeldOutRows, lane: NDArray[np.int32], table: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Losses at each alpha: the sum of weight * table[node, lane] over rows and outputs."""
    return _core.held_out_class_losses(*rows, lane, np.ascontiguousarray(table))


def held_out_number_losses(
    rows: HeldOutRows,
    target: NDArray[np.float64],
    value: NDArray[np.float64],
    loss: Literal["squared", "absolute", "poisson"],
    floor: float,
) -> NDArray[np.float64]:
    """Losses at each alpha: the sum of weight * loss(target, value of the node) over rows and outputs."""
    which = ("squared", "absolute", "poisson").index(loss)
    return _core.held_out_number_losses(*rows, target, np.ascontiguousarray(value), which, floor)


# --- Prediction ---------------------------------------------------------------------------------------------


class Predictor:
    """A forest laid out for walking."""

    def __init__(self, arrays: dict[str, NDArray[Any]], n_columns: int, width: int) -> None:
        kept = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        for name in ("missing_left", "set_left"):
            kept[name] = kept[name].view(np.uint8)
        self._native = _core.make_predictor(kept, n_columns, width)

    def scores(self, table: Table, *, n_threads: int) -> NDArray[np.float64]:
        """Raw scores: (n_rows, n_outputs)."""
        with _naming_infinite(table):
            return self._native.scores(_predict_table(table), table.n_rows, n_threads)

    def leaves(self, table: Table, *, n_threads: int) -> NDArray[np.int32]:
        """Leaf node ids: (n_rows, n_trees)."""
        with _naming_infinite(table):
            return self._native.leaves(_predict_table(table), table.n_rows, n_threads)


def _predict_table(table: Table) -> list[tuple[Any, ...]] | tuple[Any, list[tuple[Any, ...]]]:
    columns = table.columns
    if not isinstance(columns, BlockColumns):
        return [_predict_column(column) for column in columns]
    block = columns.block
    values = block.compressed_by_rows().parts if isinstance(block, SparseBlock) else block.array
    return values, [(j, *_predict_column(column)) for j, column in columns.placed.items()]


def _predict_column(column: Column) -> tuple[Any, ...]:
    if isinstance(column, NumericColumn):
        return _native_values(column.values), column.missing, False
    return column.indices, None, True
