"""From labels to tasks of two classes each, and from their machines to one table of coefficients.

Of two classes there is one machine, whose positive side is the second class. Of more, a machine for each pair
(its positive side is the first class of the pair, as in LIBSVM), or for each class against the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.svm.machines import BinaryTask, Machine, unsolved
from weald.svm.votes import pairs

#: how the lines of the coefficients belong to machines: one line each, or LIBSVM's table of pairs
CoefficientLayout: TypeAlias = Literal["lines", "pairs"]


class Assembled(NamedTuple):
    """The support rows of several machines, class by class, and their coefficients."""

    rows: NDArray[np.int32]  # of the matrix
    n_support: NDArray[np.int32]  # by class
    coefficients: Floats  # (n_machines or n_classes - 1, n_support)


def layout_of(n_classes: int, multi_class: str) -> CoefficientLayout:
    """How the coefficients of so many classes are laid out."""
    return "pairs" if n_classes > 2 and multi_class == "ovo" else "lines"


def class_tasks(
    labels: NDArray[np.int32], n_classes: int, upper: Floats, multi_class: str
) -> Sequence[BinaryTask]:
    """The tasks that labels pose; `upper` is the C of each row, and rows of upper 0 take no part."""
    taking_part = np.flatnonzero(upper > 0).astype(np.int32)
    own = labels[taking_part]
    if n_classes == 2 or multi_class == "ovr":
        bound = upper[taking_part]
        positive = [1] if n_classes == 2 else range(n_classes)
        return [BinaryTask(taking_part, np.where(own == k, 1.0, -1.0), bound) for k in positive]
    return PairTasks(taking_part, own, n_classes, upper)


class PairTasks(Sequence[BinaryTask]):
    """A task for each pair of classes, put together when it is asked for: they may be a hundred thousand.

    Parameters
    ----------
    rows : ndarray of int32
        The rows that take part.
    labels : ndarray of int32
        Their classes.
    n_classes : int
        How many classes.
    upper : ndarray of shape (n_rows of the matrix,)
        The C of each row.
    """

    def __init__(
        self, rows: NDArray[np.int32], labels: NDArray[np.int32], n_classes: int, upper: Floats
    ) -> None:
        counts = np.bincount(labels, minlength=n_classes)
        self._rows = np.split(rows[np.argsort(labels, kind="stable")], np.cumsum(counts)[:-1])
        self._upper = [upper[each] for each in self._rows]
        self._counts = counts.tolist()
        self._totals = [float(each.sum()) for each in self._upper]
        self._pairs = pairs(n_classes)

    def __len__(self) -> int:
        return len(self._pairs)

    @overload
    def __getitem__(self, k: int) -> BinaryTask: ...
    @overload
    def __getitem__(self, k: slice) -> list[BinaryTask]: ...
    def __getitem__(self, k: int | slice) -> BinaryTask | list[BinaryTask]:
        """The task of one pair, or of some."""
        if isinstance(k, slice):
            return [self[each] for each in range(*k.indices(len(self)))]
        i, j = self._pairs[k]
        rows = np.concatenate([self._rows[i], self._rows[j]])
        target = np.repeat([1.0, -1.0], [self._counts[i], self._counts[j]])
        return BinaryTask(rows, target, np.concatenate([self._upper[i], self._upper[j]]))

    def left_out(self, k: int, *, for_first: bool) -> Machine:
        """The machine of a pair for which there was no time."""
        i, j = self._pairs[k]
        later: Any = _Later(self, k)
        more, total = self._counts[i] - self._counts[j], self._totals[i] + self._totals[j]
        return unsolved(later, more, total, for_first=for_first)


class _Later:
    """A task that is put together when one of its parts is asked for."""

    __slots__ = ("_k", "_tasks")

    def __init__(self, tasks: PairTasks, k: int) -> None:
        self._tasks, self._k = tasks, k

    def __getattr__(self, name: str) -> Any:
        if name in ("rows", "target", "upper", "epsilon"):
            return getattr(self._tasks[self._k], name)
        raise AttributeError(name)  # pickle and copy ask for methods that no task has


def turns(n_machines: int, n_classes: int, layout: CoefficientLayout) -> list[tuple[int, bool]]:
    """The machines in an order in which all classes take part early, for when the time may not do for all.

    With each goes whether it speaks for its first class if it is left out: so that all classes have about as
    many such votes, half of those that stand next to a class in a circle are its own.

    >>> [k for k, _ in turns(6, 4, "pairs")]  # (0, 1), (0, 3), (1, 2), (2, 3), then (0, 2), (1, 3)
    [0, 2, 3, 5, 1, 4]
    """
    if layout == "lines":
        return [(k, False) for k in range(n_machines)]
    first, second = np.triu_indices(n_classes, 1)
    apart = second - first
    for_first = (2 * apart < n_classes) | ((2 * apart == n_classes) & (first % 2 == 0))
    order = np.argsort(np.minimum(apart, n_classes - apart), kind="stable")
    return list(zip(order.tolist(), for_first[order].tolist(), strict=True))


def assemble(
    machines: Sequence[Machine], labels: NDArray[np.int32] | None, n_classes: int, layout: CoefficientLayout
) -> Assembled:
    """One table of coefficients; the rows that no machine leans on are left out.

    Parameters
    ----------
    machines : sequence of Machine
        In the order of their tasks.
    labels : ndarray of int32, or None
        The class of every row of the matrix; None for numbers, which are one class here.
    n_classes : int
        How many classes.
    layout : {"lines", "pairs"}
        With "pairs" the line of a row tells which machine it speaks in: of a row of class i, line j - 1 is
        for the machine of (i, j) and line j for that of (j, i).
    """
    n_rows = len(machines[0].task.rows) if labels is None else len(labels)
    n_lines = n_classes - 1 if layout == "pairs" else len(machines)
    table = np.zeros((n_lines, n_rows))
    if layout == "lines":
        for line, machine in zip(table, machines, strict=True):
            line[machine.task.rows] = machine.coefficients
    else:
        for (i, j), machine in zip(pairs(n_classes), machines, strict=True):
            if machine.left_out:
                continue
            rows, first = machine.task.rows, machine.task.target > 0
            table[j - 1, rows[first]] = machine.coefficients[first]
            table[i, rows[~first]] = machine.coefficients[~first]
    used = np.flatnonzero(table.any(axis=0))
    if labels is None:
        return Assembled(used.astype(np.int32), np.array([len(used)], np.int32), table[:, used])
    own = labels[used]
    order = used[np.argsort(own, kind="stable")]
    n_support = np.bincount(own, minlength=n_classes).astype(np.int32)
    return Assembled(order.astype(np.int32), n_support, table[:, order])
