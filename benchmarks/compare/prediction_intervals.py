"""Coverage of prediction intervals on simulated tables: nine targets of ten should lie within.

    python benchmarks/compare/prediction_intervals.py --help

Every method of `Conformal` on six kinds of table, drawn anew in every repeat: the share of 2,000 new targets
that the intervals of coverage 0.9 hold, and how wide they are. There is nothing to compare with but the
promise: between 88 and 93 of a hundred, for every method on every kind.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, report
from common.harness import RESULTS
from numpy.typing import NDArray

COVERAGE = 0.9
#: what the mean coverage of a method on a kind must be within
LOWEST, HIGHEST = 0.88, 0.93
#: rows to fit on, and new ones; those of a quick run
ROWS, NEW_ROWS, QUICK_ROWS = 400, 2000, 120

Floats = NDArray[np.float64]
Draw = tuple[Any, Floats]


@dataclass(frozen=True)
class Cell:
    """One method on one kind of table."""

    kind: str
    method: str
    coverage: Floats  # of each repeat
    width: Floats
    seconds: float  # of a fit and 2,000 intervals

    @property
    def kept(self) -> bool:
        """Whether the mean coverage is what was promised."""
        return LOWEST <= float(self.coverage.mean()) <= HIGHEST


def _numbers(random: np.random.Generator, n_rows: int) -> Floats:
    return random.normal(size=(n_rows, 5))


def linear(random: np.random.Generator, n_rows: int) -> Draw:
    """A sum of columns, and even noise."""
    X = _numbers(random, n_rows)
    return X, X @ np.array([2.0, -1.0, 0.5, 0.0, 0.0]) + random.normal(size=n_rows)


def heteroscedastic(random: np.random.Generator, n_rows: int) -> Draw:
    """Noise that grows with a column."""
    X = _numbers(random, n_rows)
    return X, X[:, 0] + np.exp(X[:, 1] / 1.5) * random.normal(size=n_rows)


def heavy_tailed(random: np.random.Generator, n_rows: int) -> Draw:
    """Noise of Student's t with two degrees of freedom: its variance is infinite."""
    X = _numbers(random, n_rows)
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + random.standard_t(2, n_rows)


def categorical(random: np.random.Generator, n_rows: int) -> Draw:
    """Two columns of levels, one of numbers, gaps in each."""
    import pandas as pd

    town, grade = random.integers(0, 12, n_rows), random.integers(0, 4, n_rows)
    size = random.normal(size=n_rows)
    y = np.sin(np.arange(12.0) * 5)[town] * 2 + grade + size * (grade % 2) + random.normal(size=n_rows)
    frame = pd.DataFrame(
        {
            "town": pd.Categorical.from_codes(town, [f"town {k}" for k in range(12)]),
            "grade": pd.Categorical.from_codes(grade, ["d", "c", "b", "a"], ordered=True),
            "size": size,
        }
    )
    return frame.mask(random.random(frame.shape) < 0.05), y


def step(random: np.random.Generator, n_rows: int) -> Draw:
    """Two steps and hardly any noise."""
    X = _numbers(random, n_rows)
    return X, 3.0 * (X[:, 0] > 0) + 2.0 * (X[:, 1] > 0.5) + 0.1 * random.normal(size=n_rows)


def high_noise(random: np.random.Generator, n_rows: int) -> Draw:
    """Nothing but noise, or nearly."""
    X = _numbers(random, n_rows)
    return X, 0.1 * X[:, 0] + random.exponential(size=n_rows)


KINDS: dict[str, Callable[[np.random.Generator, int], Draw]] = {
    "linear": linear,
    "heteroscedastic": heteroscedastic,
    "heavy-tailed": heavy_tailed,
    "categorical": categorical,
    "step": step,
    "high noise": high_noise,
}


