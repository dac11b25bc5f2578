"""Single machines: the dual problem of two classes or of numbers, its solution in words that users know.

Two classes (s_i = ±1):  min ½‖w‖² + Σ C_i ξ_i   with  s_i f(x_i) ≥ 1 - ξ_i
Numbers:                 min ½‖w‖² + Σ C_i ξ_i   with  |y_i - f(x_i)| ≤ ε + ξ_i
where f(x) = Σ c_i K(x_i, x) + b, c_i = s_i α_i of two classes and α_i - α*_i of numbers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

import numpy as np

from weald.arrays import Floats
from weald.svm.kernel_sources import KernelSource, RowNumbers, column_scores
from weald.svm.problem import DualProblem, DualSolution, KernelRows, solve_dual

#: seconds that machines may go on when the time is over: those of small tables are all solved in less
_MOMENT = 0.2
#: coefficients and values of a machine that was left out, for any number of rows
_NOTHING = np.zeros(1)
#: from how many typical distances from 0 on the targets of a regression are moved there
_FAR = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class BinaryTask:
    """What one machine learns: rows of the matrix, the side ±1 of each (with `epsilon` a number), its C."""

    rows: RowNumbers
    target: Floats
    upper: Floats
    epsilon: float | None = None  # None: two classes


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """A solved machine."""

    task: BinaryTask
    coefficients: Floats  # c of every row of the task
    values: Floats  # f of every row of the task
    intercept: float
    squared_norm: float  # ‖w‖²
    primal: float
    dual: float
    gap: float  # of the KKT conditions
    n_iter: int
    stopped_by: str
    weights: Floats | None = None  # w, where a kernel is linear or machines work on columns
    left_out: bool = False  # the time was over before its turn

    @property
    def converged(self) -> bool:
        """Whether the KKT conditions hold to the tolerance."""
        return self.stopped_by == "tol"


@dataclass(slots=True)
class Limits:
    """When to stop: the tolerance, and what is left of the time for the machines that are left."""

    tol: float
    max_iter: int = -1
    max_time: float | None = None
    shrinking: bool = True
    n_left: int = 1
    start: float = field(default_factory=time.monotonic)

    def seconds(self) -> float | None:
        """The share of the next machine in the time that is left."""
        if self.max_time is None:
            return None
        left = self.max_time - (time.monotonic() - self.start)
        return max(left, 0.0) / max(self.n_left, 1)

    def over(self) -> bool:
        """Whether the time is used up, and a moment more."""
        return self.max_time is not None and time.monotonic() - self.start > self.max_time + _MOMENT


Report: TypeAlias = Callable[[int, float], None]


class Trainer(Protocol):
    """What solves machines on one set of rows."""

    def solve(self, task: BinaryTask, limits: Limits, report: Report | None) -> Machine:
        """The machine of a task."""

    def values_at(self, machine: Machine, rows: RowNumbers) -> Floats:
        """The values f of any rows of the matrix."""


class ExactTrainer:
    """Machines by the dual problem, all on the kernel rows of one cache."""

    def __init__(self, source: KernelSource, cache_bytes: int, n_threads: int) -> None:
        self._source, self._n_threads = source, n_threads
        self._rows: KernelRows = source.kernel_rows(cache_bytes, n_threads)

    def solve(self, task: BinaryTask, limits: Limits, report: Report | None) -> Machine:
        """The machine of a task."""
        solution = solve_dual(
            self._rows,
            dual_problem(task),
            tol=limits.tol,
            max_iter=limits.max_iter,
            max_time=limits.seconds(),
            shrinking=limits.shrinking,
            progress=report,
        )
        return self._by_columns(_machine(task, solution))

    def _by_columns(self, machine: Machine) -> Machine:
        """A machine of moved rows as one of the rows themselves: f(x) = w · (x - centre) + b."""
        centre = self._source.centre
        if centre is None:
            return machine
        source: Any = self._source
        used = np.flatnonzero(machine.coefficients)
        rows = source.moved(source.batch(machine.task.rows[used])).values
        weights = np.einsum("i,ij->j", machine.coefficients[used], rows)  # in one order, unlike BLAS
        return replace(machine, weights=weights, intercept=machine.intercept - math.fsum(weights * centre))

    def values_at(self, machine: Machine, rows: RowNumbers) -> Floats:
        """The values f of any rows of the matrix."""
        if machine.left_out:
            return np.full(len(rows), machine.intercept)
        if machine.weights is not None:
            batch = self._source.batch(rows)
            return column_scores(batch, machine.weights[None], machine.intercept, self._n_threads)[:, 0]
        used = np.flatnonzero(machine.coefficients)
        support = self._source.support(machine.task.rows[used])
        scores = support.scores(self._source.batch(rows), machine.coefficients[None, used], self._n_threads)
        return scores[:, 0] + machine.intercept


def target_centre(target: Floats) -> float:
    """What to take off the targets of a regression with a free intercept: 0, or their median if that is far.

    A machine of moved targets is the same one with its intercept moved. Far from 0 the digits that tell
    targets apart would be lost in sums of kernel values.

    >>> target_centre(np.array([1.0, 2.0, 9.0])), target_centre(np.array([1e12, 1e12 + 1, 1e12 + 3]))
    (0.0, 1000000000001.0)
    """
    half = len(target) // 2
    centre = float(np.partition(target, half)[half])
    with np.errstate(over="ignore"):
        apart = np.abs(target - centre)
    far = np.isfinite(apart).all() and abs(centre) > _FAR * float(np.median(apart))
    return centre if far else 0.0


def centred(task: BinaryTask) -> tuple[BinaryTask, float]:
    """A task about targets near 0, and what was taken off them; two classes stay as they are."""
    centre = 0.0 if task.epsilon is None else target_centre(task.target)
    return (task if centre == 0 else replace(task, target=task.target - centre)), centre


def unsolved(task: BinaryTask, more: int, total: float, *, for_first: bool = False) -> Machine:
    """The machine whose turn came when the time was over: it speaks for the larger of its two classes.

    Parameters
    ----------
    task : BinaryTask
        What it was asked; looked at when somebody asks for its rows, not before.
    more : int
        Rows of the first class less those of the second.
    total : float
        Σ C: the objective of a machine that knows nothing.
    for_first : bool
        Of equally large classes, whether it speaks for the first.
    """
    return Machine(
        task=task,
        coefficients=_NOTHING,
        values=_NOTHING,
        intercept=1.0 if more > 0 or (more == 0 and for_first) else -1.0,
        squared_norm=0.0,
        primal=total if math.isfinite(total) else 0.0,
        dual=0.0,
        gap=2.0,
        n_iter=0,
        stopped_by="max_time",
        left_out=True,
    )


def dual_problem(task: BinaryTask) -> DualProblem:
    """The task in the solver's words; numbers have two variables per row, α and α*."""
    rows, target, upper = task.rows, task.target, task.upper
    if task.epsilon is None:
        return DualProblem(rows, target.astype(np.int8), np.full(len(rows), -1.0), upper)
    epsilon = task.epsilon
    return DualProblem(
        rows=np.concatenate([rows, rows]),
        signs=np.repeat(np.array([1, -1], np.int8), len(rows)),
        linear=np.concatenate([epsilon - target, epsilon + target]),
        upper=np.concatenate([upper, upper]),
    )


