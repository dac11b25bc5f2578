"""Files that commands write: whole, or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to, which takes its place when the body ends well, else is removed."""
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "its folder does not exist", str(path))
    if path.exists() and not path.is_file():  # a pipe, a terminal: written to as it is
        yield path
        return
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
    os.close(descriptor)
    beside = Path(name)
    try:
        yield beside
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        beside.chmod(mode)
        beside.replace(path)
    finally:
        with suppress(FileNotFoundError):
            beside.unlink()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
