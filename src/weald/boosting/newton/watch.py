"""What happens around each round: metrics of the watched rows, callbacks, early stopping, progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Self, TypeAlias

import numpy as np

from weald.arrays import Floats
from weald.boosting.callbacks import Callbacks, EvalsLog, ModelView
from weald.boosting.metrics.names import Metric
from weald.boosting.records import WatchedRows
from weald.boosting.stopping import EarlyStopping
from weald.errors import DataError, ParameterError
from weald.progress import Progress

#: raw scores (n_outputs, n_rows) → predictions (n_rows,) or (n_rows, n_outputs)
Link: TypeAlias = Callable[[Floats], Floats]
#: the name of a set, its raw scores (n_outputs, n_rows) and its predictions → names and values of metrics
OwnMetric: TypeAlias = Callable[[str, Floats, Floats], Sequence[tuple[str, float]]]


class Watch:
    """Follows a training; the loop calls it around each round and stops when told to.

    A context manager: leaving it closes the progress display, whatever happened. The calls, in order:
    `before_training`; for each round `before_round`, then, once the scores of every set have the round's
    trees in them, `after_round`; `after_training`.

    Parameters
    ----------
    sets : sequence of WatchedRows
        The rows to measure on; the loop keeps their scores up to date. Names are the user's "validation_0",
        ….
    metrics : sequence of Metric
        What to measure; the last one decides early stopping.
    link : callable
        Raw scores (n_outputs, n_rows) → predictions as users see them: (n_rows,) or (n_rows, n_outputs).
    callbacks : iterable, optional
        The user's callbacks, asked in order; early stopping comes after them.
    early_stopping : EarlyStopping, optional
        Of the constructor option; one among the callbacks works as well.
    progress : Progress, optional
        The display of `verbose=1`.
    own_metric : callable, optional
        More metrics, which name themselves; they come last.

    Attributes
    ----------
    evals_result : dict
        `{set name: {metric name: [value of each round of this training]}}`.
    """

    def __init__(
        self,
        *,
        sets: Sequence[WatchedRows] = (),
        metrics: Sequence[Metric] = (),
        link: Link,
        callbacks: Iterable[Any] | None = None,
        early_stopping: EarlyStopping | None = None,
        progress: Progress | None = None,
        own_metric: OwnMetric | None = None,
    ) -> None:
        _check_sets(sets)
        self._own_metric = own_metric
        self._sets = list(sets)
        self._metrics = list(metrics)
        self._link = link
        own = [] if early_stopping is None else [early_stopping]
        self._callbacks = Callbacks([*Callbacks(callbacks).all, *own])
        self._stoppers = [c for c in self._callbacks.all if isinstance(c, EarlyStopping)]
        self._progress = progress
        self.evals_result: EvalsLog = {}

    @property
    def sets(self) -> list[WatchedRows]:
        """The rows measured on."""
        return self._sets

    @property
    def watches(self) -> bool:
        """Whether the scores of any set are wanted after each round."""
        return bool(self._sets) and self._measures

    @property
    def _measures(self) -> bool:
        return bool(self._metrics) or self._own_metric is not None

    @property
    def best_round(self) -> int | None:
        """The best round by early stopping (xgboost: best_iteration); None without it."""
        return self._stoppers[-1].best_round if self._stoppers else None

    @property
    def best_score(self) -> float | None:
        """The value of the deciding metric in the best round; None without early stopping."""
        return self._stoppers[-1].best_score if self._stoppers else None

    @property
    def n_rounds_kept(self) -> int | None:
        """How many rounds the model shall keep where `save_best` asks for that; None: all."""
        saves = bool(self._stoppers) and self._stoppers[-1].save_best
        return self.best_round + 1 if saves and self.best_round is not None else None

    def learning_rate(self, round_: int, otherwise: float) -> float:
        """The learning rate of a round: a scheduler's among the callbacks, or `otherwise`."""
        rate = self._callbacks.learning_rate(round_)
        return otherwise if rate is None else rate

    def before_training(self, view: ModelView | None) -> None:
        """Call once, before the first round."""
        self.evals_result.clear()
        for stopper in self._stoppers:
            stopper.told({metric.name: metric.maximize for metric in self._metrics})
        if self._progress is not None:
            self._progress.start()
        self._callbacks.run("before_training", view)

    def before_round(self, view: ModelView | None, round_: int) -> bool:
        """Call before each round, numbered from 0 in this training; True: stop."""
        return self._callbacks.run("before_iteration", view, round_, self.evals_result)

    def after_round(self, view: ModelView | None, round_: int) -> bool:
        """Call after each round, when the sets' scores have it in them; True: stop."""
        self._measure()
        stop = self._callbacks.run("after_iteration", view, round_, self.evals_result)
        if self._progress is not None:
            self._progress.advance(self.evals_result)
        return stop

    def after_training(self, view: ModelView | None) -> None:
        """Call once, after the last round."""
        if self._progress is not None:
            self._progress.close()
        self._callbacks.run("after_training", view)

    def _measure(self) -> None:
        if not self._measures:
            return
        for rows in self._sets:
            predictions = self._link(rows.scores)
            log = self.evals_result.setdefault(rows.name, {})
            for metric in self._metrics:
                log.setdefault(metric.name, []).append(metric(predictions, rows.target))
            if self._own_metric is not None:
                for name, value in self._own_metric(rows.name, rows.scores, predictions):
                    log.setdefault(name, []).append(value)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.close()


def _check_sets(sets: Sequence[WatchedRows]) -> None:
    names = [rows.name for rows in sets]
    for rows in sets:
        if names.count(rows.name) > 1:
            raise ParameterError(f"Two watched sets are called {rows.name!r}. Give each a name of its own.")
        if rows.target.n_rows == 0:
            raise DataError(f"The watched set {rows.name!r} has no rows, so nothing can be measured on it.")
        if rows.target.weight is not None and not np.any(rows.target.weight > 0.0):
            raise DataError(
                f"All rows of the watched set {rows.name!r} have weight 0, so nothing can be measured on it."
            )
