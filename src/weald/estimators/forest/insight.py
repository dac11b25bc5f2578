"""What a fitted forest tells of its training rows and its columns: votes, error curve, margins, importances.

TreeBags are not stored, so everything out of bag takes the training table again, in the same order of rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from weald.arrays import ClassWeight, RandomState, TableLike, TargetLike, WeightLike
from weald.data.schema import Schema
from weald.data.table import Table
from weald.data.target import read_weight, restore_labels
from weald.data.training import used_rows
from weald.errors import DataError, ParameterError, outside
from weald.estimators.shared.class_weight import Weights
from weald.estimators.shared.fitted import Target
from weald.estimators.shared.growth import drawn_seed
from weald.estimators.shared.labels import side_by_side
from weald.inspection.groups import column_groups
from weald.inspection.importance import ColumnImportances, criterion_importances, permutation_importances
from weald.inspection.strength import Strength, margins_of, strength_of
from weald.inspection.votes import (
    ErrorOf,
    TrainingRows,
    class_votes,
    error_curve,
    squared_error,
    value_votes,
    wrong_share,
)
from weald.model.forest import Forest
from weald.model.importances import tree_importances
from weald.rows.bags import BagRecord


def _classifies(model: object) -> bool:
    return bool(is_classifier(model))


class ForestInsight:
    """Out-of-bag votes and errors, strength and correlation, and importances of a forest."""

    forest_: Forest
    schema_: Schema
    bags_: BagRecord
    n_outputs_: int
    _read: Callable[..., tuple[Table, int]]
    _read_target: Callable[..., Target]
    _checked_options: Callable[[], Any]
    _n_draws: Callable[..., int]
    _classes_by_output: Callable[[], tuple[NDArray[Any], ...] | None]
    _same_classes: Callable[..., bool]

    def oob_votes(
        self, X: TableLike, y: TargetLike | None = None, *, sample_weight: WeightLike | None = None
    ) -> NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]:
        """The votes of the trees that did not see a row.

        Parameters
        ----------
        X : table
            The training table, its rows in the order of `fit`.
        y : array-like of shape (n_rows,), default=None
            The labels; only needed if `class_weight` gives a class the weight 0.
        sample_weight : array-like of shape (n_rows,), default=None
            The weights of `fit`; only which of them are 0 matters.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_)
            Of a classifier: how many trees vote for each class, that of the largest share in their leaf.
        n_trees, mean : ndarray of shape (n_rows,), ndarray of shape (n_rows,) or (n_rows, n_outputs_)
            Of a regressor: how many trees did not see the row, and the mean of their predictions.

        Warns
        -----
        UserWarning
            If every tree saw some rows, which have no votes (mean: NaN).
        """
        rows, _ = self._training_rows(X, y, sample_weight, target_needed=False)
        if self._classes_by_output() is not None:
            self._check_single_output("oob_votes")
            votes = class_votes(rows)
            _warn_unjudged(rows, votes.sum(axis=1), "have no votes")
            return votes
        n_trees, mean = value_votes(rows)
        _warn_unjudged(rows, n_trees, "have NaN")
        return n_trees, mean[:, 0] if self.n_outputs_ == 1 else mean

    def oob_error_curve(
        self,
        X: TableLike,
        y: TargetLike,
        *,
        metric: Callable[..., float] | None = None,
        sample_weight: WeightLike | None = None,
    ) -> NDArray[np.float64]:
        """The out-of-bag error of the first 1, 2, … trees.

        After each tree, every row that some tree so far did not see is predicted by those trees; all rows
        count alike. With the default metric the last error of a classifier is 1 - `oob_score_`.

        Parameters
        ----------
        X : table
            The training table, its rows in the order of `fit`.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs_)
            The training target.
        metric : callable, default=None
            Your error, called as metric(y_true, y_pred). None: the share of rows predicted wrong (in any
            output), or the mean squared error.
        sample_weight : array-like of shape (n_rows,), default=None
            The weights of `fit`; only which of them are 0 matters.

        Returns
        -------
        ndarray of shape (n_trees,)
            Errors; NaN as long as there is no row to judge.

        Warns
        -----
        UserWarning
            If every tree saw some rows, which are left out.
        """
        rows, target = self._training_rows(X, y, sample_weight)
        error = self._error(metric, "oob_error_curve")
        curve, n_trees = error_curve(rows, target.values, target.n_classes, error)
        _warn_unjudged(rows, n_trees, "are left out")
        return curve

    @available_if(_classifies)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def oob_margins(
        self, X: TableLike, y: TargetLike, *, sample_weight: WeightLike | None = None
    ) -> NDArray[np.float64]:
        """The margin of each row on out-of-bag votes.

        It is the share of votes for the right class minus the largest share of another, from -1 to 1; the
        votes are wrong where it is below 0.

        Parameters
        ----------
        X : table
            The training table, its rows in the order of `fit`.
        y : array-like of shape (n_rows,)
            The training labels.
        sample_weight : array-like of shape (n_rows,), default=None
            The weights of `fit`; only which of them are 0 matters.

        Returns
        -------
        ndarray of shape (n_rows,)
            Margins; NaN for a row of weight 0 and, with a warning, for one that every tree saw.
        """
        rows, target = self._training_rows(X, y, sample_weight)
        self._check_single_output("oob_margins")
        votes = class_votes(rows)
        _warn_unjudged(rows, votes.sum(axis=1), "have NaN")
        return np.where(rows.counting(), margins_of(votes, target.values[:, 0]), np.nan)

    @available_if(_classifies)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def strength(self, X: TableLike, y: TargetLike, *, sample_weight: WeightLike | None = None) -> Strength:
        """How good the trees are, how alike, and the bound of the error that this gives (Breiman, 2001).

        Everything is estimated on out-of-bag votes, for any number of classes.

        Parameters
        ----------
        X : table
            The training table, its rows in the order of `fit`.
        y : array-like of shape (n_rows,)
            The training labels.
        sample_weight : array-like of shape (n_rows,), default=None
            The weights of `fit`; only which of them are 0 matters.

        Returns
        -------
        Strength
            With `strength`, `correlation`, `margin_variance`, `variance_bound` and `bound`.

        Warns
        -----
        UserWarning
            If every tree saw some rows, which are left out.

        Examples
        --------
        >>> import numpy as np
        >>> from weald import RandomForestClassifier
        >>> X = np.arange(60.0)[:, None]
        >>> y = X[:, 0] > 29
        >>> found = RandomForestClassifier(50, random_state=0).fit(X, y).strength(X, y)
        >>> found.strength > 0.9 and found.variance_bound <= found.bound
        True
        """
        rows, target = self._training_rows(X, y, sample_weight)
        self._check_single_output("strength")
        found, votes = strength_of(rows, target.values[:, 0])
        _warn_unjudged(rows, votes.sum(axis=1), "are left out")
        return found

    def permutation_importance(
        self,
        X: TableLike,
        y: TargetLike,
        *,
        groups: Mapping[str, object] | Iterable[object] | None = None,
        metric: Callable[..., float] | None = None,
        n_repeats: int = 1,
        random_state: RandomState = 0,
        sample_weight: WeightLike | None = None,
    ) -> ColumnImportances:
        """How much worse trees predict the rows they did not see when a column is permuted among these.

        A column that no tree splits on has exactly 0; one that tells nothing has about 0. Columns that say
        the same stand in for each other: permute them together, as a group.

        Parameters
        ----------
        X : table
            The training table, its rows in the order of `fit`.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs_)
            The training target.
        groups : dict or list, default=None
            Columns that are permuted together, by name or position: a dict from the group's name to its
            columns, or a list with a column or a list of columns per group. None: every column by itself.
        metric : callable, default=None
            Your error, called as metric(y_true, y_pred) for each tree; of a score give the negative. None:
            the share of rows predicted wrong, so that importances are losses of accuracy, or the mean squared
            error.
        n_repeats : int, default=1
            Permutations of a column in each tree, whose mean is taken.
        random_state : int or RandomState, default=0
            What the permutations start from; None draws anew every time.
        sample_weight : array-like of shape (n_rows,), default=None
            The weights of `fit`; only which of them are 0 matters.

        Returns
        -------
        ColumnImportances
            With `names`, `importances_mean` over trees and its standard error `importances_se`.
        """
        rows, target = self._training_rows(X, y, sample_weight)
        error = self._error(metric, "permutation_importance")
        if not isinstance(n_repeats, Integral) or isinstance(n_repeats, bool) or n_repeats < 1:
            raise ParameterError(
                "`n_repeats` of permutation_importance must be a whole number of at least 1; "
                f"got {n_repeats!r}."
            )
        return permutation_importances(
            rows,
            target.values,
            target.n_classes,
            error,
            column_groups(groups, self.schema_.names),
            n_repeats=int(n_repeats),
            seed=drawn_seed(random_state),
        )

    def criterion_importance(self) -> ColumnImportances:
        """How much the splits on each column lowered the criterion, with standard errors over trees.

        Returns
        -------
        ColumnImportances
            With `names`, `importances_mean`, which is `feature_importances_`, and `importances_se`.
        """
        check_is_fitted(self)
        return criterion_importances(self.forest_, self.schema_.names)

    def importances_by_tree(self) -> NDArray[np.float64]:
        """How much the splits of each tree on each column lowered the criterion.

        Returns
        -------
        ndarray of shape (n_trees, n_features_in_)
            Each tree's add up to 1; zeros for a tree without a split that lowered it.
        """
        check_is_fitted(self)
        return tree_importances(self.forest_)

    def _training_rows(
        self,
        X: TableLike,
        y: TargetLike | None,
        sample_weight: WeightLike | None,
        *,
        target_needed: bool = True,
    ) -> tuple[TrainingRows, Target]:
        """The forest with the table of its fit, and the target; checked as far as can be."""
        table, n_threads = self._read(X)
        options, owner = self._checked_options(), type(self).__name__
        _check_bags(self.bags_, table.n_rows, owner)
        weight: Weights | None = read_weight(sample_weight, n_rows=table.n_rows)
        if target_needed or y is not None:
            target = self._read_target(y, table.n_rows, weight, options)
            self._check_target(target)
        else:
            if _leaves_out_classes(getattr(options, "class_weight", None)):
                raise DataError(
                    f"`class_weight` of {owner} gives a class the weight 0, so which rows the trees saw "
                    "depends on the labels. Give y, the training labels, too."
                )
            target = Target(np.empty((table.n_rows, 0)), None, weight)
        present = used_rows(target.weight)
        return TrainingRows(self.forest_, table, self._told_bags(target), present, n_threads), target

    def _told_bags(self, target: Target) -> BagRecord:
        """The bags, if they can have been drawn from these rows; `target` may be without columns."""
        n_draws, n_rows, n_present = self.bags_.n_draws, len(target.values), target.n_present
        if n_draws not in (0, self._n_draws(self._checked_options(), n_present)):
            raise DataError(
                f"{type(self).__name__} drew {n_draws:,} rows for each tree when it was fitted, and now "
                f"{n_present:,} of {n_rows:,} rows have a weight above 0. Give the table and the "
                "sample_weight that it was fitted with."
            )
        return self.bags_

    def _check_target(self, target: Target) -> None:
        if target.n_outputs != self.n_outputs_:
            raise DataError(
                f"y has {target.n_outputs} outputs, and {type(self).__name__} was fitted on "
                f"{self.n_outputs_}. Give the target that it was fitted on."
            )
        if not self._same_classes(target):
            raise DataError(
                f"The labels in y are not those that {type(self).__name__} was fitted on (`classes_`). Give "
                "the target that it was fitted on, with its rows in the same order."
            )

    def _check_single_output(self, method: str) -> None:
        if self.n_outputs_ > 1:
            raise DataError(
                f"`{method}` of {type(self).__name__} is for one output, and the forest has "
                f"{self.n_outputs_}. Fit a forest for each; oob_error_curve and permutation_importance take "
                "several."
            )

    def _error(self, metric: Callable[..., float] | None, method: str) -> ErrorOf:
        """The metric on numbers: truth and answers, one column per output."""
        classes = self._classes_by_output()
        if metric is None:
            return squared_error if classes is None else wrong_share
        if not callable(metric):
            raise ParameterError(
                f"`metric` of {method} must be a function, called as metric(y_true, y_pred); got {metric!r}."
            )

        def as_given(numbers: NDArray[Any]) -> NDArray[Any]:
            if classes is None:
                return numbers[:, 0] if numbers.shape[1] == 1 else numbers
            labels = [restore_labels(c, column) for c, column in zip(classes, numbers.T, strict=True)]
            return labels[0] if len(labels) == 1 else side_by_side(labels)

        return lambda truth, predicted: float(metric(as_given(truth), as_given(predicted)))


def _check_bags(bags: BagRecord, n_rows: int, owner: str) -> None:
    if not bags.leaves_rows_out:
        raise DataError(
            f"{owner} was fitted with bootstrap=False: every tree saw every row, and none is out of bag. "
            "Fit with bootstrap=True."
        )
    if n_rows != bags.n_rows:
        raise DataError(
            f"X has {n_rows:,} rows, and {owner} was fitted on {bags.n_rows:,}. What is out of bag is told "
            "by the training table: give it, with its rows in the same order."
        )


def _leaves_out_classes(class_weight: ClassWeight) -> bool:
    """Whether some class has the factor 0, so that its rows count as absent."""
    each = class_weight if isinstance(class_weight, list | tuple) else [class_weight]
    return any(isinstance(one, Mapping) and any(factor == 0 for factor in one.values()) for one in each)


def _warn_unjudged(rows: TrainingRows, n_trees: NDArray[np.int64], words: str) -> None:
    lacking = np.flatnonzero(rows.counting() & (n_trees == 0))
    if len(lacking):
        few = ", ".join(str(row) for row in lacking[:5]) + (", …" if len(lacking) > 5 else "")
        warnings.warn(
            f"Every tree saw {len(lacking):,} of the {len(n_trees):,} rows ({few}), which {words}. "
            "Use more trees (n_estimators).",
            UserWarning,
            stacklevel=outside(),
        )
