"""Where the files of a store are while it is built, and what becomes of them after."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from weald.data.schema import Schema
from weald.errors import DataError
from weald.rows.paged.disk import disk_rate, pays
from weald.rows.paged.files import cannot, check_room
from weald.rows.paged.manifest import LOG, Manifest, read_manifest, write_manifest
from weald.rows.paged.store import Store, open_store
from weald.rows.paged.writing import PageWriter


class Places:
    """The folders of one store.

    A temporary store has folders only until its files are open: these lose their names at once, and the
    system frees them when they are closed, however the process ends. A named one stays, finished or not.
    """

    def __init__(self, folder: Path | None, disks: Sequence[Path]) -> None:
        self.folder = folder
        self._disks = list(disks)
        self.roots: list[Path] = []
        self.homes: list[Path] = []
        self.writer: PageWriter | None = None
        self._kept = False
        self._locked: int | None = None

    def __enter__(self) -> Self:
        try:
            if self.folder is not None:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._lock(self.folder)
            self.roots = self._disks or [self.folder or Path(tempfile.gettempdir())]
            if self.folder is not None:
                self.homes = [self._home(self.folder, root) for root in self.roots]
        except OSError as error:
            self.__exit__(None, None, None)
            raise cannot("be made", Path(error.filename or "."), error) from error
        return self

    def _lock(self, folder: Path) -> None:
        """Keep the folder for this build; the system takes the lock back when the process ends."""
        self._locked = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(self._locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._locked)
            raise DataError(
                f"Another fit is building a store in {folder}. Wait until it has ended, or name another "
                "folder."
            ) from None
        except OSError:  # a file system without locks
            pass

    def _home(self, folder: Path, root: Path) -> Path:
        if not self._disks:
            return folder
        home = root / f"weald-{folder.resolve().name}"
        home.mkdir(parents=True, exist_ok=True)
        return home

    def open(self, names: list[str], *, store: int, compress: str) -> PageWriter:
        """The files of the store; those of a temporary one have lost their names and folders already."""
        if self.folder is not None:
            self.writer = PageWriter(self.homes, names, store=store, compress=compress, log=self.folder)
            return self.writer
        try:
            for root in self.roots:
                self.homes.append(Path(tempfile.mkdtemp(prefix="weald-", dir=root)))
            self.writer = PageWriter(self.homes, names, store=store, compress=compress, log=None)
        except OSError as error:
            raise cannot("be made", Path(error.filename or "."), error) from error
        finally:
            for home in self.homes:
                shutil.rmtree(home, ignore_errors=True)
        return self.writer

    @property
    def names(self) -> list[str]:
        """The folders as the description of the store has them; empty for the store's own."""
        return ["" if home == self.folder else str(home.resolve()) for home in self.homes]

    def finished(self, key: str, plain: str, schema: Schema | None) -> Store | None:
        """The store that is already there, if it is of this data and these settings.

        With a schema also one that was learnt, of the key `plain`, and found the same columns.
        """
        if self.folder is None or not (self.folder / "store.json").exists():
            return None
        found = read_manifest(self.folder)
        if found.key == key or (found.key == plain and found.schema == schema):
            return open_store(self.folder)
        raise DataError(
            f"{self.folder} holds a store of other data or other settings, or its files have changed since. "
            "Remove the folder, or name another."
        )

    def check_room(self, least: int) -> None:
        """Refuse what cannot fit."""
        for root in self.roots:
            check_room(root, least // len(self.roots))

    def compress(self, asked: str) -> str:
        """What "auto" means on these disks."""
        return pays(min(disk_rate(root) for root in self.roots)) if asked == "auto" else asked

    def keep(self, manifest: Manifest, writer: PageWriter) -> Store:
        """The finished store."""
        writer.finish()
        if self.folder is not None:
            write_manifest(manifest, self.folder)
            (self.folder / LOG).unlink(missing_ok=True)
        self._kept = True
        store = Store(manifest, writer.files, self.folder)
        store.io.bytes_written = writer.n_bytes
        return store

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.writer is not None:
            self.writer.close_log()
            if not self._kept:
                self.writer.files.close()
        if self._locked is not None:
            os.close(self._locked)
