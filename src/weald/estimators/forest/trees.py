"""The trees of a forest as estimators of their own, and the rows that each of them saw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from weald.arrays import AnyEstimator, Estimator, TableLike
from weald.data.table import Table
from weald.estimators.shared.coded import CodedForest
from weald.estimators.shared.ensemble_pictures import EnsemblePictures, forest_story, score_names
from weald.estimators.shared.growth import TreeSeed
from weald.inspection.shap.model import TreeModel
from weald.model.forest import Forest
from weald.model.join import tree_apart
from weald.pictures.ensembles.which import TreePlaces
from weald.rows.bags import BagRecord

if TYPE_CHECKING:
    from weald.pictures.ensembles.story import Told

#: what a forest remembers of its training table, only to show trees
_SHOWN = ("_frame_library", "_missing_columns")


class ForestTrees(EnsemblePictures, CodedForest):
    """What a forest tells of its trees one by one."""

    _splitter: ClassVar[Literal["best", "random"]]
    _single_tree: ClassVar[str]

    bags_: BagRecord

    @property
    def estimator(self) -> Estimator:
        """A tree as the forest grows them, not fitted: a single one with the same parameters."""
        from weald.estimators.tree import decision_tree as single_trees

        kind = getattr(single_trees, self._single_tree)
        names = set(kind._get_param_names()) & set(self.get_params(deep=False))
        params = {name: getattr(self, name) for name in names - {"class_weight", "random_state"}}
        tree: Estimator = kind(**params, splitter=self._splitter)
        return tree

    def _shap_model(self) -> TreeModel:
        # Predictions are means over the trees.
        return replace(super()._shap_model(), scale=1.0 / self.forest_.n_trees)

    @property
    def estimator_(self) -> Estimator:
        """The same of a fitted forest."""
        check_is_fitted(self)
        return self.estimator

    @property
    def estimators_(self) -> TreeSequence:
        """The trees, as estimators of their own: made when asked for, on the arrays of the forest."""
        check_is_fitted(self)
        return TreeSequence(self)

    @property
    def estimators_samples_(self) -> list[NDArray[np.int32]]:
        """For each tree the rows it was grown on, ascending, each as often as it was drawn.

        They follow from the seed. A clone of `estimators_[t]`, fitted on the rows of tree t, is that tree
        again, unless there are weights, or something counts rows and takes one as one however often it was
        drawn (`min_samples_leaf`, `min_samples_split`, `cat_penalty` of categories).
        """
        check_is_fitted(self)
        return [self.bags_.rows(t) for t in range(self.forest_.n_trees)]

    @property
    def _n_samples_bootstrap(self) -> int | None:
        """How many rows each tree drew, None for all; tools around scikit-learn know it by this name."""
        check_is_fitted(self)
        return self.bags_.n_draws or None

    def __len__(self) -> int:
        """How many trees the forest has."""
        return len(self.estimators_)

    def __getitem__(self, t: int) -> Estimator:
        """One tree as an estimator."""
        return self.estimators_[t]

    def __iter__(self) -> Iterator[Estimator]:
        """The trees as estimators."""
        return iter(self.estimators_)

    def _tree(self, t: int) -> Estimator:
        """Tree `t` as a fitted single tree."""
        single: AnyEstimator = self.estimator
        single.random_state = TreeSeed.of(self.bags_.seed, t)
        link = "shares" if self._classes_by_output() is not None else "identity"
        shown = {name: vars(self)[name] for name in _SHOWN if name in vars(self)}
        tree = replace(tree_apart(self.forest_, t), link=link)
        single._set_fitted(tree, self.schema_, self._classes_by_output(), shown)
        fitted: Estimator = single
        return fitted

    def _shown_tree(self, t: int) -> Estimator:
        return self._tree(t)

    def _shown_forest(self) -> Forest:
        return self.forest_

    def _tree_places(self) -> TreePlaces:
        return TreePlaces(self.forest_.n_trees)

    def _row_told(self, row: TableLike) -> Told:
        def read(X: TableLike) -> Table:
            return self._read(X)[0]

        names = score_names(getattr(self, "classes_", None), self.forest_.width)
        return forest_story(self, row, self.forest_, self.schema_, read, how="mean", names=names)


class TreeSequence(Sequence[Estimator]):
    """The trees of a forest as estimators, each made when it is asked for."""

    def __init__(self, forest: ForestTrees) -> None:
        self._forest = forest

    def __len__(self) -> int:
        """How many trees."""
        return self._forest.forest_.n_trees

    @overload
    def __getitem__(self, t: int) -> Estimator: ...
    @overload
    def __getitem__(self, t: slice) -> list[Estimator]: ...
    def __getitem__(self, t: int | slice) -> Estimator | list[Estimator]:
        """One tree, or a list of some."""
        places = range(len(self))[t]
        if isinstance(places, range):
            return [self._forest._tree(place) for place in places]
        return self._forest._tree(places)

    def __repr__(self) -> str:
        """How many of what."""
        return f"<{len(self)} trees of a {type(self._forest).__name__}>"
