"""One run: rows kept aside, a method trained on the others, scores with intervals beside a baseline."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupShuffleSplit, train_test_split
from sklearn.utils.validation import has_fit_parameter

from weald.arrays import AnyEstimator, AnyTable, Floats
from weald.errors import DataError, ParameterError, UncertaintyWarning
from weald.runs.recipe import Recipe, rows_of
from weald.runs.task import CLASSIFICATION, Task
from weald.uncertainty.scores.score_interval import score_interval

if TYPE_CHECKING:
    import pyarrow as pa

#: scorers of scikit-learn by what they are called here, and whether less is better
_TWO_CLASSES = {"AUC": "roc_auc", "accuracy": "accuracy", "log loss": "neg_log_loss"}
_CLASSES = {"accuracy": "accuracy", "balanced accuracy": "balanced_accuracy", "log loss": "neg_log_loss"}
_NUMBERS = {"R²": "r2", "RMSE": "neg_root_mean_squared_error", "MAE": "neg_mean_absolute_error"}
#: resamples behind an interval: so many, of more rows fewer, so that it takes seconds and not minutes
RESAMPLES, FEWEST_RESAMPLES, RESAMPLED_ROWS = 2000, 400, 200_000_000
#: these need probabilities
_OF_PROBABILITIES = frozenset({"neg_log_loss"})


@dataclass(frozen=True, slots=True)
class Score:
    """A metric on the rows kept aside; `baseline` is that of the commonest label or the mean.

    Of very few rows there is no interval, or not even the metric: NaN, and `note` says why.
    """

    name: str
    value: float
    low: float
    high: float
    baseline: float
    #: what is to be known of the interval
    note: str = ""


@dataclass(frozen=True, slots=True)
class Split:
    """Row numbers to train on and to keep aside."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Run:
    """A trained model and how it did on rows it did not see."""

    model: AnyEstimator
    split: Split
    scores: tuple[Score, ...]
    fit_seconds: float


def hold_out(
    task: Task,
    share: float = 0.2,
    *,
    seed: int = 0,
    groups: NDArray[np.generic] | None = None,
    ordered_by: NDArray[np.generic] | None = None,
) -> Split:
    """Choose the rows to keep aside.

    Parameters
    ----------
    task : Task
        The target; labels keep their shares in both parts where every label has two rows.
    share : float, default=0.2
        Of the rows.
    seed : int, default=0
        For the choice.
    groups : ndarray, default=None
        Rows of one group are not parted.
    ordered_by : ndarray, default=None
        The last rows in this order are kept aside.
    """
    n = len(task.y)
    rows = np.arange(n)
    n_test = round(n * share)
    if n_test < 2 or n - n_test < 2:
        raise DataError(f"{n} rows are too few to keep {share:.0%} aside and learn from the others.")
    if ordered_by is not None:
        order = np.argsort(ordered_by, kind="stable")
        return Split(np.sort(order[:-n_test]), np.sort(order[-n_test:]))
    if groups is not None:
        if len(np.unique(groups)) < 2:
            raise DataError("All rows are of one group, so none of them can be kept aside by group.")
        parts = GroupShuffleSplit(1, test_size=share, random_state=seed).split(rows, groups=groups)
        train, test = next(parts)
        return Split(np.sort(train), np.sort(test))
    stratify = None
    if task.kind == CLASSIFICATION:
        labels, counts = np.unique(task.y, return_counts=True)
        stratify = task.y if counts.min() >= 2 and n_test >= len(labels) <= n - n_test else None
    train, test = train_test_split(rows, test_size=n_test, random_state=seed, stratify=stratify)
    return Split(np.sort(train), np.sort(test))


def fitted(
    recipe: Recipe, X: AnyTable, y: NDArray[np.generic], task: Task, weight: NDArray[np.float64] | None = None
) -> tuple[Any, float]:
    """What the recipe makes of these rows, and in how many seconds."""
    estimator = recipe.estimator(task, X, y)
    weight = recipe.weights(estimator, task, y, weight)
    start = time.perf_counter()
    if weight is None:
        estimator.fit(X, y)
    elif not has_fit_parameter(estimator, "sample_weight"):
        raise ParameterError(f"The method {recipe.method!r} takes no weights of rows. Leave them out.")
    else:
        estimator.fit(X, y, sample_weight=weight)
    return estimator, time.perf_counter() - start


