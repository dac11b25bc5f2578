"""`weald predict`: rows of any number in bounded memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import weald
from weald.arrays import AnyEstimator, AnyTable
from weald.cli.limits import reserve_little
from weald.data.files.batches import ROWS, read_batches
from weald.data.files.inputs import import_pyarrow
from weald.data.files.text import TextOptions
from weald.errors import DataError, ParameterError, listing
from weald.io import place
from weald.runs.fitted import columns_of, core_of, types_of

if TYPE_CHECKING:
    import pyarrow as pa

_WRITTEN = (".csv", ".parquet", ".arrow", ".feather")
#: numbers that a batch may have: rows with many columns come a few at a time
_CELLS = 1 << 23
#: rows that stand for columns that are not known, in explanations of models that need them
BACKGROUND_ROWS = 20


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is written of each row besides the prediction."""

    probabilities: bool = False
    interval: float | None = None
    explain: bool = False
    background: str | None = None
    copy: bool = False
    threads: int | None = None


def predict(
    model_path: Path, data: tuple[str, ...], output: Path | None, wanted: Wanted, layout: TextOptions
) -> int:
    """Predict every row and return how many there were; without `output`, CSV goes to standard output."""
    import_pyarrow()
    reserve_little()
    if output is not None and output.suffix not in _WRITTEN:
        raise ParameterError(f"{output} must end in {', '.join(_WRITTEN)}, which tells what is written.")
    if output is not None:
        place.ready(output)
    model = weald.load(model_path)
    if wanted.threads is not None and "n_jobs" in model.get_params(deep=False):
        model.set_params(n_jobs=wanted.threads)
    _check(model, wanted)
    suffix = ".csv" if output is None else output.suffix
    answers = _answers(model, data, wanted, layout, lists=suffix != ".csv")
    if output is None:
        return _write(answers, sys.stdout.buffer, suffix)
    with place.opened(output) as file:
        return _write(answers, file, suffix)


def _check(model: AnyEstimator, wanted: Wanted) -> None:
    name = type(model).__name__
    if wanted.probabilities and not hasattr(model, "predict_proba"):
        raise ParameterError(f"{name} gives no probabilities. Leave --proba out.")
    if wanted.interval is not None and name != "Conformal":
        raise ParameterError(
            f"This {name} gives no intervals: it keeps no rows to judge them by. Train it with: weald fit … "
            "--intervals"
        )
    if wanted.background is not None and not wanted.explain:
        raise ParameterError("--background is for --explain. Leave it out, or add --explain.")


