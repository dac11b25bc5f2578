"""How much memory there is, and whether there is enough for what comes next."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np

#: for the buffers in which NumPy brings operands into one dtype, of 64 KB each, and for small objects
_BUFFERS = 2**20
#: of a thread, where the system says nothing
_STACK = 2**23


def memory_bytes() -> int:
    """What this process may use: the memory of the machine, its container's, or what `ulimit -v` grants."""
    limits = [2**62, _container_bytes()]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    try:
        import resource
    except ImportError:  # no such limits on this system
        return min(limits)
    granted = resource.getrlimit(resource.RLIMIT_AS)[0]
    return min(limits) if granted == resource.RLIM_INFINITY else min(granted, *limits)


def ask_for(n_bytes: int) -> None:
    """MemoryError unless so many bytes can be had now, and those of NumPy's buffers.

    For steps of many operations on arrays: NumPy ends the process if it finds no memory for its buffers
    while it reads by indices of 32 bits or lays a row beside a column. Nothing is touched, so it is cheap.
    """
    np.empty(n_bytes + _BUFFERS, np.uint8)


def has(n_bytes: int) -> bool:
    """Whether so many bytes can be had now."""
    try:
        ask_for(n_bytes)
    except MemoryError:
        return False
    return True


def stack_bytes() -> int:
    """The address space that a thread takes for its stack."""
    try:
        import resource
    except ImportError:
        return _STACK
    granted = resource.getrlimit(resource.RLIMIT_STACK)[0]
    return _STACK if granted == resource.RLIM_INFINITY else granted


@cache
def _container_bytes() -> int:
    try:
        text = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        return 2**62 if text == "max" else int(text)
    except (OSError, ValueError):
        return 2**62
