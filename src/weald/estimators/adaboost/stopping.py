"""Early stopping of AdaBoost: the rows that are held out, or a set of the user's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.boosting.records import BoostTarget
from weald.errors import ParameterError
from weald.estimators.adaboost.options import AdaBoostOptions
from weald.estimators.shared.class_weight import Weights
from weald.estimators.shared.fitted import Target
from weald.estimators.xgboost.stopping import WAIT, hold_out


@dataclass(frozen=True, slots=True)
class Stopping:
    """What is trained on, and what says when to stop."""

    #: of the rows of training; 0 for those held out
    weight: Weights | None
    #: the rows held out, if some are
    rows: NDArray[np.int64] | None = None
    #: a table and its target, if the user gives them
    given: tuple[Any, Any] | None = None
    #: rounds without improvement before boosting ends
    wait: int = 0


def stopping_of(
    options: AdaBoostOptions, target: Target, weight: Weights | None, seed: int, owner: str
) -> Stopping:
    """The rows that `early_stopping` asks for; the same ones whenever it is asked for the same table.

    Parameters
    ----------
    options : AdaBoostOptions
        Checked parameters.
    target : Target
        What is learnt.
    weight : ndarray of shape (n_rows,) or None
        The user's weights.
    seed : int
        What the choice of rows starts from.
    owner : str
        The estimator's name, for messages.
    """
    asked, rounds = options.early_stopping, options.early_stopping_rounds
    if asked is None:
        if rounds is not None:
            raise ParameterError(
                f"`early_stopping_rounds` of {owner} needs rows to measure on. Set early_stopping=0.1 to "
                "hold out a tenth of the rows, or give a set (X, y) there."
            )
        return Stopping(weight)
    wait = WAIT if rounds is None else rounds
    if not isinstance(asked, float):
        if len(asked) != 2:
            raise ParameterError(
                f"`early_stopping` of {owner} must be a fraction or a set (X, y); got {len(asked)} items."
            )
        return Stopping(weight, None, (asked[0], asked[1]), wait)
    values = target.values[:, 0].astype(np.float64)
    labels = target.classes is not None
    _, held = hold_out(BoostTarget(values, weight), asked, seed, labels=labels, owner=owner)
    trained = np.ones(len(values)) if weight is None else weight.copy()
    trained[held] = 0.0
    return Stopping(trained, held, None, wait)
