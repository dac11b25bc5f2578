"""`compare`: methods ranked by cross-validation, each with an interval, tested against the best."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from weald.arrays import AnyEstimator, ColumnLike, TableLike, TargetLike, WeightLike
from weald.data.frames.user_rows import count_rows, indexable, take
from weald.data.target import read_weight
from weald.errors import DataError, DataTypeError, UncertaintyWarning, WealdError
from weald.io.model_file import to_bytes
from weald.runs.advice import Shape, advice_by_shape
from weald.runs.folds import Metric, Part, answer_of, drawn_rows, metric_of, parts_of, rows_by_size
from weald.runs.gathering import Given, PathLike, Question, gather, name_of_column
from weald.runs.leaderboard import Leaderboard, Place
from weald.runs.methods import METHODS, make
from weald.runs.recipe import Recipe
from weald.runs.task import Task, task_of
from weald.runs.training import fitted
from weald.uncertainty.scores.compare import fold_t_test
from weald.uncertainty.scores.score_interval import score_interval

#: rows times trees that boosting may look at in each of many fits
MOST_BOOSTED_OF_MANY = 1.25e8
#: as many rows as minutes allow
AUTO: Final = "auto"


def compare(
    X: TableLike | PathLike,
    y: TargetLike | str | None = None,
    *,
    methods: Sequence[str] | None = None,
    task: str | None = None,
    folds: int = 5,
    groups: ColumnLike | str | None = None,
    sample_weight: WeightLike | str | None = None,
    max_rows: int | Literal["auto"] | None = AUTO,
    random_state: int = 0,
    n_jobs: int | None = None,
    tell: Callable[..., None] | None = None,
) -> Leaderboard:
    """Train several methods by cross-validation and rank them.

    Every row is predicted by a model that did not see it. The score is that of all rows together, its
    interval tells what other rows would give; the test against the best goes by folds, corrected for the rows
    that these share.

    Parameters
    ----------
    X : table, or str or path
        The rows; or the file that has them, whose useless columns are found and dropped as `weald fit` does.
    y : array-like of shape (n_rows,), or str
        Labels or numbers; of a file the name of the column, or None where columns have none (LIBSVM).
    methods : sequence of str, default=None
        Names that `weald methods` lists; None for all that suit the task.
    task : {"classification", "regression"}, default=None
        None goes by the values of `y`.
    folds : int, default=5
        How many.
    groups : array-like of shape (n_rows,), or str, default=None
        Rows of one group stay together; of a file the name of the column.
    sample_weight : array-like of shape (n_rows,), or str, default=None
        What rows count in training; methods that take no weights fail. Scores count every row alike. Of a
        file the name of the column.
    max_rows : int or "auto", default="auto"
        Of more rows so many are drawn, labels by their shares and groups whole; None takes all. "auto" takes
        20,000, and fewer of more than 10 labels or 100 columns, so that all methods take minutes; `notes` of
        the result says it.
    random_state : int, default=0
        For the folds, the methods and the rows drawn.
    n_jobs : int, default=None
        Threads of each method.
    tell : callable, default=None
        Called as tell(method, fold, folds, best) before each training; `best` says which method leads.

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
    given = _given(X, y, task, groups, sample_weight)
    notes = [str(each) for each in given.found] + given.notes
    n_given = len(given.task.y)
    most = rows_by_size(given.X, given.task) if max_rows == AUTO else max_rows
    if most is not None and n_given > most:
        given = _drawn(given, most, random_state)
        notes.append(f"{len(given.task.y):,} rows drawn from {n_given:,}; max_rows=None takes all.")
    known = given.task
    parts = list(parts_of(known, folds, random_state, given.groups))
    job = _Job(given.X, known, parts, metric_of(known), given.weight)
    trials, failed, chosen = _trials(job, methods, random_state, n_jobs, tell)
    if not trials:
        why = "; ".join(f"{method}: {message}" for method, message in failed.items())
        raise DataError(f"No method could be trained. {why or 'None was asked for.'}")
    places = _ranked(trials, known, job.metric, parts)
    shape = advice_by_shape(Shape.of(given.X, known), [each.method for each in places])
    return Leaderboard(job.metric[0], len(known.y), folds, places, failed, n_given, shape, (*notes, *chosen))


def _given(
    X: TableLike | PathLike,
    y: TargetLike | str | None,
    task: str | None,
    groups: ColumnLike | str | None,
    sample_weight: WeightLike | str | None,
) -> Given:
    """What the user gave, read from its file or checked."""
    if isinstance(X, str | os.PathLike):
        target, weight, group = (
            name_of_column(value, name, "compare")
            for value, name in ((y, "y"), (sample_weight, "sample_weight"), (groups, "groups"))
        )
        return gather(Question((os.fspath(X),), target, task, weight, group))
    if y is None:
        raise DataTypeError("compare needs `y`: the labels or numbers to learn.")
    table, known = indexable(X), task_of(y, task)
    n_rows = count_rows(table)
    if n_rows != len(known.y):
        raise DataError(f"X has {n_rows:,} rows and y has {len(known.y):,}.")
    held = None if groups is None else np.asarray(groups)
    return Given(table, known, [], [], read_weight(sample_weight, n_rows=n_rows), held)


