"""Targets and weights: labels as class indices, numbers as float64, each checked with its first bad row.

Every container works: lists, arrays, pandas, polars and Arrow series, and tables of one column.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from weald.data import arrow_frame, pandas_frame
from weald.data.adapters import column_of
from weald.data.arrays import CATEGORICAL_WAY_OUT
from weald.data.levels import distinct_numbers, missing_rows
from weald.data.sparse import is_sparse
from weald.data.table import Column, LevelColumn
from weald.errors import DataError, DataTypeError


class Labels(NamedTuple):
    """The distinct labels in order, and for each row the position of its label."""

    classes: NDArray[Any]
    indices: NDArray[np.int32]


def read_labels(y: Any, *, n_rows: int, estimator: str) -> Labels:
    """Class labels of any type.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Whole numbers, bools, text, dates; no value may be missing.
    n_rows : int
        The rows of the table.
    estimator : str
        The class that asks, for messages.

    Returns
    -------
    Labels
        Classes in ascending order and int32 positions.
    """
    values = _vector(y, n_rows, estimator, "one label per row")
    raw = values if isinstance(values, np.ndarray) else None
    column = _column(values)
    _check_no_missing(column)
    if isinstance(column, LevelColumn):
        objects = not isinstance(values, list) and (raw is None or raw.dtype.kind == "O")
        text = all(isinstance(level, str) for level in column.levels)
        return _labels_of_levels(column, objects and text)
    if raw is not None and raw.dtype.kind in "Mm":
        return Labels(*distinct_numbers(raw))
    if column.unit in ("datetime", "instant", "duration"):
        kind = "timedelta64[us]" if column.unit == "duration" else "datetime64[us]"
        return Labels(*distinct_numbers(column.values.astype(np.int64).view(kind)))
    _check_discrete(column.values)
    return Labels(*distinct_numbers(column.values))


def restore_labels(classes: NDArray[Any], indices: NDArray[Any]) -> NDArray[Any]:
    """The label of each row."""
    labels: NDArray[Any] = classes[indices]
    return labels


def read_target(y: Any, *, n_rows: int, estimator: str) -> NDArray[np.float64]:
    """The numbers a regression learns, as contiguous float64; no value may be missing or infinite."""
    values = _vector(y, n_rows, estimator, "one number per row")
    column = _column(values)
    if isinstance(column, LevelColumn):
        if (column.indices < 0).all():
            raise DataError("Input y contains NaN: every value is missing.")
        row = int(np.argmax(column.indices >= 0))
        raise DataError(
            f"The target y must be numbers; row {row} holds {column.levels[column.indices[row]]!r}. "
            "Convert it, or use a classifier."
        )
    if column.unit in ("datetime", "instant", "duration"):
        raise DataError(f"The target y must be numbers; got {column.unit} values. Convert them to a number.")
    _check_no_missing(column)
    target = np.ascontiguousarray(column.values, dtype=np.float64)
    _check_no_infinity(target)
    return target


def read_weight(sample_weight: Any, *, n_rows: int) -> NDArray[np.float64] | None:
    """Row weights as contiguous float64: finite, none negative, not all zero; None stays None."""
    if sample_weight is None:
        return None
    _refuse_sparse(sample_weight, "sample_weight")
    if np.isscalar(sample_weight):
        sample_weight = np.full(n_rows, sample_weight)
    if getattr(sample_weight, "ndim", 1) == 0:
        sample_weight = np.full(n_rows, np.asarray(sample_weight).item())
    column = column_of("sample_weight", _one_dimension(sample_weight))
    if isinstance(column, LevelColumn) or column.unit not in ("number", "bool"):
        raise DataTypeError("sample_weight must be numbers, one a row.")
    if len(column.values) != n_rows:
        raise DataError(
            f"sample_weight has {len(column.values)} values for {n_rows} rows. Give one weight a row. "
            f"(sample_weight.shape == {(len(column.values),)}, expected {(n_rows,)}!)"
        )
    missing = missing_rows(column)
    if missing is not None:
        raise DataError(
            f"sample_weight contains NaN: row {int(np.argmax(missing))} has no weight. Use 0 instead."
        )
    weight = np.ascontiguousarray(column.values, dtype=np.float64)
    _check_weight(weight)
    return weight


def _refuse_sparse(values: Any, what: str) -> None:
    if is_sparse(values):
        raise DataTypeError(
            f"Sparse data was passed for {what} ({type(values).__name__}), but dense data is required. "
            f"Use {what.split()[-1]}.toarray()."
        )


def _one_dimension(sample_weight: Any) -> Any:
    if isinstance(sample_weight, list | tuple):
        sample_weight = np.asarray(sample_weight)
    if len(getattr(sample_weight, "shape", (0,))) > 1:
        raise DataError(
            "Sample weights must be 1D array or scalar: sample_weight is a table. Give one weight a row."
        )
    return sample_weight


def _check_weight(weight: NDArray[np.float64]) -> None:
    for bad, word in ((np.isinf(weight), "infinity"), (weight < 0, "negative values")):
        if bad.any():
            row = int(np.argmax(bad))
            raise DataError(
                f"sample_weight contains {word}: row {row} has {weight[row]}. "
                "Weights must be finite and at least 0."
            )
    if len(weight) and not weight.any():
        raise DataError("sample_weight is zero in every row. At least one row needs a positive weight.")


def _vector(y: Any, n_rows: int, estimator: str, expected: str) -> Any:
    """`y` as one sequence of n_rows values: tables of one column lose their second dimension."""
    if y is None:
        raise DataError(f"{estimator} requires y to be passed, but the target y is None. Give {expected}.")
    _refuse_sparse(y, "the target y")
    if pandas_frame.is_frame(y):
        y = _only_column(y.shape, lambda: y.iloc[:, 0], expected)
    elif hasattr(y, "columns") and arrow_frame.has_arrow(y):
        y = _only_column(y.shape, lambda: _first_arrow_column(y), expected)
    elif not (pandas_frame.is_series(y) or arrow_frame.has_arrow(y)):
        y = _array_vector(y, expected)
    if len(y) != n_rows:
        raise DataError(f"Found input variables with inconsistent numbers of samples: [{n_rows}, {len(y)}]")
    return y


def _first_arrow_column(y: Any) -> Any:
    """The first column of a polars frame or a pyarrow table."""
    return y.to_series(0) if hasattr(y, "to_series") else y.columns[0]


def _array_vector(y: Any, expected: str) -> Any:
    if isinstance(y, str | bytes) or np.isscalar(y):
        raise DataTypeError(f"The target y must hold {expected}; got {type(y).__name__}.")
    array = y if isinstance(y, np.ndarray) else None
    if array is None and hasattr(y, "__array__"):
        array = np.asarray(y)
    if array is None:
        y = list(y)
        if not any(isinstance(value, list | tuple | np.ndarray) for value in y):
            return y
        array = np.array(y, dtype=object)
    if array.ndim == 0:
        raise DataError(f"y should be a 1d array with {expected}; got a single value.")
    if array.ndim == 1:
        return array
    return _only_column(array.shape, lambda: array[:, 0], expected)


def _only_column(shape: tuple[int, ...], first: Any, expected: str) -> Any:
    if len(shape) != 2 or shape[1] != 1:
        raise DataError(f"The target y must hold {expected}; got an array of shape {shape}. Pass one column.")
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
        "(n_samples,), for example using ravel().",
        DataConversionWarning,
        stacklevel=2,
    )
    return first()


def _column(values: Any) -> Column:
    if isinstance(values, np.ndarray) and values.dtype.kind == "c":
        raise DataError("Complex data not supported: the target y is complex. Take its real part.")
    try:
        return column_of("y", values)
    except DataTypeError as error:
        raise DataError(f"Unknown label type: unknown. {error}") from None
    except DataError as error:
        raise DataError(str(error).replace(CATEGORICAL_WAY_OUT, "")) from None


def _check_no_missing(column: Column) -> None:
    missing = column.indices < 0 if isinstance(column, LevelColumn) else missing_rows(column)
    if missing is not None and missing.any():
        row = int(np.argmax(missing))
        raise DataError(f"Input y contains NaN: row {row} has no value. Drop the rows without a target.")


def _check_no_infinity(values: NDArray[Any]) -> None:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row = int(np.argmax(~np.isfinite(values)))
        raise DataError(
            f"Input y contains infinity or a value too large for {np.dtype(np.float64)!r}: row {row} holds "
            f"{values[row]}."
        )


def _check_discrete(values: NDArray[Any]) -> None:
    _check_no_infinity(values)
    if values.dtype.kind != "f":
        return
    fraction = values != np.floor(values)
    if fraction.any():
        row = int(np.argmax(fraction))
        raise DataError(
            f"Unknown label type: continuous. Row {row} of the target y holds {values[row]}, which is no "
            "class label. Use a regressor, or labels that are whole numbers or text."
        )


def _labels_of_levels(column: LevelColumn, objects: bool) -> Labels:
    """Levels in use, sorted; `objects`: the text came as Python strings and leaves as such."""
    used = np.unique(column.indices)
    present = [column.levels[i] for i in used.tolist()]
    try:
        order = sorted(range(len(present)), key=present.__getitem__)
    except TypeError:
        raise DataError(
            "The labels in y have types that cannot be ordered. Convert them to one type."
        ) from None
    classes = np.array([present[i] for i in order])
    if objects or classes.ndim != 1:
        classes = np.empty(len(order), dtype=object)
        classes[:] = [present[i] for i in order]
    target = np.zeros(len(column.levels), dtype=np.int32)
    target[used[order]] = np.arange(len(order), dtype=np.int32)
    return Labels(classes, target[column.indices])


def total_weight(weight: NDArray[np.float64]) -> float:
    """The sum of the weights, exact before its one rounding, so that the order of the rows does not show."""
    try:
        return math.fsum(weight)
    except OverflowError:
        raise DataError("sample_weight adds up to more than float64 holds. Divide the weights.") from None
