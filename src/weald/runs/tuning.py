"""`weald tune`: a search by successive halving whose scores outlive an interrupt.

scikit-learn's HalvingRandomSearchCV decides which settings are tried on which rows. It is given row numbers
in the place of the table, and an estimator that asks a memory first: what was scored before, in this process
or an earlier one, is not trained again.
"""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GroupKFold, HalvingRandomSearchCV, KFold, StratifiedKFold

from weald import __version__
from weald.arrays import AnyTable
from weald.data.frames.user_rows import take
from weald.errors import DataError, WealdError
from weald.runs.folds import answer_of, metric_of
from weald.runs.recipe import Recipe
from weald.runs.spaces import drawn_settings
from weald.runs.task import CLASSIFICATION, Task
from weald.runs.training import fitted

#: one setting in so many goes on to a round of so many times the rows
FACTOR = 3
#: the fewest rows of the first round
FEWEST_ROWS = 200


@dataclass(frozen=True, slots=True)
class Trial:
    """A setting, the most rows that it was tried on, and its mean score over folds there."""

    settings: Mapping[str, object]
    n_rows: int
    score: float


@dataclass(frozen=True, slots=True)
class Tuning:
    """What was found: trials from the best down, those on most rows first."""

    metric: str
    trials: tuple[Trial, ...]
    #: fits that were done, and those whose scores were known
    n_fits: int
    n_known: int

    @property
    def best(self) -> dict[str, object]:
        """The settings to take."""
        return dict(self.trials[0].settings)


class Memory:
    """Scores by settings and rows, in a file of one line each if there is to be one.

    Parameters
    ----------
    path : Path or None
        The file; it is made, or read if it is there.
    about : mapping
        What search it is of: a file of another is refused.
    """

    def __init__(self, path: Path | None, about: Mapping[str, object]) -> None:
        self._known: dict[str, float] = {}
        self._path = path
        if path is None:
            return
        head = json.dumps(dict(about), sort_keys=True, ensure_ascii=False)
        if not path.exists() or path.stat().st_size == 0:
            path.write_text(head + "\n", encoding="utf-8")
            return
        first, *lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        if first != head:
            raise DataError(f"{path} holds {_difference(first, about)}. Name another file for this search.")
        for line in lines:
            try:
                key, score = json.loads(line)
            except ValueError:  # the last line of a search that was killed
                continue
            self._known[str(key)] = -math.inf if score is None else float(score)
        if lines and lines[-1]:
            path.write_text("\n".join([first, *(each for each in lines[:-1])]) + "\n", encoding="utf-8")

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def __getitem__(self, key: str) -> float:
        return self._known[key]

    def keep(self, key: str, score: float) -> None:
        """Remember a score, here and in the file."""
        self._known[key] = score
        if self._path is not None:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(json.dumps([key, score if math.isfinite(score) else None]) + "\n")


def _difference(first: str, about: Mapping[str, object]) -> str:
    try:
        old = json.loads(first)
        differing = [name for name in about if old.get(name) != about[name]]
    except (ValueError, AttributeError):
        return "no scores of weald tune"
    if not differing:
        return "the scores of another search"
    name = differing[0]
    return f"the scores of another search: {name} was {old.get(name)!r} and is {about[name]!r}"


@dataclass(slots=True)
class _Job:
    """What settings are tried on, and what is known of them."""

    X: AnyTable
    task: Task
    recipe: Recipe
    weight: NDArray[np.float64] | None
    memory: Memory
    tell: Callable[[int, str], None]
    n_fits: int = 0
    n_known: int = 0
    best: float = -math.inf

    def score(
        self, settings: Mapping[str, object], train: NDArray[np.int64], test: NDArray[np.int64]
    ) -> float:
        """The score of a setting trained on some rows and tried on others."""
        text = json.dumps(dict(settings), sort_keys=True)
        key = hashlib.sha256(text.encode() + train.tobytes() + b"|" + test.tobytes()).hexdigest()[:24]
        if key in self.memory:
            self.n_known += 1
        else:
            self.memory.keep(key, self._fitted_score(settings, train, test))
            self.n_fits += 1
        self.best = max(self.best, self.memory[key])
        self.tell(self.n_fits + self.n_known, f"best {self.best:.4f}")
        return self.memory[key]

    def _fitted_score(
        self, settings: Mapping[str, object], train: NDArray[np.int64], test: NDArray[np.int64]
    ) -> float:
        metric = metric_of(self.task)
        recipe = replace(self.recipe, settings={**self.recipe.settings, **settings})
        weight = None if self.weight is None else self.weight[train]
        try:
            model, _ = fitted(recipe, take(self.X, train), self.task.y[train], self.task, weight)
            found = float(metric[2](self.task.y[test], answer_of(model, take(self.X, test), metric)))
        except (WealdError, ValueError):  # too few rows for the setting, or a fold of one label
            return -math.inf
        return found if math.isfinite(found) else -math.inf


