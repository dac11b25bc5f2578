"""Which trees AdaBoost grows how: plain stumps on dense numbers by their own search, others by the grower."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from weald.adaboost.records import MemberRows
from weald.adaboost.stumps import Stumps
from weald.estimators.adaboost.trees import TreeLearner, in_shares
from weald.estimators.shared.coded import Coded
from weald.estimators.shared.growth import criterion_name
from weald.estimators.tree.base import BaseTree
from weald.model.forest import Forest
from weald.parameters import ClassificationTreeOptions, GrowthOptions, TreeOptions

#: more classes than that go to the grower: the search keeps sums by class for every column at once
MOST_CLASSES = 32

#: what a tree's parameters must be for it to be a plain stump: there is one split, and the best is taken
_PLAIN: dict[str, Any] = {
    "splitter": "best",
    "max_depth": 1,
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "min_weight_fraction_leaf": 0.0,
    "max_leaf_nodes": None,
    "min_impurity_decrease": 0.0,
    "class_weight": None,
    "ccp_alpha": 0.0,
}


def tree_learner(template: BaseTree, coded: Coded, seed: int, cat_penalty: float | str) -> TreeLearner:
    """What grows the trees of a fit; the trees do not depend on which it is."""
    plain = _is_plain_stump(coded.options) and coded.monotone is None
    general = TreeLearner(template, coded, seed, cat_penalty)
    if not plain or general.varies or coded.target.n_outputs > 1:
        return general
    if coded.target.n_classes[0] > MOST_CLASSES:
        return general
    if any(coded.codes.is_sparse(j) for j in range(coded.codes.n_columns)):
        return general
    penalty = cast(TreeOptions, coded.options).cat_penalty if isinstance(cat_penalty, str) else cat_penalty
    if penalty and any(column.kind == "categorical" for column in coded.schema.columns):
        return general
    return StumpLearner(template, coded, seed)


def _is_plain_stump(options: GrowthOptions) -> bool:
    return isinstance(options, ClassificationTreeOptions) and all(
        getattr(options, name) == value for name, value in _PLAIN.items()
    )


class StumpLearner(TreeLearner):
    """Finds the best stump of every round without sorting rows anew.

    Parameters
    ----------
    template : DecisionTreeClassifier
        A plain stump.
    coded : Coded
        The rows.
    seed : int
        What the seeds of trees start from.
    """

    def __init__(self, template: BaseTree, coded: Coded, seed: int) -> None:
        super().__init__(template, coded, seed, cat_penalty=0.0)
        labels = np.ascontiguousarray(coded.target.values[:, 0], np.int32)
        self._criterion = criterion_name(coded.options.criterion)
        n_classes = coded.target.n_classes[0]
        self._stumps = Stumps(coded.codes, labels, n_classes, n_threads=coded.n_threads)
        self._last: tuple[Forest, NDArray[np.int32]] | None = None

    def fit(self, training: MemberRows) -> Forest:
        """A stump of one round."""
        forest, predicted = self._stumps.grow(training.units, self._criterion)
        forest = forest if training.counted else in_shares(forest)
        self._last = forest, predicted
        return forest

    def predicted(self, member: Forest) -> NDArray[Any]:
        """What a stump predicts for every row."""
        if self._last is not None and self._last[0] is member:
            return self._last[1]
        return super().predicted(member)
