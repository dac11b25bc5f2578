"""`compare`: methods ranked by cross-validation, each with an interval, tested against the best."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from weald.arrays import AnyEstimator, ColumnLike, TableLike, TargetLike, WeightLike
from weald.data.frames.user_rows import count_rows, indexable, take
from weald.data.target import read_weight
from weald.errors import DataError, UncertaintyWarning, WealdError, listing
from weald.io.model_file import to_bytes
from weald.runs.advice import Shape, advice_by_shape
from weald.runs.methods import METHODS, make
from weald.runs.recipe import Recipe
from weald.runs.task import CLASSIFICATION, Task, task_of
from weald.runs.training import fitted
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
    #: rows there were to draw from; 0 where that was not told
    n_given_rows: int = 0
    #: what the shape of the table says of methods
    by_shape: str = ""

    def advice(self) -> str:
        """One line: what to take, and what the shape of the table says."""
        return f"{self._take()} {self.by_shape}".strip()

    def _take(self) -> str:
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
    sample_weight: WeightLike | None = None,
    max_rows: int | None = None,
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
    sample_weight : array-like of shape (n_rows,), default=None
        What rows count in training; methods that take no weights fail. Scores count every row alike.
    max_rows : int, default=None
        Of more rows so many are drawn, labels by their shares and groups whole; None takes all.
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
    table, known = indexable(X), task_of(y, task)
    n_rows = count_rows(table)
    if n_rows != len(known.y):
        raise DataError(f"X has {n_rows:,} rows and y has {len(known.y):,}.")
    weight = read_weight(sample_weight, n_rows=n_rows)
    held = None if groups is None else np.asarray(groups)
    if max_rows is not None and n_rows > max_rows:
        rows = drawn_rows(known, max_rows, random_state, held)
        table, known = take(table, rows), replace(known, y=known.y[rows])
        weight = None if weight is None else weight[rows]
        held = None if held is None else held[rows]
    job = _Job(table, known, list(_parts(known, folds, random_state, held)), metric_of(known), weight)
    trials: list[_Trial] = []
    failed: dict[str, str] = {}
    for method in METHODS if methods is None else methods:
        try:
            make(method, known.kind)
        except WealdError:
            if methods is not None:
                raise
            continue  # learns something else
        best = _best_of(trials, job)
        try:
            trials.append(_trial(Recipe(method, random_state, n_jobs), job, partial(_told, tell, best)))
        except (WealdError, MemoryError) as error:
            failed[method] = str(error)
    if not trials:
        why = "; ".join(f"{method}: {message}" for method, message in failed.items())
        raise DataError(f"No method could be trained. {why or 'None was asked for.'}")
    places = _ranked(trials, known, job.metric, job.parts)
    shape = advice_by_shape(Shape.of(table, known), [each.method for each in places])
    return Leaderboard(job.metric[0], len(known.y), folds, places, failed, n_rows, shape)


def _told(tell: Callable[..., None] | None, best: str, method: str, fold: int, folds: int) -> None:
    if tell is not None:
        tell(method, fold, folds, best)


def _best_of(trials: Sequence[_Trial], job: _Job) -> str:
    if not trials:
        return ""
    scored = [(float(job.metric[2](job.task.y, each.said)), each.method) for each in trials]
    return f"best so far: {max(scored)[1]}, {job.metric[0]} {max(scored)[0]:.4f}"


def drawn_rows(
    task: Task, most: int, seed: int, groups: NDArray[np.generic] | None = None
) -> NDArray[np.int64]:
    """Rows drawn by chance: of labels their shares and at least one each, of groups all rows or none."""
    rng, n = np.random.default_rng(seed), len(task.y)
    if groups is not None:
        _, of = np.unique(groups, return_inverse=True)
        sizes = np.bincount(of)
        order = rng.permutation(len(sizes))
        kept = order[: max(2, int(np.searchsorted(np.cumsum(sizes[order]), most, "right")))]
        return np.flatnonzero(np.isin(of, kept))
    if task.kind != CLASSIFICATION:
        return np.sort(rng.choice(n, most, replace=False))
    key, label = rng.random(n), np.unique(task.y, return_inverse=True)[1]
    order = np.lexsort((key, label))
    sizes = np.bincount(label)
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    wanted = np.maximum(np.round(sizes * (most / n)).astype(np.int64), np.minimum(sizes, 2))
    return np.flatnonzero(rank < wanted[label])


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
Metric = tuple[str, str, Callable[..., float]]


def _parts(task: Task, folds: int, seed: int, groups: NDArray[Any] | None) -> Iterator[_Part]:
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
    yield from splitter.split(np.zeros(len(task.y)), task.y, groups)


def metric_of(task: Task) -> Metric:
    """What models are compared by: its name, scikit-learn's word for it, its function."""
    if task.kind != CLASSIFICATION:
        return _R2
    return _AREA if len(np.unique(task.y)) == 2 else _ACCURACY


@dataclass(frozen=True, slots=True)
class _Job:
    """What every method gets."""

    table: TableLike
    task: Task
    parts: list[_Part]
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


def answer_of(model: AnyEstimator, table: TableLike, metric: Metric) -> NDArray[Any]:
    """What the metric takes of a model."""
    if metric is not _AREA:
        return np.asarray(model.predict(table))
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(table)[:, 1])
    return np.asarray(model.decision_function(table))


def _size(model: AnyEstimator) -> int | None:
    try:
        return len(to_bytes(model))
    except (WealdError, AttributeError):
        return None


def _ranked(
    trials: Sequence[_Trial], task: Task, metric: Metric, parts: Sequence[_Part]
) -> tuple[Place, ...]:
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
