"""One fit at work: machines solved one after another by the solver that was chosen, and what they leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.engine import thread_count
from weald.engine.svm import products
from weald.estimators.shared.growth import drawn_seed
from weald.estimators.svm.kernel.options import MachineOptions
from weald.estimators.svm.kernel.training import MachineRows
from weald.svm.binary_tasks import CoefficientLayout, PairTasks, assemble, turns
from weald.svm.column_machines import ColumnTrainer, check_landmarks, landmark_columns
from weald.svm.kernel_sources import RowNumbers, Support
from weald.svm.kernels.functions import Linear, Spectrum
from weald.svm.landmarks import LandmarkMap
from weald.svm.machines import BinaryTask, ExactTrainer, Limits, Machine, Trainer, centred, unsolved
from weald.svm.progress import GapProgress
from weald.svm.solver_choice import SolverChoice, landmark_count


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What machines keep of the training rows."""

    support: Support
    rows: RowNumbers  # of the matrix
    n_support: NDArray[np.int32]  # by class
    coefficients: Floats
    layout: CoefficientLayout
    weights: Floats | None = None  # of columns, by which a linear kernel predicts


class Work:
    """A trainer at work; entered, it shows how far it is."""

    def __init__(
        self,
        training: MachineRows,
        trainer: Trainer,
        limits: Limits,
        progress: GapProgress | None,
        landmarks: tuple[RowNumbers, LandmarkMap] | None = None,
    ) -> None:
        self.trainer = trainer
        self._training, self._limits, self._progress = training, limits, progress
        self._landmarks = landmarks
        self._n_asked = 0

    def solve_all(
        self, tasks: Sequence[BinaryTask], n_classes: int, layout: CoefficientLayout
    ) -> list[Machine]:
        """The machines of all tasks, in their order; with a limit of time classes take turns."""
        if self._limits.max_time is None:
            return [self.solve(task) for task in tasks]
        machines: list[Any] = [None] * len(tasks)
        for k, for_first in turns(len(tasks), n_classes, layout):
            if isinstance(tasks, PairTasks) and self._n_asked and self._limits.over():
                machines[k] = tasks.left_out(k, for_first=for_first)
            else:
                machines[k] = self.solve(tasks[k])
        return machines

    def solve(self, task: BinaryTask) -> Machine:
        """The machine of a task; if the time is over, one that knows nothing but the larger class."""
        progress, limits = self._progress, self._limits
        if self._n_asked and limits.over():
            more = 2 * int(np.count_nonzero(task.target > 0)) - len(task.target)
            return unsolved(task, more, float(task.upper.sum()))
        self._n_asked += 1
        moved, centre = centred(task)
        machine = self.trainer.solve(moved, limits, None if progress is None else progress.report)
        limits.n_left -= 1
        if progress is not None:
            progress.done(machine.n_iter, machine.gap)
        return replace(machine, intercept=machine.intercept + centre) if centre else machine

    def kept(self, machines: list[Machine], layout: CoefficientLayout) -> Kept:
        """The rows that any machine leans on, or the landmarks, and their coefficients."""
        target, source = self._training.target, self._training.source
        labels = target.values if target.classes is not None else None
        if self._landmarks is None:
            found = assemble(machines, labels, target.n_classes, layout)
            lines = _weights(machines)
            return Kept(
                source.support(found.rows),
                found.rows,
                found.n_support,
                found.coefficients,
                layout,
                lines,
            )
        rows, columns = self._landmarks
        assert columns.projection is not None
        order = np.arange(len(rows)) if labels is None else np.argsort(labels[rows], kind="stable")
        # f(x) = w · (K(x, L) P) + b = K(x, L) · (P w) + b
        weights = _weights(machines)
        assert weights is not None
        by_landmark = products(weights, columns.projection, n_threads=1)
        n_support = (
            np.array([len(rows)]) if labels is None else np.bincount(labels[rows], minlength=target.n_classes)
        )
        return Kept(
            source.support(rows[order]),
            rows[order],
            n_support.astype(np.int32),
            np.ascontiguousarray(by_landmark[:, order]),
            "lines",
        )

    def __enter__(self) -> Self:
        if self._progress is not None:
            self._progress.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.__exit__(kind, error, trace)


def _weights(machines: list[Machine]) -> Floats | None:
    """The weights of columns, a line per machine 0 for those that were left out; None if there are none."""
    known = next((machine.weights for machine in machines if machine.weights is not None), None)
    if known is None:
        return None
    return np.stack(
        [np.zeros_like(known) if machine.weights is None else machine.weights for machine in machines]
    )


def start_work(
    training: MachineRows,
    choice: SolverChoice,
    n_machines: int,
    options: MachineOptions,
    owner: str,
    *,
    started: float,
) -> Work:
    """The trainer of the solver that was chosen, with its limits.

    Parameters
    ----------
    training : MachineRows
        The rows.
    choice : SolverChoice
        What to do with them.
    n_machines : int
        How many machines will be asked for.
    options : MachineOptions
        The parameters.
    owner : str
        The estimator's name, for messages.
    started : float
        When the fit began, on the clock of `time.monotonic`: reading and planning take time too.
    """
    limits = Limits(options.tol, options.max_iter, options.max_time, options.shrinking, n_machines, started)
    progress = GapProgress(n_machines, options.tol) if options.verbose else None
    n_threads = thread_count(options.n_jobs)
    source: Any = training.source
    if choice.solver == "exact":
        return Work(training, ExactTrainer(source, training.cache_bytes, n_threads), limits, progress)
    n_rows, cache_bytes = source.n_rows, training.cache_bytes
    if choice.solver == "linear":
        trainer = ColumnTrainer(source.moved(source.matrix), 0, n_threads, source.centre)
        return Work(training, trainer, limits, progress)
    check_landmarks(options.n_landmarks, n_rows, cache_bytes, options.C, training.kernel, owner)
    # A spectrum is linear in the counts that the matrix holds.
    kernel: Any = Linear() if isinstance(training.kernel, Spectrum) else training.kernel
    rows, found, columns = landmark_columns(
        kernel,
        source.matrix,
        landmark_count(options.n_landmarks, n_rows, cache_bytes, options.max_time),
        seed=drawn_seed(options.random_state),
        n_threads=n_threads,
    )
    return Work(training, ColumnTrainer(columns, 0, n_threads), limits, progress, (rows, found))
