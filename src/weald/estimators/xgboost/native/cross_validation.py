"""Cross-validation round by round: metrics of every fold, their mean and deviation, and when to stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.boosting.callbacks import Callbacks, ModelView, TrainingCallback
from weald.boosting.stopping import EarlyStopping
from weald.model.forest import Forest

if TYPE_CHECKING:
    from weald.estimators.xgboost.plan import Plan
    from weald.estimators.xgboost.rows import Rows
    from weald.estimators.xgboost.training import Training
    from weald.progress import FoldLines

#: what one of the two sets of a fold is called
TRAIN, TEST = "train", "test"
#: data name → metric name → mean and deviation over the folds, a pair per round
FoldsLog: TypeAlias = dict[str, dict[str, list[tuple[float, float]]]]


@dataclass(frozen=True, slots=True)
class CVResult:
    """What the folds say of each round."""

    #: "train-logloss-mean", "train-logloss-std", …: one value per round, up to the best one
    table: dict[str, list[float]]
    best_round: int
    best_score: float

    @property
    def n_rounds(self) -> int:
        """How many rounds are best."""
        return self.best_round + 1


@dataclass(frozen=True, slots=True)
class FoldsView:
    """The models of all folds while they grow, as callbacks of `weald.cv` see them: to read."""

    folds: tuple[ModelView, ...]

    @property
    def n_rounds(self) -> int:
        """How many rounds each of them has."""
        return self.folds[0].n_rounds

    def num_boosted_rounds(self) -> int:
        """`n_rounds` under xgboost's name."""
        return self.n_rounds


