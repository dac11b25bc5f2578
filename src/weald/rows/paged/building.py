"""Building a store: one read to learn the codebook, one to code the rows into pages."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from weald.arrays import ColumnLike, Floats, TableLike
from weald.data.adapters import column_of, to_table
from weald.data.native import native_columns
from weald.data.scanning.parts import Widened
from weald.data.schema import Schema
from weald.data.table import Table
from weald.engine import NativeCodes, blocks, thread_count
from weald.engine.storage import pages as native
from weald.errors import DataError, ParameterError
from weald.progress import Progress
from weald.rows.paged.extras import Extra
from weald.rows.paged.learning import Learner, read_block_weight
from weald.rows.paged.manifest import Manifest, schema_record
from weald.rows.paged.places import Places
from weald.rows.paged.source import Source, SourceRows, TableSource
from weald.rows.paged.store import Store
from weald.rows.paged.writing import PageWriter

LEAST_ROWS = 65_536
PAGE_ROWS = 262_144
COMPRESS = ("auto", "none", "packed", "zstd")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How a store is made.

    Attributes
    ----------
    max_bins : int
        Bins per numeric column; a codebook of more than 65,535 codes is for memory alone.
    weight : str, optional
        The kept column whose values weigh the cuts; rows of weight 0 shape nothing.
    unknown : {"missing", "error"}
        As the estimator has it.
    page_rows : int
        A multiple of 65,536.
    compress : {"auto", "none", "packed", "zstd"}
        How columns are kept: as they are, in as many bits as they need, or by zstd where that is smaller.
    folder : Path, optional
        Where to build; None for a temporary store.
    disks : sequence of Path
        Folders on several disks, over which pages are dealt out; empty for the folder itself.
    n_threads : int
        What comes out does not depend on it.
    settings : dict
        More that the store depends on, for its key.
    schema : Schema, optional
        The columns of a model to go on from, to which the source aligns its rows; by default they are learnt.
    """

    max_bins: int = 255
    weight: str | None = None
    unknown: Literal["missing", "error"] = "missing"
    page_rows: int = PAGE_ROWS
    compress: str = "auto"
    folder: Path | None = None
    disks: Sequence[Path] = ()
    n_threads: int = 1
    settings: Mapping[str, Any] | None = None
    schema: Schema | None = None
    verbose: bool = False

    def check(self) -> None:
        """Raise ParameterError for what no store can be."""
        if self.page_rows < LEAST_ROWS or self.page_rows % LEAST_ROWS:
            raise ParameterError(f"page_rows must be a multiple of {LEAST_ROWS:,}; got {self.page_rows!r}.")
        if self.compress not in COMPRESS:
            raise ParameterError(f"compress must be one of {', '.join(COMPRESS)}; got {self.compress!r}.")
        if not 2 <= self.max_bins <= 65_535:
            raise ParameterError(
                f"Rows on disk have at most 65,535 bins a column; got max_bins={self.max_bins!r}. Set "
                "max_bins (max_bin of XGB*), or train in memory."
            )

    def described(self) -> dict[str, Any]:
        """What codes depend on."""
        own = {"max_bins": self.max_bins, "weight": self.weight, "unknown": self.unknown}
        return own | dict(self.settings or {})


@dataclass
class _Learned:
    schema: Schema
    codebook: NativeCodes
    n_rows: int
    extras: list[Extra]


def build(source: Source, options: BuildOptions, *, like: Store | None = None) -> Store:
    """Make a store, go on with one that was begun, or open the finished one of the same data and settings.

    With `like`, the codebook and the columns are those of that store, and nothing is learnt.
    """
    options.check()
    plain = _key(source, options)
    key = plain if options.schema is None else _key_for(plain, options.schema)
    with Places(options.folder, options.disks) as places:
        found = places.finished(key, plain, options.schema)
        if found is not None:
            return found
        learned = _learn(source, options, like)
        manifest, writer = _write(source, options, learned, key, places)
        return places.keep(manifest, writer)


