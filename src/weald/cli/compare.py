"""`weald compare`: all methods by cross-validation, as a leaderboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from weald.cli.fit import tell_data
from weald.cli.telling import say, tell_json, unlogged, working
from weald.errors import ParameterError
from weald.runs.comparing import AUTO
from weald.runs.comparing import compare as run
from weald.runs.gathering import Given, Question, gather
from weald.runs.leaderboard import Leaderboard
from weald.runs.methods import METHODS

#: what `--rows` takes besides numbers
ALL = "all"


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What the command was told."""

    question: Question
    methods: tuple[str, ...] = ()
    folds: int = 5
    most_rows: str = AUTO
    seed: int = 0
    threads: int | None = None
    report: Path | None = None


def compare(options: CompareOptions, console: Console, *, as_json: bool = False) -> tuple[Given, Leaderboard]:
    """Train every method and rank them."""
    most = _most(options.most_rows)
    with working("reading"):
        given = gather(options.question)
    methods = options.methods or None
    with _progress(len(methods or METHODS) * options.folds) as tell, unlogged():
        board = run(
            given.X,
            given.task.y,
            methods=methods,
            task=given.task.kind,
            folds=options.folds,
            groups=given.groups,
            sample_weight=given.weight,
            max_rows=most,
            random_state=options.seed,
            n_jobs=options.threads,
            tell=tell,
        )
    if options.report is not None:
        _report(options, given, board)
    if as_json:
        record = {
            "data": list(options.question.data),
            "target": given.task.target,
            "task": given.task.kind,
            "columns": [asdict(each) for each in given.found],
            "notes": given.notes,
        }
        tell_json(console, record | asdict(board) | {"advice": board.advice()})
        return given, board
    tell_data(console, given)
    tell_board(console, board)
    if options.report is not None:
        say(console, f"report    {options.report}")
    return given, board


def _most(text: str) -> int | Literal["auto"] | None:
    if text == AUTO:
        return AUTO
    if text == ALL:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise ParameterError(f"--rows takes a number of rows, {AUTO}, or {ALL}; got {text!r}.")
    return int(text)


def _report(options: CompareOptions, given: Given, board: Leaderboard) -> None:
    from weald.report import report

    data = options.question.data
    notes = [*(str(each) for each in given.found), *given.notes]
    source = data[0] if len(data) == 1 and Path(data[0]).is_file() else None
    report(board, path=options.report, target=given.task.target, source=source, notes=notes)


def tell_board(console: Console, board: Leaderboard) -> None:
    """The leaderboard, what failed, and the advice."""
    for note in board.notes:
        say(console, f"          {note.replace('max_rows=None', f'--rows {ALL}')}")
    console.print(_table(board))
    for method, why in board.failed.items():
        say(console, f"{method} failed: {why}")
    say(console, board.advice())


@contextmanager
def _progress(n_steps: int) -> Iterator[Callable[..., None]]:
    """A bar on stderr with the best so far, where that is a terminal."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[best]}"),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        line = bar.add_task("", total=n_steps, best="")

        def tell(method: str, fold: int, n_folds: int, best: str = "") -> None:
            bar.update(line, description=f"{method}, fold {fold + 1} of {n_folds}", advance=1, best=best)

        yield tell


def _table(board: Leaderboard) -> Table:
    title = f"{board.metric} by {board.n_folds} folds of {board.n_rows:,} rows"
    caption = "p: that the best is no better; times of one fold"
    table = Table(
        title=title, title_justify="left", caption=caption, caption_justify="left", box=SIMPLE, pad_edge=False
    )
    for name in ("method", board.metric, "95 % interval", "p", "fit s", "predict s", "size"):
        table.add_column(name, justify="left" if name == "method" else "right", no_wrap=True)
    for each in board.places:
        table.add_row(*_row(each))
    return table


def _row(place: Any) -> tuple[str, ...]:
    return (
        place.method,
        f"{place.score:.4f}",
        f"{place.low:.4f} … {place.high:.4f}",
        "" if place.p_value is None else f"{place.p_value:.3f}",
        f"{place.fit_seconds:.2f}",
        f"{place.predict_seconds:.3f}",
        "" if place.model_bytes is None else _size(place.model_bytes),
    )


def _size(n_bytes: int) -> str:
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.3g} {name}"
    return f"{n_bytes / 1000:.0f} KB"
