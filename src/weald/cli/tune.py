"""`weald tune`: good parameters of a method, then a model with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from weald.cli.fit import FitOptions, make_report, summary, tell_data
from weald.cli.telling import say, table_of, tell_json, tell_scores, unlogged, working
from weald.runs.gathering import Given, Question, gather
from weald.runs.methods import Size, machine_for
from weald.runs.recipe import Recipe, rows_of
from weald.runs.training import Run, Split, hold_out, run
from weald.runs.tuning import Tuning
from weald.runs.tuning import tune as search

#: trials that are listed
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class TuneOptions:
    """What the command was told."""

    question: Question
    recipe: Recipe
    test_share: float = 0.2
    trials: int = 40
    folds: int = 3
    state: Path | None = None
    model: Path | None = None
    report: Path | None = None


def tune(options: TuneOptions, console: Console, *, as_json: bool = False) -> dict[str, object]:
    """Search, fit with what was found, and return that."""
    with working("reading"):
        given = gather(options.question)
    seed = options.recipe.seed or 0
    split = hold_out(given.task, options.test_share, seed=seed, groups=given.groups, ordered_by=given.order)
    recipe = _settled(options.recipe, given, split)
    found = _searched(options, recipe, given, split)
    best = replace(recipe, settings={**recipe.settings, **found.best})
    done = run(best, given.X, given.task, split, given.weight)
    fit_options = FitOptions(options.question, best, options.test_share, options.model, options.report)
    if options.model is not None:
        done.model.save(options.model)
    if options.report is not None:
        make_report(fit_options, given, done)
    if as_json:
        record = summary(fit_options, given, done)
        record |= {"metric": found.metric, "fits": found.n_fits, "known": found.n_known}
        tell_json(console, record | {"best": found.best, "trials": [asdict(each) for each in found.trials]})
    else:
        _tell(console, options, given, found, done)
    return found.best


def _settled(recipe: Recipe, given: Given, split: Split) -> Recipe:
    """The method svm as the machine that the table asks for."""
    if recipe.method != "svm":
        return recipe
    size = Size.of(rows_of(given.X, split.train), given.task.y[split.train], given.task.kind)
    return replace(recipe, method=machine_for(size, recipe.settings)[0])


def _searched(options: TuneOptions, recipe: Recipe, given: Given, split: Split) -> Tuning:
    """The search on the training rows alone."""
    task, train = given.task, split.train
    try:
        with _progress() as tell, unlogged():
            return search(
                rows_of(given.X, train),
                replace(task, y=task.y[train]),
                recipe,
                n_trials=options.trials,
                folds=options.folds,
                groups=None if given.groups is None else given.groups[train],
                weight=None if given.weight is None else given.weight[train],
                state=options.state,
                tell=tell,
            )
    except KeyboardInterrupt:
        if options.state is not None:
            click.echo(
                f"weald: the scores so far are in {options.state}; the same command goes on.", err=True
            )
        raise


@contextmanager
def _progress() -> Iterator[Callable[[int, str], None]]:
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.completed} fits"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[best]}"),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        line = bar.add_task("", total=None, best="")

        def tell(n_done: int, text: str) -> None:
            bar.update(line, completed=n_done, best=text)

        yield tell


def _tell(console: Console, options: TuneOptions, given: Given, found: Tuning, done: Run) -> None:
    tell_data(console, given)
    known = f", {found.n_known:,} known from {options.state}" if found.n_known and options.state else ""
    title = f"{len(found.trials):,} settings of {options.recipe.method}, {found.n_fits:,} fits{known}"
    table = table_of(("settings", "rows", found.metric), title=title)
    for each in found.trials[:_SHOWN]:
        table.add_row(_words(each.settings), f"{each.n_rows:,}", f"{each.score:.4f}")
    console.print(table)
    tell_scores(console, done.scores, f"{len(done.split.test):,} rows that no search and no model saw")
    say(console, "best      " + " ".join(f"--set {name}={value}" for name, value in found.best.items()))
    for name, path in (("model", options.model), ("report", options.report)):
        if path is not None:
            say(console, f"{name:10}{path}")


def _words(settings: Any) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())
