"""The score of a model on a table, on the same table with permuted columns, and on parts of their rows.

A model predicts a table once; parts of the rows are scored from the answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.metrics import make_scorer

from weald.arrays import AnyEstimator, AnyTable, Flags, Floats, TargetLike, WeightLike
from weald.data.target import read_weight
from weald.errors import DataError, WealdError
from weald.uncertainty.scores.evaluators import ByCells, ByCounts, ByRanks, ByScorer, BySums, Evaluator
from weald.uncertainty.scores.fast import evaluator_of, quick_evaluator
from weald.uncertainty.scores.told import Told, scorer_of

#: groups of rows that are left out in turn for standard errors; fewer where each takes calls of a scorer
_GROUPS, _FEW = 50, 25
#: how scikit-learn names functions of which less is better
_LOSSES = ("_error", "_loss", "_deviance")


@dataclass(frozen=True, slots=True, eq=False)
class Scoring:
    """A metric with the rows that it judges.

    `sign` is -1 where less is better, so that importances are always what a model loses.
    """

    scorer: Callable[..., float]
    name: str
    sign: float
    y: NDArray[Any]
    weight: Floats | None

    @classmethod
    def of(
        cls,
        metric: str | Callable[..., Any] | None,
        model: AnyEstimator,
        y: TargetLike | None,
        n_rows: int,
        sample_weight: WeightLike | None,
        owner: str,
    ) -> Scoring:
        """Read what the user gave."""
        target = read_truth(y, n_rows, owner)
        several = target.ndim == 2 and target.shape[1] > 1
        stand_in = Told(model, None)
        if metric is None and several and is_classifier(model):
            scorer, name = make_scorer(share_all_right), "accuracy"  # scikit-learn's is for one output
        else:
            scorer, name = scorer_of(metric, stand_in, None, owner)
        weight = read_weight(sample_weight, n_rows=n_rows)
        return cls(scorer, name, -1.0 if _is_loss(metric) else 1.0, target, weight)

    def of_table(self, model: AnyEstimator, X: AnyTable) -> Evaluator:
        """The score of a model on a table."""
        return self.of_told(Told(model, X))

    def of_told(self, told: Told, like: Evaluator | None = None) -> Evaluator:
        """The score of what a model says, in the way that was found right for another table (`like`)."""
        if like is not None and not isinstance(like, ByScorer | ByCells):
            quick = quick_evaluator(self.name, told, self.y, self.weight)
            if type(quick) is type(like):
                return quick
        return evaluator_of(self.name, self.scorer, told, self.y, self.weight, 1)


class ToldOfSome(Told):
    """What a model says of a table of which some rows are others than before."""

    def __init__(self, model: AnyEstimator, X: AnyTable, before: Told, rows: NDArray[np.int64]) -> None:
        super().__init__(model, X)
        self.before, self.rows = before, rows

    def answers(self, response: str) -> NDArray[Any]:
        """Of the other rows what the model said before."""
        if response not in self._answers:
            found = self.before.answers(response).copy()
            if len(self.rows):
                new = np.asarray(getattr(self.model, response)(self.X))
                found = found.astype(np.result_type(found, new)) if new.dtype.kind in "US" else found
                found[self.rows] = new
            self._answers[response] = found
        return self._answers[response]


def read_truth(y: TargetLike | None, n_rows: int, owner: str) -> NDArray[Any]:
    """Labels or numbers as scikit-learn's metrics take them."""
    if y is None:
        raise DataError(f"{owner} needs y, the true labels or numbers of the rows of X; got None.")
    target = np.asarray(y)
    if target.dtype.kind == "O" and target.ndim == 1:
        plain = np.asarray(target.tolist())  # whole numbers and bools in an array of objects
        target = plain if plain.ndim == 1 else target
    if target.ndim == 2 and target.shape[1] == 1:
        target = target[:, 0]
    if target.ndim not in (1, 2) or len(target) != n_rows:
        rows = len(target) if target.ndim else 0
        raise DataError(f"X of {owner} has {n_rows} rows and y {rows}. Give as many of both.")
    if n_rows < 2:
        raise DataError(f"{owner} needs at least 2 rows; X has {n_rows} (n_samples={n_rows}).")
    if target.dtype.kind == "f" and np.isnan(target).any():
        row = int(np.argmax(np.isnan(target.reshape(len(target), -1)).any(axis=1)))
        raise DataError(f"y of {owner} has NaN in row {row}. Drop such rows.")
    return target


