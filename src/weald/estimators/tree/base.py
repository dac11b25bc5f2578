"""What every tree estimator shares: the steps of `fit`, reading tables at predict, scikit-learn's manners.

`fit` is a list of named steps and assigns attributes last, so an estimator whose fit fails or is
interrupted stays as it was.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from weald.arrays import MonotoneConstraints, RandomState, TableLike, TargetLike, WeightLike
from weald.data.codes import Codes
from weald.data.schema import Schema
from weald.errors import DataError, ParameterError
from weald.estimators.shared.category_shrinkage import shrinkage_of
from weald.estimators.shared.class_weight import Weights
from weald.estimators.shared.coded import Coded, CodedForest
from weald.estimators.shared.fitted import Target
from weald.estimators.shared.growth import Caution, TreeSeed, grow_options, max_columns, with_penalty
from weald.estimators.shared.monotone_constraints import constrained
from weald.estimators.shared.paged import opened
from weald.estimators.shared.state import class_attributes, set_fitted
from weald.estimators.tree.pictures import TreePictures
from weald.estimators.tree.pruning import check_pruning, prune_by
from weald.io.saved_state import SavedState
from weald.model.forest import Forest
from weald.model.predict import decision_path, leaf_nodes
from weald.model.prune import pruning_path
from weald.model.tree_view import TreeView
from weald.parameters import TreeOptions
from weald.pictures.trained_on import frame_library, missing_columns
from weald.rows.growth import Grown, GrowOptions

if TYPE_CHECKING:
    from scipy import sparse
    from sklearn.utils import Tags


class BaseTree(TreePictures, CodedForest):
    """The shared base of `DecisionTreeClassifier` and `DecisionTreeRegressor`.

    A subclass names its record of options and says how it reads the target and how it grows.
    """

    _options: ClassVar[type[TreeOptions]]
    _trains_from_files: ClassVar[bool] = True

    max_features: int | float | str | None
    monotonic_cst: MonotoneConstraints
    random_state: RandomState

    tree_: TreeView
    ccp_alpha_: float

    @abstractmethod
    def _grow(self, codes: Codes, target: Target, grow: GrowOptions) -> Grown:
        """One tree on coded rows."""

    def fit(self, X: TableLike, y: TargetLike | None = None, sample_weight: WeightLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : table
            A pandas, polars or Arrow frame, a NumPy array, a SciPy sparse matrix (what it does not store is
            0) or a list of rows. Missing values are welcome in every column; text and unordered categories
            are split by sets, ordered categories by rank. With `max_bins` also `weald.scan(…)`, a path of
            files or a store: target and weights are then columns of it, by name.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            The target: labels of any type for a classifier, finite numbers for a regressor. With several
            columns one tree learns all of them, each as important as the others.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of at least 0. A row of weight 0 counts as absent, a row of weight 2 as two rows for
            everything but the limits on rows (`min_samples_split`, `min_samples_leaf`).

        Returns
        -------
        self
            The fitted estimator.
        """
        with opened(X, y, sample_weight, self._checked_options(), type(self).__name__) as rows:
            return self._fit(X, self._coded(*rows))

    def _fit(self, X: TableLike, coded: Coded) -> Self:
        owner, target = type(self).__name__, coded.target
        options = cast(TreeOptions, coded.options)

        def grow(weight: Weights | None) -> Grown:
            return self._grow_on(coded, weight)

        grown = grow(target.weight)
        tree = prune_by(options, grown, X, coded.table, target, grow, n_threads=coded.n_threads, owner=owner)
        trained_on: dict[str, Any] = {
            "_frame_library": frame_library(X),
            "_missing_columns": missing_columns(coded.codes, tree.forest),
            "category_shrinkage_": shrinkage_of(coded),
        }
        trained_on |= coded.spent()
        self._set_fitted(tree.forest, coded.schema, target.classes, tree.learned | trained_on)
        return self

    def _checked_options(self) -> Any:
        """The parameters as a validated record; what prunes is checked together."""
        options = super()._checked_options()
        check_pruning(options, type(self).__name__)
        return options

    def _grow_on(
        self,
        coded: Coded,
        weight: Weights | None,
        columns: tuple[int, ...] | None = None,
        *,
        caution: Caution | None = None,
        random_ties: bool = False,
    ) -> Grown:
        """One tree on coded rows with these weights, of these columns alone if they are named.

        `caution`: what else than `cat_penalty` splits by categories have to gain.
        `random_ties`: of equally good columns one by chance.
        """
        limits = self._limits(coded, weight, columns, caution=caution, random_ties=random_ties)
        return self._grow(coded.codes, replace(coded.target, weight=weight), limits)

    def _limits(
        self,
        coded: Coded,
        weight: Weights | None,
        columns: tuple[int, ...] | None = None,
        *,
        caution: Caution | None = None,
        random_ties: bool = False,
    ) -> GrowOptions:
        """How `_grow_on` grows a tree."""
        limits = grow_options(
            coded.options,
            coded.codes,
            weight,
            coded.n_threads,
            coded.monotone,
            columns,
            random_ties=random_ties,
        )
        own = cast(TreeOptions, coded.options).cat_penalty
        if caution is None:
            limits = with_penalty(limits, own)
        elif caution.penalty is None:
            limits = replace(with_penalty(limits, own, caution.chance), free_categories=caution.n_free)
        else:
            limits = replace(limits, category_chance=caution.penalty, free_categories=caution.n_free)
        return self.random_state.applied(limits) if isinstance(self.random_state, TreeSeed) else limits

    def _set_fitted(
        self,
        forest: Forest,
        schema: Schema,
        classes: tuple[NDArray[Any], ...] | None,
        pruning: dict[str, Any] | None = None,
    ) -> None:
        """Assign everything a fit (or a model file) brings, at once; `classes` has the labels by output."""
        n_columns = len(schema.columns)
        n_classes = [1] * forest.width if classes is None else [len(labels) for labels in classes]
        learned: dict[str, Any] = {
            "forest_": forest,
            "schema_": schema,
            "tree_": TreeView(forest, schema, n_classes=n_classes, declared=self.categorical_features),
            "n_outputs_": len(n_classes),
            "max_features_": max_columns(self.max_features, n_columns),
        }
        learned |= class_attributes(classes) | (pruning or {})
        set_fitted(self, learned, schema=schema, forgotten=("pruning_table_", "ccp_alpha_", "io_"))

    def apply(self, X: TableLike) -> NDArray[np.int64]:
        """The leaf that each row comes to.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Node numbers, as in the arrays of `tree_`.
        """
        table, n_threads = self._read(X)
        return leaf_nodes(self.forest_, table, n_threads=n_threads)[:, 0].astype(np.int64)

    def decision_path(self, X: TableLike) -> sparse.csr_matrix:
        """The nodes that each row passes.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_rows, n_nodes)
            1 where the row of the table passes the node.
        """
        table, n_threads = self._read(X)
        return decision_path(self.forest_, table, n_threads=n_threads)

    def get_depth(self) -> int:
        """The splits on the longest way from the root to a leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """How many leaves the tree has."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def cost_complexity_pruning_path(
        self, X: TableLike | None = None, y: TargetLike | None = None, sample_weight: WeightLike | None = None
    ) -> Bunch:
        """The alphas at which pruning cuts, and the impurity that is left after each cut.

        With a table, of the tree that `fit` would grow on it without pruning; the estimator stays as it is.
        Without, of the fitted tree: if that was pruned, the path starts where its pruning ended.

        Parameters
        ----------
        X : table, default=None
            As in `fit`.
        y : array-like of shape (n_rows,), default=None
            The target, if there is a table.
        sample_weight : array-like of shape (n_rows,), default=None
            As in `fit`.

        Returns
        -------
        Bunch
            `ccp_alphas`, from 0 up, and `impurities`: the total impurity of the leaves, per unit of weight.
        """
        if X is None and y is None and sample_weight is None:
            check_is_fitted(self)
            forest = self.forest_
        elif X is None:
            raise DataError("The pruning path needs X with y. Give both, or neither for the fitted tree.")
        else:
            whole = clone(self).set_params(ccp_alpha=0.0, prune=None)
            forest = whole.fit(X, y, sample_weight=sample_weight).forest_
        path = pruning_path(forest)
        return Bunch(ccp_alphas=path.ccp_alphas, impurities=path.impurities)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much the splits on each column lowered the criterion, scaled to add up to 1.

        All zero if the tree has no split that lowered it.
        """
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    def _saved_state(self) -> SavedState:
        """The parts of the fitted model that a file keeps."""
        params = self.get_params(deep=False)
        if isinstance(self.random_state, TreeSeed):
            params["random_state"] = int(self.random_state)  # how its forest grew is no part of the tree
        return SavedState(
            params=params,
            schema=self.schema_,
            forest=self.forest_,
            classes=self._classes_by_output(),
            extra={"ccp_alpha": self.ccp_alpha_} if "ccp_alpha_" in vars(self) else {},
        )

    @classmethod
    def _from_saved_state(cls, state: SavedState) -> Self:
        """The fitted estimator of these parts, which come from a file and may not fit each other."""
        model = cls(**state.params)
        model._checked_options()
        model._check_declared(state.schema)
        alpha = state.extra.get("ccp_alpha")
        if alpha is not None and not isinstance(alpha, float):
            raise ParameterError(f"`ccp_alpha_` must be a number; got {alpha!r}.")
        model._set_fitted(
            state.forest, state.schema, state.classes, {} if alpha is None else {"ccp_alpha_": alpha}
        )
        return model

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect of the tables this takes."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = not constrained(self.monotonic_cst)
        return tags
