"""Living within a limit on address space (`ulimit -v`): reserving little of it.

Libraries reserve far more than they use: an arena of 64 MB for each thread that asks for memory, a pool of a
gigabyte. That costs nothing, unless a limit counts it.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress

try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None  # type: ignore[assignment]

#: what mallopt of glibc is told (its malloc.h): one arena; from so many bytes on memory is given back at
#: once, where by default the bound grows with what is asked for
_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1
_GIVEN_BACK = 1 << 17


def limited() -> bool:
    """Whether the process may not reserve as much as it likes."""
    return resource is not None and resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def reserve_little() -> None:
    """Under a limit: one arena that gives memory back, no pool, no threads that read ahead.

    Without a limit nothing is changed.
    """
    if not limited():
        return
    with suppress(AttributeError, OSError):  # other C libraries have no arenas
        libc = ctypes.CDLL(None)
        for name, value in ((_ARENA_MAX, 1), (_MMAP_THRESHOLD, _GIVEN_BACK), (_TRIM_THRESHOLD, _GIVEN_BACK)):
            libc.mallopt(name, value)
    import pyarrow as pa

    pa.set_memory_pool(pa.system_memory_pool())
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
