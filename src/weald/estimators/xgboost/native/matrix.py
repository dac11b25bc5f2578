"""`DMatrix`: a table with its label, weights, margins, queries and names under one name, as xgboost has it.

It holds views of the user's data, so that data should not be changed while the matrix is in use.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from weald.arrays import ColumnLike, Floats, TableLike, TargetLike
from weald.boosting.ranking.groups import group_starts
from weald.data.adapters import to_table
from weald.data.blocks import SparseBlock
from weald.data.frames.from_text import read_text_table
from weald.data.missing import mark_missing
from weald.data.rows import take_rows
from weald.data.table import BlockColumns, Table
from weald.data.target import read_weight
from weald.errors import DataError, DataTypeError, ParameterError
from weald.estimators.xgboost.batches import DataIter, all_batches
from weald.estimators.xgboost.constraints import categorical_by_type, check_types, column_weights
from weald.estimators.xgboost.native.matrix_parts import (
    checked_names,
    known_field,
    listed_types,
    numeric_label,
    or_empty,
    row_numbers,
    type_of,
    values_of,
)
from weald.estimators.xgboost.rows import Given, read_margin, renamed

_FLOATS = ("label", "weight", "base_margin", "feature_weights")


class DMatrix:
    """A table and what belongs to its rows, for `weald.train`, `weald.cv` and `Booster.predict`.

    Parameters
    ----------
    data : table, str, path or DataIter
        As in `XGBClassifier.fit`; or a file of numbers such as "train.txt?format=libsvm" or
        "train.csv?format=csv&label_column=0"; or batches, which are put together in memory.
    label : array-like of shape (n_rows,) or (n_rows, n_targets), default=None
        Numbers: classes are 0, 1, 2, …
    weight : array-like, default=None
        One per row; for ranking one per query.
    base_margin : array-like, default=None
        Raw scores to start from.
    missing : float, default=None
        The number that stands for a missing value, besides NaN. With a sparse matrix `missing=0` makes what
        it does not store missing, as xgboost does; by default that is 0.
    feature_names : list of str, default=None
        Names of the columns; None takes those of the table.
    feature_types : list of str, default=None
        A type for each column: "c" for categories, "int", "i" (yes or no), "float" or "q".
    group : array-like, default=None
        How many rows each query has.
    qid : array-like, default=None
        The query of each row instead.
    feature_weights : array-like of shape (n_columns,), default=None
        Weights of the columns where columns are drawn.
    enable_categorical, silent, nthread, data_split_mode
        Accepted: categories are always welcome, and reading needs no threads.
    label_lower_bound, label_upper_bound
        Not in weald, which has no survival objectives: they raise.

    Examples
    --------
    >>> import weald
    >>> train = weald.DMatrix([[1.0], [2.0], [3.0], [4.0]], label=[0, 0, 1, 1])
    >>> train.num_row(), train.num_col(), train.get_label().tolist()
    (4, 1, [0.0, 0.0, 1.0, 1.0])
    """

    def __init__(
        self,
        data: TableLike | DataIter | str | os.PathLike[str],
        label: TargetLike | None = None,
        *,
        weight: ColumnLike | None = None,
        base_margin: ColumnLike | None = None,
        missing: float | None = None,
        silent: bool = False,
        feature_names: Sequence[str] | None = None,
        feature_types: Sequence[str] | None = None,
        nthread: int | None = None,
        group: ColumnLike | None = None,
        qid: ColumnLike | None = None,
        label_lower_bound: ColumnLike | None = None,
        label_upper_bound: ColumnLike | None = None,
        feature_weights: ColumnLike | None = None,
        enable_categorical: bool = False,
        data_split_mode: int = 0,
    ) -> None:
        source: Any = data
        given: dict[str, Any] = {"label": label, "weight": weight, "base_margin": base_margin, "qid": qid}
        if isinstance(source, DataIter):
            source, found, names, types = all_batches(source)
            feature_names = names if feature_names is None else feature_names
            feature_types = types if feature_types is None else feature_types
        elif isinstance(source, str | os.PathLike):
            text = read_text_table(os.fspath(source))
            source, found = text.table, {"label": text.label, "weight": text.weight, "qid": text.qid}
        else:
            found = {}
        if isinstance(source, DMatrix):
            raise DataTypeError("data is a DMatrix already. Use it as it is, or its slice(rows).")
        types = None if feature_types is None else listed_types(feature_types)
        declared = None if types is None else categorical_by_type(types, None, "DMatrix")
        table = to_table(source)
        check_types(types, table.n_columns, "DMatrix")
        if declared is not None and any(declared):
            table = to_table(source, categorical_features=declared)
        self._table = mark_missing(table, np.nan if missing is None else missing)
        self._types: list[str] | None = types
        self._label: Floats | None = None
        self._weight: Floats | None = None
        self._margin: Floats | None = None
        self._start: NDArray[np.int64] | None = None  # where each query begins, and the number of rows
        self._feature_weights: Floats | None = None
        if feature_names is not None:
            self.feature_names = list(feature_names)
        self.set_info(
            **{name: found.get(name) if value is None else value for name, value in given.items()},
            group=group,
            label_lower_bound=label_lower_bound,
            label_upper_bound=label_upper_bound,
            feature_weights=feature_weights,
        )

    # ------------------------------------------------------------------ what belongs to the rows

    def set_info(
        self,
        *,
        label: TargetLike | None = None,
        weight: ColumnLike | None = None,
        base_margin: ColumnLike | None = None,
        group: ColumnLike | None = None,
        qid: ColumnLike | None = None,
        label_lower_bound: ColumnLike | None = None,
        label_upper_bound: ColumnLike | None = None,
        feature_names: Sequence[str] | None = None,
        feature_types: Sequence[str] | None = None,
        feature_weights: ColumnLike | None = None,
    ) -> None:
        """Set some of what the constructor takes; None leaves it as it is."""
        if label_lower_bound is not None or label_upper_bound is not None:
            raise ParameterError(
                "label_lower_bound and label_upper_bound are for survival objectives, which weald does not "
                "have. Use xgboost or lifelines for those."
            )
        n_rows = self._table.n_rows
        if qid is not None or group is not None:
            self._start = group_starts(n_rows, qid=qid, group=group, owner="DMatrix")
        if label is not None:
            values = numeric_label(label, n_rows)
            self._label = np.ascontiguousarray(values[:, 0] if values.shape[1] == 1 else values)
        if weight is not None:
            numbers: Any = weight  # in any container, which has a length
            n_given = n_rows if np.ndim(numbers) == 0 else len(numbers)
            by_query = self._start is not None and n_given == len(self._start) - 1
            self._weight = read_weight(weight, n_rows=n_given if by_query else n_rows)
        if base_margin is not None:
            self._margin = read_margin(base_margin, n_rows)
        if feature_names is not None:
            self.feature_names = list(feature_names)
        if feature_types is not None:
            self.feature_types = list(feature_types)
        if feature_weights is not None:
            self.feature_weights = feature_weights

    def set_label(self, label: TargetLike) -> None:
        """Set the label."""
        self.set_info(label=label)

    def set_weight(self, weight: ColumnLike) -> None:
        """Set the weights."""
        self.set_info(weight=weight)

    def set_base_margin(self, margin: ColumnLike) -> None:
        """Set the raw scores to start from."""
        self.set_info(base_margin=margin)

    def set_group(self, group: ColumnLike | None) -> None:
        """Set how many rows each query has."""
        self.set_info(group=group)

    def set_float_info(self, field: str, data: ColumnLike) -> None:
        """Set "label", "weight", "base_margin" or "feature_weights"."""
        given: dict[str, Any] = {
            known_field(field, (*_FLOATS, "label_lower_bound", "label_upper_bound")): data
        }
        self.set_info(**given)

    def set_uint_info(self, field: str, data: ColumnLike) -> None:
        """Set "group" or "qid"."""
        given: dict[str, Any] = {known_field(field, ("group", "qid")): data}
        self.set_info(**given)

    def get_label(self) -> Floats:
        """The label: (n_rows,) or (n_rows, n_targets), empty if there is none."""
        return or_empty(self._label)

    def get_weight(self) -> Floats:
        """The weights, empty if there are none."""
        return or_empty(self._weight)

    def get_base_margin(self) -> Floats:
        """The raw scores to start from, empty if there are none."""
        margin = or_empty(self._margin)
        return margin[:, 0] if margin.ndim == 2 and margin.shape[1] == 1 else margin

    def get_group(self) -> NDArray[np.int64]:
        """How many rows each query has, empty if there are no queries."""
        return np.diff(self.get_uint_info("group_ptr"))

    def get_float_info(self, field: str) -> Floats:
        """One of "label", "weight", "base_margin" and "feature_weights"."""
        known_field(field, _FLOATS)
        margin_or_label = {"label": self.get_label, "base_margin": self.get_base_margin}.get(field)
        if margin_or_label is not None:
            return margin_or_label()
        return or_empty(self._weight if field == "weight" else self._feature_weights)

    def get_uint_info(self, field: str) -> NDArray[np.int64]:
        """Where each query begins, and at the end the number of rows: "group_ptr"."""
        known_field(field, ("group_ptr",))
        return np.zeros(0, np.int64) if self._start is None else self._start.copy()

    # ------------------------------------------------------------------ columns

    @property
    def feature_names(self) -> list[str] | None:
        """The names of the columns; None if they have none. None takes them away."""
        return [str(name) for name in self._table.names] if self._table.named else None

    @feature_names.setter
    def feature_names(self, names: Sequence[str] | None) -> None:
        self._table = renamed(
            self._table,
            range(self._table.n_columns) if names is None else checked_names(names, self._table.n_columns),
            named=names is not None,
        )

    @property
    def feature_types(self) -> list[str] | None:
        """The types of the columns: those given, or of a table with names, those it has."""
        if self._types is not None or not self._table.named:
            return None if self._types is None else list(self._types)
        return [type_of(column) for column in self._table.columns]

    @feature_types.setter
    def feature_types(self, types: Sequence[str] | None) -> None:
        if types is None:
            self._types = None
            return
        given = listed_types(types)
        check_types(given, self._table.n_columns, "DMatrix")
        declared = categorical_by_type(given, None, "DMatrix")
        self._table, self._types = to_table(self._table, categorical_features=declared), given

    @property
    def feature_weights(self) -> Floats | None:
        """The weights of the columns where columns are drawn."""
        return self._feature_weights

    @feature_weights.setter
    def feature_weights(self, weights: ColumnLike | None) -> None:
        self._feature_weights = column_weights(weights, self._table.n_columns, "DMatrix")

    # ------------------------------------------------------------------ the table

    def num_row(self) -> int:
        """How many rows."""
        return self._table.n_rows

    def num_col(self) -> int:
        """How many columns."""
        return self._table.n_columns

    def num_nonmissing(self) -> int:
        """How many values are not missing; of a sparse matrix, how many are stored."""
        return int(self.get_data().nnz)

    def get_data(self) -> sparse.csr_matrix:
        """The values that are not missing; a category is its number among the levels of its column."""
        columns = self._table.columns
        found = columns.block if isinstance(columns, BlockColumns) and not columns.placed else None
        if isinstance(found, SparseBlock):
            block = found.compressed_by_rows()
            return sparse.csr_matrix((block.data, block.indices, block.indptr), shape=block.shape)
        values = np.column_stack([values_of(column) for column in columns])
        rows, places = np.nonzero(~np.isnan(values))
        return sparse.csr_matrix((values[rows, places], (rows, places)), shape=values.shape)

    def slice(self, rindex: ArrayLike, allow_groups: bool = False) -> DMatrix:
        """Some of the rows, in the order given.

        Parameters
        ----------
        rindex : array-like of int
            Numbers of rows.
        allow_groups : bool, default=False
            Whether rows of a matrix with queries may be taken; neighbours of one query stay one.
        """
        if self._start is not None and not allow_groups:
            raise DataError(
                "slice may take queries apart. Take whole queries, and say so by allow_groups=True."
            )
        rows = row_numbers(rindex, self.num_row())
        part = self._like(take_rows(self._table, rows))
        part._label = None if self._label is None else self._label[rows]
        part._margin = None if self._margin is None else self._margin[rows]
        if self._weight is not None and len(self._weight) == self.num_row():
            part._weight = self._weight[rows]
        if self._start is not None:
            query = np.searchsorted(self._start, rows, side="right") - 1
            first = np.flatnonzero(np.diff(query, prepend=-1))
            part._start = np.append(first, len(rows)).astype(np.int64)
            if self._weight is not None and part._weight is None:
                part._weight = self._weight[query[first]]
        return part

    def _like(self, table: Table) -> DMatrix:
        """A matrix of other rows, with what is known of the columns."""
        part = object.__new__(DMatrix)
        part.__dict__.update(self.__dict__)
        part._table = table
        part._label = part._weight = part._margin = part._start = None
        return part

    def _given(self, where: str = "") -> Given:
        """The rows for a training; the same object each time, so that they are known again."""
        if self._label is None:
            raise DataError(
                f"{where or 'dtrain'} has no label, and training needs one. Give DMatrix(data, label=y), or "
                "call set_label(y)."
            )
        group = None if self._start is None else np.diff(self._start)
        return Given(self._table, self._label, self._weight, self._margin, group, None, where)

    def save_binary(self, fname: str | os.PathLike[str], silent: bool = True) -> None:
        """Refused: xgboost's own format; save the table itself."""
        raise ParameterError(
            "save_binary writes a format of xgboost's own, which weald does not have. Save the table itself, "
            "for example by DataFrame.to_parquet."
        )


def check_matrix(value: object, what: str) -> DMatrix:
    """A matrix, or a message that says how to make one."""
    if not isinstance(value, DMatrix):
        raise DataTypeError(f"{what} must be a DMatrix; got {type(value).__name__}. Use weald.DMatrix(X, y).")
    return value
