"""Queries of ranking: which rows belong together, and what weight they have.

Rows of one query stand together. What the rest of weald reads is `group_start`: query q has the rows from
`group_start[q]` up to, not including, `group_start[q + 1]`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.arrays import ColumnLike, WeightLike
from weald.data.adapters import column_of
from weald.data.frames.from_sparse import refuse_sparse
from weald.data.levels import missing_rows
from weald.data.table import Column, LevelColumn
from weald.data.target import read_weight
from weald.errors import DataError, DataTypeError, ParameterError


def group_starts(
    n_rows: int, *, qid: ColumnLike | None = None, group: ColumnLike | None = None, owner: str = "XGBRanker"
) -> NDArray[np.int64]:
    """Where each query starts.

    Parameters
    ----------
    n_rows : int
        The rows of the table.
    qid : array-like of shape (n_rows,), optional
        The query of each row: numbers, text, dates, bools. Rows of a query stand together; the queries may
        come in any order.
    group : array-like of shape (n_queries,), optional
        The number of rows of each query, as an alternative to `qid`.
    owner : str
        The class that asks, for messages.

    Returns
    -------
    ndarray of int64, (n_queries + 1,)
        The first row of each query, and the number of rows. With neither `qid` nor `group`: one query.

    Examples
    --------
    >>> group_starts(5, qid=["b", "b", "a", "a", "a"])
    array([0, 2, 5])
    >>> group_starts(5, group=[2, 3])
    array([0, 2, 5])
    """
    if qid is not None and group is not None:
        raise ParameterError(f"{owner} got both `qid` and `group`. Give one of them.")
    if qid is not None:
        return _starts_by_label(qid, n_rows)
    if group is not None:
        return _starts_by_size(group, n_rows)
    return np.array([0, n_rows] if n_rows else [0], np.int64)


class _Labels(NamedTuple):
    """The queries of the rows as comparable numbers, which rows have none, and what each looked like."""

    values: NDArray[Any]
    missing: NDArray[np.bool_] | None
    shown: Callable[[Any], str]


def _starts_by_label(qid: ColumnLike, n_rows: int) -> NDArray[np.int64]:
    refuse_sparse(qid, "qid")
    given = _flat(qid)
    is_object = isinstance(given, list | tuple) or getattr(given, "dtype", None) == np.dtype(object)
    labels = _hashable_labels(list(given)) if is_object else _column_labels(column_of("qid", given))
    values, missing = labels.values, labels.missing
    if len(values) != n_rows:
        raise DataError(f"qid has {len(values)} values for {n_rows} rows. Give the query of every row.")
    if missing is not None and missing.any():
        row = int(np.argmax(missing))
        raise DataError(f"qid contains NaN: row {row} has no query. Give every row one, or drop the row.")
    if n_rows == 0:
        return np.zeros(1, np.int64)
    starts = np.concatenate([[0], np.flatnonzero(values[1:] != values[:-1]) + 1])
    _check_together(labels, starts)
    return np.append(starts, n_rows).astype(np.int64)


def _column_labels(column: Column) -> _Labels:
    if isinstance(column, LevelColumn):
        levels = column.levels
        return _Labels(column.indices, column.indices < 0, lambda label: repr(levels[int(label)]))
    kind = {"datetime": "M8[us]", "instant": "M8[us]", "duration": "m8[us]"}.get(column.unit)
    if kind is None:
        return _Labels(column.values, missing_rows(column), lambda label: repr(label.item()))
    return _Labels(column.values, missing_rows(column), lambda label: str(np.int64(label).view(kind)))


def _hashable_labels(labels: list[Any]) -> _Labels:
    """Any Python objects, told apart as a dict tells keys apart."""
    try:
        position = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    except TypeError:
        row = next(i for i, label in enumerate(labels) if not isinstance(label, Hashable))
        raise DataTypeError(
            f"qid holds {type(labels[row]).__name__} in row {row}, which cannot be told apart from others. "
            "Give numbers or text."
        ) from None
    values = np.fromiter(map(position.__getitem__, labels), np.int64, len(labels))
    levels = list(position)
    none = np.array([_is_missing(level) for level in levels], bool)
    return _Labels(values, none[values] if none.any() else None, lambda label: repr(levels[int(label)]))


def _is_missing(label: object) -> bool:
    """None, NaN, NaT and pandas' NA, which is not comparable."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float | np.floating | np.datetime64 | np.timedelta64) and label != label


