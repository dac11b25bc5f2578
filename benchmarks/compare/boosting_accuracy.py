"""Accuracy of boosting on every real table: five folds, our defaults for all, against the better opponent.

    python benchmarks/compare/boosting_accuracy.py --help

AUC for two classes, log loss for more, root mean squared error for numbers, Poisson deviance for counts. All
three libraries get the same folds, categories and parameters. A table counts as not worse where the mean of
the fold-wise differences to the better of xgboost and LightGBM is at most one standard error below 0. Where
two are exactly as good, one table in six would miss that by chance, and more as the same folds choose the
opponent: so the two are also judged by each other.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import machine
import numpy as np
import real_tables
import report
from boosters import LIGHTGBM, WEALD, XGBOOST, Library, Setting
from harness import RESULTS
from jobs import DataAbsent
from numpy.typing import NDArray
from real_tables import Task

DEFAULTS = Setting(max_depth=6, learning_rate=0.3, tree_method=None, categories=True)
LIBRARIES = {"weald": WEALD, "xgboost": XGBOOST, "LightGBM": LIGHTGBM}
METRICS = {"binary": "AUC", "multiclass": "log loss", "regression": "RMSE", "counts": "deviance"}
N_FOLDS = 5


OPPONENTS = ("xgboost", "LightGBM")


@dataclass(frozen=True)
class Difference:
    """The mean of the differences of the folds, and its standard error."""

    mean: float
    error: float

    @property
    def errors_below(self) -> float:
        """By how many standard errors it is below 0; 0 where it is not."""
        return 0.0 if self.mean >= 0.0 else -self.mean / max(self.error, 1e-300)

    @property
    def not_worse(self) -> bool:
        """Whether it is at most one standard error below 0."""
        return self.errors_below <= 1


@dataclass(frozen=True)
class Scores:
    """The held-out scores of one table: a list of folds for each library."""

    name: str
    metric: str
    n_rows: int
    n_columns: int
    rounds: int
    variant: str
    folds: dict[str, list[float]]
    seconds: float

    def mean(self, library: str) -> float:
        """The mean over the folds."""
        return float(np.mean(self.folds[library]))

    @property
    def sign(self) -> float:
        """1 where more is better."""
        return 1.0 if self.metric == "AUC" else -1.0

    @property
    def best(self) -> str:
        """The better of the opponents."""
        return max(OPPONENTS, key=lambda library: self.sign * self.mean(library))

    def against(self, library: str, other: str) -> Difference:
        """One library against another, fold by fold; above 0 it is better."""
        mine, yours = np.array(self.folds[library]), np.array(self.folds[other])
        found = np.where(np.abs(mine - yours) > 1e-9 * np.abs(yours), self.sign * (mine - yours), 0.0)
        return Difference(float(np.mean(found)), float(np.std(found, ddof=1) / np.sqrt(len(found))))

    @property
    def ours(self) -> Difference:
        """Ours against the better opponent."""
        return self.against("weald", self.best)


def score(task: Task, y: NDArray[Any], found: NDArray[np.float64]) -> float:
    """How well the held-out rows are told."""
    from sklearn import metrics

    if task.task == "binary":
        return float(metrics.roc_auc_score(y, found))
    if task.task == "multiclass":
        told = found[np.arange(len(y)), y].astype(np.float64)
        return float(-np.mean(np.log(np.maximum(told, 1e-15))))
    if task.task == "counts":
        return float(metrics.mean_poisson_deviance(y, found))
    return float(np.sqrt(np.mean((y - found) ** 2)))


def folds_of(task: Task) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Train and test rows; classes keep their shares."""
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = StratifiedKFold if task.task in ("binary", "multiclass") else KFold
    return list(kind(N_FOLDS, shuffle=True, random_state=0).split(np.zeros(len(task.y)), task.y))


def setting_of(task: Task, rounds: int) -> Setting:
    """The defaults, for this task."""
    return replace(DEFAULTS, rounds=task.rounds or rounds, task=task.task, n_classes=task.n_classes)


