"""Rows with some columns of one row and the others of a background row, in the user's own kind of table."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.arrays import AnyTable, Floats, TableLike
from weald.data.frames.by_column import form_of, with_columns_of
from weald.data.frames.user_rows import indexable, outline, take
from weald.errors import DataError, DataTypeError, listing

#: hybrid rows that a function gets at a time
_BLOCK = 2**16


class Hybrids:
    """The rows of a table over those of a background.

    Parameters
    ----------
    function : callable
        Takes tables of the user's kind; gives numbers, (n_rows,) or (n_rows, n_outputs).
    X, background : table
        The rows to explain, and those that stand for what is not known.
    weight : ndarray of shape (n_background_rows,)
        What each counts, adding up to 1.
    """

    def __init__(
        self, function: Callable[[Any], Any], X: TableLike, background: TableLike, weight: Floats
    ) -> None:
        self._function, self._weight = function, weight
        above, below = indexable(X), indexable(background)
        given, other = outline(above), outline(below)
        self.names = [str(name) for name in given.names]
        self.n_rows, self.n_columns, self._n_background = given.n_rows, given.n_columns, other.n_rows
        if given.named and other.named and list(given.names) != list(other.names):
            if set(given.names) != set(other.names):
                raise DataError(
                    f"The background has other columns than X: {listing(list(other.names))} instead of "
                    f"{listing(list(given.names))}."
                )
            below = take(below, None, [list(other.names).index(name) for name in given.names])
        elif other.n_columns != given.n_columns:
            raise DataError(
                f"The background has {other.n_columns} columns, and X has {given.n_columns}. Give the same."
            )
        self._form = form_of(above)
        self._rows: Any = _stacked(above, below)
        if self._form == "array":
            self._rows = np.asarray(self._rows)

    def full(self) -> Floats:
        """The function of the rows as they are: (n_rows, n_outputs)."""
        return self._called(self._taken(np.arange(self.n_rows)), self.n_rows)

    def empty(self) -> Floats:
        """The mean of the function over the background: (n_outputs,)."""
        mean: Floats = self._weight @ self._called(
            self._taken(np.arange(self.n_rows, self.n_rows + self._n_background)), self._n_background
        )
        return mean

    def game(self, rows: NDArray[np.int64], known: NDArray[np.bool_]) -> Floats:
        """The mean over the background where the known columns are those of the row: (q, n_outputs)."""
        size = max(1, _BLOCK // self._n_background)
        found = [
            self._means(rows[first : first + size], known[first : first + size])
            for first in range(0, len(rows), size)
        ]
        return np.concatenate(found)

    def _means(self, rows: NDArray[np.int64], known: NDArray[np.bool_]) -> Floats:
        n = self._n_background
        own = np.repeat(rows, n)
        other = np.tile(np.arange(self.n_rows, self.n_rows + n), len(rows))
        mask = np.repeat(known, n, axis=0)
        if self._form == "frame":
            others = {j: np.where(mask[:, j], own, other) for j in range(self.n_columns)}
            mixed = with_columns_of(self._rows, other, others, {})
        else:
            above, below = self._taken(own), self._taken(other)
            if self._form == "sparse":
                mixed = sparse.csr_matrix(np.where(mask, above.toarray(), below.toarray()))
            else:
                mixed = np.where(mask, above, below)
        values = self._called(mixed, len(own)).reshape(len(rows), n, -1)
        means: Floats = np.einsum("b,qbk->qk", self._weight, values)
        return means

    def _taken(self, rows: NDArray[np.int64]) -> Any:
        return take(self._rows, rows)

    def _called(self, table: AnyTable, n_rows: int) -> Floats:
        answer = np.asarray(self._function(table))
        if answer.dtype.kind not in "biuf" or answer.ndim not in (1, 2):
            raise DataTypeError(
                "What is explained must give a number per row, or several: an array of shape (n_rows,) or "
                f"(n_rows, n_outputs); got {answer.dtype} of shape {answer.shape}. Classifiers without "
                "probabilities and decision function cannot be explained."
            )
        if len(answer) != n_rows:
            raise DataError(
                f"What is explained gave {len(answer):,} numbers for {n_rows:,} rows. It must give one per "
                "row."
            )
        return answer.astype(np.float64).reshape(len(answer), -1)


def _stacked(above: Any, below: Any) -> Any:
    """One table over the other."""
    if sparse.issparse(above):
        return sparse.vstack([above.tocsr(), sparse.csr_matrix(below)]).tocsr()
    if isinstance(above, dict):
        return {name: [*values, *below[name]] for name, values in above.items()}
    if isinstance(above, np.ndarray):
        return np.concatenate([above, np.asarray(below)])
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(above, pandas.DataFrame):
        return pandas.concat([above, _as_pandas(below, above)], ignore_index=True)
    import narwhals

    frames = [narwhals.from_native(each, eager_only=True) for each in (above, below)]
    return narwhals.concat(frames, how="vertical").to_native()


def _as_pandas(below: Any, above: Any) -> Any:
    """The background with the names and the categories of the frame over it."""
    pandas = sys.modules["pandas"]
    frame = below if isinstance(below, pandas.DataFrame) else pandas.DataFrame(np.asarray(below))
    frame = frame.copy()
    frame.columns = above.columns
    return frame.astype({name: kind for name, kind in above.dtypes.items() if kind.name == "category"})
