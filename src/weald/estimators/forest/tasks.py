"""What forests learn and predict by task: labels with their shares, or numbers."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from weald.arrays import TableLike, TargetLike
from weald.data.codes import Codes
from weald.data.target import read_labels, read_target, restore_labels
from weald.estimators.forest.base import BaseForest
from weald.estimators.forest.options import (
    ClassificationForestOptions,
    ForestOptions,
    RegressionForestOptions,
)
from weald.estimators.forest.out_of_bag import OutOfBagSums
from weald.estimators.shared.class_weight import Weights, weigh_by_class, without_absent
from weald.estimators.shared.fitted import Target
from weald.estimators.shared.labels import LabelPredictions, most_frequent, side_by_side, split_shares
from weald.model.forest import Forest
from weald.model.prune import prune_trees
from weald.parameters import GrowthOptions
from weald.rows.growth import GrowOptions, TreeBags
from weald.rows.memory import grow_classification_tree, grow_regression_tree


class ForestClassifier(LabelPredictions, BaseForest):
    """The shared base of forests that classify."""

    _options = ClassificationForestOptions
    _single_tree = "DecisionTreeClassifier"

    def _read_target(
        self, y: TargetLike | None, n_rows: int, weight: Weights | None, options: GrowthOptions
    ) -> Target:
        """Labels as numbers, the labels themselves, and weights times the factors of the classes."""
        options = cast(ClassificationForestOptions, options)
        owner = type(self).__name__
        outputs = read_labels(y, n_rows=n_rows, estimator=owner)
        outputs = [without_absent(found, weight) for found in outputs]
        if not self._balances_bags(options):
            weight = weigh_by_class(options.class_weight, owner, outputs, weight)
        numbers = np.stack([found.indices for found in outputs], axis=1)
        return Target(numbers, tuple(found.classes for found in outputs), weight)

    def _balances_bags(self, options: ForestOptions) -> bool:
        """Whether classes are made equally heavy in the rows of every tree."""
        return cast(ClassificationForestOptions, options).class_weight == "balanced_subsample"

    def _grow(
        self,
        codes: Codes,
        target: Target,
        grow: GrowOptions,
        bags: TreeBags,
        options: ForestOptions,
    ) -> Forest:
        """The trees of some bags."""
        balance = self._balances_bags(options)
        grown = grow_classification_tree(
            codes, target.values, target.n_classes, target.weight, grow, bags, balance=balance
        )
        return prune_trees(grown.forest, grown.node_value, options.ccp_alpha)

    def _set_oob_score_and_attributes(
        self, found: OutOfBagSums, target: Target, options: ForestOptions
    ) -> dict[str, Any]:
        """The out-of-bag shares and their score."""
        from sklearn.metrics import accuracy_score

        assert target.classes is not None
        shares = split_shares(found.means(), target.n_classes)
        judged = found.judged
        truth = [restore_labels(c, v[judged]) for c, v in zip(target.classes, target.values.T, strict=True)]
        predicted = [
            restore_labels(c, most_frequent(each[judged]))
            for c, each in zip(target.classes, shares, strict=True)
        ]
        y_true, y_pred = (x[0] if len(x) == 1 else side_by_side(x) for x in (truth, predicted))
        if not judged.any():
            score = np.nan  # `means` has warned of every row
        elif callable(options.oob_score):
            score = options.oob_score(y_true, y_pred)
        elif len(truth) == 1:
            score = accuracy_score(y_true, y_pred)
        else:
            score = float(np.mean((y_true == y_pred).all(axis=1)))
        return {"oob_score_": float(score), "oob_decision_function_": _by_output(shares)}


def _by_output(shares: list[NDArray[np.float64]]) -> NDArray[np.float64] | list[NDArray[np.float64]]:
    """Shares of one output, or of several that have as many classes each, in scikit-learn's array.

    That has the outputs last. Outputs that differ in their number of classes stay a list.
    """
    if len(shares) == 1:
        return shares[0]
    return np.stack(shares, axis=2) if len({each.shape[1] for each in shares}) == 1 else shares


class ForestRegressor(RegressorMixin, BaseForest):  # type: ignore[misc]  # scikit-learn has no types
    """The shared base of forests that predict numbers."""

    _options = RegressionForestOptions
    _single_tree = "DecisionTreeRegressor"

    def _read_target(
        self, y: TargetLike | None, n_rows: int, weight: Weights | None, options: GrowthOptions
    ) -> Target:
        """The target as numbers; weights as they are."""
        values = read_target(y, n_rows=n_rows, estimator=type(self).__name__)
        return Target(values, None, weight)

    def _grow(
        self,
        codes: Codes,
        target: Target,
        grow: GrowOptions,
        bags: TreeBags,
        options: ForestOptions,
    ) -> Forest:
        """The trees of some bags."""
        grown = grow_regression_tree(codes, target.values, target.weight, grow, bags)
        return prune_trees(grown.forest, grown.node_value, options.ccp_alpha)

    def _set_oob_score_and_attributes(
        self, found: OutOfBagSums, target: Target, options: ForestOptions
    ) -> dict[str, Any]:
        """The out-of-bag predictions and their score."""
        from sklearn.metrics import r2_score

        means = found.means()
        metric = options.oob_score if callable(options.oob_score) else r2_score
        single = means.shape[1] == 1
        y_true, y_pred = target.values[found.judged], means[found.judged]
        if not len(y_true):
            score = np.nan  # `means` has warned of every row
        else:
            score = metric(y_true[:, 0], y_pred[:, 0]) if single else metric(y_true, y_pred)
        return {"oob_score_": float(score), "oob_prediction_": means[:, 0] if single else means}

    def predict(self, X: TableLike) -> NDArray[np.float64]:
        """The mean over trees of each row's leaf.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs_)
            Predictions.
        """
        scores = self._raw_scores(X)
        return scores[:, 0] if self.n_outputs_ == 1 else scores
