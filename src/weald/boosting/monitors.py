"""Callbacks that tell or keep what a training does, under xgboost's names."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from weald.arrays import AnyEstimator
from weald.boosting.callbacks import BoostedModel, EvalsLog, Model, TrainingCallback
from weald.errors import ParameterError


class EvaluationMonitor(TrainingCallback):
    """Write the metrics of each round, in xgboost's lines.

    Parameters
    ----------
    rank : int, default=0
        Accepted: there is one worker.
    period : int, default=1
        Write the first round and every so many after it; the last one always.
    show_stdv : bool, default=False
        Of `cv`: whether to write the standard deviations too.
    logger : callable, default=print
        What each line is given to.

    Examples
    --------
    >>> import weald
    >>> lines = []
    >>> monitor = weald.callback.EvaluationMonitor(period=2, logger=lines.append)
    >>> X, y = [[0.0], [1.0]] * 8, [0.0, 1.0] * 8
    >>> model = weald.XGBRegressor(n_estimators=3, callbacks=[monitor])
    >>> _ = model.fit(X, y, eval_set=[(X, y)], verbose=False)
    >>> [line.split()[0] for line in lines]
    ['[0]', '[2]']
    """

    def __init__(
        self,
        rank: int = 0,
        period: int = 1,
        show_stdv: bool = False,
        logger: Callable[[str], object] | None = None,
    ) -> None:
        self.printer_rank = rank
        self.period = _interval(period, "period of EvaluationMonitor")
        self.show_stdv = show_stdv
        self._logger = logger
        self._held: str | None = None  # the line of the last round, if it was passed over

    def after_iteration(self, model: BoostedModel, epoch: int, evals_log: EvalsLog) -> bool:
        """Write the round's line, or hold it."""
        if not evals_log:
            return False
        metrics = [
            self._written(f"{data}-{metric}", values[-1])
            for data, log in evals_log.items()
            for metric, values in log.items()
        ]
        line = "\t".join([f"[{epoch}]", *metrics])
        shown = epoch % self.period == 0
        self._held = None if shown else line
        if shown:
            self._write(line)
        return False

    def after_training(self, model: Model) -> Model:
        """Write the line that was held."""
        if self._held is not None:
            self._write(self._held)
            self._held = None
        return model

    def _written(self, name: str, value: object) -> str:
        if isinstance(value, tuple):  # of folds: mean and deviation
            mean, deviation = value
            return f"{name}:{mean:.5f}+{deviation:.5f}" if self.show_stdv else f"{name}:{mean:.5f}"
        return f"{name}:{value:.5f}"

    def _write(self, line: str) -> None:
        if self._logger is None:
            print(line)  # what this callback is for
        else:
            self._logger(line + "\n")


class TrainingCheckPoint(TrainingCallback):
    """Save the model every so many rounds, as `name_round.weald` in a directory.

    Parameters
    ----------
    directory : str or path-like
        Where to; it must exist.
    name : str, default="model"
        What the files' names begin with.
    as_pickle : bool, default=False
        Whether to pickle the Booster, with all parameters, to `name_round.pkl` instead.
    interval : int, default=100
        Every how many rounds; the first file is written after round `interval`, counted from 0.

    Examples
    --------
    >>> import os, tempfile, weald
    >>> folder = tempfile.mkdtemp()
    >>> keep = weald.callback.TrainingCheckPoint(folder, interval=2)
    >>> train = weald.DMatrix([[0.0], [1.0]] * 8, label=[0.0, 1.0] * 8)
    >>> _ = weald.train({}, train, 5, callbacks=[keep])
    >>> sorted(os.listdir(folder))
    ['model_2.weald', 'model_4.weald']
    """

    #: what the names of the files end in
    default_format: ClassVar[str] = "weald"

    def __init__(
        self,
        directory: str | os.PathLike[str],
        name: str = "model",
        as_pickle: bool = False,
        interval: int = 100,
    ) -> None:
        self._directory = os.fspath(directory)
        self._name = name
        self._as_pickle = as_pickle
        self._interval = _interval(interval, "interval of TrainingCheckPoint")
        self._first = 0

    def before_training(self, model: Model) -> Model:
        """Count from the rounds that the model has."""
        self._first = int(model.num_boosted_rounds())
        return model

    def after_iteration(self, model: BoostedModel, epoch: int, evals_log: EvalsLog) -> bool:
        """Save, if it is time."""
        if epoch > 0 and epoch % self._interval == 0:
            ending = "pkl" if self._as_pickle else self.default_format
            path = os.path.join(self._directory, f"{self._name}_{self._first + epoch}.{ending}")
            booster: AnyEstimator = model.booster() if hasattr(model, "booster") else model
            if self._as_pickle:
                with open(path, "wb") as file:
                    pickle.dump(booster, file)
            else:
                booster.save(path)
        return False


def _interval(value: object, what: str) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise ParameterError(
            f"`{what} must be a whole number from 1; got {value!r}.".replace(" of", "` of", 1)
        )
    return int(value)
