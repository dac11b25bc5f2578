"""Options from a TOML file, and options written to one.

Names are those of the long options; `[set]` holds parameters of the method. What the command line says
counts more than what the file says.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from weald.errors import DataError, ParameterError, nearest
from weald.io import place

_SET = "set"


def read_config(path: Path, known: Mapping[str, str]) -> dict[str, Any]:
    """The options of a file by the names of their parameters.

    Parameters
    ----------
    path : Path
        The file.
    known : mapping
        Names in files to names of parameters.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is no TOML: {error}.") from error
    settings = content.pop(_SET, {})
    if not isinstance(settings, dict):
        raise DataError(f"{path}: [set] holds parameters, such as max_depth = 4 on a line below it.")
    found: dict[str, Any] = {}
    for name, value in content.items():
        option = name.replace("_", "-")
        if option not in known:
            close = nearest(option, known)
            raise ParameterError(
                f"{path} has an unknown entry {name!r}. "
                + (f"Did you mean {close!r}?" if close else f"There are {', '.join(sorted(known))}.")
            )
        found[known[option]] = value
    if settings:
        found["settings"] = [f"{name}={json.dumps(value)}" for name, value in settings.items()]
    return found


def load_config(context: click.Context, _: click.Parameter, path: Path | None) -> Path | None:
    """The callback of `--config`: options that the command line does not give come from the file."""
    if path is not None:
        from weald.cli.failing import told

        with told():
            found = read_config(path, _names(context.command))
            context.default_map = {**(context.default_map or {}), **found}
    return path


def write_config(path: Path, command: click.Command, given: Mapping[str, Any]) -> None:
    """Write the options of this call, so that `--config` repeats it."""
    lines = []
    two_sided = {param.name for param in command.params if param.secondary_opts}
    for option, name in sorted(_names(command).items()):
        value = given.get(name)
        off = value is False and name not in two_sided
        if value is None or value == () or off or name == "settings":
            continue
        lines.append(f"{option} = {_toml(value)}")
    settings = [pair.partition("=") for pair in given.get("settings", ())]
    if settings:
        lines += ["", f"[{_SET}]", *(f"{name} = {_toml(_value(text))}" for name, _, text in settings)]
    place.write(path, "\n".join([*lines, ""]).encode())


def _names(command: click.Command) -> dict[str, str]:
    """What options are called in files, and their parameters; those about files of options are left out."""
    found = {}
    for param in command.params:
        name = str(param.name)
        if name in {"config", "write_config", "as_json", "settings"}:
            continue
        option = max((each for each in param.opts), key=len).lstrip("-")
        found[option if isinstance(param, click.Option) else name] = name
    return found


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(each) for each in value)}]"
    return json.dumps("none" if value is None else str(value), ensure_ascii=False)
