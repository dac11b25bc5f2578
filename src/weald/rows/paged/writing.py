"""Writes the pages of a store over its disks, with a log that lets a broken build go on."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from weald.engine import NativeCodes
from weald.engine.storage import pages as native
from weald.errors import DataError
from weald.rows.paged.extras import make_extra_page
from weald.rows.paged.files import PageFile
from weald.rows.paged.manifest import LOG, PagePlace
from weald.rows.paged.squeeze import squeezed
from weald.rows.paged.store import StoreFiles


class PageWriter:
    """Appends pages to the files of a store.

    Parameters
    ----------
    homes : list of Path
        A folder per disk; page i goes to disk i mod their number.
    names : sequence of str
        The kept columns.
    log : Path, optional
        A folder for the log; None for a temporary store, which cannot be gone on with.
    """

    def __init__(
        self, homes: list[Path], names: list[str], *, store: int, compress: str, log: Path | None
    ) -> None:
        self.store, self._compress, self._names = store, compress, names
        temporary = log is None
        self.files = StoreFiles([])
        self.codes: list[PagePlace] = []
        self.extras: dict[str, list[PagePlace]] = {name: [] for name in names}
        self._log: IO[str] | None = None
        self._log_path = None if log is None else log / LOG
        try:
            for home in homes:
                self.files.codes.append(PageFile(home / "codes.pages", create=True, temporary=temporary))
            for i, name in enumerate(names):
                self.files.extras[name] = [
                    PageFile(home / f"extra-{i}.pages", create=True, temporary=temporary) for home in homes
                ]
        except BaseException:
            self.files.close()
            raise
        self._ends = [0] * len(homes)
        self._extra_ends = {name: [0] * len(homes) for name in names}
        self.n_bytes = 0

    @property
    def n_written(self) -> int:
        """Pages so far."""
        return len(self.codes)

    def resume(self, codebook: NativeCodes, page_rows: int, key: str) -> list[dict[str, Any]]:
        """Take the pages that the log tells of, check the last of each disk, and drop what lies beyond.

        Returns what was noted with each page.
        """
        assert self._log_path is not None
        notes = []
        for entry in _read_log(self._log_path, key):
            place, extras = PagePlace(*entry["codes"]), entry["extras"]
            self.codes.append(place)
            self._ends[place.disk] = place.offset + place.n_bytes
            for name in self._names:
                found = PagePlace(*extras[name])
                self.extras[name].append(found)
                self._extra_ends[name][found.disk] = found.offset + found.n_bytes
            notes.append(entry["note"])
        n_disks = len(self.files.codes)
        for number in range(max(0, len(self.codes) - n_disks), len(self.codes)):
            place = self.codes[number]
            page = np.empty(place.n_bytes, np.uint8)
            try:
                self.files.codes[place.disk].read(page, place.offset, f"page {number}")
                if not _outside(page, codebook):
                    native.check_page(codebook, page, store=self.store, first_row=number * page_rows)
            except DataError:
                self._forget()
                notes = []
                break
        self._cut()
        self._open_log(key)
        for number, note in enumerate(notes):
            self._write_log(number, note)
        return notes

    def begin(self, key: str) -> None:
        """Start from nothing."""
        self._forget()
        self._cut()
        self._open_log(key)

    def _forget(self) -> None:
        self.codes = []
        self.extras = {name: [] for name in self._names}
        self._ends = [0] * len(self._ends)
        self._extra_ends = {name: [0] * len(self._ends) for name in self._names}

    def _cut(self) -> None:
        for disk, file in enumerate(self.files.codes):
            file.cut(self._ends[disk])
            for name in self._names:
                self.files.extras[name][disk].cut(self._extra_ends[name][disk])

    def _open_log(self, key: str) -> None:
        if self._log_path is not None:
            self._log = open(self._log_path, "w", encoding="utf-8")  # noqa: SIM115  # closed by `close`
            self._log.write(_line({"key": key}))
            self._log.flush()

    def write(
        self, block: NativeCodes, extras: dict[str, NDArray[Any]], first_row: int, note: object
    ) -> None:
        """Append a page of codes and one of each kept column; `note` goes to the log."""
        number = len(self.codes)
        disk = number % len(self.files.codes)
        page = native.make_page(block, store=self.store, first_row=first_row, pack=self._compress != "none")
        if self._compress == "zstd":
            page = squeezed(page, block)
        place = PagePlace(disk, self._ends[disk], len(page))
        self.files.codes[disk].write(page, place.offset, f"page {number}")
        self._ends[disk] += _aligned(len(page))
        self.n_bytes += len(page)
        for name in self._names:
            data = make_extra_page(extras[name], store=self.store, first_row=first_row)
            ends = self._extra_ends[name]
            self.files.extras[name][disk].write(data, ends[disk], f"page {number} of {name!r}")
            self.extras[name].append(PagePlace(disk, ends[disk], len(data)))
            ends[disk] += _aligned(len(data))
            self.n_bytes += len(data)
        self.codes.append(place)
        self._write_log(number, note)

    def _write_log(self, number: int, note: object) -> None:
        if self._log is None:
            return
        place = self.codes[number]
        extras = {
            name: [p.disk, p.offset, p.n_bytes]
            for name, p in ((n, self.extras[n][number]) for n in self._names)
        }
        entry = {"codes": [place.disk, place.offset, place.n_bytes], "extras": extras, "note": note}
        self._log.write(_line(entry))
        self._log.flush()

    def finish(self) -> None:
        """Make sure that the pages are on the disk; the log may go then."""
        for file in (*self.files.codes, *(f for files in self.files.extras.values() for f in files)):
            if self._log_path is not None:
                os.fsync(file.fd)
        self.close_log()

    def close_log(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()
            self._log = None


def _aligned(n: int) -> int:
    return -(-n // 4096) * 4096


def _outside(page: NDArray[np.uint8], codebook: NativeCodes) -> bool:
    return len(page) < native.HEADER_BYTES + codebook.n_columns * native.PAGE_COLUMN.itemsize


def _line(entry: dict[str, Any]) -> str:
    text = json.dumps(entry)
    return f"{zlib.crc32(text.encode()):08x} {text}\n"


def _read_log(path: Path, key: str) -> list[dict[str, Any]]:
    """The entries of a log of this key, up to the first line that is not whole."""
    found: list[dict[str, Any]] = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return found
    for line in lines:
        told, _, text = line.partition(" ")
        if told != f"{zlib.crc32(text.encode()):08x}":
            break
        found.append(json.loads(text))
    if not found or found[0].get("key") != key:
        return []
    return found[1:]
