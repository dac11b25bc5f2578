"""`Store`: coded rows on disk, read again page after page, ahead of who asks.

Pages are read with `pread` into a few buffers, never mapped: a disk error is an exception that names its
page.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from weald.data.codes import Codes
from weald.data.schema import Schema
from weald.engine import NativeCodes
from weald.engine.storage import pages as native
from weald.errors import DataError, DataTypeError, listing, told
from weald.rows.paged.buffers import Buffers
from weald.rows.paged.counters import IoCounters
from weald.rows.paged.extras import Extra, read_extra_page
from weald.rows.paged.files import PageFile
from weald.rows.paged.manifest import Manifest, PagePlace, read_manifest
from weald.rows.paged.squeeze import expanded

#: pages read before they are asked for
AHEAD = 2


class Page(NamedTuple):
    """A block of rows, read from a store."""

    first_row: int
    n_rows: int
    codes: NativeCodes | None  # None if they were not asked for
    extras: dict[str, NDArray[Any]]


@dataclass
class StoreFiles:
    """The open files of a store: of codes, and of each kept column, one per disk."""

    codes: list[PageFile]
    extras: dict[str, list[PageFile]] = field(default_factory=dict)

    def close(self) -> None:
        """Close all of them."""
        for file in (*self.codes, *(file for files in self.extras.values() for file in files)):
            file.close()


class Store:
    """Coded rows in pages. Made by `build` or `store_of`, opened again by `weald.open_store`.

    Attributes
    ----------
    n_rows, n_columns : int
        The size of the table.
    schema : Schema
        Its columns, as a model file keeps them.
    codebook : NativeCodes
        What gives codes their meaning: codes of no rows. `Codes(store.codebook)` has its accessors.
    page_rows, n_pages : int
        Rows of a page (the last may have fewer), a multiple of 65,536; how many pages.
    extras : tuple of str
        The names of the kept columns: targets, weights, queries, margins.
    settings : dict
        What the codebook was learnt with: `max_bins`, the name of the `weight`, …
    io : IoCounters
        What reading cost so far.
    has_missing : list of bool
        Whether some row is missing, per column.
    """

    def __init__(self, manifest: Manifest, files: StoreFiles, folder: Path | None) -> None:
        self._manifest, self._files = manifest, files
        self._buffers = Buffers()
        self.folder = folder
        self.n_rows, self.page_rows, self.n_pages = manifest.n_rows, manifest.page_rows, manifest.n_pages
        self.schema: Schema = manifest.schema
        self.codebook = manifest.codebook
        self.settings = manifest.settings
        self.has_missing = manifest.has_missing
        self.id, self.compress = manifest.id, manifest.compress
        self.io = IoCounters()

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return self.codebook.n_columns

    @property
    def codes(self) -> Codes:
        """The codebook with its accessors, of no rows."""
        return Codes(self.codebook)

    @property
    def extras(self) -> tuple[str, ...]:
        """The names of the kept columns."""
        return tuple(extra.name for extra in self._manifest.extras)

    @property
    def key(self) -> str:
        """Equal for stores of the same data with the same settings."""
        return self._manifest.key

    @property
    def n_bytes(self) -> int:
        """Bytes on disk, of codes and kept columns."""
        places = (self._manifest.codes, *self._manifest.extra_pages.values())
        return sum(place.n_bytes for each in places for place in each)

    @property
    def code_bytes(self) -> int:
        """Bytes of codes on disk: what a pass over them reads."""
        return sum(place.n_bytes for place in self._manifest.codes)

    # ------------------------------------------------------------------ reading

    def pages(
        self, *, codes: bool = True, extras: Sequence[str] = (), first: int = 0, last: int | None = None
    ) -> Iterator[Page]:
        """The pages first … last − 1 in order, read ahead in the background.

        A page, and what points into its codes, may be kept as long as wanted; buffers are used again for
        later pages once nobody has them.

        Parameters
        ----------
        codes : bool
            Whether to read codes: a pass over targets alone does not.
        extras : sequence of str
            The kept columns to read.
        first, last : int
            Some of the pages.

        Raises
        ------
        DataError
            If a page cannot be read, is damaged or cut off: it is named, with its file.
        """
        names = [self._extra(name).name for name in extras]
        numbers = deque(range(self.n_pages)[first:last])
        self.io.passes += 1
        pool = ThreadPoolExecutor(len(self._manifest.disks), "weald-pages")
        waiting: deque[Future[Page]] = deque()
        try:
            while numbers or waiting:
                while numbers and len(waiting) <= AHEAD:
                    waiting.append(pool.submit(self._read, numbers.popleft(), codes, names))
                begun = time.perf_counter()
                page = waiting.popleft().result()
                came = time.perf_counter()
                self.io.seconds_waiting += came - begun
                if numbers:
                    waiting.append(pool.submit(self._read, numbers.popleft(), codes, names))
                yield page
                del page
                self.io.seconds_computing += time.perf_counter() - came
        finally:
            for each in waiting:
                each.cancel()
            pool.shutdown(wait=True, cancel_futures=True)

    def column(self, name: str) -> NDArray[Any]:
        """A kept column as a whole: what a pass over it alone reads."""
        parts = [page.extras[name] for page in self.pages(codes=False, extras=(name,))]
        return np.concatenate(parts) if parts else np.zeros(0, self._extra(name).dtype)

    def levels(self, name: str) -> tuple[Any, ...] | None:
        """The levels that the positions of a kept column of text or categories point into, or None."""
        levels = self._extra(name).levels
        return None if levels is None else tuple(levels)

    def unit(self, name: str) -> str:
        """What the values of a kept column are: "number", "bool", a unit of time, or "levels"."""
        return self._extra(name).unit

    def _extra(self, name: str) -> Extra:
        for extra in self._manifest.extras:
            if extra.name == name:
                return extra
        raise DataError(f"The store keeps no column {name!r}; it keeps {listing(self.extras) or 'none'}.")

    def _read(self, number: int, codes: bool, extras: Sequence[str]) -> Page:
        """One page; on a thread of its own."""
        begun = time.perf_counter()
        first, n_rows = number * self.page_rows, self._manifest.rows_of(number)
        found: NativeCodes | None = None
        if codes:
            data, what = self._bytes(self._files.codes, self._manifest.codes[number], f"page {number}")
            with _Naming(what):
                outside = expanded(self, data, first)
                found = native.read_page(
                    self.codebook, data, store=self._manifest.id, first_row=first, outside=outside
                )
        values = {}
        for name in extras:
            place = self._manifest.extra_pages[name][number]
            data, what = self._bytes(self._files.extras[name], place, f"page {number} of {name!r}")
            with _Naming(what):
                dtype = self._extra(name).dtype or "<f8"
                values[name] = read_extra_page(
                    data, dtype, store=self._manifest.id, first_row=first, n_rows=n_rows
                )
        self.io.pages_read += 1
        self.io.seconds_reading += time.perf_counter() - begun
        return Page(first, n_rows, found, values)

    def _bytes(self, files: list[PageFile], place: PagePlace, what: str) -> tuple[NDArray[np.uint8], str]:
        file = files[place.disk]
        data = self._buffers.take(place.n_bytes)
        file.read(data, place.offset, what)
        self.io.bytes_read += place.n_bytes
        return data, f"{what} of {file.path}"

    # ------------------------------------------------------------------ end

    def close(self) -> None:
        """Close the files; a temporary store is gone then."""
        self._files.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        files = self.__dict__.get("_files")
        if files is not None:
            files.close()

    def __repr__(self) -> str:
        """Size and place."""
        where = "temporary" if self.folder is None else repr(str(self.folder))
        return f"<Store of {self.n_rows:,} rows × {self.n_columns:,} columns, {self.n_pages} pages, {where}>"


class _Naming:
    """Puts the name of a page before what is wrong with it."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, DataError):
            raise DataError(f"{self._what} is damaged: {error}. Build the store again.") from error


