"""`weald demo`: one tree on a real table, from the fit to the reloaded file.

Reads as a script: each step is what a user would write.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from weald import DecisionTreeClassifier, load
from weald.datasets import load_penguins
from weald.errors import WealdError


def run(console: Console, output: Path | None = None) -> Path:
    """Show the demo and return the path of the saved model.

    Parameters
    ----------
    console : rich.console.Console
        Where to print.
    output : Path, optional
        The folder for the model, made if absent; None for a new temporary one.

    Returns
    -------
    Path
        The model file.
    """
    X, y = load_penguins()
    missing = sum(column.count(None) for column in X.values())
    console.rule("The table")
    console.print(
        f"penguins: {len(y)} rows, {len(X)} columns, {missing} missing values; which species is it?"
    )
    console.print("columns: " + ", ".join(X))

    train, test = split_rows(len(y))
    model = DecisionTreeClassifier(max_depth=4, min_samples_leaf=3)
    model.fit(take(X, train), [y[row] for row in train])
    console.rule(f"A tree of {len(train)} rows")
    console.print(Text(model.to_text()), soft_wrap=True)

    labels = np.array([y[row] for row in test])
    predicted = model.predict(take(X, test))
    right = int((predicted == labels).sum())
    console.rule(f"On the {len(test)} rows kept aside")
    console.print(f"accuracy {right / len(test):.3f}: {right} of {len(test)} right")

    folder = Path(tempfile.mkdtemp(prefix="weald-demo-")) if output is None else output
    folder.mkdir(parents=True, exist_ok=True)
    path, again = folder / "penguins.weald", folder / "penguins-again.weald"
    model.save(path)
    loaded = load(path)
    loaded.save(again)
    same_bytes = path.read_bytes() == again.read_bytes()
    again.unlink()
    same_predictions = bool(np.array_equal(predicted, loaded.predict(take(X, test))))
    console.rule("Saved and loaded")
    console.print(f"same predictions: {_yes(same_predictions)}; saved again, same bytes: {_yes(same_bytes)}")
    console.print(f"the model, {path.stat().st_size:,} bytes:")
    console.print(Text(str(path)), soft_wrap=True)
    if not (same_predictions and same_bytes):
        raise WealdError("The loaded model differs from the saved one: a bug in weald, please report it.")
    return path


def split_rows(n_rows: int, share: float = 0.25, seed: int = 1) -> tuple[list[int], list[int]]:
    """Row numbers to train on and to keep aside, drawn at random but the same every time."""
    order = np.random.default_rng(seed).permutation(n_rows)
    n_test = round(share * n_rows)
    return sorted(order[n_test:].tolist()), sorted(order[:n_test].tolist())


def take(table: dict[str, list[Any]], rows: list[int]) -> dict[str, list[Any]]:
    """These rows of a mapping of lists."""
    return {name: [column[row] for row in rows] for name, column in table.items()}


def _yes(value: bool) -> str:
    return "yes" if value else "no"
