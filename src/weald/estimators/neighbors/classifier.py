"""`KNeighborsClassifier`: the label that most of the nearest rows have, under scikit-learn's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from weald.arrays import Floats, TableLike, TargetLike, WeightLike
from weald.data.target import read_labels, read_weight, restore_labels, warn_of_column
from weald.errors import DataError
from weald.estimators.neighbors.base import BaseNeighbors
from weald.estimators.neighbors.target import NeighborsTarget
from weald.estimators.neighbors.votes import class_shares
from weald.estimators.shared.labels import all_right, most_frequent, side_by_side
from weald.estimators.shared.state import class_attributes

if TYPE_CHECKING:
    from sklearn.utils import Tags


class KNeighborsClassifier(ClassifierMixin, BaseNeighbors):  # type: ignore[misc]  # scikit-learn has no types
    """The label that most of the nearest rows have.

    Any table as it is. Numbers differ by their difference, ordinal levels by their ranks', two categories by
    a constant, and a missing value by the difference that is to be expected; `metric="mixed"` brings columns
    of different units to one scale first. Neighbours are exact, equally near ones in the order of the table,
    whatever the number of threads.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many rows have a vote.
    weights : {"uniform", "distance"}, function or None, default="uniform"
        Whether all votes count alike, or by 1 / distance; or a function from distances to weights.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How rows are found, which changes no answer: by tiles of distances or by a tree. "ball_tree" is taken
        as "kd_tree"; SciPy matrices are always searched by their columns.
    leaf_size : int, default=30
        Rows of a leaf of the tree.
    p : float, default=2
        The power of "minkowski": 2 is Euclid's distance, 1 the sum of differences, inf the largest.
    metric : str, default="minkowski"
        "minkowski", "euclidean" (or "l2"), "manhattan" ("l1", "cityblock"), "chebyshev", "cosine" or "mixed",
        which is "euclidean" on standardised columns.
    metric_params : dict, default=None
        {"p": number}, in place of `p`.
    n_jobs : int, default=None
        Threads; None for every CPU of the process.
    scale : bool, default=False
        Whether to standardise numbers and ranks inside the model.
    unknown : {"missing", "error"}, default="missing"
        What a category that training never saw means.
    categorical_features : names, positions, a mask, "from_dtype" or None, default=None
        Columns to read as categories whatever their type.

    Attributes
    ----------
    classes_ : ndarray, or list of such
        The labels; a list if there are several outputs.
    effective_metric_ : str
        The metric under its plainest name: "euclidean" for "minkowski" with p=2.
    effective_metric_params_ : dict
        {"p": number} for "minkowski", else empty.
    n_samples_fit_ : int
        Fitted rows.
    outputs_2d_ : bool
        Whether there are several outputs.
    n_features_in_ : int
        Columns of the training table.
    feature_names_in_ : ndarray of str
        Their names, if they had any.

    Examples
    --------
    >>> from weald import KNeighborsClassifier
    >>> X = [[1.0, "red"], [1.2, "red"], [8.0, "blue"], [9.0, None]]
    >>> model = KNeighborsClassifier(n_neighbors=1, metric="mixed").fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[1.1, None], [8.5, "blue"]]).tolist()
    ['a', 'b']
    """

    classes_: NDArray[Any] | list[NDArray[Any]]

    def _read_target(self, y: TargetLike | None, n_rows: int) -> NeighborsTarget:
        """Labels of any type, of one output or several."""
        found = read_labels(y, n_rows=n_rows, estimator=type(self).__name__)
        if len(found) == 1:
            warn_of_column(y)
        labels = tuple(each.indices for each in found)
        return NeighborsTarget(tuple(each.classes for each in found), labels)

    def _target_attributes(self, target: NeighborsTarget) -> dict[str, Any]:
        """Classes, and whether there are several outputs."""
        told = class_attributes(target.classes)
        return {"classes_": told["classes_"], "outputs_2d_": target.n_outputs > 1}

    def predict(self, X: TableLike | None) -> NDArray[Any]:
        """The label of the largest share among the nearest rows; of equal shares the first in `classes_`.

        Parameters
        ----------
        X : table or None
            As in `fit`. None predicts the fitted rows, each by its others.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
            Labels of the type that `fit` was given; an array of objects if outputs differ in type.
        """
        shares = self._shares(X)
        classes = self._target_.classes
        assert classes is not None
        labels = [
            restore_labels(each, most_frequent(share)) for each, share in zip(classes, shares, strict=True)
        ]
        return labels[0] if len(labels) == 1 else side_by_side(labels)

    def predict_proba(self, X: TableLike | None) -> Floats | list[Floats]:
        """The shares of the classes among the nearest rows.

        Parameters
        ----------
        X : table or None
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes), or a list of such
            Shares that add up to 1, in the order of `classes_`; a list if there are several outputs.
        """
        shares = self._shares(X)
        return shares[0] if len(shares) == 1 else shares

    def score(self, X: TableLike | None, y: TargetLike, sample_weight: WeightLike | None = None) -> float:
        """The share of rows predicted right; with several outputs, of rows with every label right.

        Parameters
        ----------
        X : table or None
            As in `predict`.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            The true labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows.

        Returns
        -------
        float
            From 0 to 1.
        """
        shares = self._shares(X)
        classes = self._target_.classes
        assert classes is not None
        truth = read_labels(y, n_rows=len(shares[0]), estimator=type(self).__name__)
        if len(truth) != len(classes):
            raise DataError(f"y must have {len(classes)} columns, one per output; it has {len(truth)}.")
        right = all_right(truth, classes, [most_frequent(each) for each in shares])
        return float(np.average(right, weights=read_weight(sample_weight, n_rows=len(right))))

    def _shares(self, X: TableLike | None) -> list[Floats]:
        check_is_fitted(self)
        target = self._target_
        assert target.classes is not None
        rows, weight = self._neighbors_and_weights(X)
        return class_shares(rows, weight, target.labels, [len(each) for each in target.classes])

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect of the targets this takes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
