"""How far rows lie from the boundaries of an `SVC`, and on which side: margins and slacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.estimators.svm_readable import ReadableMachine
from weald.estimators.svm_targets import known_labels
from weald.svm.votes import pairs

Floats: TypeAlias = NDArray[np.float64]


class ClassMargins(ReadableMachine):
    """Margins of any rows, and of the training rows as attributes."""

    classes_: NDArray[Any]
    _decisions: Callable[[Any], Floats]

    def functional_margin(self, X: Any, y: Any) -> Floats:
        """Y f(x): above 0 on the right side of the boundary, above 1 beyond the margin.

        Parameters
        ----------
        X : table
            As in `fit`.
        y : array-like of shape (n_rows,)
            The true labels.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_machines)
            Of more than two classes one column a machine, NaN where the machine does not know the label.
        """
        decisions = self._decisions(X)
        sides = self._sides(known_labels(y, len(decisions), self.classes_, type(self).__name__))
        found = np.where(sides == 0, np.nan, sides * decisions)
        return found[:, 0] if found.shape[1] == 1 else found

    def geometric_margin(self, X: Any, y: Any) -> Floats:
        """The distance from the boundary, y f(x) / ‖w‖: below 0 on the wrong side.

        Parameters
        ----------
        X : table
            As in `fit`.
        y : array-like of shape (n_rows,)
            The true labels.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_machines)
            As `functional_margin`.
        """
        margin = self.functional_margin(X, y)
        norm = np.sqrt(self._fitted.facts.squared_norm)
        found: Floats = margin / (norm[0] if margin.ndim == 1 else norm)
        return found

    def slack(self, X: Any, y: Any) -> Floats:
        """ξ = max(0, 1 - y f(x)): 0 beyond the margin, above 1 on the wrong side of the boundary.

        Parameters
        ----------
        X : table
            As in `fit`.
        y : array-like of shape (n_rows,)
            The true labels.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_machines)
            As `functional_margin`.
        """
        return np.maximum(0.0, 1.0 - self.functional_margin(X, y))

    @property
    def functional_margin_(self) -> Floats:
        """Y f(x) of every training row."""
        return self._by_row("functional_margin_", lambda machine: machine.question.target * machine.values)

    @property
    def geometric_margin_(self) -> Floats:
        """Y f(x) / ‖w‖ of every training row: its distance from the boundary."""
        return self._by_row(
            "geometric_margin_",
            lambda machine: machine.question.target * machine.values / np.sqrt(machine.squared_norm),
        )

    @property
    def alpha_(self) -> Floats:
        """The dual variable α of every training row, from 0 to its C."""
        return self._by_row("alpha_", lambda machine: np.abs(machine.coefficients))

    def _sides(self, labels: NDArray[np.intp]) -> Floats:
        """+1 or -1 of every row in every machine; 0 where it takes no part."""
        n_classes, model = len(self.classes_), self._fitted
        if n_classes == 2:
            return np.where(labels == 1, 1.0, -1.0)[:, None]
        if model.one_against_rest:
            return np.where(labels[:, None] == np.arange(n_classes), 1.0, -1.0)
        sides = [(labels == i) * 1.0 - (labels == j) for i, j in pairs(n_classes)]
        return np.stack(sides, axis=1)
