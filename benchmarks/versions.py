"""Two versions of weald on the jobs of the comparisons: what a change costs or gains.

    python benchmarks/versions.py --old ../before/src --new src boosting trees --repeats 7

Each folder holds a package `weald` with its built core. Both run the same script on the same tables, in turn,
each run in a process of its own; minima are compared. A ratio above 1 is time lost.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMPARE = HERE / "compare"
sys.path.insert(0, str(COMPARE))

from common import worker  # noqa: E402
from common.harness import thread_counts  # noqa: E402
from common.jobs import DataAbsent, Job  # noqa: E402

#: turns the import hook of an editable install off, so that PYTHONPATH decides
NO_HOOK = HERE.parent / ".ci" / "sanitize"


def seconds(script: str, request: worker.Request, sources: Path, timeout: float) -> float:
    """One run with the package in `sources`."""
    os.environ["PYTHONPATH"] = os.pathsep.join([str(sources), str(NO_HOOK), str(COMPARE)])
    return worker.ask(script, request, timeout).seconds


def compare(script: str, job: Job, threads: int, folder: Path, options: argparse.Namespace) -> list[float]:
    """New time over old time, one per contender of ours; each is printed as it comes."""
    ratios = []
    for contender in (each for each in job.contenders if each.ours):
        request = worker.Request(job.name, contender.name, threads, str(folder))
        taken: dict[Path, list[float]] = {options.old: [], options.new: []}
        for turn in range(options.repeats):
            for sources in sorted(taken, reverse=turn % 2 == 1):
                taken[sources].append(seconds(script, request, sources, options.timeout))
                time.sleep(options.pause)
        old, new = min(taken[options.old]), min(taken[options.new])
        ratios.append(new / old)
        name = f"{Path(script).stem} {job.name} {contender.name}"
        print(f"{name:46} {threads} threads  old {old:9.4f} s  new {new:9.4f} s  {new / old:.3f}", flush=True)
    return ratios


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Compare two versions of weald.")
    parser.add_argument("scripts", nargs="+", help="comparisons, such as boosting")
    parser.add_argument("--old", type=Path, required=True, help="folder that holds the old package")
    parser.add_argument("--new", type=Path, required=True, help="folder that holds the new one")
    parser.add_argument("--jobs", nargs="+", help="only these jobs")
    parser.add_argument("--threads", type=int, nargs="+", help="only these thread counts")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--pause", type=float, default=0.1, help="seconds between runs")
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds one process may take")
    parser.add_argument("--most", type=float, default=1.03, help="exit 1 when a ratio is above this")
    parser.set_defaults(quick=False)
    options = parser.parse_args()
    options.old, options.new = options.old.resolve(), options.new.resolve()
    return options


def main() -> int:
    """Every job of every script; exits 1 when one became too slow."""
    options = parse()
    ratios = []
    for name in options.scripts:
        script = importlib.import_module(name)
        makers = {dataset.name: dataset for dataset in script.DATASETS}
        with tempfile.TemporaryDirectory(prefix="weald-bench-") as temporary:
            for job in (each for each in script.JOBS if not options.jobs or each.name in options.jobs):
                folder = Path(temporary) / job.dataset
                try:
                    if not folder.exists():
                        worker.store(makers[job.dataset].make(False), folder)
                except DataAbsent as reason:
                    print(f"{job.title}: skipped, {reason}")
                    continue
                for threads in thread_counts(job, options):
                    ratios += compare(str(script.__file__), job, threads, folder, options)
    slower = sum(ratio > options.most for ratio in ratios)
    print(f"{len(ratios)} results, {slower} above {options.most:g}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
