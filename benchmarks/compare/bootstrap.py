"""Bootstrap intervals against SciPy: BCa of mean and median, and a million rows in bounded memory.

    python benchmarks/compare/bootstrap.py --help

Both are given the same array and as many resamples; every call is timed end to end, from the array to the
interval. SciPy has one thread. Of a million rows the interval is the percentile one, because SciPy's
jackknife would take n² steps, and SciPy draws one resample at a time (`batch=1`), its leanest setting.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
from common.harness import main
from common.jobs import Arrays, AtMost, Contender, Dataset, Figures, Job, Target, Timed, Within

FUNCTIONS = {"mean": np.mean, "median": np.median}
#: the ends of intervals from other draws differ by this much, in standard errors
NEAR = 0.12


def values(n: int, n_quick: int, n_resamples: int, quick: bool) -> Arrays:
    """Skewed values, and how many resamples to draw of them."""
    random = np.random.default_rng(0)
    x = random.gamma(2.0, size=n_quick if quick else n)
    return {"x": x, "resamples": np.array([min(n_resamples, 199) if quick else n_resamples])}


def figures(x: np.ndarray[Any, Any], found: tuple[float, float, float]) -> Figures:
    """The ends in standard errors of the mean, so that one rule fits every size."""
    scale = float(x.std() / np.sqrt(len(x)))
    low, high, error = found
    centre = float(np.median(x))
    return {"low": (low - centre) / scale, "high": (high - centre) / scale, "standard error": error / scale}


def ours(statistic: str, method: str, arrays: Arrays, threads: int) -> Timed:
    """weald."""
    import weald

    x, resamples = arrays["x"], int(arrays["resamples"][0])
    weald.bootstrap(x[:50], statistic, n_resamples=9)

    def run() -> tuple[float, float, float]:
        found = weald.bootstrap(
            x, statistic, method=method, n_resamples=resamples, random_state=0, n_jobs=threads
        )
        low, high = found.interval()
        return float(np.asarray(low)), float(np.asarray(high)), float(np.asarray(found.standard_error))

    return Timed(run, partial(figures, x))


def theirs(statistic: str, method: str, batch: int | None, arrays: Arrays, threads: int) -> Timed:
    """SciPy."""
    from scipy import stats

    x, resamples = arrays["x"], int(arrays["resamples"][0])
    function = FUNCTIONS[statistic]

    def call(data: Any, n: int) -> Any:
        given = {"n_resamples": n, "method": method, "batch": batch, "rng": 0}
        return stats.bootstrap((data,), function, vectorized=True, **given)

    call(x[:50], 9)

    def run() -> tuple[float, float, float]:
        found = call(x, resamples)
        low, high = found.confidence_interval
        return float(low), float(high), float(found.standard_error)

    return Timed(run, partial(figures, x))


EQUAL = (Within("low", NEAR), Within("high", NEAR), Within("standard error", 0.05, relative=True))


def job(statistic: str) -> Job:
    """BCa of 10,000 values."""
    target = Target(ratio=5)
    contenders = (
        Contender(
            "weald",
            "weald",
            partial(ours, statistic, "bca"),
            {"statistic": statistic, "method": "bca", "n_resamples": 9999},
            ours=True,
            rules=EQUAL,
            targets=(target,),
        ),
        Contender(
            "SciPy",
            "scipy",
            partial(theirs, statistic, "BCa", 100),
            {"statistic": f"np.{statistic}", "method": "BCa", "n_resamples": 9999, "batch": 100},
        ),
    )
    return Job(statistic, f"BCa interval of a {statistic}, 10,000 values", "values", contenders)


MILLION = Job(
    "million",
    "Percentile interval of a mean, 1,000,000 values",
    "million",
    (
        Contender(
            "weald",
            "weald",
            partial(ours, "mean", "percentile"),
            {"statistic": "mean", "method": "percentile", "n_resamples": 199},
            ours=True,
            rules=(AtMost("fit MB", 100), Within("standard error", 0.25, relative=True)),
            targets=(Target(ratio=1),),
        ),
        Contender(
            "SciPy",
            "scipy",
            partial(theirs, "mean", "percentile", 1),
            {"statistic": "np.mean", "method": "percentile", "n_resamples": 199, "batch": 1},
        ),
    ),
    memory=True,
)
DATASETS = (
    Dataset("values", partial(values, 10_000, 300, 9999)),
    Dataset("million", partial(values, 1_000_000, 2000, 199)),
)
JOBS = (job("mean"), job("median"), MILLION)

if __name__ == "__main__":
    sys.exit(main("bootstrap", "Bootstrap", __file__, DATASETS, JOBS))
