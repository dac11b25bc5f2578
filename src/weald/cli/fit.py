"""`weald fit`: from a file to a model, with its scores on rows that it did not see."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

import weald
from weald.arrays import AnyEstimator
from weald.cli.telling import say, tell_json, tell_scores, working
from weald.data.scanning.scan import Scan
from weald.runs.fitted import core_of
from weald.runs.gathering import Given, Question, gather
from weald.runs.paging import choose, gather_pages, run_pages
from weald.runs.recipe import Recipe, rows_of
from weald.runs.training import Run, hold_out, run


@dataclass(frozen=True, slots=True)
class FitOptions:
    """What the command was told."""

    question: Question
    recipe: Recipe
    test_share: float = 0.2
    model: Path | None = None
    report: Path | None = None
    #: whether rows stay in files; None where they are too many for memory
    pages: bool | None = None


def fit(options: FitOptions, console: Console, *, as_json: bool = False) -> Run:
    """Train and tell."""
    found, notes = choose(options.question, options.recipe, options.pages, report=options.report is not None)
    if found is not None:
        given, done = _fit_pages(options, found, notes)
    else:
        given, done = _fit_in_memory(options, notes)
    if options.model is not None:
        done.model.save(options.model)
    if options.report is not None:
        with working("making the report"):
            make_report(options, given, done)
    if as_json:
        tell_json(console, summary(options, given, done))
    else:
        _tell(console, options, given, done, "" if found is not None else _words(options, given, done))
    return done


def _fit_in_memory(options: FitOptions, notes: list[str]) -> tuple[Given, Run]:
    with working("reading"):
        given = gather(options.question)
    given.notes.extend(notes)
    split = hold_out(
        given.task,
        options.test_share,
        seed=options.recipe.seed or 0,
        groups=given.groups,
        ordered_by=given.order,
    )
    with working("training"):
        return given, run(options.recipe, given.X, given.task, split, given.weight)


def _fit_pages(options: FitOptions, found: Scan, notes: list[str]) -> tuple[Given, Run]:
    with working("reading"):
        given, columns = gather_pages(found, options.question, notes)
    with working("training from pages"):
        return given, run_pages(found, given, columns, options.recipe, options.test_share)


def make_report(options: FitOptions, given: Given, done: Run, **more: Any) -> None:
    """Write the report on the rows kept aside."""
    from weald.report import report

    train, test = done.split.train, done.split.test
    source = Path(options.question.data[0])
    report(
        done.model,
        rows_of(given.X, test),
        given.task.y[test],
        train=(rows_of(given.X, train), given.task.y[train]),
        path=options.report,
        target=given.task.target,
        source=source if len(options.question.data) == 1 and source.is_file() else None,
        notes=[*(str(each) for each in given.found), *given.notes],
        scores=done.scores,
        model_file=options.model,
        random_state=options.recipe.seed or 0,
        **more,
    )


def summary(options: FitOptions, given: Given, done: Run) -> dict[str, Any]:
    """All that the command tells, as plain values."""
    task = given.task
    return {
        "weald": weald.__version__,
        "data": list(options.question.data),
        "target": task.target,
        "task": task.kind,
        "task_because": task.reason,
        "method": options.recipe.method,
        "estimator": type(done.model).__name__,
        "rows_without_target": given.n_lost,
        "rows_trained": len(done.split.train),
        "rows_tested": len(done.split.test),
        "columns": [asdict(each) for each in given.found],
        "notes": list(given.notes),
        "scores": [asdict(each) for each in done.scores],
        "fit_seconds": round(done.fit_seconds, 3),
        "model": None if options.model is None else str(options.model),
        "report": None if options.report is None else str(options.report),
    }


def tell_data(console: Console, given: Given) -> None:
    """What was found in the data, in lines."""
    task, lost = given.task, given.n_lost
    say(console, f"target    {task.target}: {task.kind}, {task.reason}")
    say(console, f"rows      {len(task.y):,}" + (f"; {lost:,} without a target left out" if lost else ""))
    say(console, f"columns   {given.n_columns:,} to learn from{_kinds(given)}")
    for line in (*(str(each) for each in given.found), *given.notes):
        say(console, f"          {line}")


def _kinds(given: Given) -> str:
    """How many columns are what."""
    if not hasattr(given.X, "schema"):
        return ""
    counts: dict[str, int] = {}
    for kind in given.X.schema.types:
        name = _kind(kind)
        counts[name] = counts.get(name, 0) + 1
    return ": " + ", ".join(f"{count:,} of {name}" for name, count in counts.items())


def _kind(kind: object) -> str:
    import pyarrow as pa

    if pa.types.is_boolean(kind):
        return "truth values"
    if pa.types.is_temporal(kind):
        return "dates"
    return (
        "numbers"
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        else "categories"
    )


def _words(options: FitOptions, given: Given, done: Run) -> str:
    """What was chosen for the size of the table."""
    train = done.split.train
    return options.recipe.words(rows_of(given.X, train), given.task.y[train], given.task.kind)


def _tell(console: Console, options: FitOptions, given: Given, done: Run, words: str) -> None:
    tell_data(console, given)
    train = done.split.train
    say(
        console,
        f"method    {options.recipe.method}: {_name(done.model)}, fitted in {done.fit_seconds:.2f} s on "
        f"{len(train):,} rows{_rounds(done.model)}" + (f"; {words}" if words else ""),
    )
    tell_scores(console, done.scores, f"{len(done.split.test):,} rows that the model did not see")
    for name, path in (("model", options.model), ("report", options.report)):
        if path is not None:
            say(console, f"{name:10}{path}")


def _name(model: AnyEstimator) -> str:
    """The class, and those around which it stands."""
    inner = core_of(model)
    return type(model).__name__ + ("" if inner is model else f" of {type(inner).__name__}")


def _rounds(model: AnyEstimator) -> str:
    """How many rounds early stopping found, where it did."""
    rounds = getattr(model, "best_iteration", None)
    return "" if not isinstance(rounds, int) else f"; {rounds + 1:,} rounds by early stopping"
