"""Accuracy on every real table, fold by fold: what the comparisons of boosting and of forests share.

A script declares a `Study` and calls `main`. All libraries get the same folds. A table counts as not worse
where the mean of the fold-wise differences to the better opponent is at most one standard error below 0.

Of two equally good methods one split into folds calls 16 % of tables worse. More splits (`--splits`) take
that chance out of the mean. The standard error stays that of one split: more splits deal the same rows again,
they do not bring new ones.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from common import machine, real_tables, report
from common.harness import RESULTS
from common.jobs import DataAbsent
from common.real_tables import Task

N_FOLDS = 5
#: metrics of which more is better
RISING = ("AUC", "accuracy", "R²")


@dataclass(frozen=True)
class Difference:
    """The mean of the differences of the folds, and the standard error of the mean of one split."""

    mean: float
    error: float

    @property
    def errors_above(self) -> float:
        """By how many standard errors it is above 0."""
        return 0.0 if self.mean == 0.0 else self.mean / max(self.error, 1e-300)

    @property
    def errors_below(self) -> float:
        """By how many standard errors it is below 0; 0 where it is not."""
        return max(0.0, -self.errors_above)

    @property
    def not_worse(self) -> bool:
        """Whether it is at most one standard error below 0."""
        return self.errors_below <= 1


@dataclass(frozen=True)
class Scores:
    """The held-out scores of one table: a list of folds for each library, ours first."""

    name: str
    metric: str
    n_rows: int
    n_columns: int
    size: int  # rounds or trees
    variant: str
    traits: str  # what a library without categories and missing values would have to prepare
    folds: dict[str, list[float]]
    seconds: float

    def mean(self, library: str) -> float:
        """The mean over the folds."""
        return float(np.mean(self.folds[library]))

    @property
    def sign(self) -> float:
        """1 where more is better."""
        return 1.0 if self.metric in RISING else -1.0

    @property
    def best(self) -> str:
        """The better of the opponents."""
        return max(list(self.folds)[1:], key=lambda library: self.sign * self.mean(library))

    def against(self, library: str, other: str) -> Difference:
        """One library against another, fold by fold; above 0 it is better."""
        mine, yours = np.array(self.folds[library]), np.array(self.folds[other])
        found = np.where(np.abs(mine - yours) > 1e-9 * np.abs(yours), self.sign * (mine - yours), 0.0)
        return Difference(float(np.mean(found)), float(np.std(found, ddof=1) / np.sqrt(N_FOLDS)))

    @property
    def ours(self) -> Difference:
        """Ours against the better opponent."""
        return self.against(next(iter(self.folds)), self.best)


@dataclass(frozen=True)
class Effort:
    """What a learner may spend, and the seed of one that draws.

    Each fold has a seed of its own: one seed draws alike in all folds, and its good or bad luck would be in
    all of them.
    """

    size: int  # rounds or trees
    threads: int
    seed: int


#: (task, effort, X, y, X_test) → what it says of the test rows
Learn: TypeAlias = Callable[[Task, Effort, Any, Any, Any], NDArray[np.float64]]


@dataclass(frozen=True)
class Study:
    """One comparison: who learns, what is measured, and how the page tells it."""

    name: str  # of the section of the results page
    title: str
    learners: Mapping[str, Learn]  # ours first
    distributions: tuple[str, ...]
    metrics: Mapping[str, str]  # by task
    unit: str  # what `size` counts: rounds, trees
    quick_size: int
    about: str
    summary: Callable[[Sequence[Scores]], str]
    parameters: Callable[[int], list[list[str]]]  # what each library is given
    size_of: Callable[[Task, int], int] = lambda task, size: size
    shows_traits: bool = False

    @property
    def head(self) -> list[str]:
        """The first line of the table."""
        traits = ["has"] if self.shows_traits else []
        to = "to the best" if len(self.learners) > 2 else f"to {list(self.learners)[1]}"
        columns = ["table", "rows × columns", *traits, "metric", *self.learners]
        return [*columns, to, "standard error", "not worse"]


def score(metric: str, y: NDArray[Any], found: NDArray[np.float64]) -> float:
    """How well the held-out rows are told."""
    from sklearn import metrics

    if metric == "AUC":
        return float(metrics.roc_auc_score(y, found))
    if metric == "log loss":
        told = found[np.arange(len(y)), y].astype(np.float64)
        return float(-np.mean(np.log(np.maximum(told, 1e-15))))
    if metric == "accuracy":
        return float(np.mean(np.argmax(found, axis=1) == y))
    if metric == "deviance":
        return float(metrics.mean_poisson_deviance(y, found))
    if metric == "R²":
        return float(metrics.r2_score(y, found))
    return float(np.sqrt(np.mean((y - found) ** 2)))


def folds_of(task: Task, splits: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Train and test rows, split after split; classes keep their shares."""
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = StratifiedKFold if task.task in ("binary", "multiclass") else KFold
    for seed in range(splits):
        yield from kind(N_FOLDS, shuffle=True, random_state=seed).split(np.zeros(len(task.y)), task.y)


