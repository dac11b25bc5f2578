"""How the time of boosting grows with rows, with columns, and with the entries of a sparse table.

    python benchmarks/compare/boosting_scaling.py --plot benchmarks/boosting_scaling.svg --markdown

Ten rounds of trees of 31 leaves, end to end, two threads, a process for each run. The table gives the seconds
and the growth: the exponent between a size and the one before, 1 where time grows as fast as the size.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import log
from pathlib import Path
from typing import Any

import boosting
import numpy as np
from common import boosting_tables, machine, report, tables, worker
from common.boosters import LIGHTGBM, WEALD, XGBOOST, Setting
from common.harness import RESULTS
from common.jobs import Arrays, Contender, Job
from common.worker import Request

SETTING = Setting(max_leaves=31, rounds=10)
LIBRARIES = {"weald": WEALD, "LightGBM": LIGHTGBM, "xgboost": XGBOOST}
N_TEST = 1000
MOST_GROWTH = 1.1  # the exponent over a whole axis: linear, and a little for what no longer fits the caches

#: seconds by (axis, size, library)
Times = dict[tuple[str, int, str], float]


def dense_table(n_rows: int, n_columns: int) -> Arrays:
    """Normal columns, the first ten of which matter; a few test rows."""
    random = np.random.default_rng(20)
    X = random.standard_normal((n_rows + N_TEST, n_columns), dtype=np.float32)
    y = (X[:, :10].sum(axis=1) + random.standard_normal(len(X)) > 0).astype(np.int64)
    return {"X": X[:n_rows], "y": y[:n_rows], "X_test": X[n_rows:], "y_test": y[n_rows:]}


def sparse_table(n_rows: int, n_columns: int, n_entries: int) -> Arrays:
    """As many entries in each row, in columns drawn anew, of which some are common; a tenth matter."""
    from scipy import sparse

    random = np.random.default_rng(21)
    per_row, n = n_entries // n_rows, n_rows + N_TEST
    indices = (n_columns * random.random(n * per_row) ** 2).astype(np.int32)
    values = 1.0 - random.random(n * per_row, dtype=np.float32)
    X = sparse.csr_matrix((values, indices, np.arange(0, n * per_row + 1, per_row)), shape=(n, n_columns))
    X.sum_duplicates()
    score = X @ np.where(np.arange(n_columns) % 10 == 0, random.normal(size=n_columns), 0.0)
    y = score + 0.3 * score.std() * random.standard_normal(n) > np.median(score)
    return boosting_tables.sparse_arrays(X, y.astype(np.int64), n_rows)


def halves(first: int, last: int) -> tuple[int, ...]:
    """Powers of ten from 10^first to 10^last, and the numbers half-way between."""
    return tuple(round(10 ** (exponent / 2)) for exponent in range(2 * first, 2 * last + 1))


@dataclass(frozen=True)
class Axis:
    """What grows, through which sizes. `make(size, quick)` is the table of a size."""

    name: str
    title: str
    sizes: tuple[int, ...]
    quick_sizes: tuple[int, ...]
    make: Callable[[int, bool], Arrays]
    rows: boosting.Reader

    def job(self, size: int) -> Job:
        """One size, timed for every library."""
        contenders = []
        for name, library in LIBRARIES.items():
            given = library.parameters(SETTING)
            prepare = partial(boosting.fitting, library, given, self.rows)
            contenders.append(Contender(name, library.distribution, prepare, given))
        return Job(f"{self.name}-{size}", self.title, self.name, tuple(contenders))


AXES = (
    Axis(
        "rows",
        "rows of 28 columns",
        halves(4, 7),
        (500, 1000),
        lambda size, quick: tables.classification(size, N_TEST),
        boosting.dense_rows,
    ),
    Axis(
        "columns",
        "columns of 20,000 rows",
        halves(1, 4),
        (10, 20),
        lambda size, quick: dense_table(500 if quick else 20_000, size),
        boosting.dense_rows,
    ),
    Axis(
        "entries",
        "entries (about) of a sparse table of 100,000 rows and 10,000 columns",
        (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000),
        (1000, 2000),
        lambda size, quick: sparse_table(*((500, 50) if quick else (100_000, 10_000)), size),
        boosting_tables.sparse_rows,
    ),
)
JOBS = [axis.job(size) for axis in AXES for size in dict.fromkeys(axis.sizes + axis.quick_sizes)]


def measure(axis: Axis, options: argparse.Namespace) -> Times:
    """Every size with every library; each size is printed as it comes."""
    times: Times = {}
    for size in axis.quick_sizes if options.quick else axis.sizes:
        with tempfile.TemporaryDirectory(prefix="weald-bench-") as temporary:
            folder = Path(temporary) / "table"
            worker.store(axis.make(size, options.quick), folder)
            seconds: dict[str, list[float]] = {name: [] for name in options.libraries}
            for _ in range(options.repeats):
                for name, measured in seconds.items():
                    request = Request(f"{axis.name}-{size}", name, options.threads, str(folder))
                    measured.append(worker.ask(__file__, request, options.timeout).seconds)
                    time.sleep(options.pause)
        times |= {(axis.name, size, name): min(measured) for name, measured in seconds.items()}
        line = [f"{name} {report.seconds(times[axis.name, size, name])}" for name in seconds]
        print(f"{size:,} {axis.title}: {', '.join(line)}", flush=True)
    return times


def growth_rows(axis: Axis, times: Times, libraries: Sequence[str]) -> list[list[str]]:
    """A line for each size: seconds of each library, and its exponent since the size before."""
    sizes = sorted({size for name, size, _ in times if name == axis.name})
    lines = [[axis.name, *(cell for name in libraries for cell in (name, "growth"))]]
    for i, size in enumerate(sizes):
        line = [f"{size:,}"]
        for name in libraries:
            now = times[axis.name, size, name]
            line.append(report.seconds(now))
            if i == 0:
                line.append("")
            else:
                before = times[axis.name, sizes[i - 1], name]
                line.append(f"{log(now / before) / log(size / sizes[i - 1]):.2f}")
        lines.append(line)
    return lines


def growth(axis: Axis, times: Times) -> float:
    """Our exponent between the first size and the last."""
    ours = sorted(
        (size, seconds) for (name, size, who), seconds in times.items() if (name, who) == (axis.name, "weald")
    )
    return log(ours[-1][1] / ours[0][1]) / log(ours[-1][0] / ours[0][0])


def plot(times: Times, axes: Sequence[Axis], libraries: Sequence[str], path: Path) -> None:
    """A panel for each axis, both scales logarithmic; the dotted line grows as fast as the size."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "weald"  # equal figures, equal bytes
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(
        1, len(axes), figsize=(4 * len(axes), 3.6), squeeze=False, layout="constrained"
    )
    for axis, panel in zip(axes, panels[0], strict=True):
        sizes = sorted({size for name, size, _ in times if name == axis.name})
        for name in libraries:
            panel.loglog(sizes, [times[axis.name, size, name] for size in sizes], marker="o", label=name)
        last = times[axis.name, sizes[-1], libraries[0]]
        panel.loglog(sizes, [last * size / sizes[-1] for size in sizes], ":", color="grey", label="linear")
        panel.set_xlabel(axis.title, fontsize=8)
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("seconds, 10 rounds")
    panels[0][0].legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)


