"""`weald info`: what a model file holds, from the file alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import weald
from weald.cli.fit import click_json

#: columns that are listed
_SHOWN = 40


def info(path: Path, console: Console, *, as_json: bool) -> None:
    """Tell what the file holds."""
    record = describe(path)
    if as_json:
        click_json(console, record)
        return
    for name in ("file", "bytes", "kind", "learns", "trees", "leaves"):
        if record[name] is not None:
            value = record[name]
            console.print(
                f"{name:10}{value:,}" if isinstance(value, int) else f"{name:10}{value}", markup=False
            )
    if record["classes"]:
        console.print(f"{'classes':10}{', '.join(map(str, record['classes'][:20]))}", markup=False)
    changed = ", ".join(f"{name}={value!r}" for name, value in record["parameters"].items())
    console.print(f"{'set':10}{changed or 'nothing: all defaults'}", markup=False, soft_wrap=True)
    table = Table(title=f"{len(record['columns'])} columns", title_justify="left")
    for name in ("column", "kind", "categories"):
        table.add_column(name, justify="right" if name == "categories" else "left")
    for each in record["columns"][:_SHOWN]:
        table.add_row(str(each["name"]), each["kind"], f"{each['levels']:,}" if each["levels"] else "")
    console.print(table)
    if len(record["columns"]) > _SHOWN:
        console.print(f"and {len(record['columns']) - _SHOWN:,} more: see --json")


def describe(path: Path) -> dict[str, Any]:
    """What a model file holds, as plain values."""
    model = weald.load(path)
    forest, schema = getattr(model, "forest_", None), getattr(model, "schema_", None)
    defaults = type(model)().get_params() if _plain(model) else {}
    params = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if name not in defaults or repr(defaults[name]) != repr(value)
    }
    labels = getattr(model, "classes_", None)
    return {
        "file": str(path),
        "bytes": path.stat().st_size,
        "kind": type(model).__name__,
        "learns": "labels" if labels is not None else "numbers",
        "classes": [] if labels is None else [_value(each) for each in labels],
        "trees": None if forest is None else forest.n_trees,
        "leaves": None if forest is None else len(forest.value),
        "parameters": {name: _value(value) for name, value in params.items()},
        "columns": [
            {"name": _value(each.name), "kind": each.kind, "levels": len(each.levels)}
            for each in (() if schema is None else schema.columns)
        ],
        "weald": weald.__version__,
    }


def _plain(model: Any) -> bool:
    """Whether its class can be made without arguments."""
    try:
        type(model)()
    except TypeError:
        return False
    return True


def _value(value: Any) -> Any:
    """As JSON takes it."""
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)
