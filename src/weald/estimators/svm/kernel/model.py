"""A fitted kernel machine: what it keeps of the training rows, and its decision values on new ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, TableLike
from weald.data.matrix.matrix import Matrix
from weald.estimators.svm.kernel.reading import Reading, TableReading
from weald.svm.binary_tasks import CoefficientLayout
from weald.svm.calibration import Calibrator
from weald.svm.kernel_sources import GivenSupport, Support, column_scores
from weald.svm.kernels.choice import Chosen
from weald.svm.machines import Machine
from weald.svm.votes import pairs

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """What is known of each machine: one entry each."""

    squared_norm: Floats
    primal: Floats
    dual: Floats
    gap: Floats
    n_iter: NDArray[np.int64]
    converged: NDArray[np.bool_]

    @classmethod
    def of(cls, machines: list[Machine]) -> Facts:
        """The facts of solved machines."""
        return cls(
            squared_norm=np.array([each.squared_norm for each in machines]),
            primal=np.array([each.primal for each in machines]),
            dual=np.array([each.dual for each in machines]),
            gap=np.array([each.gap for each in machines]),
            n_iter=np.array([each.n_iter for each in machines], np.int64),
            converged=np.array([each.converged for each in machines], np.bool_),
        )


@dataclass(frozen=True, slots=True, eq=False)
class KernelModel:
    """All that predictions need, and what is told about them."""

    reading: Reading
    kernel: Chosen  # with gamma as a number
    support: Support
    support_rows: NDArray[np.int32]  # numbers in the training table
    n_support: NDArray[np.int32]  # by class
    coefficients: Floats
    intercept: Floats  # one per machine
    layout: CoefficientLayout
    one_against_rest: bool  # a machine for each of several classes against all others
    facts: Facts
    shape_fit: tuple[int, int]
    solver: str
    reason: str
    calibrators: tuple[Calibrator, ...] | None = None
    #: (n_machines, n_columns), of a linear kernel: what the coefficients of rows add up to loses digits
    #: far from 0, and those of machines by columns are settled at their bounds
    weights: Floats | None = None

    @property
    def n_machines(self) -> int:
        """How many machines."""
        return len(self.intercept)

    def decisions(self, X: TableLike, owner: str, n_threads: int) -> Floats:
        """The values f of every row and machine: (n_rows, n_machines)."""
        batch: Any = self.reading.read(X, owner)
        if self.weights is not None:
            return column_scores(batch, self.weights, self.intercept, n_threads)
        if self.layout == "lines":
            return self.support.scores(batch, self.coefficients, n_threads) + self.intercept
        return self._by_pairs(batch, n_threads)

    def _by_pairs(self, batch: Matrix, n_threads: int) -> Floats:
        """Sums of one class at a time: no row is compared twice, and no coefficient that is 0 is read."""
        ends = np.cumsum(self.n_support)
        sums = [
            self.support.part(end - n, end).scores(
                batch, np.ascontiguousarray(self.coefficients[:, end - n : end]), n_threads
            )
            for n, end in zip(self.n_support.tolist(), ends.tolist(), strict=True)
        ]
        decisions = [sums[i][:, j - 1] + sums[j][:, i] for i, j in pairs(len(sums))]
        return np.stack(decisions, axis=1) + self.intercept

    def lines(self) -> Floats:
        """The coefficients with one line per machine, whatever the layout: (n_machines, n_support)."""
        if self.layout == "lines":
            return self.coefficients
        n_classes = len(self.n_support)
        start = np.append(0, np.cumsum(self.n_support))
        out = np.zeros((self.n_machines, len(self.support_rows)))
        for line, (i, j) in zip(out, pairs(n_classes), strict=True):
            for own, other in ((i, j - 1), (j, i)):
                part = slice(start[own], start[own + 1])
                line[part] = self.coefficients[other, part]
        return out

    @property
    def keeps_sparse_rows(self) -> bool:
        """Whether the support rows are those of a sparse table."""
        matrix = getattr(self.support, "matrix", None)
        return isinstance(self.reading, TableReading) and bool(getattr(matrix, "is_sparse", False))

    def vectors(self) -> Floats | sparse.csr_array:
        """The support rows as numbers; none where only kernel values are known."""
        if isinstance(self.support, GivenSupport):
            return np.zeros((0, 0))
        kept: Any = self.support
        among = getattr(kept, "among", None)
        return kept.matrix.values if among is None else kept.matrix.values[among]
