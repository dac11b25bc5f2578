"""Files of pages: every read and write goes through here, and says which file and page it was about."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weald.errors import DataError


def read_at(fd: int, into: memoryview, offset: int) -> int:
    """How many bytes were read; tests put faults in its place."""
    return os.preadv(fd, [into], offset)


def write_at(fd: int, data: memoryview, offset: int) -> int:
    """How many bytes were written; tests put faults in its place."""
    return os.pwrite(fd, data, offset)


class PageFile:
    """One file of pages, open. A temporary one has no name: the system frees it, whatever happens."""

    def __init__(self, path: Path, *, create: bool = False, temporary: bool = False) -> None:
        self.path = path
        flags = os.O_RDWR | os.O_CREAT if create else os.O_RDONLY
        try:
            self._fd: int | None = os.open(path, flags | getattr(os, "O_CLOEXEC", 0), 0o600)
        except OSError as error:
            raise cannot("be opened", path, error) from error
        if temporary:
            os.unlink(path)

    @property
    def size(self) -> int:
        """Bytes."""
        return os.fstat(self.fd).st_size

    @property
    def fd(self) -> int:
        """The descriptor."""
        if self._fd is None:
            raise DataError(f"The store of {self.path} is closed. Open it again with weald.open_store.")
        return self._fd

    def read(self, into: NDArray[np.uint8], offset: int, what: str) -> None:
        """Fill an array; `what` is the page, for messages."""
        view, done = into.data, 0
        while done < len(view):
            try:
                n = read_at(self.fd, view[done:], offset + done)
            except InterruptedError:
                continue
            except OSError as error:
                raise cannot(f"be read at {what}", self.path, error) from error
            if n == 0:
                raise DataError(
                    f"{self.path} is cut off: {what} should have {len(view)} bytes and has {done}. "
                    "Build the store again."
                )
            done += n

    def write(self, data: NDArray[np.uint8], offset: int, what: str) -> None:
        """Write an array; `what` is the page, for messages."""
        view, done = data.data, 0
        while done < len(view):
            try:
                done += write_at(self.fd, view[done:], offset + done)
            except InterruptedError:
                continue
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.EDQUOT):
                    raise self._disk_full(len(view) - done) from error
                raise cannot(f"be written at {what}", self.path, error) from error

    def _disk_full(self, needed: int) -> DataError:
        found = os.fstatvfs(self.fd)
        return DataError(
            f"The disk of {self.path.parent} is full: {needed:,} more bytes were needed for one page, "
            f"{found.f_bavail * found.f_frsize:,} are free. Free some, or name another folder: "
            "weald.scan(…, folder=…) or disks=[…]."
        )

    def cut(self, size: int) -> None:
        """Drop what lies beyond."""
        os.ftruncate(self.fd, size)

    def close(self) -> None:
        """Give the descriptor back; a second call does nothing."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)


def cannot(what: str, path: Path, error: OSError) -> DataError:
    """The error for a file that the system refuses."""
    why = {
        errno.EACCES: "permission is denied. Choose a folder that you may write to: folder=…",
        errno.EROFS: "the disk is read-only. Choose another: folder=…",
        errno.ENOENT: "it is not there.",
        errno.EIO: "the disk reports an error.",
    }.get(error.errno or 0, f"{error.strerror}.")
    return DataError(f"{path} cannot {what}: {why}")


def free_bytes(folder: Path) -> int:
    """What a user may still write there."""
    return shutil.disk_usage(folder).free


def check_room(folder: Path, needed: int) -> None:
    """Refuse a store that cannot fit, before anything is written."""
    free = free_bytes(folder)
    if needed > free:
        raise DataError(
            f"A store of about {needed:,} bytes does not fit into {folder}: {free:,} bytes are free. Free "
            "some, or name another folder: weald.scan(…, folder=…) or disks=[…]."
        )
