"""The values of a statistic in every resample: by the core where it knows the statistic, else by calling it.

Resamples are hashes of (seed, resample, position), drawn where they are needed and never kept: a call holds
about `CELLS` numbers per job, whatever n is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.engine import ResampledError, ResamplePlan
from weald.errors import DataError, naming_member
from weald.progress import Progress
from weald.random import Purpose
from weald.random import draw as draw_words
from weald.uncertainty.bootstrap.plans import leave_out_groups
from weald.uncertainty.bootstrap.samples import Samples, take_sample
from weald.uncertainty.bootstrap.statistics import Named

#: rows of resamples that are in memory together, for each job: 4 MB, and 8 more as numbers
CELLS = 1 << 20
#: more rows than these are left out in groups where the statistic is a function
MOST_LEFT_OUT = 2000
#: parts that a progress bar shows
_STEPS = 100

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Work:
    """A statistic, the samples it is of, and how these are resampled: a plan and a seed for each draw."""

    samples: Samples
    plans: tuple[ResamplePlan, ...]
    seeds: tuple[int, ...]
    statistic: Named | Function
    vectorized: bool
    n_inner: int = 0  # resamples of each resample, for its standard error; 0: none is asked for
    standard_error: Function | None = None

    @property
    def wants_errors(self) -> bool:
        """Whether the standard error within each resample is asked for."""
        return self.n_inner > 0 or self.standard_error is not None


def sample_seeds(seed: int, n_samples: int) -> tuple[int, ...]:
    """A seed for each independent sample."""
    return tuple(int(draw_words(seed, Purpose.RESAMPLED_SAMPLE, k)[0]) for k in range(n_samples))


def takes_axis(function: Function) -> bool:
    """Whether a statistic works along an axis, so that one call does for many resamples."""
    try:
        return "axis" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def statistic_of(work: Work, sample: tuple[Any, ...]) -> Floats:
    """The statistic of one sample: an array of one dimension, or of none for a single number."""
    if isinstance(work.statistic, Named):
        values = _named_value(work.statistic, sample)
        return values if len(work.statistic.q) > 1 and work.statistic.name == "quantile" else values[0]
    return _answer(work.statistic, sample, {"axis": -1} if work.vectorized else {})


def draw_values(
    work: Work, n_resamples: int, *, n_jobs: int | None, n_threads: int, verbose: object
) -> tuple[Floats, Floats | None]:
    """The statistic in each resample, (n_resamples, width), and its standard errors there or None."""
    native = isinstance(work.statistic, Named) and _known_to_core(work)
    together = max(1, CELLS // sum(work.samples.n_draws()))
    if native:
        together = -(-n_resamples // _STEPS) if verbose else n_resamples
    stretches = [(first, min(n_resamples, first + together)) for first in range(0, n_resamples, together)]
    bar = Progress(len(stretches), word="part") if verbose else None
    values, errors = [], []
    try:
        if bar is not None:
            bar.start()
        found = (
            (_native(work, *each, n_threads) for each in stretches)
            if native
            else _in_threads(work, stretches, n_jobs)
        )
        for some, some_errors in found:
            values.append(some)
            errors.append(some_errors)
            if bar is not None:
                bar.advance({})
    finally:
        if bar is not None:
            bar.close()
    return np.concatenate(values), np.concatenate(errors) if work.wants_errors else None


# --------------------------------------------------------------------------- by the core


def _known_to_core(work: Work) -> bool:
    """Whether the core has all of it: not so the standard error of the difference of paired samples."""
    of_two = len(work.samples.parts) == 2 and not _of_pairs(work.statistic)
    paired_errors = of_two and work.samples.paired and work.wants_errors
    return work.standard_error is None and not paired_errors


def _of_pairs(statistic: Named | Function) -> bool:
    return isinstance(statistic, Named) and statistic.of_pairs


def _native(work: Work, first: int, last: int, n_threads: int) -> tuple[Floats, Floats]:
    named = work.statistic
    assert isinstance(named, Named)
    parts = work.samples.numbers
    samples = [parts] if named.of_pairs else [(part,) for part in parts]
    values, variances = np.zeros(1), np.zeros(1)
    for k, sample in enumerate(samples):
        draw = 0 if work.samples.paired else k
        plan, seed = work.plans[draw], work.seeds[draw]
        error: ResampledError = "none"
        if work.wants_errors:
            error = "mean" if named.name == "mean" and plan.single else "resamples"
        prepared, centre = named.prepared(sample)
        some, errors = plan.statistic(
            prepared, seed, first, last, error=error, n_inner=work.n_inner, n_threads=n_threads
        )
        values = some + centre if k == 0 else values - (some + centre)
        variances = errors**2 if k == 0 else variances + errors**2
    return values, np.sqrt(variances)


def _named_value(named: Named, sample: tuple[Floats, ...]) -> Floats:
    """The statistic of one sample, or of the first minus that of the second."""
    if named.of_pairs or len(sample) == 1:
        return named.value(sample)
    found: Floats = named.value(sample[:1]) - named.value(sample[1:])
    return found


# --------------------------------------------------------------------------- by calling


def _in_threads(
    work: Work, stretches: list[tuple[int, int]], n_jobs: int | None
) -> Iterator[tuple[Floats, Floats]]:
    """Stretch by stretch in order, on threads of joblib's unless its configuration says otherwise."""
    from joblib import effective_n_jobs
    from sklearn.utils.parallel import Parallel, delayed

    if effective_n_jobs(n_jobs) == 1 or len(stretches) == 1:
        yield from (called(work, *each) for each in stretches)
        return
    parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    yield from parallel(delayed(called)(work, *each) for each in stretches)


