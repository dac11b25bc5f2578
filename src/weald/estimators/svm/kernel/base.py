"""What `SVC` and `SVR` share: the steps of `fit`, decision values, scikit-learn's manners.

`fit` is a list of named steps and assigns attributes last, so an estimator whose fit fails or is interrupted
stays as it was.
"""

from __future__ import annotations

import logging
import time
import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from weald.arrays import Floats, TableLike, TargetLike, WeightLike
from weald.data.target import read_weight
from weald.engine import thread_count
from weald.errors import DataError, outside
from weald.estimators.shared.contract import CheckedParameters, TableManners
from weald.estimators.shared.saving import Saving
from weald.estimators.shared.state import set_fitted
from weald.estimators.svm.convergence import ONE_SCALE, one_of
from weald.estimators.svm.kernel.model import Facts, KernelModel
from weald.estimators.svm.kernel.options import MachineOptions
from weald.estimators.svm.kernel.readable import ReadableMachine
from weald.estimators.svm.kernel.saving import SavedKernelMachine
from weald.estimators.svm.kernel.training import (
    MachineRows,
    MachineTarget,
    compares_texts,
    read_table,
    read_training,
    tell_spreads,
)
from weald.estimators.svm.kernel.work import Kept, Work, start_work
from weald.svm.binary_tasks import CoefficientLayout
from weald.svm.calibration import Calibrator
from weald.svm.kernel_sources import GivenSource
from weald.svm.kernels.choice import KernelLike
from weald.svm.machines import BinaryTask, Machine
from weald.svm.solver_choice import SolverChoice, choose_solver

if TYPE_CHECKING:
    from sklearn.utils import Tags

log = logging.getLogger("weald.svm")


