"""AdaBoost: a hundred stumps, trees of depth 3, predicting, against scikit-learn.

    python benchmarks/compare/adaboost.py --help

Every fit is timed end to end, from the user's array to the fitted model, with coding. scikit-learn's AdaBoost
has no threads of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from common import tables
from common.harness import main
from common.jobs import Arrays, Contender, Dataset, Figures, Job, Target, Timed, Within
from trees import sized

Parameters: TypeAlias = dict[str, Any]
#: (depth of the trees, threads, parameters) → an unfitted ensemble
Maker: TypeAlias = Callable[[int, int, Parameters], Any]

N_ROWS = 100_000
HUNDRED: Parameters = {"n_estimators": 100}
TEN: Parameters = {"n_estimators": 10}

SAME_MODEL = (Within("accuracy", 0.0005), Within("last error", 1e-6))
SAME_ACCURACY = (Within("accuracy", 0.005),)


def weald_boosting(depth: int, threads: int, parameters: Parameters) -> Any:
    """Ours."""
    import weald

    base = weald.DecisionTreeClassifier(max_depth=depth)
    return weald.AdaBoostClassifier(base, n_jobs=threads, **parameters)


def sklearn_boosting(depth: int, threads: int, parameters: Parameters) -> Any:
    """scikit-learn's."""
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    return AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), random_state=0, **parameters)


def quality(arrays: Arrays, model: Any) -> Figures:
    """How well the test rows are told, and the weighted error of the last member."""
    accuracy = float(model.score(arrays["X_test"], arrays["y_test"]))
    return {"accuracy": accuracy, "last error": float(model.estimator_errors_[-1])}


def fitting(maker: Maker, depth: int, parameters: Parameters, arrays: Arrays, threads: int) -> Timed:
    """Time one fit, after imports and first calls on the first rows."""
    maker(depth, threads, parameters | {"n_estimators": 2}).fit(arrays["X"][:400], arrays["y"][:400])
    return Timed(
        run=lambda: maker(depth, threads, parameters).fit(arrays["X"], arrays["y"]),
        figures=partial(quality, arrays),
    )


def predicting(maker: Maker, depth: int, parameters: Parameters, arrays: Arrays, threads: int) -> Timed:
    """Time the labels of the test rows, by an ensemble fitted on some rows before the clock starts."""
    model = maker(depth, threads, parameters).fit(arrays["X"][:2000], arrays["y"][:2000])
    X, y = arrays["X_test"], arrays["y_test"]
    model.predict(X[:1000])
    return Timed(run=lambda: model.predict(X), figures=lambda said: {"accuracy": float(np.mean(said == y))})


def job(
    name: str,
    title: str,
    prepare: Callable[..., Timed],
    depth: int,
    parameters: Parameters,
    target: Target,
    rules: tuple[Within, ...],
) -> Job:
    """Ours against scikit-learn's, with the same parameters."""
    shown = parameters | {"max_depth": depth}
    contenders = (
        Contender(
            "weald",
            "weald",
            partial(prepare, weald_boosting, depth, parameters),
            shown,
            ours=True,
            rules=rules,
            targets=(target,),
        ),
        Contender(
            "scikit-learn", "scikit-learn", partial(prepare, sklearn_boosting, depth, parameters), shown
        ),
    )
    return Job(name, title, "classification", contenders, (2,))


SIZE = "100,000 × 28 float32"
DATASETS = (Dataset("classification", sized(tables.classification, (600, 600), (N_ROWS, 50_000))),)
JOBS = (
    job("stumps", f"Fit 100 stumps, {SIZE}", fitting, 1, HUNDRED, Target(ratio=50), SAME_MODEL),
    job("trees", f"Fit 10 trees of depth 3, {SIZE}", fitting, 3, TEN, Target(), SAME_ACCURACY),
    job("predict", "Predict 50,000 × 28 with 100 stumps", predicting, 1, HUNDRED, Target(), SAME_ACCURACY),
)

if __name__ == "__main__":
    sys.exit(main("adaboost", "AdaBoost", __file__, DATASETS, JOBS))
