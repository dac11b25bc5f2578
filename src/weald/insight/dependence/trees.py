"""Models whose predictions are a function of a sum of trees: which trees, and which function.

AdaBoost for numbers takes a median, and gradient boosting may start from another estimator: these are no such
sums and are asked like any other model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from weald.arrays import Floats, TableLike
from weald.data.table import Table
from weald.engine import thread_count
from weald.engine.explain.dependence import CurveLink
from weald.estimators.adaboost.classifier import AdaBoostClassifier
from weald.estimators.adaboost.trees import BoostedTrees
from weald.estimators.bagging.base import BaseBagging
from weald.estimators.bagging.trees import TreeMembers
from weald.estimators.balanced.base import BalancedMembers
from weald.estimators.balanced.boosting import RUSBoostClassifier
from weald.estimators.balanced.forest import BalancedRandomForestClassifier
from weald.estimators.forest.base import BaseForest
from weald.estimators.gradient_boosting.base import BaseGradientBoosting
from weald.estimators.gradient_boosting.models import TreeRounds
from weald.estimators.shared.fitted import FittedForest
from weald.estimators.xgboost.base import BaseXGB
from weald.estimators.xgboost.classifier import XGBClassifier
from weald.inspection.dependence.curves import TreeSum
from weald.inspection.dependence.moments import Pick
from weald.model.forest import Forest
from weald.model.read import read_aligned

#: links of forests that the core knows on curves: its name, and what raw scores are multiplied by
_LINKS: dict[str, tuple[CurveLink, float]] = {
    "identity": ("identity", 1.0),
    "shares": ("identity", 1.0),
    "logistic": ("logistic", 1.0),
    "half_logistic": ("logistic", 2.0),
    "softmax": ("softmax", 1.0),
    "exp": ("exponential", 1.0),
}


@dataclass(frozen=True, slots=True)
class _Way:
    """What becomes of raw scores, and how the columns of the response are found in it."""

    picks: list[Pick]
    link: CurveLink = "identity"
    factor: float = 1.0
    finish: Callable[[Floats], Floats] | None = None


def tree_sum(
    model: object, X: TableLike, response: str, n_jobs: int | None
) -> tuple[TreeSum, list[Pick]] | None:
    """A fitted model as a sum of trees with a function, and the columns of the response; None if it is none.

    Parameters
    ----------
    model : estimator
        Of any library, fitted.
    X : table
        The rows.
    response : {"predict_proba", "decision_function", "predict", "raw"}
        What is asked of it.
    n_jobs : int or None
        Threads.
    """
    if isinstance(model, BaseXGB):
        found = _boosted(model, X, response)
    elif isinstance(model, BaseGradientBoosting):
        found = _stage_boosted(model, X, response)
    elif isinstance(model, AdaBoostClassifier):
        found = _voted(model, X, response)
    elif isinstance(model, BaseBagging):
        found = _bagged(model, X, response)
    elif isinstance(model, FittedForest):
        found = _grown(model, X, response)
    else:
        return None
    if found is None or not TreeSum.takes(found[0]):
        return None
    forest, table, trees, way = found
    summed = TreeSum(forest, table, trees, thread_count(n_jobs), way.link, way.factor, way.finish)
    return summed, way.picks


_Found = tuple[Forest, Table, tuple[int, int], _Way] | None


def _boosted(model: BaseXGB, X: TableLike, response: str) -> _Found:
    forest = model.forest_
    n_outputs = forest.n_outputs
    linked = response == "predict_proba" or (response == "predict" and not isinstance(model, XGBClassifier))
    if linked and isinstance(model, XGBClassifier):
        several = model.n_outputs_ > 1
        if forest.link in ("logistic", "identity") and n_outputs == 1 and model.n_classes_ == 2:
            way = _Way(_of_two(), "logistic")
        elif forest.link == "softmax":
            way = _Way(_each(n_outputs), "softmax")
        elif several and forest.link in ("logistic", "identity"):
            way = _Way(_each(n_outputs), "logistic")
        else:
            width = n_outputs if several else len(cast("Any", model.classes_))
            way = _Way(_each(width), finish=model._probabilities)
    elif linked and forest.link in _LINKS:
        way = _Way(_each(n_outputs), *_LINKS[forest.link])
    elif linked:
        way = _Way(_each(n_outputs), finish=model._predictions)
    elif (
        response == "decision_function"
        and isinstance(model, XGBClassifier)
        and n_outputs == 2 == model.n_classes_
    ):
        way = _Way(_each(1), finish=_difference)
    else:
        way = _Way(_each(n_outputs))
    return forest, model._aligned(X), model._trees(None), way


def _stage_boosted(model: BaseGradientBoosting, X: TableLike, response: str) -> _Found:
    rounds = model._rounds
    if not isinstance(rounds, TreeRounds) or rounds.init is not None:
        return None
    forest = rounds.forest
    way = _Way(_each(forest.n_outputs))
    if response == "predict_proba":
        link, factor = _LINKS[rounds.link]
        way = _Way(_of_two() if forest.n_outputs == 1 else _each(forest.n_outputs), link, factor)
    table = read_aligned(X, rounds.schema, declared=rounds.declared, owner=type(model).__name__)
    return forest, table, (0, forest.n_trees), way


def _voted(model: AdaBoostClassifier, X: TableLike, response: str) -> _Found:
    members = model._members
    if not isinstance(members, BoostedTrees):
        return None
    forest, n_classes, n_rounds = members.voting, len(model._fitted_classes()), len(model)
    if response == "predict_proba":
        options = model._checked_options()
        factor = 1.0
        if options.probability != "logistic":
            factor = n_classes / (max(1, n_classes - 1) ** 2 * model._scale(n_rounds))
        way = _Way(_each(n_classes), "softmax", factor)
        if isinstance(model, RUSBoostClassifier):
            way = _Way(_each(n_classes), finish=lambda votes: model._probabilities(votes, n_rounds))
    elif response == "decision_function":
        way = _Way(
            _each(n_classes if n_classes > 2 else 1),
            finish=lambda votes: model._decisions(votes, n_rounds).reshape(len(votes), -1),
        )
    else:
        way = _Way(_each(n_classes))
    return forest, members.read(X, type(model).__name__), (0, forest.n_trees), way


def _bagged(model: BaseBagging, X: TableLike, response: str) -> _Found:
    members = model._members
    if not isinstance(members, TreeMembers) or response == "decision_function":
        return None
    forest, n_trees = members.forest, len(members)
    way = _mean(forest, n_trees)
    if isinstance(model, BalancedMembers) and response == "predict_proba":
        corrected = model._corrected
        way = _Way(_each(forest.n_outputs), finish=lambda sums: corrected(sums / n_trees))
    declared = members.template.categorical_features
    table = read_aligned(X, members.schema, declared=declared, owner=type(model).__name__)
    return forest, table, (0, n_trees), way


def _grown(model: FittedForest, X: TableLike, response: str) -> _Found:
    forest = model.forest_
    n_trees = (
        forest.n_trees if isinstance(model, BaseForest) else 1
    )  # forests predict the mean of their trees
    way = _mean(forest, n_trees)
    if isinstance(model, BalancedRandomForestClassifier) and response == "predict_proba":
        if model.plain_forest_ is not None and model.correct_prior:
            return None  # two forests
        by_class, share_map = model._by_class(), model._share_map
        way = _Way(
            _each(forest.n_outputs),
            finish=lambda sums: model._corrected(sums / n_trees, by_class, share_map),
        )
    return forest, model._read(X)[0], (0, forest.n_trees), way


def _each(n: int) -> list[Pick]:
    return [Pick(k) for k in range(n)]


def _mean(forest: Forest, n_trees: int) -> _Way:
    return _Way([Pick(k, 1.0 / n_trees) for k in range(forest.n_outputs)])


def _of_two() -> list[Pick]:
    """Both classes by the probability of the second."""
    return [Pick(0, -1.0, 1.0), Pick(0)]


def _difference(raw: Floats) -> Floats:
    found: Floats = np.ascontiguousarray(raw[:, 1:] - raw[:, :1])
    return found
