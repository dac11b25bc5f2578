"""Imputation on real tables: a fifth of the entries removed, filled, and compared with what they were.

    python benchmarks/compare/imputation.py --help

ProximityImputer against the median of numbers and the mode of categories, and beside scikit-learn's
IterativeImputer with its forest, which regresses every column on all others (categories as numbers, rounded)
and is not given the target. The error of a number is in standard deviations of its column (root mean square),
that of a category the share of wrong ones; the error of a table is the mean over its columns.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, real_tables, report
from common.harness import RESULTS
from common.jobs import DataAbsent
from common.real_tables import Task
from numpy.typing import NDArray

TABLES = ("penguins", "heart_cleveland", "german_credit", "abalone", "cpu_act")
SHARE = 0.2
#: trees of a forest, and those of a quick run
TREES, QUICK_TREES = 100, 10


@dataclass(frozen=True)
class Effort:
    """What a way of filling may spend."""

    trees: int
    threads: int


@dataclass(frozen=True)
class Errors:
    """What one way of filling makes of one table: means over the repeats."""

    numbers: float  # NaN: the table has none
    categories: float
    table: float
    seconds: float


@dataclass(frozen=True)
class Result:
    """One table."""

    name: str
    n_rows: int
    n_columns: int
    errors: dict[str, Errors]

    @property
    def better(self) -> bool:
        """Whether ours errs less than medians and modes."""
        return self.errors["ProximityImputer"].table < self.errors["median, mode"].table


def is_number(column: Any) -> bool:
    """Whether a column of a frame holds numbers; else categories."""
    return bool(column.dtype.kind == "f")


def by_median_and_mode(X: Any, y: NDArray[Any], labels: bool, effort: Effort) -> Any:
    """The middle of each column."""
    middle = {name: X[name].median() if is_number(X[name]) else X[name].mode()[0] for name in X}
    return X.fillna(middle)


def by_proximity(X: Any, y: NDArray[Any], labels: bool, effort: Effort) -> Any:
    """Ours, with its default forest."""
    import weald

    forest = weald.RandomForestClassifier if labels else weald.RandomForestRegressor
    return weald.ProximityImputer(forest(effort.trees), n_jobs=effort.threads, random_state=0).fit_transform(
        X, y
    )


def by_iteration(X: Any, y: NDArray[Any], labels: bool, effort: Effort) -> Any:
    """scikit-learn's, with its forest of 100 trees; categories as numbers."""
    import pandas as pd
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    numbers = pd.DataFrame(
        {
            name: X[name] if is_number(X[name]) else X[name].cat.codes.replace(-1, np.nan).astype(float)
            for name in X
        }
    )
    forest = RandomForestRegressor(effort.trees, n_jobs=effort.threads, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not converged after ten rounds
        found = IterativeImputer(forest, random_state=0).fit_transform(numbers)
    out = X.copy()
    for j, name in enumerate(X):
        if is_number(X[name]):
            out[name] = found[:, j]
        else:
            codes = np.clip(np.rint(found[:, j]), 0, len(X[name].cat.categories) - 1).astype(int)
            out[name] = pd.Categorical.from_codes(codes, dtype=X[name].dtype)
    return out


Fill = Callable[[Any, NDArray[Any], bool, Effort], Any]
WAYS: dict[str, Fill] = {
    "median, mode": by_median_and_mode,
    "ProximityImputer": by_proximity,
    "IterativeImputer": by_iteration,
}
PARAMETERS = [
    ["way", "parameters"],
    ["median, mode", "of the known values of the column"],
    ["ProximityImputer", "RandomForest*(), random_state=0: 100 full trees, max_iter=6, tol=0.01"],
    ["IterativeImputer", "RandomForestRegressor(random_state=0): 100 full trees, max_iter=10"],
]


def complete_columns(task: Task) -> Any:
    """The table with numbers as float64, without columns that say one thing only."""
    X = task.X.copy()
    for name in X:
        if X[name].dtype.kind in "iub":
            X[name] = X[name].astype(float)
    return X[[name for name in X if X[name].nunique() > 1]]


def with_gaps(X: Any, seed: int) -> tuple[Any, NDArray[np.bool_]]:
    """A share of the known entries removed, and which; every column keeps some."""
    random = np.random.default_rng(seed)
    gone = (random.random(X.shape) < SHARE) & X.notna().to_numpy()
    return X.mask(gone), gone


def errors(X: Any, filled: Any, gone: NDArray[np.bool_]) -> tuple[list[float], list[float]]:
    """One of each column of numbers, and of each of categories."""
    numbers, categories = [], []
    for j, name in enumerate(X):
        truth, said = X[name][gone[:, j]].to_numpy(), filled[name][gone[:, j]].to_numpy()
        if not len(truth):
            continue
        if is_number(X[name]):
            numbers.append(float(np.sqrt(np.mean((truth - said) ** 2)) / X[name].std()))
        else:
            categories.append(float(np.mean(np.asarray(truth, object) != np.asarray(said, object))))
    return numbers, categories


def measure(task: Task, repeats: int, effort: Effort) -> Result:
    """Every way, on the same gaps."""
    X = complete_columns(task)
    labels = task.task in ("binary", "multiclass")
    found: dict[str, list[tuple[float, float, float, float]]] = {way: [] for way in WAYS}
    for seed in range(repeats):
        table, gone = with_gaps(X, seed)
        for way, fill in WAYS.items():
            start = time.perf_counter()
            filled = fill(table, task.y, labels, effort)
            seconds = time.perf_counter() - start
            numbers, categories = errors(X, filled, gone)
            means = [float(np.mean(part)) if part else float("nan") for part in (numbers, categories)]
            found[way].append((means[0], means[1], float(np.mean(numbers + categories)), seconds))
    means_of = {way: Errors(*np.mean(np.array(rows), axis=0).tolist()) for way, rows in found.items()}
    return Result(task.name, X.shape[0], X.shape[1], means_of)


HEAD = ["table", "rows × columns", "way", "numbers", "categories", "table's error", "seconds"]


def rows_of(result: Result) -> list[list[str]]:
    """The lines of one table."""
    lines = []
    for way, found in result.errors.items():
        size = f"{result.n_rows:,} × {result.n_columns:,}"
        cells = [
            "" if np.isnan(value) else f"{value:.3f}"
            for value in (found.numbers, found.categories, found.table)
        ]
        lines.append([result.name, size, way, *cells, f"{found.seconds:.2g}"])
    return lines


def summary(found: Sequence[Result]) -> str:
    """The count in words."""
    better = sum(result.better for result in found)
    return f"ProximityImputer errs less than median and mode on {better} of {len(found)} tables."


def section(found: Sequence[Result], facts: dict[str, str], options: argparse.Namespace) -> str:
    """The part of the results page."""
    words = (
        f"{SHARE:.0%} of the known entries removed, {options.repeats} times; at most {options.rows:,} rows "
        "of a table. Error of numbers: root mean square in standard deviations of the column; of categories: "
        "share of wrong ones; means over the columns. ProximityImputer is given the target, IterativeImputer "
        f"is not, and sees every category as a number. {options.threads} threads."
    )
    parts = [
        "## Imputation on real tables",
        " · ".join(f"{key} {value}" for key, value in facts.items()),
        words,
        report.markdown_table([HEAD, *(line for result in found for line in rows_of(result))]),
        summary(found),
        report.markdown_table(PARAMETERS),
    ]
    return "\n\n".join(parts) + "\n"


def small_task() -> Task:
    """For a smoke run: a made-up table of both kinds of column."""
    import pandas as pd

    random = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    X = pd.DataFrame({"c0": random.normal(size=120) + 3 * y, "c1": random.normal(size=120) - 3 * y})
    X["c2"] = pd.Categorical.from_codes((y + (random.random(120) < 0.1)) % 3, ["a", "b", "c"])
    return Task("made up", "multiclass", X, y)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Compare: imputation on real tables.")
    parser.add_argument("--tables", nargs="+", metavar="NAME", default=list(TABLES))
    parser.add_argument("--rows", type=int, default=1000, help="rows taken of a table (default 1,000)")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="a small made-up table, once: a smoke run")
    parser.add_argument("--check", action="store_true", help="exit 1 when median and mode err less")
    parser.add_argument("--markdown", type=Path, nargs="?", const=RESULTS, metavar="FILE")
    options = parser.parse_args(arguments)
    if options.quick:
        options.repeats = 1
    return options


def tasks_of(options: argparse.Namespace) -> list[Task]:
    """The tables asked for."""
    if options.quick:
        return [small_task()]
    entries = {entry["name"]: entry for entry in real_tables.entries()}
    return [real_tables.read(entries[name], options.rows) for name in options.tables]


def main(arguments: Sequence[str] | None = None) -> int:
    """The whole program; returns its exit code."""
    options = parse(arguments)
    facts = machine.facts(["weald", "scikit-learn"])
    try:
        tasks = tasks_of(options)
    except DataAbsent as reason:
        print(f"skipped, {reason}")
        return 0
    found = []
    for task in tasks:
        effort = Effort(QUICK_TREES if options.quick else TREES, options.threads)
        found.append(measure(task, options.repeats, effort))
        print(report.text_table([HEAD, *rows_of(found[-1])]), flush=True)
    print("\n" + report.text_table(PARAMETERS) + "\n\n" + summary(found))
    if options.markdown is not None:
        report.write_section(options.markdown, "imputation", section(found, facts, options))
    return 1 if options.check and not all(result.better for result in found) else 0


if __name__ == "__main__":
    sys.exit(main())