def _check_together(labels: _Labels, starts: NDArray[np.int64]) -> None:
    heads = labels.values[starts]
    _, first = np.unique(heads, return_index=True)
    if len(first) == len(heads):
        return
    again = np.ones(len(heads), bool)
    again[first] = False
    run = int(np.argmax(again))
    before = int(np.argmax(heads == heads[run]))
    raise DataError(
        f"The rows of a query must stand together, but query {labels.shown(heads[run])} comes back in row "
        f"{starts[run]} after it ended before row {starts[before + 1]}. Sort the rows by qid: "
        "order = np.argsort(qid, kind='stable'), then X[order], y[order], qid[order]; of rows on Dask, "
        "sort_groups=True does it."
    )


def _flat(values: ColumnLike) -> Any:
    """A table of one column as that column."""
    if isinstance(values, list | tuple):
        return values
    shape: tuple[int, ...] = getattr(values, "shape", (0,))
    if len(shape) == 2 and shape[1] == 1:
        return np.asarray(values)[:, 0]
    return values


def _starts_by_size(group: ColumnLike, n_rows: int) -> NDArray[np.int64]:
    sizes = np.asarray(_flat(group))
    if sizes.ndim != 1 or sizes.dtype.kind not in "iuf":
        raise DataTypeError("group must be the number of rows of each query: a list of whole numbers.")
    bad = ~np.isfinite(sizes) | (sizes != np.floor(sizes)) | (sizes < 1)
    if bad.any():
        query = int(np.argmax(bad))
        raise DataError(
            f"group holds {sizes[query]} for query {query}. Give each query's number of rows, a whole number "
            "of at least 1; leave queries without rows out."
        )
    total = int(sizes.astype(np.int64).sum())
    if total != n_rows:
        raise DataError(
            f"The sizes in group add up to {total}, but there are {n_rows} rows. "
            "Every row belongs to one query."
        )
    return np.concatenate([[0], np.cumsum(sizes.astype(np.int64))]).astype(np.int64)


def query_row_weights(
    sample_weight: WeightLike | None, group_start: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    """Weights of queries, spread over their rows.

    Parameters
    ----------
    sample_weight : array-like of shape (n_queries,) or (n_rows,), or None
        One weight per query, as in xgboost, or one per row that is the same for all rows of a query. Where
        there are as many queries as rows the two mean the same.
    group_start : ndarray of int64, (n_queries + 1,)
        The queries.

    Returns
    -------
    ndarray of float64, (n_rows,), or None
        The weights by row; None stays None.

    Examples
    --------
    >>> query_row_weights([2.0, 0.5], np.array([0, 2, 5]))
    array([2. , 2. , 0.5, 0.5, 0.5])
    """
    if sample_weight is None:
        return None
    sizes = np.diff(group_start)
    n_queries, n_rows = len(sizes), int(group_start[-1])
    given: Any = sample_weight  # numbers in any container, which has a length
    n_given = n_rows if np.ndim(given) == 0 else len(given)
    if n_given not in (n_queries, n_rows):
        raise DataError(
            f"sample_weight has {n_given} values for {n_queries} queries and {n_rows} rows. "
            "Give one weight per query."
        )
    weight = read_weight(sample_weight, n_rows=n_given)
    if weight is None or n_given == n_queries:
        return None if weight is None else np.repeat(weight, sizes)
    differs = weight != np.repeat(weight[group_start[:-1]], sizes)
    if differs.any():
        row = int(np.argmax(differs))
        query = int(np.searchsorted(group_start, row, side="right")) - 1
        first = int(group_start[query])
        raise DataError(
            f"The rows of a query must have one weight, but query {query} "
            f"(rows {first} to {group_start[query + 1] - 1}) has {weight[first]} in row {first} and "
            f"{weight[row]} in row {row}. Give one weight per query."
        )
    return weight
