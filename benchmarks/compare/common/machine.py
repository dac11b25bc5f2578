"""Facts about the machine and the libraries that belong beside every figure, and this process's memory.

The system knows the peak of the memory, so nothing has to sample it.
"""

from __future__ import annotations

import os
import platform
import re
import resource
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


UNIT = "MB"  # the end of the names of figures that are measured, not computed: repeats may differ a little

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def megabytes(field: str) -> float | None:
    """A field of the process's status, such as VmRSS; None where the system has no such file."""
    try:
        found = re.search(rf"^{field}:\s+(\d+) kB", STATUS.read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) / 1024 if found else None


def peak() -> float:
    """The most that was resident: since the last reset where that is possible, else since the start."""
    since_reset = megabytes("VmHWM")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 if since_reset is None else since_reset


def reset_peak() -> None:
    """Let `peak` begin anew; a system that cannot keeps the peak of before, which is the arrays' own."""
    try:
        CLEAR.write_text("5", encoding="ascii")
    except OSError:
        return


class Watch:
    """From its making to `figures`: the peak, and how far it lies above the level at the start."""

    def __init__(self) -> None:
        reset_peak()
        level = megabytes("VmRSS")
        self.start = peak() if level is None else level

    def figures(self) -> dict[str, float]:
        """The two figures of `Job.memory`."""
        highest = peak()
        return {f"peak {UNIT}": highest, f"fit {UNIT}": highest - self.start}
