"""What every forest shares: the steps of `fit`, predictions as means over trees, trees as light views."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from weald.arrays import MonotoneConstraints, TableLike, TargetLike, WeightLike
from weald.data.codes import Codes
from weald.data.schema import Schema
from weald.data.table import Table
from weald.data.training import used_rows
from weald.engine import thread_count
from weald.errors import ParameterError, outside
from weald.estimators.forest.calls import calls
from weald.estimators.forest.insight import ForestInsight
from weald.estimators.forest.options import ForestOptions
from weald.estimators.forest.out_of_bag import OutOfBagSums
from weald.estimators.forest.proximity import ForestProximity
from weald.estimators.forest.trees import ForestTrees
from weald.estimators.forest.uncertainty import ForestUncertainty
from weald.estimators.shared.category_shrinkage import shrinkage_of
from weald.estimators.shared.coded import Coded
from weald.estimators.shared.feature_combinations import combining
from weald.estimators.shared.fitted import Target
from weald.estimators.shared.growth import drawn_seed, grow_options, max_columns, with_penalty
from weald.estimators.shared.monotone_constraints import constrained
from weald.estimators.shared.paged import opened
from weald.estimators.shared.state import class_attributes, set_fitted
from weald.io.saved_state import SavedState
from weald.model.forest import Forest
from weald.model.importances import mean_importances
from weald.model.join import joined
from weald.model.leaf_type import with_leaves_of
from weald.model.predict import decision_path, leaf_nodes, raw_scores
from weald.pictures.trained_on import frame_library, missing_columns
from weald.rows.bags import BagRecord
from weald.rows.growth import GrowOptions, TreeBags

if TYPE_CHECKING:
    from scipy import sparse
    from sklearn.utils import Tags

#: rows a bag counts in 32 bits
_MOST_DRAWS = 2**32 - 1
#: what trees predict for the rows they did not see; only with `oob_score`
_OUT_OF_BAG = ("oob_score_", "oob_decision_function_", "oob_prediction_")


class BaseForest(ForestInsight, ForestProximity, ForestUncertainty, ForestTrees):
    """The shared base of all forests.

    A subclass names its record of options, how trees split, and how it reads the target and grows.
    """

    _options: ClassVar[type[ForestOptions]]
    n_estimators: int
    max_features: int | float | str | None
    monotonic_cst: MonotoneConstraints
    warm_start: bool

    @abstractmethod
    def _grow(
        self, codes: Codes, target: Target, grow: GrowOptions, bags: TreeBags, options: ForestOptions
    ) -> Forest:
        """The trees of some bags on coded rows."""

    @abstractmethod
    def _set_oob_score_and_attributes(
        self, found: OutOfBagSums, target: Target, options: ForestOptions
    ) -> dict[str, Any]:
        """The attributes that tell what trees predict for the rows they did not see, for `fit` to assign."""

    def fit(self, X: TableLike, y: TargetLike | None = None, sample_weight: WeightLike | None = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : table
            A pandas, polars or Arrow frame, a NumPy array, a SciPy sparse matrix (what it does not store is
            0) or a list of rows. Missing values are welcome in every column; text and unordered categories
            are split by sets, ordered categories by rank. With `max_bins` also `weald.scan(…)`, a path of
            files or a store: target and weights are then columns of it, by name.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            The target: labels of any type for a classifier, finite numbers for a regressor.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of at least 0. A row of weight 0 counts as absent.

        Returns
        -------
        self
            The fitted estimator.
        """
        options = self._checked_options()
        self._check_drawing(options)
        with opened(X, y, sample_weight, options, type(self).__name__) as rows:
            return self._fit(X, self._coded(*rows))

    def _fit(self, X: TableLike, coded: Coded) -> Self:
        options, target = cast(ForestOptions, coded.options), coded.target
        past = self._past(options)
        if past is not None and not self._adds_trees(options, coded.schema, target, coded.table.n_rows):
            return self
        record = past.bags_ if past is not None else self._bag_record(options, target, coded.table.n_rows)
        forest = self._grown(coded, record, past)
        learned: dict[str, Any] = {
            "_frame_library": frame_library(X),
            "_missing_columns": missing_columns(coded.codes, forest),
            "category_shrinkage_": shrinkage_of(coded),
        }
        learned |= self._out_of_bag(forest, past, coded.table, record, target, options) | coded.spent()
        self._set_fitted(forest, coded.schema, target.classes, record, learned)
        return self

    def _grown(self, coded: Coded, record: BagRecord, past: Self | None) -> Forest:
        """The trees of all bags, after those that there are."""
        options, n_threads = cast(ForestOptions, coded.options), coded.n_threads
        grow = self._growth(coded)
        grown = [] if past is None else [past.forest_]
        # Closed here, so that an interrupt gives the terminal back at once.
        with closing(calls(grown, options, n_threads)) as parts:
            for first, n_trees in parts:
                bags = record.of_trees(n_trees, first, options.min_weight_fraction_leaf)
                grow = replace(grow, trees_in_all=options.n_estimators - first)
                grown.append(self._grow(coded.codes, coded.target, grow, bags, options))
        return with_leaves_of(joined(grown), options.leaf_dtype)

    def _growth(self, coded: Coded) -> GrowOptions:
        """What shapes every tree."""
        options = coded.options
        limits = grow_options(
            options,
            coded.codes,
            coded.target.weight,
            coded.n_threads,
            coded.monotone,
            splitter=self._splitter,
            random_ties=True,
        )
        return replace(
            with_penalty(limits, getattr(options, "cat_penalty", 0.0)),
            min_weight_leaf=0.0,  # a share of the weight of each tree's own bag
            leaf_values_only=options.ccp_alpha == 0.0,
            **combining(options, coded.schema, coded.codes, type(self).__name__),
        )

    def _check_drawing(self, options: ForestOptions) -> None:
        """Refuse what needs bags where there are none."""
        owner = type(self).__name__
        if options.bootstrap:
            return
        if options.oob_score:
            raise ParameterError(
                f"`oob_score` of {owner} needs bootstrap=True: without it every tree sees every row. "
                "(Out of bag estimation only available if bootstrap=True.)"
            )
        if options.max_samples is not None:
            raise ParameterError(
                f"`max_samples` of {owner} needs bootstrap=True: without it every tree has all rows. "
                "(`max_sample` cannot be set if `bootstrap=False`. Either switch to `bootstrap=True` or set "
                "`max_sample=None`.)"
            )

    def _n_draws(self, options: ForestOptions, n_present: int) -> int:
        """How many of so many rows are drawn for each tree; 0 if every tree has all of them."""
        if not options.bootstrap:
            return 0
        share = options.max_samples
        drawn = n_present if share is None else share
        n_draws = drawn if isinstance(drawn, int) else max(1, round(drawn * n_present))
        if n_draws > _MOST_DRAWS:
            raise ParameterError(
                f"`max_samples` of {type(self).__name__} asks for {n_draws:,} draws for each tree, and there "
                f"may be {_MOST_DRAWS:,}. Use a fraction, or None for as many draws as rows."
            )
        return n_draws

    def _bag_record(self, options: ForestOptions, target: Target, n_rows: int) -> BagRecord:
        """The bags of a new forest: their seed, and how many of which rows are drawn for each tree."""
        n_present = target.n_present
        return BagRecord(
            drawn_seed(options.random_state),
            n_rows,
            self._n_draws(options, n_present),
            n_absent=n_rows - n_present,
            present=used_rows(target.weight),
        )

    def _same_draws(self, options: ForestOptions, target: Target) -> bool:
        """Whether the bags of a new fit would be drawn as those of the last one."""
        return self._n_draws(options, target.n_present) == self.bags_.n_draws

    def _past(self, options: ForestOptions) -> Self | None:
        """The forest of the last fit, if trees are to be added to it."""
        if not options.warm_start or "forest_" not in vars(self):
            return None
        n_past = self.forest_.n_trees
        if options.n_estimators < n_past:
            raise ParameterError(
                f"n_estimators={options.n_estimators} must be larger or equal to the {n_past} trees that "
                f"{type(self).__name__} has, because `warm_start` adds trees. Use warm_start=False to start "
                "anew."
            )
        return self

    def _adds_trees(self, options: ForestOptions, schema: Schema, target: Target, n_rows: int) -> bool:
        """Whether a further fit works on the table of the last one.

        If it does not, trees cannot be added; where none were asked for, the forest may stay as it is.
        """
        owner, width = type(self).__name__, max(1, sum(target.n_classes) or target.n_outputs)
        other = [
            what
            for differs, what in (
                (schema.columns != self.schema_.columns, "columns"),
                (not self._same_classes(target) or self.forest_.width != width, "labels or outputs"),
                (n_rows != self.bags_.n_rows, f"rows ({n_rows:,} instead of {self.bags_.n_rows:,})"),
                (not self._same_draws(options, target), "draws (bootstrap, max_samples, weights)"),
            )
            if differs
        ]
        if options.n_estimators == self.forest_.n_trees:
            stays = (
                f" This table has other {other[0]}: the forest stays that of the last fit." if other else ""
            )
            warnings.warn(
                f"Warm-start fitting without increasing n_estimators does not fit new trees.{stays}",
                UserWarning,
                stacklevel=outside(),
            )
        elif other:
            raise ParameterError(
                f"`warm_start` of {owner} adds trees on the table of the last fit, and this one has "
                f"other {other[0]}. Use warm_start=False to start anew."
            )
        return not other

    def _out_of_bag(
        self,
        forest: Forest,
        past: Self | None,
        table: Table,
        record: BagRecord,
        target: Target,
        options: ForestOptions,
    ) -> dict[str, Any]:
        """What trees predict for the rows they did not see; not looked up again if no tree was added."""
        if not options.oob_score:
            return {}
        if past is not None and forest.n_trees == past.forest_.n_trees and "oob_score_" in vars(past):
            return {name: vars(past)[name] for name in _OUT_OF_BAG if name in vars(past)}
        n_threads = thread_count(options.n_jobs)
        found = OutOfBagSums.of(forest, table, record, target.weight, n_threads=n_threads)
        return self._set_oob_score_and_attributes(found, target, options)

    def _same_classes(self, target: Target) -> bool:
        before = self._classes_by_output()
        if before is None or target.classes is None:
            return before is target.classes is None
        return len(before) == len(target.classes) and all(
            np.array_equal(a, b) for a, b in zip(before, target.classes, strict=True)
        )

    def _set_fitted(
        self,
        forest: Forest,
        schema: Schema,
        classes: tuple[NDArray[Any], ...] | None,
        bags: BagRecord,
        learned: dict[str, Any] | None = None,
    ) -> None:
        """Assign everything a fit (or a model file) brings, at once."""
        n_columns = len(schema.columns)
        found: dict[str, Any] = {
            "forest_": forest,
            "schema_": schema,
            "bags_": bags,
            "n_outputs_": forest.width if classes is None else len(classes),
            "max_features_": max_columns(self.max_features, n_columns),
        }
        found |= class_attributes(classes) | (learned or {})
        set_fitted(self, found, schema=schema, forgotten=(*_OUT_OF_BAG, "io_"))

    def _raw_scores(self, X: TableLike) -> NDArray[np.float64]:
        """The mean over trees of each row's leaf values: (rows, outputs)."""
        table, n_threads = self._read(X)
        scores = raw_scores(self.forest_, table, n_threads=n_threads)
        scores /= self.forest_.n_trees
        return scores

    def apply(self, X: TableLike) -> NDArray[np.int64]:
        """The leaf that each row comes to in each tree.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows, n_trees)
            Node numbers, counted from the root of the tree.
        """
        table, n_threads = self._read(X)
        return leaf_nodes(self.forest_, table, n_threads=n_threads).astype(np.int64)

    def decision_path(self, X: TableLike) -> tuple[sparse.csr_array, NDArray[np.int64]]:
        """The nodes that each row passes, in all trees.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        indicator : scipy.sparse.csr_matrix of shape (n_rows, n_nodes)
            1 where the row of the table passes the node.
        n_nodes_ptr : ndarray of shape (n_trees + 1,)
            The columns from n_nodes_ptr[t] to n_nodes_ptr[t + 1] are those of tree t.
        """
        table, n_threads = self._read(X)
        return decision_path(self.forest_, table, n_threads=n_threads), self.forest_.tree_start.copy()

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much the splits on each column lowered the criterion: the mean over trees, adding up to 1.

        All zero if no tree has a split that lowered it.
        """
        check_is_fitted(self)
        return mean_importances(self.forest_)

    def _saved_state(self) -> SavedState:
        """The parts of the fitted model that a file keeps."""
        params = self.get_params(deep=False)
        if callable(params["oob_score"]):
            params["oob_score"] = True  # a metric of the user's own is no part of the model
        bags = self.bags_
        extra: dict[str, int | float | str] = {
            "seed": bags.seed,
            "n_rows": bags.n_rows,
            "n_draws": bags.n_draws,
        }
        if bags.n_absent:
            extra["n_absent"] = bags.n_absent
        return SavedState(
            params=params,
            schema=self.schema_,
            forest=self.forest_,
            classes=self._classes_by_output(),
            extra=extra,
        )

    @classmethod
    def _from_saved_state(cls, state: SavedState) -> Self:
        """The fitted estimator of these parts, which come from a file and may not fit each other."""
        model = cls(**state.params)
        model._checked_options()
        model._check_declared(state.schema)
        names = ("seed", "n_rows", "n_draws", "n_absent")
        extra = {"n_absent": 0} | state.extra
        numbers = [extra.get(name) for name in names]
        if not all(type(number) is int and 0 <= number < 2**62 for number in numbers):
            raise ParameterError("The bags of the forest are not told by whole numbers of at least 0.")
        seed, n_rows, n_draws, n_absent = (int(number) for number in numbers if number is not None)
        if n_draws > _MOST_DRAWS or n_absent > n_rows:
            raise ParameterError("The bags of the forest have more draws or rows than there can be.")
        bags = BagRecord(seed, n_rows, n_draws, n_absent)
        model._set_fitted(state.forest, state.schema, state.classes, bags)
        return model

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect of the tables this takes."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = not constrained(self.monotonic_cst)
        return tags
