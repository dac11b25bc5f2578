"""How commands tell: lines, tables of scores, plain JSON."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from weald.runs.training import Score


def say(console: Console, line: str) -> None:
    """One line as it is: nothing in it is markup, and pipes get it unbroken."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def tell_json(console: Console, record: dict[str, Any]) -> None:
    """Plain JSON on standard output."""
    console.out(json.dumps(_plain(record), ensure_ascii=False, indent=2, allow_nan=False), highlight=False)


def _plain(value: object) -> Any:
    """Values as JSON has them: what is no number is null."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)


def tell_scores(console: Console, scores: Sequence[Score], rows: str) -> None:
    """Print scores with their intervals beside those of a baseline."""
    table = table_of(("metric", "score", "95 % interval", "baseline"), title=f"on {rows}")
    for each in scores:
        ends = "none" if math.isnan(each.low) else f"{each.low:.4g} … {each.high:.4g}"
        table.add_row(each.name, _number(each.value), ends, _number(each.baseline))
    console.print(table)
    for each in scores:
        if each.note:
            say(console, f"          {each.name}: {each.note}")


def _number(value: float) -> str:
    return "none" if math.isnan(value) else f"{value:.4g}"


def table_of(columns: Sequence[str], *, title: str | None = None, caption: str | None = None) -> Table:
    """An empty table whose first column is of words and whose others are of numbers."""
    table = Table(title=title, title_justify="left", caption=caption, caption_justify="left", box=SIMPLE)
    for place, name in enumerate(columns):
        table.add_column(name, justify="right" if place else "left", no_wrap=place > 0)
    return table


@contextmanager
def unlogged() -> Iterator[None]:
    """What models log is of one fit; of hundreds, in a search or a comparison, it says nothing."""
    logger = logging.getLogger("weald")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def working(what: str) -> Iterator[None]:
    """A sign on stderr that something is being done, where that is a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield
