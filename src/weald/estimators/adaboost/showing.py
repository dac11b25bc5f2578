"""The members of an AdaBoost one by one, and how they show themselves where they are trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from weald.adaboost.medians import RunningMedians
from weald.arrays import Floats, TableLike
from weald.data.table import Table
from weald.estimators.adaboost.any_members import BoostedOthers
from weald.estimators.adaboost.trees import BoostedTrees
from weald.estimators.shared.ensemble_pictures import (
    EnsemblePictures,
    forest_story,
    member_story,
    score_names,
)
from weald.model.forest import Forest
from weald.pictures.ensembles.which import TreePlaces
from weald.pictures.explain import one_row

if TYPE_CHECKING:
    from weald.pictures.ensembles.story import Told


class RoundMembers(EnsemblePictures):
    """What AdaBoost tells of its members one by one."""

    _members: BoostedTrees | BoostedOthers

    def _shown_tree(self, t: int) -> object:
        assert isinstance(self._members, BoostedTrees)
        return self._members._estimator(t)

    def _shown_forest(self) -> Forest | None:
        return self._members.forest if isinstance(self._members, BoostedTrees) else None

    def _shown_members(self) -> Sequence[object] | None:
        return None if isinstance(self._members, BoostedTrees) else list(self._members.estimators())

    def _tree_places(self) -> TreePlaces:
        return TreePlaces(len(self._members))

    def _row_told(self, row: TableLike) -> Told:
        members, owner = self._members, type(self).__name__
        labelled = members.classes is not None
        if isinstance(members, BoostedTrees):
            trees = members

            def read(X: TableLike) -> Table:
                return trees.read(X, owner)

            return forest_story(
                self,
                row,
                members.voting,
                members.schema,
                read,
                how="votes" if labelled else "median",
                names=score_names(members.classes, members.voting.n_outputs),
                running=None if labelled else self._medians,
            )
        given = one_row(row, members.schema)
        table = members.read(given, owner)
        if labelled:
            votes = np.array([stage[0] for stage in members.staged_votes(table, 1)])
            adds = np.diff(votes, axis=0, prepend=0.0)
            names = score_names(members.classes, votes.shape[1])
            return member_story(self, adds, names, given, how="votes", running=votes)
        says = np.array(list(members.each(table, 1)))
        return member_story(self, says, ("",), given, how="median", running=self._medians(says))

    def _medians(self, says: NDArray[np.float64]) -> Floats:
        """The weighted median of the members so far: (n_members, 1)."""
        running = RunningMedians(1)
        pairs = zip(says, self._members.weights.tolist(), strict=True)
        return np.array([running.add(said, weight).copy() for said, weight in pairs])
