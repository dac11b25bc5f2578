"""The dual problem of kernel machines, where its kernel values come from, and its solution.

minimise ½ αᵀQα + pᵀα  with  Q_ij = s_i s_j K(r_i, r_j),  sᵀα = 0,  0 ≤ α ≤ u

docs/methods/svm.md has the equations; core/svm/dual/problem.h states the problem as the solver sees it.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.engine.svm import DualSolver, GivenRows, RowSource, dual_solver, program_rows
from weald.errors import DataError, ParameterError

if TYPE_CHECKING:
    from weald.data.matrix.matrix import Matrix

StoppedBy: TypeAlias = Literal["tol", "max_iter", "max_time", "unbounded", "rounding", "pace"]
#: row numbers → rows of the kernel matrix, (len, n)
RowFunction: TypeAlias = Callable[[NDArray[np.int32]], NDArray[np.float64]]

#: seconds of native work between two looks at the clock, and between two calls of `progress`
SLICE: Final = 0.1
#: what DualSolver.stopped means
_STOPPED: Final[tuple[StoppedBy, ...]] = ("max_time", "tol", "max_iter", "unbounded", "rounding", "pace")
#: variables of a working set, and the fewest that are worth a call of a function
_SET, _LEAST_SET = 512, 16
_NOT_YET: Final = 0


@dataclass(frozen=True, slots=True)
class DualProblem:
    """Minimise ½ αᵀQα + pᵀα with Q_ij = s_i s_j K(r_i, r_j), sᵀα = 0, 0 ≤ α ≤ upper.

    Rows that lie together in the kernel matrix are cheaper: kernel rows are computed 512 columns at a time,
    and only where the problem has a row.

    Attributes
    ----------
    rows : ndarray of int32
        The row of each variable. Regression has every row twice; one-vs-one the rows of two classes.
    signs : ndarray of int8
        +1 or -1 of each variable.
    linear : ndarray of float64
        p of each variable.
    upper : ndarray of float64
        The largest α of each variable; infinity allowed.
    """

    rows: NDArray[np.int32]
    signs: NDArray[np.int8]
    linear: NDArray[np.float64]
    upper: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DualSolution:
    """What `solve_dual` found.

    Attributes
    ----------
    alpha : ndarray of float64
        α of each variable, at its bounds exactly or between them.
    intercept : float
        b of the machine, -ρ of LIBSVM and by the same rule: the mean over variables between their bounds, or
        else the middle of what the others allow.
    objective : float
        The minimised value.
    gradient : ndarray of float64
        Qα + p, added up with float64 kernel values after the last step.
    gap : float
        The largest violation m(α) - M(α), of that gradient.
    duality_gap : float
        The primal objective at (α, intercept) minus the dual one. A variable without an upper bound that
        violates its margin by no more than `tol` counts as kept; by more makes it infinite.
    n_iter : int
        Pairs of variables that were moved.
    converged : bool
        Whether the gap is at most `tol`.
    stopped_by : {"tol", "max_iter", "max_time", "unbounded", "rounding", "pace"}
        What ended the work. "unbounded": some α may grow without end, so that there is no solution.
        "rounding": violations are left, but they are lost in the rounding of float64.
        "pace": violations close so slowly that the end is out of reach.
    """

    alpha: NDArray[np.float64]
    intercept: float
    objective: float
    gradient: NDArray[np.float64]
    gap: float
    duality_gap: float
    n_iter: int
    converged: bool
    stopped_by: StoppedBy


class KernelRows:
    """Where rows of the kernel matrix come from, with a cache that several problems share, one after another.

    Made by `native`, `given` or `called`.
    """

    def __init__(self, source: RowSource, n_rows: int, n_threads: int, fetch: _Fetcher | None = None) -> None:
        self._source, self._fetch = source, fetch
        self.n_rows, self.n_threads = n_rows, n_threads

    @classmethod
    def native(cls, program: NDArray[np.float64], X: Matrix, cache_bytes: int, n_threads: int) -> KernelRows:
        """Rows of a kernel program on a matrix, computed when needed; `cache_bytes` of them are kept."""
        source = program_rows(program, X, cache_bytes, n_threads=n_threads)
        return cls(source, X.n_rows, n_threads)

    @classmethod
    def given(cls, gram: NDArray[np.float64], n_threads: int = 1) -> KernelRows:
        """Rows of a kernel matrix that is there, (n, n)."""
        source = GivenRows(len(gram))
        source.give(np.arange(len(gram), dtype=np.int32), np.ascontiguousarray(gram, np.float64))
        return cls(source, len(gram), n_threads)

    @classmethod
    def called(cls, rows: RowFunction, n: int, cache_bytes: int, n_threads: int = 1) -> KernelRows:
        """Rows that a function gives, some at a time; `cache_bytes` of them are kept."""
        source = GivenRows(n)
        return cls(source, n, n_threads, _Fetcher(source, rows, n, cache_bytes))

    def solver(self, problem: DualProblem, *, tol: float, max_iter: int, shrinking: bool) -> DualSolver:
        """A native solver of a problem on these rows."""
        return dual_solver(
            self._source,
            np.ascontiguousarray(problem.rows, np.int32),
            np.ascontiguousarray(problem.signs, np.int8),
            np.ascontiguousarray(problem.linear, np.float64),
            np.ascontiguousarray(problem.upper, np.float64),
            tolerance=tol,
            max_steps=max_iter,
            shrinking=shrinking,
            working_set=_SET if self._fetch is None else self._fetch.working_set,
            n_threads=self.n_threads,
        )

    def advance(self, solver: DualSolver, seconds: float) -> None:
        """Let a solver work for some seconds, or for one step if that takes longer."""
        if self._fetch is None:
            solver.advance(seconds, self.n_threads)
            return
        wanted = solver.wanted(self.n_threads)
        if len(wanted):
            self._fetch(wanted)
            solver.step(self.n_threads)


class _Fetcher:
    """Calls a function for rows, checks what it gives, and keeps those used last within a number of bytes.

    Half of them are for rows that are kept; the rows of a working set, those of the last one and what the
    function gives share the other half.
    """

    def __init__(self, source: GivenRows, rows: RowFunction, n_rows: int, cache_bytes: int) -> None:
        self._source, self._rows, self._n_rows = source, rows, n_rows
        held = cache_bytes // (8 * max(n_rows, 1))  # rows
        self._most = held // 2
        self.working_set = min(max(held // 6, _LEAST_SET), _SET)
        self._kept: OrderedDict[int, NDArray[np.float64]] = OrderedDict()

    def __call__(self, ids: NDArray[np.int32]) -> None:
        """Give these rows to the source."""
        rows = np.empty((len(ids), self._n_rows))
        lacking = np.array([row not in self._kept for row in ids.tolist()], np.bool_)
        if lacking.any():
            rows[lacking] = self._checked(ids[lacking])
        for at in np.flatnonzero(~lacking).tolist():
            rows[at] = self._kept[ids[at]]
            self._kept.move_to_end(ids[at])
        for at in np.flatnonzero(lacking).tolist() if self._most > 0 else ():
            while len(self._kept) >= self._most:
                self._kept.popitem(last=False)
            self._kept[int(ids[at])] = rows[at].copy()
        self._source.give(ids, rows)

    def _checked(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        found = np.asarray(self._rows(ids), np.float64)
        wanted = (len(ids), self._n_rows)
        if found.shape != wanted:
            raise DataError(
                f"The kernel gave an array of shape {found.shape} for {wanted[0]} rows against {wanted[1]}; "
                f"it must give one of shape {wanted}."
            )
        bad = np.argwhere(~np.isfinite(found))
        if len(bad):
            at, other = bad[0]
            raise DataError(
                f"The kernel of rows {ids[at]} and {other} is {found[at, other]}. A kernel must be finite "
                "for all rows; scale the columns, or check the function for a division by 0."
            )
        return found


def solve_dual(
    rows: KernelRows,
    problem: DualProblem,
    *,
    tol: float = 1e-3,
    max_iter: int = -1,
    max_time: float | None = None,
    shrinking: bool = True,
    progress: Callable[[int, float], None] | None = None,
) -> DualSolution:
    """Solve a dual problem.

    Parameters
    ----------
    rows : KernelRows
        Where kernel values come from.
    problem : DualProblem
        The problem; its rows are row numbers of `rows`.
    tol : float
        The largest violation m(α) - M(α) of a solution, as LIBSVM's.
    max_iter : int
        The most pairs of variables that are moved; -1 for no limit.
    max_time : float, optional
        Seconds after which to stop; the solution so far is returned.
    shrinking : bool
        Whether variables that seem to be done are set aside for a time. Saves time; the solution is within
        `tol` either way. Given and called rows have no such choice.
    progress : callable, optional
        Called as progress(n_iter, gap) about every tenth of a second.

    Returns
    -------
    DualSolution
        The same bits for any number of threads and any cache.
    """
    if not tol > 0:
        raise ParameterError(f"`tol` must be a number above 0; got {tol!r}. Use 1e-3.")
    end = np.inf if max_time is None else time.monotonic() + max_time
    solver = rows.solver(problem, tol=tol, max_iter=max_iter, shrinking=shrinking)
    while solver.stopped == _NOT_YET:
        rows.advance(solver, min(SLICE, max(end - time.monotonic(), 0.0)))
        if progress is not None:
            progress(solver.n_steps, solver.gap)
        if time.monotonic() >= end:
            break
    found = solver.solution(rows.n_threads)
    stopped_by = _STOPPED[solver.stopped]
    return DualSolution(**found, n_iter=solver.n_steps, converged=stopped_by == "tol", stopped_by=stopped_by)
