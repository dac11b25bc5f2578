"""How far rows lie from the boundary of a machine, and on which side: margins, and slacks of numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, TableLike, TargetLike
from weald.estimators.svm.targets import known_labels, true_numbers


class NotThere:
    """What users look for and an estimator lacks: hasattr says so, and the error says the way out."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise AttributeError(self._sentence)


class MarginAnswers:
    """Margins and slacks of labelled rows."""

    classes_: NDArray[Any]
    #: the values f of every row and machine
    _decisions: Callable[[Any], Floats]

    @abstractmethod
    def _norms(self) -> Floats:
        """‖w‖ of each machine."""

    def _sides(self, labels: NDArray[np.intp]) -> Floats:
        """+1 or -1 of every row in every machine, one per class against the rest; 0 where it has no part."""
        lines = np.array([1]) if len(self.classes_) == 2 else np.arange(len(self.classes_))
        return np.where(labels[:, None] == lines, 1.0, -1.0)

    def functional_margin(self, X: TableLike, y: TargetLike) -> Floats:
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
            Of more than two classes one column per machine, NaN where the machine does not know the label.
        """
        decisions = self._decisions(X)
        sides = self._sides(known_labels(y, len(decisions), self.classes_, type(self).__name__))
        found = np.where(sides == 0, np.nan, sides * decisions)
        return found[:, 0] if found.shape[1] == 1 else found

    def geometric_margin(self, X: TableLike, y: TargetLike) -> Floats:
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
        norm = self._norms()
        found: Floats = margin / (norm[0] if margin.ndim == 1 else norm)
        return found

    def slack(self, X: TableLike, y: TargetLike) -> Floats:
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


class TubeAnswers:
    """Predictions and slacks of rows with numbers."""

    epsilon: float
    #: the values f of every row, one column
    _decisions: Callable[[Any], Floats]

    def predict(self, X: TableLike) -> Floats:
        """The number that belongs to each row.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predictions.
        """
        return self._decisions(X)[:, 0]

    def slack(self, X: TableLike, y: TargetLike) -> Floats:
        """ξ = max(0, |y - f(x)| - ε): how far each row lies outside the tube.

        Parameters
        ----------
        X : table
            As in `fit`.
        y : array-like of shape (n_rows,)
            The true numbers.

        Returns
        -------
        ndarray of shape (n_rows,)
            0 within the tube.
        """
        found = self.predict(X)
        truth = true_numbers(y, len(found), type(self).__name__)
        return np.maximum(0.0, np.abs(truth - found) - self.epsilon)
