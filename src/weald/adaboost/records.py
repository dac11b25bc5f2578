"""What the parts of AdaBoost hand to each other, and what is remembered of a round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.arrays import AnyEstimator, AnyTable, TableLike


@dataclass(frozen=True, slots=True)
class MemberRows:
    """The rows of one member: how much each weighs, or how often a sample has it."""

    units: NDArray[np.int64]  # (n_rows,); 0: the row is absent
    #: whether units count the rows of a sample; else they are weights
    counted: bool
    #: which attempt this is, for seeds
    attempt: int


class Learner(Protocol):
    """What fits members and asks them. It has the rows."""

    #: whether a second fit on the same rows may give another member
    varies: bool
    #: what members are, for messages
    name: str
    #: what else may help where members that get weights are no better than chance: empty, or a space and why
    hint: str

    def fit(self, training: MemberRows) -> Any:
        """A member."""

    def predicted(self, member: AnyEstimator) -> NDArray[Any]:
        """A member's answer to every row: class numbers (int32) or numbers."""

    def read(self, X: TableLike, owner: str) -> tuple[Any, int]:
        """Another table of the same columns, for `answers`, and how many rows it has."""

    def answers(self, member: AnyEstimator, table: AnyTable) -> NDArray[Any]:
        """A member's answer to every row of a table that `read` gave."""


@dataclass(frozen=True, slots=True)
class RoundsPlan:
    """The parameters of the loop."""

    n_rounds: int
    resample: str | None
    worse_than_chance: str
    seed: int
    owner: str
    keep_row_weights: bool = False
    #: how often the member of an attempt has each row, whose weights count as often; None: every row once
    drawn: Callable[[int], NDArray[np.integer]] | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """One member that was kept."""

    error: float
    weight: float
    attempt: int
    #: whether the weights of the rows went back to the start before this round
    restarted: bool
    #: of the ensemble up to here on the rows of training; NaN where it is not followed
    training_error: float = np.nan
