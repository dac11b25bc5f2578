"""The subcommands of `weald`, one function each; the work is done in a module of the same name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from weald import __version__
from weald.cli.failing import told


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="weald")
def weald() -> None:
    """Supervised learning on tables."""


@weald.command()
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep the model in this folder; without it, it goes to a temporary one.",
)
def demo(output: Path | None) -> None:
    """Fit, print, save and reload a decision tree on the penguins carried in the package."""
    from weald.cli.demo import run

    with told():
        run(_console(), output)


_DATA = click.argument("data", nargs=-1, required=True, metavar="DATA...")
_MODEL = click.argument("model", type=click.Path(path_type=Path))
_JSON = click.option("--json", "as_json", is_flag=True, help="Print plain JSON.")
_TARGET = click.option("--target", required=True, metavar="COLUMN", help="The column to learn.")


@weald.command()
@_DATA
@_TARGET
@click.option("--method", default="xgboost", show_default=True, metavar="NAME", help="See `weald methods`.")
@click.option("--task", type=click.Choice(["classification", "regression"]), help="Else by the target.")
@click.option("--weight", metavar="COLUMN", help="Weights of the rows.")
@click.option("--group", metavar="COLUMN", help="Rows of one group are not parted by the test.")
@click.option("--order", metavar="COLUMN", help="Test on the last rows in this order, such as a date.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; may be repeated.")
@click.option("--keep", multiple=True, metavar="COLUMN", help="Keep a column that looks useless.")
@click.option("--test-share", default=0.2, show_default=True, type=click.FloatRange(0, 1, True, True))
@click.option("--seed", default=0, show_default=True)
@click.option("--threads", type=int, help="Else all CPUs.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Any parameter of the method.")
@click.option("--model", type=click.Path(path_type=Path), metavar="FILE", help="Write the model there.")
@_JSON
def fit(as_json: bool, **given: Any) -> None:
    """Train a model on a table and score it on rows kept aside.

    DATA is a file, several, or a pattern: CSV, TSV, Parquet, Arrow, JSON lines, plain or compressed; - is
    standard input.
    """
    from weald.cli.fit import FitOptions
    from weald.cli.fit import fit as run

    with told():
        run(FitOptions(**given), _console(), as_json=as_json)


@weald.command()
@_DATA
@_TARGET
@click.option("--method", "methods", multiple=True, metavar="NAME", help="Only this one; may be repeated.")
@click.option("--task", type=click.Choice(["classification", "regression"]), help="Else by the target.")
@click.option("--group", metavar="COLUMN", help="Rows of one group stay in one fold.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; may be repeated.")
@click.option("--keep", multiple=True, metavar="COLUMN", help="Keep a column that looks useless.")
@click.option("--folds", default=5, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--threads", type=int, help="Else all CPUs.")
@_JSON
def compare(as_json: bool, **given: Any) -> None:
    """Rank all methods on a table by cross-validation, with intervals and tests against the best."""
    from weald.cli.compare import CompareOptions
    from weald.cli.compare import compare as run

    with told():
        run(CompareOptions(**given), _console(), as_json=as_json)


@weald.command()
@_MODEL
@click.argument("data")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="CSV, Parquet or Arrow."
)
@click.option("--proba", "probabilities", is_flag=True, help="Add the probability of each label.")
@click.option("--copy", is_flag=True, help="Write the columns of the data beside the predictions.")
def predict(model: Path, data: str, output: Path | None, probabilities: bool, copy: bool) -> None:
    """Predict every row of DATA, some rows at a time; without -o as CSV on standard output."""
    from weald.cli.predict import predict as run

    with told():
        n_rows = run(model, data, output, probabilities=probabilities, copy=copy)
        if output is not None:
            click.echo(f"{n_rows:,} rows: {output}")


@weald.command()
@_MODEL
@click.argument("data")
@_TARGET
@_JSON
def evaluate(model: Path, data: str, target: str, as_json: bool) -> None:
    """Score MODEL on DATA, with intervals and beside a baseline."""
    from weald.cli.predict import evaluate as run

    with told():
        run(model, data, target, _console(), as_json=as_json)


@weald.command()
@_MODEL
@_JSON
def info(model: Path, as_json: bool) -> None:
    """Tell what the file MODEL holds."""
    from weald.cli.info import info as run

    with told():
        run(model, _console(), as_json=as_json)


@weald.command()
def methods() -> None:
    """List the methods that `weald fit` knows."""
    from weald.runs.methods import METHODS, named

    for method in METHODS:
        click.echo(f"{method:16}{named(method)}")


def _console() -> Any:
    from rich.console import Console

    return Console(highlight=False)
