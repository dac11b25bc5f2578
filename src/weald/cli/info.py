"""`weald info`: what a model file holds, from the file alone."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from rich.console import Console

import weald
from weald.arrays import AnyEstimator
from weald.cli.telling import say, table_of, tell_json
from weald.errors import WealdError
from weald.io.model_file import about
from weald.runs.fitted import core_of, schema_of

#: columns that are listed
_SHOWN = 40
#: labels that are listed
_LABELS = 20


def info(path: Path, console: Console, *, as_json: bool) -> None:
    """Tell what the file holds."""
    record = describe(path)
    if as_json:
        tell_json(console, record)
        return
    for name in ("file", "bytes", "kind", "around", "learns", "trees", "leaves", "rounds"):
        value = record[name]
        if value is not None:
            say(console, f"{name:10}{value:,}" if isinstance(value, int) else f"{name:10}{value}")
    if record["classes"]:
        more = len(record["classes"]) - _LABELS
        labels = ", ".join(map(str, record["classes"][:_LABELS])) + (
            f" and {more:,} more" if more > 0 else ""
        )
        say(console, f"{'classes':10}{labels}")
    changed = ", ".join(f"{name}={value!r}" for name, value in record["parameters"].items())
    say(console, f"{'set':10}{changed or 'nothing: all defaults'}")
    versions = record["versions"]
    say(
        console,
        f"{'format':10}{versions['format']}, read by weald {versions['needs']} and later; this is weald "
        f"{versions['weald']}",
    )
    checks = record["checks"]
    say(console, f"{'checks':10}the checksum matches, all parts fit each other; {checks['same_bytes']}")
    say(console, f"{'SHA-256':10}{checks['sha256']}")
    _tell_columns(console, record["columns"], record["n_columns"])


def _tell_columns(console: Console, columns: list[dict[str, Any]], n_columns: int) -> None:
    if not columns:
        say(console, f"{n_columns:,} columns without names")
        return
    table = table_of(("column", "kind", "categories"), title=f"{n_columns:,} columns")
    table.columns[1].justify = "left"
    for each in columns[:_SHOWN]:
        kind = each["kind"] + (f" ({each['unit']})" if each["unit"] != "number" else "")
        table.add_row(str(each["name"]), kind, f"{each['levels']:,}" if each["levels"] else "")
    console.print(table)
    if len(columns) > _SHOWN:
        say(console, f"and {len(columns) - _SHOWN:,} more: see --json")


def describe(path: Path) -> dict[str, Any]:
    """What a model file holds, as plain values; a file that is damaged raises."""
    content = path.read_bytes()
    model: AnyEstimator = weald.load(path)
    forest, schema = getattr(model, "forest_", None), schema_of(model)
    defaults = type(model)().get_params() if _plain(model) else {}
    params = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if name not in defaults or repr(defaults[name]) != repr(value)
    }
    labels = getattr(model, "classes_", None)
    inner = core_of(model)
    told = about(content)
    best = getattr(model, "best_iteration", None)
    named = schema is not None and schema.named
    return {
        "file": str(path),
        "bytes": len(content),
        "kind": type(model).__name__,
        "around": None if inner is model else type(inner).__name__,
        "learns": "labels" if labels is not None else "numbers",
        "classes": [] if labels is None else [_value(each) for each in labels],
        "trees": None if forest is None else forest.n_trees,
        "leaves": None if forest is None else len(forest.value),
        "rounds": None if best is None else int(best) + 1,
        "parameters": {name: _value(value) for name, value in params.items()},
        "n_columns": int(getattr(model, "n_features_in_", 0)),
        "columns": [
            {"name": _value(each.name), "kind": each.kind, "unit": each.unit, "levels": len(each.levels)}
            for each in (schema.columns if schema is not None and named else ())
        ],
        "versions": {"weald": weald.__version__, "format": told["format"], "needs": told["needs"]},
        "checks": {
            "sha256": hashlib.sha256(content).hexdigest(),
            "checksum": told["checksum"],
            "same_bytes": _again(model, content),
        },
    }


def _again(model: AnyEstimator, content: bytes) -> str:
    """Whether this version would write the file as it is."""
    try:
        same = model.to_bytes() == content
    except WealdError:
        return "this version could not write it"
    return "written again it is the same to the byte" if same else "this version writes it otherwise"


def _plain(model: AnyEstimator) -> bool:
    """Whether its class can be made without arguments."""
    try:
        type(model)()
    except TypeError:
        return False
    return True


def _value(value: object) -> Any:
    """As JSON takes it."""
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)
