"""One fit at work: machines solved one after another by what the advice chose, and what they leave."""

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
from weald.estimators.svm.kernel.training import Training
from weald.svm.binary_tasks import Layout, PairQuestions, assemble, turns
from weald.svm.column_machines import ColumnTrainer, check_landmarks, landmark_columns
from weald.svm.kernel_sources import RowNumbers, Support
from weald.svm.kernels.functions import Linear, Spectrum
from weald.svm.landmarks import LandmarkMap
from weald.svm.machines import ExactTrainer, Limits, Machine, Question, Trainer, centred, unsolved
from weald.svm.progress import GapProgress
from weald.svm.solver_choice import Advice, landmark_count


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What machines keep of the training rows."""

    support: Support
    rows: RowNumbers  # of the matrix
    n_support: NDArray[np.int32]  # by class
    coefficients: Floats
    layout: Layout
    weights: Floats | None = None  # of columns, by which a linear kernel predicts


class Work:
    """A trainer at work; entered, it shows how far it is."""

    def __init__(
        self,
        training: Training,
        trainer: Trainer,
        limits: Limits,
        progress: GapProgress | None,
        landmarks: tuple[RowNumbers, LandmarkMap] | None = None,
    ) -> None:
        self.trainer = trainer
        self._training, self._limits, self._progress = training, limits, progress
        self._landmarks = landmarks
        self._n_asked = 0

    def solve_all(self, questions: Sequence[Question], n_classes: int, layout: Layout) -> list[Machine]:
        """The machines of all questions, in their order; with a limit of time classes take turns."""
        if self._limits.max_time is None:
            return [self.solve(question) for question in questions]
        machines: list[Any] = [None] * len(questions)
        for k, for_first in turns(len(questions), n_classes, layout):
            if isinstance(questions, PairQuestions) and self._n_asked and self._limits.over():
                machines[k] = questions.left_out(k, for_first=for_first)
            else:
                machines[k] = self.solve(questions[k])
        return machines

    def solve(self, question: Question) -> Machine:
        """The machine of a question; if the time is over, one that knows nothing but the larger class."""
        progress, limits = self._progress, self._limits
        if self._n_asked and limits.over():
            more = 2 * int(np.count_nonzero(question.target > 0)) - len(question.target)
            return unsolved(question, more, float(question.upper.sum()))
        self._n_asked += 1
        moved, centre = centred(question)
        machine = self.trainer.solve(moved, limits, None if progress is None else progress.report)
        limits.n_left -= 1
        if progress is not None:
            progress.done(machine.n_iter, machine.gap)
        return replace(machine, intercept=machine.intercept + centre) if centre else machine

    def kept(self, machines: list[Machine], layout: Layout) -> Kept:
        """The rows that any machine leans on, or the landmarks, and their coefficients."""
        target, space = self._training.target, self._training.space
        labels = target.values if target.classes is not None else None
        if self._landmarks is None:
            found = assemble(machines, labels, target.n_classes, layout)
            lines = _weights(machines)
            return Kept(
                space.support(found.rows),
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
            space.support(rows[order]),
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
    """The weights of columns, a line a machine and 0 for those that were left out; None if there are none."""
    known = next((machine.weights for machine in machines if machine.weights is not None), None)
    if known is None:
        return None
    return np.stack(
        [np.zeros_like(known) if machine.weights is None else machine.weights for machine in machines]
    )


def start_work(
    training: Training, advice: Advice, n_machines: int, options: Any, owner: str, *, started: float
) -> Work:
    """The trainer that the advice chose, with its limits.

    Parameters
    ----------
    training : Training
        The rows.
    advice : Advice
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
    space: Any = training.space
    if advice.solver == "exact":
        return Work(training, ExactTrainer(space, training.cache_bytes, n_threads), limits, progress)
    n_rows, cache_bytes = space.n_rows, training.cache_bytes
    if advice.solver == "linear":
        trainer = ColumnTrainer(space.moved(space.matrix), 0, n_threads, space.centre)
        return Work(training, trainer, limits, progress)
    check_landmarks(options.n_landmarks, n_rows, cache_bytes, options.C, training.kernel, owner)
    # A spectrum is linear in the counts that the matrix holds.
    kernel: Any = Linear() if isinstance(training.kernel, Spectrum) else training.kernel
    rows, found, columns = landmark_columns(
        kernel,
        space.matrix,
        landmark_count(options.n_landmarks, n_rows, cache_bytes, options.max_time),
        seed=drawn_seed(options.random_state),
        n_threads=n_threads,
    )
    return Work(training, ColumnTrainer(columns, 0, n_threads), limits, progress, (rows, found))