def measure(task: Task, rounds: int, threads: int) -> Scores:
    """Every fold with every library."""
    setting = setting_of(task, rounds)
    found: dict[str, list[float]] = {name: [] for name in LIBRARIES}
    start = time.perf_counter()
    for train, test in folds_of(task):
        X, y = task.rows(train)
        X_test, y_test = task.rows(test)
        for name, library in LIBRARIES.items():
            found[name].append(score(task, y_test, learn(library, setting, threads, X, y, X_test)))
    seconds = time.perf_counter() - start
    size, metric = task.X.shape, METRICS[task.task]
    return Scores(task.name, metric, size[0], size[1], setting.rounds, task.variant, found, seconds)


def learn(
    library: Library, setting: Setting, threads: int, X: Any, y: Any, X_test: Any
) -> NDArray[np.float64]:
    """Fit and predict."""
    model = library.fit(setting.task, library.parameters(setting), threads, X, y)
    return library.predict(model, X_test, threads)


def cell(value: float) -> str:
    """Five significant digits."""
    return f"{value:.5g}"


def row(scores: Scores, rounds: int) -> list[str]:
    """One line of the table."""
    name = scores.name + (f" ({scores.variant})" if scores.variant else "")
    name += f", {scores.rounds} rounds" if scores.rounds != rounds else ""
    ours = scores.ours
    verdict = "yes" if ours.not_worse else f"NO ({ours.errors_below:.1f} errors below)"
    return [
        name,
        f"{scores.n_rows:,} × {scores.n_columns:,}",
        scores.metric,
        *(cell(scores.mean(library)) for library in LIBRARIES),
        f"{ours.mean:+.2g}",
        f"{ours.error:.2g}",
        verdict,
    ]


HEAD = ["table", "rows × columns", "metric", *LIBRARIES, "to the best", "standard error", "not worse"]


def summary(found: Sequence[Scores]) -> str:
    """The counts in words, and what the same rule says of the opponents."""
    kept = sum(scores.ours.not_worse for scores in found)
    far = [scores.name for scores in found if scores.ours.errors_below > 2]
    better = sum(scores.ours.mean > 0 for scores in found)
    theirs = [sum(s.against(*pair).not_worse for s in found) for pair in (OPPONENTS, OPPONENTS[::-1])]
    beyond = f"; more than two below: {', '.join(far)}" if far else "; none is more than two below"
    return (
        f"{kept} of {len(found)} tables are not worse than the better opponent beyond one standard error, "
        f"{better} are better{beyond}. By the same rule xgboost is not worse than LightGBM on {theirs[0]}, "
        f"LightGBM not worse than xgboost on {theirs[1]}."
    )


def parameter_rows(rounds: int) -> list[list[str]]:
    """What each library is given, for a table of two classes."""
    setting = replace(DEFAULTS, rounds=rounds)
    lines = [["library", "parameters"]]
    for name, library in LIBRARIES.items():
        given = library.parameters(setting)
        lines.append([name, ", ".join(f"{key}={value!r}" for key, value in given.items())])
    return lines


def section(found: Sequence[Scores], facts: dict[str, str], options: argparse.Namespace) -> str:
    """The part of the results page."""
    parts = [
        "## Boosting: accuracy on real tables",
        " · ".join(f"{key} {value}" for key, value in facts.items()),
    ]
    parts.append(
        f"{N_FOLDS} folds, at most {options.rows:,} rows of a table, {options.rounds} rounds. Ids, leaks and "
        f"classes with fewer than {real_tables.FEWEST_ROWS_OF_A_CLASS} rows are dropped. Differences are "
        "fold by fold to the better of xgboost and LightGBM, above 0 where weald is better."
    )
    table = [HEAD, *(row(scores, options.rounds) for scores in found)]
    parts += [
        report.markdown_table(table),
        summary(found),
        report.markdown_table(parameter_rows(options.rounds)),
    ]
    return "\n\n".join(parts) + "\n"


