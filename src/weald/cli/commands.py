"""The subcommands of `weald`, one function each; the work is done in a module of the same name."""

from __future__ import annotations

from pathlib import Path

import click

from weald import __version__
from weald.errors import WealdError


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
    from rich.console import Console

    from weald.cli.demo import run

    try:
        run(Console(highlight=False), output)
    except (WealdError, OSError) as error:
        raise click.ClickException(str(error)) from error
