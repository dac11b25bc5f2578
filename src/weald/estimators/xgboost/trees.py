"""The trees of a booster one by one: light views on its forest, which show themselves as single trees do."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from weald.arrays import CategoricalFeatures, Floats, TableLike
from weald.data.schema import Schema
from weald.data.table import Table
from weald.estimators.shared.ensemble_pictures import EnsemblePictures, forest_story, score_names
from weald.estimators.tree.pictures import TreePictures
from weald.model.forest import Forest
from weald.model.join import tree_apart
from weald.model.predict import leaf_nodes, raw_scores
from weald.model.tree_view import TreeView
from weald.pictures.ensembles.which import TreePlaces, output_labels

if TYPE_CHECKING:
    from weald.pictures.ensembles.story import Told


class BoosterTree(TreePictures):
    """One tree of a booster: a view that shows itself, and tells what it adds to rows.

    Its arrays are those of the forest. `model[t]` of a fitted `XGBClassifier` gives one.
    """

    categorical_features: CategoricalFeatures = None
    #: a tree of gradients has no criterion of its own: pictures show gain and cover
    criterion = "gain"

    def __init__(self, model: BoosterTrees, number: int) -> None:
        places = model._tree_places()
        forest = tree_apart(model.forest_, number)
        weight = float(forest.tree_weight[0])
        self._model, self.number = model, number
        self.said = places.said(number) or "its only tree"
        self.round = int(model.forest_.tree_round[number])
        self.output = int(model.forest_.tree_output[number])
        self.schema_ = model.schema_
        #: as the booster remembers them, only to show trees
        self._missing_columns = vars(model).get("_missing_columns")
        self._frame_library = vars(model).get("_frame_library")
        self.forest_ = replace(
            forest,
            link="identity",
            base_score=np.zeros(forest.width),
            tree_output=np.zeros(1, np.int32),
            tree_weight=np.ones(1),
            tree_round=np.zeros(1, np.int32),
            value=forest.value if weight == 1 else weight * forest.value,
        )

    @property
    def tree_(self) -> TreeView:
        """The tree under scikit-learn's names."""
        return TreeView(self.forest_, self.schema_, n_classes=[1] * self.forest_.width)

    def _aligned(self, X: TableLike) -> Table:
        return self._model._aligned(X)

    def apply(self, X: TableLike) -> NDArray[np.int64]:
        """The leaf each row comes to, by node number."""
        return leaf_nodes(self.forest_, self._aligned(X))[:, 0].astype(np.int64)

    def predict(self, X: TableLike) -> Floats:
        """What the tree adds to the raw scores of each row: (n_rows,), or (n_rows, n_outputs) of several."""
        found = raw_scores(self.forest_, self._aligned(X))
        return found[:, 0] if found.shape[1] == 1 else found

    def get_depth(self) -> int:
        """The splits on the longest way from the root to a leaf."""
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """How many leaves."""
        return len(self.forest_.value)

    def _repr_html_(self) -> str:
        from weald.pictures.html import to_html

        return to_html(self)

    def __repr__(self) -> str:
        """Which tree of what."""
        return f"<{self.said} of {type(self._model).__name__}>"


class BoosterTreeSequence(Sequence[BoosterTree]):
    """The trees of a booster, each made when it is asked for."""

    def __init__(self, model: BoosterTrees) -> None:
        self._model = model

    def __len__(self) -> int:
        """How many trees."""
        return self._model.forest_.n_trees

    @overload
    def __getitem__(self, t: int) -> BoosterTree: ...
    @overload
    def __getitem__(self, t: slice) -> list[BoosterTree]: ...
    def __getitem__(self, t: int | slice) -> BoosterTree | list[BoosterTree]:
        """One tree, or a list of some."""
        places = range(len(self))[t]
        if isinstance(places, range):
            return [BoosterTree(self._model, place) for place in places]
        return BoosterTree(self._model, places)

    def __repr__(self) -> str:
        """How many of what."""
        return f"<{len(self)} trees of a {type(self._model).__name__}>"


class BoosterTrees(EnsemblePictures):
    """What a fitted booster tells of its trees one by one."""

    forest_: Forest
    schema_: Schema

    @property
    def estimators_(self) -> BoosterTreeSequence:
        """The trees as light views, in the order of their rounds: made when asked for, on the forest."""
        check_is_fitted(self)
        return BoosterTreeSequence(self)

    # No __len__: NumPy would take a list of models for a table of their trees.
    def __getitem__(self, tree: int | tuple[object, ...]) -> BoosterTree:
        """One tree as a view: by its number, or by (round, class)."""
        check_is_fitted(self)
        if isinstance(tree, int | np.integer) and not isinstance(tree, bool):
            return self.estimators_[int(tree)]  # an IndexError ends a loop over numbers
        return BoosterTree(self, self._tree_places().number(tree, type(self).__name__))

    def __iter__(self) -> Iterator[BoosterTree]:
        """The trees as views."""
        return iter(self.estimators_)

    @abstractmethod
    def _aligned(self, X: TableLike) -> Table:
        """A user's table in the columns of the model."""

    def _n_used_trees(self) -> int:
        """How many trees predictions use."""
        return self.forest_.n_trees

    def _shown_tree(self, t: int) -> BoosterTree:
        return BoosterTree(self, t)

    def _shown_forest(self) -> Forest:
        return self.forest_

    def _tree_places(self) -> TreePlaces:
        forest = self.forest_
        labels = output_labels(getattr(self, "classes_", None), forest.n_outputs)
        # A tree that speaks for all outputs is of none of them.
        labels = labels if forest.width == 1 else ()
        return TreePlaces(forest.n_trees, forest.tree_round, forest.tree_output, labels)

    def _row_told(self, row: TableLike) -> Told:
        def start(X: TableLike) -> Floats:
            return self.forest_.base_score[np.newaxis]

        return forest_story(
            self,
            row,
            self.forest_,
            self.schema_,
            self._aligned,
            how="sum",
            names=score_names(getattr(self, "classes_", None), self.forest_.n_outputs),
            start=start,
            n_used=self._n_used_trees(),
        )