def small_tasks() -> list[Task]:
    """For a smoke run: one made-up table of each kind."""
    import pandas as pd
    from scipy import sparse

    random = np.random.default_rng(0)
    n = 150
    X = pd.DataFrame({"c0": random.normal(size=n), "c1": random.normal(size=n)})
    X["c2"] = pd.Categorical.from_codes(random.integers(0, 3, n), ["a", "b", "c"])
    signal = X["c0"].to_numpy() + (X["c2"] == "b").to_numpy()
    X.loc[::7, "c1"] = np.nan
    words = sparse.random(n, 30, density=0.2, format="csr", random_state=1, dtype=np.float32)
    return [
        Task("two classes", "binary", X, (signal > 0).astype(np.int64)),
        Task("three classes", "multiclass", X, np.digitize(signal, [-0.5, 1.0])),
        Task("numbers", "regression", X, signal),
        Task("counts", "counts", X, random.poisson(np.exp(signal / 2)).astype(float)),
        Task("sparse", "binary", words, (words.sum(axis=1).A1 > 3).astype(np.int64)),
    ]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Compare: accuracy of boosting on real tables.")
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--rows", type=int, default=50_000, help="rows taken of a table (default 50,000)")
    parser.add_argument("--rounds", type=int, default=100, help="rounds of boosting (default 100)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FILE",
        help="write finished tables there and reuse them; delete it when a library changes",
    )
    parser.add_argument("--quick", action="store_true", help="small made-up tables, five rounds: a smoke run")
    parser.add_argument("--check", action="store_true", help="exit 1 when a table is worse")
    parser.add_argument("--markdown", type=Path, nargs="?", const=RESULTS, metavar="FILE")
    options = parser.parse_args(arguments)
    if options.quick:
        options.rounds, options.threads = 5, 1
    return options


def kept_scores(options: argparse.Namespace) -> dict[str, Scores]:
    """The tables of an earlier run with the same numbers of rows and rounds."""
    if options.keep is None or not options.keep.exists():
        return {}
    kept = json.loads(options.keep.read_text(encoding="utf-8"))
    if (kept["rows"], kept["rounds"]) != (options.rows, options.rounds):
        return {}
    return {scores["name"]: Scores(**scores) for scores in kept["tables"]}


def keep(found: Sequence[Scores], options: argparse.Namespace) -> None:
    """Write what is finished."""
    if options.keep is not None:
        state = {
            "rows": options.rows,
            "rounds": options.rounds,
            "tables": [asdict(scores) for scores in found],
        }
        options.keep.write_text(json.dumps(state, indent=1), encoding="utf-8")


def run(options: argparse.Namespace) -> list[Scores]:
    """Measure every table, print each as it comes."""
    known = kept_scores(options)
    found = []
    tasks: Any = small_tasks() if options.quick else real_tables.entries()
    for task in tasks:
        name = task.name if options.quick else task["name"]
        if options.tables and name not in options.tables:
            continue
        if name in known:
            found.append(known[name])
        else:
            ready = task if options.quick else real_tables.read(task, options.rows)
            found.append(measure(ready, options.rounds, options.threads))
            keep([*found, *(other for other in known.values() if other not in found)], options)
        line = row(found[-1], options.rounds)
        print(" · ".join([*line, f"{found[-1].seconds:.0f} s"]), flush=True)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """The whole program; returns its exit code."""
    options = parse(arguments)
    facts = machine.facts(library.distribution for library in LIBRARIES.values())
    absent = [
        library.distribution for library in LIBRARIES.values() if not machine.installed(library.distribution)
    ]
    if absent:
        print(f"skipped, {', '.join(absent)} is not installed (weald[bench] has it)")
        return 0
    print(" · ".join(HEAD), flush=True)
    try:
        found = run(options)
    except DataAbsent as reason:
        print(f"skipped, {reason}")
        return 0
    print("\n" + report.text_table([HEAD, *(row(scores, options.rounds) for scores in found)]))
    print("\n" + report.text_table(parameter_rows(options.rounds)))
    print("\n" + summary(found))
    if options.markdown is not None:
        report.write_section(options.markdown, "boosting-accuracy", section(found, facts, options))
    return 1 if options.check and any(not scores.ours.not_worse for scores in found) else 0


if __name__ == "__main__":
    sys.exit(main())
