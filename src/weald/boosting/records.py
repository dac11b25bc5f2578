"""What the parts of boosting hand to each other.

Raw scores, gradients and hessians are float64 arrays of shape (n_outputs, n_rows), C-ordered: one output
after another, because one tree reads one output.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats
from weald.data.table import Table
from weald.rows.blocks import PagedCodes
from weald.rows.dask.codes import DaskCodes


@dataclass(frozen=True, slots=True)
class BoostTarget:
    """What is learnt: numbers, class numbers (as floats) or relevances; the weights and groups of rows."""

    values: Floats  # (n_rows,) or (n_rows, n_targets)
    weight: Floats | None = None  # (n_rows,); 0: the row is absent. None: all 1
    #: ranking: rows [group_start[q], group_start[q + 1]) are query q; weights are then equal within a query
    group_start: NDArray[np.int64] | None = None

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.values)


class Objective(Protocol):
    """A loss bound to the training target: what the loop asks of it."""

    @property
    def name(self) -> str:
        """Xgboost's name, such as "binary:logistic"."""

    @property
    def n_outputs(self) -> int:
        """How many raw scores a row has."""

    @property
    def link(self) -> str:
        """What turns raw scores into predictions: a name of `weald.boosting.links`."""

    @property
    def weighted(self) -> bool:
        """Whether `gradients` has the row weights in it already; else the loop multiplies them in."""

    @property
    def refreshes_leaves(self) -> bool:
        """Whether `leaf_values` ever gives values: finding the leaf of every row has its price."""

    @property
    def remembers(self) -> bool:
        """Whether `gradients` may depend on the rounds before by more than the scores."""

    def base_scores(self) -> Floats:
        """The raw scores boosting starts from where the user gives none: (n_outputs,)."""

    def gradients(self, scores: Floats, g: Floats, h: Floats, *, round_: int, n_threads: int) -> None:
        """Fill g and h, (n_outputs, n_rows), at these raw scores."""

    def row_loss(self, output: int) -> engine.RowLoss | None:
        """The loss of one output where the core has it and rows are on their own; `gradients` is the same."""

    def leaf_values(
        self, scores: Floats, output: int, leaf_of_row: NDArray[np.int32], n_leaves: int
    ) -> Floats | None:
        """Better values for the leaves of a new tree, before shrinkage; None: Newton's stay.

        `scores` are those before the tree; `leaf_of_row` is −1 for rows the tree was not grown on. Quantile
        losses answer with quantiles of the residuals.
        """


@dataclass(slots=True)
class WatchedRows:
    """Rows whose metrics are followed while training."""

    name: str
    table: Table | None  # aligned to the model's schema; None: the training rows themselves
    target: BoostTarget
    scores: Floats  # raw scores so far: (n_outputs, n_rows)
    pages: PagedCodes | DaskCodes | None = (
        None  # the rows, in codes of the training rows, where they are not in `table`
    )
