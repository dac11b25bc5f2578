"""`weald demo`: what a user would do with a table, on a real one: compare, fit, report.

It calls the commands with the options that a user would give, and says which these are.
"""

from __future__ import annotations

import shutil
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

from rich.console import Console

from weald.cli.compare import CompareOptions, compare
from weald.cli.fit import FitOptions, fit
from weald.cli.telling import say
from weald.runs.gathering import Question
from weald.runs.recipe import Recipe

#: folds of the comparison, which is to take seconds
FOLDS = 3


def run(console: Console, output: Path | None = None) -> Path:
    """Show the demo and return the path of the report.

    Parameters
    ----------
    console : rich.console.Console
        Where to print.
    output : Path, optional
        The folder for the files, made if absent; None for a new temporary one.

    Returns
    -------
    Path
        The report.
    """
    folder = Path(tempfile.mkdtemp(prefix="weald-demo-")) if output is None else output
    folder.mkdir(parents=True, exist_ok=True)
    table, model, report = (folder / f"penguins.{end}" for end in ("csv", "weald", "html"))
    with as_file(files("weald.datasets") / "penguins.csv") as carried:
        shutil.copyfile(carried, table)
    question = Question((str(table),), "species")

    say(console, f"$ weald compare {table.name} --target species --folds {FOLDS}")
    _, board = compare(CompareOptions(question, folds=FOLDS), console)
    method = board.places[0].method
    say(
        console,
        f"\n$ weald fit {table.name} --target species --method {method} --model {model.name} "
        f"--report {report.name}",
    )
    fit(FitOptions(question, Recipe(method), model=model, report=report), console)
    say(console, f"\n$ weald predict {model.name} {table.name} -o answers.csv   # is next")
    say(console, "The report, for a browser:")
    say(console, str(report))
    return report
