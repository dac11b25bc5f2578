"""`weald explain`: what a model goes by, as a whole and for single rows."""

from __future__ import annotations

from datetime import datetime, time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import weald
from weald.arrays import AnyEstimator, AnyTable
from weald.cli.predict import BACKGROUND_ROWS, first_rows
from weald.cli.telling import say, table_of, tell_json
from weald.data.files.text import TextOptions
from weald.errors import ParameterError
from weald.runs.fitted import core_of

#: columns that are listed
_SHOWN = 20
#: rows of models that are no sums of trees, which are asked again for every set of columns
_MOST_ASKED = 20
#: characters of a bar
_WIDE = 24


def explain(
    model_path: Path,
    data: tuple[str, ...],
    console: Console,
    layout: TextOptions,
    *,
    row: int | None,
    n_rows: int,
    as_json: bool,
) -> None:
    """What matters: from the model alone, from rows, or for one row."""
    model = weald.load(model_path)
    if not data:
        if row is not None:
            raise ParameterError("--row tells a row of DATA: name the file too.")
        _of_model(model, model_path, console, as_json=as_json)
    elif row is None:
        _of_rows(model, data, n_rows, console, layout, as_json=as_json)
    else:
        _of_one(model, data, row, console, layout, as_json=as_json)


def _of_model(model: AnyEstimator, path: Path, console: Console, *, as_json: bool) -> None:
    """Importances that the file itself holds."""
    core = core_of(model)
    shares = getattr(core, "feature_importances_", None)
    what = "share of what the splits by a column gain"
    if shares is None:
        shares = _slopes(core)
        what = "mean absolute slope, of columns brought to one scale"
    if shares is None:
        raise ParameterError(
            f"A {type(core).__name__} does not tell by itself what it goes by. Name rows: "
            f"weald explain {path} DATA"
        )
    names = getattr(model, "feature_names_in_", range(len(shares)))
    _tell_ranking(console, [str(name) for name in names], np.asarray(shares), what, as_json=as_json)


def _slopes(model: AnyEstimator) -> Any:
    """Of linear models whose columns stand for themselves."""
    try:
        slopes = np.atleast_2d(np.asarray(model.coef_, np.float64))
    except (AttributeError, ValueError, TypeError):
        return None
    if slopes.shape[1] != getattr(model, "n_features_in_", -1):
        return None  # categories have several
    return np.abs(slopes).mean(axis=0)


def _of_rows(
    model: AnyEstimator,
    data: tuple[str, ...],
    n_rows: int,
    console: Console,
    layout: TextOptions,
    *,
    as_json: bool,
) -> None:
    """Mean absolute contributions."""
    if not hasattr(core_of(model), "feature_importances_"):
        n_rows = min(n_rows, _MOST_ASKED)
    X = first_rows(model, data, n_rows, layout)
    told = _explained(model, X, X)
    size = np.abs(told.values).reshape(*told.values.shape[:2], -1).mean(axis=(0, 2))
    what = f"mean |contribution| over the first {len(told.values):,} rows"
    _tell_ranking(console, [str(name) for name in told.feature_names], size, what, as_json=as_json)


def _explained(model: AnyEstimator, X: AnyTable, known: Any) -> Any:
    """Contributions; models that are no sum of trees are explained against the first of the known rows."""
    core = core_of(model)
    if hasattr(core, "feature_importances_"):
        return weald.explain(core, X)
    few = known.slice(0, BACKGROUND_ROWS) if hasattr(known, "column_names") else known[:BACKGROUND_ROWS]
    try:
        return weald.explain(core, X, background=few)
    except MemoryError as error:
        raise ParameterError(f"{error} Explain fewer rows with --rows.") from error


def _tell_ranking(
    console: Console, names: list[str], sizes: np.ndarray[Any, Any], what: str, *, as_json: bool
) -> None:
    order = np.argsort(-sizes, kind="stable").tolist()
    if as_json:
        ranking = [{"column": names[j], "importance": float(sizes[j])} for j in order]
        tell_json(console, {"what": what, "columns": ranking})
        return
    table = table_of(("column", "importance", ""), title=what)
    table.columns[2].justify = "left"
    most = float(sizes.max()) or 1.0
    for j in order[:_SHOWN]:
        table.add_row(names[j], f"{sizes[j]:.4g}", "█" * round(_WIDE * float(sizes[j]) / most))
    console.print(table)
    if len(order) > _SHOWN:
        say(console, f"and {len(order) - _SHOWN:,} more: see --json")


def _of_one(
    model: AnyEstimator,
    data: tuple[str, ...],
    row: int,
    console: Console,
    layout: TextOptions,
    *,
    as_json: bool,
) -> None:
    """What each column adds to the answer for one row."""
    X = first_rows(model, data, 1, layout, skip=row - 1)
    core = core_of(model)
    known = X if hasattr(core, "feature_importances_") else first_rows(model, data, BACKGROUND_ROWS, layout)
    told = _explained(model, X, known)
    said = np.asarray(model.predict(X)).tolist()[0]
    outputs = [str(name) for name in getattr(told, "output_names", None) or [""]]
    k = outputs.index(str(said)) if str(said) in outputs else 0
    values = told.values.reshape(*told.values.shape[:2], -1)[0, :, k]
    base = float(np.asarray(told.base_values, np.float64).reshape(1, -1)[0, k])
    names = [str(name) for name in told.feature_names]
    shown = _values(X)
    order = np.argsort(-np.abs(values), kind="stable").tolist()
    record = {
        "row": row,
        "prediction": said,
        "of": outputs[k] or _scale(core),
        "base": base,
        "columns": [{"column": names[j], "value": shown[j], "contribution": float(values[j])} for j in order],
        "sum": base + float(values.sum()),
    }
    if as_json:
        tell_json(console, record)
        return
    say(console, f"row {row:,}: {said}")
    table = table_of(("column", "value", "adds"), title=f"what adds up to the score of {record['of']}")
    table.add_row("(base)", "", f"{base:.4g}")
    for j in order[:_SHOWN]:
        table.add_row(names[j], _short(shown[j]), f"{values[j]:+.4g}")
    rest = float(sum(values[j] for j in order[_SHOWN:]))
    if len(order) > _SHOWN:
        table.add_row(f"({len(order) - _SHOWN:,} others)", "", f"{rest:+.4g}")
    table.add_row("(sum)", "", f"{record['sum']:.4g}")
    console.print(table)


def _scale(model: AnyEstimator) -> str:
    labels = getattr(model, "classes_", None)
    return "the target" if labels is None else str(labels[-1])


def _values(X: AnyTable) -> list[Any]:
    if hasattr(X, "column_names"):
        return [column[0].as_py() for column in X.columns]
    return [float(each) for each in X.toarray()[0]]


def _short(value: object) -> str:
    if isinstance(value, datetime) and value.time() == time.min:
        value = value.date()  # columns of days come back as times
    text = "missing" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 30 else text[:29] + "…"
