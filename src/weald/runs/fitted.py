"""Fitted models and rows from files: which columns a model has, and rows made ready for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weald.arrays import AnyEstimator
from weald.data.schema import Schema
from weald.errors import DataError, listing, nearest

if TYPE_CHECKING:
    import pyarrow as pa

#: wrappers keep what they were trained around in one of these
_WRAPPERS = frozenset({"Conformal", "Thresholded", "Resampled"})
_WITHIN = ("estimator_", "estimators_")


def schema_of(model: AnyEstimator) -> Schema | None:
    """The columns that a model was trained on, told by the innermost model that tells; None if none does."""
    own = getattr(model, "schema_", None)
    if isinstance(own, Schema) and getattr(model, "forest_", None) is not None:
        return own
    for name in _WITHIN:  # wrappers may know names alone
        inner = getattr(model, name, None)
        for each in inner if isinstance(inner, list | tuple) else [inner]:
            found = schema_of(each) if hasattr(each, "_saved_state") else None
            if found is not None:
                return found
    state = model._saved_state() if hasattr(model, "_saved_state") else None
    found = getattr(state, "schema", None)
    return found if isinstance(found, Schema) and len(found.columns) else None


def core_of(model: AnyEstimator) -> Any:
    """The model within wrappers that decide, resample or tell intervals: what explanations explain."""
    while type(model).__name__ in _WRAPPERS:
        model = model.estimator_
    return model


def types_of(model: AnyEstimator) -> dict[str, Any]:
    """What the columns of a model are in text files; text itself is left out."""
    import pyarrow as pa

    schema = schema_of(model)
    if schema is None:
        return {}
    units = {"number": pa.float64(), "bool": pa.bool_(), "datetime": pa.timestamp("us")}
    found = {
        str(each.name): units[each.unit]
        for each in schema.columns
        if each.kind == "numeric" and each.unit in units
    }
    levels = {bool: pa.bool_(), int: pa.int64()}
    for each in schema.columns:
        kinds = {type(level) for level in each.levels}
        if len(kinds) == 1 and (kind := kinds.pop()) in levels:
            found[str(each.name)] = levels[kind]
    return found


def columns_of(model: AnyEstimator, rows: Any) -> Any:
    """The columns that the model was trained on; others are of no concern to it.

    Raises
    ------
    DataError
        If columns are absent.
    """
    names = getattr(model, "feature_names_in_", None)
    if not hasattr(rows, "column_names"):  # a matrix
        if names is not None:
            raise DataError(
                f"The model was trained on {len(names)} columns with names ({listing(names)}), and a file in "
                "LIBSVM's format has none. Give a table."
            )
        return rows
    if names is None:
        raise DataError(
            f"The model was trained on {getattr(model, 'n_features_in_', 'some')} columns without names, as "
            "files in LIBSVM's format have them. Give such a file."
        )
    absent = [name for name in names if name not in rows.column_names]
    if absent:
        raise DataError(_lacking([str(name) for name in absent], len(names), rows))
    return rows.select(list(names))


def _lacking(absent: list[str], n_columns: int, rows: pa.Table) -> str:
    close = nearest(absent[0], rows.column_names)
    return (
        f"The data has no column {absent[0]!r}, which the model was trained on"
        + (
            f", and lacks {len(absent) - 1} more of its {n_columns}: {listing(absent[1:])}"
            if len(absent) > 1
            else ""
        )
        + f". It has {listing(rows.column_names, 12)}."
        + (f" Is {close!r} the one?" if close and len(absent) == 1 else "")
    )


def labels_like(values: pa.ChunkedArray, classes: np.ndarray[Any, Any]) -> pa.ChunkedArray:
    """Text as what the labels of a model are, where all of it is."""
    import pyarrow as pa

    if not pa.types.is_string(values.type) or classes.dtype.kind not in "iufb":
        return values
    wanted = pa.bool_() if classes.dtype.kind == "b" else pa.float64()
    try:
        numbers = values.cast(wanted)
    except pa.ArrowInvalid:
        return values
    return numbers.cast(pa.int64()) if classes.dtype.kind in "iu" else numbers


def numbers_like(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Text as numbers, where all of it is."""
    import pyarrow as pa

    if not pa.types.is_string(values.type) and not pa.types.is_large_string(values.type):
        return values
    try:
        return values.cast(pa.float64())
    except pa.ArrowInvalid:
        return values
