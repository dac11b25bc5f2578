"""How fast a disk is, measured in a moment, and what that says about compressing."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import numpy as np

from weald.rows.paged.files import PageFile

_BYTES = 32 << 20
#: bytes of codes per second that one thread unpacks from bits, and that zstd gives back
UNPACKED, EXPANDED = 4e9, 0.8e9
#: what packing and zstd leave of the bytes of an average table
PACKED_SHARE, ZSTD_SHARE = 0.8, 0.55

_known: dict[int, float] = {}


def disk_rate(folder: Path) -> float:
    """Bytes a second that the disk of a folder reads, its cache aside; measured once per disk."""
    device = os.stat(folder).st_dev
    if device not in _known:
        _known[device] = _measured(folder)
    return _known[device]


def _measured(folder: Path) -> float:
    content = np.random.default_rng(0).integers(0, 256, _BYTES, np.uint8)
    handle, name = tempfile.mkstemp(prefix="weald-rate-", dir=folder)
    os.close(handle)
    file = PageFile(Path(name), create=True, temporary=True)
    try:
        file.write(content, 0, "a trial")
        os.fsync(file.fd)
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(file.fd, 0, 0, os.POSIX_FADV_DONTNEED)
        begun = time.perf_counter()
        file.read(content, 0, "a trial")
        return _BYTES / max(time.perf_counter() - begun, 1e-6)
    finally:
        file.close()


def pays(rate: float) -> str:
    """Which way of keeping codes is read the fastest from a disk of this rate."""
    seconds = {
        "none": 1 / rate,
        "packed": PACKED_SHARE / rate + 1 / UNPACKED,
        "zstd": ZSTD_SHARE / rate + 1 / EXPANDED,
    }
    return min(seconds, key=seconds.__getitem__)