def open_store(folder: str | Path) -> Store:
    """Open a store that was built into a folder.

    Parameters
    ----------
    folder : str or Path
        What `weald.scan(…, folder=…)` was given.

    Returns
    -------
    Store
        To fit on, as often as wanted.

    Raises
    ------
    DataError
        If there is no finished store, it is damaged, or a newer weald wrote it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from weald import XGBRegressor, open_store, scan
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("age,height\\n2,86\\n4,103\\n6,116\\n")
    >>> found = scan(folder / "a.csv", folder=folder / "coded")
    >>> _ = XGBRegressor(n_estimators=1, tree_method="hist").fit(found, "height")
    >>> open_store(folder / "coded").extras
    ('height',)
    """
    try:
        place = Path(folder)
    except TypeError:
        raise DataTypeError(f"open_store takes the folder of a store; got {told(folder)}.") from None
    manifest = read_manifest(place)
    files = StoreFiles([])
    try:
        homes = [place if disk == "" else Path(disk) for disk in manifest.disks]
        files.codes = [PageFile(home / "codes.pages") for home in homes]
        for i, extra in enumerate(manifest.extras):
            files.extras[extra.name] = [PageFile(home / f"extra-{i}.pages") for home in homes]
    except BaseException:
        files.close()
        raise
    return Store(manifest, files, place)
