"""Which trees AdaBoost grows how: stumps on dense columns by a search of their own, others by the grower."""

from __future__ import annotations

from weald.estimators.adaboost_trees import TreeLearner
from weald.estimators.base import BaseTree, Coded


def tree_learner(template: BaseTree, coded: Coded, seed: int) -> TreeLearner:
    """What grows the trees of a fit."""
    return TreeLearner(template, coded, seed)
