"""The comparison harness, tried with toy contenders and once with the real jobs on small tables."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

COMPARE = Path(__file__).parents[2] / "benchmarks" / "compare"

TOY = """
import sys
import time

import numpy as np
from harness import main
from jobs import Contender, Dataset, Job, Target, Timed, Within


def sleeper(seconds, figure):
    def prepare(arrays, threads):
        print("a library that talks on standard output")
        total = float(arrays["x"].sum())
        return Timed(lambda: time.sleep(seconds), lambda _: {"figure": figure, "total": total})
    return prepare


def broken(arrays, threads):
    raise ValueError("no such thing")


def job(name, ours, rule):
    fast = Contender("ours", "numpy", ours, {"a": 1}, ours=True, rules=(rule,), targets=(Target(ratio=2),))
    slow = Contender("theirs", "numpy", sleeper(0.1, 1.0), {}, ours=False)
    return Job(name, f"Job {name}", "numbers", (fast, slow))


JOBS = (
    job("equal", sleeper(0.01, 1.004), Within("figure", 0.005)),
    job("worse", sleeper(0.01, 1.2), Within("figure", 0.02, relative=True)),
    job("late", sleeper(0.1, 1.0), Within("figure", 0.005)),
    job("broken", broken, Within("figure", 0.005)),
    Job("absent", "Job absent", "numbers", (Contender("ghost", "no-such-library", broken, {}, ours=True),)),
)
DATASETS = (Dataset("numbers", lambda quick: {"x": np.arange(4)}),)
sys.exit(main("toy", "Toys", __file__, DATASETS, JOBS))
"""


def run(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(COMPARE), os.environ.get("PYTHONPATH", "")])
    }
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    script = tmp_path / "toy.py"
    script.write_text(TOY, encoding="utf-8")
    return script


def test_ratio_rules_and_markdown(toy: Path, tmp_path: Path) -> None:
    page = tmp_path / "results.md"
    page.write_text("# Results\n\n<!-- toy: begin -->\nold\n<!-- toy: end -->\n\nkept\n", encoding="utf-8")
    common = ("--repeats", "2", "--pause", "0", "--threads", "2", "--check")
    done = run(toy, "--jobs", "equal", *common, "--markdown", str(page))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "target ratio ≥ 2: reached" in done.stdout
    assert "figure within 0.005: yes (0.0040)" in done.stdout
    text = page.read_text(encoding="utf-8")
    assert "### Job equal" in text
    assert "old" not in text
    assert text.endswith("\nkept\n")


def test_a_missed_rule_or_target_is_told(toy: Path) -> None:
    common = ("--repeats", "1", "--pause", "0", "--threads", "1", "--check")
    worse = run(toy, "--jobs", "worse", *common)
    assert worse.returncode == 1
    assert "figure within 2 %: NO (20.00 %)" in worse.stdout
    late = run(toy, "--jobs", "late", *common)
    assert late.returncode == 1
    assert "MISSED" in late.stdout


def test_a_failing_contender_is_named(toy: Path) -> None:
    done = run(toy, "--quick", "--jobs", "broken")
    assert done.returncode == 2
    assert "ours in job broken with 1 thread(s) ended with code 1" in done.stderr
    assert "no such thing" in done.stderr


def test_an_absent_library_skips_its_job(toy: Path) -> None:
    done = run(toy, "--quick", "--jobs", "absent")
    assert done.returncode == 0
    assert "skipped, no-such-library is not installed" in done.stdout


def quick_trees(*jobs: str, script: str = "trees.py") -> str:
    done = run(COMPARE / script, "--quick", "--jobs", *jobs)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_tree_jobs_run() -> None:
    printed = quick_trees("fit-classification", "predict", "small")
    assert "3 results" in printed


def test_tree_option_jobs_run() -> None:
    jobs = ("absolute", "poisson", "random", "sparse", "pruning")
    assert "5 results" in quick_trees(*jobs, script="tree_options.py")


@pytest.mark.skipif(find_spec("lightgbm") is None, reason="lightgbm is not installed (extra: bench)")
def test_coding_job_runs() -> None:
    assert "1 results" in quick_trees("coding")
