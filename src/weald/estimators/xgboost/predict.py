"""Reading a fitted booster: raw scores of some rounds, leaves, stages, importances, the best round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from weald.arrays import ColumnLike, Floats, TableLike
from weald.boosting.links import apply_link
from weald.data.schema import Schema
from weald.data.table import Table
from weald.engine import thread_count
from weald.errors import ParameterError, WealdError, nearest, told
from weald.estimators.shared.tree_shap import TreeShap
from weald.estimators.xgboost.options import (
    IMPORTANCE_TYPES,
    ReadingOptions,
    XGBOptions,
    read_reading_options,
)
from weald.estimators.xgboost.rows import aligned_table, check_margin, read_margin
from weald.estimators.xgboost.trees import BoosterTrees
from weald.inspection.shap.model import TreeModel, names_of_outputs
from weald.model.forest import Forest
from weald.model.importances import column_importances
from weald.model.predict import add_tree_scores, leaf_nodes, raw_scores, staged_scores


class BoostedPredictions(BoosterTrees, TreeShap):
    """What a fitted booster can be asked, whatever it predicts."""

    forest_: Forest
    schema_: Schema
    n_rounds_: int
    n_outputs_: int
    _best: tuple[int, float] | None
    _options: Callable[[], XGBOptions]

    def _raw_scores(
        self,
        X: TableLike,
        *,
        validate_features: bool = True,
        base_margin: ColumnLike | None = None,
        iteration_range: tuple[int, int] | None = None,
    ) -> Floats:
        """Raw scores of the asked rounds: (n_rows, n_outputs)."""
        check_is_fitted(self)
        options = read_reading_options(type(self).__name__, self)
        table = self._aligned(X, options, validate_features=validate_features)
        trees, n_threads = self._trees(iteration_range), thread_count(options.n_jobs)
        margin = read_margin(base_margin, table.n_rows)
        if margin is None:
            return raw_scores(self.forest_, table, n_threads=n_threads, trees=trees)
        check_margin(margin, self.forest_.n_outputs)
        scores = margin.copy()
        add_tree_scores(self.forest_, table, scores, *trees, n_threads=n_threads)
        return scores

    def _shap_model(self) -> TreeModel:
        check_is_fitted(self)
        options = read_reading_options(type(self).__name__, self)
        classes = getattr(self, "classes_", None)
        return TreeModel(
            self.forest_,
            self.schema_,
            read=lambda X: self._aligned(X, options),
            n_threads=thread_count(options.n_jobs),
            owner=type(self).__name__,
            trees=self._trees(None),
            output_names=names_of_outputs(None if classes is None else (classes,), self.forest_.n_outputs),
        )

    def _predictions(self, raw: Floats) -> Floats:
        """Raw scores through the link: (n_rows, n_outputs)."""
        predicted = apply_link(self.forest_.link, raw)
        return predicted.reshape(len(raw), -1)

    def _trees(self, iteration_range: tuple[int, int] | None) -> tuple[int, int]:
        """The trees of some rounds; by default those up to the best round."""
        first, last = 0, self._n_used()
        if iteration_range is not None:
            first, last = self._checked_range(iteration_range)
        rounds = self.forest_.tree_round
        return int(np.searchsorted(rounds, first)), int(np.searchsorted(rounds, last))

    def _n_used_trees(self) -> int:
        return self._trees(None)[1]

    def _n_used(self) -> int:
        """How many rounds predictions use unless others are asked for."""
        return self.n_rounds_ if self._best is None else min(self._best[0] + 1, self.n_rounds_)

    def _checked_range(self, asked: object) -> tuple[int, int]:
        """(0, 0) means all rounds, as in xgboost."""
        pair = tuple(asked) if isinstance(asked, tuple | list | np.ndarray) else ()
        if len(pair) != 2 or not all(isinstance(n, Integral) for n in pair):
            raise ParameterError(
                f"`iteration_range` must be a pair (first, last) of whole numbers; got {told(asked)}. "
                "Use (0, 10) for the first ten rounds."
            )
        first, last = int(pair[0]), int(pair[1]) or self.n_rounds_
        if not 0 <= first < last <= self.n_rounds_ and (first, last) != (0, 0):
            raise ParameterError(
                f"`iteration_range` is {(first, last)}, and the model has the rounds 0 to "
                f"{self.n_rounds_ - 1}. Use a range inside (0, {self.n_rounds_})."
            )
        return first, last

    def apply(self, X: TableLike, iteration_range: tuple[int, int] | None = None) -> NDArray[np.int64]:
        """The leaf that each row comes to in each tree.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.
        iteration_range : (int, int), default=None
            The rounds [first, last); None for those that `predict` uses.

        Returns
        -------
        ndarray of shape (n_rows, n_trees)
            Node numbers in preorder, from 0 in each tree.
        """
        check_is_fitted(self)
        return self._leaf_nodes(X, self._trees(iteration_range))

    def _leaf_nodes(
        self, X: TableLike, trees: tuple[int, int], *, validate_features: bool = True
    ) -> NDArray[np.int64]:
        """The leaf of each row in trees [first, last)."""
        options = read_reading_options(type(self).__name__, self)
        table = self._aligned(X, options, validate_features=validate_features)
        leaves = leaf_nodes(self.forest_, table, n_threads=thread_count(options.n_jobs), trees=trees)
        return leaves.astype(np.int64)

    def _aligned(
        self, X: TableLike, options: ReadingOptions | None = None, *, validate_features: bool = True
    ) -> Table:
        """A user's table in the columns of the model."""
        owner = type(self).__name__
        options = options or read_reading_options(owner, self)
        return aligned_table(X, self.schema_, options, owner, validate_features=validate_features)

    def _staged_scores(self, X: TableLike) -> Iterator[Floats]:
        """Raw scores after each round that `predict` uses: (n_rows, n_outputs), a new array each."""
        check_is_fitted(self)
        options = read_reading_options(type(self).__name__, self)
        table = self._aligned(X, options)
        ends = np.searchsorted(self.forest_.tree_round, np.arange(1, self._n_used() + 1)).tolist()
        yield from staged_scores(self.forest_, table, ends, n_threads=thread_count(options.n_jobs))

    # ------------------------------------------------------------------ what was learnt

    def importances(self, importance_type: str | None = None) -> NDArray[np.float64]:
        """How much the trees that `predict` uses rely on each column.

        Parameters
        ----------
        importance_type : {"gain", "weight", "cover", "total_gain", "total_cover"}, default=None
            The mean gain of the splits on a column, how many there are, their mean cover, or the sums of gain
            and cover. None for the estimator's `importance_type`.

        Returns
        -------
        ndarray of shape (n_features_in_,)
            0 for a column without splits.
        """
        check_is_fitted(self)
        kind = self._options().importance_type if importance_type is None else importance_type
        if kind not in IMPORTANCE_TYPES:
            close = nearest(str(kind), IMPORTANCE_TYPES)
            hint = f"Did you mean {close!r}?" if close else f"Use one of {', '.join(IMPORTANCE_TYPES)}."
            raise ParameterError(f"There is no importance {kind!r}. {hint}")
        return column_importances(self.forest_, kind, self._trees(None))

    def get_score(self, importance_type: str = "gain") -> dict[str, float]:
        """`importances` by column name, of the columns that have a split.

        Parameters
        ----------
        importance_type : {"gain", "weight", "cover", "total_gain", "total_cover"}, default="gain"
            What to measure.

        Returns
        -------
        dict
            Column name (as text) to importance.
        """
        values = self.importances(importance_type)
        used = self.importances("weight") > 0
        return {str(self.schema_.names[j]): float(values[j]) for j in np.flatnonzero(used).tolist()}

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The importances of the columns by `importance_type`, scaled to add up to 1; 0 without splits."""
        values = self.importances()
        total = values.sum()
        return values / total if total > 0 else values

    @property
    def best_iteration(self) -> int:
        """The best round, from 0; only with early stopping."""
        return int(self._best_of("best_iteration")[0])

    @property
    def best_score(self) -> float:
        """The metric that decided early stopping, in the best round; only with early stopping."""
        return float(self._best_of("best_score")[1])

    def _best_of(self, name: str) -> tuple[int, float]:
        check_is_fitted(self)
        if self._best is None:
            raise AttributeError(f"`{name}` is only defined when early stopping is used.")
        return self._best

    @property
    def n_estimators_(self) -> int:
        """How many rounds predictions use: up to the best one, if training stopped early."""
        check_is_fitted(self)
        return self._n_used()

    @property
    def intercept_(self) -> Floats:
        """The prediction before the first tree, in the terms of `base_score`."""
        check_is_fitted(self)
        base = self.forest_.base_score
        if self.forest_.link == "softmax":
            return base.copy()
        return np.asarray(apply_link(self.forest_.link, base[None, :]), np.float64).reshape(-1)

    def get_num_boosting_rounds(self) -> int:
        """How many rounds `fit` would train: `n_estimators`, 100 by default."""
        return int(self._options().n_estimators or 0)

    def evals_result(self) -> dict[str, dict[str, list[float]]]:
        """The learning curves.

        Returns
        -------
        dict
            `{set name: {metric name: [value of each round]}}`; sets are called "validation_0", … and
            "held_out".
        """
        check_is_fitted(self)
        found: dict[str, dict[str, list[float]]] | None = getattr(self, "evals_result_", None)
        if found is None:
            raise WealdError(
                "There are no learning curves: no set was measured in training, or the model comes from a "
                "file. Give fit(..., eval_set=[(X, y)])."
            )
        return found
