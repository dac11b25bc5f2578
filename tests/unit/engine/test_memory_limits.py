"""When memory runs out, a fit or a prediction raises MemoryError: whatever the limit, the process lives on.

`support/memory_sweep.py` tries every kind of model by hand; here are the three ways to use threads: a pool
that grows trees, a pool that is used many times a tree, and threads of Python.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits on address space are Linux's")

SWEEP = Path(__file__).parents[2] / "support" / "memory_sweep.py"


@pytest.mark.parametrize("kind", ["forest", "xgb_hist", "bagging"])
def test_every_limit_ends_in_a_model_or_a_memory_error(kind):
    # One heap for all threads, so that none of them meets a limit from address space another has set aside.
    environment = os.environ | {"MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(SWEEP), kind, "--only-all"]
    sizes = ["--rows", "0.25", "--most", "41", "--step", "10", "--patience", "100"]
    ended = subprocess.run(
        command + sizes, capture_output=True, text=True, timeout=600, check=False, env=environment
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    letters = ended.stdout.split()[-1]
    assert set(letters) <= {"m", "."}
    assert letters.endswith(".")
    assert kind == "bagging" or letters.startswith("m")  # bagging needs little at a time
