"""A target in any container → its columns, one per output, with the words that name each in messages.

A vector, and a table of one column, is one output; a table of several columns is several.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from weald.arrays import ColumnLike, SupportsArrowArray, SupportsArrowStream, TargetLike
from weald.data.adapters import column_of
from weald.data.frames import from_arrow as arrow_frame
from weald.data.frames import from_pandas as pandas_frame
from weald.data.frames.from_arrays import CATEGORICAL_WAY_OUT
from weald.data.frames.from_sparse import is_sparse, refuse_sparse
from weald.data.table import Column, LevelColumn
from weald.errors import DataError, DataTypeError

if TYPE_CHECKING:
    from scipy import sparse

_SHAPES = "(n_rows,), or (n_rows, n_outputs) for several"


class _Name(NamedTuple):
    """A column of a target with several: messages put it after the word "column"."""

    name: Hashable

    def __repr__(self) -> str:
        return f"{self.name!r} of y"


class Output(NamedTuple):
    """One column of a target."""

    column: Column
    #: its name, or its position in an array; None if the target has no other column
    name: Hashable | None
    #: the array it was, if it was one
    raw: NDArray[Any] | None
    #: whether text in it came as Python strings of a library's own column
    objects: bool

    def row(self, row: int) -> str:
        """The words for one of its rows.

        >>> Output(column_of("y", [1.0, None]), "size", None, False).row(1)
        "row 1 of column 'size'"
        """
        return f"row {row}" if self.name is None else f"row {row} of column {self.name!r}"

    @property
    def words(self) -> str:
        """The words for all of it."""
        return "the target y" if self.name is None else f"column {self.name!r} of the target y"


def read_outputs(
    y: TargetLike | None, *, n_rows: int, estimator: str, expected: str, indicators: bool = False
) -> list[Output]:
    """The columns of a target, each `n_rows` long.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        A sequence, a Series, an array, a list of rows, a frame or a mapping of name to values.
    n_rows : int
        The rows of the table.
    estimator : str
        The class that asks, for messages.
    expected : str
        What one output holds, for messages.
    indicators : bool
        Whether a sparse matrix of 0 and 1 may tell which labels each row has.
    """
    if y is None:
        raise DataError(f"{estimator} requires y to be passed, but the target y is None. Give {expected}.")
    if indicators and is_sparse(y):
        y = _indicators(y)
    _refuse_by_type(y, expected)
    if arrow_frame.has_arrow(y) and not (pandas_frame.is_frame(y) or pandas_frame.is_series(y)):
        outputs = _arrow_outputs(y)
    else:
        parts = _parts(y, expected)
        outputs = [_output(name if len(parts) > 1 else None, values) for name, values in parts]
    if not outputs:
        raise DataError(f"The target y has no columns. Give {expected}.")
    for output in outputs:
        _check_length(output, n_rows)
    return outputs


def _refuse_by_type(y: TargetLike | None, expected: str) -> None:
    if isinstance(y, str | bytes) or np.isscalar(y):
        raise DataTypeError(f"The target y must hold {expected}; got {type(y).__name__}.")
    refuse_sparse(y, "the target y")


def _indicators(y: sparse.sparray) -> NDArray[Any]:
    """The labels of rows as 0 and 1, a column per label, of a sparse matrix that has nothing else."""
    if y.ndim == 2 and y.shape[1] > 1 and np.isin(y.tocsr().data, (0, 1)).all():
        dense: NDArray[Any] = y.toarray()
        return dense
    raise DataError(
        f"The target y is sparse ({type(y).__name__}), and anything but a sparse multilabel-indicator for y "
        "is not supported. Use y.toarray(), or 0 and 1 in two columns or more."
    )


def _arrow_outputs(y: SupportsArrowStream | SupportsArrowArray) -> list[Output]:
    try:
        columns = arrow_frame.columns_of(y, "y")
    except DataTypeError as error:
        raise DataError(f"Unknown label type: unknown. {error}") from None
    several = len(columns) > 1
    return [Output(column, column.name if several else None, None, True) for column in columns]


def _parts(y: TargetLike | None, expected: str) -> Sequence[tuple[Hashable, ColumnLike]]:
    """Names (or positions) and values of the columns."""
    if pandas_frame.is_frame(y):
        return list(y.items())
    if pandas_frame.is_series(y):
        return [(None, y)]
    if isinstance(y, Mapping):
        return list(y.items())
    if isinstance(y, np.ndarray) or hasattr(y, "__array__"):
        return _array_parts(y if isinstance(y, np.ndarray) else np.asarray(y), expected)
    rows: list[Any] = list(cast(Iterable[object], y))
    if not any(isinstance(row, list | tuple | np.ndarray) for row in rows):
        return [(None, rows)]
    return _row_parts(rows)


def _array_parts(array: NDArray[Any], expected: str) -> Sequence[tuple[Hashable, ColumnLike]]:
    if array.ndim == 0:
        raise DataError(f"y should be a 1d array with {expected}; got a single value.")
    if array.ndim > 2 or (array.ndim == 2 and array.dtype.names is not None):
        raise DataError(
            f"The target y must hold {expected}; got an array of shape {array.shape}. Give it the shape "
            f"{_SHAPES}."
        )
    if array.dtype.names is not None:
        return [(name, array[name]) for name in array.dtype.names]
    if array.ndim == 1:
        return [(None, array)]
    return [(j, array[:, j]) for j in range(array.shape[1])]


def _row_parts(rows: list[Any]) -> Sequence[tuple[Hashable, ColumnLike]]:
    """The columns of a list of rows, as lists."""
    lengths = [len(row) if isinstance(row, list | tuple | np.ndarray) else None for row in rows]
    odd = next((row for row, length in enumerate(lengths) if length != lengths[0]), None)
    if odd is not None:
        first, other = ("a single value" if n is None else f"{n} values" for n in (lengths[0], lengths[odd]))
        raise DataError(
            f"The rows of the target y differ in length: row 0 has {first} and row {odd} has {other}. "
            "Rows must be equally long."
        )
    for row, values in enumerate(rows):
        if any(isinstance(value, list | tuple | np.ndarray) for value in values):
            raise DataError(
                f"The target y has more than two dimensions: row {row} holds sequences of its own. Give it "
                f"the shape {_SHAPES}."
            )
    return [(j, list(values)) for j, values in enumerate(zip(*rows, strict=True))]


def _output(name: Hashable | None, values: ColumnLike) -> Output:
    raw = np.asarray(values) if isinstance(values, np.ndarray) else None
    objects = not isinstance(values, list | tuple) and (raw is None or raw.dtype.kind == "O")
    return Output(_column("y" if name is None else _Name(name), values), name, raw, objects)


def _column(name: Hashable, values: ColumnLike) -> Column:
    if isinstance(values, np.ndarray) and values.dtype.kind == "c":
        where = "the target y" if name == "y" else f"column {name!r}"
        raise DataError(f"Complex data not supported: {where} is complex. Take its real part.")
    try:
        return column_of(name, values)
    except DataTypeError as error:
        raise DataError(f"Unknown label type: unknown. {error}") from None
    except DataError as error:
        raise DataError(str(error).replace(CATEGORICAL_WAY_OUT, "")) from None


def _check_length(output: Output, n_rows: int) -> None:
    column = output.column
    found = len(column.indices if isinstance(column, LevelColumn) else column.values)
    if found != n_rows:
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: [{n_rows}, {found}]. "
            f"X has {n_rows} rows and {output.words} has {found}."
        )
