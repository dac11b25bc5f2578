"""`compare`: methods ranked by cross-validation, each with an interval, tested against the best."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from weald.arrays import ColumnLike, TableLike, TargetLike
from weald.data.frames.user_rows import count_rows, indexable, take
from weald.errors import DataError, UncertaintyWarning, WealdError, listing
from weald.io.model_file import to_bytes
from weald.runs.methods import METHODS, make
from weald.runs.task import CLASSIFICATION, Task, task_of
from weald.uncertainty.scores.compare import fold_t_test
from weald.uncertainty.scores.score_interval import score_interval

#: what methods are compared by: their name, scikit-learn's word for it, and its function
_AREA = ("AUC", "roc_auc", roc_auc_score)
_ACCURACY = ("accuracy", "accuracy", accuracy_score)
_R2 = ("R²", "r2", r2_score)


@dataclass(frozen=True, slots=True)
class Place:
    """How one method did."""

    method: str
    estimator: str
    score: float
    low: float
    high: float
    fold_scores: tuple[float, ...]
    #: that the best one scores no higher on other rows; None for the best one
    p_value: float | None
    fit_seconds: float
    predict_seconds: float
    model_bytes: int | None


@dataclass(frozen=True)
class Leaderboard:
    """Methods from the best score down; `failed` names those that could not be trained, and why."""

    metric: str
    n_rows: int
    n_folds: int
    places: tuple[Place, ...]
    failed: Mapping[str, str] = field(default_factory=dict)

    def advice(self) -> str:
        """One line: what to take."""
        best, *others = self.places
        alike = [each for each in others if (each.p_value or 0) > 0.05 and each.score >= best.low]
        quicker = min((best, *alike), key=lambda each: each.fit_seconds)
        if quicker is best:
            tail = f"; {listing([each.method for each in alike])} cannot be told from it" if alike else ""
            return f"Take {best.method}{tail}."
        return f"{best.method} scores best; {quicker.method} cannot be told from it and trains faster."

    def __str__(self) -> str:
        """As a table of text."""
        lines = [f"{self.metric} by {self.n_folds} folds of {self.n_rows:,} rows"]
        for each in self.places:
            p = "" if each.p_value is None else f"  p {each.p_value:.3f}"
            lines.append(f"{each.method:16}{each.score:.4f}  {each.low:.4f} … {each.high:.4f}{p}")
        lines += [f"{method:16}failed: {why}" for method, why in self.failed.items()]
        return "\n".join([*lines, self.advice()])

    def _repr_html_(self) -> str:
        """For notebooks."""
        from weald.runs.showing import leaderboard_html

        return leaderboard_html(self)


def compare(
    X: TableLike,
    y: TargetLike,
    *,
    methods: Sequence[str] | None = None,
    task: str | None = None,
    folds: int = 5,
    groups: ColumnLike | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    tell: Callable[[str, int, int], None] | None = None,
) -> Leaderboard:
    """Train several methods by cross-validation and rank them.

    Every row is predicted by a model that did not see it. The score is that of all rows together, its
    interval tells what other rows would give; the test against the best goes by folds, corrected for the rows
    that these share.

    Parameters
    ----------
    X : table
        The rows.
    y : array-like of shape (n_rows,)
        Labels or numbers.
    methods : sequence of str, default=None
        Names that `weald methods` lists; None for all that suit the task.
    task : {"classification", "regression"}, default=None
        None goes by the values of `y`.
    folds : int, default=5
        How many.
    groups : array-like of shape (n_rows,), default=None
        Rows of one group stay together.
    random_state : int, default=0
        For the folds and the methods.
    n_jobs : int, default=None
        Threads of each method.
    tell : callable, default=None
        Called as tell(method, fold, folds) before each training.

    Returns
    -------
    Leaderboard
        Printed, it is a table of text.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> board = compare(X, X[:, 0] > 0, methods=["tree", "forest"], folds=3)
    >>> sorted(place.method for place in board.places), board.metric
    (['forest', 'tree'], 'AUC')
    """
    table, known = indexable(X), task_of(y, task)
    n_rows = count_rows(table)
    if n_rows != len(known.y):
        raise DataError(f"X has {n_rows:,} rows and y has {len(known.y):,}.")
    parts = list(_parts(known, folds, random_state, groups))
    metric = _metric(known)
    chosen = METHODS if methods is None else tuple(methods)
    trials, failed = [], {}
    for method in chosen:
        try:
            make(method, known.kind)
        except WealdError:
            if methods is not None:
                raise
            continue  # learns something else
        try:
            trials.append(_trial(method, table, known, parts, metric, random_state, n_jobs, tell))
        except (WealdError, MemoryError) as error:
            failed[method] = str(error)
    if not trials:
        raise DataError(f"No method could be trained: {failed}.")
    return Leaderboard(metric[0], n_rows, folds, _ranked(trials, known, metric, parts), failed)


@dataclass(frozen=True, slots=True)
class _Trial:
    method: str
    estimator: str
    said: NDArray[Any]  # of every row, by the model that did not see it
    fold_scores: tuple[float, ...]
    fit_seconds: float
    predict_seconds: float
    model_bytes: int | None


_Part = tuple[NDArray[np.int64], NDArray[np.int64]]
_Metric = tuple[str, str, Callable[..., float]]


def _parts(task: Task, folds: int, seed: int, groups: ColumnLike | None) -> Iterator[_Part]:
    labels = task.kind == CLASSIFICATION
    n_rarest = np.unique(task.y, return_counts=True)[1].min() if labels else folds
    if not 2 <= folds <= len(task.y):
        raise DataError(f"{folds} folds of {len(task.y)} rows cannot be made; use 2 to {len(task.y)}.")
    splitter: Any
    if groups is not None:
        splitter = (
            StratifiedGroupKFold(folds, shuffle=True, random_state=seed) if labels else GroupKFold(folds)
        )
    elif labels and n_rarest >= folds:
        splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    else:
        splitter = KFold(folds, shuffle=True, random_state=seed)
    yield from splitter.split(np.zeros(len(task.y)), task.y, None if groups is None else np.asarray(groups))


def _metric(task: Task) -> _Metric:
    if task.kind != CLASSIFICATION:
        return _R2
    return _AREA if len(np.unique(task.y)) == 2 else _ACCURACY


def _trial(
    method: str,
    table: TableLike,
    task: Task,
    parts: Sequence[_Part],
    metric: _Metric,
    seed: int,
    threads: int | None,
    tell: Callable[[str, int, int], None] | None,
) -> _Trial:
    """One method on all folds."""
    said: NDArray[Any] | None = None
    scores, fit_seconds, predict_seconds = [], 0.0, 0.0
    model: Any = None
    for fold, (train, test) in enumerate(parts):
        if tell is not None:
            tell(method, fold, len(parts))
        model = make(method, task.kind, seed=seed, threads=threads)
        start = time.perf_counter()
        model.fit(take(table, train), task.y[train])
        middle = time.perf_counter()
        answer = _answer(model, take(table, test), metric)
        fit_seconds, predict_seconds = (
            fit_seconds + middle - start,
            predict_seconds + time.perf_counter() - middle,
        )
        said = np.empty(len(task.y), answer.dtype) if said is None else said
        said[test] = answer
        scores.append(float(metric[2](task.y[test], answer)))
    assert said is not None
    n = len(parts)
    return _Trial(
        method, type(model).__name__, said, tuple(scores), fit_seconds / n, predict_seconds / n, _size(model)
    )


def _answer(model: Any, table: TableLike, metric: _Metric) -> NDArray[Any]:
    if metric is not _AREA:
        return np.asarray(model.predict(table))
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(table)[:, 1])
    return np.asarray(model.decision_function(table))


def _size(model: Any) -> int | None:
    try:
        return len(to_bytes(model))
    except (WealdError, AttributeError):
        return None


def _ranked(
    trials: Sequence[_Trial], task: Task, metric: _Metric, parts: Sequence[_Part]
) -> tuple[Place, ...]:
    def whole_score(trial: _Trial) -> float:
        return float(metric[2](task.y, trial.said))

    order = sorted(trials, key=whole_score, reverse=True)
    train, test = parts[0]
    places = []
    for trial in order:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UncertaintyWarning)  # a score of 1 has no spread
            found = score_interval(trial.said, None, task.y, metric[1], random_state=0)
        p_value = None
        if trial is not order[0]:
            p_value = fold_t_test(
                order[0].fold_scores, trial.fold_scores, n_train=len(train), n_test=len(test)
            ).p_value
        places.append(
            Place(
                trial.method,
                trial.estimator,
                found.score,
                found.low,
                found.high,
                trial.fold_scores,
                p_value,
                trial.fit_seconds,
                trial.predict_seconds,
                trial.model_bytes,
            )
        )
    return tuple(places)
