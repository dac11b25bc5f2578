"""What a model says of a table in which some columns take the values of other rows.

Models of weald read the table once: then columns of that reading are exchanged, and nothing else is copied.
Others get tables of the kind that the user gave.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import AnyEstimator, AnyTable, TableLike
from weald.data.adapters import to_table
from weald.data.frames.by_column import form_of, with_columns_of
from weald.data.frames.user_rows import indexable, outline
from weald.data.levels import missing_rows
from weald.data.rows import take_rows, take_values, with_columns
from weald.data.table import LevelColumn, Table
from weald.insight.made_of_trees import ModelTrees, deciding_trees, predicts_tables

Order = NDArray[np.intp]


class PermutedRows:
    """A model's table, and copies of it with columns in another order of rows.

    Parameters
    ----------
    model : fitted estimator
        Whose table it is.
    X : table
        As the user gave it.

    Attributes
    ----------
    given : table
        What the model predicts: read already if the model is weald's.
    names : sequence
        The columns, in the order of positions.
    """

    def __init__(self, model: AnyEstimator, X: TableLike) -> None:
        self.trees: ModelTrees | None = deciding_trees(model)
        self._columns_read = None if self.trees is None else self.trees.columns_read()
        self._codes: dict[int, NDArray[np.int64]] = {}
        self._read = _reading(model, X, self.trees)
        if self._read is not None:
            self.given: Any = self._read
            self.names, self.n_rows = self._read.names, self._read.n_rows
            return
        self.given = indexable(X)
        self._form = form_of(self.given)
        whole = outline(self.given)
        self.names, self.n_rows = whole.names, whole.n_rows

    @property
    def side_by_side(self) -> bool:
        """Whether several threads may predict at once: weald's models have threads of their own."""
        return self._read is None

    def unused(self, columns: Sequence[int]) -> bool:
        """Whether the model is known to read none of the columns."""
        return self._columns_read is not None and not self._columns_read[list(columns)].any()

    def moved(self, columns: Sequence[int], order: Order) -> NDArray[np.int64] | None:
        """The rows of which the model may say something else with these columns in another order.

        Of the others it reads the same values, or values between the same thresholds. None where all rows
        have to be predicted.
        """
        if self._read is None:
            return None
        moved = np.zeros(self.n_rows, np.bool_)
        for j in columns:
            codes = self._code(j)
            moved |= codes != codes[order]
        return np.flatnonzero(moved)

    def some(self, columns: Sequence[int], order: Order, rows: NDArray[np.int64]) -> Any:
        """Some rows of the table with these columns in another order, for a model of weald's."""
        assert self._read is not None
        taken = {j: take_values(self._read.columns[j], order[rows]) for j in columns}
        return with_columns(take_rows(self._read, rows), taken)

    def _code(self, j: int) -> NDArray[np.int64]:
        """Equal for two rows if the model reads the same in a column."""
        if j not in self._codes:
            assert self._read is not None
            column = self._read.columns[j]
            if isinstance(column, LevelColumn):
                return column.indices.astype(np.int64)
            values, gaps = np.asarray(column.values, np.float64), missing_rows(column)
            thresholds = None if self.trees is None else self.trees.thresholds(j)
            if thresholds is None:
                codes = np.unique(values, return_inverse=True)[1]
            else:
                codes = np.searchsorted(thresholds, values, side="left")
            if gaps is not None:
                codes[gaps] = -1
            self._codes = {j: codes}  # columns come one after another
        return self._codes[j]

    def permuted(self, columns: Sequence[int], order: Order) -> Any:
        """The table with the rows of these columns in another order."""
        if self._read is not None:
            return self.some(columns, order, np.arange(self.n_rows))
        if self._form == "frame":
            same = np.arange(self.n_rows)
            return with_columns_of(self.given, same, dict.fromkeys(columns, order), {})
        if self._form == "sparse":
            return _sparse_permuted(self.given, columns, order)
        copy = np.array(self.given)
        for j in columns:
            copy[:, j] = copy[order, j]
        return copy

    def table(self) -> Table:
        """The rows as weald reads them."""
        return self._read if self._read is not None else to_table(self.given)


def _reading(model: AnyEstimator, X: TableLike, trees: ModelTrees | None) -> Table | None:
    """The table as the model reads it, if it predicts such tables."""
    if not type(model).__module__.startswith("weald."):
        return None
    table = to_table(X) if trees is None else trees.read(X)
    return table if predicts_tables(model, table) else None


def _sparse_permuted(X: AnyTable, columns: Sequence[int], order: Order) -> Any:
    """A sparse matrix with some columns in another order of rows."""
    matrix = X.tocsc(copy=True)
    place = np.empty(len(order), matrix.indices.dtype)
    place[order] = np.arange(len(order))
    for j in columns:
        entries = slice(matrix.indptr[j], matrix.indptr[j + 1])
        matrix.indices[entries] = place[matrix.indices[entries]]
    matrix.has_sorted_indices = False
    return matrix.asformat(X.format)
