"""Where the comparisons are, running a script of theirs, and a comparison of toys."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

COMPARE = Path(__file__).parents[2] / "benchmarks" / "compare"


#: a script of toy contenders
TOY = """
import sys
import time
from pathlib import Path

import numpy as np
from common.harness import main
from common.jobs import Contender, Dataset, Job, Target, Timed, Within


def sleeper(seconds, figure):
    def prepare(arrays, threads):
        print("a library that talks on standard output")
        total = float(arrays["x"].sum())
        return Timed(lambda: time.sleep(seconds), lambda _: {"figure": figure, "total": total})
    return prepare


def slower_each_time(arrays, threads):
    marker = Path(__file__).with_suffix(".ran")
    seconds = 30 if marker.exists() else 0.01
    marker.touch()
    return Timed(lambda: time.sleep(seconds), lambda _: {"figure": 1.0, "total": 6.0})


def broken(arrays, threads):
    raise ValueError("no such thing")


def hungry(arrays, threads):
    return Timed(lambda: float(np.ones(100 * 2**17).sum()), lambda total: {"total": total})


def job(name, ours, rule):
    fast = Contender("ours", "numpy", ours, {"a": 1}, ours=True, rules=(rule,), targets=(Target(ratio=2),))
    slow = Contender("theirs", "numpy", sleeper(0.1, 1.0), {}, ours=False)
    return Job(name, f"Job {name}", "numbers", (fast, slow))


JOBS = (
    job("equal", sleeper(0.01, 1.004), Within("figure", 0.005)),
    job("worse", sleeper(0.01, 1.2), Within("figure", 0.02, relative=True)),
    job("late", sleeper(0.1, 1.0), Within("figure", 0.005)),
    job("broken", broken, Within("figure", 0.005)),
    Job("memory", "Job memory", "numbers", (Contender("hungry", "numpy", hungry, {}, ours=True),
        Contender("theirs", "numpy", sleeper(0.01, 1.0), {})), memory=True),
    Job("bounded", "Job bounded", "numbers", (
        Contender("ours", "numpy", sleeper(0.01, 1.0), {}, ours=True, rules=(Within("figure", 0.1),),
            targets=(Target(ratio=20, against="slow"), Target(ratio=1, against="theirs"))),
        Contender("slow", "numpy", sleeper(30, 9.0), {}, limit=20),
        Contender("theirs", "numpy", sleeper(0.02, 1.0), {}, limit=50))),
    job("sudden", slower_each_time, Within("figure", 0.005)),
    Job("absent", "Job absent", "numbers", (Contender("ghost", "no-such-library", broken, {}, ours=True),)),
)
DATASETS = (Dataset("numbers", lambda quick: {"x": np.arange(4)}),)
sys.exit(main("toy", "Toys", __file__, DATASETS, JOBS))
"""


def run(script: Path, *arguments: str, path: Path = COMPARE) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(COMPARE), str(path), os.environ.get("PYTHONPATH", "")])
    }
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
