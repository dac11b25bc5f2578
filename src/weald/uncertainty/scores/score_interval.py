"""`score_interval`: any metric of a model on rows it did not see, with an interval."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from weald.arrays import Estimator, Flags, Floats, RandomState, TableLike, TargetLike, WeightLike
from weald.data.target import read_weight
from weald.engine import ResamplePlan, thread_count
from weald.errors import DataError, ParameterError, UncertaintyWarning, outside, told
from weald.parameters import checked
from weald.progress import Progress
from weald.uncertainty.bootstrap.bootstrap import without_nan
from weald.uncertainty.bootstrap.ends import METHODS, BootstrapDraws, Interval, acceleration_of
from weald.uncertainty.bootstrap.options import ResamplingOptions, drawn_seed
from weald.uncertainty.bootstrap.plans import leave_out_groups, stratified
from weald.uncertainty.bootstrap.records import (
    BootstrapResult,
    checked_alternative,
    checked_confidence,
    checked_method,
)
from weald.uncertainty.scores.areas import check_two_classes, delong
from weald.uncertainty.scores.evaluators import ByCells, ByScorer, Evaluator
from weald.uncertainty.scores.fast import binary_scores, evaluator_of
from weald.uncertainty.scores.told import Told, is_discrete, read_told, scorer_of

_OWNER = "score_interval"
#: what to do where resamples lack a class
_WITHIN = "the labels (stratify=True)"
#: parts that a progress bar shows
_STEPS = 50


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ScoreResult:
    """A score with its interval.

    Attributes
    ----------
    metric : str
        Its name.
    score : float
        scikit-learn's score of all rows.
    standard_error : float
        Of the score.
    low, high : float
        The ends of the interval.
    confidence : float
        Of the interval.
    method : str
        "delong", or how the interval was made from resamples.
    n_rows : int
        The rows that were scored.
    bootstrap : BootstrapResult or None
        The resamples; None by DeLong's formula, which needs none.
    """

    metric: str
    score: float
    standard_error: float
    low: float
    high: float
    confidence: float
    method: str
    n_rows: int
    bootstrap: BootstrapResult | None = field(default=None)

    def interval(self, confidence: float | None = None, method: str | None = None) -> Interval:
        """An interval of another confidence or, from the resamples, by another method."""
        at = self.confidence if confidence is None else checked_confidence(confidence, "interval")
        if self.bootstrap is not None:
            return self.bootstrap.interval(at, method)
        if method not in (None, "delong"):
            raise ParameterError(
                f"`method` of interval is {told(method)}, and this score was not resampled. Call "
                f"{_OWNER} with method={method!r}."
            )
        return Interval(*_delong_ends(self.score, self.standard_error, at))

    def p_value(self, null: float, alternative: str = "two-sided") -> float:
        """The p-value of the hypothesis that the score on all rows there could be is `null`."""
        if self.bootstrap is not None:
            found = self.bootstrap.p_value(null, alternative)
            return float(np.asarray(found))
        side = checked_alternative(alternative, "p_value")
        return normal_p_value(self.score - null, self.standard_error, side)

    def __repr__(self) -> str:
        how = "DeLong" if self.method == "delong" else {"bca": "BCa"}.get(self.method, self.method)
        return (
            f"{self.metric} of {self.n_rows:,} rows: {self.score:.4g}, {100 * self.confidence:g} % {how} "
            f"interval {self.low:.4g} to {self.high:.4g}"
        )


def score_interval(
    model: Estimator | TargetLike,
    X: TableLike | None,
    y: TargetLike,
    metric: str | Callable[..., Any] | None = None,
    *,
    sample_weight: WeightLike | None = None,
    confidence: float = 0.95,
    method: str = "auto",
    stratify: bool | str = "auto",
    response: str | None = None,
    n_resamples: int = 2000,
    nan_policy: str = "raise",
    random_state: RandomState = None,
    n_jobs: int | None = None,
    verbose: bool | int = False,
) -> ScoreResult:
    """Any metric of a model on rows it did not see, with an interval for the rows there could be.

    The model predicts once; then rows are drawn anew, with their predictions. The interval tells what the
    choice of test rows does to the score of this model, not what other training rows would do.

    Parameters
    ----------
    model : fitted estimator, or predictions
        Of any library with scikit-learn's methods. Predictions are one label, number or score per row, or a
        probability for each label in ascending order.
    X : table, or None with predictions
        The rows to score.
    y : array-like of shape (n_rows,)
        Their labels or numbers.
    metric : str or callable, default=None
        A scorer of scikit-learn by name, any scorer, or a function of (y_true, y_pred); None for the
        accuracy of classifiers and R² of others. Metrics are scikit-learn's own; those that follow from sums
        or counts of rows are resampled without calling them again.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights that the metric takes; they are drawn with their rows.
    confidence : float, default=0.95
        Of the interval.
    method : {"auto", "delong", "bca", "percentile", "basic", "normal"}, default="auto"
        "auto" is DeLong's for the area under the ROC curve of two classes without weights, else BCa.
    stratify : bool or "auto", default="auto"
        Whether rows are drawn within the labels; "auto" does for areas under curves, which do not exist
        without rows of every label.
    response : str, default=None
        The method of the model whose answers a function gets: "predict", "predict_proba" or
        "decision_function"; None goes by the name of its second parameter.
    n_resamples : int, default=2000
        How many resamples.
    nan_policy : {"raise", "omit"}, default="raise"
        What happens to resamples in which the metric is NaN.
    random_state : int, RandomState or None, default=None
        The seed; the same for any `n_jobs`.
    n_jobs : int, default=None
        Threads: None is every CPU for sums and counts, joblib's default for calls of a scorer.
    verbose : bool or int, default=False
        Whether to show progress on stderr.

    Returns
    -------
    ScoreResult
        `score`, `low`, `high`, `standard_error`, `interval()`, `p_value()`.

    Examples
    --------
    >>> import weald
    >>> truth = ["a", "b", "a", "b", "b", "a", "b", "a", "a", "b"]
    >>> said = ["a", "b", "a", "a", "b", "a", "b", "b", "a", "b"]
    >>> found = weald.score_interval(said, None, truth, "accuracy", random_state=0)
    >>> found.score, found.low < 0.8 < found.high
    (0.8, True)
    """
    values = {"n_resamples": n_resamples, "random_state": random_state, "n_jobs": n_jobs}
    options = checked(ResamplingOptions, _OWNER, values)
    level = checked_confidence(confidence, _OWNER)
    task = read_task(model, X, y, metric, sample_weight, response, n_jobs, _OWNER)
    how = _chosen(method, task)
    if how == "delong":
        return _by_delong(task, level)
    plan = plan_of_rows(task.y, task.name, stratify, _OWNER)
    seed = drawn_seed(options.random_state)
    interval_method = checked_method(how, _OWNER)
    drawn, n_dropped = resampled_scores(
        [task.evaluator],
        plan,
        seed,
        options.n_resamples,
        nan_policy,
        n_jobs,
        verbose,
        _OWNER,
        jackknife=how == "bca",
    )
    side = checked_alternative("two-sided", _OWNER)
    found = BootstrapResult(task.name, level, interval_method, side, (len(task.y),), n_dropped, True, drawn)
    low, high = (float(np.asarray(end)) for end in found.interval())
    error = float(drawn.standard_error[0])
    return ScoreResult(task.name, task.score, error, low, high, level, how, len(task.y), found)


@dataclass(frozen=True, slots=True)
class Task:
    """A metric of a model on some rows."""

    name: str
    model: Told
    y: NDArray[Any]
    weight: Floats | None
    evaluator: Evaluator
    score: float
    scorer: Callable[..., float]

    @property
    def is_area(self) -> bool:
        """Whether it is the area under the ROC curve of two classes."""
        return self.name in ("roc_auc", "roc_auc_score") and len(np.unique(self.y)) == 2

    def ranking(self) -> tuple[Floats, Flags]:
        """Scores by which rows are ranked, and which rows are of the second label."""
        scores = binary_scores(self.model)
        if scores is None:
            raise DataError(
                "An area under the curve needs scores: the model has neither decision_function nor "
                "predict_proba. Give such a model, or its scores as predictions."
            )
        return scores, self.y == np.unique(self.y)[1]


def read_task(
    model: Estimator | TargetLike,
    X: TableLike | None,
    y: TargetLike,
    metric: str | Callable[..., Any] | None,
    sample_weight: WeightLike | None,
    response: str | None,
    n_jobs: int | None,
    owner: str,
) -> Task:
    """Predict, and score all rows."""
    stand_in, target = read_told(model, X, y, owner)
    scorer, name = scorer_of(metric, stand_in, response, owner)
    if name.startswith(("roc_auc", "average_precision")) and len(np.unique(target)) == 1:
        check_two_classes(target, owner)
    weight = read_weight(sample_weight, n_rows=len(target))
    evaluator = evaluator_of(name, scorer, stand_in, target, weight, n_jobs)
    score = evaluator.value()
    if not np.isfinite(score):
        raise DataError(
            f"The metric {name!r} of {owner} is {score} on all rows, so there is nothing to tell the "
            "uncertainty of. Check y and the predictions."
        )
    return Task(name, stand_in, target, weight, evaluator, score, scorer)


def _chosen(method: str, task: Task) -> str:
    if method == "auto":
        return "delong" if task.is_area and task.weight is None else "bca"
    if method == "delong":
        if not task.is_area or task.weight is not None:
            raise ParameterError(
                f"`method` of {_OWNER} is 'delong', which is for the metric 'roc_auc' of two classes without "
                "sample_weight. Use 'bca'."
            )
        return method
    if method == "studentised" or (isinstance(method, str) and method not in METHODS):
        words = "'auto', 'delong', 'bca', 'percentile', 'basic' or 'normal'"
        raise ParameterError(f"`method` of {_OWNER} must be {words}; got {told(method)}.")
    return checked_method(method, _OWNER)


def plan_of_rows(y: NDArray[Any], name: str, stratify: bool | str, owner: str) -> ResamplePlan:
    """Rows from all, or within the labels."""
    if stratify not in (True, False, "auto"):
        raise ParameterError(f"`stratify` of {owner} must be True, False or 'auto'; got {told(stratify)}.")
    if stratify == "auto":
        stratify = name.startswith(("roc_auc", "average_precision"))
    if not stratify or not is_discrete(y):
        return ResamplePlan(len(y))
    return stratified(np.unique(y, return_inverse=True)[1].astype(np.int32))


def resampled_scores(
    evaluators: list[Evaluator],
    plan: ResamplePlan,
    seed: int,
    n_resamples: int,
    nan_policy: str,
    n_jobs: int | None,
    verbose: object,
    owner: str,
    *,
    jackknife: bool,
) -> tuple[BootstrapDraws, int]:
    """The score, or the first minus the second, in each resample, with what BCa needs.

    Without `jackknife` that is left out where it takes calls of a scorer.
    """
    if nan_policy not in ("raise", "omit"):
        raise ParameterError(f"`nan_policy` of {owner} must be 'raise' or 'omit'; got {told(nan_policy)}.")
    n_threads = thread_count(n_jobs)
    together = -(-n_resamples // _STEPS) if verbose else n_resamples
    starts = range(0, n_resamples, together)
    parts = []
    bar = Progress(len(starts), word="part") if verbose else None
    try:
        if bar is not None:
            bar.start()
        for first in starts:
            last = min(n_resamples, first + together)
            parts.append(
                _difference([e.drawn(plan, seed, first, last, n_threads=n_threads) for e in evaluators])
            )
            if bar is not None:
                bar.advance({})
    finally:
        if bar is not None:
            bar.close()
    values, _, n_dropped = without_nan(np.concatenate(parts)[:, None], None, nan_policy, _WITHIN)
    estimate = _difference([np.array([e.value()]) for e in evaluators])
    spread = values.std(axis=0, ddof=1)
    if not (spread > 0).all():
        warnings.warn(
            f"Every resample has the same value, {float(estimate[0]):.4g}: the interval is that one point, "
            "which says nothing about rows that were not drawn. Score more rows.",
            UncertaintyWarning,
            stacklevel=outside(),
        )
    if not jackknife and any(isinstance(e, ByScorer | ByCells) for e in evaluators):
        return BootstrapDraws(estimate, values, spread), n_dropped
    groups = leave_out_groups(plan, min(e.most_left_out for e in evaluators), seed)
    without = _difference([e.without(groups, n_threads=n_threads) for e in evaluators])[:, None]
    left = np.split(without[plan.members], plan.strata[1:-1]) if _by_row(plan, without) else [without]
    left = [part[np.isfinite(part[:, 0])] for part in left]  # a metric that a row alone makes possible
    acceleration = acceleration_of([part for part in left if len(part)] or [np.zeros((2, 1))])
    return BootstrapDraws(estimate, values, spread, acceleration), n_dropped


def _by_row(plan: ResamplePlan, values: Floats) -> bool:
    return len(plan.strata) > 0 and len(values) == plan.n


def _difference(values: list[Floats]) -> Floats:
    return values[0] if len(values) == 1 else values[0] - values[1]


# --------------------------------------------------------------------------- DeLong


def _by_delong(task: Task, confidence: float) -> ScoreResult:
    areas, covariance = delong([task.ranking()[0]], task.ranking()[1])
    error = float(np.sqrt(max(covariance[0, 0], 0.0)))
    if error == 0:
        warnings.warn(
            f"The scores part the classes without an error (area {areas[0]:g}), so DeLong's variance is 0 "
            "and the interval is that one point. Score more rows to learn how sure that is.",
            UncertaintyWarning,
            stacklevel=outside(),
        )
    low, high = _delong_ends(task.score, error, confidence)
    return ScoreResult(task.name, task.score, error, low, high, confidence, "delong", len(task.y))


def _delong_ends(score: float, error: float, confidence: float) -> tuple[float, float]:
    away = -float(ndtri((1 - confidence) / 2)) * error
    return max(0.0, score - away), min(1.0, score + away)


def normal_p_value(away: float, error: float, alternative: str) -> float:
    """Of a difference that is normal with this standard error."""
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.nan_to_num(np.float64(away) / error, posinf=np.inf, neginf=-np.inf)
    if alternative == "greater":
        return float(ndtr(-z))
    if alternative == "less":
        return float(ndtr(z))
    return float(min(1.0, 2 * ndtr(-abs(z))))
