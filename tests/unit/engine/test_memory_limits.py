"""When memory runs out, whatever is asked of a model raises MemoryError: the process lives under any limit.

`support/memory_sweep.py` tries every kind of model by hand; here are the three ways to use threads: a pool
that grows trees, a pool that is used many times per tree, and threads of Python; and files.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits on address space are Linux's")

SWEEP = Path(__file__).parents[2] / "support" / "memory_sweep.py"


def letters_of(kind: str, *options: str, n_heaps: int = 1) -> dict[str, str]:
    # With one heap for all threads, none meets a limit from address space another has set aside.
    environment = os.environ | {"MALLOC_ARENA_MAX": str(n_heaps), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(SWEEP), kind, "--patience", "100", *options]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=environment)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return {step: letters for _, step, letters in map(str.split, ended.stdout.splitlines())}


@pytest.mark.parametrize("kind", ["forest", "xgb_hist", "bagging"])
def test_every_limit_ends_in_a_model_or_a_memory_error(kind):
    rows, most, step = ("1", "31", "10") if kind == "bagging" else ("0.25", "41", "10")
    found = letters_of(kind, "--only", "all", "--rows", rows, "--most", most, "--step", step)
    assert set(found["all"]) == {"m", "."}
    assert found["all"].startswith("m")
    assert found["all"].endswith(".")


def test_threads_with_heaps_of_their_own_raise_memory_errors_too():
    # A thread that finds no room for its heap while it throws would end the process.
    sizes = ("--rows", "0.25", "--most", "25", "--step", "1")
    found = letters_of("forest", "--only", "all", *sizes, n_heaps=8)
    assert set(found["all"]) == {"m", "."}


def test_files_are_written_and_read_or_memory_errors_are_raised():
    # Steps finer than the buffers of NumPy, without which it would end the process.
    found = letters_of("forest", "--only", "save", "load", "--rows", "0.1", "--most", "5", "--step", "0.0625")
    for step in ("save", "load"):
        assert set(found[step]) == {"m", "."}
        assert found[step].startswith("m")
        assert found[step].endswith(".")
