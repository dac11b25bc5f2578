"""How much memory there is."""

from __future__ import annotations

import os
from pathlib import Path


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


def _container_bytes() -> int:
    try:
        text = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        return 2**62 if text == "max" else int(text)
    except (OSError, ValueError):
        return 2**62
