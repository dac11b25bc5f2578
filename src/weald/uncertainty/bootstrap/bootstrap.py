"""`bootstrap`: how sure a statistic of the data is, from resamples of the data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weald.arrays import ColumnLike, Floats, RandomState, TableLike
from weald.engine import thread_count
from weald.errors import DataError, DataTypeError, ParameterError, UncertaintyWarning, outside, told
from weald.parameters import checked
from weald.uncertainty.bootstrap.ends import BootstrapDraws, IntervalMethod, acceleration_of
from weald.uncertainty.bootstrap.options import BootstrapOptions, checked_shares, drawn_seed
from weald.uncertainty.bootstrap.plans import plan_of
from weald.uncertainty.bootstrap.records import (
    BootstrapResult,
    checked_alternative,
    checked_confidence,
    checked_method,
)
from weald.uncertainty.bootstrap.resampling import (
    Work,
    draw_values,
    leave_out_values,
    sample_seeds,
    statistic_of,
    takes_axis,
)
from weald.uncertainty.bootstrap.samples import Samples, read_samples
from weald.uncertainty.bootstrap.statistics import Named, named_statistic

_OWNER = "bootstrap"


def bootstrap(
    data: TableLike | Sequence[ColumnLike],
    statistic: str | Callable[..., Any] = "mean",
    *,
    n_resamples: int = 9999,
    confidence: float = 0.95,
    method: str = "bca",
    alternative: str = "two-sided",
    paired: bool = False,
    strata: ColumnLike | None = None,
    block_length: int | None = None,
    block: str = "moving",
    q: float | Sequence[float] = 0.5,
    trim: float = 0.1,
    ddof: float = 1,
    vectorized: bool | None = None,
    standard_error: Callable[..., Any] | None = None,
    n_inner: int = 50,
    nan_policy: str = "raise",
    random_state: RandomState = None,
    n_jobs: int | None = None,
    verbose: bool | int = False,
) -> BootstrapResult:
    """Standard error, intervals and p-values of any statistic, from resamples of the data.

    A resample takes as many rows as there are, each drawn from all of them with replacement. Draws are hashes
    of (seed, resample, position): the same seed gives the same result for any `n_jobs`, a statistic by name
    sees the same resamples as a function, and no more than a few resamples are ever in memory.

    Parameters
    ----------
    data : numbers, table, or several samples
        One sample: a list, an array, a series. Several: a tuple or list of such. A table (a frame, an array
        of two dimensions) is resampled by rows, of which `statistic` is a function.
    statistic : str or callable, default="mean"
        "mean", "median", "quantile" (`q`), "variance", "std" (`ddof`), "trimmed_mean" (`trim`) and
        "correlation" (of two samples, row by row) are computed by the core. Of two samples the others are
        that of the first minus that of the second. Else a function of the samples that gives a number, or an
        array of one dimension; one that takes `axis` is called for many resamples at once.
    n_resamples : int, default=9999
        How many resamples.
    confidence : float, default=0.95
        Of the interval; the result gives others from the same resamples.
    method : {"bca", "percentile", "basic", "normal", "studentised"}, default="bca"
        How intervals are made. BCa corrects for bias and skewness by the jackknife; of a function and more
        than 2,000 rows, rows are left out in 2,000 groups.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        "less" gives an interval without a lower end, "greater" one without an upper end.
    paired : bool, default=False
        Whether row i of every sample is the same thing, so that rows are drawn for all samples together.
    strata : array-like of shape (n_rows,), default=None
        Labels; rows are drawn within those of the same label.
    block_length : int, default=None
        Neighbours that are drawn together, for series whose values depend on those before.
    block : {"moving", "circular"}, default="moving"
        Whether blocks may run over the end to the beginning, so that all rows are drawn alike.
    q : float or sequence of float, default=0.5
        The quantiles of "quantile", between values as NumPy's; several make a statistic of several values.
    trim : float, default=0.1
        The share of values that "trimmed_mean" leaves out at either end.
    ddof : float, default=1
        Variances divide by n - ddof.
    vectorized : bool, default=None
        Whether a function takes `axis`; None looks at its signature.
    standard_error : callable, default=None
        A function of the samples that gives the standard error of the statistic, for studentised intervals.
        None: s / √n for a mean, else `n_inner` resamples of each resample.
    n_inner : int, default=50
        How many those are.
    nan_policy : {"raise", "omit"}, default="raise"
        What happens to resamples in which the statistic is NaN: an error, or they are left out, which a
        warning tells.
    random_state : int, RandomState or None, default=None
        The seed.
    n_jobs : int, default=None
        Threads. None: every CPU for a statistic by name, joblib's default for a function.
    verbose : bool or int, default=False
        Whether to show progress on stderr.

    Returns
    -------
    BootstrapResult
        Estimate, standard error, bias, distribution; `interval()` and `p_value()`.

    Examples
    --------
    >>> import weald
    >>> heights = [171.0, 168.5, 180.2, 175.1, 169.9, 177.3, 182.0, 166.4]
    >>> found = weald.bootstrap(heights, "mean", random_state=0)
    >>> found.n_resamples, bool(found.low < found.estimate < found.high)
    (9999, True)
    """
    options = checked(
        BootstrapOptions,
        _OWNER,
        {
            "n_resamples": n_resamples,
            "random_state": random_state,
            "n_jobs": n_jobs,
            "paired": paired,
            "block_length": block_length,
            "block": block,
            "trim": trim,
            "ddof": ddof,
            "vectorized": vectorized,
            "standard_error": standard_error,
            "n_inner": n_inner,
            "nan_policy": nan_policy,
        },
    )
    level = checked_confidence(confidence, _OWNER)
    how, side = checked_method(method, _OWNER), checked_alternative(alternative, _OWNER)
    samples = read_samples(data, paired=options.paired, owner=_OWNER)
    work = _work(samples, statistic, checked_shares(q, _OWNER), strata, how, options)
    drawn, scalar, n_dropped = resampled(
        work, options.n_resamples, how, n_jobs=n_jobs, nan_policy=options.nan_policy, verbose=verbose
    )
    name = statistic if isinstance(statistic, str) else getattr(statistic, "__name__", "statistic")
    if isinstance(statistic, str) and len(samples.parts) == 2 and statistic != "correlation":
        name = f"difference of {statistic}s"
    return BootstrapResult(name, level, how, side, samples.sizes, n_dropped, scalar, drawn)


def _work(
    samples: Samples,
    statistic: str | Callable[..., Any],
    q: tuple[float, ...],
    strata: ColumnLike | None,
    method: IntervalMethod,
    options: BootstrapOptions,
) -> Work:
    """Which rows are drawn of what, from which seeds."""
    named = chosen_statistic(statistic, samples, q, options.trim, options.ddof, _OWNER)
    if isinstance(named, Named) and named.of_pairs:
        samples = _pairs(samples)
    elif statistic == "mean" and samples.paired and len(samples.parts) == 2 and not options.standard_error:
        # The difference of means of the same rows is the mean of the differences, whose errors are known.
        samples = Samples((samples.parts[0] - samples.parts[1],), samples.sizes[:1], True, False)
    if strata is not None and not samples.paired:
        raise ParameterError(
            f"`strata` of {_OWNER} is for one sample, or paired ones: independent samples are strata already."
        )
    circular = options.block == "circular"
    plans = tuple(
        plan_of(n, strata=strata, block_length=options.block_length, circular=circular, owner=_OWNER)
        for n in samples.n_draws()
    )
    seeds = sample_seeds(drawn_seed(options.random_state), len(plans))
    vectorized = options.vectorized
    if vectorized is None:
        vectorized = not isinstance(named, Named) and not samples.tables and takes_axis(named)
    studentised = method == "studentised"
    return Work(
        samples,
        plans,
        seeds,
        named,
        vectorized and not samples.tables,
        options.n_inner if studentised and options.standard_error is None else 0,
        options.standard_error if studentised else None,
    )


def chosen_statistic(
    statistic: str | Callable[..., Any],
    samples: Samples,
    q: tuple[float, ...],
    trim: float,
    ddof: float,
    owner: str,
) -> Named | Callable[..., Any]:
    """A statistic of the core by its name, fit for the samples; a function as it is."""
    if not isinstance(statistic, str):
        if not callable(statistic):
            raise DataTypeError(
                f"`statistic` of {owner} must be a name or a function; got {told(statistic)}. Use 'mean'."
            )
        return statistic
    named = named_statistic(statistic, q, trim, ddof, owner)
    n_parts = len(samples.parts)
    if samples.tables:
        raise ParameterError(
            f"`statistic` of {owner} is {statistic!r}, and the data are a table. Give one column, or a "
            "function of rows."
        )
    if named.of_pairs and n_parts != 2:
        raise DataError(f"A correlation is of two samples, row by row; {owner} got {n_parts}. Give (x, y).")
    if n_parts > 2:
        raise ParameterError(
            f"`statistic` of {owner} is {statistic!r}, and there are {n_parts} samples. Give a function of "
            "all of them."
        )
    for sample in [samples.numbers] if named.of_pairs else [(part,) for part in samples.numbers]:
        named.check(sample, owner)
    return named


def _pairs(samples: Samples) -> Samples:
    if len(set(samples.sizes)) > 1:
        raise DataError(
            f"A correlation is of pairs; the samples have {samples.sizes[0]} and {samples.sizes[1]} values. "
            "Give two of the same length."
        )
    return Samples(samples.parts, samples.sizes, True, False)


def resampled(
    work: Work,
    n_resamples: int,
    method: IntervalMethod,
    *,
    n_jobs: int | None,
    nan_policy: str,
    verbose: object,
) -> tuple[BootstrapDraws, bool, int]:
    """The distribution and what intervals need, whether the statistic is one number, and what was dropped."""
    value = statistic_of(work, work.samples.parts)
    estimate = np.atleast_1d(value)
    if not np.isfinite(estimate).all():
        raise DataError(
            f"The statistic of the data themselves is {told(float(estimate[~np.isfinite(estimate)][0]))}, so "
            "there is nothing to tell the uncertainty of. Check the data and the statistic."
        )
    n_threads = thread_count(n_jobs)
    values, errors = draw_values(work, n_resamples, n_jobs=n_jobs, n_threads=n_threads, verbose=verbose)
    values, errors, n_dropped = without_nan(values, errors, nan_policy)
    spread = values.std(axis=0, ddof=1) if len(values) > 1 else np.full(len(estimate), np.nan)
    if not (spread > 0).any() and len(values) > 1:
        warnings.warn(
            "Every resample gives the same value, as where all values of the data are equal: the interval is "
            "that one point, which says nothing about values that were not drawn.",
            UncertaintyWarning,
            stacklevel=outside(),
        )
    t_values, error = _studentised(work, estimate, values, errors, spread)
    acceleration = None
    if method == "bca" or isinstance(work.statistic, Named):
        acceleration = _acceleration(work, n_jobs, needed=method == "bca")
    return (
        BootstrapDraws(estimate, values, spread, acceleration, t_values, error),
        np.ndim(value) == 0,
        n_dropped,
    )


def without_nan(
    values: Floats, errors: Floats | None, nan_policy: str, within: str = "`strata`"
) -> tuple[Floats, Floats | None, int]:
    """The resamples in which the statistic is a number, and how many it is not."""
    lost = ~np.isfinite(values).all(axis=1)
    n_lost = int(np.count_nonzero(lost))
    if not n_lost:
        return values, errors, 0
    words = f"The statistic is not a finite number in {n_lost:,} of {len(values):,} resamples"
    if nan_policy == "raise" or n_lost == len(values):
        way_out = f"Give more rows, or draw within {within} so that every resample has all kinds of rows"
        more = "" if n_lost == len(values) else "; nan_policy='omit' leaves such resamples out"
        raise DataError(f"{words}, first in resample {int(np.argmax(lost))}. {way_out}{more}.")
    warnings.warn(
        f"{words}, which are left out: intervals are of the others alone.",
        UncertaintyWarning,
        stacklevel=outside(),
    )
    return values[~lost], None if errors is None else errors[~lost], n_lost


def _studentised(
    work: Work, estimate: Floats, values: Floats, errors: Floats | None, spread: Floats
) -> tuple[Floats | None, Floats | None]:
    """The t-values of resamples, and the standard error of the estimate that goes with them."""
    if errors is None:
        return None, None
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (values - estimate) / errors
    named = work.statistic
    if work.standard_error is not None:
        error = np.atleast_1d(np.asarray(work.standard_error(*work.samples.parts), np.float64))
    elif isinstance(named, Named) and named.name == "mean" and all(plan.single for plan in work.plans):
        parts = work.samples.numbers
        error = np.sqrt(np.array([sum(part.var(ddof=1) / len(part) for part in parts)]))
    else:
        error = spread
    if not np.isfinite(error).all() or np.isnan(t).all(axis=0).any():
        raise DataError(
            "There is no studentised interval: the standard error is 0 or not a number in every resample. "
            "Use method='percentile'."
        )
    return t, error


def _acceleration(work: Work, n_jobs: int | None, *, needed: bool) -> Floats | None:
    parts = leave_out_values(work, n_jobs=n_jobs)
    if all(np.isfinite(part).all() for part in parts):
        return acceleration_of(parts)
    if not needed:
        return None
    n = min(work.samples.n_draws())
    raise DataError(
        f"There is no BCa interval of these {n} rows: without one of them the statistic is not a number. "
        "Give more rows, or use method='percentile'."
    )
