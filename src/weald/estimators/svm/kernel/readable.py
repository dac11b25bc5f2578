"""What a fitted kernel machine tells: support rows, coefficients, margins, slacks, objectives.

What there is one of for every machine is a number where there is one machine (two classes, or numbers), else
an array with one entry per machine, in the order of `intercept_`.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.arrays import Floats
from weald.estimators.svm.kernel.model import KernelModel
from weald.estimators.svm.kernel.reading import CalledTextReading, GivenReading
from weald.svm.kernels.choice import KernelLike
from weald.svm.kernels.functions import Kernel, Linear
from weald.svm.machines import Machine, slack


class ReadableMachine:
    """The attributes of `SVC` and `SVR` that are worked out when they are asked for."""

    _model_: KernelModel
    _machines: list[Machine] | None
    _present: NDArray[np.int32] | None

    @property
    def _fitted(self) -> KernelModel:
        model = vars(self).get("_model_")
        if model is None:
            # hasattr(model, "support_") is how some tools ask whether an estimator is fitted.
            raise AttributeError(f"This {type(self).__name__} is not fitted yet. Call `fit` first.")
        return model  # type: ignore[no-any-return]

    # ------------------------------------------------------------------ support rows

    @property
    def support_(self) -> NDArray[np.int32]:
        """The numbers of the support rows in the training table, class by class."""
        return self._fitted.support_rows

    @property
    def support_vectors_(self) -> Floats | sparse.csr_array:
        """The support rows, as the kernel sees them: expanded and scaled; empty if it was precomputed."""
        return self._fitted.vectors()

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """How many support rows each class has."""
        return self._fitted.n_support

    @property
    def dual_coef_(self) -> Floats | sparse.csr_array:
        """The coefficients of the support rows, laid out as scikit-learn's: sparse where these rows are."""
        model = self._fitted
        return sparse.csr_array(model.coefficients) if model.keeps_sparse_rows else model.coefficients

    @property
    def intercept_(self) -> Floats:
        """The intercept of each machine."""
        return self._fitted.intercept

    @property
    def coef_(self) -> Floats:
        """The weights of the matrix's columns, one line per machine; only of a linear kernel."""
        model = self._fitted
        if not isinstance(model.kernel, Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        weights = model.weights
        coef = np.ascontiguousarray(model.lines() @ model.vectors()) if weights is None else weights.copy()
        coef.flags.writeable = False
        return coef

    @property
    def column_names_(self) -> tuple[Hashable, ...]:
        """The matrix's columns, which `coef_` and `support_vectors_` have: 'colour=red', or substrings."""
        reading = self._fitted.reading
        if isinstance(reading, GivenReading):
            raise AttributeError(
                "column_names_ is not there with kernel='precomputed': the table holds kernel values, and "
                "the columns behind them are not known."
            )
        if isinstance(reading, CalledTextReading):
            raise AttributeError("column_names_ is not there: the kernel compares texts, not columns.")
        return tuple(reading.plan.column_names)

    @property
    def kernel_(self) -> KernelLike:
        """The kernel with all its numbers, such as gamma; the function, or "precomputed"."""
        kernel = self._fitted.kernel
        return "precomputed" if kernel is None else kernel

    @property
    def _gamma(self) -> float:
        """Gamma as a number, under the name that scikit-learn's machines have it."""
        kernel = self._fitted.kernel
        gamma = getattr(kernel, "gamma", 0.0) if isinstance(kernel, Kernel) else 0.0
        return float(gamma)

    # ------------------------------------------------------------------ one entry per machine

    def _each(self, values: Floats) -> float | Floats:
        return values[0].item() if len(values) == 1 else values

    @property
    def margin_width_(self) -> float | Floats:
        """The width of the margin, 2 / ‖w‖."""
        with np.errstate(divide="ignore"):
            return self._each(2 / np.sqrt(self._fitted.facts.squared_norm))

    @property
    def primal_objective_(self) -> float | Floats:
        """½‖w‖² + Σ C ξ."""
        return self._each(self._fitted.facts.primal)

    @property
    def dual_objective_(self) -> float | Floats:
        """What the dual problem reaches; at the solution it equals the primal objective."""
        return self._each(self._fitted.facts.dual)

    @property
    def duality_gap_(self) -> float | Floats:
        """Primal minus dual objective: how far the solution can be from the best one."""
        facts = self._fitted.facts
        return self._each(facts.primal - facts.dual)

    @property
    def kkt_gap_(self) -> float | Floats:
        """By how much the optimality conditions are violated at most: `tol` or less of an exact machine."""
        return self._each(self._fitted.facts.gap)

    @property
    def total_slack_(self) -> float | Floats:
        """Σ ξ over the training rows."""
        sums = [slack(each.task, each.values).sum() for each in self._trained("total_slack_")]
        return self._each(np.array(sums))

    # ------------------------------------------------------------------ one entry per training row

    def _trained(self, name: str) -> list[Machine]:
        """The machines with their training rows, which a model file does not keep."""
        _ = self._fitted
        if self._machines is None:
            raise AttributeError(
                f"`{name}` speaks of the training rows, and this {type(self).__name__} was loaded from a "
                f"file, which keeps the support rows alone. {self._way_out(name)}"
            )
        return self._machines

    def _way_out(self, name: str) -> str:
        """How a loaded machine still tells an attribute of its training rows."""
        if name == "alpha_":
            if self._fitted.solver == "landmarks":
                return "Fit again to have it: the coefficients of landmarks do not tell it."
            return (
                "`dual_coef_` has what is not 0: α times its sign, of the rows that `support_` numbers. "
                "Fit again to have it row by row."
            )
        if name == "total_slack_":
            return "Add up `slack(X, y)` of the training rows, or fit again."
        return f"Ask `{name.removesuffix('_')}(X, y)` with these rows, or fit again."

    def _by_row(self, name: str, of: Any) -> Floats:
        """Values of every training row: (n_rows,), or (n_rows, n_machines) if there are several machines.

        NaN where a row takes no part: its weight was 0, or the machine is for other classes.
        """
        machines = self._trained(name)
        assert self._present is not None
        out = np.full((len(machines), self._fitted.shape_fit[0]), np.nan)
        for line, machine in zip(out, machines, strict=True):
            line[self._present[machine.task.rows]] = of(machine)
        return out[0] if len(machines) == 1 else out.T

    @property
    def slack_(self) -> Floats:
        """ξ of every training row: how far it lies on the wrong side of its margin, or of the tube."""
        return self._by_row("slack_", lambda machine: slack(machine.task, machine.values))
