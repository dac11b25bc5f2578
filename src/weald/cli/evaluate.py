"""`weald evaluate`: a model on rows with known answers."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import weald
from weald.arrays import AnyEstimator
from weald.cli.telling import say, tell_json, tell_scores
from weald.data.files.batches import read_batches
from weald.data.files.text import TextOptions
from weald.errors import DataError, listing
from weald.runs.fitted import columns_of, labels_like, types_of
from weald.runs.gathering import LIBSVM_TARGET
from weald.runs.task import CLASSIFICATION, REGRESSION, Task, read_task, task_of
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
    X, task = _rows(model, data, target, layout)
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


def _rows(
    model: AnyEstimator, data: tuple[str, ...], target: str | None, layout: TextOptions
) -> tuple[Any, Task]:
    import pyarrow as pa
    from scipy import sparse

    kind = CLASSIFICATION if hasattr(model, "classes_") else REGRESSION
    types = types_of(model) | ({} if kind == CLASSIFICATION or target is None else {target: pa.float64()})
    n_columns = int(getattr(model, "n_features_in_", 0))
    paths = data if len(data) > 1 else data[0]
    batches = list(read_batches(paths, types, layout, n_columns=n_columns))
    if not batches or batches[0][0].shape[0] == 0:
        raise DataError(f"{listing(data)} has no rows: there is nothing to score the model on.")
    if batches[0][1] is not None:  # LIBSVM's format
        if target is not None and target not in LIBSVM_TARGET:
            raise DataError(
                "In LIBSVM's format the first number of each line is the target. Leave --target out."
            )
        y = np.concatenate([y for _, y in batches])
        whole = bool(np.all(y == np.floor(y)))
        X = columns_of(model, sparse.vstack([X for X, _ in batches], format="csr"))
        return X, task_of(y.astype(np.int64) if whole else y, kind, LIBSVM_TARGET[0])
    table = pa.concat_tables([each for each, _ in batches], promote_options="permissive")
    if target is None:
        raise DataError(
            f"Which column has the answers? Name it with --target; there are "
            f"{listing(table.column_names, 12)}."
        )
    if kind == CLASSIFICATION and target in table.column_names:
        place = table.column_names.index(target)
        table = table.set_column(place, target, labels_like(table[target], np.asarray(model.classes_)))
    task = read_task(table, target, kind)
    return columns_of(model, table.filter(task.known)), task


def _check_labels(model: AnyEstimator, task: Task) -> None:
    """Labels that the model never saw are its errors; where it saw none, it is another model's data."""
    labels = np.unique(task.y)
    strange = [label for label in labels.tolist() if label not in set(model.classes_.tolist())]
    if len(strange) == len(labels):
        raise DataError(
            f"The model knows the labels {listing(model.classes_.tolist())}, and column {task.target!r} has "
            f"none of them: {listing(strange)}. Is it the right column?"
        )
