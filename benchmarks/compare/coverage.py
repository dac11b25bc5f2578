"""How often intervals hold the truth: 95 % intervals of simulated samples whose truth is known.

    python benchmarks/compare/coverage.py --help

Mean, median and correlation by the bootstrap, the area under the ROC curve by DeLong and by the bootstrap. A
line is in order if between 93 and 97 % of the intervals hold the truth.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import machine, report
from common.harness import RESULTS
from numpy.typing import NDArray
from scipy import stats

Interval = tuple[float, float]
LOW, HIGH = 0.93, 0.97
#: how far apart the two classes are, and the area that follows
SHIFT = 1.0
AREA = float(stats.norm.cdf(SHIFT / np.sqrt(2)))
CORRELATION = 0.5


@dataclass(frozen=True)
class Case:
    """A statistic, a way to make its interval, and samples of which it is known."""

    statistic: str
    data: str
    method: str
    truth: float
    draw: Callable[[np.random.Generator, int], tuple[NDArray[np.float64], ...]]


def normal(rng: np.random.Generator, n: int) -> tuple[NDArray[np.float64], ...]:
    """Standard normal values."""
    return (rng.normal(size=n),)


def gamma(rng: np.random.Generator, n: int) -> tuple[NDArray[np.float64], ...]:
    """Skewed values: gamma of shape 4, whose mean is 4."""
    return (rng.gamma(4.0, size=n),)


def pairs(rng: np.random.Generator, n: int) -> tuple[NDArray[np.float64], ...]:
    """Normal pairs of a known correlation."""
    x = rng.normal(size=n)
    return x, CORRELATION * x + np.sqrt(1 - CORRELATION**2) * rng.normal(size=n)


def scores(rng: np.random.Generator, n: int) -> tuple[NDArray[np.float64], ...]:
    """Labels, half of each, and normal scores."""
    y = (np.arange(n) % 2).astype(np.float64)
    return y, SHIFT * y + rng.normal(size=n)


MEDIAN = float(stats.gamma.median(4.0))
CASES = (
    Case("mean", "normal", "bca", 0.0, normal),
    Case("mean", "gamma", "bca", 4.0, gamma),
    Case("mean", "gamma", "studentised", 4.0, gamma),
    Case("median", "normal", "bca", 0.0, normal),
    Case("median", "gamma", "bca", MEDIAN, gamma),
    Case("median", "gamma", "percentile", MEDIAN, gamma),
    Case("correlation", "normal pairs", "bca", CORRELATION, pairs),
    Case("AUC", "normal scores", "delong", AREA, scores),
    Case("AUC", "normal scores", "bca", AREA, scores),
)


def interval(case: Case, sample: tuple[NDArray[np.float64], ...], resamples: int, seed: int) -> Interval:
    """One interval."""
    import weald

    if case.statistic == "AUC":
        y, score = sample
        found = weald.score_interval(
            score,
            None,
            y.astype(int),
            "roc_auc",
            method=case.method,
            n_resamples=resamples,
            random_state=seed,
        )
        return found.low, found.high
    data = sample[0] if len(sample) == 1 else sample
    low, high = weald.bootstrap(
        data, case.statistic, method=case.method, n_resamples=resamples, random_state=seed, n_jobs=1
    ).interval()
    return float(np.asarray(low)), float(np.asarray(high))


def coverage(case: Case, rows: int, simulations: int, resamples: int) -> float:
    """The share of intervals that hold the truth."""
    held = 0
    for seed in range(simulations):
        sample = case.draw(np.random.default_rng(seed), rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            low, high = interval(case, sample, resamples, seed)
        held += low <= case.truth <= high
    return held / simulations


HEAD = ["statistic", "samples", "method", "intervals that hold the truth", "93 to 97 %"]


def line(case: Case, held: float, judged: bool) -> list[str]:
    """One row of the table."""
    verdict = ("yes" if LOW <= held <= HIGH else "NO") if judged else "not judged"
    return [case.statistic, case.data, case.method, f"{100 * held:.1f} %", verdict]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Measure: coverage of 95 % intervals.")
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--resamples", type=int, default=1999)
    parser.add_argument("--quick", action="store_true", help="20 simulations: a smoke run")
    parser.add_argument("--check", action="store_true", help="exit 1 when a line is out of order")
    parser.add_argument("--markdown", type=Path, nargs="?", const=RESULTS, metavar="FILE")
    options = parser.parse_args(arguments)
    if options.quick:
        options.simulations, options.resamples = 20, 99
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """The whole program; returns its exit code."""
    options = parse(arguments)
    facts = machine.facts(["weald", "scipy"])
    lines, good = [], True
    for case in CASES:
        held = coverage(case, options.rows, options.simulations, options.resamples)
        lines.append(line(case, held, not options.quick))
        good = good and (options.quick or LOW <= held <= HIGH)
        print(report.text_table([HEAD, lines[-1]]), flush=True)
    words = (
        f"95 % intervals of {options.simulations:,} samples of {options.rows} rows each, "
        f"{options.resamples:,} resamples; with as many simulations a share of 95 % has a standard error of "
        f"{100 * np.sqrt(0.95 * 0.05 / options.simulations):.2g} points."
    )
    print(words)
    if options.markdown is not None:
        parts = ["## Coverage of intervals", " · ".join(f"{key} {value}" for key, value in facts.items())]
        parts += [words, report.markdown_table([HEAD, *lines])]
        report.write_section(options.markdown, "coverage", "\n\n".join(parts) + "\n")
    return 1 if options.check and not good else 0


if __name__ == "__main__":
    sys.exit(main())