def methods(trees: int, threads: int) -> dict[str, Callable[[int], Any]]:
    """An unfitted model of each, by a seed."""
    from weald import (
        Conformal,
        DecisionTreeRegressor,
        GradientBoostingRegressor,
        RandomForestRegressor,
        XGBRegressor,
    )

    def forest(seed: int) -> Any:
        return RandomForestRegressor(trees, random_state=seed, n_jobs=threads)

    def tree() -> Any:
        return DecisionTreeRegressor(min_samples_leaf=10, n_jobs=threads)

    booster = XGBRegressor(
        n_estimators=trees // 2,
        max_depth=3,
        learning_rate=0.1,
        objective="reg:quantileerror",
        quantile_alpha=[0.05, 0.5, 0.95],
        n_jobs=threads,
    )
    stages = GradientBoostingRegressor(n_estimators=trees // 2, n_jobs=threads)
    quantiles = GradientBoostingRegressor(loss="quantile", n_estimators=trees // 2, n_jobs=threads)
    scaled: dict[str, Any] = {"conformity_score": "scaled"}
    return {
        "split, forest": lambda seed: Conformal(forest(seed), random_state=seed),
        "split, forest, scaled": lambda seed: Conformal(forest(seed), random_state=seed, **scaled),
        "cv+, gradient boosting": lambda seed: Conformal(stages, method="cv+", random_state=seed),
        "jackknife+, tree": lambda seed: Conformal(tree(), method="jackknife+"),
        "jackknife+, forest": lambda seed: Conformal(forest(seed), method="jackknife+"),
        "jackknife+, forest, scaled": lambda seed: Conformal(forest(seed), method="jackknife+", **scaled),
        "cqr, XGBRegressor": lambda seed: Conformal(booster, method="cqr", random_state=seed),
        "cqr, gradient boosting": lambda seed: Conformal(quantiles, method="cqr", random_state=seed),
        "cqr, forest": lambda seed: Conformal(forest(seed), method="cqr", random_state=seed),
    }


def measure(kind: str, make: Callable[[int], Any], method: str, options: argparse.Namespace) -> Cell:
    """All repeats of one method on one kind."""
    coverage, width, seconds = [], [], 0.0
    for seed in range(options.repeats):
        random = np.random.default_rng([seed, sorted(KINDS).index(kind)])
        X, y = KINDS[kind](random, options.rows)
        new, truth = KINDS[kind](random, NEW_ROWS)
        start = time.perf_counter()
        found = make(seed).fit(X, y).predict_interval(new, COVERAGE)
        seconds += time.perf_counter() - start
        coverage.append(np.mean((found[:, 0] <= truth) & (truth <= found[:, 1])))
        width.append(np.mean(found[:, 1] - found[:, 0]))
    return Cell(kind, method, np.array(coverage), np.array(width), seconds / options.repeats)


def lines(cells: Sequence[Cell]) -> list[list[str]]:
    """The table: a line for each method, a column for each kind."""
    kinds = list(dict.fromkeys(cell.kind for cell in cells))
    out = [["method", *kinds, "seconds"]]
    for method in dict.fromkeys(cell.method for cell in cells):
        mine = [cell for cell in cells if cell.method == method]
        said = [
            f"{100 * cell.coverage.mean():.1f} % ± {100 * _error(cell.coverage):.1f}, {cell.width.mean():.2f}"
            for cell in mine
        ]
        out.append([method, *said, f"{np.mean([cell.seconds for cell in mine]):.2g}"])
    return out


def _error(coverage: Floats) -> float:
    return float(coverage.std(ddof=1) / np.sqrt(len(coverage))) if len(coverage) > 1 else 0.0


def summary(cells: Sequence[Cell]) -> str:
    """The count in words, and which are outside."""
    kept = sum(cell.kept for cell in cells)
    text = f"Coverage within {100 * LOWEST:.0f}–{100 * HIGHEST:.0f} % in {kept} of {len(cells)} cells."
    outside = [f"{cell.method} on {cell.kind}" for cell in cells if not cell.kept]
    return f"{text} Outside: {'; '.join(outside)}." if outside else text


def section(cells: Sequence[Cell], facts: dict[str, str], options: argparse.Namespace) -> str:
    """The part of the results page."""
    words = (
        f"Intervals of coverage {COVERAGE} after a fit on {options.rows} rows, {options.repeats} tables of "
        f"each kind: mean share of {NEW_ROWS:,} new targets within, its standard error, and the mean width. "
        f"Seconds: a fit and {NEW_ROWS:,} intervals, {options.threads} threads. Forests of {options.trees} "
        f"trees, boosters of {options.trees // 2} rounds, folds 5, a quarter of the rows held out by split "
        "and cqr."
    )
    parts = [
        "## Coverage of prediction intervals",
        " · ".join(f"{key} {value}" for key, value in facts.items()),
        words,
        report.markdown_table(lines(cells)),
        summary(cells),
    ]
    return "\n\n".join(parts) + "\n"


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Measure: coverage of prediction intervals.")
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="two small tables, once: a smoke run")
    parser.add_argument("--check", action="store_true", help="exit 1 when a coverage is not kept")
    parser.add_argument("--markdown", type=Path, nargs="?", const=RESULTS, metavar="FILE")
    options = parser.parse_args(arguments)
    if options.quick:
        options.kinds, options.repeats, options.trees, options.rows = (
            ["linear", "categorical"],
            1,
            24,
            QUICK_ROWS,
        )
        options.threads = 1
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """The whole program; returns its exit code."""
    options = parse(arguments)
    facts = machine.facts(["weald"])
    cells = []
    for method, make in methods(options.trees, options.threads).items():
        mine = [measure(kind, make, method, options) for kind in options.kinds]
        cells += mine
        print("  ".join(lines(mine)[-1]), flush=True)
    print("\n" + report.text_table(lines(cells)) + "\n\n" + summary(cells))
    if options.markdown is not None:
        report.write_section(options.markdown, "prediction-intervals", section(cells, facts, options))
    return 1 if options.check and not options.quick and not all(cell.kept for cell in cells) else 0


if __name__ == "__main__":
    sys.exit(main())