def _answers(
    model: AnyEstimator, data: tuple[str, ...], wanted: Wanted, layout: TextOptions, *, lists: bool
) -> Iterator[pa.Table]:
    import pyarrow as pa

    types, n_columns = types_of(model), int(getattr(model, "n_features_in_", 0))
    rows_at_once = max(1, min(ROWS, _CELLS // max(1, n_columns)))
    background = None
    if wanted.background is not None:
        background = first_rows(model, (wanted.background,), BACKGROUND_ROWS, layout)
    paths = data if len(data) > 1 else data[0]
    needed = None if wanted.copy else [str(name) for name in getattr(model, "feature_names_in_", ())]
    for rows, _ in read_batches(paths, types, layout, n_columns=n_columns, columns=needed, rows=rows_at_once):
        X = columns_of(model, rows)
        if X.shape[0] == 0:
            continue
        named: dict[str, Any] = {}
        if wanted.copy and hasattr(rows, "column_names"):
            named |= dict(zip(rows.column_names, rows.columns, strict=True))
        named["prediction"] = _arrow(model.predict(X))
        if wanted.probabilities:
            named |= _probabilities(model, X)
        if wanted.interval is not None:
            named |= _intervals(model, X, wanted.interval, lists=lists)
        if wanted.explain:
            named |= _contributions(core_of(model), X, background)
        yield pa.table(named)


def _probabilities(model: AnyEstimator, X: AnyTable) -> dict[str, Any]:
    shares = model.predict_proba(X)
    return {f"probability_{label}": shares[:, k] for k, label in enumerate(model.classes_)}


def _intervals(model: AnyEstimator, X: AnyTable, coverage: float, *, lists: bool) -> dict[str, Any]:
    """The ends of intervals; of labels the sets, which text holds as JSON."""
    if not hasattr(model, "classes_"):
        ends = model.predict_interval(X, coverage=coverage)
        return {f"low_{coverage:g}": ends[:, 0], f"high_{coverage:g}": ends[:, 1]}
    labels = model.classes_.tolist()
    sets = [
        [label for label, there in zip(labels, row, strict=True) if there]
        for row in model.predict_set(X, coverage=coverage).tolist()
    ]
    name = f"set_{coverage:g}"
    return {name: sets if lists else [json.dumps(each, ensure_ascii=False, default=str) for each in sets]}


def _contributions(model: AnyEstimator, X: AnyTable, background: Any) -> dict[str, Any]:
    told = weald.explain(model, X, background=background)
    columns = [str(name) for name in told.feature_names or ()]
    outputs = getattr(told, "output_names", None) or [""]
    values = told.values.reshape(*told.values.shape[:2], -1)
    base = np.asarray(told.base_values, np.float64).reshape(len(values), -1)
    found: dict[str, Any] = {}
    for k, output in enumerate(outputs):
        mark = f"{output}_" if output else ""
        found[f"explain_{mark}base"] = base[:, k]
        found |= {f"explain_{mark}{name}": values[:, j, k] for j, name in enumerate(columns)}
    return found


def first_rows(
    model: AnyEstimator, data: tuple[str, ...], n_rows: int, layout: TextOptions, *, skip: int = 0
) -> Any:
    """Rows of files as the model takes them, the first ones after those that are skipped."""
    types, n_columns = types_of(model), int(getattr(model, "n_features_in_", 0))
    paths = data if len(data) > 1 else data[0]
    parts: list[Any] = []
    n_seen = n_taken = 0
    for rows, _ in read_batches(paths, types, layout, n_columns=n_columns):
        n_here = rows.shape[0]
        first, last = max(skip - n_seen, 0), min(n_here, skip + n_rows - n_seen)
        if first < last:
            X = columns_of(model, rows)
            parts.append(X.slice(first, last - first) if hasattr(X, "column_names") else X[first:last])
            n_taken += last - first
        n_seen += n_here
        if n_taken == n_rows:
            break
    if not parts:
        raise DataError(
            f"There is no row {skip + 1:,}: {listing(data)} {'have' if len(data) > 1 else 'has'} "
            f"{n_seen:,} rows."
        )
    return _joined(parts)


def _joined(parts: list[Any]) -> Any:
    import pyarrow as pa
    from scipy import sparse

    if len(parts) == 1:
        return parts[0]
    if hasattr(parts[0], "column_names"):
        return pa.concat_tables(parts, promote_options="permissive")
    return sparse.vstack(parts, format="csr")


def _arrow(values: object) -> Any:
    import pyarrow as pa

    values = np.asarray(values)
    return pa.array(values.tolist() if values.dtype.kind in "OUS" else values)


def _write(tables: Iterator[pa.Table], file: object, suffix: str) -> int:
    import pyarrow as pa
    from pyarrow import csv, parquet

    writer, schema, n_rows = None, None, 0
    makers = {".csv": csv.CSVWriter, ".parquet": parquet.ParquetWriter}
    try:
        for table in tables:
            if writer is None:
                schema = table.schema
                writer = makers.get(suffix, pa.ipc.new_file)(file, schema)
            writer.write_table(table.cast(schema))
            n_rows += table.num_rows
    except BaseException:
        with suppress(Exception):  # else it complains once more when it is forgotten
            if writer is not None:
                writer.close()
        raise
    if writer is None:
        raise DataError("The data has no rows: there is nothing to predict.")
    writer.close()
    return n_rows
