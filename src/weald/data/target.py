"""Targets and weights: labels as class indices, numbers as float64, each checked with its first bad row.

Every container works: lists, arrays, pandas, polars and Arrow series, and tables with a column per output.
"""

from __future__ import annotations

import math
import warnings
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from weald.arrays import TargetLike, WeightLike
from weald.data.adapters import column_of
from weald.data.frames.from_sparse import refuse_sparse
from weald.data.levels import distinct_numbers, missing_rows, order_value
from weald.data.outputs import Output, read_outputs
from weald.data.table import LevelColumn, NumericColumn
from weald.errors import DataError, DataTypeError, outside

#: weights that are added up as one list
_TOGETHER = 1 << 16


class Labels(NamedTuple):
    """The distinct labels in order, and for each row the position of its label."""

    classes: NDArray[Any]
    indices: NDArray[np.int32]


def positions_among(labels: NDArray[Any], known: NDArray[Any]) -> NDArray[np.intp]:
    """Where each label stands among the known ones; -1 for one that is none of them.

    >>> positions_among(np.array(["b", "z"]), np.array(["a", "b"])).tolist()
    [1, -1]
    """
    position = {label: k for k, label in enumerate(known.tolist())}
    return np.array([position.get(label, -1) for label in labels.tolist()], np.intp)


def read_labels(y: TargetLike | None, *, n_rows: int, estimator: str) -> list[Labels]:
    """Class labels of any type, for each output.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        Whole numbers, bools, text, dates; no value may be missing. Outputs may differ in type. A sparse
        matrix of 0 and 1 tells which labels each row has. Numbers in a list that has text too are text, as
        NumPy reads them.
    n_rows : int
        The rows of the table.
    estimator : str
        The class that asks, for messages.

    Returns
    -------
    list of Labels
        For each output its classes in ascending order and int32 positions.
    """
    if isinstance(y, list) and _mixes_text_and_numbers(y):
        y = np.asarray(y)
    outputs = read_outputs(
        y, n_rows=n_rows, estimator=estimator, expected="one label per row", indicators=True
    )
    return [_labels(output) for output in outputs]


def _mixes_text_and_numbers(y: list[Any]) -> bool:
    """Whether a list holds both and nothing else, gaps included."""
    types = set(map(type, y))
    if not any(issubclass(each, str) for each in types):
        return False
    others = [each for each in types if not issubclass(each, str)]
    numbers = all(issubclass(each, int | float | np.integer | np.floating | np.bool_) for each in others)
    return bool(others) and numbers and all(value == value for value in y)


def _labels(output: Output) -> Labels:
    column, raw = output.column, output.raw
    _check_no_missing(output)
    if isinstance(column, LevelColumn):
        text = all(isinstance(level, str) for level in column.levels)
        return _labels_of_levels(output, column, output.objects and text)
    if raw is not None and raw.dtype.kind in "Mm":
        return Labels(*distinct_numbers(raw))
    if column.unit in ("datetime", "instant", "duration"):
        return Labels(*distinct_numbers(_ticks(output, column)))
    _check_discrete(output, column.values)
    return Labels(*distinct_numbers(column.values))


def _ticks(output: Output, column: NumericColumn) -> NDArray[Any]:
    """Times as NumPy's own: microseconds, or nanoseconds if some have parts of microseconds."""
    kind = "timedelta64" if column.unit == "duration" else "datetime64"
    if column.nanoseconds is not None:
        return column.nanoseconds.view(f"{kind}[ns]")
    far = np.abs(column.values) >= 2.0**63
    if far.any():
        row = output.row(int(np.argmax(far)))
        raise DataError(f"The target y holds a time in {row} that is too far from 1970 to be a label.")
    return column.values.astype(np.int64).view(f"{kind}[us]")


def restore_labels(classes: NDArray[Any], indices: NDArray[Any]) -> NDArray[Any]:
    """The label of each row."""
    labels: NDArray[Any] = classes[indices]
    return labels


def read_target(y: TargetLike | None, *, n_rows: int, estimator: str) -> NDArray[np.float64]:
    """The numbers a regression learns, (n_rows, n_outputs), contiguous; none may be missing or infinite."""
    outputs = read_outputs(y, n_rows=n_rows, estimator=estimator, expected="one number per row")
    return np.stack([_numbers(output) for output in outputs], axis=1)


def _numbers(output: Output) -> NDArray[np.float64]:
    column = output.column
    if isinstance(column, LevelColumn):
        if (column.indices < 0).all():
            where = "" if output.name is None else f" of column {output.name!r}"
            raise DataError(f"Input y contains NaN: every value{where} is missing.")
        row = int(np.argmax(column.indices >= 0))
        raise DataError(
            f"The target y must be numbers; {output.row(row)} holds {column.levels[column.indices[row]]!r}. "
            "Convert it, or use a classifier."
        )
    if column.unit in ("datetime", "instant", "duration"):
        where = "" if output.name is None else f" in column {output.name!r}"
        raise DataError(
            f"The target y must be numbers; got {column.unit} values{where}. Convert them to a number."
        )
    _check_no_missing(output)
    # + 0.0 turns -0 into 0: the two are equal, so which one comes first must not show.
    target = np.ascontiguousarray(column.values, dtype=np.float64) + 0.0
    _check_no_infinity(output, target)
    return target


