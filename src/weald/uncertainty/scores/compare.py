"""`compare_scores`: whether one model scores better than another, on the same rows or the same folds.

Equations S4 to S7 of `docs/methods/uncertainty.md`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv, cross_val_score

from weald.arrays import Estimator, Floats, Folds, RandomState, TableLike, TargetLike, WeightLike
from weald.data.frames.user_rows import indexable
from weald.errors import DataError, ParameterError, UncertaintyWarning, outside, told
from weald.numbers import as_float
from weald.parameters import checked
from weald.uncertainty.bootstrap.ends import Alternative
from weald.uncertainty.bootstrap.options import ResamplingOptions, drawn_seed
from weald.uncertainty.bootstrap.records import (
    BootstrapResult,
    checked_alternative,
    checked_confidence,
    checked_method,
)
from weald.uncertainty.scores.areas import delong
from weald.uncertainty.scores.score_interval import (
    Task,
    normal_p_value,
    plan_of_rows,
    read_task,
    resampled_scores,
)
from weald.uncertainty.scores.told import Told, scorer_of

_OWNER = "compare_scores"
_METHODS = ("auto", "delong", "mcnemar", "mcnemar-exact", "bca", "percentile", "basic", "normal")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ComparisonResult:
    """How two models compare.

    Attributes
    ----------
    metric : str
        Its name.
    first, second : float
        The scores; means over the folds with `cv`.
    difference : float
        The first minus the second.
    standard_error : float
        Of the difference.
    low, high : float
        The ends of its interval.
    p_value : float
        Of the hypothesis that there is no difference.
    confidence, alternative
        Of the interval, and of the test.
    method : str
        Which test: "delong", "mcnemar", "mcnemar-exact", "folds", or how resamples were used.
    bootstrap : BootstrapResult or None
        The resamples of the difference, where there are some.
    fold_scores : ndarray of shape (2, n_folds) or None
        The scores on each fold, with `cv`.
    """

    metric: str
    first: float
    second: float
    difference: float
    standard_error: float
    low: float
    high: float
    p_value: float
    confidence: float
    alternative: str
    method: str
    bootstrap: BootstrapResult | None = field(default=None)
    fold_scores: Floats | None = field(default=None)

    def __repr__(self) -> str:
        return (
            f"{self.metric}: {self.first:.4g} against {self.second:.4g}, difference {self.difference:.4g}, "
            f"{100 * self.confidence:g} % interval {self.low:.4g} to {self.high:.4g}, "
            f"p = {self.p_value:.3g} ({self.method}, {self.alternative})"
        )


def compare_scores(
    first: Estimator | TargetLike,
    second: Estimator | TargetLike,
    X: TableLike | None,
    y: TargetLike,
    metric: str | Callable[..., Any] | None = None,
    *,
    cv: Folds | None = None,
    sample_weight: WeightLike | None = None,
    confidence: float = 0.95,
    alternative: str = "two-sided",
    method: str = "auto",
    stratify: bool | str = "auto",
    response: str | None = None,
    n_resamples: int = 2000,
    nan_policy: str = "raise",
    random_state: RandomState = None,
    n_jobs: int | None = None,
    verbose: bool | int = False,
) -> ComparisonResult:
    """Whether one model scores better than another, with an interval and a p-value.

    Without `cv` both are fitted, or given as predictions, and are scored on the same rows: by DeLong's test
    for areas under the ROC curve, McNemar's for accuracy, and resampled pairs of predictions else. That
    compares these two models. With `cv` both are fitted anew on the same folds, and the differences of the
    folds go into the t-test that Nadeau and Bengio corrected for training rows shared between folds. That
    compares the ways of learning.

    Parameters
    ----------
    first, second : estimators, or predictions
        Fitted without `cv`; predictions as in `score_interval`.
    X : table, or None with predictions
        The rows to score, or to learn from and score with `cv`.
    y : array-like of shape (n_rows,)
        Their labels or numbers.
    metric : str or callable, default=None
        As in `score_interval`.
    cv : int, splitter or folds, default=None
        scikit-learn's; repeated folds give a sharper test.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights that the metric takes; not with `cv`.
    confidence : float, default=0.95
        Of the interval of the difference.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        "greater" asks whether the first scores higher.
    method : {"auto", "delong", "mcnemar", "mcnemar-exact", "bca", "percentile", "basic", "normal"}
        "mcnemar" is the mid-p test, "mcnemar-exact" the exact one, which rejects too rarely. By default
        "auto".
    stratify, response, n_resamples, nan_policy, random_state, n_jobs, verbose
        As in `score_interval`.

    Returns
    -------
    ComparisonResult
        `difference`, `low`, `high`, `p_value`, and the scores.

    Examples
    --------
    >>> import weald
    >>> truth = [0, 1] * 20
    >>> good, poor = [0, 1] * 18 + [1, 0] * 2, [0, 1] * 10 + [1, 0] * 10
    >>> found = weald.compare_scores(good, poor, None, truth, "accuracy")
    >>> found.method, found.difference, round(found.p_value, 7)
    ('mcnemar', 0.4, 1.53e-05)
    """
    values = {"n_resamples": n_resamples, "random_state": random_state, "n_jobs": n_jobs}
    options = checked(ResamplingOptions, _OWNER, values)
    level, side = checked_confidence(confidence, _OWNER), checked_alternative(alternative, _OWNER)
    if method not in _METHODS:
        words = ", ".join(repr(word) for word in _METHODS)
        raise ParameterError(f"`method` of {_OWNER} must be one of {words}; got {told(method)}.")
    if cv is not None:
        if method != "auto" or sample_weight is not None:
            raise ParameterError(
                f"{_OWNER} with `cv` has one method, the corrected t-test, and takes no sample_weight. Leave "
                "`method` as it is, and `sample_weight` out."
            )
        return _on_folds(first, second, X, y, metric, cv, level, side, n_jobs)
    tasks = [
        read_task(model, X, y, metric, sample_weight, response, n_jobs, _OWNER) for model in (first, second)
    ]
    how = _chosen(method, tasks)
    if how == "delong":
        return _by_delong(tasks, level, side)
    if how.startswith("mcnemar"):
        return _by_mcnemar(tasks, level, side, how)
    plan = plan_of_rows(tasks[0].y, tasks[0].name, stratify, _OWNER)
    drawn, n_dropped = resampled_scores(
        [task.evaluator for task in tasks],
        plan,
        drawn_seed(options.random_state),
        options.n_resamples,
        nan_policy,
        n_jobs,
        verbose,
        _OWNER,
        jackknife=how == "bca",
    )
    name = f"difference of {tasks[0].name}"
    by, n_rows = checked_method(how, _OWNER), (len(tasks[0].y),)
    found = BootstrapResult(name, level, by, "two-sided", n_rows, n_dropped, True, drawn)
    low, high = (float(np.asarray(end)) for end in found.interval())
    p_value = float(np.asarray(found.p_value(0.0, side))) if drawn.standard_error[0] > 0 else 1.0
    error = float(drawn.standard_error[0])
    return _result(tasks, (error, low, high), p_value, level, side, how, found)


def _result(
    tasks: list[Task],
    spread: tuple[float, float, float],
    p_value: float,
    level: float,
    side: str,
    how: str,
    found: BootstrapResult | None = None,
) -> ComparisonResult:
    one, other = tasks[0].score, tasks[1].score
    return ComparisonResult(tasks[0].name, one, other, one - other, *spread, p_value, level, side, how, found)


def _chosen(method: str, tasks: list[Task]) -> str:
    """The test that fits the metric."""
    area = tasks[0].is_area and tasks[0].weight is None
    accuracy = tasks[0].name in ("accuracy", "accuracy_score") and tasks[0].weight is None
    if method == "auto":
        return "delong" if area else "mcnemar" if accuracy else "bca"
    wrong = {"delong": not area, "mcnemar": not accuracy, "mcnemar-exact": not accuracy}.get(method, False)
    if wrong:
        metric = "'roc_auc' of two classes" if method == "delong" else "'accuracy'"
        raise ParameterError(
            f"`method` of {_OWNER} is {method!r}, which is for the metric {metric} without sample_weight. "
            "Use 'bca'."
        )
    return method


def _by_delong(tasks: list[Task], level: float, side: Alternative) -> ComparisonResult:
    positive = tasks[0].ranking()[1]
    areas, covariance = delong([task.ranking()[0] for task in tasks], positive)
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    error = float(np.sqrt(max(variance, 0.0)))
    away = float(stats.norm.isf((1 - level) / 2)) * error
    difference = float(areas[0] - areas[1])
    p_value = normal_p_value(difference, error, side)
    return _result(tasks, (error, difference - away, difference + away), p_value, level, side, "delong")


# --------------------------------------------------------------------------- McNemar


def _by_mcnemar(tasks: list[Task], level: float, side: Alternative, how: str) -> ComparisonResult:
    right = [np.asarray(task.model.answers("predict")) == task.y for task in tasks]
    n_first, n_second = int(np.sum(right[0] & ~right[1])), int(np.sum(right[1] & ~right[0]))
    p_value = mcnemar(n_first, n_second, side, exact=how == "mcnemar-exact")
    # Half a row more in each of the four cells keeps the interval honest where few rows differ.
    n = len(tasks[0].y) + 2
    centre = (n_first - n_second) / n
    error = float(np.sqrt(max((n_first + n_second + 1) - (n_first - n_second) ** 2 / n, 0.0)) / n)
    away = float(stats.norm.isf((1 - level) / 2)) * error
    return _result(tasks, (error, centre - away, centre + away), p_value, level, side, how)


def mcnemar(n_first: int, n_second: int, alternative: str, *, exact: bool) -> float:
    """The p-value of McNemar's test (equation S5) of the rows that only one of two models has right.

    >>> mcnemar(7, 1, "two-sided", exact=True), round(mcnemar(7, 1, "two-sided", exact=False), 7)
    (0.0703125, 0.0390625)
    """
    n = n_first + n_second
    halves = stats.binom(n, 0.5)
    tie = 1.0 if exact else 0.5
    if alternative == "greater":
        return float(halves.sf(n_first) + tie * halves.pmf(n_first))
    if alternative == "less":
        return float(halves.sf(n_second) + tie * halves.pmf(n_second))
    few = min(n_first, n_second)
    return float(min(1.0, 2 * halves.cdf(few) - (0.0 if exact else halves.pmf(few))))


# --------------------------------------------------------------------------- folds


def _on_folds(
    first: object,
    second: object,
    X: TableLike | None,
    y: TargetLike,
    metric: str | Callable[..., Any] | None,
    cv: Folds,
    level: float,
    side: Alternative,
    n_jobs: int | None,
) -> ComparisonResult:
    for model in (first, second):
        if not hasattr(model, "fit"):
            raise DataError(f"{_OWNER} with `cv` fits both models, and got predictions. Leave `cv` out.")
    if X is None:
        raise DataError(f"{_OWNER} with `cv` needs X to learn from; got None. Give a table.")
    table = indexable(X)
    target: NDArray[Any] = np.asarray(y)
    scorer, name = scorer_of(metric, Told(first, None), None, _OWNER)
    folds = list(check_cv(cv, target, classifier=is_classifier(first)).split(np.zeros(len(target)), target))
    given: dict[str, Any] = {"scoring": scorer, "cv": folds, "n_jobs": n_jobs, "error_score": "raise"}
    scores = np.stack([cross_val_score(model, table, target, **given) for model in (first, second)])
    n_test, n_train = (float(np.mean([len(fold[part]) for fold in folds])) for part in (1, 0))
    found = corrected_t(scores[0] - scores[1], n_train, n_test, level, side)
    means = scores.mean(axis=1)
    return ComparisonResult(
        name, float(means[0]), float(means[1]), *found, level, side, "folds", None, scores
    )


def fold_t_test(
    first: ArrayLike,
    second: ArrayLike,
    *,
    n_train: float,
    n_test: float,
    confidence: float = 0.95,
    alternative: str = "two-sided",
) -> ComparisonResult:
    """The corrected resampled t-test of scores on the same folds, of Nadeau and Bengio.

    Folds share training rows, so their scores depend on each other and the plain t-test finds differences
    that are none. The correction takes the variance of the mean difference for 1/k + n_test/n_train times
    that of a fold.

    Parameters
    ----------
    first, second : array-like of shape (n_folds,)
        The scores of two models on each fold, in the same order.
    n_train, n_test : float
        The rows that each fold learns from, and is tested on.
    confidence : float, default=0.95
        Of the interval of the difference.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        "greater" asks whether the first scores higher.

    Examples
    --------
    >>> import weald
    >>> found = weald.fold_t_test([0.81, 0.79, 0.84], [0.78, 0.75, 0.82], n_train=200, n_test=100)
    >>> round(found.difference, 3), round(found.p_value, 3)
    (0.03, 0.081)
    """
    owner = "fold_t_test"
    level, side = checked_confidence(confidence, owner), checked_alternative(alternative, owner)
    for word, value in (("n_train", n_train), ("n_test", n_test)):
        if not as_float(value) > 0:
            raise ParameterError(f"`{word}` of {owner} must be a number above 0; got {told(value)}.")
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if one.ndim != 1 or one.shape != other.shape or not np.isfinite([one, other]).all():
        raise DataError(f"{owner} needs a score of both models for each fold, in the same order.")
    found = corrected_t(one - other, n_train, n_test, level, side)
    scores = np.stack([one, other])
    means = scores.mean(axis=1)
    return ComparisonResult(
        "score", float(means[0]), float(means[1]), *found, level, side, "folds", None, scores
    )


def corrected_t(
    differences: Floats, n_train: float, n_test: float, level: float, side: Alternative
) -> tuple[float, float, float, float, float]:
    """Mean difference, standard error, interval and p-value (equation S6)."""
    n = len(differences)
    if n < 2:
        raise DataError(f"A test on folds needs at least 2 of them; got {n}. Use cv=5 or more.")
    mean = float(differences.mean())
    error = float(np.sqrt((1 / n + n_test / n_train) * differences.var(ddof=1)))
    if error == 0:
        warnings.warn(
            "The models differ by the same amount on every fold, so no test is possible: p is 1 or 0.",
            UncertaintyWarning,
            stacklevel=outside(),
        )
        return mean, error, mean, mean, normal_p_value(mean, error, side)
    t = stats.t(n - 1)
    away = float(t.isf((1 - level) / 2)) * error
    ends: Sequence[float] = (mean - away, mean + away)
    p_value = {"greater": t.sf, "less": t.cdf}.get(side, lambda z: 2 * t.sf(abs(z)))(mean / error)
    return mean, error, ends[0], ends[1], float(p_value)
