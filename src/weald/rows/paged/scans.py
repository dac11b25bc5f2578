"""A store from a scan: target, weights and the like are columns of it by name, the others are learnt from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from weald.arrays import TableLike
from weald.data.adapters import column_of, to_table
from weald.data.scanning.scan import Scan
from weald.data.schema import Schema
from weald.data.table import Table
from weald.errors import DataError, listing
from weald.rows.paged.building import LEAST_ROWS, PAGE_ROWS, BuildOptions, build
from weald.rows.paged.source import SourceRows
from weald.rows.paged.store import Store

#: bytes of codes of a page that is still in a processor's cache when it has been read and checked
_CACHED = 1 << 21


class ScanSource:
    """The rows of a scan.

    Parameters
    ----------
    scan : Scan
        The data.
    kept : sequence of str
        Its columns that are no columns to learn from: target, weights, queries, margins.
    read : callable
        Makes a table of what the scan gives, as the estimator reads tables.
    """

    def __init__(
        self, scan: Scan, kept: Sequence[str], read: Callable[[TableLike], Table] = to_table
    ) -> None:
        self._scan, self._read = scan, read
        self._kept = [scan.need(name) for name in dict.fromkeys(kept)]
        if not scan.sparse and len(self._kept) == len(scan.columns):
            raise DataError(
                f"The scan has no columns to learn from: all have other roles ({listing(self._kept)})."
            )
        self._state = scan.key()

    def rows(self, page_rows: int) -> Iterator[SourceRows]:
        """Blocks of the scan."""
        return self._sparse(page_rows) if self._scan.sparse else self._dense(page_rows)

    def _dense(self, page_rows: int) -> Iterator[SourceRows]:
        first = 0
        for table in self._scan.tables(page_rows):
            kept = {name: column_of(name, table[name]) for name in self._kept}
            yield SourceRows(first, self._read(table.drop_columns(self._kept) if self._kept else table), kept)
            first += table.num_rows

    def _sparse(self, page_rows: int) -> Iterator[SourceRows]:
        first = 0
        for piece in self._scan.sparse_rows(page_rows):
            kept = {name: column_of(name, piece.columns[name]) for name in self._kept}
            yield SourceRows(first, self._read(piece.X), kept)
            first += piece.X.shape[0]

    def values(self, page_rows: int) -> Iterator[Table]:
        """The rows once more, as they are read, for those who need more than codes."""
        self._scan.settle()
        for rows in self.rows(page_rows):
            yield rows.table
        self.check()

    def key(self) -> str:
        """That of the files, with the roles of columns."""
        return f"{self._state} {self._kept}"

    def check(self) -> None:
        """Raise if a file has changed."""
        if self._scan.key() != self._state:
            raise DataError(
                "A file has changed while it was read (its size or time is another). Scan it again when "
                "nobody writes to it."
            )


def store_of_scan(
    scan: Scan,
    kept: Sequence[str],
    *,
    max_bins: int,
    weight: str | None = None,
    read: Callable[[TableLike], Table] = to_table,
    unknown: Literal["missing", "error"] = "missing",
    settings: Mapping[str, Any] | None = None,
    n_threads: int = 1,
    like: Store | None = None,
    schema: Schema | None = None,
    verbose: bool = False,
) -> Store:
    """The store of a scan: built now, gone on with, or opened if its folder has it already.

    Parameters
    ----------
    scan : Scan
        The data; its folder, disks and compression are the store's.
    kept : sequence of str
        The columns to keep beside the codes: target, weights, queries, margins.
    max_bins : int
        As in `BuildOptions`.
    weight : str, optional
        The one of `kept` that weighs the cuts.
    read : callable
        How the estimator reads tables: categories that it declares, what it takes for missing.
    unknown : {"missing", "error"}
        As the estimator has it.
    settings : mapping, optional
        What `read` depends on, so that a store is only used again for the same.
    n_threads : int
        What comes out does not depend on it.
    like : Store, optional
        Take its codebook and columns: rows to be measured on, not learnt from.
    schema : Schema, optional
        The columns of a model to go on from, to which `read` aligns the rows.
    verbose : bool
        Whether to show a progress bar.
    """
    options = BuildOptions(
        max_bins=max_bins,
        weight=weight,
        unknown=unknown,
        page_rows=page_rows_of(scan),
        compress=scan.compress,
        folder=None if like is not None else scan.folder,
        disks=scan.disks,
        n_threads=n_threads,
        settings=settings,
        schema=schema if like is None else None,
        verbose=verbose,
    )
    return build(ScanSource(scan, kept, read), options, like=like)


def page_rows_of(scan: Scan) -> int:
    """Rows of a page: fewer where memory is short, and no more than the caches hold."""
    n_columns = max(len(scan.columns), 1)
    width = 64 if scan.sparse else 16 * n_columns  # bytes of a row while it is coded
    most = PAGE_ROWS if scan.sparse else min(PAGE_ROWS, _CACHED // n_columns)
    rows = min(scan.memory // (8 * width), most) // LEAST_ROWS * LEAST_ROWS
    return int(max(rows, LEAST_ROWS))


def is_place(value: object) -> bool:
    """Whether a value is the folder of a store."""
    return isinstance(value, str | Path) and (Path(value) / "store.json").is_file()
