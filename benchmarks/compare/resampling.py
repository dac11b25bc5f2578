"""Samplers for rare classes, against imbalanced-learn: SMOTE, SMOTENC, ADASYN, EditedNearestNeighbours.

    python benchmarks/compare/resampling.py --help

Every call of `fit_resample` is timed end to end, from the user's table to the resampled one. Counts of the
classes must agree; new rows are drawn by each library in its own way, so they agree in the mean only.
imbalanced-learn gives its search for neighbours no threads but those of scikit-learn's brute force.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from common import tables
from common.harness import main
from common.jobs import Arrays, Contender, Dataset, Figures, Job, Target, Timed, Within
from trees import sized

Parameters: TypeAlias = dict[str, Any]
#: (threads, parameters) → a sampler
Maker: TypeAlias = Callable[[int, Parameters], Any]

#: the same number of rows, the same mean of the rare rows, and less memory
SAME = (
    Within("rare rows", 0.0),
    Within("rows", 0.0),
    Within("mean", 0.02),
    Within("fit MB", 0.0, not_more=True),
)


def weald_sampler(name: str, threads: int, parameters: Parameters) -> Any:
    """Ours."""
    import weald

    return getattr(weald, name)(n_jobs=threads, **parameters)


def imblearn_sampler(name: str, threads: int, parameters: Parameters) -> Any:
    """imbalanced-learn's."""
    from imblearn import over_sampling, under_sampling

    if name == "EditedNearestNeighbours":
        return under_sampling.EditedNearestNeighbours(n_jobs=threads, **parameters)
    return getattr(over_sampling, name)(**parameters)


# --------------------------------------------------------------------------- tables


def rare(n_rows: int, n_rare: int, seed: int = 11) -> Arrays:
    """28 columns of float64; the rows of the largest noisy signal are rare."""
    random = np.random.default_rng(seed)
    X = tables.wide_columns(n_rows, random)
    score = tables.signal(X) + random.standard_normal(n_rows)
    y = np.zeros(n_rows, np.int64)
    y[np.argsort(score)[-n_rare:]] = 1
    return {"X": X.astype(np.float64), "y": y}


def mixed(n_rows: int, n_rare: int, seed: int = 12) -> Arrays:
    """Eight columns of numbers and eight of categories, of 3 to 40 levels."""
    made = rare(n_rows, n_rare, seed)
    random = np.random.default_rng(seed + 1)
    levels = [3, 4, 5, 8, 12, 20, 30, 40]
    shift = made["y"][:, np.newaxis]
    codes = (random.integers(0, levels, (n_rows, 8)) + shift * random.integers(0, 2, (n_rows, 8))) % levels
    return {"X": made["X"][:, :8], "codes": codes.astype(np.int32), "y": made["y"]}


def table_of(arrays: Arrays) -> Any:
    """An array, or a frame with categories."""
    if "codes" not in arrays:
        return arrays["X"]
    import pandas as pd

    frame = pd.DataFrame(arrays["X"], columns=[f"x{j}" for j in range(arrays["X"].shape[1])])
    for j in range(arrays["codes"].shape[1]):
        frame[f"c{j}"] = pd.Categorical([f"level {code}" for code in arrays["codes"][:, j]])
    return frame


# --------------------------------------------------------------------------- what is timed


def figures(resampled: tuple[Any, Any]) -> Figures:
    """How many rows there are, and the mean of the numbers of the rare ones."""
    X, y = resampled
    numbers = np.asarray(X)[:, :8] if isinstance(X, np.ndarray) else X.iloc[:, :8].to_numpy()
    labels = np.asarray(y)
    return {
        "rows": float(len(labels)),
        "rare rows": float((labels == 1).sum()),
        "mean": float(numbers[labels == 1].astype(np.float64).mean()),
    }


def resampling(maker: Maker, parameters: Parameters, arrays: Arrays, threads: int) -> Timed:
    """Time one call, after imports and a first call on few rows."""
    warnings.simplefilter("ignore")
    X, y = table_of(arrays), arrays["y"]
    few = np.concatenate([np.flatnonzero(y == 1)[:40], np.flatnonzero(y == 0)[:200]])
    maker(threads, parameters).fit_resample(X[few] if isinstance(X, np.ndarray) else X.iloc[few], y[few])
    return Timed(run=lambda: maker(threads, parameters).fit_resample(X, y), figures=figures)


def job(name: str, title: str, dataset: str, sampler: str, parameters: Parameters, ratio: float = 4) -> Job:
    """Ours against imbalanced-learn's, with the same parameters."""
    ours = Contender(
        "weald",
        "weald",
        partial(resampling, partial(weald_sampler, sampler), parameters),
        parameters,
        ours=True,
        rules=SAME,
        targets=(Target(ratio=ratio, goal=8),),
    )
    theirs = Contender(
        "imbalanced-learn",
        "imbalanced-learn",
        partial(resampling, partial(imblearn_sampler, sampler), parameters),
        parameters,
    )
    return Job(name, title, dataset, (ours, theirs), (2,), memory=True)


NUMBERS, MIXED = "200,000 × 28 float64, 10,000 rare", "200,000 × (8 numbers, 8 categories), 10,000 rare"
SEED: Parameters = {"random_state": 0}
DATASETS = (
    Dataset("rare", sized(rare, (2000, 100), (200_000, 10_000))),
    Dataset("mixed", sized(mixed, (2000, 100), (200_000, 10_000))),
)
JOBS = (
    job("smote", f"SMOTE, {NUMBERS}", "rare", "SMOTE", SEED),
    job("smotenc", f"SMOTENC, {MIXED}", "mixed", "SMOTENC", {"categorical_features": "auto", **SEED}),
    job("adasyn", f"ADASYN, {NUMBERS}", "rare", "ADASYN", SEED),
    job("enn", f"EditedNearestNeighbours, {NUMBERS}", "rare", "EditedNearestNeighbours", {}),
)

if __name__ == "__main__":
    sys.exit(main("resampling", "Samplers for rare classes", __file__, DATASETS, JOBS))
