"""The trees of a fitted model, wherever its family keeps them, with the way in which it reads tables."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from weald.arrays import AnyEstimator, TableLike
from weald.data.rows import take_rows
from weald.data.schema import Schema
from weald.data.table import Table
from weald.engine import thread_count
from weald.errors import DataTypeError, WealdError, told
from weald.estimators.xgboost.native.booster import Booster
from weald.model.forest import COMBINATION, NUMERIC, Forest
from weald.model.predict import leaf_nodes
from weald.model.read import read_aligned


@dataclass(frozen=True, slots=True, eq=False)
class ModelTrees:
    """Trees that a model predicts by.

    `alike` tells whether they are drawn alike, as those of forests and bags, so that what differs between
    them is chance; rounds of boosting are not.
    """

    model: AnyEstimator  # the estimator that has them, which another may stand around
    forest: Forest
    trees: tuple[int, int]  # [first, last): a booster that stopped early does not use all
    schema: Schema
    read: Callable[[TableLike], Table]
    n_threads: int
    alike: bool
    alone: bool = True  # whether nothing but the trees says what is predicted

    @property
    def n_trees(self) -> int:
        """How many trees the model predicts by."""
        return self.trees[1] - self.trees[0]

    def splits(self) -> NDArray[np.int32]:
        """The inner nodes of these trees, by their place among all inner nodes."""
        start = self.forest.tree_start
        slot = self.forest.slot[start[self.trees[0]] : start[self.trees[1]]]
        return slot[slot >= 0]

    def columns_read(self) -> NDArray[np.bool_]:
        """Whether some split reads each column."""
        forest, splits = self.forest, self.splits()
        found = np.zeros(forest.n_columns, np.bool_)
        found[forest.column[splits][forest.kind[splits] != COMBINATION]] = True
        for side in forest.side[splits][forest.kind[splits] == COMBINATION].tolist():
            found[forest.combination_column[slice(*forest.combination_start[side : side + 2])]] = True
        return found

    def thresholds(self, column: int) -> NDArray[np.float64] | None:
        """The thresholds of the splits on a column, ascending, each once; levels by rank from 1.

        None where sums of columns are split: every value of such a column may count.
        """
        forest, splits = self.forest, self.splits()
        if (forest.kind[splits] == COMBINATION).any():
            return None
        mine = splits[(forest.column[splits] == column) & (forest.kind[splits] == NUMERIC)]
        return np.unique(forest.threshold[mine])

    def leaves(self, table: Table) -> NDArray[np.int32]:
        """The leaf of each row in each tree; the table is one that `read` gave."""
        return leaf_nodes(self.forest, table, n_threads=self.n_threads, trees=self.trees)


def trees_of(model: object) -> ModelTrees | None:
    """The trees of a fitted model of weald's; None if it is made of something else."""
    if not type(model).__module__.startswith("weald."):
        return None
    fitted, own, owner = cast(Any, model), vars(model), type(model).__name__
    n_threads = thread_count(own.get("n_jobs"))
    forest = own.get("forest_")
    if isinstance(forest, Forest):
        every = (0, forest.n_trees)
        if hasattr(fitted, "_aligned"):  # of xgboost's family
            used = fitted._trees(None)
            return ModelTrees(fitted, forest, used, fitted.schema_, fitted._aligned, n_threads, False)
        starts = getattr(own.get("_model_"), "init", None)  # gradient boosting, from another model on
        return ModelTrees(
            fitted,
            forest,
            every,
            fitted.schema_,
            lambda X: fitted._read(X)[0],
            n_threads,
            alike="bags_" in own,
            alone=starts is None,
        )
    members: Any = own.get("_members")
    forest, schema = getattr(members, "forest", None), getattr(members, "schema", None)
    if isinstance(forest, Forest) and isinstance(schema, Schema):
        declared = members.template.categorical_features

        def read(X: TableLike) -> Table:
            return read_aligned(X, schema, declared=declared, owner=owner)

        alike = not hasattr(members, "weights")  # AdaBoost's trees have them
        return ModelTrees(fitted, forest, (0, forest.n_trees), schema, read, n_threads, alike)
    inner = own.get("estimator_")  # of a threshold, of calibration, of resampled rows
    return None if inner is None else trees_of(inner)


def deciding_trees(model: object) -> ModelTrees | None:
    """The trees of a model that predicts by them alone, so that only what they read can matter."""
    found = trees_of(model)
    return found if found is not None and found.alone else None


def need_trees(model: object, asks: str, way_out: str) -> ModelTrees:
    """The trees of a model, or an error that says what lacks."""
    found = trees_of(model)
    if found is None:
        raise DataTypeError(
            f"{asks} is for weald's models that are made of trees, and {type(model).__name__} is not. "
            f"{way_out}"
        )
    return found


def fitted_model(model: object, asks: str) -> Any:
    """The fitted estimator that a user gave, or that stands behind a `Booster`."""
    if isinstance(model, type) or not hasattr(model, "predict"):
        raise DataTypeError(f"{asks} needs a fitted estimator; got {told(model)}. Give one after fit(X, y).")
    if isinstance(model, Booster):
        return model._fitted()
    if hasattr(model, "fit"):
        check_is_fitted(model)
    return model


def predicts_tables(model: object, table: Table) -> bool:
    """Whether a model predicts tables that weald has read: not if members are of other libraries."""
    if not type(model).__module__.startswith("weald."):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            cast(Any, model).predict(take_rows(table, np.zeros(1, np.int64)))
        except (ValueError, TypeError, AttributeError, WealdError):
            return False
    return True
