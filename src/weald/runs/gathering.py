"""From files to a table, a target, and what columns have a role: what every run begins with."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from weald.arrays import AnyTable
from weald.data.files import kinds
from weald.data.files.inputs import Input, inputs
from weald.data.files.libsvm import matrix_of
from weald.data.files.reading import read_inputs
from weald.data.files.text import TextOptions
from weald.errors import DataError, DataTypeError, listing, nearest, told
from weald.runs.columns import Found, look_at
from weald.runs.task import CLASSIFICATION, Task, read_task, task_of

if TYPE_CHECKING:
    import pyarrow as pa

#: the name of a file
PathLike: TypeAlias = str | os.PathLike[str]
#: whole numbers of at most so many values, of so many rows each, are labels in LIBSVM's format
MOST_WHOLE, ROWS_PER_LABEL = 100, 10
#: what the target of such a file is called; the second is how lists of data sets write it
LIBSVM_TARGET = ("label", "(label)")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of files: the target, and which columns have a role or none."""

    data: tuple[str, ...]
    target: str | None
    task: str | None = None
    weight: str | None = None
    group: str | None = None
    order: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    #: of text
    layout: TextOptions = field(default_factory=TextOptions)


@dataclass(frozen=True, slots=True)
class Given:
    """Rows that have a target."""

    X: AnyTable  # an Arrow table, or a CSR matrix
    task: Task
    found: list[Found]
    notes: list[str]
    weight: NDArray[np.float64] | None = None
    groups: NDArray[Any] | None = None
    order: NDArray[Any] | None = None

    @property
    def n_columns(self) -> int:
        """How many columns there are to learn from."""
        return int(self.X.shape[1])

    @property
    def n_lost(self) -> int:
        """How many rows have no target."""
        return int((~self.task.known).sum())


def gather(question: Question) -> Given:
    """Read the files and find what is to be learned.

    Raises
    ------
    DataError
        If a column is absent, the target has one value, or nothing is left to learn from.
    """
    given = inputs(question.data if len(question.data) > 1 else question.data[0])
    if all(each.kind == kinds.LIBSVM for each in given):
        return _sparse(given, question)
    notes: list[str] = []
    layout = question.layout
    table = read_inputs(given, TextOptions(layout.delimiter, layout.encoding, layout.header, notes))
    if table.num_rows == 0:
        raise DataError(f"{given[0].name} has names of columns and no rows: there is nothing to learn from.")
    if question.target is None:
        raise DataError(
            f"Which column is to be learned? Name the target (--target on the command line); there are "
            f"{listing(table.column_names, 12)}."
        )
    task = read_task(table, question.target, question.task)
    roles = [name for name in (question.weight, question.group) if name is not None]
    X, found = look_at(table, task, drop=(*question.drop, *roles), keep=question.keep)
    found = [in_role(each, question) for each in found]
    known = table.filter(task.known)
    weight = read_weight(known, question.weight)
    groups, order = column_of(known, question.group), column_of(known, question.order)
    return Given(X, task, found, notes, weight, groups, order)


def is_path(X: object) -> TypeGuard[PathLike]:
    """Whether a table is given by the name of its file."""
    return isinstance(X, str | os.PathLike)


def name_of_column(value: object, parameter: str, owner: str) -> str | None:
    """What stands for a column where the table is a file."""
    if value is None or isinstance(value, str):
        return value
    raise DataTypeError(
        f"`{parameter}` of {owner} must be the name of a column, because the table is given as a file; got "
        f"{told(value)}."
    )


def in_role(found: Found, question: Question) -> Found:
    """The same with the role of its column, if it has one."""
    roles = {question.weight: "weights of the rows", question.group: "groups of rows"}
    what = roles.get(found.column)
    return found if what is None else Found(found.column, what, dropped=True)


def _sparse(given: Sequence[Input], question: Question) -> Given:
    """Files in LIBSVM's format, whose columns have no names."""
    if question.target is not None and question.target not in LIBSVM_TARGET:
        raise DataError(
            f"{given[0].name} is in LIBSVM's format, where the first number of each line is the target, and "
            f"columns have no names; got the target {question.target!r}. Leave --target out."
        )
    named = [question.weight, question.group, question.order, *question.drop, *question.keep]
    asked = [name for name in named if name is not None]
    if asked:
        raise DataError(
            f"{given[0].name} is in LIBSVM's format: its columns have no names, and {asked[0]!r} is "
            "none of them."
        )
    X, y = matrix_of(given)
    whole = bool(np.all(y == np.floor(y)))
    values = len(np.unique(y))
    kind = question.task
    if kind is None and whole and values <= min(MOST_WHOLE, len(y) / ROWS_PER_LABEL):
        kind = CLASSIFICATION  # what the format is for
    task = task_of(y.astype(np.int64) if whole else y, kind, target=LIBSVM_TARGET[0])
    if question.task is None:
        task = replace(task, reason=f"{values:,} {'labels' if kind else 'values'}")
    return Given(
        X, task, [], [f"LIBSVM's format: {X.nnz:,} values that are not 0, in {X.shape[1]:,} columns"]
    )


def column_of(table: pa.Table, name: str | None) -> NDArray[Any] | None:
    """A column that has a role, which must be whole."""
    if name is None:
        return None
    if name not in table.column_names:
        close = nearest(name, table.column_names)
        raise DataError(
            f"The table has no column {name!r}. "
            + (f"Did you mean {close!r}?" if close else f"It has {listing(table.column_names, 12)}.")
        )
    column = table[name]
    if column.null_count:
        raise DataError(
            f"Column {name!r} has {column.null_count:,} missing values; its role needs all of them."
        )
    try:
        return np.asarray(column.to_numpy())
    except NotImplementedError:
        return np.asarray(column.to_pylist())


def read_weight(table: pa.Table, name: str | None) -> NDArray[np.float64] | None:
    """The weights of rows."""
    values = column_of(table, name)
    return None if values is None else _numbers(values, str(name))


def _numbers(values: NDArray[Any], name: str) -> NDArray[np.float64]:
    if values.dtype.kind not in "iufb":
        raise DataError(f"The weights in column {name!r} must be numbers; the first is {values[0]!r}.")
    weight = values.astype(np.float64)
    if not np.all(np.isfinite(weight) & (weight >= 0)) or not weight.any():
        raise DataError(f"The weights in column {name!r} must be 0 or more, finite, and not all 0.")
    return weight
