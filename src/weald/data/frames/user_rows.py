"""Rows and columns of a table as the user gave it: for estimators that are not weald's.

What comes out is of the type that went in: a pandas, polars or Arrow frame, an array, a sparse matrix, a
mapping. Lists become arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import ColumnLike, TableLike
from weald.data.adapters import array_of_rows, check_size, names_are_given, refuse_by_type
from weald.data.frames import from_arrow as arrow_frame
from weald.data.frames import from_pandas as pandas_frame
from weald.data.frames.forms import plain_table
from weald.data.frames.from_sparse import is_sparse
from weald.data.frames.write_arrow import arrow_rows, is_arrow_table
from weald.data.table import Outline
from weald.errors import DataError, DataTypeError


def indexable(X: TableLike, *, any_shape: bool = False) -> Any:
    """The table in a form whose rows can be taken: itself, or an array where it was a list.

    Lazy frames are collected, and records become a mapping of name to values. Sparse matrices stay CSC or
    CSR, as scikit-learn's ensembles give them to members; others become CSR. With `any_shape` arrays of more
    than two dimensions pass: some estimators take rows that are matrices.
    """
    if pandas_frame.is_frame(X):
        return X
    refuse_by_type(X)
    X = plain_table(X)
    if is_sparse(X):
        return X if X.format in ("csr", "csc") else X.tocsr()
    if isinstance(X, Mapping) or (arrow_frame.has_arrow(X) and not isinstance(X, np.ndarray)):
        return X
    if any_shape and isinstance(X, np.ndarray) and X.ndim > 2:
        return X
    array = array_of_rows(X)
    return array.astype(np.float64) if array.dtype.kind == "O" and _all_numbers(array) else array


def _all_numbers(array: NDArray[Any]) -> bool:
    """Whether the objects are numbers, None among them: a list with gaps."""
    return all(value is None or isinstance(value, int | float | np.number) for value in array.flat)


def outline(X: TableLike) -> Outline:
    """The names and the size of a table that `indexable` gave."""
    if pandas_frame.is_frame(X):
        return _outline(tuple(X.columns.tolist()), len(X))
    if isinstance(X, Mapping):
        lengths = {len(values) for values in X.values()}
        if len(lengths) > 1:
            raise DataError("The columns of X differ in length. All columns must be equally long.")
        return _outline(tuple(X), lengths.pop() if lengths else 0)
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        return _outline(tuple(X.dtype.names), len(X))
    if isinstance(X, np.ndarray) or is_sparse(X):
        check_size(X.shape[0], X.shape[1])
        return Outline(range(X.shape[1]), X.shape[0], named=False)
    frame = _narwhals(X)
    return _outline(tuple(frame.columns), len(frame))


def count_rows(X: TableLike) -> int:
    """How many rows X has, table or not: some estimators take texts, or arrays of more dimensions."""
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and shape:
        return int(shape[0])
    if isinstance(X, Sequence) and not isinstance(X, str | bytes):
        return len(X)
    return outline(indexable(X)).n_rows


def _outline(names: tuple[Any, ...], n_rows: int) -> Outline:
    named = names_are_given(names)
    check_size(n_rows, len(names))
    return Outline(names, n_rows, named)


def take(X: TableLike, rows: NDArray[np.int64] | None = None, columns: Sequence[int] | None = None) -> Any:
    """Some rows, which may repeat, and some columns by position, of a table that `indexable` gave.

    >>> take(np.arange(6).reshape(2, 3), np.array([1, 1]), [0, 2]).tolist()
    [[3, 5], [3, 5]]
    """
    if rows is None and columns is None:
        return X
    if pandas_frame.is_frame(X):
        frame = X if columns is None else X.iloc[:, list(columns)]
        return frame if rows is None else frame.iloc[rows]
    if isinstance(X, Mapping):
        names = list(X) if columns is None else [list(X)[j] for j in columns]
        return {name: X[name] if rows is None else take_values(X[name], rows) for name in names}
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        records = X if columns is None else X[[X.dtype.names[j] for j in columns]]
        return records if rows is None else records[rows]
    if isinstance(X, np.ndarray) or is_sparse(X):
        matrix = X if rows is None else X[rows]
        return matrix if columns is None else matrix[:, list(columns)]
    if is_arrow_table(X):
        table = X if columns is None else X.select(list(columns))
        return table if rows is None else arrow_rows(table, rows)
    native = _narwhals(X)
    native = native if columns is None else native.select([native.columns[j] for j in columns])
    return (native if rows is None else native[rows.tolist(), :]).to_native()


def take_values(values: Any, rows: NDArray[np.int64]) -> Any:
    """Some values of a sequence of any library."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if is_sparse(values):
        return values.tocsr()[rows]
    if isinstance(values, list | tuple):
        return [values[row] for row in rows.tolist()]
    return values[rows] if isinstance(values, np.ndarray) else values.take(rows)


def without_column(X: TableLike, name: str) -> tuple[TableLike, ColumnLike | None]:
    """The table without the column of that name, and the column; the table itself and None if it has none.

    >>> without_column({"x": [1, 2], "qid": [7, 7]}, "qid")
    ({'x': [1, 2]}, [7, 7])
    """
    if not pandas_frame.is_frame(X):
        X = plain_table(X)
    if pandas_frame.is_frame(X):
        names = X.columns.tolist()
    elif is_sparse(X):  # one kind of them is a dict
        names = []
    elif isinstance(X, Mapping):
        names = list(X)
    elif isinstance(X, np.ndarray):
        names = list(X.dtype.names or ())
    elif arrow_frame.has_arrow(X) and not pandas_frame.is_series(X):
        names = list(getattr(_frame_or_none(X), "columns", ()))
    else:
        names = []
    if name not in names:
        return X, None
    rest = take(X, None, [j for j, each in enumerate(names) if each != name])
    by_name = pandas_frame.is_frame(X) or isinstance(X, Mapping | np.ndarray)
    known: Any = X
    return rest, known[name] if by_name else _narwhals(X)[name].to_native()


def _frame_or_none(X: object) -> Any:
    try:
        return _narwhals(X)
    except DataTypeError:  # one column, or a stream that no library knows
        return None


def _narwhals(X: object) -> Any:
    import narwhals

    try:
        return narwhals.from_native(X, eager_only=True)
    except TypeError:
        raise DataTypeError(
            f"Rows of a {type(X).__module__}.{type(X).__name__} cannot be taken, and an estimator that is "
            "not weald's needs that. Convert it to pandas, polars, pyarrow or NumPy."
        ) from None