def run(
    recipe: Recipe, X: AnyTable, task: Task, split: Split, weight: NDArray[np.float64] | None = None
) -> Run:
    """Train on one part of the rows and score on the other."""
    train_X, test_X = rows_of(X, split.train), rows_of(X, split.test)
    train_y, test_y = task.y[split.train], task.y[split.test]
    if task.kind == CLASSIFICATION and len(np.unique(train_y)) < 2:
        raise DataError(
            f"All {len(train_y):,} training rows have the label {train_y[0]!r}: the others are among the "
            f"{len(test_y):,} rows kept aside. Keep fewer aside, or choose them otherwise."
        )
    own = None if weight is None else weight[split.train]
    estimator, seconds = fitted(recipe, train_X, train_y, task, own)
    return Run(estimator, split, scores(estimator, test_X, test_y, task.kind, train_y), seconds)


def scores(
    model: AnyEstimator,
    X: pa.Table,
    y: NDArray[np.generic],
    kind: str,
    train_y: NDArray[np.generic] | None = None,
) -> tuple[Score, ...]:
    """The usual metrics of a task with their 95 % intervals.

    Parameters
    ----------
    model : fitted estimator
        The model.
    X, y : table and target
        Rows that it did not see.
    kind : {"classification", "regression"}
        The task.
    train_y : ndarray, default=None
        What the baseline knows; None for `y`.
    """
    guess = DummyClassifier(strategy="prior") if kind == CLASSIFICATION else DummyRegressor()
    known = y if train_y is None else train_y
    guess.fit(np.zeros((len(known), 1)), known)
    found = []
    n_resamples = min(RESAMPLES, max(FEWEST_RESAMPLES, RESAMPLED_ROWS // len(y)))
    for name, scorer in _metrics(model, y, kind).items():
        sign = -1 if scorer.startswith("neg_") else 1
        value, ends, note = _with_interval(model, X, y, scorer, n_resamples)
        low, high = sorted(sign * end for end in ends)
        by_chance = sign * _plain_score(guess, np.zeros((len(y), 1)), y, scorer)
        found.append(Score(name, sign * value, low, high, by_chance, note))
    return tuple(found)


def _with_interval(
    model: AnyEstimator, X: pa.Table, y: NDArray[np.generic], scorer: str, n_resamples: int
) -> tuple[float, tuple[float, float], str]:
    """A score, the ends of its interval, and what is to be known of these."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UncertaintyWarning)
        try:
            result = score_interval(model, X, y, scorer, n_resamples=n_resamples, random_state=0)
        except DataError:  # of too few rows; what else is wrong, the score itself tells
            value = _plain_score(model, X, y, scorer)
            lacks = "an interval" if np.isfinite(value) else "this score"
            note = f"The rows ({len(y):,}) are too few for {lacks}; give more."
            return value, (np.nan, np.nan), note
    remarks = [str(each.message) for each in said if each.category is UncertaintyWarning]
    if n_resamples < RESAMPLES and result.bootstrap is not None:
        remarks.append(f"The interval is from {n_resamples:,} resamples of {len(y):,} rows.")
    return result.score, (result.low, result.high), " ".join(remarks)


def _plain_score(model: AnyEstimator, X: pa.Table | Floats, y: NDArray[np.generic], scorer: str) -> float:
    """A score alone; NaN where the rows are too few for it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return float(get_scorer(scorer)(model, X, y))


def _metrics(model: AnyEstimator, y: NDArray[np.generic], kind: str) -> dict[str, str]:
    if kind != CLASSIFICATION:
        return _NUMBERS
    present = np.unique(y)
    chosen = _TWO_CLASSES if len(model.classes_) == 2 else _CLASSES
    unfit: Sequence[str] = () if hasattr(model, "predict_proba") else tuple(_OF_PROBABILITIES)
    if unfit and not hasattr(model, "decision_function"):
        unfit = (*unfit, "roc_auc")  # labels alone rank no rows
    if len(present) < len(model.classes_) or not np.isin(present, model.classes_).all():
        # areas and likelihoods need every label, and no others
        unfit = (*unfit, *(["roc_auc", "neg_log_loss"]))
    return {name: scorer for name, scorer in chosen.items() if scorer not in unfit}
