"""What a `DMatrix` is made of, checked: labels, names, types, numbers of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weald.arrays import Floats, TargetLike
from weald.data.table import Column, LevelColumn
from weald.data.target import read_target
from weald.errors import DataError, DataTypeError, ParameterError


def numeric_label(label: TargetLike, n_rows: int) -> Floats:
    """The label as numbers, (n_rows, n_targets)."""
    try:
        return read_target(label, n_rows=n_rows, estimator="DMatrix")
    except DataError as error:
        raise DataError(
            f"label: {error} The label of a DMatrix is numbers; weald.train(params, X, y) takes any labels."
        ) from None


def or_empty(values: Floats | None) -> Floats:
    """A copy, or an empty array for nothing."""
    return np.zeros(0) if values is None else values.copy()


def known_field(field: str, fields: Sequence[str]) -> str:
    """The name of a kind of information, if it is one of these."""
    if field not in fields:
        raise ParameterError(f"There is no information {field!r}. Use one of {', '.join(fields)}.")
    return field


def checked_names(names: Sequence[str], n_columns: int) -> tuple[str, ...]:
    """Names of all columns, each another one."""
    found = (names,) if isinstance(names, str) else tuple(names)
    if len(found) != n_columns:
        raise DataError(f"feature_names has {len(found)} names and the table has {n_columns} columns.")
    if not all(isinstance(name, str) for name in found) or len(set(found)) < len(found):
        raise DataError("feature_names must be text, and each another one.")
    return found


def listed_types(types: Sequence[str] | str) -> list[str]:
    """Types as a list; one text is that of one column."""
    return [types] if isinstance(types, str) else list(types)


def type_of(column: Column) -> str:
    """What xgboost calls the type of a column."""
    if isinstance(column, LevelColumn):
        return "int" if column.ordered else "c"
    if column.unit == "bool":
        return "i"
    return "int" if column.unit == "number" and column.values.dtype.kind in "iu" else "float"


def values_of(column: Column) -> Floats:
    """The values of a column as numbers, NaN where they are missing."""
    if isinstance(column, LevelColumn):
        return np.where(column.indices < 0, np.nan, column.indices)
    values = np.array(column.values, np.float64)
    if column.missing is not None:
        values[column.missing] = np.nan
    return values


def row_numbers(rindex: ArrayLike, n_rows: int) -> NDArray[np.int64]:
    """Numbers of rows, checked."""
    rows = np.asarray(rindex)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or not len(rows):
        raise DataTypeError("rindex must be numbers of rows: whole numbers, at least one.")
    if rows.min() < 0 or rows.max() >= n_rows:
        raise DataError(
            f"rindex names row {int(rows.min() if rows.min() < 0 else rows.max())}; rows go from "
            f"0 to {n_rows - 1}."
        )
    return rows.astype(np.int64)