def _key(source: Source, options: BuildOptions) -> str:
    parts = [
        source.key(),
        options.described(),
        options.page_rows,
        options.compress,
        list(map(str, options.disks)),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def _key_for(plain: str, schema: Schema) -> str:
    """The key of a store whose columns are those of a model."""
    record = json.dumps(schema_record(schema), sort_keys=True)
    return hashlib.sha256(f"{plain} {record}".encode()).hexdigest()


def _learn(source: Source, options: BuildOptions, like: Store | None) -> _Learned:
    """The first read, from the beginning until the types of all columns are known."""
    while True:
        try:
            return _learn_once(source, options, like)
        except Widened:
            continue


def _learn_once(source: Source, options: BuildOptions, like: Store | None) -> _Learned:
    learner = Learner(options.max_bins, unknown=options.unknown, weighted=options.weight is not None)
    extras: dict[str, Extra] = {}
    heavy = False
    for rows in ahead(source.rows(options.page_rows)):
        for name, column in rows.extras.items():
            extras.setdefault(name, Extra(name)).read(column)
        weight = _block_weight(rows, options)
        heavy = heavy or weight is None or bool(weight.any())
        learner.add(rows.first_row, rows.table, weight)
    if learner.n_rows == 0:
        raise DataError("The data has no rows: at least one is needed.")
    if not heavy:
        raise DataError(
            f"Column {options.weight!r} is 0 in every row. At least one row needs a positive weight."
        )
    if like is not None:
        return _Learned(like.schema, like.codebook, learner.n_rows, list(extras.values()))
    schema = learner.schema() if options.schema is None else options.schema
    codebook = learner.codebook(schema, options.n_threads)
    return _Learned(schema, codebook, learner.n_rows, list(extras.values()))


def _block_weight(rows: SourceRows, options: BuildOptions) -> Floats | None:
    if options.weight is None:
        return None
    return read_block_weight(rows.extras[options.weight], options.weight, rows.first_row)


class _Tally:
    """What pages tell of columns on the way: whether some row is missing, and the entries of sparse ones."""

    def __init__(self, columns: Sequence[native.CodebookColumn]) -> None:
        self._sparse = [j for j, column in enumerate(columns) if column.sparse]
        self.missing = np.zeros(len(columns), np.bool_)
        self.entries = np.zeros(len(columns), np.int64)

    def of(self, block: NativeCodes) -> dict[str, list[int]]:
        """What one page tells, as its line in the log has it."""
        missing = [j for j in range(block.n_columns) if block.has_missing(j)]
        return {"missing": missing, "entries": [block.n_entries(j) for j in self._sparse]}

    def add(self, note: Mapping[str, list[int]]) -> None:
        """Take what one page told."""
        self.missing[note["missing"]] = True
        self.entries[self._sparse] += np.array(note["entries"], np.int64)


def _write(
    source: Source, options: BuildOptions, learned: _Learned, key: str, places: Places
) -> tuple[Manifest, PageWriter]:
    """The second read."""
    identity = int(key[:16], 16)
    columns = native.codebook_columns(learned.codebook)
    places.check_room(_least_bytes(learned.codebook, learned.n_rows))
    compress = places.compress(options.compress)
    writer = places.open([extra.name for extra in learned.extras], store=identity, compress=compress)
    tally = _Tally(columns)
    for note in writer.resume(learned.codebook, options.page_rows, key) if places.folder else ():
        tally.add(note)
    n_rows = _write_pages(source, options, learned, writer, tally)
    source.check()
    if n_rows != learned.n_rows:
        raise DataError(
            f"The data had {learned.n_rows:,} rows at the first read and {n_rows:,} at the second."
        )
    manifest = Manifest(
        id=identity,
        key=key,
        n_rows=n_rows,
        page_rows=options.page_rows,
        compress=compress,
        schema=learned.schema,
        settings=options.described(),
        codebook=_settled(columns, tally.entries, n_rows),
        extras=learned.extras,
        disks=places.names,
        codes=writer.codes,
        extra_pages=writer.extras,
        has_missing=tally.missing.tolist(),
    )
    return manifest, writer


def _write_pages(
    source: Source, options: BuildOptions, learned: _Learned, writer: PageWriter, tally: _Tally
) -> int:
    """Code the rows into the pages that are not there yet, each written while the next is coded."""
    n_rows, begun = 0, writer.n_written
    bar = Progress(-(-learned.n_rows // options.page_rows), word="page") if options.verbose else None
    with bar or nullcontext(), ThreadPoolExecutor(1, "weald-pages") as pool:
        waiting = None
        for number, rows in enumerate(ahead(source.rows(options.page_rows))):
            n_rows += rows.table.n_rows
            values = {extra.name: extra.read(rows.extras[extra.name]) for extra in learned.extras}
            if number < begun:
                continue
            block = coded(rows.table, learned.schema, learned.codebook, options.n_threads)
            note = tally.of(block)
            tally.add(note)
            if waiting is not None:
                waiting.result()
            waiting = pool.submit(writer.write, block, values, rows.first_row, note)
            if bar is not None:
                bar.advance({})
        if waiting is not None:
            waiting.result()
    return n_rows


def _settled(columns: list[native.CodebookColumn], entries: NDArray[np.int64], n_rows: int) -> NativeCodes:
    """The codebook; a sparse column that lists every row has no default code."""
    full = [
        column._replace(default_code=0) if column.sparse and entries[j] == n_rows else column
        for j, column in enumerate(columns)
    ]
    return native.make_codebook(full)


def coded(table: Table, schema: Schema, codebook: NativeCodes, n_threads: int) -> NativeCodes:
    """A block in the codes of the whole table."""
    aligned = schema.align(table, estimator="the store")
    return blocks.code_block(codebook, native_columns(aligned), aligned.n_rows, n_threads=n_threads)


def _least_bytes(codebook: NativeCodes, n_rows: int) -> int:
    """What a store surely takes: a bit per row and dense column that has more than one code."""
    dense = sum(1 for column in native.codebook_columns(codebook) if not column.sparse and column.n_codes > 1)
    return dense * n_rows // 8


def ahead(items: Iterator[T]) -> Iterator[T]:
    """The same items, each fetched in the background while the one before it is used."""
    done = object()
    with ThreadPoolExecutor(1, "weald-read") as pool:
        coming = pool.submit(next, items, done)
        while True:
            item = coming.result()
            if item is done:
                return
            coming = pool.submit(next, items, done)
            yield item  # type: ignore[misc]


def store_of(
    X: TableLike,
    y: ColumnLike | None = None,
    weight: ColumnLike | None = None,
    *,
    max_bins: int = 255,
    folder: str | Path | None = None,
    page_rows: int = LEAST_ROWS,
    compress: str = "packed",
    disks: Sequence[str | Path] = (),
    extras: Mapping[str, ColumnLike] | None = None,
    n_jobs: int | None = None,
) -> Store:
    """A store of a table in memory; the kept columns are called "target" and "weight".

    Parameters
    ----------
    X : table
        Any, also one that is read already.
    y, weight : array-like of shape (n_rows,), optional
        To be kept; the weights weigh the cuts.
    max_bins, folder, page_rows, compress, disks
        As in `BuildOptions`; without a folder the store is temporary.
    extras : mapping of name to array-like, optional
        More columns to keep.
    n_jobs : int, optional
        Threads.
    """
    given = {"target": y, "weight": weight, **(extras or {})}
    kept = {name: column_of(name, values) for name, values in given.items() if values is not None}
    options = BuildOptions(
        max_bins=max_bins,
        weight=None if weight is None else "weight",
        page_rows=page_rows,
        compress=compress,
        folder=None if folder is None else Path(folder),
        disks=[Path(disk) for disk in disks],
        n_threads=thread_count(n_jobs),
    )
    return build(TableSource(to_table(X), kept), options)
