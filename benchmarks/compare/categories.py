"""Accuracy of boosting on tables with categories: five folds, everyone's own defaults, equal rounds.

    python benchmarks/compare/categories.py --help

Twelve real tables and six made-up ones whose categories carry from none to nine tenths of the variance. AUC
for two classes, log loss for more, R² for numbers, Poisson deviance for counts. Every library reads the
categories as such, none as ordered. The second part adds columns of pure noise, whose levels no one should
believe, and compares each library with itself without them.

With `--keep`, every fold of every contender is kept: `--contenders weald --again weald` measures ours
anew and tells it beside what the file has of the others.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from common import accuracy, machine, report
from common.accuracy import Difference, Scores
from common.boosters import (
    LIGHTGBM,
    OBJECTIVES,
    Parameters,
    boosted,
    catboost_fit,
    catboost_predict,
    lightgbm_fit,
    weald_fit,
    xgboost_fit,
)
from common.boosting_tables import SIX_HUNDRED, Made, Source, categories_of, category_tables, noise_pairs
from common.jobs import DataAbsent
from common.real_tables import Task
from numpy.typing import NDArray
from scipy import stats

METRICS = {"binary": "AUC", "multiclass": "log loss", "regression": "R²", "counts": "deviance"}


# --------------------------------------------------------------------------- contenders


@dataclass(frozen=True)
class Contender:
    """One library with some parameters; what is neither given nor told to all is its default.

    `rounds` is the library's word for them, `poisson` what it must be told to learn counts.
    """

    distribution: str
    fit: Callable[[str, Parameters, int, Any, Any], Any]
    predict: Callable[[Any, Any, int], NDArray[np.float64]]
    rounds: str = "n_estimators"
    poisson: Parameters = field(default_factory=lambda: {"objective": "count:poisson"})
    given: Parameters = field(default_factory=dict)

    def parameters(self, task: Task, rounds: int) -> Parameters:
        """What it is told of a table."""
        told: Parameters = (
            {self.rounds: rounds} | (self.poisson if task.task == "counts" else {}) | self.given
        )
        if self.distribution == "lightgbm":
            told.setdefault("objective", OBJECTIVES[task.task])
            told |= {"num_class": task.n_classes} if task.task == "multiclass" else {}
        return told

    def scores(self, task: Task, options: argparse.Namespace) -> list[float]:
        """How well each fold is told."""
        parameters, found = self.parameters(task, options.size), []
        for train, test in accuracy.folds_of(task, options.splits):
            (X, y), (X_test, y_test) = task.rows(train), task.rows(test)
            model = self.fit(task.task, parameters, options.threads, X, y)
            told = self.predict(model, X_test, options.threads)
            found.append(accuracy.score(METRICS[task.task], y_test, told))
        return found


#: what tables of numbers have, and tables with categories had
XGBOOSTS: Parameters = {"learning_rate": 0.3, "max_depth": 6, "min_child_weight": 1, "reg_lambda": 1}
#: the defaults that were: a rule that counts rows and does not look at the categories
BY_ROWS: Parameters = {"cat_smooth": "rows"} | XGBOOSTS
OURS, ROWS = "weald", "weald-rows"
WEALD = Contender("weald", weald_fit, boosted)
CONTENDERS = {
    OURS: WEALD,
    ROWS: replace(WEALD, given=BY_ROWS),
    "xgboost": Contender(
        "xgboost", xgboost_fit, boosted, given={"enable_categorical": True, "tree_method": "hist"}
    ),
    "LightGBM": Contender(
        "lightgbm", lightgbm_fit, LIGHTGBM.predict, "num_iterations", {"objective": "poisson"}
    ),
    "CatBoost": Contender(
        "catboost", catboost_fit, catboost_predict, "iterations", {"loss_function": "Poisson"}
    ),
}
PEERS = ("xgboost", "LightGBM", "CatBoost")


# --------------------------------------------------------------------------- tables


def tables_of(options: argparse.Namespace) -> list[Source]:
    """The tables of the first part."""
    if not options.quick:
        return category_tables()
    tasks = [*accuracy.small_tasks()[:4], Made(30, effects=0.5, told=0.25, noise=0.25).table(150)]
    return [Source(task.name, partial(lambda task, rows: task, task)) for task in tasks]


def pairs_of(options: argparse.Namespace) -> list[tuple[Source, Source]]:
    """The tables of the second part, without and with noise."""
    return noise_pairs(tables_of(options)[:1], (20,)) if options.quick else noise_pairs()


# --------------------------------------------------------------------------- measuring


class Record:
    """The scores by table: those of the kept file, and those of contenders that have yet to learn one."""

    def __init__(self, options: argparse.Namespace, contenders: Mapping[str, Contender]) -> None:
        self.options, self.contenders = options, contenders
        self.known = accuracy.kept_scores(options)
        self.stale = {(table, name) for table in self.known for name in options.again}

    def scores(self, source: Source) -> Scores | None:
        """What is known of a table once everyone asked for has learnt it; None without its file."""
        scores = self.known.get(source.name)
        had = {name for name in scores.folds if (source.name, name) not in self.stale} if scores else set()
        asked = [name for name in self.options.contenders if name not in had]
        if not asked:
            return scores
        try:
            task = source.read(self.options.rows)
        except DataAbsent as reason:
            print(f"{source.name}: skipped, {reason}", flush=True)
            return scores
        for name in asked:
            self.add(source.name, task, name)
        return self.known[source.name]

    def add(self, table: str, task: Task, name: str) -> None:
        """Let one contender learn a table, and keep it."""
        start = time.perf_counter()
        found = self.contenders[name].scores(task, self.options)
        seconds = time.perf_counter() - start
        folds = (self.known[table].folds if table in self.known else {}) | {name: found}
        metric, (n_rows, n_columns), traits = METRICS[task.task], task.X.shape, categories_of(task)
        size, variant = self.options.size, task.variant
        scores = Scores(table, metric, n_rows, n_columns, size, variant, traits, folds, seconds)
        self.known[table] = scores
        self.stale.discard((table, name))
        accuracy.keep(list(self.known.values()), self.options)
        print(f"{table} · {name} · {metric} {scores.mean(name):.5g} · {seconds:.0f} s", flush=True)


# --------------------------------------------------------------------------- verdicts


def field_of(scores: Scores, name: str) -> list[str]:
    """Among whom a contender is ranked: ours (any of them) among the peers, a peer among them and ours."""
    others = [other for other in (*PEERS, OURS) if other in scores.folds and other != name]
    return [name, *(other for other in others if name in PEERS or other in PEERS)]


def rank(scores: Scores, name: str) -> float:
    """1 is the best; equals share."""
    field = field_of(scores, name)
    return float(stats.rankdata([-scores.sign * scores.mean(other) for other in field])[0])


def to_best(scores: Scores, name: str) -> Difference:
    """To the best of the others it is ranked among, fold by fold; above 0 it is the best itself."""
    others = field_of(scores, name)[1:]
    best = max(others, key=lambda other: scores.sign * scores.mean(other), default=name)
    return scores.against(name, best)


def to_rows(scores: Scores, name: str) -> Difference | None:
    """To the rule of rows; None where that was not measured."""
    return scores.against(name, ROWS) if ROWS in scores.folds and name not in (ROWS, *PEERS) else None


def present(found: Sequence[Scores], everyone: Mapping[str, Contender]) -> list[str]:
    """The contenders that have scores, in their order."""
    return [name for name in everyone if any(name in scores.folds for scores in found)]


def told(difference: Difference | None) -> str:
    """A difference, its standard error, and how far below it is where that is more than one."""
    if difference is None:
        return ""
    far = "" if difference.not_worse else f", {difference.errors_below:.1f} BELOW"
    return f"{difference.mean:+.2g} ± {difference.error:.1g}{far}"


def table_rows(found: Sequence[Scores], names: Sequence[str]) -> list[list[str]]:
    """A line for each table: the means and ranks, and for ours the differences."""
    ours = [name for name in names if name not in PEERS]
    lines = [["table", "rows × columns", "categories", "metric", *names]]
    lines[0] += [f"{name} to the best" for name in ours]
    lines[0] += [f"{name} to {ROWS}" for name in ours if name != ROWS and ROWS in names]
    for scores in found:
        name = scores.name + (f" ({scores.variant})" if scores.variant else "")
        line = [name, f"{scores.n_rows:,} × {scores.n_columns:,}", scores.traits, scores.metric]
        has = [name in scores.folds for name in names]
        line += [
            f"{scores.mean(name):.5g} ({rank(scores, name):g})" if known else ""
            for name, known in zip(names, has, strict=True)
        ]
        line += [told(to_best(scores, name)) if name in scores.folds else "" for name in ours]
        if ROWS in names:
            mine = [name for name in ours if name != ROWS]
            line += [told(to_rows(scores, name)) if name in scores.folds else "" for name in mine]
        lines.append(line)
    return lines


def standing_rows(found: Sequence[Scores], names: Sequence[str]) -> list[list[str]]:
    """A line for each contender: its mean rank and how often it is near the best."""
    lines = [["contender", "mean rank", "at most one standard error below the best", f"worse than {ROWS}"]]
    for name in names:
        mine = [scores for scores in found if name in scores.folds]
        near = sum(to_best(scores, name).not_worse for scores in mine)
        mean = np.mean([rank(scores, name) for scores in mine])
        rows = [(scores.name, to_rows(scores, name)) for scores in mine]
        known = [(table, difference) for table, difference in rows if difference is not None]
        worse = [table for table, difference in known if not difference.not_worse]
        cell = (", ".join(worse) or f"on none of {len(known)}") if known else ""
        lines.append([name, f"{mean:.2f}", f"{near} of {len(mine)}", cell])
    return lines


def misses(found: Sequence[Scores], noise: Sequence[tuple[Scores, Scores]]) -> list[str]:
    """What is asked of our default and not reached."""
    whole = [scores for scores in found if {OURS, *PEERS} <= set(scores.folds)]
    missed = []
    means = {name: np.mean([rank(scores, name) for scores in whole]) for name in (OURS, *PEERS) if whole}
    if means and means[OURS] > min(means.values()):
        missed.append("the mean rank is not the best")
    near = sum(to_best(scores, OURS).not_worse for scores in whole)
    if near < len(whole) - len(whole) // 6:
        missed.append(f"near the best on {near} of {len(whole)} tables only")
    for scores in found:
        rows = to_rows(scores, OURS) if OURS in scores.folds else None
        if rows is not None and not rows.not_worse:
            missed.append(f"{scores.name} is worse than by the rule of rows")
        if scores.name == SIX_HUNDRED.name and OURS in scores.folds and scores.mean(OURS) < 0.948:
            missed.append(f"{scores.name}: R² below .948")
    for without, with_it in noise:
        if OURS in with_it.folds and not cost(without, with_it, OURS).not_worse:
            missed.append(f"{with_it.name}: worse than without it")
    return missed


def cost(without: Scores, with_it: Scores, name: str) -> Difference:
    """With the noise against without it, fold by fold."""
    both = {"with": with_it.folds[name], "without": without.folds[name]}
    return replace(with_it, folds=both).against("with", "without")


def noise_rows(noise: Sequence[tuple[Scores, Scores]], names: Sequence[str]) -> list[list[str]]:
    """A line for each table with noise: what it costs each contender."""
    lines = [["table", "rows × columns", "metric", *names]]
    for without, with_it in noise:
        line = [with_it.name, f"{with_it.n_rows:,} × {with_it.n_columns:,}", with_it.metric]
        has = [name in with_it.folds and name in without.folds for name in names]
        pairs = zip(names, has, strict=True)
        lines.append([*line, *(told(cost(without, with_it, name)) if known else "" for name, known in pairs)])
    return lines


# --------------------------------------------------------------------------- program


def given_rows(contenders: Mapping[str, Contender], names: Sequence[str], rounds: int) -> list[list[str]]:
    """What each contender is given."""
    lines = [["contender", "parameters"]]
    for name in names:
        given = ", ".join(f"{key}={value!r}" for key, value in contenders[name].given.items())
        lines.append([name, f"{rounds} rounds" + (f", {given}" if given else "")])
    return lines


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = accuracy.parser_of("boosting on tables with categories", "rounds", rows=20_000)
    parser.add_argument("--parts", nargs="+", choices=["tables", "noise"], default=["tables", "noise"])
    parser.add_argument("--contenders", nargs="+", metavar="NAME", help="measure only these")
    parser.add_argument(
        "--again", nargs="+", default=[], metavar="NAME", help="measure these anew though the file has them"
    )
    parser.add_argument(
        "--add",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "JSON"),
        help='one more of ours, with parameters such as \'{"cat_smooth": 10, "cat_l2": 10}\'',
    )
    options = parser.parse_args(arguments)
    if options.quick:
        options.size, options.threads = 5, 1
    return options


def contenders_of(options: argparse.Namespace) -> dict[str, Contender]:
    """Everyone known by name; `options.contenders` becomes those to measure."""
    more = {name: replace(WEALD, given=json.loads(given)) for name, given in options.add}
    everyone = CONTENDERS | more
    options.contenders = options.contenders or list(everyone)
    unknown = sorted({*options.contenders, *options.again} - set(everyone))
    if unknown:
        raise SystemExit(f"no contender {', '.join(unknown)}; there are {', '.join(everyone)}")
    absent = [name for name in options.contenders if find_spec(everyone[name].distribution) is None]
    for name in absent:
        print(f"{name}: skipped, not installed (weald[bench] has it)", flush=True)
    options.contenders = [name for name in options.contenders if name not in absent]
    return everyone


def parts_of(record: Record, options: argparse.Namespace) -> list[list[list[str]] | str]:
    """What there is to tell: tables, and sentences."""

    def wanted(source: Source) -> bool:
        return not options.tables or source.name in options.tables

    part = options.parts
    sources = [source for source in tables_of(options) if "tables" in part and wanted(source)]
    pairs = [pair for pair in pairs_of(options) if "noise" in part and wanted(pair[1])]
    found = [scores for source in sources if (scores := record.scores(source)) is not None]
    noise = [
        (without, with_it)
        for pair in pairs
        if (without := record.scores(pair[0])) is not None and (with_it := record.scores(pair[1])) is not None
    ]
    names = present([*found, *(scores for pair in noise for scores in pair)], record.contenders)
    told: list[list[list[str]] | str] = []
    if found:
        ranked = present(found, record.contenders)
        told += [table_rows(found, ranked), standing_rows(found, ranked)]
    if noise:
        told += ["With a column of noise against without it:", noise_rows(noise, names)]
    if OURS in names:
        missed = misses(found, noise)
        told.append(f"MISSED: {'; '.join(missed)}." if missed else "Nothing that is asked is missed.")
    return [*told, given_rows(record.contenders, names, options.size)]


def main(arguments: Sequence[str] | None = None) -> int:
    """The whole program; returns its exit code."""
    options = parse(arguments)
    contenders = contenders_of(options)
    record = Record(options, contenders)
    parts = parts_of(record, options)
    for part in parts:
        print("\n" + (part if isinstance(part, str) else report.text_table(part)))
    if options.markdown is not None:
        facts = machine.facts({contender.distribution for contender in contenders.values()})
        head = [
            "## Boosting: accuracy on tables with categories",
            " · ".join(f"{key} {value}" for key, value in facts.items()),
            f"{accuracy.folds_in_words(options)}, at most {options.rows:,} rows of a table, {options.size} "
            "rounds, else everyone's defaults. In brackets the rank among the four libraries. Differences "
            "are fold by fold, with their standard errors, and above 0 where ours is better.",
        ]
        body = [part if isinstance(part, str) else report.markdown_table(part) for part in parts]
        report.write_section(options.markdown, "categories", "\n\n".join([*head, *body]) + "\n")
    return 1 if options.check and any(str(part).startswith("MISSED") for part in parts) else 0


if __name__ == "__main__":
    sys.exit(main())
