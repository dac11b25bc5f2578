"""`weald compare`: all methods by cross-validation, as a leaderboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from weald.cli.fit import click_json, column_of
from weald.data.files.reading import read
from weald.runs.columns import look_at
from weald.runs.comparing import Leaderboard
from weald.runs.comparing import compare as run
from weald.runs.methods import METHODS
from weald.runs.task import read_task


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What the command was told."""

    data: tuple[str, ...]
    target: str
    methods: tuple[str, ...]
    task: str | None
    group: str | None
    drop: tuple[str, ...]
    keep: tuple[str, ...]
    folds: int
    seed: int
    threads: int | None


def compare(options: CompareOptions, console: Console, *, as_json: bool) -> None:
    """Train every method and rank them."""
    table = read(options.data if len(options.data) > 1 else options.data[0])
    task = read_task(table, options.target, options.task)
    roles = () if options.group is None else (options.group,)
    X, found = look_at(table, task, drop=(*options.drop, *roles), keep=options.keep)
    groups = column_of(table.filter(task.known), options.group)
    methods = options.methods or None
    with _progress(len(methods or METHODS) * options.folds) as tell:
        board = run(
            X,
            task.y,
            methods=methods,
            task=task.kind,
            folds=options.folds,
            groups=groups,
            random_state=options.seed,
            n_jobs=options.threads,
            tell=tell,
        )
    if as_json:
        record = {"data": list(options.data), "target": options.target, "task": task.kind}
        click_json(console, record | {"columns": [asdict(each) for each in found]} | asdict(board))
        return
    for each in found:
        console.print(str(each), markup=False)
    console.print(_table(board))
    for method, why in board.failed.items():
        console.print(f"{method} failed: {why}", markup=False)
    console.print(board.advice(), markup=False)


@contextmanager
def _progress(n_steps: int) -> Iterator[Callable[[str, int, int], None]]:
    """A bar on stderr, where that is a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        line = bar.add_task("", total=n_steps)

        def tell(method: str, fold: int, n_folds: int) -> None:
            bar.update(line, description=f"{method}, fold {fold + 1} of {n_folds}", advance=1)

        yield tell


def _table(board: Leaderboard) -> Table:
    title = f"{board.metric} by {board.n_folds} folds of {board.n_rows:,} rows"
    table = Table(
        title=title, title_justify="left", caption="p: that the best is no better", box=SIMPLE, pad_edge=False
    )
    for name in ("method", board.metric, "95 % interval", "p", "fit s", "predict", "KB"):
        table.add_column(name, justify="left" if name == "method" else "right", no_wrap=True)
    for each in board.places:
        table.add_row(
            each.method,
            f"{each.score:.4f}",
            f"{each.low:.4f} … {each.high:.4f}",
            "" if each.p_value is None else f"{each.p_value:.3f}",
            f"{each.fit_seconds:.2f}",
            f"{each.predict_seconds:.3f}",
            "" if each.model_bytes is None else f"{each.model_bytes / 1000:,.0f}",
        )
    return table
