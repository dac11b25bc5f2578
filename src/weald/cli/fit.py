"""`weald fit`: from a file to a model, with its scores on rows that it did not see."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import weald
from weald.data.files.reading import read
from weald.errors import DataError, ParameterError
from weald.runs.columns import Found, look_at
from weald.runs.methods import make
from weald.runs.task import Task, read_task
from weald.runs.training import Run, Score, hold_out, run


@dataclass(frozen=True, slots=True)
class FitOptions:
    """What the command was told."""

    data: tuple[str, ...]
    target: str
    method: str
    task: str | None
    weight: str | None
    group: str | None
    order: str | None
    drop: tuple[str, ...]
    keep: tuple[str, ...]
    test_share: float
    seed: int
    threads: int | None
    settings: tuple[str, ...]
    model: Path | None


def fit(options: FitOptions, console: Console, *, as_json: bool = False) -> None:
    """Train and tell."""
    notes: list[str] = []
    table = read(options.data if len(options.data) > 1 else options.data[0], notes=notes)
    task = read_task(table, options.target, options.task)
    roles = [name for name in (options.weight, options.group) if name is not None]
    X, found = look_at(table, task, drop=(*options.drop, *roles), keep=options.keep)
    estimator = make(
        options.method,
        task.kind,
        seed=options.seed,
        threads=options.threads,
        settings=read_settings(options.settings),
    )
    known = table.filter(task.known)
    split = hold_out(
        task,
        options.test_share,
        seed=options.seed,
        groups=column_of(known, options.group),
        ordered_by=column_of(known, options.order),
    )
    weight = column_of(known, options.weight)
    done = run(estimator, X, task, split, None if weight is None else weight.astype(np.float64))
    if options.model is not None:
        done.model.save(options.model)
    if as_json:
        click_json(console, summary(options, task, found, notes, done))
    else:
        _tell(console, options, task, X.column_names, found, notes, done)


def read_settings(pairs: Sequence[str]) -> dict[str, object]:
    """`name=value` as parameters: numbers, true, false, none, else text."""
    found: dict[str, object] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise ParameterError(f"--set takes name=value, such as max_depth=4; got {pair!r}.")
        found[name] = _value(text)
    return found


def _value(text: str) -> object:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return json.loads(text)
    except ValueError:
        return text


def column_of(table: Any, name: str | None) -> NDArray[Any] | None:
    """A column that has a role, which must be whole."""
    if name is None:
        return None
    if name not in table.column_names:
        raise DataError(f"The table has no column {name!r}. It has {', '.join(table.column_names[:12])} ….")
    column = table[name]
    if column.null_count:
        raise DataError(
            f"Column {name!r} has {column.null_count:,} missing values; its role needs all of them."
        )
    return np.asarray(column.to_pylist())


def summary(
    options: FitOptions, task: Task, found: Sequence[Found], notes: Sequence[str], done: Run
) -> dict[str, Any]:
    """All that the command tells, as plain values."""
    return {
        "weald": weald.__version__,
        "data": list(options.data),
        "target": options.target,
        "task": task.kind,
        "task_because": task.reason,
        "method": options.method,
        "rows_without_target": int((~task.known).sum()),
        "rows_trained": len(done.split.train),
        "rows_tested": len(done.split.test),
        "columns": [asdict(each) for each in found],
        "notes": list(notes),
        "scores": [asdict(each) for each in done.scores],
        "fit_seconds": round(done.fit_seconds, 3),
        "model": None if options.model is None else str(options.model),
    }


def click_json(console: Console, record: dict[str, Any]) -> None:
    """Plain JSON on standard output."""
    console.out(json.dumps(record, ensure_ascii=False, indent=2), highlight=False)


def tell_scores(console: Console, scores: Sequence[Score], rows: str) -> None:
    """Print scores with their intervals beside those of a baseline."""
    console.print(_score_table(scores, rows))
    for each in scores:
        if each.note:
            console.print(f"          {each.name}: {each.note}", markup=False)


def _score_table(scores: Sequence[Score], rows: str) -> Table:
    table = Table(title=f"on {rows}", title_justify="left")
    for name in ("metric", "score", "95 % interval", "baseline"):
        table.add_column(name, justify="left" if name == "metric" else "right")
    for each in scores:
        table.add_row(
            each.name, f"{each.value:.4g}", f"{each.low:.4g} … {each.high:.4g}", f"{each.baseline:.4g}"
        )
    return table


def _tell(
    console: Console,
    options: FitOptions,
    task: Task,
    columns: Sequence[str],
    found: Sequence[Found],
    notes: Sequence[str],
    done: Run,
) -> None:
    n_lost = int((~task.known).sum())
    console.print(f"target    {options.target}: {task.kind}, {task.reason}", markup=False)
    console.print(
        f"rows      {len(task.y):,}" + (f"; {n_lost:,} without a target left out" if n_lost else "")
    )
    console.print(f"columns   {len(columns)} to learn from")
    for line in (*(str(each) for each in found), *notes):
        console.print(f"          {line}", markup=False)
    console.print(
        f"method    {options.method}: {type(done.model).__name__}, fitted in {done.fit_seconds:.2f} s on "
        f"{len(done.split.train):,} rows"
    )
    tell_scores(console, done.scores, f"{len(done.split.test):,} rows that the model did not see")
    if options.model is not None:
        console.print(f"model     {options.model}", markup=False, soft_wrap=True)
