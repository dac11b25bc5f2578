"""Putting bytes where the user wants them: whole or not at all, and where a link leads.

The bytes go into a partial file beside the target, which then takes its name. Who writes a partial file holds
a lock on it, so the next save to the same path can tell what a killed process left behind from the work of
another that is still at it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator
from typing import IO

from weald.errors import ParameterError, told

try:
    import fcntl
except ImportError:  # Windows, where a file that is open cannot be removed: no lock is needed
    fcntl = None  # type: ignore[assignment]

_LONGEST_NAME = 180
_TOKEN = r"[0-9a-f]{8}"


def check_path(path: str | os.PathLike[str]) -> None:
    """Refuse a path that no file can have, which the system refuses in words of its own.

    >>> check_path("model.weald")
    """
    try:
        raw = os.fsencode(path)
    except UnicodeEncodeError:
        raw = b"\0"
    if b"\0" in raw:
        raise ParameterError(
            f"No file can be called {told(os.fspath(path))}: a name has no zero character, and none that "
            "cannot be encoded."
        )


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Put the bytes in place at once: a write that fails halfway leaves the old file as it was."""
    with opened(path) as file:
        file.write(data)


@contextlib.contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to, which becomes the one that was asked for when the body ends well, else nothing.

    An existing file keeps its mode, a symbolic link stays one, and what is no ordinary file (a pipe, a
    terminal) is written to as it is.
    """
    check_path(path)
    target = os.path.realpath(path)
    with _named(path, target):
        mode = _mode(target)
        if mode is not None and not stat.S_ISREG(mode):
            with open(target, "wb") as file:
                yield file
            return
        _remove_leftovers(target)
        with _replacing(target, None if mode is None else stat.S_IMODE(mode)) as file:
            yield file


def ready(path: str | os.PathLike[str]) -> None:
    """Fail now as `opened` would later: before the work whose result is to go there.

    What is there stays as it is. Pipes and terminals are not opened: somebody may be reading.
    """
    target = os.path.realpath(path)
    with _named(path, target):
        mode = _mode(target)
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder, and a file is to be written", target)
        if mode is None or stat.S_ISREG(mode):
            with _partial(target, None):
                pass
        elif not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), target)


@contextlib.contextmanager
def _named(path: str | os.PathLike[str], target: str) -> Iterator[None]:
    """Errors of the body that are about the target name the file the user asked for."""
    try:
        yield
    except OSError as error:
        folder = os.path.dirname(target)
        ours = error.filename in (None, target, folder) or str(error.filename).endswith(".partial")
        if error.errno is None or not ours:  # of the body, about another file
            raise
        why = error.strerror if os.path.isdir(folder) else "its folder does not exist"
        # name the file the user asked for, not the one that was to become it
        raise type(error)(error.errno, why, os.fspath(path)) from None


def _mode(target: str) -> int | None:
    try:
        return os.stat(target).st_mode
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def _replacing(target: str, mode: int | None) -> Iterator[IO[bytes]]:
    with _partial(target, mode) as (partial, file):
        yield file
        file.flush()
        os.fsync(file.fileno())
        if fcntl is None:
            file.close()
        os.replace(partial, target)  # under the lock: nobody may take the partial file for a leftover


@contextlib.contextmanager
def _partial(target: str, mode: int | None) -> Iterator[tuple[str, IO[bytes]]]:
    """A new file beside the target, open and locked; it is removed unless it took the target's name."""
    folder, name = os.path.split(target)
    while True:
        partial = os.path.join(folder, f".{_stem(name)}.{secrets.token_hex(4)}.partial")
        # never readable to more people than the file that it becomes
        file = os.fdopen(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode or 0o666), "wb")
        try:
            with file:
                if not _locked(file, partial):
                    continue
                if mode is not None:
                    os.chmod(partial, mode)
                yield partial, file
                return
        finally:
            with contextlib.suppress(OSError):
                os.unlink(partial)


def _locked(file: IO[bytes], partial: str) -> bool:
    """Lock a file just made; False if somebody took it for a leftover and removed it in between."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError:
        return True  # a file system without locks: nobody can take one to remove it either
    try:
        return os.stat(partial).st_ino == os.fstat(file.fileno()).st_ino
    except FileNotFoundError:
        return False


def _stem(name: str) -> str:
    """The name of the target, or what stands for one so long that no letter fits beside it."""
    raw = os.fsencode(name)
    return name if len(raw) <= _LONGEST_NAME else hashlib.sha256(raw).hexdigest()[:32]


def _remove_leftovers(target: str) -> None:
    """Remove partial files of this target that nobody writes any more: their process was killed."""
    folder, name = os.path.split(target)
    pattern = re.compile(rf"\.{re.escape(_stem(name))}\.{_TOKEN}\.partial")
    with os.scandir(folder) as entries:
        found = [entry.path for entry in entries if pattern.fullmatch(entry.name)]
    for partial in found:
        with contextlib.suppress(OSError):
            _remove_if_free(partial)


def _remove_if_free(partial: str) -> None:
    if fcntl is None:
        os.unlink(partial)
        return
    with open(partial, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(partial)