class _Asking(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What the search takes for an estimator; its table is row numbers."""

    def __init__(self, job: _Job | None = None, settings: Mapping[str, object] | None = None) -> None:
        self.job = job
        self.settings = settings

    def __sklearn_clone__(self) -> _Asking:
        return _Asking(self.job, self.settings)

    def fit(self, X: NDArray[np.int64], y: object = None) -> Self:
        """Only the rows are kept: whether to train is known when the test rows are."""
        self.rows_ = X[:, 0]
        return self


def _score(estimator: _Asking, X: NDArray[np.int64], y: object = None) -> float:
    assert estimator.job is not None
    return estimator.job.score(estimator.settings or {}, estimator.rows_, X[:, 0])


def tune(
    X: AnyTable,
    task: Task,
    recipe: Recipe,
    *,
    n_trials: int = 40,
    folds: int = 3,
    groups: NDArray[Any] | None = None,
    weight: NDArray[np.float64] | None = None,
    state: Path | None = None,
    tell: Callable[[int, str], None] = lambda n_done, text: None,
) -> Tuning:
    """Search the parameters of a method.

    Parameters
    ----------
    X, task : table and task
        The rows to search on.
    recipe : Recipe
        The method, and settings that stay.
    n_trials, folds : int
        Settings tried, and folds that score each.
    groups, weight : ndarray, default=None
        Of the rows.
    state : Path, default=None
        A file that keeps scores.
    tell : callable
        Called as tell(done, text) after each fit.
    """
    seed = recipe.seed or 0
    candidates = drawn_settings(recipe.method, n_trials, seed, recipe.settings)
    about = {
        "weald tune": __version__,
        "target": task.target,
        "method": recipe.method,
        "settings": {name: str(value) for name, value in sorted(recipe.settings.items())},
        "seed": seed,
        "folds": folds,
        "rows": len(task.y),
        "columns": int(np.shape(X)[1]),
        "targets": hashlib.sha256("\n".join(map(str, task.y.tolist())).encode()).hexdigest()[:16],
    }
    job = _Job(X, task, recipe, weight, Memory(state, about), tell)
    search = HalvingRandomSearchCV(
        _Asking(job),
        {"settings": candidates},
        n_candidates=len(candidates),
        factor=FACTOR,
        min_resources=_first_rows(len(task.y), len(candidates)),
        scoring=_score,
        cv=_splitter(task, folds, seed, groups),
        random_state=seed,
        refit=False,
        error_score="raise",
    )
    rows = np.arange(len(task.y))[:, None]
    _, labels = np.unique(task.y, return_inverse=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rounds may have labels with fewer rows than folds
        search.fit(rows, labels if task.kind == CLASSIFICATION else task.y, groups=groups)
    return Tuning(metric_of(task)[0], _trials(search.cv_results_), job.n_fits, job.n_known)


def _first_rows(n_rows: int, n_candidates: int) -> int:
    """Rows of the first round, so that the last one has all."""
    rounds = 1 + int(math.log(n_candidates, FACTOR))
    while rounds > 1 and n_rows // FACTOR ** (rounds - 1) < FEWEST_ROWS:
        rounds -= 1
    return max(n_rows // int(FACTOR ** (rounds - 1)), 1)


def _splitter(task: Task, folds: int, seed: int, groups: NDArray[Any] | None) -> Any:
    if len(task.y) < 2 * folds:
        raise DataError(f"{len(task.y)} rows are too few for {folds} folds.")
    if groups is not None:
        return GroupKFold(folds)
    cls = StratifiedKFold if task.kind == CLASSIFICATION else KFold
    return cls(folds, shuffle=True, random_state=seed)


def _trials(found: Mapping[str, Any]) -> tuple[Trial, ...]:
    """The last round of each setting, those on most rows first."""
    last: dict[str, Trial] = {}
    for settings, n_rows, score in zip(
        found["param_settings"], found["n_resources"], found["mean_test_score"], strict=True
    ):
        last[json.dumps(settings, sort_keys=True)] = Trial(settings, int(n_rows), float(score))
    return tuple(sorted(last.values(), key=lambda each: (-each.n_rows, -each.score)))
