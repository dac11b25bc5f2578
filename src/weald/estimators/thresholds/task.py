"""One fit of `Thresholded`: which rows judge thresholds, by what score, and how rows are decided then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from weald.arrays import AnyEstimator, Estimator, TableLike
from weald.data.target import Labels, positions_among, restore_labels
from weald.errors import DataError, ParameterError, listing, told
from weald.estimators.shared.members import fit_member
from weald.estimators.thresholds import curve as curves
from weald.estimators.thresholds.curve import ThresholdCurve
from weald.estimators.thresholds.held_out import RowsOf, tuned
from weald.estimators.thresholds.options import ThresholdOptions, cost_matrix, is_cost


@dataclass(frozen=True, slots=True)
class Decision:
    """How probabilities become labels."""

    place: int  # of the positive class; of several classes it does not matter
    threshold: float | None  # None: by least expected cost
    cost: NDArray[np.float64] | None

    def chosen(self, proba: NDArray[np.float64]) -> NDArray[np.intp]:
        """The class of each row; equations T2 and T3."""
        if self.threshold is None:
            assert self.cost is not None
            cheapest: NDArray[np.intp] = np.argmin(proba @ self.cost, axis=1)
            return cheapest
        positive = proba[:, self.place] >= self.threshold
        return np.where(positive, self.place, 1 - self.place)

    def margins(self, proba: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far rows are from being called otherwise."""
        if self.threshold is None:
            assert self.cost is not None
            return -(proba @ self.cost)
        beyond: NDArray[np.float64] = proba[:, self.place] - self.threshold
        return beyond if self.place == 1 else -beyond


