"""Thresholds judged by folds: scikit-learn's TunedThresholdClassifierCV on tables of any kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from weald.arrays import Estimator, Folds, RandomState, TableLike
from weald.data.frames.user_rows import take
from weald.data.target import Labels, restore_labels
from weald.errors import DataError, told
from weald.estimators.shared.folds import folds
from weald.estimators.shared.members import fit_member
from weald.estimators.thresholds.curve import GRID, Judge, ThresholdCurve

_FOLDS = 5


class RowsOf(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator that is given the numbers of rows, and takes these from a table that it knows.

    So scikit-learn's tools, which take rows apart, work on tables of every kind, and labels of any type are
    True and False to them.

    Parameters
    ----------
    estimator : estimator
        What is fitted.
    X, labels : table, Labels
        The rows, as `indexable` gives them, and their classes.
    weight : ndarray of shape (n_rows,) or None
        Weights for `fit`.
    place : int
        Of the positive class among the labels.
    """

    def __init__(
        self,
        estimator: Estimator,
        X: TableLike,
        labels: Labels,
        weight: NDArray[np.float64] | None,
        place: int,
    ) -> None:
        self.estimator, self.X, self.labels, self.weight, self.place = estimator, X, labels, weight, place

    def __sklearn_clone__(self) -> RowsOf:
        """A copy that is not fitted, on the same table."""
        return RowsOf(clone(self.estimator), self.X, self.labels, self.weight, self.place)

    def fit(self, rows: NDArray[np.int64], y: NDArray[np.bool_]) -> Self:
        """Fit on these rows of the table."""
        chosen = rows[:, 0]
        classes, numbers = self.labels
        whole = np.array_equal(chosen, np.arange(len(numbers)))
        extra = {} if self.weight is None else {"sample_weight": self.weight[chosen]}
        table = self.X if whole else take(self.X, chosen)
        self.fitted_ = fit_member(
            clone(self.estimator), table, restore_labels(classes, numbers[chosen]), **extra
        )
        self.classes_ = np.array([False, True])
        return self

    def predict_proba(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The probabilities of the other class and of the positive one."""
        found = np.asarray(self.fitted_.predict_proba(take(self.X, rows[:, 0])), np.float64)
        return found[:, [1 - self.place, self.place]]

    def predict(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the positive class is the more probable one."""
        return self.predict_proba(rows)[:, 1] > 0.5


def tuned(
    rows_of: RowsOf, cv: Folds | None, judge: Judge, random_state: RandomState, owner: str
) -> tuple[Estimator, ThresholdCurve]:
    """The estimator fitted on all rows that count, and the mean score of thresholds over folds.

    Parameters
    ----------
    rows_of : RowsOf
        The estimator with its rows.
    cv : int, splitter, iterable of (train, test) or None
        The folds; None for five.
    judge : function
        The score of decisions.
    random_state : int, RandomState or None
        What shuffles the rows before folds.
    owner : str
        The name of the estimator, for messages.
    """
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import TunedThresholdClassifierCV

    positive = rows_of.labels.indices == rows_of.place
    parts = list(_parts(rows_of, cv, random_state, owner))
    tuner = TunedThresholdClassifierCV(
        rows_of,
        scoring=make_scorer(judge),
        response_method="predict_proba",
        thresholds=GRID,
        cv=parts,
        refit=True,
        store_cv_results=True,
    )
    tuner.fit(np.arange(len(positive))[:, None], positive)
    found = ThresholdCurve(tuner.cv_results_["thresholds"], tuner.cv_results_["scores"])
    fitted: Estimator = tuner.estimator_.fitted_
    return fitted, found


def _parts(
    rows_of: RowsOf, cv: Folds | None, random_state: RandomState, owner: str
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The folds as row numbers, each checked to have both classes on both sides."""
    n_folds, (classes, numbers) = _FOLDS if cv is None else cv, rows_of.labels
    if isinstance(n_folds, int):
        counts = np.bincount(numbers)
        rarest, fewest = int(np.argmin(counts)), int(counts.min())
        if fewest < n_folds:
            way_out = f"cv={fewest}, " if fewest > 1 else ""
            raise DataError(
                f"{owner} judges thresholds on {n_folds} folds, and class {told(classes.tolist()[rarest])} "
                f"has only {fewest} row{'s' * (fewest > 1)}, so that a fold would lack it. Use {way_out}a "
                "number as threshold, or more rows of that class."
            )
    found = folds(
        n_folds,
        rows_of.X,
        numbers[:, None],
        None,
        labels=True,
        random_state=random_state,
        owner=owner,
        way_out="Use fewer folds, or a number as threshold.",
    )
    for number, fold in enumerate(found):
        train, test = np.flatnonzero(fold.train), np.flatnonzero(fold.held_out)
        for rows, where in ((train, "trains on"), (test, "judges")):
            if len(np.unique(numbers[rows])) < 2:
                raise DataError(
                    f"Fold {number} of `cv` of {owner} {where} rows of one class alone. Use stratified "
                    "folds, for example cv=5."
                )
        yield train, test
