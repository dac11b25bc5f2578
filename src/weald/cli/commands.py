"""The subcommands of `weald`, one function each; the work is done in a module of the same name.

What a command needs is imported when it runs, so that `weald --help` is quick. `weald convert`, between
model files and those of other libraries, will stand between `info` and `methods`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from weald import __version__
from weald.cli import options
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
    help="Keep the model and the report in this folder; without it, they go to a temporary one.",
)
def demo(output: Path | None) -> None:
    """Compare, fit and report on the penguins carried in the package."""
    with told():
        from weald.cli.demo import run

        run(_console(), output)


@weald.command()
@options.DATA
@options.QUESTION
@options.RECIPE
@click.option("--resample", metavar="NAME", help="Balance the labels of training rows: over, under, smote, …")
@click.option("--threshold", metavar="NUMBER", help="When to call the rarer label; or best for: f1, …")
@click.option("--intervals", is_flag=True, help="Let `weald predict --interval` tell how sure answers are.")
@options.SPLIT
@options.SEED
@options.THREADS
@options.MODEL_OUT
@options.REPORT
@options.PAGES
@options.CONFIG
@options.JSON
@click.pass_context
def fit(context: click.Context, /, as_json: bool, write_config: Path | None, **given: Any) -> None:
    """Train a model on a table and score it on rows kept aside.

    DATA is a file, several, or a pattern: CSV, TSV, Parquet, Arrow, JSON lines, LIBSVM, plain or compressed;
    - is standard input.
    """
    with told():
        from weald.cli.config import write_config as write
        from weald.cli.fit import FitOptions
        from weald.cli.fit import fit as run

        options.ready_to_write(write_config, given["model"], given["report"])
        asked = dict(given)
        del given["config"]
        question, recipe = options.question_of(given), options.recipe_of(given)
        run(FitOptions(question, recipe, **given), _console(), as_json=as_json)
        if write_config is not None:
            write(write_config, context.command, asked)


@weald.command(short_help="Rank the methods by cross-validation.")
@options.DATA
@options.QUESTION
@click.option("--method", "methods", multiple=True, metavar="NAME", help="Only this one; may be repeated.")
@click.option("--folds", default=5, show_default=True, type=click.IntRange(2))
@click.option(
    "--rows",
    "most_rows",
    default="auto",
    show_default=True,
    metavar="NUMBER",
    help="Of more rows so many are drawn; all takes all. By default 20,000, and fewer of many labels or "
    "columns, which takes minutes.",
)
@options.SEED
@options.THREADS
@options.REPORT
@options.JSON
def compare(as_json: bool, **given: Any) -> None:
    """Rank all methods on a table by cross-validation, with intervals and tests against the best."""
    with told():
        from weald.cli.compare import CompareOptions
        from weald.cli.compare import compare as run

        options.ready_to_write(given["report"])
        question = options.question_of(given)
        run(CompareOptions(question, **given), _console(), as_json=as_json)


@weald.command(short_help="Search parameters, then fit with the best.")
@options.DATA
@options.QUESTION
@options.RECIPE
@options.SPLIT
@click.option("--trials", default=40, show_default=True, type=click.IntRange(2), help="Settings tried.")
@click.option("--folds", default=3, show_default=True, type=click.IntRange(2))
@click.option(
    "--state", type=click.Path(path_type=Path), metavar="FILE", help="Keep scores; go on from them."
)
@options.SEED
@options.THREADS
@options.MODEL_OUT
@options.REPORT
@options.CONFIG
@options.JSON
@click.pass_context
def tune(context: click.Context, /, as_json: bool, write_config: Path | None, **given: Any) -> None:
    """Search good parameters of a method by successive halving, then fit with them.

    Many settings are tried on few rows, the better third of them on three times as many, and so on. With
    --state the scores are kept in a file: the same command goes on where it was interrupted. --write-config
    writes what `weald fit --config` takes.
    """
    with told():
        from weald.cli.tune import TuneOptions
        from weald.cli.tune import tune as run

        options.ready_to_write(write_config, given["state"], given["model"], given["report"])
        asked = dict(given)
        del given["config"]
        question, recipe = options.question_of(given), options.recipe_of(given)
        found = run(TuneOptions(question, recipe, **given), _console(), as_json=as_json)
        if write_config is not None:
            from weald.cli.config import write_config as write

            pairs = [f"{name}={value}" for name, value in found.items()]
            write(write_config, fit, asked | {"settings": (*asked["settings"], *pairs)})


@weald.command(short_help="Predict every row of DATA.")
@options.MODEL
@options.DATA
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="CSV, Parquet or Arrow."
)
@click.option("--proba", "probabilities", is_flag=True, help="Add the probability of each label.")
@click.option(
    "--interval",
    type=click.FloatRange(0, 1, True, True),
    metavar="SHARE",
    help="Add intervals, or sets of labels, that hold so many answers.",
)
@click.option("--explain", is_flag=True, help="Add what each column adds to the score.")
@click.option("--background", metavar="FILE", help="Rows for --explain of models that are no sums of trees.")
@click.option("--copy", is_flag=True, help="Write the columns of the data beside the predictions.")
@options.LAYOUT
@options.THREADS
def predict(model: Path, data: tuple[str, ...], output: Path | None, **given: Any) -> None:
    """Predict every row of DATA, some rows at a time; without -o as CSV on standard output."""
    with told():
        from weald.cli.predict import Wanted
        from weald.cli.predict import predict as run

        layout = options.layout_of(given)
        n_rows = run(model, data, output, Wanted(**given), layout)
        if output is not None:
            click.echo(f"{n_rows:,} rows: {output}")


@weald.command()
@options.MODEL
@options.DATA
@options.TARGET
@options.LAYOUT
@options.JSON
def evaluate(model: Path, data: tuple[str, ...], target: str | None, as_json: bool, **given: Any) -> None:
    """Score MODEL on DATA, with intervals and beside a baseline."""
    with told():
        from weald.cli.evaluate import evaluate as run

        run(model, data, target, _console(), options.layout_of(given), as_json=as_json)


@weald.command(short_help="Tell what MODEL goes by.")
@options.MODEL
@click.argument("data", nargs=-1, metavar="[DATA]...")
@click.option("--row", type=click.IntRange(1), metavar="N", help="What adds up to the answer for row N.")
@click.option("--rows", "n_rows", default=1000, show_default=True, type=click.IntRange(1), help="Looked at.")
@options.LAYOUT
@options.JSON
def explain(
    model: Path, data: tuple[str, ...], row: int | None, n_rows: int, as_json: bool, **given: Any
) -> None:
    """Tell what MODEL goes by: as a whole, over the rows of DATA, or for one row."""
    with told():
        from weald.cli.explain import explain as run

        layout = options.layout_of(given)
        run(model, data, _console(), layout, row=row, n_rows=n_rows, as_json=as_json)


@weald.command()
@options.MODEL
@options.JSON
def info(model: Path, as_json: bool) -> None:
    """Tell what the file MODEL holds, and whether it is whole."""
    with told():
        from weald.cli.info import info as run

        run(model, _console(), as_json=as_json)


@weald.command()
def methods() -> None:
    """List the methods that `weald fit` knows."""
    with told():
        from weald.runs.methods import METHODS, named

        for method in METHODS:
            click.echo(f"{method:16}{named(method)}")


def _console() -> Any:
    from rich.console import Console

    return Console(highlight=False)
