"""The memory of this process while the clock runs: the system knows the peak, so nothing has to sample it."""

from __future__ import annotations

import re
import resource
from pathlib import Path

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
