"""Cross-validation round by round: metrics of every fold, their mean and deviation, and when to stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from weald.boosting.stopping import EarlyStopping

if TYPE_CHECKING:
    from weald.estimators.xgboost_plan import Plan
    from weald.estimators.xgboost_rows import Rows

#: what one of the two sets of a fold is called
TRAIN, TEST = "train", "test"


@dataclass(frozen=True, slots=True)
class CVResult:
    """What the folds say of each round."""

    #: "train-logloss-mean", "train-logloss-std", …: one value a round, up to the best one
    table: dict[str, list[float]]
    best_round: int
    best_score: float

    @property
    def n_rounds(self) -> int:
        """How many rounds are best."""
        return self.best_round + 1


class _NoRounds:
    """A model that has no rounds yet, for the start of early stopping."""

    def num_boosted_rounds(self) -> int:
        return 0


def cross_validate(
    plan: Plan,
    parts: Sequence[tuple[Rows, Rows]],
    *,
    wait: int | None,
    maximize: bool | None = None,
    train_metrics: bool = True,
) -> CVResult:
    """Train on all folds, round by round, and stop when the mean held-out metric no longer improves.

    Parameters
    ----------
    plan : Plan
        What to train, with the most rounds.
    parts : sequence of (Rows, Rows)
        Training and held-out rows of each fold.
    wait : int or None
        Stop after so many rounds without a better mean; None: never, and the last round counts as best.
    maximize : bool, optional
        Whether more is better; by default as the metric has it.
    train_metrics : bool
        Whether to measure on the training rows too.
    """
    from weald.estimators.xgboost_train import Training, Watched

    trainings = []
    for train, test in parts:
        own = [Watched(TRAIN, None, train.target.weight)] if train_metrics else []
        trainings.append(Training(plan, train, [*own, Watched(TEST, test)]))
    stopper = None if wait is None else EarlyStopping(wait, data_name=TEST, maximize=maximize)
    if stopper is not None:
        stopper.told({metric.name: metric.maximize for metric in trainings[0].metrics})
        stopper.before_training(_NoRounds())
    total = plan.boost.n_rounds
    # Some rounds of every fold at a time: a stop wastes at most so many.
    step = total if wait is None else min(total, max(wait, 10))
    logs: list[dict[str, dict[str, list[float]]]] = [{} for _ in trainings]
    done = 0
    while done < total:
        ahead = min(step, total - done)
        for training, log in zip(trainings, logs, strict=True):
            _append(log, training.run(ahead).evals_result)
        if stopper is not None and _stops(stopper, logs, done, done + ahead):
            break
        done += ahead
    return _result(logs, stopper, total)


def _append(log: dict[str, dict[str, list[float]]], more: dict[str, dict[str, list[float]]]) -> None:
    for data, metrics in more.items():
        for metric, values in metrics.items():
            log.setdefault(data, {}).setdefault(metric, []).extend(values)


def _stops(stopper: EarlyStopping, logs: list[Any], first: int, last: int) -> bool:
    means = {
        metric: np.mean([log[TEST][metric] for log in logs], axis=0).tolist() for metric in logs[0][TEST]
    }
    for round_ in range(first, last):
        seen = {TEST: {metric: values[: round_ + 1] for metric, values in means.items()}}
        if stopper.after_iteration(None, round_, seen):
            return True
    return False


def _result(logs: list[Any], stopper: EarlyStopping | None, total: int) -> CVResult:
    columns: dict[str, list[float]] = {}
    best = total - 1 if stopper is None or stopper.best_round is None else stopper.best_round
    score = float("nan")
    for data, metrics in logs[0].items():
        for metric in metrics:
            values = np.array([log[data][metric][: best + 1] for log in logs])
            columns[f"{data}-{metric}-mean"] = values.mean(axis=0).tolist()
            columns[f"{data}-{metric}-std"] = values.std(axis=0).tolist()
            if data == TEST:
                score = columns[f"{data}-{metric}-mean"][best]
    return CVResult(columns, best, score)
