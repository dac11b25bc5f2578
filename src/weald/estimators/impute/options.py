"""The parameters of `ProximityImputer`, and which kind of forest a target asks for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np

from weald.arrays import CategoricalFeatures, Estimator, RandomState, TargetLike
from weald.data.outputs import read_outputs
from weald.data.table import LevelColumn
from weald.estimators.forest.base import BaseForest
from weald.parameters import Choice, Instance, Nothing, NotZero, Number, Whole, parameter

#: whole numbers are labels up to so many different ones, beyond that numbers
MOST_LABELS: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ImputerOptions:
    """The parameters of `ProximityImputer`, each with its range."""

    estimator: Estimator | None = parameter(
        Nothing(),
        Instance((BaseForest,), "a forest of weald"),
        hint="Leave it None for a random forest of the kind that y asks for.",
    )
    max_iter: int = parameter(Whole(1), hint="Use 6; the fills seldom move after that.")
    tol: float = parameter(Number(0), hint="Use 0.01: a hundredth of a standard deviation.")
    n_jobs: int | None = parameter(
        Nothing(), NotZero(), hint="Leave it None for the estimator's own, or every CPU of the process."
    )
    random_state: RandomState = parameter(
        Nothing(),
        Whole(0, 2**32 - 1),
        Instance((np.random.RandomState,), "a numpy.random.RandomState"),
        hint="Use a whole number for results that can be repeated.",
    )
    categorical_features: CategoricalFeatures = parameter(
        Nothing(),
        Choice(("from_dtype",)),
        Instance((Collection,), "a list of column names, of positions or of True and False"),
        hint="Leave it None to tell categories by the type of the column.",
    )


def has_labels(y: TargetLike | None, n_rows: int, owner: str) -> bool:
    """Whether a target is labels: text, bools, dates, or at most `MOST_LABELS` different whole numbers."""
    for output in read_outputs(y, n_rows=n_rows, estimator=owner, expected="one value per row"):
        column = output.column
        if isinstance(column, LevelColumn) or column.unit != "number":
            continue
        values = column.values
        if values.dtype.kind == "f" and (values != np.floor(values)).any():
            return False
        if len(np.unique(values)) > MOST_LABELS:
            return False
    return True
