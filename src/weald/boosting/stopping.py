"""Early stopping: no improvement for so many rounds ends the training, and the best round is known."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from weald.boosting.callbacks import BoostedModel, EvalsLog, Model, TrainingCallback
from weald.boosting.metrics.names import more_is_better
from weald.errors import DataError, ParameterError, listing, nearest


class EarlyStopping(TrainingCallback):
    """Stop after `rounds` rounds without improvement; names and meaning are xgboost's.

    Parameters
    ----------
    rounds : int
        How many rounds in a row may pass without a better value.
    metric_name : str, optional
        The metric that decides; by default the last one.
    data_name : str, optional
        The rows that decide, such as "validation_0"; by default the last ones.
    maximize : bool, optional
        Whether more is better; by default as the metric has it.
    save_best : bool, default False
        Whether the model keeps the rounds up to the best one only.
    min_delta : float, default 0.0
        A change has to be larger than this to be an improvement.

    Attributes
    ----------
    best_round : int or None
        The round of the best value, counted from the model's first round.
    best_score : float or None
        The best value.

    Examples
    --------
    >>> import weald
    >>> X, y = [[0.0], [1.0]] * 20, [0, 1] * 20
    >>> stop = weald.EarlyStopping(rounds=2, min_delta=0.05)
    >>> model = weald.XGBClassifier(n_estimators=100, callbacks=[stop])
    >>> model.fit(X, y, eval_set=[(X, y)]).best_iteration < 99
    True
    """

    def __init__(
        self,
        rounds: int,
        metric_name: str | None = None,
        data_name: str | None = None,
        maximize: bool | None = None,
        save_best: bool = False,
        min_delta: float = 0.0,
    ) -> None:
        if not isinstance(rounds, int | np.integer) or isinstance(rounds, bool) or rounds < 1:
            raise ParameterError(
                f"`rounds` of early stopping must be a whole number from 1; got {rounds!r}. To train without "
                "it leave `early_stopping_rounds` None."
            )
        if maximize is not None and not isinstance(maximize, bool | np.bool_):
            raise ParameterError(
                f"`maximize` of early stopping must be True, False or None; got {maximize!r}. Use None to go "
                "by the metric."
            )
        if not isinstance(min_delta, int | float | np.number) or not 0.0 <= min_delta < math.inf:
            raise ParameterError(f"`min_delta` of early stopping must be a number from 0; got {min_delta!r}.")
        self.rounds = int(rounds)
        self.metric_name = metric_name
        self.data_name = data_name
        self.maximize = maximize
        self.save_best = bool(save_best)
        self.min_delta = float(min_delta)
        self.best_round: int | None = None
        self.best_score: float | None = None
        self._directions: Mapping[str, bool] = {}
        self._first_round = 0
        self._waited = 0

    def told(self, directions: Mapping[str, bool]) -> None:
        """Learn of each metric whether more is better; of others the name says it."""
        self._directions = directions

    def before_training(self, model: Model) -> Model:
        """Begin afresh, for one object may serve several trainings; rounds count from those the model has."""
        self.best_round = self.best_score = None
        self._first_round = int(model.num_boosted_rounds())
        self._waited = 0
        return model

    def after_iteration(self, model: BoostedModel, epoch: int, evals_log: EvalsLog) -> bool:
        """Compare this round's value with the best one so far."""
        if not evals_log:
            raise ParameterError(
                "Early stopping needs rows to go by: give `eval_set`, or leave `early_stopping_rounds` None."
            )
        data = _chosen(self.data_name, evals_log, "data_name", "set")
        metric = _chosen(self.metric_name, evals_log[data], "metric_name", "metric")
        latest: Any = evals_log[data][metric][-1]
        score = float(latest[0] if isinstance(latest, tuple) else latest)  # of folds: (mean, deviation)
        if self.best_score is None:
            _check_number(score, metric, data)
        if self.best_score is None or self._better(score, self.best_score, metric):
            self.best_score, self.best_round = score, self._first_round + epoch
            self._waited = 0
        else:
            self._waited += 1
        return self._waited >= self.rounds

    def _better(self, new: float, best: float, metric: str) -> bool:
        maximize = self.maximize
        if maximize is None:
            maximize = self._directions.get(metric, more_is_better(metric))
        return new - self.min_delta > best if maximize else best - self.min_delta > new


def _chosen(name: str | None, offered: Iterable[str], parameter: str, word: str) -> str:
    names = list(offered)
    if name is None:
        return names[-1]
    if name not in names:
        close = nearest(str(name), names)
        hint = f"Did you mean {close!r}?" if close else f"There are {listing(names)}."
        raise ParameterError(f"`{parameter}` of early stopping: no {word} is called {name!r}. {hint}")
    return name


def _check_number(score: float, metric: str, data: str) -> None:
    """The first value of all starts the comparison: were it NaN, no later one would ever be better."""
    if math.isnan(score):
        raise DataError(
            f"Early stopping cannot go by {metric!r} on {data!r}: it is NaN. Areas under a curve need rows "
            "of every class with weight there; choose another metric, or other rows."
        )
