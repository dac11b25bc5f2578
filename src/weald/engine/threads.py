"""How many threads a call uses, and which instruction set."""

from __future__ import annotations

import atexit
import functools
import math
import os
from pathlib import Path

from weald import _core
from weald.errors import ParameterError

MOST_THREADS = 256


def thread_count(n_jobs: int | None) -> int:
    """Threads for `n_jobs`: None or -1 means every processor this process may use, -2 all but one, and so on.

    With None, OMP_NUM_THREADS is an upper bound: joblib sets it in its workers, so that processes share the
    machine.
    """
    if n_jobs is not None and n_jobs > 0:
        return min(n_jobs, MOST_THREADS)
    if n_jobs == 0:
        raise ParameterError(
            "`n_jobs` must be a whole number other than 0, or None; got 0. Use 1 for one thread."
        )
    available = _available_processors()
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        return min(available, int(limit)) if limit.isdecimal() and int(limit) > 0 else available
    return max(1, available + 1 + n_jobs)


def _available_processors() -> int:
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(affinity, _cgroup_processors() or affinity))


@functools.cache
def _cgroup_processors() -> int | None:
    """The processors the container grants, rounded up; None where there is no limit."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()[:2]
        return None if quota == "max" else math.ceil(int(quota) / int(period))
    except (OSError, ValueError):
        return None


def _choose_simd() -> None:
    """WEALD_SIMD=baseline|avx2|avx512 caps the instruction set; unset means the best. Same bits."""
    wanted = os.environ.get("WEALD_SIMD", "")
    if wanted not in ("", "baseline", "avx2", "avx512"):
        raise ParameterError(
            f"The environment variable WEALD_SIMD must be baseline, avx2 or avx512; got {wanted!r}."
        )
    _core.set_simd(wanted != "baseline", wanted != "avx2")


_choose_simd()
atexit.register(_core.begin_exit)


def simd_level() -> str:
    """The instruction set in use: "baseline", "avx2" or "avx512"."""
    return _core.simd_level()