class BaseKernelMachine(
    ReadableMachine,
    SavedKernelMachine,
    TableManners,
    CheckedParameters,
    Saving,
    BaseEstimator,  # type: ignore[misc]  # scikit-learn has no types
    metaclass=ABCMeta,
):
    """The shared base; a subclass says what its machines learn."""

    _options: ClassVar[type[MachineOptions]]
    _mark = "_model_"

    kernel: KernelLike
    n_jobs: int | None
    _model_: KernelModel

    @abstractmethod
    def _read_target(
        self, y: TargetLike | None, n_rows: int, weight: Floats | None, options: MachineOptions
    ) -> MachineTarget:
        """The target of the rows that count: those of a weight above 0."""

    @abstractmethod
    def _tasks(
        self, target: MachineTarget, options: MachineOptions
    ) -> tuple[Sequence[BinaryTask], CoefficientLayout]:
        """What machines are asked, and how their coefficients are laid out."""

    @abstractmethod
    def _words(self, machine: int, target: MachineTarget) -> str:
        """A machine's task in words, for messages."""

    def fit(self, X: TableLike, y: TargetLike | None = None, sample_weight: WeightLike | None = None) -> Self:
        """Find the widest margin.

        Parameters
        ----------
        X : table
            A pandas, polars or Arrow frame, a NumPy array, a SciPy sparse matrix (what it does not store is
            0) or a list of rows. Categories become a 0/1 column per level, missing values the median of their
            column. With kernel="precomputed", the kernel values of all rows with each other; with
            kernel="spectrum", texts.
        y : array-like of shape (n_rows,)
            The target: labels of any type for a classifier, finite numbers for a regressor.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights, which multiply `C`. A row of weight 0 or below counts as absent.

        Returns
        -------
        self
            The fitted estimator.
        """
        started = time.monotonic()
        options, owner = self._checked_options(), type(self).__name__
        training = self._read_rows(X, y, sample_weight, options)
        choice = self._choose_solver(training, options)
        tasks, layout = self._tasks(training.target, options)
        n_machines = len(tasks) * (1 + self._n_folds(training.target, options))
        with start_work(training, choice, n_machines, options, owner, started=started) as work:
            machines = work.solve_all(tasks, training.target.n_classes, layout)
            self._check_separable(machines, training.target)
            calibrators = self._calibrators(work, training.target, options)
        model = self._model(training, work.kept(machines, layout), machines, choice, calibrators)
        self._set_fitted(
            model, training.target.classes, training.target.class_weight, machines, training.present
        )
        self._tell(training, choice, machines, options, owner)
        return self

    # ------------------------------------------------------------------ the steps

    def _read_rows(
        self, X: TableLike, y: TargetLike | None, sample_weight: WeightLike | None, options: MachineOptions
    ) -> MachineRows:
        """The table, the target and the weights, read and checked."""
        table = read_table(X, options)
        weight = read_weight(sample_weight, n_rows=table.n_rows, drop_negative=True)
        target = self._read_target(y, table.n_rows, weight, options)
        as_texts = compares_texts(options.kernel, X)
        return read_training(table, target, weight, options, type(self).__name__, as_texts=as_texts)

    def _choose_solver(self, training: MachineRows, options: MachineOptions) -> SolverChoice:
        """Which solver, and why."""
        return choose_solver(
            options.solver,
            n_rows=training.source.n_rows,
            n_columns=training.n_columns,
            cache_bytes=training.cache_bytes,
            linear=training.is_linear,
            given=isinstance(training.source, GivenSource),
            hard=bool(np.isinf(options.C)),
        )

    def _n_folds(self, target: MachineTarget, options: MachineOptions) -> int:
        """How many times the machines are trained on a part of the rows."""
        return 0

    def _calibrators(
        self, work: Work, target: MachineTarget, options: MachineOptions
    ) -> tuple[Calibrator, ...] | None:
        """Curves from decision values to probabilities, if they are asked for."""
        return None

    def _check_separable(self, machines: list[Machine], target: MachineTarget) -> None:
        """Refuse a hard margin that cannot be."""
        for k, machine in enumerate(machines):
            if machine.stopped_by == "unbounded":
                raise DataError(
                    f"C=inf of {type(self).__name__} asks for a hard margin, and {self._words(k, target)} "
                    "are not separable with this kernel. Use a soft margin (a finite C, such as 1.0), or a "
                    "kernel that separates them."
                )

    def _model(
        self,
        training: MachineRows,
        kept: Kept,
        machines: list[Machine],
        choice: SolverChoice,
        calibrators: tuple[Calibrator, ...] | None,
    ) -> KernelModel:
        """What the machines leave."""
        return KernelModel(
            reading=training.reading,
            kernel=training.kernel,
            support=kept.support,
            support_rows=training.present[kept.rows],
            n_support=kept.n_support,
            coefficients=kept.coefficients,
            intercept=np.array([machine.intercept for machine in machines]),
            layout=kept.layout,
            one_against_rest=len(machines) > 1 and self._one_against_rest(),
            facts=Facts.of(machines),
            shape_fit=training.shape,
            solver=choice.solver,
            reason=choice.reason,
            calibrators=calibrators,
            weights=kept.weights,
        )

    def _one_against_rest(self) -> bool:
        """Whether several machines are one per class."""
        return False

    def _set_fitted(
        self,
        model: KernelModel,
        classes: NDArray[Any] | None,
        class_weight: Floats | None,
        machines: list[Machine] | None,
        present: NDArray[np.int32] | None,
    ) -> None:
        """Assign everything a fit (or a model file) brings, at once, and forget what it does not bring."""
        brought: dict[str, Any] = {
            "_model_": model,
            "_machines": machines,
            "_present": present,
            "shape_fit_": model.shape_fit,
            "fit_status_": int(not model.facts.converged.all()),
            "solver_": model.solver,
            "solver_reason_": model.reason,
        }
        if classes is not None:
            brought |= {"classes_": classes, "class_weight_": class_weight}
        set_fitted(self, brought, schema=model.reading.schema)

    def _tell(
        self,
        training: MachineRows,
        choice: SolverChoice,
        machines: list[Machine],
        options: MachineOptions,
        owner: str,
    ) -> None:
        """Log what was decided; warn if a machine stopped early."""
        log.info("%s: solver='%s'. %s", owner, choice.solver, choice.reason)
        tell_spreads(training.hint, training.kernel, owner)
        early = [k for k, machine in enumerate(machines) if not machine.converged]
        if early:
            words = self._early_words(early, training, choice, machines, options)
            warnings.warn(f"{owner} did not converge {words}", ConvergenceWarning, stacklevel=outside())

    def _early_words(
        self,
        early: list[int],
        training: MachineRows,
        choice: SolverChoice,
        machines: list[Machine],
        options: MachineOptions,
    ) -> str:
        """Which limit ended the work, how far the worst machine is, and what may help."""
        worst = max(early, key=lambda k: machines[k].gap)
        machine = machines[worst]
        limit, way = {
            "max_iter": (f"within max_iter={options.max_iter}", "raise the limit"),
            "max_time": (f"within max_time={options.max_time}", "raise the limit"),
            "rounding": ("to `tol`, which the rounding of float64 hides", "raise `tol`"),
            "pace": ("to `tol`, as its updates gain next to nothing", "raise `tol`"),
        }[machine.stopped_by]
        ways = [way, "lower C"]
        if not options.scale and training.n_columns > 1 and not isinstance(training.source, GivenSource):
            ways.append(ONE_SCALE)
        reached = (
            f"the duality gap is {machine.primal - machine.dual:.3g} of an objective of {machine.primal:.3g}"
        )
        n_left_out = sum(each.left_out for each in machines)
        if n_left_out:
            reached = f"{n_left_out:,} machines were not begun, and {reached}"
            if not self._one_against_rest():
                ways.insert(1, "train one machine per class (multi_class='ovr')")
        elif choice.solver == "exact":
            reached = f"the KKT gap is {machine.gap:.3g}, above tol={options.tol:g}, and {reached}"
        which = (
            f" ({len(early)} of {len(machines)} machines; the worst: {self._words(worst, training.target)})"
        )
        return (
            f"{limit}{which if len(machines) > 1 else ''}: {reached} after {machine.n_iter:,} updates. The "
            f"model can be used. {one_of(ways)}"
        )

    # ------------------------------------------------------------------ afterwards

    def _decisions(self, X: TableLike) -> Floats:
        """The values f of every row and machine."""
        check_is_fitted(self)
        return self._model_.decisions(X, type(self).__name__, thread_count(self.n_jobs))

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect of the tables this takes."""
        tags = super().__sklearn_tags__()
        given = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.pairwise = given
        if given:
            tags.input_tags.allow_nan = tags.input_tags.string = False
        return tags
