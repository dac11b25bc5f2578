"""The parameters of `importance` and of the selection of columns, checked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weald.arrays import RandomState
from weald.parameters import Choice, Instance, NotZero, Number, Whole, optional, parameter

#: the fewest rows of a cell
MIN_CELL = 20
METHODS = ("permutation", "conditional", "oob", "shap", "gain", "cover", "count")


@dataclass(frozen=True, kw_only=True)
class DrawnOptions:
    """What draws start from, and how much is done at once."""

    n_repeats: int = parameter(Whole(1), hint="Use 5, or more for smaller standard errors.")
    random_state: RandomState = optional(
        Whole(0, 2**32 - 1),
        Instance((np.random.RandomState,), "a numpy.random.RandomState"),
        hint="Use a whole number for results that can be repeated.",
    )
    n_jobs: int | None = optional(NotZero(), hint="Leave it None for one at a time.")


@dataclass(frozen=True, kw_only=True)
class ImportanceOptions(DrawnOptions):
    """The parameters of `importance`."""

    method: str = parameter(Choice(METHODS), hint="Use 'permutation' on rows that the model did not see.")
    cells: str = parameter(Choice(("tree", "proximity")), hint="Use 'tree'.")
    min_cell: int = parameter(Whole(2), hint="Use 20; larger cells are quicker and less alike.")


@dataclass(frozen=True, kw_only=True)
class SelectionOptions(DrawnOptions):
    """The parameters of `select_columns` that are no data."""

    by: str = parameter(
        Choice(("auto", "oob", "held_out", "cv")),
        hint="Use 'cv' for any model, 'oob' for forests, 'held_out' for large tables.",
    )
    method: str = parameter(Choice(("permutation", "conditional")), hint="Use 'permutation'.")
    drop: int | float = parameter(
        Whole(1),
        Number(0, 1, "()", fraction=True),
        hint="Use 1 to drop one column after another, 0.2 for a fifth of those that are left.",
    )
    min_columns: int = parameter(Whole(1), hint="Use 1 to go on to the last column.")
    rule: str = parameter(
        Choice(("one_se", "best")),
        hint="Use 'one_se' for the fewest columns within a standard error of the best score.",
    )
    test_size: float = parameter(Number(0, 1, "()"), hint="Use 0.25 to hold out a quarter of the rows.")
