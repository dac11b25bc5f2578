"""What is to be learned: classes or numbers, told by the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import TargetLike
from weald.errors import DataError, nearest, short

if TYPE_CHECKING:
    import pyarrow as pa

CLASSIFICATION, REGRESSION = "classification", "regression"
#: whole numbers of at most so many values are labels
FEW_LABELS = 10
#: of the rows; where there are more values than that they are names of rows, not labels
MOST_LABELS = 0.5
#: counts have so many values at least, the largest in no more of the rows than that
FEWEST_COUNTS, RAREST_COUNT = 4, 0.01
#: rows that say something of a value
ENOUGH_OF_COUNT = 5
#: standard errors that are taken for chance
CHANCE = 3.0


@dataclass(frozen=True, slots=True)
class Task:
    """The target and how it was understood."""

    kind: str
    target: str
    y: NDArray[np.generic]
    #: which rows of the table have a target
    known: NDArray[np.bool_]
    #: why, in words
    reason: str


def read_task(table: pa.Table, target: str, kind: str | None = None, *, fewest: int = 2) -> Task:
    """The target of a table.

    Parameters
    ----------
    table : pyarrow.Table
        The table.
    target : str
        The column to learn.
    kind : {"classification", "regression"}, default=None
        What it is; None goes by the values.
    fewest : int, default=2
        How many values there must be: to learn two, to score a model one.

    Raises
    ------
    DataError
        If there is no such column, it has too few values, or its values are no numbers for a regression.
    """
    import pyarrow as pa

    if target not in table.column_names:
        close = nearest(target, table.column_names)
        names = ", ".join(table.column_names[:12]) + (", …" if table.num_columns > 12 else "")
        raise DataError(
            f"The table has no column {target!r}. "
            + (f"Did you mean {close!r}? " if close else "")
            + f"It has {names}."
        )
    column = table[target].combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    column = _readable(column, target)
    known = np.asarray(column.is_valid())
    values = column.drop_null()
    numeric = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    n_distinct = len(values.unique())
    if n_distinct < fewest:
        raise DataError(
            f"The target {target!r} has {_count(n_distinct, 'value')}; there is nothing to learn."
        )
    guessed, reason = _guess(values.to_numpy(zero_copy_only=False), n_distinct, numeric=numeric)
    if (kind or guessed) == CLASSIFICATION and n_distinct > max(MOST_LABELS * len(values), FEW_LABELS):
        raise DataError(
            f"The target {target!r} has {n_distinct:,} different values in {len(values):,} rows: it names "
            "rows, and labels must repeat."
            + (" As numbers it can be learned: --task regression." if numeric else " Name another column.")
        )
    if kind == REGRESSION and not numeric:
        raise DataError(
            f"The target {target!r} holds {column.type}, such as {short(str(values[0].as_py()), 60)!r}, and "
            "no numbers: it cannot be a regression."
        )
    y = values.to_numpy(zero_copy_only=False)
    return Task(kind or guessed, target, y, known, "as asked" if kind else reason)


def _readable(column: pa.Array, target: str) -> pa.Array:
    """The target with gaps where it is no number; of a type that can be learned."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_temporal(kind) or pa.types.is_nested(kind) or pa.types.is_binary(kind):
        raise DataError(
            f"The target {target!r} holds {kind}: neither labels nor numbers. Name another column."
        )
    if pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    if not pa.types.is_floating(column.type):
        return column
    column = pc.if_else(pc.is_nan(column), None, column)
    if pc.any(pc.is_inf(column)).as_py():
        row = int(np.flatnonzero(np.isinf(column.to_numpy(zero_copy_only=False)))[0])
        raise DataError(
            f"The target {target!r} is infinite in row {row + 1:,} of the table. Mend or drop it."
        )
    return column


def task_of(y: TargetLike, kind: str | None = None, target: str = "y", *, fewest: int = 2) -> Task:
    """The task of a target that stands alone; every row has one."""
    values = np.asarray(y)
    if values.ndim != 1:
        raise DataError(f"One target per row is expected; got {values.ndim} dimensions.")
    labels = np.unique(values)
    if len(labels) < fewest:
        raise DataError(f"The target has {_count(len(labels), 'value')}; there is nothing to learn.")
    numeric = values.dtype.kind in "iuf"
    if kind == REGRESSION and not numeric:
        raise DataError("The target holds no numbers: it cannot be a regression.")
    guessed, reason = _guess(values, len(labels), numeric=numeric)
    known = np.ones(len(values), np.bool_)
    return Task(kind or guessed, target, values, known, "as asked" if kind else reason)


def _guess(values: NDArray[Any], n_distinct: int, *, numeric: bool) -> tuple[str, str]:
    """What a target is to be, and why; where it could be the other, how to say so."""
    if not numeric:
        return CLASSIFICATION, f"{n_distinct:,} labels"
    if n_distinct > FEW_LABELS or not np.array_equal(values, np.floor(values)):
        return REGRESSION, f"numbers with {n_distinct:,} values"
    found, sizes = np.unique(values, return_counts=True)
    if _like_counts(found, sizes):
        return REGRESSION, (
            f"the whole numbers 0 to {found[-1]:.0f}, spread as counts are; if they are labels, ask for the "
            "task classification"
        )
    words = f"whole numbers with {n_distinct} values only"
    if n_distinct > 2:
        words += "; if they are amounts, ask for the task regression"
    return CLASSIFICATION, words


def _like_counts(found: NDArray[Any], sizes: NDArray[np.int64]) -> bool:
    """Whether whole numbers are spread as how often something happened, and not as names of classes.

    They begin at 0, each is rarer than the one before, and the last is very rare. Counts of events whose
    rates differ (mixed Poisson) besides have (k + 1) p(k + 1) / p(k), the mean rate of those with k events,
    grow with k; a fall beyond chance says that they are no counts. Values of few rows say little: they are
    not looked at.
    """
    held = sizes >= ENOUGH_OF_COUNT
    n_held = int(held.sum())
    if len(found) < FEWEST_COUNTS or n_held < FEWEST_COUNTS - 1 or sizes[-1] > RAREST_COUNT * sizes.sum():
        return False
    head = sizes[:n_held].astype(np.float64)
    if not held[:n_held].all() or not np.array_equal(found[:n_held], np.arange(n_held)):
        return False
    if np.any(np.diff(head) >= 0):
        return False
    rates = np.log(np.arange(1, n_held) * head[1:] / head[:-1])
    spread = np.sqrt(1 / head[2:] + 4 / head[1:-1] + 1 / head[:-2])
    return bool(np.all(np.diff(rates) > -CHANCE * spread))


def _count(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n or 'no'} {word}s"