def _drawn(given: Given, most: int, seed: int) -> Given:
    """Some of the rows."""
    rows = drawn_rows(given.task, most, seed, given.groups)
    return replace(
        given,
        X=take(given.X, rows),
        task=replace(given.task, y=given.task.y[rows]),
        weight=None if given.weight is None else given.weight[rows],
        groups=None if given.groups is None else given.groups[rows],
    )


def _trials(
    job: _Job,
    methods: Sequence[str] | None,
    seed: int,
    n_jobs: int | None,
    tell: Callable[..., None] | None,
) -> tuple[list[_Trial], dict[str, str], list[str]]:
    """Each method on all folds, why those that failed did, and what was chosen for the size of the table."""
    trials: list[_Trial] = []
    failed: dict[str, str] = {}
    notes: list[str] = []
    for method in METHODS if methods is None else methods:
        try:
            make(method, job.task.kind)
        except WealdError:
            if methods is not None:
                raise
            continue  # learns something else
        best = _best_of(trials, job)
        try:
            recipe = Recipe(method, seed, n_jobs, most_boosted=MOST_BOOSTED_OF_MANY)
            trials.append(_trial(recipe, job, partial(_told, tell, best)))
            notes += _remarks(recipe, job)
        except (WealdError, MemoryError) as error:
            failed[method] = str(error)
    return trials, failed, notes


def _remarks(recipe: Recipe, job: _Job) -> list[str]:
    """What boosting does otherwise because the table is large."""
    train = job.parts[0][0]
    words = (
        ""
        if recipe.method == "svm"
        else recipe.words(take(job.table, train), job.task.y[train], job.task.kind)
    )
    return [f"{recipe.method}: {words}"] if words else []


def _told(tell: Callable[..., None] | None, best: str, method: str, fold: int, folds: int) -> None:
    if tell is not None:
        tell(method, fold, folds, best)


def _best_of(trials: Sequence[_Trial], job: _Job) -> str:
    if not trials:
        return ""
    scored = [(float(job.metric[2](job.task.y, each.said)), each.method) for each in trials]
    return f"best so far: {max(scored)[1]}, {job.metric[0]} {max(scored)[0]:.4f}"


@dataclass(frozen=True, slots=True)
class _Trial:
    method: str
    estimator: str
    said: NDArray[Any]  # of every row, by the model that did not see it
    fold_scores: tuple[float, ...]
    fit_seconds: float
    predict_seconds: float
    model_bytes: int | None


@dataclass(frozen=True, slots=True)
class _Job:
    """What every method gets."""

    table: TableLike
    task: Task
    parts: list[Part]
    metric: Metric
    weight: NDArray[np.float64] | None


def _trial(recipe: Recipe, job: _Job, tell: Callable[[str, int, int], None]) -> _Trial:
    """One method on all folds."""
    said: NDArray[Any] | None = None
    scores, fit_seconds, predict_seconds = [], 0.0, 0.0
    model: AnyEstimator = None
    y = job.task.y
    for fold, (train, test) in enumerate(job.parts):
        tell(recipe.method, fold, len(job.parts))
        weight = None if job.weight is None else job.weight[train]
        model, seconds = fitted(recipe, take(job.table, train), y[train], job.task, weight)
        start = time.perf_counter()
        answer = answer_of(model, take(job.table, test), job.metric)
        fit_seconds, predict_seconds = fit_seconds + seconds, predict_seconds + time.perf_counter() - start
        said = np.empty(len(y), answer.dtype) if said is None else said
        said[test] = answer
        scores.append(float(job.metric[2](y[test], answer)))
    assert said is not None
    n = len(job.parts)
    return _Trial(
        recipe.method,
        type(model).__name__,
        said,
        tuple(scores),
        fit_seconds / n,
        predict_seconds / n,
        _size(model),
    )


def _size(model: AnyEstimator) -> int | None:
    try:
        return len(to_bytes(model))
    except (WealdError, AttributeError):
        return None


def _ranked(trials: Sequence[_Trial], task: Task, metric: Metric, parts: Sequence[Part]) -> tuple[Place, ...]:
    def whole_score(trial: _Trial) -> float:
        return float(metric[2](task.y, trial.said))

    order = sorted(trials, key=whole_score, reverse=True)
    train, test = parts[0]
    places = []
    for trial in order:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UncertaintyWarning)  # a score of 1, equal folds: no spread
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
