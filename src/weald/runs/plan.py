"""`plan`: what a fit would need, before it is begun: memory, disk, passes over the rows, and time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cache
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from weald import engine
from weald.arrays import TableLike
from weald.data.adapters import to_table
from weald.data.blocks import SparseBlock
from weald.data.scanning.scan import Scan, is_path, scan
from weald.data.table import BlockColumns, Table
from weald.engine import blocks, thread_count
from weald.errors import DataTypeError, ParameterError, told
from weald.estimators.xgboost.plan import DEFAULT_BINS
from weald.rows.paged.disk import disk_rate
from weald.rows.paged.scans import is_place, page_rows_of
from weald.rows.paged.store import Store, open_store

if TYPE_CHECKING:
    from weald.data.scanning.parts import Part

#: bytes per row that pages leave in memory: score 8, target 8, node 2, gradients of 16 bits 4
ROW_BYTES = 22
#: more with tree_method="approx": gradients and hessians, and what rows weigh
APPROX_ROW_BYTES = 24
#: the same of trees and forests, where the target is kept as it is added up; and of each tree that grows
STATISTIC_ROW_BYTES, TREE_ROW_BYTES = 40, 5
#: trees of a forest that share a pass, and the share of memory that their branches may take
TOGETHER, BRANCH_SHARE = 16, 1 / 16
#: bytes a row beside codes in memory: target, score, gradient, place
MEMORY_ROW_BYTES = 32
#: bytes of one cell of a histogram
CELL_BYTES = 24
#: a table whose codes exceed this share of memory is better in pages
SHARE = 0.25
_SAMPLE = 1 << 20


class Estimator(Protocol):
    """Anything with scikit-learn's parameters."""

    def get_params(self, deep: bool = ...) -> dict[str, Any]:
        """Parameters by name."""


@dataclass(frozen=True, slots=True)
class FitPlan:
    """What a fit would need. Times are estimates from rates measured on this machine.

    Attributes
    ----------
    n_rows, n_columns : int
        The size of the table; rows of text files are estimated from their first megabyte.
    store : {"memory", "pages"}
        Where the coded rows would be.
    bytes_in_memory, bytes_on_disk : int
        At the peak; on disk until the fit has ended, or for good in a folder that was named.
    passes : int
        How often all rows would be gone through, reading and coding included.
    seconds : float
        About so long.
    notes : list of str
        What else is worth knowing beforehand.
    """

    estimator: str
    n_rows: int
    n_columns: int
    store: Literal["memory", "pages"]
    bytes_in_memory: int
    bytes_on_disk: int
    passes: int
    seconds: float
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """A line for each."""
        room = size_in_words(engine.memory_bytes())
        lines = [
            f"{self.estimator} on {self.n_rows:,} rows × {self.n_columns:,} columns",
            f"rows      in {self.store}",
            f"memory    about {size_in_words(self.bytes_in_memory)} of {room}",
            f"disk      about {size_in_words(self.bytes_on_disk)}",
            f"passes    {self.passes:,}",
            f"time      about {_span(self.seconds)}",
        ]
        return "\n".join([*lines, *(f"note      {note}" for note in self.notes)])


@dataclass(frozen=True, slots=True)
class _Size:
    """What is to be known of the rows."""

    n_rows: int
    n_columns: int
    row_cells: float  # codes that a row adds to a histogram
    given_bytes: int  # what reading all of it takes in memory; 0 if it is there already
    read_bytes: int  # of the files


