"""Facts about the machine and the libraries that belong beside every figure."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path


def cpu_model() -> str:
    """The processor's own name, or its architecture where the system does not tell."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    except OSError:
        pass
    return platform.machine()


def cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


#: the same library may come from a distribution of another name
OTHER_NAMES = {"xgboost": ("xgboost-cpu",)}


def installed(distribution: str) -> str | None:
    """The version of an installed distribution, or None."""
    for name in (distribution, *OTHER_NAMES.get(distribution, ())):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None


def facts(distributions: Iterable[str]) -> dict[str, str]:
    """Everything worth printing: processor, cores, Python and the version of each library."""
    found = {"processor": cpu_model(), "cores": str(cores()), "Python": platform.python_version()}
    for name in sorted({*distributions, "numpy"}):
        found[name] = installed(name) or "not installed"
    return found
