"""How good a model is on some columns, and how much each matters: out of bag, held out, or by folds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import AnyEstimator, AnyTable, Floats, Integers
from weald.data.frames.user_rows import take
from weald.errors import naming_member
from weald.insight.columns.importance import PermutationTask, importance
from weald.insight.columns.options import MIN_CELL, ImportanceOptions, SelectionOptions
from weald.insight.columns.scoring import Scoring, jackknife_error, leave_out_groups, scores_without
from weald.insight.columns.some_columns import for_columns
from weald.inspection.votes import answers_of, value_votes
from weald.uncertainty.scores.evaluators import Evaluator
from weald.uncertainty.scores.told import Given

Units = Sequence[tuple[Hashable, list[int]]]


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """A score with its standard error, and the importance of each unit of columns."""

    score: float
    error: float
    importances: Floats  # (n_units,)


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """The model, the rows and the metric of a selection."""

    model: AnyEstimator
    X: AnyTable  # as `indexable` gave it
    y: NDArray[Any]
    weight: Floats | None
    names: Sequence[Hashable]
    metric: str | Callable[..., Any] | None
    options: SelectionOptions
    seed: int
    #: rows to fit on and rows to judge by, one or several times; none out of bag
    divisions: Sequence[tuple[Integers, Integers]]

    def of(self, units: Units) -> Judgement:
        """Fit on the columns of some units, and judge."""
        columns = [j for _, members in units for j in members]
        place = {j: k for k, j in enumerate(sorted(columns))}
        groups = {k: [place[j] for j in members] for k, (_, members) in enumerate(units)}
        columns.sort()
        if not self.divisions:
            return self._out_of_bag(columns, groups)
        found = [self._held_out(columns, groups, *division) for division in self.divisions]
        scores = np.array([each.score for each in found])
        n = len(found)
        error = found[0].error if n == 1 else float(scores.std(ddof=1) / np.sqrt(n))
        return Judgement(float(scores.mean()), error, np.mean([each.importances for each in found], axis=0))

    def fitted(self, columns: Sequence[int], rows: Integers | None = None) -> tuple[Any, Any, Any]:
        """A model of some columns and rows, with these."""
        model = for_columns(self.model, self.names, columns)
        X = take(self.X, rows, columns)
        y = self.y if rows is None else self.y[rows]
        extra = {}
        if self.weight is not None:
            extra["sample_weight"] = self.weight if rows is None else self.weight[rows]
        with naming_member(f"The {type(model).__name__} of {len(columns)} columns"):
            model.fit(X, y, **extra)
        return model, X, y

    def _held_out(
        self, columns: Sequence[int], groups: dict[int, list[int]], train: Integers, test: Integers
    ) -> Judgement:
        model, _, _ = self.fitted(columns, train)
        X, y = take(self.X, test, columns), self.y[test]
        weight = None if self.weight is None else self.weight[test]
        options = ImportanceOptions(
            method=self.options.method,
            cells="tree",
            min_cell=MIN_CELL,
            n_repeats=self.options.n_repeats,
            random_state=self.seed,
            n_jobs=self.options.n_jobs,
        )
        task = PermutationTask.of(model, X, y, self.metric, groups, None, weight, options)
        found = task.importance(options, None, bar=False, errors=False)
        assert found.score is not None
        error = float("nan")
        if len(self.divisions) == 1:  # else they tell it
            error = score_error(task.scoring.of_table(model, X), task.scoring.y, self.seed)
        values = _in_order(found.names, found.importances_mean)
        return Judgement(task.scoring.sign * found.score, error, values)

    def _out_of_bag(self, columns: Sequence[int], groups: dict[int, list[int]]) -> Judgement:
        model, X, y = self.fitted(columns)
        found = importance(
            model,
            X,
            y,
            method="oob",
            metric=self.metric,
            groups=groups,
            n_repeats=self.options.n_repeats,
            sample_weight=self.weight,
            random_state=self.seed,
        )
        judged, predicted = oob_predictions(model, X, y, self.weight)
        truth = y[judged]
        weight = None if self.weight is None else self.weight[judged]
        scoring = Scoring.of(self.metric, model, truth, len(judged), weight, "select_columns")
        evaluator = scoring.of_table(_as_told(model, predicted, scoring.y), np.arange(len(judged)))
        error = score_error(evaluator, scoring.y, self.seed)
        values = _in_order(found.names, found.importances_mean)
        return Judgement(scoring.sign * evaluator.value(), error, values)


def _in_order(names: Sequence[Hashable], values: Floats) -> Floats:
    """Values by number, which are the names."""
    out = np.empty(len(values))
    out[np.array(names, np.int64)] = values
    return out


def score_error(evaluator: Evaluator, y: NDArray[Any], seed: int) -> float:
    """The standard error of a score over rows."""
    groups = leave_out_groups(y, seed, evaluator)
    n_groups = int(groups.max()) + 1
    return jackknife_error(scores_without(evaluator, (groups,), n_groups))


def oob_predictions(
    model: AnyEstimator, X: AnyTable, y: object, weight: Floats | None
) -> tuple[Integers, NDArray[Any]]:
    """The rows that some tree did not see, and what those trees predict: shares, labels or numbers."""
    rows, target = model._training_rows(X, y, weight)
    n_trees, mean = value_votes(rows)
    judged = np.flatnonzero((n_trees > 0) & rows.counting())
    mean = mean[judged]
    if target.classes is None:
        return judged, mean[:, 0] if mean.shape[1] == 1 else mean
    if len(target.classes) == 1:
        return judged, mean
    numbers = answers_of(mean, target.n_classes)
    labels = [classes[column] for classes, column in zip(target.classes, numbers.T, strict=True)]
    return judged, np.stack(labels, axis=1)


def _as_told(model: AnyEstimator, predicted: NDArray[Any], y: NDArray[Any]) -> Any:
    """A stand-in for a forest that answers what its trees predict out of bag."""
    stand_in = Given(predicted, y)
    if hasattr(model, "classes_") and predicted.ndim == 2 and y.ndim == 1:
        stand_in._labels = np.asarray(model.classes_)  # also those that no judged row has
    return stand_in
