"""One run of one contender in a process of its own, and the protocol between the two sides.

The parent passes a request as one JSON argument; the child answers with one line of JSON on standard output.
Whatever a library prints meanwhile goes to standard error, so it cannot spoil the answer.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from common import machine
from common.jobs import Arrays, Figures, Job

PREPARING = 600.0  # seconds a process may take before and after the clock: imports, reading, judging

#: Every runtime reads its own variable, and only before it is loaded.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "POLARS_MAX_THREADS",
)


class RunError(RuntimeError):
    """A contender failed, or answered in words the harness does not know."""


@dataclass(frozen=True)
class Request:
    """What the parent asks for. `folder` holds the job's arrays as .npy files; `limit`: a call's seconds."""

    job: str
    contender: str
    threads: int
    folder: str
    limit: float | None = None


@dataclass(frozen=True)
class Answer:
    """What one process measured: the fastest of its calls, and the figures of its last result.

    A call that did not finish within the limit has the limit as its seconds and no figures.
    """

    seconds: float
    figures: Figures
    finished: bool = True


def ask_within(script: str, request: Request, limit: float, calls: int) -> Answer:
    """Ask for calls of at most `limit` seconds each; only they are limited so, not what comes before."""
    return ask(script, replace(request, limit=limit), PREPARING + calls * limit)


def ask(script: str, request: Request, timeout: float) -> Answer:
    """Run `request` in a new process of `script` and wait for it, for `timeout` seconds in all."""
    environment = dict(os.environ) | dict.fromkeys(THREAD_VARIABLES, str(request.threads))
    environment["PYTHONHASHSEED"] = "0"
    command = [sys.executable, script, "--worker", json.dumps(asdict(request))]
    who = f"{request.contender} in job {request.job} with {request.threads} thread(s)"
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        raise RunError(f"{who} took more than {timeout:g} s.") from None
    if request.limit is not None and done.returncode == -signal.SIGALRM:
        return Answer(request.limit, {}, finished=False)
    if done.returncode != 0:
        raise RunError(f"{who} ended with code {done.returncode}:\n{done.stderr[-3000:]}")
    try:
        return Answer(**json.loads(done.stdout))
    except (ValueError, TypeError):
        raise RunError(f"{who} answered {done.stdout[-300:]!r}, which is not an answer.") from None


def answer(jobs: Sequence[Job], text: str) -> None:
    """The child's side: do what `text` asks and print the answer."""
    with os.fdopen(os.dup(1), "w") as out:
        os.dup2(2, 1)
        request = Request(**json.loads(text))
        job = next(job for job in jobs if job.name == request.job)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process, whatever it computes in
        print(json.dumps(asdict(measure(job, request))), file=out)


def measure(job: Job, request: Request) -> Answer:
    """Prepare, then time `job.calls` calls with the garbage collector out of the way."""
    timed = job.contender(request.contender).prepare(load(Path(request.folder)), request.threads)
    seconds = []
    result = None
    gc.collect()
    gc.disable()
    used = machine.Watch() if job.memory else None
    for _ in range(job.calls):
        result = None  # the last result is freed before the clock starts, not while it runs
        if request.limit is not None:
            signal.setitimer(signal.ITIMER_REAL, request.limit)
        start = time.perf_counter()
        result = timed.run()
        seconds.append(time.perf_counter() - start)
        if request.limit is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
    figures = used.figures() if used else {}
    gc.enable()
    figures |= {name: float(figure) for name, figure in timed.figures(result).items()}
    return Answer(min(seconds), figures)


def store(arrays: Arrays, folder: Path) -> None:
    """Write each array to `folder` as name.npy."""
    folder.mkdir()
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def load(folder: Path) -> Arrays:
    """Read every array of `folder` into memory: a file read must not happen under the clock."""
    return {path.stem: np.load(path) for path in sorted(folder.glob("*.npy"))}