def _machine(task: BinaryTask, solution: DualSolution) -> Machine:
    """The solution in the user's words: the gradient tells f of every row."""
    alpha, gradient, b = solution.alpha, solution.gradient, solution.intercept
    n = len(task.rows)
    if task.epsilon is None:
        coefficients = task.target * alpha
        values = task.target * (gradient + 1.0) + b
        squared_norm = added_up(alpha, gradient + 1.0)
    else:
        coefficients = alpha[:n] - alpha[n:]
        through_origin = gradient[:n] - task.epsilon + task.target
        values = through_origin + b
        squared_norm = added_up(coefficients, through_origin)
    squared_norm = max(squared_norm, 0.0)
    return Machine(
        task=task,
        coefficients=coefficients,
        values=values,
        intercept=b,
        squared_norm=squared_norm,
        primal=primal_objective(task, values, squared_norm),
        dual=-solution.objective,
        gap=solution.gap,
        n_iter=solution.n_iter,
        stopped_by=solution.stopped_by,
    )


def slack(task: BinaryTask, values: Floats) -> Floats:
    """ξ of every row: how far it lies on the wrong side of its margin, or of the tube."""
    if task.epsilon is None:
        return np.maximum(0.0, 1.0 - task.target * values)
    return np.maximum(0.0, np.abs(task.target - values) - task.epsilon)


def primal_objective(task: BinaryTask, values: Floats, squared_norm: float) -> float:
    """½‖w‖² + Σ C ξ; of a hard margin, whose slacks are 0 but for the tolerance, ½‖w‖²."""
    finite = np.isfinite(task.upper)
    return 0.5 * squared_norm + added_up(task.upper[finite], slack(task, values)[finite])


def added_up(a: Floats, b: Floats) -> float:
    """Σ a b in one order; that of BLAS depends on its threads."""
    return float((a * b).sum())


def kkt_gap(task: BinaryTask, coefficients: Floats, values: Floats) -> float:
    """By how much the optimality conditions are violated at most (docs/methods/svm.md, D4)."""
    target, upper = task.target, task.upper
    if task.epsilon is None:
        gradient, bound = values - target, target * upper
        up, down = coefficients < np.maximum(bound, 0), coefficients > np.minimum(bound, 0)
    else:
        error, epsilon = values - target, task.epsilon
        gradient = np.concatenate([error + epsilon, error - epsilon])  # of α, of α*
        up = np.concatenate([coefficients < upper, coefficients < 0])
        down = np.concatenate([coefficients > 0, coefficients > -upper])
    if not up.any() or not down.any():
        return 0.0
    return max(float(gradient[down].max() - gradient[up].min()), 0.0)
