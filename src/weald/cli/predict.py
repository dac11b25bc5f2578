"""`weald predict`: rows of any length in bounded memory, and `weald evaluate`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

import weald
from weald.cli.fit import click_json, tell_scores
from weald.cli.writing import whole
from weald.data.files.batches import read_batches
from weald.data.files.reading import import_pyarrow, read
from weald.errors import DataError, ParameterError
from weald.runs.task import CLASSIFICATION, REGRESSION, read_task
from weald.runs.training import scores

if TYPE_CHECKING:
    import pyarrow as pa

_WRITTEN = (".csv", ".parquet", ".arrow", ".feather")


def predict(model_path: Path, data: str, output: Path | None, *, probabilities: bool, copy: bool) -> int:
    """Predict every row and return how many there were; without `output`, CSV goes to standard output."""
    import_pyarrow()
    model = weald.load(model_path)
    if probabilities and not hasattr(model, "predict_proba"):
        raise ParameterError(f"{type(model).__name__} gives no probabilities. Leave --proba out.")
    answers = _answers(model, data, probabilities=probabilities, copy=copy)
    if output is None:
        return _write(answers, sys.stdout.buffer, ".csv")
    if output.suffix not in _WRITTEN:
        raise ParameterError(f"{output} must end in {', '.join(_WRITTEN)}, which tells what is written.")
    with whole(output) as beside, open(beside, "wb") as file:
        return _write(answers, file, output.suffix)


def evaluate(model_path: Path, data: str, target: str, console: Console, *, as_json: bool) -> None:
    """Score a model on a file."""
    model = weald.load(model_path)
    kind = CLASSIFICATION if hasattr(model, "classes_") else REGRESSION
    table = read(data)
    task = read_task(table, target, kind)
    X = _columns_of(model, table.filter(task.known))
    found = scores(model, X, task.y, kind)
    if as_json:
        record = {"model": str(model_path), "data": data, "target": target, "rows": len(task.y)}
        click_json(console, record | {"scores": [asdict(each) for each in found]})
    else:
        tell_scores(console, found, f"{len(task.y):,} rows")


def _answers(model: Any, data: str, *, probabilities: bool, copy: bool) -> Iterator[pa.Table]:
    import pyarrow as pa

    for rows in read_batches(data, _types(model)):
        X = _columns_of(model, rows)
        named: dict[str, Any] = {"prediction": pa.array(np.asarray(model.predict(X)).tolist())}
        if probabilities:
            shares = model.predict_proba(X)
            named |= {f"probability_{label}": shares[:, k] for k, label in enumerate(model.classes_)}
        answers = pa.table(named)
        if copy:
            for name in reversed(rows.column_names):
                answers = answers.add_column(0, name, rows[name])
        yield answers


def _columns_of(model: Any, rows: pa.Table) -> pa.Table:
    """The columns that the model was trained on; others are of no concern to it."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return rows
    absent = [name for name in names if name not in rows.column_names]
    if absent:
        raise DataError(
            f"The data has no column {absent[0]!r}, which the model was trained on"
            + (f", and {len(absent) - 1} more of its columns are absent" if len(absent) > 1 else "")
            + f". It has {', '.join(rows.column_names[:12])}."
        )
    return rows.select(list(names))


def _types(model: Any) -> dict[str, Any]:
    """What the columns of the model are in text files; text itself is left out."""
    import pyarrow as pa

    schema = getattr(model, "schema_", None)
    if schema is None:
        return {}
    units = {"number": pa.float64(), "bool": pa.bool_(), "datetime": pa.timestamp("us")}
    numeric = (each for each in schema.columns if each.kind == "numeric")
    return {str(each.name): units[each.unit] for each in numeric if each.unit in units}


def _write(tables: Iterator[pa.Table], file: Any, suffix: str) -> int:
    import pyarrow as pa
    from pyarrow import csv, parquet

    writer, n_rows = None, 0
    makers = {".csv": csv.CSVWriter, ".parquet": parquet.ParquetWriter}
    for table in tables:
        if writer is None:
            writer = makers.get(suffix, pa.ipc.new_file)(file, table.schema)
        writer.write_table(table.cast(writer_schema(writer, table)))
        n_rows += table.num_rows
    if writer is not None:
        writer.close()
    return n_rows


def writer_schema(writer: Any, table: pa.Table) -> pa.Schema:
    """The schema of the first batch, where the writer keeps it."""
    return getattr(writer, "schema", table.schema)
