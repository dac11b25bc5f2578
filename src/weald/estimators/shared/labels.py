"""Predictions of class labels, for one output or several: shares, the largest of them, rows predicted right.

A leaf holds the shares of the first output's classes, then of the second's, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from weald.arrays import TableLike, TargetLike, WeightLike
from weald.data.target import Labels, positions_among, read_labels, read_weight, restore_labels
from weald.errors import DataError

if TYPE_CHECKING:
    from sklearn.utils import Tags


class LabelPredictions(ClassifierMixin):  # type: ignore[misc]  # scikit-learn has no types
    """What a classifier of one tree predicts."""

    classes_: NDArray[Any] | list[NDArray[Any]]
    n_classes_: int | list[int]
    n_outputs_: int
    _raw_scores: Callable[..., NDArray[np.float64]]
    _classes_by_output: Callable[[], tuple[NDArray[Any], ...] | None]

    def predict(self, X: TableLike) -> NDArray[Any]:
        """The label with the largest share in each row's leaf; of equal shares the first in `classes_`.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs_)
            Labels of the type that `fit` was given; an array of objects if outputs differ in type.
        """
        labels = [
            restore_labels(classes, most_frequent(shares))
            for classes, shares in zip(*self._classes_and_shares(X), strict=True)
        ]
        return labels[0] if len(labels) == 1 else side_by_side(labels)

    def predict_proba(self, X: TableLike) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        """The shares of the classes in each row's leaf.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_), or a list of such
            Shares that add up to 1, in the order of `classes_`; a list if there are several outputs.
        """
        _, shares = self._classes_and_shares(X)
        return shares[0] if len(shares) == 1 else shares

    def predict_log_proba(self, X: TableLike) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        """The logarithm of `predict_proba`; -inf for a share of 0.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_), or a list of such
            Natural logarithms, in the order of `classes_`; a list if there are several outputs.
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(each) for each in shares] if isinstance(shares, list) else np.log(shares)

    def score(self, X: TableLike, y: TargetLike, sample_weight: WeightLike | None = None) -> float:
        """The share of rows predicted right; with several outputs, of rows with every label right.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs_)
            The true labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows.

        Returns
        -------
        float
            From 0 to 1.
        """
        check_is_fitted(self)
        if self.n_outputs_ == 1:
            return float(super().score(X, y, sample_weight))
        classes, shares = self._classes_and_shares(X)
        truth = read_labels(y, n_rows=len(shares[0]), estimator=type(self).__name__)
        if len(truth) != len(classes):
            raise DataError(f"y must have {len(classes)} columns, one per output; it has {len(truth)}.")
        right = all_right(truth, classes, [most_frequent(each) for each in shares])
        return float(np.average(right, weights=read_weight(sample_weight, n_rows=len(right))))

    def _classes_and_shares(self, X: TableLike) -> tuple[tuple[NDArray[Any], ...], list[NDArray[np.float64]]]:
        """The labels of each output, and their shares in each row's leaf."""
        scores = self._raw_scores(X)
        classes = self._classes_by_output()
        assert classes is not None
        return classes, split_shares(scores, [len(labels) for labels in classes])

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect of the targets this takes."""
        tags = super().__sklearn_tags__()
        # What rules out several outputs, a monotone constraint, rules out several classes too.
        several = tags.target_tags.multi_output
        tags.classifier_tags.multi_label = tags.classifier_tags.multi_class = several
        return tags


def split_shares(scores: NDArray[np.float64], n_classes: Sequence[int]) -> list[NDArray[np.float64]]:
    """The shares of each output's classes, which stand side by side in a leaf."""
    if len(n_classes) == 1:
        return [scores]
    return [np.ascontiguousarray(part) for part in np.split(scores, np.cumsum(n_classes)[:-1], axis=1)]


def most_frequent(shares: NDArray[np.float64]) -> NDArray[np.intp]:
    """The class with the largest share in each row; of equal shares the first."""
    # For two classes a comparison says the same as argmax in a tenth of the time.
    best = shares[:, 1] > shares[:, 0] if shares.shape[1] == 2 else np.argmax(shares, axis=1)
    return best.astype(np.intp, copy=False)


def side_by_side(labels: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Columns of labels as one array, of a dtype that keeps the type of every label.

    >>> side_by_side([np.array([1, 2]), np.array([3, 4], np.int8)]).dtype
    dtype('int64')
    >>> side_by_side([np.array([1, 2]), np.array(["a", "b"])]).tolist()
    [[1, 'a'], [2, 'b']]
    """
    kinds = {column.dtype.kind for column in labels}
    if len(kinds) == 1 or kinds == {"i", "u"}:
        common = np.result_type(*(column.dtype for column in labels))
        if common.kind in kinds:  # int64 and uint64 have no common type but float64
            return np.stack([column.astype(common, copy=False) for column in labels], axis=1)
    out = np.empty((len(labels[0]), len(labels)), object)
    for j, column in enumerate(labels):
        # Dates finer than Python's stay NumPy's.
        out[:, j] = list(column) if column.dtype.kind in "Mm" else column.tolist()
    return out


def all_right(
    truth: Sequence[Labels], classes: Sequence[NDArray[Any]], best: Sequence[NDArray[np.intp]]
) -> NDArray[np.bool_]:
    """Whether each row's predicted class is its true label in every output."""
    right = np.ones(len(best[0]), np.bool_)
    for found, known, predicted in zip(truth, classes, best, strict=True):
        right &= positions_among(found.classes, known)[found.indices] == predicted
    return right
