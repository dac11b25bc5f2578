"""Columns that a model should not have, found before it is trained, and named."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.errors import DataError, listing, nearest
from weald.estimators.tree.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from weald.runs.task import CLASSIFICATION, Task

if TYPE_CHECKING:
    import pyarrow as pa

#: rows from which on columns without repetition are taken for names of rows
ENOUGH_ROWS = 50
#: of values that occur once, in a column of names
MOSTLY = 0.95
#: rows that a column alone is tried on, and from which score on it is suspected to tell the target
TRIED_ROWS, TELLING = 4000, 0.995


@dataclass(frozen=True, slots=True)
class Found:
    """Something about a column that its user should know."""

    column: str
    what: str
    dropped: bool

    def __str__(self) -> str:
        """As one line."""
        return f"{self.column}: {self.what}; {'dropped' if self.dropped else 'kept'}"


def look_at(
    table: pa.Table, task: Task, *, drop: Sequence[str] = (), keep: Collection[str] = ()
) -> tuple[pa.Table, list[Found]]:
    """The columns to learn from, and what was found about the others.

    Parameters
    ----------
    table : pyarrow.Table
        All columns.
    task : Task
        The target, which is left out.
    drop : sequence of str, default=()
        Columns to leave out.
    keep : collection of str, default=()
        Columns that stay whatever they look like.
    """
    for name in (*drop, *keep):
        if name not in table.column_names:
            close = nearest(name, table.column_names)
            raise DataError(
                f"The table has no column {name!r}." + (f" Did you mean {close!r}?" if close else "")
            )
    found = [Found(name, "as asked", dropped=True) for name in drop]
    rows = table.filter(task.known)
    for name in rows.column_names:
        if name == task.target or name in drop:
            continue
        what = _useless(rows[name], task)
        if what is not None:
            found.append(Found(name, what, dropped=name not in keep))
        elif _tells(rows.select([name]), task):
            found.append(Found(name, "alone it predicts the target; is it known beforehand?", dropped=False))
    gone = {task.target, *(each.column for each in found if each.dropped)}
    left = [name for name in rows.column_names if name not in gone]
    if not left:
        raise DataError(
            f"No column is left to learn from: {listing([str(each) for each in found])}. Say which to keep."
        )
    return rows.select(left), found


def _useless(column: pa.ChunkedArray, task: Task) -> str | None:
    """Why a column cannot help, or None."""
    import pyarrow as pa

    n_known = len(column) - column.null_count
    if n_known == 0:
        return "all missing"
    if pa.types.is_nested(column.type):
        return "lists or records, which no method takes"
    n_distinct = _count_distinct(column)
    if n_distinct == 1 and column.null_count == 0:
        return "the same in every row"
    if _copies(column, task):
        return "a copy of the target"
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if len(column) < ENOUGH_ROWS or n_distinct < MOSTLY * n_known:
        return None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return f"{n_distinct:,} values in {n_known:,} rows: a name of the row"
    if pa.types.is_integer(kind) and n_distinct == len(column) and _counts(column):
        return "numbers the rows"
    return None


def _count_distinct(column: pa.ChunkedArray) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = pa.chunked_array([column.combine_chunks().indices])
    try:
        return int(pc.count_distinct(column).as_py())
    except pa.ArrowNotImplementedError:  # views of text, lists of one length and the like
        return len(pc.unique(column).drop_null())


def _copies(column: pa.ChunkedArray, task: Task) -> bool:
    values = column.to_numpy() if column.null_count == 0 else None
    return values is not None and values.dtype.kind == task.y.dtype.kind and np.array_equal(values, task.y)


def _counts(column: pa.ChunkedArray) -> bool:
    steps = np.diff(column.to_numpy())
    return bool(len(steps) and np.all(steps == steps[0]))


def _tells(column: pa.Table, task: Task) -> bool:
    """Whether a small tree of this column alone predicts rows it did not see nearly without error."""
    n = len(task.y)
    rows = np.linspace(0, n - 1, min(n, TRIED_ROWS)).astype(np.int64)
    order = np.random.default_rng(0).permutation(len(rows))
    half = len(rows) // 2
    train, test = rows[order[:half]], rows[order[half:]]
    if half < ENOUGH_ROWS or len(np.unique(task.y[train])) < 2:
        return False
    make = DecisionTreeClassifier if task.kind == CLASSIFICATION else DecisionTreeRegressor
    tree = make(max_depth=6, min_samples_leaf=5).fit(column.take(train), task.y[train])
    return _score(task, test, tree.predict(column.take(test))) > TELLING


def _score(task: Task, rows: NDArray[np.int64], said: NDArray[np.generic]) -> float:
    """The share of error that is gone: 1 is none left, 0 as much as by the commonest label or the mean."""
    truth: NDArray[Any] = task.y[rows]
    if task.kind == CLASSIFICATION:
        by_chance = 1 - np.unique(truth, return_counts=True)[1].max() / len(truth)
        wrong = float(np.mean(said != truth))
        return 1 - wrong / by_chance if by_chance > 0 else 0.0
    spread = float(np.var(truth.astype(np.float64)))
    return 1 - float(np.mean((said.astype(np.float64) - truth) ** 2)) / spread if spread > 0 else 0.0