def read_weight(
    sample_weight: WeightLike | None, *, n_rows: int, drop_negative: bool = False
) -> NDArray[np.float64] | None:
    """Row weights as contiguous float64: finite, none negative, not all zero; None stays None.

    With `drop_negative` a negative weight counts as 0, as in LIBSVM.
    """
    if sample_weight is None:
        return None
    refuse_sparse(sample_weight, "sample_weight")
    if np.isscalar(sample_weight):
        sample_weight = np.full(n_rows, sample_weight)
    if getattr(sample_weight, "ndim", 1) == 0:
        raise DataTypeError(
            "Input should have at least 1 dimension i.e. satisfy `len(x.shape) > 0`, got scalar "
            f"`{np.asarray(sample_weight, np.float64)!r}` instead. Give sample_weight one number per row, "
            "or a plain number for all rows."
        )
    column = column_of("sample_weight", _one_dimension(sample_weight))
    if isinstance(column, LevelColumn) or column.unit not in ("number", "bool"):
        raise DataTypeError("sample_weight must be numbers, one per row.")
    if len(column.values) != n_rows:
        raise DataError(
            f"sample_weight has {len(column.values)} values for {n_rows} rows. Give one weight per row. "
            f"(sample_weight.shape == {(len(column.values),)}, expected {(n_rows,)}!)"
        )
    missing = missing_rows(column)
    if missing is not None:
        raise DataError(
            f"sample_weight contains NaN: row {int(np.argmax(missing))} has no weight. Use 0 instead."
        )
    weight = np.ascontiguousarray(column.values, dtype=np.float64)
    if drop_negative:
        weight = np.where(weight < 0, 0.0, weight)
    _check_weight(weight)
    return weight


def _one_dimension(sample_weight: WeightLike | None) -> Any:
    if isinstance(sample_weight, list | tuple):
        sample_weight = np.asarray(sample_weight)
    if len(getattr(sample_weight, "shape", (0,))) > 1:
        raise DataError(
            "Sample weights must be 1D array or scalar: sample_weight is a table. Give one weight per row."
        )
    return sample_weight


def _check_weight(weight: NDArray[np.float64]) -> None:
    for bad, word in ((np.isinf(weight), "infinity"), (weight < 0, "negative values")):
        if bad.any():
            row = int(np.argmax(bad))
            raise DataError(
                f"sample_weight contains {word}: row {row} has {weight[row]}. "
                "Weights must be finite and at least 0."
                + (" (Negative values in data passed to `sample_weight`.)" if word.startswith("neg") else "")
            )
    if len(weight) and not weight.any():
        raise DataError(
            "sample_weight is zero in every row. At least one row needs a positive weight. (Invalid input - "
            "all samples have zero or negative weights.)"
        )


def _check_no_missing(output: Output) -> None:
    column = output.column
    missing = column.indices < 0 if isinstance(column, LevelColumn) else missing_rows(column)
    if missing is not None and missing.any():
        row = output.row(int(np.argmax(missing)))
        raise DataError(f"Input y contains NaN: {row} has no value. Drop the rows without a target.")


def _check_no_infinity(output: Output, values: NDArray[Any]) -> None:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row = int(np.argmax(~np.isfinite(values)))
        raise DataError(
            f"Input y contains infinity or a value too large for {np.dtype(np.float64)!r}: {output.row(row)} "
            f"holds {values[row]}."
        )


def _check_discrete(output: Output, values: NDArray[Any]) -> None:
    _check_no_infinity(output, values)
    if values.dtype.kind != "f":
        return
    fraction = values != np.floor(values)
    if fraction.any():
        row = int(np.argmax(fraction))
        raise DataError(
            f"Unknown label type: continuous. Row {row} of {output.words} holds {values[row]}, which is no "
            "class label. Use a regressor, or labels that are whole numbers or text."
        )


def _labels_of_levels(output: Output, column: LevelColumn, objects: bool) -> Labels:
    """Levels in use, sorted; `objects`: the text came as Python strings and leaves as such."""
    used = np.unique(column.indices)
    present = [column.levels[i] for i in used.tolist()]
    try:
        order = sorted(range(len(present)), key=lambda i: order_value(present[i]))
    except TypeError:
        raise DataError(
            f"The labels in {output.words} have types that cannot be ordered. Convert them to one type."
        ) from None
    classes = _classes([present[i] for i in order])
    if objects or classes.ndim != 1:
        classes = np.empty(len(order), dtype=object)
        classes[:] = [present[i] for i in order]
    target = np.zeros(len(column.levels), dtype=np.int32)
    target[used[order]] = np.arange(len(order), dtype=np.int32)
    return Labels(classes, target[column.indices])


def _classes(labels: list[Any]) -> NDArray[Any]:
    fine = next((label for label in labels if isinstance(label, np.datetime64 | np.timedelta64)), None)
    return np.array(labels) if fine is None else np.array([np.array(label, fine.dtype) for label in labels])


def total_weight(weight: NDArray[np.float64]) -> float:
    """The sum of the weights, exact before its one rounding, so that the order of the rows does not show."""
    parts = (weight[at : at + _TOGETHER] for at in range(0, len(weight), _TOGETHER))
    try:
        # What is 0 is left out, and lists are faster to go through than arrays.
        return math.fsum(chain.from_iterable(part[part != 0].tolist() for part in parts))
    except OverflowError:
        raise DataError("sample_weight adds up to more than float64 holds. Divide the weights.") from None


def warn_of_column(y: TargetLike | None) -> None:
    """scikit-learn's contract: an estimator that takes one output warns of a target with columns."""
    if len(getattr(y, "shape", ())) > 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples, ), for example using ravel().",
            DataConversionWarning,
            stacklevel=outside(),
        )
