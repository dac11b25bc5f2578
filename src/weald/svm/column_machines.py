"""Machines by their columns: for tables with so many rows that these cannot be compared with each other.

The columns are those of the table, where the kernel is linear, or those that landmarks give to every row. The
machine is the same as the kernel's with these inner products: hinge or ε-insensitive loss, a free intercept.
"""

from __future__ import annotations

import math

import numpy as np

from weald.arrays import Floats
from weald.data.matrix.matrix import Matrix
from weald.errors import ParameterError
from weald.svm.kernel_sources import RowNumbers, column_scores
from weald.svm.kernels.functions import Kernel
from weald.svm.landmarks import AnyKernel, LandmarkMap, choose_landmarks, nystroem_map
from weald.svm.linear import solve_linear
from weald.svm.machines import BinaryTask, Limits, Machine, Report, added_up, kkt_gap, primal_objective

#: steps of the linear solver where the user sets no limit
_MOST_STEPS = 10_000
#: how near to a bound, in shares of C, a coefficient may be one that belongs on it
_NEAR = 0.05
#: values nearer to a margin than this lie on it
_ROUNDING = 1e-6


class ColumnTrainer:
    """Machines on the columns of a matrix.

    Parameters
    ----------
    columns : Matrix
        A row for each row of the table.
    seed : int
        What a solver that draws rows starts from.
    n_threads : int
        Threads.
    centre : ndarray, optional
        What was taken off the columns.
    """

    def __init__(self, columns: Matrix, seed: int, n_threads: int, centre: Floats | None = None) -> None:
        self._columns, self._seed, self._n_threads = columns, seed, n_threads
        self._centre = centre

    def solve(self, task: BinaryTask, limits: Limits, report: Report | None) -> Machine:
        """The machine of a task."""
        part = self._columns
        if len(task.rows) < part.n_rows:
            part = part.take(task.rows)
        found = solve_linear(
            part,
            task.target,
            loss="hinge" if task.epsilon is None else "epsilon_insensitive",
            penalty="l2",
            upper=task.upper,
            epsilon=task.epsilon or 0.0,
            intercept="free",
            tol=limits.tol,
            max_iter=_MOST_STEPS if limits.max_iter < 0 else limits.max_iter,
            max_time=limits.seconds(),
            seed=self._seed,
            n_threads=self._n_threads,
            progress=report,
        )
        assert found.alpha is not None  # both losses have a dual
        weights, intercept = np.asarray(found.coef, np.float64), float(found.intercept)
        values = column_scores(part, weights[None], intercept, self._n_threads)[:, 0]
        squared_norm = added_up(weights, weights)
        coefficients = found.alpha * task.target if task.epsilon is None else found.alpha
        coefficients = settled(task, values, coefficients, limits.tol)
        timed_out = not found.converged and limits.max_time is not None and limits.seconds() == 0
        moved = 0.0 if self._centre is None else math.fsum(weights * self._centre)
        return Machine(
            task=task,
            coefficients=coefficients,
            values=values,
            intercept=intercept - moved,
            squared_norm=squared_norm,
            primal=primal_objective(task, values, squared_norm),
            dual=float(found.dual),
            gap=kkt_gap(task, coefficients, values),
            n_iter=int(found.n_iter),
            stopped_by="tol" if found.converged else "max_time" if timed_out else "max_iter",
            weights=weights,
        )

    def values_at(self, machine: Machine, rows: RowNumbers) -> Floats:
        """The values f of any rows of the matrix."""
        if machine.left_out:
            return np.full(len(rows), machine.intercept)
        assert machine.weights is not None
        moved = 0.0 if self._centre is None else math.fsum(machine.weights * self._centre)
        part = self._columns.take(rows)
        return column_scores(part, machine.weights[None], machine.intercept + moved, self._n_threads)[:, 0]


def settled(task: BinaryTask, values: Floats, coefficients: Floats, tol: float) -> Floats:
    """Coefficients at their bounds where the row's value says that they belong there.

    Solvers on columns come to a bound from within: 0 for a row beyond its margin is a very small number
    there.
    """
    size, upper = np.abs(coefficients), task.upper
    tol = max(tol, _ROUNDING)
    if task.epsilon is None:
        beyond = task.target * values - 1.0
    else:
        beyond = task.epsilon - np.abs(task.target - values)
    size = np.where((beyond > tol) & (size < _NEAR * upper), 0.0, size)
    size = np.where((beyond < -tol) & (size > (1 - _NEAR) * upper), upper, size)
    return np.copysign(size, coefficients)


def landmark_columns(
    kernel: AnyKernel, X: Matrix, n_landmarks: int, *, seed: int, n_threads: int
) -> tuple[RowNumbers, LandmarkMap, Matrix]:
    """The rows that become landmarks, what they make of rows, and the columns of all of X."""
    rows = choose_landmarks(kernel, X, n_landmarks, method="k-means++", seed=seed, n_threads=n_threads)
    found = nystroem_map(kernel, X.take(rows), n_threads=n_threads)
    return rows.astype(np.int32), found, Matrix(found.apply(X, n_threads=n_threads))


def check_landmarks(
    n_landmarks: int | None, n_rows: int, cache_bytes: int, C: float, kernel: Kernel | object, owner: str
) -> None:
    """Refuse what landmarks cannot do: no columns, no memory, a hard margin."""
    if kernel is None:
        raise ParameterError(
            f"solver='landmarks' of {owner} chooses among rows of a table, and kernel='precomputed' gives "
            "kernel values alone. Use solver='exact', or give the table with the name of a kernel."
        )
    if np.isinf(C):
        raise ParameterError(
            f"C=inf of {owner} asks for a hard margin, which landmarks only come near. Use solver='exact', "
            "or a finite C."
        )
    if n_landmarks is None:
        return
    needed = 8 * n_rows * min(n_landmarks, n_rows)
    if needed > cache_bytes:
        raise ParameterError(
            f"`n_landmarks`={n_landmarks} of {owner} takes {needed / 2**20:,.0f} MB for {n_rows:,} rows, and "
            f"`cache_size` is {cache_bytes / 2**20:g} MB. Use at most {cache_bytes // (8 * n_rows):,} "
            "landmarks, or a larger cache_size."
        )
