"""Partial dependence of all columns against scikit-learn's `partial_dependence(method="brute")`.

    python benchmarks/compare/dependence.py --help

Both get the same fitted model of weald and the same rows, and find the same curves at the same 100 values
of each column; scikit-learn predicts the whole table once for every value, with weald's own prediction on
all threads. In the job "own" scikit-learn has a booster of its own, of as many trees as deep, and three
columns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from common.harness import main
from common.jobs import Arrays, Contender, Dataset, Figures, Job, Target, Timed, Within

TREES, DEPTH = 100, 6


def rows(n: int, n_columns: int, quick: bool) -> Arrays:
    """Numbers, a target with interactions, and two classes."""
    random = np.random.default_rng(0)
    X = random.normal(size=(400 if quick else n, n_columns))
    y = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + 0.3 * random.normal(size=len(X))
    return {
        "X": X,
        "y": y,
        "trees": np.array([10 if quick else TREES]),
        "points": np.array([5 if quick else 100]),
    }


def boosted(arrays: Arrays, threads: int) -> Any:
    """weald's booster of numbers."""
    import weald

    model = weald.XGBRegressor(n_estimators=int(arrays["trees"][0]), max_depth=DEPTH, n_jobs=threads)
    return model.fit(arrays["X"], arrays["y"])


def classified(arrays: Arrays, threads: int) -> Any:
    """weald's booster of two classes."""
    import weald

    model = weald.XGBClassifier(n_estimators=int(arrays["trees"][0]), max_depth=DEPTH, n_jobs=threads)
    return model.fit(arrays["X"], arrays["y"] > 0)


def forest(arrays: Arrays, threads: int) -> Any:
    """weald's forest."""
    import weald

    model = weald.RandomForestRegressor(
        int(arrays["trees"][0]), min_samples_leaf=5, max_bins=255, n_jobs=threads, random_state=0
    )
    return model.fit(arrays["X"], arrays["y"])


def their_booster(arrays: Arrays, threads: int) -> Any:
    """scikit-learn's booster of numbers."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(
        max_iter=int(arrays["trees"][0]), max_depth=DEPTH, max_leaf_nodes=None, early_stopping=False
    )
    return model.fit(arrays["X"], arrays["y"])


def figures(curves: Sequence[np.ndarray[Any, Any]]) -> Figures:
    """The mean of all curves, and how far they are from flat."""
    return {
        "mean": float(np.mean([curve.mean() for curve in curves])),
        "spread": float(np.mean([curve.std() for curve in curves])),
    }


def ours(fit: Callable[[Arrays, int], Any], n_columns: int, arrays: Arrays, threads: int) -> Timed:
    """weald: one pass for all columns."""
    import weald

    model, X, points = fit(arrays, threads), arrays["X"], int(arrays["points"][0])
    columns = list(range(min(n_columns, X.shape[1])))
    weald.partial_dependence(model, X[:100], columns, grid=points, n_jobs=threads)

    def run() -> list[np.ndarray[Any, Any]]:
        found = weald.partial_dependence(model, X, columns, grid=points, n_jobs=threads)
        return [each.values for each in found]

    return Timed(run, figures)


def theirs(fit: Callable[[Arrays, int], Any], n_columns: int, arrays: Arrays, threads: int) -> Timed:
    """scikit-learn: one prediction of the whole table for each value."""
    from sklearn.inspection import partial_dependence

    model, X, points = fit(arrays, threads), arrays["X"], int(arrays["points"][0])
    columns = range(min(n_columns, X.shape[1]))

    def curves(rows: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
        return [
            partial_dependence(model, rows, [j], method="brute", grid_resolution=points)["average"]
            for j in columns
        ]

    curves(X[:100])
    return Timed(lambda: curves(X), figures)


EQUAL = (Within("mean", 1e-9), Within("spread", 1e-9))


def job(
    name: str,
    title: str,
    data: str,
    fit: Callable[[Arrays, int], Any],
    n_columns: int = 100,
    other: Callable[[Arrays, int], Any] | None = None,
) -> Job:
    """All columns of a table, by both."""
    parameters = {"trees": TREES, "depth": DEPTH if fit is not forest else "5 rows a leaf", "values": 100}
    rules = EQUAL if other is None else ()
    return Job(
        name,
        title,
        data,
        (
            Contender(
                "weald",
                "weald",
                partial(ours, fit, n_columns),
                parameters,
                ours=True,
                rules=rules,
                targets=(Target(ratio=20),),
            ),
            Contender(
                "scikit-learn",
                "scikit-learn",
                partial(theirs, other or fit, n_columns),
                {**parameters, "method": "brute", "model": "its own" if other else "weald's"},
            ),
        ),
        memory=True,
    )


DATASETS = (
    Dataset("rows", partial(rows, 100_000, 10)),
    Dataset("fewer", partial(rows, 20_000, 10)),
)
JOBS = (
    job("regression", "10 columns, 100,000 rows, boosted trees, numbers", "rows", boosted),
    job("probabilities", "10 columns, 100,000 rows, boosted trees, probabilities", "rows", classified),
    job("forest", "10 columns, 20,000 rows, a forest", "fewer", forest),
    job("own", "3 columns, 100,000 rows, each library's own booster", "rows", boosted, 3, their_booster),
)

if __name__ == "__main__":
    sys.exit(main("dependence", "Dependence", __file__, DATASETS, JOBS))
