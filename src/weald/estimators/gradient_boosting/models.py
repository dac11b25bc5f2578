"""What a fitted gradient booster is made of: rounds of trees or of other regressors, and where they start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weald.arrays import CategoricalFeatures, Floats, TableLike
from weald.data.frames.user_rows import outline
from weald.data.schema import Schema
from weald.estimators.gradient_boosting.any_bases import FittedBase
from weald.estimators.gradient_boosting.rows import StageData
from weald.estimators.gradient_boosting.start import EstimatorStart
from weald.estimators.shared.members import in_order
from weald.model.forest import Forest
from weald.model.predict import add_tree_scores, raw_scores, staged_scores
from weald.model.read import read_aligned


@dataclass(frozen=True, slots=True, eq=False)
class TreeRounds:
    """Trees, one per output and round."""

    forest: Forest
    schema: Schema
    init: EstimatorStart | None
    declared: CategoricalFeatures  # `categorical_features`
    zero: bool = False  # whether it starts from 0 because `init` says so
    #: for each fit the rounds there were after it, and the parameters of its trees; none from a file
    grown: tuple[tuple[int, dict[str, Any]], ...] = ()

    @property
    def n_rounds(self) -> int:
        """How many rounds."""
        return int(self.forest.tree_round[-1]) + 1 if self.forest.n_trees else 0

    @property
    def base(self) -> Floats:
        """Constant raw scores before the first round."""
        return self.forest.base_score

    @property
    def link(self) -> str:
        """What turns raw scores into predictions."""
        return self.forest.link

    def raw(self, X: TableLike, owner: str, n_threads: int) -> Floats:
        """Raw scores: (n_rows, n_outputs)."""
        table = read_aligned(X, self.schema, declared=self.declared, owner=owner)
        scores = raw_scores(self.forest, table, n_threads=n_threads)
        return scores if self.init is None else scores + self.init.raw(in_order(X, self.schema, owner))

    def staged(self, X: TableLike, owner: str, n_threads: int) -> Iterator[Floats]:
        """Raw scores after each round, a new array each."""
        table = read_aligned(X, self.schema, declared=self.declared, owner=owner)
        start = None if self.init is None else self.init.raw(in_order(X, self.schema, owner))
        ends = (np.arange(1, self.n_rounds + 1) * self.forest.n_outputs).tolist()
        for scores in staged_scores(self.forest, table, ends, n_threads=n_threads):
            yield scores if start is None else scores + start


@dataclass(frozen=True, slots=True, eq=False)
class BaseRounds:
    """Regressors of any kind, one per output and round."""

    rounds: list[list[FittedBase]]
    base: Floats
    link: str
    schema: Schema  # names alone
    init: EstimatorStart | None
    zero: bool = False  # as in TreeRounds

    @property
    def n_rounds(self) -> int:
        """How many rounds."""
        return len(self.rounds)

    def raw(self, X: TableLike, owner: str, n_threads: int) -> Floats:
        """Raw scores: (n_rows, n_outputs)."""
        found = self._start(rows := in_order(X, self.schema, owner))
        for members in self.rounds:
            _add(members, rows, found)
        return found

    def staged(self, X: TableLike, owner: str, n_threads: int) -> Iterator[Floats]:
        """Raw scores after each round, a new array each."""
        found = self._start(rows := in_order(X, self.schema, owner))
        for members in self.rounds:
            _add(members, rows, found)
            yield found.copy()

    def _start(self, rows: TableLike) -> Floats:
        constant = np.tile(self.base, (outline(rows).n_rows, 1))
        return constant if self.init is None else constant + self.init.raw(rows)


def _add(members: list[FittedBase], rows: TableLike, out: Floats) -> None:
    for output, member in enumerate(members):
        out[:, output] += (member.rate * member.size) * member.predict(rows, len(out))


def start_scores(
    data: StageData,
    base: Floats,
    init: EstimatorStart | None,
    past: TreeRounds | BaseRounds | None,
    n_threads: int,
) -> Floats:
    """Raw scores before the first new round: (n_outputs, n_rows)."""
    if isinstance(past, BaseRounds):
        found = past.raw(data.X, "", n_threads)
        return np.ascontiguousarray(found.T)
    scores = np.tile(base, (data.n_rows, 1))
    if init is not None:
        scores = scores + init.raw(data.X)
    out = np.array(scores.T, np.float64, order="C")
    if past is not None:
        add_tree_scores(past.forest, data.rows, out.T, 0, past.forest.n_trees, n_threads=n_threads)
    return out
