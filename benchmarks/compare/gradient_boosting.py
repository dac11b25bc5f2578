"""Gradient boosting: exact splits against scikit-learn's GradientBoosting, bins against HistGradientBoosting.

    python benchmarks/compare/gradient_boosting.py --help

Every fit is timed end to end, from the user's array to the fitted model, with coding. All have 100 rounds of
trees of depth 3 at the learning rate 0.1, no early stopping and no draws; what else differs the parameter
table tells.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from common import tables
from common.harness import main
from common.jobs import Arrays, Contender, Dataset, Figures, Job, Target, Timed, Within
from trees import sized

Parameters: TypeAlias = dict[str, Any]
#: (task, threads, parameters) → an unfitted booster
Maker: TypeAlias = Callable[[str, int, Parameters], Any]

N_ROWS = 100_000
TWO: tuple[int, ...] = (2,)
SKLEARN, HIST = "scikit-learn GradientBoosting", "scikit-learn HistGradientBoosting"

EXACT: Parameters = {"n_estimators": 100, "max_depth": 3, "learning_rate": 0.1, "random_state": 0}
BINNED: Parameters = EXACT | {"max_bins": 255}
#: the fewest rows of a leaf is 20 there, and no column has a bin more than 255
HIST_PARAMETERS: Parameters = {
    "max_iter": 100,
    "max_depth": 3,
    "max_leaf_nodes": None,
    "min_samples_leaf": 1,
    "learning_rate": 0.1,
    "early_stopping": False,
    "random_state": 0,
}
SAME_ACCURACY = Within("accuracy", 0.003, not_worse=True)
SAME_R2 = Within("R²", 0.003, not_worse=True)


def weald_booster(task: str, threads: int, parameters: Parameters) -> Any:
    """One of ours."""
    import weald

    return getattr(weald, f"GradientBoosting{task}")(n_jobs=threads, **parameters)


def sklearn_booster(task: str, threads: int, parameters: Parameters) -> Any:
    """scikit-learn's exact one, which has one thread."""
    from sklearn import ensemble

    return getattr(ensemble, f"GradientBoosting{task}")(**parameters)


def hist_booster(task: str, threads: int, parameters: Parameters) -> Any:
    """scikit-learn's on bins; threads by environment."""
    from sklearn import ensemble

    return getattr(ensemble, f"HistGradientBoosting{task}")(**parameters)


MAKERS: dict[str, Maker] = {SKLEARN: sklearn_booster, HIST: hist_booster}


def quality(arrays: Arrays, model: Any) -> Figures:
    """How well the test rows are told."""
    name = "accuracy" if hasattr(model, "classes_") else "R²"
    return {name: float(model.score(arrays["X_test"], arrays["y_test"]))}


def fitting(maker: Maker, task: str, parameters: Parameters, arrays: Arrays, threads: int) -> Timed:
    """Time one fit; imports, threads and first calls come before, on the first rows and two rounds."""
    rounds = "max_iter" if "max_iter" in parameters else "n_estimators"
    first = maker(task, threads, parameters | {rounds: 2})
    first.fit(arrays["X"][:400], arrays["y"][:400]).predict(arrays["X"][:400])
    return Timed(
        run=lambda: maker(task, threads, parameters).fit(arrays["X"], arrays["y"]),
        figures=partial(quality, arrays),
    )


def fit_job(
    name: str,
    title: str,
    task: str,
    parameters: tuple[Parameters, Parameters],
    opponent: str,
    target: Target,
) -> Job:
    """Ours against one of scikit-learn's."""
    mine, other = parameters
    rule = SAME_R2 if task == "Regressor" else SAME_ACCURACY
    contenders = (
        Contender(
            "weald",
            "weald",
            partial(fitting, weald_booster, task, mine),
            mine,
            ours=True,
            rules=(rule,),
            targets=(target,),
        ),
        Contender(opponent, "scikit-learn", partial(fitting, MAKERS[opponent], task, other), other),
    )
    dataset = "regression" if task == "Regressor" else "classification"
    return Job(name, f"Fit {title}, 100,000 × 28 float32", dataset, contenders, TWO)


EXACT_RATIO, BINNED_RATIO = Target(ratio=10), Target(ratio=2)
DATASETS = (
    Dataset("classification", sized(tables.classification, (600, 600), (N_ROWS, 100_000))),
    Dataset("regression", sized(tables.regression, (600, 600), (N_ROWS, 100_000))),
)
JOBS = (
    fit_job("exact", "100 exact trees of depth 3", "Classifier", (EXACT, EXACT), SKLEARN, EXACT_RATIO),
    fit_job(
        "binned", "100 trees of depth 3 on bins", "Classifier", (BINNED, HIST_PARAMETERS), HIST, BINNED_RATIO
    ),
    fit_job(
        "exact-regression",
        "100 exact trees of depth 3, numbers",
        "Regressor",
        (EXACT, EXACT),
        SKLEARN,
        EXACT_RATIO,
    ),
    fit_job(
        "binned-regression",
        "100 trees of depth 3 on bins, numbers",
        "Regressor",
        (BINNED, HIST_PARAMETERS),
        HIST,
        BINNED_RATIO,
    ),
)

if __name__ == "__main__":
    sys.exit(main("gradient_boosting", "Gradient boosting", __file__, DATASETS, JOBS))
