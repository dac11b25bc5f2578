"""How far rows lie from the boundaries of an `SVC`, and on which side: margins and slacks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.estimators.svm.kernel.readable import ReadableMachine
from weald.estimators.svm.margins import MarginAnswers
from weald.svm.votes import pairs


class ClassMargins(MarginAnswers, ReadableMachine):
    """Margins of any rows, and of the training rows as attributes."""

    def _norms(self) -> Floats:
        """‖w‖ of each machine."""
        return np.sqrt(self._fitted.facts.squared_norm)

    @property
    def functional_margin_(self) -> Floats:
        """Y f(x) of every training row."""
        return self._by_row("functional_margin_", lambda machine: machine.task.target * machine.values)

    @property
    def geometric_margin_(self) -> Floats:
        """Y f(x) / ‖w‖ of every training row: its distance from the boundary."""
        return self._by_row(
            "geometric_margin_",
            lambda machine: machine.task.target * machine.values / np.sqrt(machine.squared_norm),
        )

    @property
    def alpha_(self) -> Floats:
        """The dual variable α of every training row, from 0 to its C."""
        return self._by_row("alpha_", lambda machine: np.abs(machine.coefficients))

    def _sides(self, labels: NDArray[np.intp]) -> Floats:
        """+1 or -1 of every row in every machine; 0 where it takes no part."""
        n_classes = len(self.classes_)
        if n_classes == 2 or self._fitted.one_against_rest:
            return super()._sides(labels)
        sides = [(labels == i) * 1.0 - (labels == j) for i, j in pairs(n_classes)]
        return np.stack(sides, axis=1)