def share_all_right(y_true: NDArray[Any], y_pred: NDArray[Any], sample_weight: Floats | None = None) -> float:
    """The share of rows whose every label is right."""
    return float(np.average((y_true == y_pred).all(axis=1), weights=sample_weight))


def _is_loss(metric: str | Callable[..., Any] | None) -> bool:
    """Whether a metric is a function of scikit-learn's of which less is better, by its name."""
    if metric is None or isinstance(metric, str):
        return False
    name, module = str(getattr(metric, "__name__", "")), str(getattr(metric, "__module__", ""))
    return module.startswith("sklearn.") and name.endswith(_LOSSES)


def leave_out_groups(y: NDArray[Any], seed: int, evaluator: Evaluator) -> NDArray[np.int64]:
    """A group for each row, for a jackknife: labels are spread evenly."""
    n_rows, n_groups = len(y), _FEW if isinstance(evaluator, ByScorer | ByCells) else _GROUPS
    shuffled = np.random.default_rng([seed, 0]).permutation(n_rows)
    by_label = np.argsort(y[shuffled] if y.ndim == 1 else y[shuffled, 0], kind="stable")
    groups = np.empty(n_rows, np.int64)
    groups[shuffled[by_label]] = np.arange(n_rows) % min(n_groups, n_rows)
    return groups


def scores_without(evaluator: Evaluator, gone: tuple[NDArray[np.int64], ...], n_groups: int) -> Floats:
    """The score without the rows of each group; a row may be in several, and is gone with each.

    NaN where that leaves rows of which the metric knows nothing to say.
    """
    first, others = gone[0], gone[1:]
    if isinstance(evaluator, BySums):
        sums = evaluator.columns.sum(axis=0) - _sums(evaluator.columns, first, n_groups)
        for other in others:
            sums -= _sums(evaluator.columns[other != first], other[other != first], n_groups)
        return evaluator.finish(sums)
    if isinstance(evaluator, ByCounts):
        n_slots, slot = evaluator.n_slots, evaluator.slot
        counts = np.bincount(first * n_slots + slot, minlength=n_groups * n_slots)
        for other in others:
            new = other != first
            counts += np.bincount(other[new] * n_slots + slot[new], minlength=n_groups * n_slots)
        full = np.bincount(slot, minlength=n_slots)
        return evaluator.finish(full - counts.reshape(n_groups, n_slots))
    found = np.full(n_groups, np.nan)
    for k in range(n_groups):
        away = np.logical_or.reduce([group == k for group in gone])
        found[k] = _score_of(evaluator, away)
    return found


def _sums(columns: Floats, group: NDArray[np.int64], n_groups: int) -> Floats:
    return np.stack([np.bincount(group, column, n_groups) for column in columns.T], axis=1)


def _score_of(evaluator: Evaluator, away: Flags) -> float:
    """The score without some rows."""
    if isinstance(evaluator, ByRanks):
        groups = np.where(away, 0, -1).astype(np.int32)
        return float(evaluator.rows.areas_without(evaluator.area, groups, 1)[0])
    try:
        if isinstance(evaluator, ByCells):
            kept = np.bincount(evaluator.slot[~away], minlength=len(evaluator.y))
            return float(evaluator._scores(kept[None, :])[0])
        assert isinstance(evaluator, ByScorer)
        return evaluator._score(np.flatnonzero(~away))
    except WealdError:
        return float("nan")


def jackknife_error(left_out: Floats) -> float:
    """The standard error by the values without each group: equation I3 of docs/methods/importance.md."""
    known = left_out[np.isfinite(left_out)]
    n = len(known)
    if n < 2:
        return float("nan")
    return float(np.sqrt((n - 1) / n * np.square(known - known.mean()).sum()))