def plan(estimator: Estimator, data: TableLike | Scan | Store | str | Path) -> FitPlan:
    """Tell what `estimator.fit(data, …)` would need, without fitting.

    Parameters
    ----------
    estimator : estimator
        With its parameters; it need not be fitted.
    data : table, Scan, Store, str or Path
        What `fit` would be given.

    Returns
    -------
    FitPlan
        Printable.

    Examples
    --------
    >>> import numpy as np
    >>> from weald import XGBRegressor, plan
    >>> told = plan(XGBRegressor(n_estimators=10, max_depth=4, tree_method="hist"), np.zeros((70_000, 5)))
    >>> told.store, told.passes
    ('memory', 41)
    """
    if is_place(data):
        data = open_store(data)  # type: ignore[arg-type]
    elif is_path(data):
        data = scan(data)
    params = _params(estimator)
    bins = params.get("max_bin") or params.get("max_bins") or 255
    approx = params.get("tree_method") == "approx"
    if approx:
        bins = params.get("max_bin") or DEFAULT_BINS["approx"]
    width = 1 if bins <= 255 and not approx else 2
    size = _size_of(data)
    code_bytes = int(size.n_rows * size.row_cells * width)
    trees, passes = _passes(params)
    notes = _notes(data, code_bytes, size, params)
    cells = size.n_columns * (bins + 1) * CELL_BYTES * 2 ** min(_depth(params), 8)
    n_threads = thread_count(params.get("n_jobs"))
    compute = size.n_rows * size.row_cells * trees * _depth(params) / (_cell_rate() * n_threads)
    from_files = bool(getattr(estimator, "_trains_from_files", False))
    if not from_files and isinstance(data, Scan | Store):
        notes.append(f"{type(estimator).__name__} learns from tables in memory: read the files by weald.read")
    if not from_files or not isinstance(data, Scan | Store):
        memory = code_bytes + size.n_rows * MEMORY_ROW_BYTES + cells
        return _told(estimator, size, "memory", memory, 0, passes + 1, compute, notes)
    page_rows = page_rows_of(data) if isinstance(data, Scan) else data.page_rows
    page = int(page_rows * size.row_cells * width)
    built = isinstance(data, Store)
    disk = data.n_bytes if isinstance(data, Store) else code_bytes + 9 * size.n_rows
    read = 0.0 if built else 2 * size.read_bytes / 150e6 + disk / _rate(data)
    seconds = read + max(compute, passes * disk / _rate(data))
    while_coding = 0 if built else page_rows * size.n_columns * 24
    row_bytes = _row_bytes(params)
    memory = row_bytes * size.n_rows + cells + max(5 * page, while_coding)
    if "max_bins" in params:
        memory += int(min(2 * code_bytes, BRANCH_SHARE * engine.memory_bytes()))
    if memory > engine.memory_bytes():
        notes.append(
            f"this does not fit: {row_bytes} bytes a row stay in memory, "
            f"{size_in_words(row_bytes * size.n_rows)} of {size_in_words(engine.memory_bytes())}"
        )
    return _told(estimator, size, "pages", memory, disk, passes + (0 if built else 2), seconds, notes)


def _told(
    estimator: object,
    size: _Size,
    store: Literal["memory", "pages"],
    memory: int,
    disk: int,
    passes: int,
    seconds: float,
    notes: list[str],
) -> FitPlan:
    name = type(estimator).__name__
    return FitPlan(name, size.n_rows, size.n_columns, store, int(memory), int(disk), passes, seconds, notes)


#: parameters that say how much is to be done
_COUNTS = (
    "max_bin",
    "max_bins",
    "max_depth",
    "max_leaves",
    "max_leaf_nodes",
    "n_estimators",
    "num_parallel_tree",
)


def _params(estimator: object) -> dict[str, Any]:
    """The parameters of an estimator."""
    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        raise DataTypeError(
            f"plan asks an estimator, such as XGBClassifier(n_estimators=200); got {told(estimator)}."
        )
    params: dict[str, Any] = estimator.get_params(deep=False)
    for name in _COUNTS:
        value = params.get(name)
        if value is not None and not (isinstance(value, Integral) and int(value) >= 0):
            raise ParameterError(
                f"`{name}` of {type(estimator).__name__} must be None or a whole number; got {told(value)}."
            )
    return params


def _depth(params: dict[str, Any]) -> int:
    """Levels of a tree."""
    asked = params.get("max_depth")
    if not asked:
        leaves = params.get("max_leaves") or params.get("max_leaf_nodes")
        return (
            6
            if asked is None and "max_bin" in params
            else max(int(np.ceil(np.log2(leaves))), 1)
            if leaves
            else 12
        )
    return int(asked)


