"""What linear classifiers share once they are fitted: weights by line, values and labels of rows."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from weald.arrays import Floats, TableLike
from weald.data.target import restore_labels
from weald.engine import thread_count
from weald.errors import DataError


class FittedLines:
    """Lines of weights that users read and may replace."""

    n_jobs: int | None
    _model_: Any

    @property
    def _fitted(self) -> Any:
        model = vars(self).get("_model_")
        if model is None:
            raise AttributeError(f"This {type(self).__name__} is not fitted yet. Call `fit` first.")
        return model

    def _decisions(self, X: TableLike) -> Floats:
        """X · w + b of every row and machine."""
        check_is_fitted(self)
        found: Floats = self._model_.scores(X, type(self).__name__, thread_count(self.n_jobs))
        return found

    def _set(self, part: str, values: ArrayLike) -> None:
        """Put other weights or intercepts in place: scikit-learn's linear machines let users do that."""
        old: Floats = getattr(self._fitted, part)
        new = np.array(values, np.float64)
        shown: Floats = getattr(self, f"{part}_")
        if new.shape != shown.shape:
            raise DataError(
                f"`{part}_` of this {type(self).__name__} has the shape {shown.shape}; got {new.shape}."
            )
        if not np.isfinite(new).all():
            raise DataError(f"`{part}_` of {type(self).__name__} must be finite numbers.")
        changed: dict[str, Any] = {part: new.reshape(old.shape)}
        self._model_ = replace(self._fitted, **changed)

    @property
    def intercept_(self) -> Floats:
        """The intercept of each machine."""
        found: Floats = self._fitted.intercept
        return found

    @intercept_.setter
    def intercept_(self, intercepts: ArrayLike) -> None:
        self._set("intercept", intercepts)

    @property
    def column_names_(self) -> tuple[Hashable, ...]:
        """The columns that `coef_` weighs."""
        return tuple(self._fitted.reading.plan.column_names)


class ClassLines(FittedLines):
    """Lines of weights that tell classes apart: one for two classes, else one per class."""

    classes_: NDArray[Any]

    @property
    def coef_(self) -> Floats:
        """The weights of the matrix's columns, one line per machine."""
        found: Floats = self._fitted.coef
        return found

    @coef_.setter
    def coef_(self, weights: ArrayLike) -> None:
        self._set("coef", weights)

    def decision_function(self, X: TableLike) -> Floats:
        """The value x · w + b of every row and machine.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            Of two classes one value, above 0 for the second.
        """
        scores = self._decisions(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: TableLike) -> NDArray[Any]:
        """The label of each row: of the highest value.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels of the type that `fit` was given.
        """
        scores = self._decisions(X)
        chosen = scores[:, 0] > 0 if len(self.classes_) == 2 else np.argmax(scores, axis=1)
        return restore_labels(self.classes_, chosen.astype(np.intp))
