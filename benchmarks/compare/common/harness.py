"""The comparison itself: each library in its own process, one at a time, in turn, repeated, minima compared.

A script declares its tables and jobs and calls `main`; the same script, started with --worker, is the process
of one run. Runs are half a second apart because OpenMP threads spin on after a region and spoil the next.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from common import machine, report, worker
from common.jobs import Contender, DataAbsent, Dataset, Job
from common.report import Result
from common.worker import Answer, Request

RESULTS = Path(__file__).resolve().parents[2] / "results.md"


def parse(title: str, jobs: Sequence[Job], arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=f"Compare: {title}.")
    parser.add_argument("--repeats", type=int, help="runs of each contender (default 5; quick: 1)")
    parser.add_argument("--pause", type=float, help="seconds between runs (default 0.5; quick: 0)")
    parser.add_argument("--threads", type=int, nargs="+", help="only these thread counts")
    parser.add_argument("--jobs", nargs="+", choices=[job.name for job in jobs], help="only these jobs")
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds one call may take")
    parser.add_argument("--quick", action="store_true", help="small tables, one thread: a smoke run")
    parser.add_argument("--smoke", action="store_true", help="a quick run in this process: no times to trust")
    parser.add_argument("--check", action="store_true", help="exit 1 when a target or a rule is missed")
    parser.add_argument(
        "--markdown",
        type=Path,
        nargs="?",
        const=RESULTS,
        metavar="FILE",
        help="write the section into FILE (default: benchmarks/results.md)",
    )
    options = parser.parse_args(arguments)
    options.quick |= options.smoke
    if options.repeats is None:
        options.repeats = 1 if options.quick else 5
    if options.pause is None:
        options.pause = 0.0 if options.quick else 0.5
    if options.repeats < 1 or options.pause < 0 or options.timeout <= 0:
        parser.error("--repeats must be at least 1, --pause not negative, --timeout positive")
    return options


def thread_counts(job: Job, options: argparse.Namespace) -> list[int]:
    """The job's thread counts, as far as the command line wants them.

    A quick run has one thread: OpenMP's threads wait by spinning, which is slow beyond measure where tests
    share the cores.
    """
    if options.quick:
        return [1]
    return [count for count in job.threads if not options.threads or count in options.threads]


def absent(job: Job) -> list[str]:
    """The libraries this job needs and this environment lacks."""
    needed = {contender.library for contender in job.contenders}
    return sorted(name for name in needed if machine.installed(name) is None)


def run(script: str, job: Job, threads: int, folder: Path, options: argparse.Namespace) -> Result:
    """All repeats of one job, in turn (A B A B …), so that a slow minute of the machine hits everyone.

    Who was stopped once is not asked again; what it measured before stays.
    """
    answers: dict[str, list[Answer]] = {contender.name: [] for contender in job.contenders}
    for _ in range(options.repeats):
        for contender in job.contenders:
            mine = answers[contender.name]
            if mine and not mine[-1].finished:
                continue
            request = Request(job.name, contender.name, threads, str(folder))
            if options.smoke:
                mine.append(worker.measure(job, request))
            else:
                limit = patience(contender, Result(job, threads, answers), options)
                mine.append(worker.ask_within(script, request, limit, job.calls))
            time.sleep(options.pause)
    return Result(job, threads, answers)


def patience(contender: Contender, so_far: Result, options: argparse.Namespace) -> float:
    """The seconds that one call of a contender may take, in whole milliseconds."""
    ours = [other.name for other in so_far.job.contenders if other.ours and so_far.answers[other.name]]
    if contender.limit is None or options.quick or not ours:
        return float(options.timeout)
    limit = contender.limit * min(so_far.fastest(name) for name in ours)
    return min(float(options.timeout), math.ceil(1000 * limit) / 1000)


def compare(
    script: str, datasets: Sequence[Dataset], jobs: Sequence[Job], options: argparse.Namespace
) -> list[Result]:
    """Run every job that can run, print each result as it comes, and delete the tables at the end."""
    makers = {dataset.name: dataset for dataset in datasets}
    results = []
    with tempfile.TemporaryDirectory(prefix="weald-bench-") as temporary:
        for job in jobs:
            lacking = absent(job)
            if lacking:
                print(f"{job.title}: skipped, {', '.join(lacking)} is not installed (weald[bench] has it)\n")
                continue
            folder = Path(temporary) / job.dataset
            try:
                if not folder.exists():
                    worker.store(makers[job.dataset].make(options.quick), folder)
            except DataAbsent as reason:
                print(f"{job.title}: skipped, {reason}\n")
                continue
            for threads in thread_counts(job, options):
                results.append(run(script, job, threads, folder, options))
                print(report.as_text(results[-1], targets=not options.quick) + "\n", flush=True)
            print(report.text_table(report.parameter_rows(job)) + "\n", flush=True)
    return results


def main(
    name: str,
    title: str,
    script: str,
    datasets: Sequence[Dataset],
    jobs: Sequence[Job],
    arguments: Sequence[str] | None = None,
) -> int:
    """The whole program of a comparison script; returns its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["--worker"]:
        worker.answer(jobs, given[1])
        return 0
    options = parse(title, jobs, given)
    wanted = [job for job in jobs if not options.jobs or job.name in options.jobs]
    facts = machine.facts(contender.library for job in wanted for contender in job.contenders)
    print(" · ".join(f"{key} {value}" for key, value in facts.items()) + "\n", flush=True)
    try:
        results = compare(script, datasets, wanted, options)
    except worker.RunError as error:
        print(error, file=sys.stderr)
        return 2
    targets = not options.quick
    if options.markdown is not None:
        section = report.as_markdown(title, facts, options.repeats, results, targets=targets)
        report.write_section(options.markdown, name, section)
    judged = [verdict for result in results for verdict in report.verdicts(result, targets=targets)]
    missed = [verdict for verdict in judged if verdict.good is False]
    print(f"{len(results)} results, {len(missed)} with a missed target or rule")
    return 1 if options.check and missed else 0
