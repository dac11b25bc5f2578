"""The members of a bagging ensemble one by one, and how they show themselves where they are trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from weald.arrays import Estimator, TableLike
from weald.data.table import Table
from weald.estimators.bagging.any_members import OtherMembers
from weald.estimators.bagging.trees import TreeMembers
from weald.estimators.shared.ensemble_pictures import (
    EnsemblePictures,
    forest_story,
    member_story,
    score_names,
)
from weald.model.forest import Forest
from weald.model.read import read_aligned
from weald.pictures.ensembles.which import TreePlaces
from weald.pictures.explain import one_row

if TYPE_CHECKING:
    from weald.pictures.ensembles.story import Told


class BaggedMembers(EnsemblePictures):
    """What a bagging ensemble tells of its members one by one."""

    _members: TreeMembers | OtherMembers
    estimators_: Any

    def __len__(self) -> int:
        """How many members are fitted."""
        check_is_fitted(self)
        return len(self._members)

    def __bool__(self) -> bool:
        """True, fitted or not: an estimator is never empty."""
        return True

    def __getitem__(self, bag: int) -> Estimator:
        """The member of one bag."""
        member: Estimator = self.estimators_[bag]
        return member

    def _shown_tree(self, t: int) -> object:
        assert isinstance(self._members, TreeMembers)
        return self._members.shown(t)

    def _shown_forest(self) -> Forest | None:
        return self._members.forest if isinstance(self._members, TreeMembers) else None

    def _shown_members(self) -> Sequence[object] | None:
        return None if isinstance(self._members, TreeMembers) else list(self._members.estimators())

    def _tree_places(self) -> TreePlaces:
        return TreePlaces(len(self._members))

    def _row_told(self, row: TableLike) -> Told:
        members, owner = self._members, type(self).__name__
        classes = getattr(self, "classes_", None)
        if not isinstance(members, TreeMembers):
            given = one_row(row, members.schema)
            says = np.array(
                [part[0] for part in members.each(members.predicting, members.read(given, owner), 1)]
            )
            return member_story(self, says, score_names(classes, says.shape[1]), given)
        declared = members.template.categorical_features

        def read(X: TableLike) -> Table:
            return read_aligned(X, members.schema, declared=declared, owner=owner)

        names = score_names(classes, members.forest.width)
        return forest_story(self, row, members.forest, members.schema, read, how="mean", names=names)
