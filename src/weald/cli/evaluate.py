"""`weald evaluate`: a model on rows with known answers."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
from rich.console import Console

import weald
from weald.arrays import AnyEstimator
from weald.cli.telling import say, tell_json, tell_scores
from weald.data.files.text import TextOptions
from weald.errors import DataError, listing
from weald.runs.answered import answered
from weald.runs.task import CLASSIFICATION, Task
from weald.runs.training import scores


def evaluate(
    model_path: Path,
    data: tuple[str, ...],
    target: str | None,
    console: Console,
    layout: TextOptions,
    *,
    as_json: bool,
) -> None:
    """Score a model on files."""
    model = weald.load(model_path)
    X, task = answered(model, data, target, layout, fewest=1)
    if task.kind == CLASSIFICATION:
        _check_labels(model, task)
    found = scores(model, X, task.y, task.kind)
    n_lost = int((~task.known).sum())
    if as_json:
        record = {"model": str(model_path), "data": list(data), "target": task.target, "rows": len(task.y)}
        tell_json(
            console, record | {"rows_without_target": n_lost, "scores": [asdict(each) for each in found]}
        )
        return
    if n_lost:
        say(console, f"{n_lost:,} rows without a target left out")
    tell_scores(console, found, f"{len(task.y):,} rows")


def _check_labels(model: AnyEstimator, task: Task) -> None:
    """Labels that the model never saw are its errors; where it saw none, it is another model's data."""
    labels = np.unique(task.y)
    strange = [label for label in labels.tolist() if label not in set(model.classes_.tolist())]
    if len(strange) == len(labels):
        raise DataError(
            f"The model knows the labels {listing(model.classes_.tolist())}, and column {task.target!r} has "
            f"none of them: {listing(strange)}. Is it the right column?"
        )