def section(times: Times, axes: Sequence[Axis], facts: Mapping[str, str], options: argparse.Namespace) -> str:
    """The part of the results page."""
    parts = ["## Boosting: how cost grows", " · ".join(f"{key} {value}" for key, value in facts.items())]
    parts.append(
        f"Ten rounds of trees of 31 leaves, {options.threads} thread(s), minimum of {options.repeats}. "
        "Growth is the exponent between a size and the one before: 1 where time grows as fast as the size."
    )
    if options.plot is not None:
        beside = os.path.relpath(options.plot.resolve(), options.markdown.resolve().parent)
        parts.append(f"![Time against rows, columns and entries]({Path(beside).as_posix()})")
    for axis in axes:
        parts += [f"### {axis.title}", report.markdown_table(growth_rows(axis, times, options.libraries))]
    parts.append(report.markdown_table(report.parameter_rows(JOBS[0])))
    return "\n\n".join(parts) + "\n"


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Measure: how the time of boosting grows.")
    parser.add_argument("--jobs", nargs="+", choices=[axis.name for axis in AXES], help="only what grows so")
    parser.add_argument("--libraries", nargs="+", choices=list(LIBRARIES), default=list(LIBRARIES))
    parser.add_argument("--repeats", type=int, help="runs of each library (default 3; quick: 1)")
    parser.add_argument("--pause", type=float, help="seconds between runs (default 0.5; quick: 0)")
    parser.add_argument("--threads", type=int, help="default 2; quick: 1")
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds one process may take")
    parser.add_argument("--quick", action="store_true", help="small tables, one thread: a smoke run")
    parser.add_argument(
        "--check", action="store_true", help=f"exit 1 when ours grows by more than {MOST_GROWTH}"
    )
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the times into FILE (svg, png)")
    parser.add_argument("--markdown", type=Path, nargs="?", const=RESULTS, metavar="FILE")
    options = parser.parse_args(arguments)
    for name, full, quick in (("repeats", 3, 1), ("pause", 0.5, 0.0), ("threads", 2, 1)):
        if getattr(options, name) is None:
            setattr(options, name, quick if options.quick else full)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """The whole program; returns its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["--worker"]:
        worker.answer(JOBS, given[1])
        return 0
    options = parse(given)
    absent = [name for name in options.libraries if not machine.installed(LIBRARIES[name].distribution)]
    if absent:
        print(f"left out, not installed (weald[bench] has it): {', '.join(absent)}")
        options.libraries = [name for name in options.libraries if name not in absent]
    axes = [axis for axis in AXES if not options.jobs or axis.name in options.jobs]
    times: Times = {}
    try:
        for axis in axes:
            times |= measure(axis, options)
    except worker.RunError as error:
        print(error, file=sys.stderr)
        return 2
    for axis in axes:
        print("\n" + report.text_table(growth_rows(axis, times, options.libraries)))
    if options.plot is not None:
        plot(times, axes, options.libraries, options.plot)
    if options.markdown is not None:
        facts: dict[str, Any] = machine.facts(LIBRARIES[name].distribution for name in options.libraries)
        report.write_section(options.markdown, "boosting-scaling", section(times, axes, facts, options))
    too_fast = "weald" in options.libraries and any(growth(axis, times) > MOST_GROWTH for axis in axes)
    return 1 if options.check and too_fast and not options.quick else 0


if __name__ == "__main__":
    sys.exit(main())
