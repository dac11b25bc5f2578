"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from weald.cli.config import load_config
from weald.errors import ParameterError

F = TypeVar("F", bound=Callable[..., Any])
_FILE = click.Path(path_type=Path)


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, shown in this order."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


DATA = click.argument("data", nargs=-1, required=True, metavar="DATA...")
MODEL = click.argument("model", type=_FILE)
JSON = click.option("--json", "as_json", is_flag=True, help="Print plain JSON.")
TARGET = click.option("--target", metavar="COLUMN", help="The column to learn; not for LIBSVM files.")
THREADS = click.option("--threads", type=click.IntRange(1), help="Else all CPUs.")

LAYOUT = together(
    click.option("--delimiter", metavar="CHAR", help="Of text in columns; else guessed."),
    click.option("--encoding", metavar="NAME", help="Of text, such as cp1252; else guessed."),
    click.option("--no-header", is_flag=True, help="Text has no line of names: columns are f0, f1, …"),
)
#: what is asked of the table
QUESTION = together(
    TARGET,
    click.option("--task", type=click.Choice(["classification", "regression"]), help="Else by the target."),
    click.option("--weight", metavar="COLUMN", help="Weights of the rows."),
    click.option("--group", metavar="COLUMN", help="Rows of one group are never parted."),
    click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; may be repeated."),
    click.option("--keep", multiple=True, metavar="COLUMN", help="Keep a column that looks useless."),
    LAYOUT,
)
#: what is trained
RECIPE = together(
    click.option(
        "--method", default="xgboost", show_default=True, metavar="NAME", help="See `weald methods`."
    ),
    click.option(
        "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Any parameter of the method."
    ),
    click.option(
        "--class-weight",
        multiple=True,
        metavar="LABEL=WEIGHT",
        help="What rows of a label count; or: balanced.",
    ),
)
SPLIT = together(
    click.option("--order", metavar="COLUMN", help="Test on the last rows in this order, such as a date."),
    click.option(
        "--test-share",
        default=0.2,
        show_default=True,
        type=click.FloatRange(0, 1, True, True),
        help="Of the rows, kept aside.",
    ),
)
SEED = click.option(
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(0, 2**32 - 1),
    help="What is drawn goes by it.",
)
CONFIG = together(
    click.option(
        "--config",
        type=_FILE,
        metavar="FILE",
        is_eager=True,
        callback=load_config,
        help="Options from a TOML file; those given here count more.",
    ),
    click.option("--write-config", type=_FILE, metavar="FILE", help="Write these options as TOML."),
)
MODEL_OUT = click.option("--model", type=_FILE, metavar="FILE", help="Write the model there.")
REPORT = click.option("--report", type=_FILE, metavar="FILE", help="Write a report there: one HTML file.")

PAGES = click.option(
    "--pages/--no-pages",
    default=None,
    help="Code the rows into pages on disk, for tables larger than memory (method xgboost); by default "
    "where they would take more than a quarter of memory.",
)


def ready_to_write(*paths: Path | None) -> None:
    """Fail before the work begins if what is to be written cannot be."""
    from weald.io import place

    given = [path for path in paths if path is not None]
    for k, path in enumerate(given):
        place.ready(path)
        if path.resolve() in {each.resolve() for each in given[:k]}:
            raise ParameterError(f"Two files are to be written to {path}. Give each a name of its own.")


def layout_of(given: dict[str, Any]) -> Any:
    """Take the layout of text out of the options given."""
    from weald.data.files.text import TextOptions

    return TextOptions(given.pop("delimiter"), given.pop("encoding"), not given.pop("no_header"))


def question_of(given: dict[str, Any]) -> Any:
    """Take what is asked of the table out of the options given."""
    from weald.runs.gathering import Question

    names = ("data", "target", "task", "weight", "group", "drop", "keep")
    asked = {name: given.pop(name) for name in names}
    return Question(**asked, order=given.pop("order", None), layout=layout_of(given))


def recipe_of(given: dict[str, Any]) -> Any:
    """Take what is trained out of the options given."""
    from weald.runs.recipe import Recipe, read_settings

    names = ("method", "seed", "threads", "class_weight", "resample", "threshold", "intervals")
    told = {name: given.pop(name) for name in names if name in given}
    return Recipe(**told, settings=read_settings(given.pop("settings")))