def traits_of(task: Task) -> str:
    """Whether the table has categories, and whether it has missing values."""
    if not hasattr(task.X, "dtypes"):
        return ""
    found = ["categories"] if (task.X.dtypes == "category").any() else []
    return ", ".join(found + (["missing"] if task.X.isna().to_numpy().any() else []))


def measure(study: Study, task: Task, options: argparse.Namespace) -> Scores:
    """Every fold of every split with every library."""
    size, metric = study.size_of(task, options.size), study.metrics[task.task]
    found: dict[str, list[float]] = {name: [] for name in study.learners}
    start = time.perf_counter()
    for fold, (train, test) in enumerate(folds_of(task, options.splits)):
        effort = Effort(size, options.threads, seed=fold)
        X, y = task.rows(train)
        X_test, y_test = task.rows(test)
        for name, learn in study.learners.items():
            found[name].append(score(metric, y_test, learn(task, effort, X, y, X_test)))
    seconds = time.perf_counter() - start
    shape = task.X.shape
    return Scores(task.name, metric, shape[0], shape[1], size, task.variant, traits_of(task), found, seconds)


def row(study: Study, scores: Scores, size: int) -> list[str]:
    """One line of the table."""
    name = scores.name + (f" ({scores.variant})" if scores.variant else "")
    name += f", {scores.size} {study.unit}" if scores.size != size else ""
    ours = scores.ours
    verdict = "yes" if ours.not_worse else f"NO ({ours.errors_below:.1f} errors below)"
    return [
        name,
        f"{scores.n_rows:,} × {scores.n_columns:,}",
        *([scores.traits] if study.shows_traits else []),
        scores.metric,
        *(f"{scores.mean(library):.5g}" for library in study.learners),
        f"{ours.mean:+.2g}",
        f"{ours.error:.2g}",
        verdict,
    ]


def counted(found: Sequence[Scores], opponent: str) -> str:
    """How many tables are not worse, how many better, and which are far below."""
    kept = sum(scores.ours.not_worse for scores in found)
    far = [scores.name for scores in found if scores.ours.errors_below > 2]
    better = sum(scores.ours.mean > 0 for scores in found)
    beyond = f"; more than two below: {', '.join(far)}" if far else "; none is more than two below"
    return (
        f"{kept} of {len(found)} tables are not worse than {opponent} beyond one standard error, "
        f"{better} are better{beyond}."
    )


def folds_in_words(options: argparse.Namespace) -> str:
    """How often the rows were dealt into folds."""
    if options.splits == 1:
        return f"{N_FOLDS} folds"
    return (
        f"{options.splits} splits into {N_FOLDS} folds (differences are means over all splits; they share "
        "their rows, so the standard error is that of one)"
    )


def section(study: Study, found: Sequence[Scores], facts: dict[str, str], options: argparse.Namespace) -> str:
    """The part of the results page."""
    parts = [f"## {study.title}", " · ".join(f"{key} {value}" for key, value in facts.items())]
    parts.append(
        f"{folds_in_words(options)}, at most {options.rows:,} rows of a table, {options.size} "
        f"{study.unit}. Ids, leaks and classes with fewer than {real_tables.FEWEST_ROWS_OF_A_CLASS} rows are "
        f"dropped. {study.about}"
    )
    parts += [
        report.markdown_table([study.head, *(row(study, scores, options.size) for scores in found)]),
        study.summary(found),
        report.markdown_table(study.parameters(options.size)),
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


def parser_of(title: str, unit: str, rows: int = 50_000) -> argparse.ArgumentParser:
    """The command line of every such comparison."""
    parser = argparse.ArgumentParser(description=f"Compare: {title}.")
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--rows", type=int, default=rows, help=f"rows taken of a table (default {rows:,})")
    parser.add_argument(f"--{unit}", dest="size", type=int, default=100, help=f"{unit} (default 100)")
    parser.add_argument(
        "--splits", type=int, default=1, help=f"splits of each table into {N_FOLDS} folds (default 1)"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FILE",
        help="write finished tables there and reuse them; delete it when a library changes",
    )
    parser.add_argument("--quick", action="store_true", help=f"small made-up tables, few {unit}: a smoke run")
    parser.add_argument("--check", action="store_true", help="exit 1 when a table is worse")
    parser.add_argument("--markdown", type=Path, nargs="?", const=RESULTS, metavar="FILE")
    return parser


def parse(study: Study, arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options of a study."""
    options = parser_of(study.title, study.unit).parse_args(arguments)
    if options.quick:
        options.size, options.threads = study.quick_size, 1
    return options


def kept_scores(options: argparse.Namespace) -> dict[str, Scores]:
    """The tables of an earlier run with the same numbers of rows, of splits and of rounds or trees."""
    if options.keep is None or not options.keep.exists():
        return {}
    kept = json.loads(options.keep.read_text(encoding="utf-8"))
    if kept["run"] != numbers_of(options):
        return {}
    return {scores["name"]: Scores(**scores) for scores in kept["tables"]}


def numbers_of(options: argparse.Namespace) -> dict[str, int]:
    """What the scores of two runs must share to stand in one table."""
    return {"rows": options.rows, "splits": options.splits, "size": options.size}


def keep(found: Sequence[Scores], options: argparse.Namespace) -> None:
    """Write what is finished."""
    if options.keep is not None:
        state = {"run": numbers_of(options), "tables": [asdict(scores) for scores in found]}
        options.keep.write_text(json.dumps(state, indent=1), encoding="utf-8")


def run(study: Study, options: argparse.Namespace) -> list[Scores]:
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
            found.append(measure(study, ready, options))
            keep([*found, *(other for other in known.values() if other not in found)], options)
        line = row(study, found[-1], options.size)
        print(" · ".join([*line, f"{found[-1].seconds:.0f} s"]), flush=True)
    return found


def main(study: Study, arguments: Sequence[str] | None = None) -> int:
    """The whole program of a study; returns its exit code."""
    options = parse(study, arguments)
    facts = machine.facts(study.distributions)
    absent = [name for name in study.distributions if not machine.installed(name)]
    if absent:
        print(f"skipped, {', '.join(absent)} is not installed (weald[bench] has it)")
        return 0
    print(" · ".join(study.head), flush=True)
    try:
        found = run(study, options)
    except DataAbsent as reason:
        print(f"skipped, {reason}")
        return 0
    print("\n" + report.text_table([study.head, *(row(study, scores, options.size) for scores in found)]))
    print("\n" + report.text_table(study.parameters(options.size)))
    print("\n" + study.summary(found))
    if options.markdown is not None:
        report.write_section(options.markdown, study.name, section(study, found, facts, options))
    return 1 if options.check and any(not scores.ours.not_worse for scores in found) else 0
