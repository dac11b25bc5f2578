"""Ensembles for rare classes: fitting them, against imbalanced-learn.

    python benchmarks/compare/balanced_ensembles.py --help

One row of twenty is of the rare class. Every fit is timed end to end, from the user's array to the fitted
model, with coding. All libraries have their defaults but for what the parameter table tells.
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

Parameters: TypeAlias = dict[str, Any]
#: (kind of estimator, threads, parameters) → an unfitted ensemble
Maker: TypeAlias = Callable[[str, int, Parameters], Any]

PEER = "imbalanced-learn"
N_ROWS, N_TEST = 200_000, 50_000
RARE_SHARE = 0.05
FOREST: Parameters = {"n_estimators": 100, "random_state": 0}
FEW: Parameters = {"n_estimators": 10, "random_state": 0}
#: slow enough that imbalanced-learn's, which ends at the first member no better than chance, has some members
ROUNDS: Parameters = {"n_estimators": 20, "learning_rate": 0.1, "random_state": 0}
SAME_RECALL = Within("balanced accuracy", 0.01, not_worse=True)


def rare(n_train: int, n_test: int) -> Arrays:
    """Numbers with a class that one row of twenty has: those of the strongest signal."""
    random = np.random.default_rng(7)
    X = tables.wide_columns(n_train + n_test, random)
    strength = tables.signal(X) + random.normal(size=len(X))
    y = (strength > np.quantile(strength, 1 - RARE_SHARE)).astype(np.int64)
    return {"X": X[:n_train], "y": y[:n_train], "X_test": X[n_train:], "y_test": y[n_train:]}


def weald_ensemble(kind: str, threads: int, parameters: Parameters) -> Any:
    """An ensemble of ours."""
    import weald

    return getattr(weald, kind)(n_jobs=threads, **parameters)


def peer_ensemble(kind: str, threads: int, parameters: Parameters) -> Any:
    """An ensemble of imbalanced-learn; its booster has no threads."""
    from imblearn import ensemble

    own = {} if kind == "RUSBoostClassifier" else {"n_jobs": threads}
    return getattr(ensemble, kind)(**own, **parameters)


def fitting(maker: Maker, kind: str, parameters: Parameters, arrays: Arrays, threads: int) -> Timed:
    """Time one fit."""
    first = parameters | {"n_estimators": 2}
    maker(kind, threads, first).fit(arrays["X"][:600], arrays["y"][:600]).predict(arrays["X"][:100])

    def quality(model: Any) -> Figures:
        from sklearn.metrics import balanced_accuracy_score

        predicted = model.predict(arrays["X_test"])
        return {
            "balanced accuracy": float(balanced_accuracy_score(arrays["y_test"], predicted)),
            "recall": float(np.mean(predicted[arrays["y_test"] == 1])),
            "members": float(len(model.estimators_)),
        }

    return Timed(run=lambda: maker(kind, threads, parameters).fit(arrays["X"], arrays["y"]), figures=quality)


def fit_job(name: str, title: str, kind: str, parameters: Parameters, target: Target) -> Job:
    """Ours against imbalanced-learn."""
    contenders = (
        Contender(
            "weald",
            "weald",
            partial(fitting, weald_ensemble, kind, parameters),
            parameters,
            ours=True,
            rules=(SAME_RECALL,),
            targets=(target,),
        ),
        Contender(PEER, PEER, partial(fitting, peer_ensemble, kind, parameters), parameters),
    )
    return Job(name, f"Fit {title}, 200,000 × 28 float32, 10,000 rare rows", "rare", contenders, (2,))


def made(quick: bool) -> Arrays:
    """The table of the comparison, or a small one."""
    return rare(1200, 600) if quick else rare(N_ROWS, N_TEST)


DATASETS = (Dataset("rare", made),)
JOBS = (
    fit_job(
        "forest", "100 balanced trees", "BalancedRandomForestClassifier", FOREST, Target(ratio=5, goal=10)
    ),
    fit_job("bagging", "10 balanced bags of trees", "BalancedBaggingClassifier", FEW, Target()),
    fit_job("easy", "an easy ensemble of 10", "EasyEnsembleClassifier", FEW, Target()),
    fit_job("rusboost", "up to 20 rounds of RUSBoost", "RUSBoostClassifier", ROUNDS, Target()),
)

if __name__ == "__main__":
    sys.exit(main("balanced-ensembles", "Balanced ensembles", __file__, DATASETS, JOBS))
