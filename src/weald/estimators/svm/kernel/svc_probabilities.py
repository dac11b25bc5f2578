"""The probabilities of an `SVC`: curves learned on held-out rows, made to agree with its labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from weald.arrays import AnyEstimator, Floats, TableLike
from weald.estimators.svm.kernel.readable import ReadableMachine
from weald.svm.calibration import agreeing_with, couple, normalise, probabilities_of_two


def _has_probabilities(model: AnyEstimator) -> bool:
    """Whether probabilities are asked for; raises AttributeError if not, as `available_if` asks."""
    if not model.probability:
        raise AttributeError(
            "predict_proba is not available when probability=False. Fit with probability=True, or wrap the "
            "machine in scikit-learn's CalibratedClassifierCV."
        )
    return True


class ClassProbabilities(ReadableMachine):
    """`predict_proba` and its logarithm, there only if `probability` asks for them."""

    classes_: NDArray[Any]
    #: the values f of every row and machine
    _decisions: Callable[[Any], Floats]

    @abstractmethod
    def _labels(self, decisions: Floats) -> NDArray[np.intp]:
        """The class number of each row."""

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: TableLike) -> Floats:
        """The probabilities of the classes, by calibration on held-out rows.

        They agree with `predict`: the predicted class is the likeliest one. Where calibration says otherwise,
        close to a boundary, the classes in question share their probabilities.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            They add up to 1, in the order of `classes_`.
        """
        check_is_fitted(self)
        curves, n_classes = self._fitted.calibrators, len(self.classes_)
        if curves is None:
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False. Fit again: the curves "
                "that give probabilities are learned with the machines."
            )
        decisions = self._decisions(X)
        log_odds = np.stack([curve.log_odds(f) for curve, f in zip(curves, decisions.T, strict=True)], axis=1)
        if n_classes == 2:
            return probabilities_of_two(log_odds[:, 0], decisions[:, 0])
        rest = self._fitted.one_against_rest
        shares = normalise(log_odds) if rest else couple(log_odds, n_classes)
        return agreeing_with(shares, self._labels(decisions))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: TableLike) -> Floats:
        """The logarithm of `predict_proba`; -inf for a probability of 0.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Natural logarithms, in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))  # type: ignore[no-any-return]