def called(work: Work, first: int, last: int) -> tuple[Floats, Floats]:
    """Resamples `first` to `last` of a function, and the standard errors in them or nothing."""
    rows = [plan.rows(seed, first, last) for plan, seed in zip(work.plans, work.seeds, strict=True)]
    values = _evaluate(work, rows)
    if not work.wants_errors:
        return values, np.empty((0, values.shape[1]))
    if work.standard_error is not None:
        by_user = Work(
            work.samples, work.plans, work.seeds, work.standard_error, takes_axis(work.standard_error)
        )
        return values, _evaluate(by_user, rows)
    return values, np.stack([_inner_error(work, rows, first, r) for r in range(last - first)])


def _inner_error(work: Work, rows: list[NDArray[np.int32]], first: int, r: int) -> Floats:
    """The standard deviation over resamples of one resample."""
    inner = []
    for plan, seed, drawn in zip(work.plans, work.seeds, rows, strict=True):
        own = int(draw_words(seed, Purpose.INNER_RESAMPLE, first + r)[0])
        inner.append(drawn[r][plan.rows(own, 0, work.n_inner)])
    found: Floats = _evaluate(work, inner).std(axis=0, ddof=1)
    return found


def _evaluate(work: Work, rows: list[NDArray[np.int32]]) -> Floats:
    """The statistic of each of some resamples, whose rows are given for each draw: (resamples, width)."""
    if work.vectorized and not isinstance(work.statistic, Named):
        return _along_axis(work.statistic, _drawn(work.samples, rows), len(rows[0]))
    each = (_drawn(work.samples, [drawn[r] for drawn in rows]) for r in range(len(rows[0])))
    return np.stack([np.atleast_1d(statistic_of(work, sample)) for sample in each])


def _drawn(samples: Samples, rows: list[NDArray[np.int32]]) -> tuple[Any, ...]:
    if samples.paired:
        return take_sample(samples, rows[0])
    return tuple(part[drawn] for part, drawn in zip(samples.parts, rows, strict=True))


def _along_axis(function: Function, sample: tuple[Any, ...], n: int) -> Floats:
    with naming_member("The statistic"):
        answer = function(*sample, axis=-1)
    found = np.asarray(getattr(answer, "statistic", answer), np.float64)
    if found.ndim == 2 and found.shape[0] != n and found.shape[1] == n:
        found = found.T
    if found.ndim not in (1, 2) or len(found) != n:
        raise DataError(
            f"The statistic gave an array of shape {found.shape} for {n} resamples along axis=-1; there must "
            "be one number for each. Set vectorized=False to call it for one resample at a time."
        )
    return found if found.ndim == 2 else found[:, None]


def _answer(function: Function, sample: tuple[Any, ...], axis: Mapping[str, int]) -> Floats:
    with naming_member("The statistic"):
        answer = function(*sample, **axis)
        found = np.asarray(getattr(answer, "statistic", answer), np.float64)
    if found.ndim > 1 or found.size == 0:
        raise DataError(
            f"The statistic gave an array of shape {found.shape}; it must give a number, or an array of one "
            "dimension. Flatten it."
        )
    return found


# --------------------------------------------------------------------------- left out


def leave_out_values(work: Work, *, n_jobs: int | None, exact: bool = False) -> list[Floats]:
    """The statistic without each row, or group of rows, in turn: (groups, width) for each draw.

    Of one sample with strata, an array for each stratum. `exact` never forms groups.
    """
    parts = []
    for k, plan in enumerate(work.plans):
        if isinstance(work.statistic, Named) and not plan.block_length:
            values = _named_without(work, k)
        else:
            most = plan.n if exact else MOST_LEFT_OUT
            groups = leave_out_groups(plan, most, work.seeds[k])
            values = _called_without(work, k, groups, n_jobs)
        if len(plan.strata) and len(values) == plan.n:
            stops = plan.strata[1:-1]
            parts += np.split(values[plan.members], stops)
        else:
            parts.append(values)
    return parts


def _named_without(work: Work, k: int) -> Floats:
    named = work.statistic
    assert isinstance(named, Named)
    parts = work.samples.numbers
    if named.of_pairs or len(parts) == 1:
        return named.left_out(parts)
    if work.samples.paired:
        return named.left_out(parts[:1]) - named.left_out(parts[1:])
    found: Floats = named.left_out((parts[k],))
    return found if k == 0 else -found


def _called_without(work: Work, k: int, groups: NDArray[np.int32], n_jobs: int | None) -> Floats:
    """By calling the statistic for each group; single rows many at once where it works along an axis."""
    n, n_groups = work.plans[k].n, int(groups.max()) + 1
    along = work.vectorized and n_groups == n and not isinstance(work.statistic, Named)
    together = max(1, CELLS // n) if along else 1

    def some(first: int) -> Floats:
        last = min(n_groups, first + together)
        if along:
            kept = np.arange(n - 1, dtype=np.int32)
            rows = kept + (kept >= np.arange(first, last)[:, None])
        else:
            rows = np.flatnonzero(groups != first).astype(np.int32)[None, :]
        if work.samples.paired:
            return _evaluate(work, [rows])
        all_rows = [np.arange(size, dtype=np.int32) for size in work.samples.sizes]
        drawn = [np.broadcast_to(each, (len(rows), len(each))) for each in all_rows]
        drawn[k] = rows
        return _evaluate(work, drawn)

    from joblib import effective_n_jobs
    from sklearn.utils.parallel import Parallel, delayed

    starts = range(0, n_groups, together)
    if effective_n_jobs(n_jobs) == 1:
        return np.concatenate([some(first) for first in starts])
    return np.concatenate(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(some)(each) for each in starts))