@dataclass(frozen=True, slots=True)
class ThresholdTask:
    """One fit of `Thresholded`: the parameters and the labels."""

    owner: str
    options: ThresholdOptions
    labels: Labels

    def __post_init__(self) -> None:
        classes, threshold = self.labels.classes, self.options.threshold
        if len(classes) == 1:
            raise DataError(
                f"{self.owner} decides between classes, and y holds one class alone, "
                f"{told(classes.tolist()[0])}. Give it rows of two."
            )
        if len(classes) > 2 and not is_cost(threshold):
            raise DataError(
                f"`threshold` of {self.owner} parts two classes, and y has {len(classes)}: "
                f"{listing(classes.tolist())}. Only binary classification is supported by a number or a "
                f"metric; give a {len(classes)} × {len(classes)} matrix of costs to decide by the least "
                "expected cost."
            )

    @property
    def place(self) -> int:
        """Of the positive class."""
        classes, numbers = self.labels
        asked = self.options.pos_label
        if asked is None:
            counts = np.bincount(numbers, minlength=len(classes))
            return 0 if counts[0] < counts[1] else 1
        one = np.empty(1, dtype=object)
        one[0] = asked
        found = int(positions_among(one, classes)[0])
        if found < 0:
            raise ParameterError(
                f"`pos_label` of {self.owner} is {told(asked)}, and the labels are "
                f"{listing(classes.tolist())}."
            )
        return found

    @property
    def cost(self) -> NDArray[np.float64] | None:
        """What decisions cost, if that is given."""
        given = self.options.threshold
        return cost_matrix(given, self.labels.classes, self.owner) if is_cost(given) else None

    def decision(self, curve: ThresholdCurve | None) -> Decision:
        """How rows are decided after the fit."""
        if curve is not None:
            return Decision(self.place, float(curve.thresholds[curve.best]), self.cost)
        given = self.options.threshold
        return Decision(self.place, None if is_cost(given) else float(given), self.cost)  # type: ignore[arg-type]

    def fitted(
        self, X: TableLike, weight: NDArray[np.float64] | None
    ) -> tuple[Estimator, ThresholdCurve | None]:
        """The fitted estimator, and the scores of thresholds if one is looked for."""
        options, classes = self.options, self.labels.classes
        cost, place = self.cost, self.place  # raise before anything is fitted
        given = options.threshold
        looked_for = callable(given) or isinstance(given, str) or (cost is not None and len(classes) == 2)
        if options.cv == "prefit":
            fitted = self._prefit()
            proba = np.asarray(fitted.predict_proba(X), np.float64)  # type: ignore[attr-defined]
            return fitted, self._curve(proba, cost) if looked_for else None
        if not looked_for:
            return self._fit(clone(options.estimator), X, weight), None
        if options.cv == "oob" or (options.cv is None and _has_bags(options.estimator)):
            fitted = self._fit(_judging_bags(options.estimator, self.owner), X, weight)
            return fitted, self._curve(fitted.oob_decision_function_, cost)  # type: ignore[attr-defined]
        rows = RowsOf(options.estimator, X, self.labels, weight, place)
        assert not isinstance(options.cv, str)
        return tuned(rows, options.cv, self._judge(cost), options.random_state, self.owner)

    def _fit(self, estimator: Estimator, X: TableLike, weight: NDArray[np.float64] | None) -> Estimator:
        extra = {} if weight is None else {"sample_weight": weight}
        return fit_member(estimator, X, restore_labels(*self.labels), **extra)

    def _prefit(self) -> Estimator:
        estimator: AnyEstimator = self.options.estimator
        check_is_fitted(estimator)
        known = np.asarray(estimator.classes_)
        if known.tolist() != self.labels.classes.tolist():
            raise DataError(
                f"The estimator of {self.owner} was fitted on the labels {listing(known.tolist())}, and y "
                f"has {listing(self.labels.classes.tolist())}. Give rows of all of its classes."
            )
        return estimator  # type: ignore[no-any-return]

    def _curve(self, proba: NDArray[np.float64], cost: NDArray[np.float64] | None) -> ThresholdCurve:
        """The scores of thresholds on rows that the estimator did not learn from; NaN: a row that all saw."""
        judged = ~np.isnan(proba[:, 0])
        positive = self.labels.indices[judged] == self.place
        if positive.all() or not positive.any():
            lacking = self.labels.classes.tolist()[1 - self.place if positive.all() else self.place]
            raise DataError(
                f"{self.owner} judges thresholds on rows that no member saw, and there is none of class "
                f"{told(lacking)}. Use cv=5, or more members."
            )
        p, given = proba[judged, self.place], self.options.threshold
        if callable(given):
            return curves.curve_of_decisions(p, positive, self._judge(cost))
        judge = self._count_judge(cost)
        return curves.curve_of_counts(p, positive, judge)

    def _count_judge(self, cost: NDArray[np.float64] | None) -> curves.CountJudge:
        """The score of counts."""
        if cost is not None:
            return curves.cost_of_counts(cost, self.place)
        assert isinstance(self.options.threshold, str)
        return curves.OF_COUNTS[self.options.threshold]

    def _judge(self, cost: NDArray[np.float64] | None) -> curves.Judge:
        """The score of decisions, True for the positive class."""
        given, place, classes = self.options.threshold, self.place, self.labels.classes
        if callable(given):
            metric: Callable[..., float] = given

            def of_labels(called: NDArray[np.bool_]) -> NDArray[Any]:
                return restore_labels(classes, np.where(called, place, 1 - place))

            return lambda truth, called: float(metric(of_labels(truth), of_labels(called)))
        judge = self._count_judge(cost)

        def of_counts(truth: NDArray[np.bool_], called: NDArray[np.bool_]) -> float:
            truth, called = np.asarray(truth, np.bool_), np.asarray(called, np.bool_)
            right, wrong = (np.array([float(np.count_nonzero(called & each))]) for each in (truth, ~truth))
            return float(judge(right, wrong, float(truth.sum()), float((~truth).sum()))[0])

        return of_counts


def _has_bags(estimator: AnyEstimator) -> bool:
    """Whether an estimator judges rows by the members that did not see them, if it is asked to."""
    params = estimator.get_params(deep=False)
    if "oob_score" not in params:
        return False
    return bool(params.get("bootstrap", False)) or bool(getattr(estimator, "_draws_classes", False))


def _judging_bags(estimator: AnyEstimator, owner: str) -> Estimator:
    """A copy that judges rows out of bag."""
    made: Any = clone(estimator)
    if "oob_score" not in made.get_params(deep=False):
        raise ParameterError(
            f"`cv` of {owner} is 'oob', and {type(made).__name__} judges no rows out of bag. Use cv=5, or an "
            "estimator with oob_score, such as RandomForestClassifier."
        )
    if made.oob_score is False:
        made.set_params(oob_score=True)
    return made  # type: ignore[no-any-return]
