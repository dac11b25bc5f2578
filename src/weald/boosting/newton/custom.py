"""Objectives that users write: a function of targets and raw scores that gives gradients and hessians.

The rules are those of xgboost's scikit-learn classes. Weights are the function's own business: it is given
them as `sample_weight`, and what it returns is not multiplied again.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weald.arrays import Floats
from weald.boosting.newton.base_scores import given_start
from weald.boosting.newton.loss_table import check_target
from weald.boosting.records import BoostTarget
from weald.errors import ParameterError


@dataclass(frozen=True, slots=True, eq=False)
class MatrixObjective:
    """A user's `f(raw scores, matrix) -> (grad, hess)`, the form that `train` takes with a DMatrix.

    As in xgboost, the objective that is named beside it says what predictions are and which metric counts.
    """

    function: Callable[..., Any]
    matrix: object
    named: str
    link: str
    n_outputs: int

    def __call__(self, y_true: Floats, y_pred: Floats, sample_weight: Floats | None = None) -> Any:
        """The gradients; the function has targets and weights from the matrix."""
        return self.function(y_pred, self.matrix)

    @property
    def name(self) -> str:
        """The function's name."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))


class CustomObjective:
    """A user's `f(y_true, y_pred) -> (grad, hess)`, bound to the training target.

    Parameters
    ----------
    function : callable
        Called with the target and the raw scores, both (n_rows,) or (n_rows, n_outputs), and with
        `sample_weight` where there are weights. Returns two arrays in the shape of the raw scores.
    target : BoostTarget
        What is learnt.
    n_classes : int or None
        Two classes have one output and the logistic link, more have one output each and softmax; None is a
        regression: one output for each column of the target.
    """

    weighted = True
    remembers = True  # a function may count its calls
    refreshes_leaves = False
    default_max_delta_step = 0.0

    def __init__(self, function: Callable[..., Any], target: BoostTarget, n_classes: int | None) -> None:
        native = function if isinstance(function, MatrixObjective) else None
        self.name: str = native.name if native else getattr(function, "__name__", type(function).__name__)
        check_target(self.name, target.values, None)
        self._function = function
        self._target = target
        columns = 1 if target.values.ndim == 1 else target.values.shape[1]
        several = n_classes is not None and n_classes > 2
        self.n_outputs: int = n_classes if several and n_classes else columns
        self.link = "identity" if n_classes is None else "softmax" if several else "logistic"
        if native is not None:
            self.n_outputs, self.link = native.n_outputs, native.link
        if target.weight is not None and not _takes_weights(function):
            raise ParameterError(
                f"The objective {self.name!r} has no parameter `sample_weight`, and the rows have weights. "
                f"Define it as {self.name}(y_true, y_pred, sample_weight) and multiply both results by it."
            )

    def base_scores(self) -> Floats:
        """The raw scores of the prediction 0.5, which xgboost starts custom objectives from."""
        return self.raw_base_scores(0.5)

    def raw_base_scores(self, base_score: ArrayLike) -> Floats:
        """The user's `base_score` as raw scores, (n_outputs,)."""
        return given_start(base_score, n_outputs=self.n_outputs, link=self.link)

    def gradients(self, scores: Floats, g: Floats, h: Floats, *, round_: int, n_threads: int) -> None:
        """Fill g and h, (n_outputs, n_rows), with what the function returns."""
        y_true = self._target.values.copy()  # the function may write into what it is given
        y_pred = scores[0].copy() if self.n_outputs == 1 else np.ascontiguousarray(scores.T)
        weight = self._target.weight
        if weight is None:
            found = self._function(y_true, y_pred)
        else:
            found = self._function(y_true, y_pred, sample_weight=weight.copy())
        if not isinstance(found, tuple | list) or len(found) != 2:
            raise ParameterError(
                f"The objective {self.name!r} must return two arrays, (grad, hess); "
                f"got {type(found).__name__}{f' of {len(found)}' if isinstance(found, tuple | list) else ''}."
            )
        for what, values, out in (("grad", found[0], g), ("hess", found[1], h)):
            out[...] = self._checked(what, values)
            if weight is not None:
                out[:, weight == 0] = 0.0  # such rows are absent

    def _checked(self, what: str, values: ArrayLike) -> Floats:
        n_rows = self._target.n_rows
        one = self.n_outputs == 1
        shape = (n_rows,) if one else (n_rows, self.n_outputs)
        try:
            array = np.asarray(values, np.float64)
        except (TypeError, ValueError):
            raise ParameterError(
                f"The objective {self.name!r} returned {what} as {type(values).__name__}, "
                f"which is not numbers. Return a float array of shape {shape}."
            ) from None
        if array.shape != shape and not (one and array.shape == (n_rows, 1)):
            raise ParameterError(
                f"The objective {self.name!r} returned {what} of shape {array.shape}. "
                f"Return one number for each row{'' if one else ' and output'}: shape {shape}."
            )
        columns = array.reshape(n_rows, self.n_outputs).T
        good = np.isfinite(columns)
        if not good.all():
            self._refuse(what, columns, good)
        return columns

    def _refuse(self, what: str, columns: Floats, good: NDArray[np.bool_]) -> None:
        output, row = np.unravel_index(int(np.argmin(good)), good.shape)
        value = columns[output, row]
        where = f"row {row}" if self.n_outputs == 1 else f"row {row} of output {output}"
        raise ParameterError(
            f"The objective {self.name!r} returned {'NaN' if np.isnan(value) else value} in {what}: {where}. "
            "They must be finite: look for a division by 0, a logarithm of 0 or an overflow of exp there."
        )

    def row_loss(self, output: int) -> None:
        """None: a function of the user takes all rows at once."""
        return

    def leaf_values(
        self, scores: Floats, output: int, leaf_of_row: NDArray[np.int32], n_leaves: int
    ) -> Floats | None:
        """None: leaf values are Newton's."""
        return None


def _takes_weights(function: Callable[..., Any]) -> bool:
    try:
        return "sample_weight" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # a compiled function that tells nothing of itself
        return False