def cross_validate(
    plan: Plan,
    parts: Sequence[tuple[Rows, Rows]],
    *,
    wait: int | None,
    maximize: bool | None = None,
    train_metrics: bool = True,
    callbacks: Sequence[object] | None = None,
    lines: FoldLines | None = None,
    predict: Callable[[Forest, Any], Any] | None = None,
    rates: Sequence[object] | None = None,
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
    callbacks : iterable, optional
        The user's callbacks; they see a `FoldsView` and a log of pairs (mean, deviation).
    lines : FoldLines, optional
        Where the metrics show.
    predict : callable, optional
        Predictions of a forest for a user's table, for callbacks.
    rates : iterable, optional
        Callbacks that are asked for learning rates and nothing else, besides `callbacks`.
    """
    from weald.estimators.xgboost.training import Training, Watched

    trainings = []
    for train, test in parts:
        own = [Watched(TRAIN, None, train.target.weight)] if train_metrics else []
        trainings.append(Training(plan, train, [*own, Watched(TEST, test)]))
    return train_folds(
        trainings,
        plan.boost.n_rounds,
        wait=wait,
        maximize=maximize,
        callbacks=callbacks,
        lines=lines,
        predict=predict,
        rates=rates,
    )


def train_folds(
    trainings: Sequence[Training],
    n_rounds: int,
    *,
    wait: int | None,
    maximize: bool | None = None,
    callbacks: Sequence[object] | None = None,
    lines: FoldLines | None = None,
    predict: Callable[[Forest, Any], Any] | None = None,
    rates: Sequence[object] | None = None,
    boosters: Sequence[Callable[[Forest], Any]] = (),
) -> CVResult:
    """Train all folds, each of which watches its rows as TRAIN and TEST; see `cross_validate`.

    Parameters
    ----------
    trainings : sequence of Training
        The folds.
    n_rounds : int
        The most rounds.
    wait, maximize, callbacks, lines, predict, rates
        As in `cross_validate`.
    boosters : sequence of callable
        For each fold, its forest as a Booster; none: callbacks see the views alone.
    """
    users = Callbacks(callbacks).all
    stopper = [] if wait is None else [EarlyStopping(wait, data_name=TEST, maximize=maximize)]
    asked = Callbacks([*users, *stopper, *([] if lines is None else [lines])])
    stoppers = [callback for callback in asked.all if isinstance(callback, EarlyStopping)]
    for each in stoppers:
        each.told({metric.name: metric.maximize for metric in trainings[0].metrics})
    least = n_rounds if not asked.all else 1 if users else max(wait or 0, 10)
    folds = _Folds(trainings, Callbacks([*users, *Callbacks(rates).all]), predict, boosters)
    folds.run(n_rounds, asked, least)
    return _result(folds, stoppers[-1] if stoppers else None)


class _Folds:
    """The trainings of all folds, side by side."""

    def __init__(
        self,
        trainings: Sequence[Training],
        rates: Callbacks,
        predict: Callable[[Forest, Any], Any] | None,
        boosters: Sequence[Callable[[Forest], Any]] = (),
    ) -> None:
        self.trainings = trainings
        self._rates = rates
        self.n_trained = 0  # rounds of every fold
        self.n_seen = 0  # those that callbacks have been told of, and that count
        self.log: FoldsLog = {}
        made = [None] * len(trainings) if not boosters else list(boosters)
        views = (self._model_view(each, predict, it) for each, it in zip(trainings, made, strict=True))
        self.view = FoldsView(tuple(views))

    def run(self, n_rounds: int, asked: Callbacks, least: int) -> None:
        """Train for so many rounds, or until a callback stops.

        Some rounds of a fold are trained at a time, at least `least` or a tenth of those there are: each
        start has its price, and a stop wastes no more than that. With `least` 1 it is round by round.
        """
        asked.run("before_training", self.view)
        while self.n_trained < n_rounds:
            if asked.run("before_iteration", self.view, self.n_seen, self.log):
                break
            ahead = min(1 if least == 1 else max(least, self.n_trained // 10), n_rounds - self.n_trained)
            if self._train(ahead, asked):
                break
        asked.run("after_training", self.view)

    def _train(self, ahead: int, asked: Callbacks) -> bool:
        """Some rounds of every fold, told to the callbacks one by one; True: stop."""
        rates = [_Rates(self._rates, self.n_trained)]
        logs = [training.add_rounds(ahead, callbacks=rates).evals_result for training in self.trainings]
        self.n_trained += ahead
        pairs = {
            (data, metric): _pairs(np.array([log[data][metric] for log in logs]))
            for data, metrics in logs[0].items()
            for metric in metrics
        }
        for i in range(ahead):
            for (data, metric), values in pairs.items():
                self.log.setdefault(data, {}).setdefault(metric, []).append(values[i])
            self.n_seen += 1
            if asked.run("after_iteration", self.view, self.n_seen - 1, self.log):
                return True
        return False

    def _model_view(
        self,
        training: Training,
        predict: Callable[[Forest, Any], Any] | None,
        booster: Callable[[Forest], Any] | None,
    ) -> ModelView:
        objective = training.objective

        def forest() -> Forest:
            return training.forest

        return ModelView(
            objective=objective.name,
            n_outputs=objective.n_outputs,
            n_rounds=lambda: self.n_trained,
            forest=forest,
            predict=None if predict is None else lambda X: predict(forest(), X),
            booster=booster,
        )


class _Rates(TrainingCallback):
    """The learning rates that callbacks ask for, in a training whose first round is not round 0."""

    def __init__(self, asked: Callbacks, first: int) -> None:
        self._asked, self._first = asked, first

    def learning_rate(self, round_: int) -> float | None:
        return self._asked.learning_rate(self._first + round_)


def _pairs(values: NDArray[np.float64]) -> list[tuple[float, float]]:
    """Mean and deviation over the folds, of each round."""
    return list(zip(values.mean(axis=0).tolist(), values.std(axis=0).tolist(), strict=True))


def _result(folds: _Folds, stopper: EarlyStopping | None) -> CVResult:
    columns: dict[str, list[float]] = {}
    best, score = folds.n_seen - 1, float("nan")
    if stopper is not None and stopper.best_round is not None:
        best = stopper.best_round
    for data, metrics in folds.log.items():
        for metric, pairs in metrics.items():
            columns[f"{data}-{metric}-mean"] = [mean for mean, _ in pairs[: best + 1]]
            columns[f"{data}-{metric}-std"] = [deviation for _, deviation in pairs[: best + 1]]
            if data == TEST:
                score = columns[f"{data}-{metric}-mean"][-1]
    return CVResult(columns, best, score)