def _passes(params: dict[str, Any]) -> tuple[int, int]:
    """Trees, and passes over the codes to grow them: one a level."""
    trees = int(params.get("n_estimators") or (100 if "n_estimators" in params else 1))
    trees *= int(params.get("num_parallel_tree") or 1)
    shared = -(-trees // TOGETHER) if "bootstrap" in params and "max_bins" in params else trees
    coding = params.get("tree_method") == "approx"  # the candidates of a tree take a pass of their own
    return trees, shared * (_depth(params) + coding)


def _row_bytes(params: dict[str, Any]) -> int:
    """Bytes of a row that pages leave in memory."""
    if "max_bins" not in params:
        return ROW_BYTES + (APPROX_ROW_BYTES if params.get("tree_method") == "approx" else 0)
    trees = int(params.get("n_estimators") or 1)
    return STATISTIC_ROW_BYTES + TREE_ROW_BYTES * min(trees, TOGETHER)


def _notes(data: object, code_bytes: int, size: _Size, params: dict[str, Any]) -> list[str]:
    notes = []
    room = engine.memory_bytes()
    if isinstance(data, Scan):
        largest = data.largest_row_group()
        if largest > data.memory:
            notes.append(
                f"one row group is {size_in_words(largest)}, more than the {size_in_words(data.memory)} that "
                "reading may take: it is decoded in parts. Write files with smaller row groups to read faster"
            )
        if params.get("tree_method") == "exact":
            notes.append("tree_method='exact' is for memory alone: set tree_method='hist'")
        if "max_bins" in params and params["max_bins"] is None:
            notes.append("max_bins=None is for memory alone: set max_bins=255")
        if data.n_rows is None:
            notes.append("the number of rows is estimated from the beginning of the files")
        if code_bytes < SHARE * room:
            notes.append(
                f"its codes, {size_in_words(code_bytes)}, would fit into memory: weald.read reads it whole"
            )
    elif not isinstance(data, Store) and code_bytes > SHARE * room:
        notes.append("the codes take more than a quarter of memory: weald.scan keeps them on disk")
    return notes


# --------------------------------------------------------------------------- sizes


def _size_of(data: Any) -> _Size:
    if isinstance(data, Store):
        sparse = sum(data.codebook.is_sparse(j) for j in range(data.n_columns))
        cells = data.code_bytes / max(data.n_rows, 1) if sparse else float(data.n_columns)
        return _Size(data.n_rows, data.n_columns, cells, 0, 0)
    if isinstance(data, Scan):
        return _size_of_scan(data)
    table = to_table(data)
    return _Size(table.n_rows, table.n_columns, _row_cells(table), 0, 0)


def _row_cells(table: Table) -> float:
    columns = table.columns
    if isinstance(columns, BlockColumns) and isinstance(columns.block, SparseBlock):
        return len(columns.block.data) / max(table.n_rows, 1) + len(columns.placed)
    return float(table.n_columns)


def coded_bytes(found: Scan, max_bins: object = None) -> int:
    """Bytes of the codes of a scan in memory; of text files about."""
    size = _size_of_scan(found)
    width = 2 if isinstance(max_bins, int) and max_bins > 255 else 1
    return int(size.n_rows * size.row_cells * width)


def _size_of_scan(found: Scan) -> _Size:
    n_rows = sum(_rows_of(part) for part in found.parts)
    n_bytes = sum(_file_bytes(part) for part in found.parts)
    if found.sparse:
        cells = max(n_bytes / max(n_rows, 1) / 8, 1.0)  # of text as "12345:0.5"
        return _Size(n_rows, int(cells), cells, 0, n_bytes)
    return _Size(n_rows, len(found.columns), float(len(found.columns)), 0, n_bytes)


def _rows_of(part: Part) -> int:
    """How many rows; of text about."""
    if part.n_rows is not None:
        return part.n_rows
    path = getattr(part, "path", None)
    if path is None:
        return sum(table.num_rows for table in part.tables(None))
    with open(path, "rb") as file:
        head = file.read(_SAMPLE)
    lines = head.count(b"\n")
    if path.suffix.lower() in (".gz", ".zst", ".bz2") or not lines or b"\0" in head:
        return sum(table.num_rows for table in part.tables(None))
    return max(int(lines / len(head) * _file_bytes(part)) - 1, 1)  # the first names the columns


def _file_bytes(part: Part) -> int:
    path: Path | None = getattr(part, "path", None)
    return 0 if path is None else path.stat().st_size


def _rate(data: Any) -> float:
    """Bytes a second of the disk that has the pages, or will have them."""
    import tempfile

    folder = data.folder or Path(tempfile.gettempdir())
    while not folder.exists():
        folder = folder.parent
    return disk_rate(folder)


@cache
def _cell_rate() -> float:
    """Codes a second that one thread adds to a histogram."""
    n, n_columns = 1 << 16, 8
    X = np.random.default_rng(0).random((n, n_columns), np.float32)
    codes = engine.encode(engine.NativeColumns({}, X), n, max_bins=255, weights=None, n_threads=1)
    none = np.zeros(0, np.int32)
    level = blocks.Level(
        np.full(1, -1, np.int32),
        np.zeros(1, np.int32),
        none,
        np.zeros(0, np.uint8),
        np.zeros(0, np.uint8),
        np.zeros(0, np.uint32),
        np.zeros(1, np.int64),
        np.zeros(0, np.uint32),
        np.zeros(0, np.uint8),
        none,
        none,
    )
    cells = np.zeros(int(blocks.cell_starts(codes)[-1]), np.int64)
    pairs, node = np.ones((n, 2), np.int64), np.zeros(n, np.int32)
    begun = time.perf_counter()
    blocks.visit_block(codes, level, pairs, node, cells, n_threads=1)
    return n * n_columns / max(time.perf_counter() - begun, 1e-6)


def size_in_words(n_bytes: float) -> str:
    """Bytes for people.

    >>> size_in_words(2_500_000)
    '2.5 MB'
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} TB"


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 0.1):.2g} s"
    return f"{seconds / 60:.2g} min" if seconds < 5400 else f"{seconds / 3600:.2g} h"
