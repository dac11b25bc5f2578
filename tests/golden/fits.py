"""Fits over all estimators and options, as hashes of their model files: the same before and after a change.

python tests/golden/fits.py > before.json                  # at the old commit
python tests/golden/fits.py --against before.json          # at the new one: exits 1 where bytes differ
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

import weald
from weald.kernels import RBF, Polynomial

N_ROWS = 700


def mixed() -> pd.DataFrame:
    """Numbers, dates, ordered levels and categories, with missing values."""
    random = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "size": random.normal(size=N_ROWS),
            "count": random.integers(0, 9, N_ROWS),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 400, N_ROWS), "D"),
            "town": pd.Categorical(random.choice(list("abcdefgh"), N_ROWS)),
            "grade": pd.Categorical(
                random.choice(["low", "mid", "high"], N_ROWS), ["low", "mid", "high"], True
            ),
        }
    )
    table.loc[::11, "size"] = np.nan
    table.loc[3::17, "town"] = None
    return table


def numbers() -> np.ndarray:
    """Plain numbers, none missing."""
    return np.random.default_rng(2).normal(size=(N_ROWS, 6))


def compressed() -> sparse.csr_matrix:
    """Mostly zeros."""
    return sparse.random(N_ROWS, 20, 0.1, format="csr", random_state=np.random.default_rng(3))


TABLES: dict[str, Callable[[], Any]] = {"mixed": mixed, "numbers": numbers, "sparse": compressed}


def targets() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three labels, two labels, and numbers."""
    random = np.random.default_rng(4)
    score = numbers()[:, 0] + np.sin(numbers()[:, 1]) + random.normal(size=N_ROWS) / 2
    return np.array(["a", "b", "c"])[np.digitize(score, [-0.5, 0.7])], score > 0, score


LABELS, FLAGS, SCORES = targets()
WEIGHTS = np.random.default_rng(5).integers(1, 5, N_ROWS).astype(float) / 2

TREES = [
    {},
    {"max_depth": 4, "min_samples_leaf": 5},
    {"max_leaf_nodes": 9},
    {"ccp_alpha": 0.01},
    {"splitter": "random", "max_features": 2},
    {"max_bins": 16},
]
FORESTS = [
    {"n_estimators": 7},
    {"n_estimators": 5, "bootstrap": False, "max_features": 2},
    {"n_estimators": 5, "bootstrap": True, "max_samples": 0.4, "max_depth": 5, "leaf_dtype": "float32"},
]
BOOSTERS = [
    {"n_estimators": 6},
    {"n_estimators": 6, "tree_method": "exact", "max_depth": 3},
    {"n_estimators": 5, "tree_method": "approx", "max_bin": 16},
    {"n_estimators": 5, "grow_policy": "lossguide", "max_leaves": 7},
    {"n_estimators": 6, "booster": "dart", "rate_drop": 0.3},
    {"n_estimators": 5, "subsample": 0.5, "colsample_bytree": 0.6, "colsample_bynode": 0.7},
    {"n_estimators": 4, "num_parallel_tree": 3, "reg_alpha": 0.3, "gamma": 0.1},
]
STAGES = [
    {"n_estimators": 6},
    {"n_estimators": 5, "subsample": 0.5, "max_features": 2},
    {"n_estimators": 5, "max_leaf_nodes": 6, "max_bins": 32},
]


def fits() -> Iterator[tuple[str, Callable[[], Any]]]:
    """A name and a function that gives a fitted model."""
    yield from _trees()
    yield from _ensembles()
    yield from _boosters()
    yield from _machines()


def _named(estimator: str, options: dict[str, Any], table: str, target: np.ndarray, weighted: bool) -> Any:
    def fit() -> Any:
        model = getattr(weald, estimator)(**options)
        if "random_state" in model.get_params():
            model.set_params(random_state=7)
        return model.fit(TABLES[table](), target, **({"sample_weight": WEIGHTS} if weighted else {}))

    told = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return f"{estimator}({told}) on {table}{' with weights' * weighted}", fit


def _trees() -> Iterator[Any]:
    for k, options in enumerate(TREES):
        table = ("mixed", "numbers", "sparse")[k % 3]
        yield _named("DecisionTreeClassifier", options, table, LABELS, k % 2 == 0)
        yield _named("DecisionTreeRegressor", options, table, SCORES, k % 2 == 1)
    yield _named(
        "DecisionTreeRegressor", {"criterion": "absolute_error", "max_depth": 3}, "mixed", SCORES, False
    )
    yield _named("DecisionTreeRegressor", {"criterion": "poisson"}, "mixed", np.exp(SCORES), False)
    yield _named("DecisionTreeClassifier", {"criterion": "entropy", "prune": "cv"}, "mixed", LABELS, False)
    for k, options in enumerate(FORESTS):
        for kind in ("RandomForest", "ExtraTrees"):
            table = ("mixed", "numbers", "sparse")[k % 3]
            yield _named(f"{kind}Classifier", options, table, LABELS, k % 2 == 1)
            yield _named(f"{kind}Regressor", options, table, SCORES, k % 2 == 0)


def _ensembles() -> Iterator[Any]:
    for kind, target in (("Classifier", LABELS), ("Regressor", SCORES)):
        tree = getattr(weald, f"DecisionTree{kind}")(max_depth=3)
        boosted = getattr(weald, f"XGB{kind}")(n_estimators=3)
        yield _named(f"Bagging{kind}", {"estimator": tree, "n_estimators": 4}, "mixed", target, True)
        yield _named(f"Bagging{kind}", {"estimator": boosted, "n_estimators": 2}, "numbers", target, False)
        yield _named(f"Voting{kind}", {"estimators": [("t", tree), ("x", boosted)]}, "mixed", target, False)
        yield _named(f"AdaBoost{kind}", {"n_estimators": 8}, "mixed", target, True)
        yield _named(f"AdaBoost{kind}", {"n_estimators": 6, "learning_rate": 0.5}, "numbers", target, False)


def _boosters() -> Iterator[Any]:
    for k, options in enumerate(BOOSTERS):
        table = ("mixed", "numbers", "sparse")[k % 3]
        yield _named("XGBClassifier", options, table, LABELS if k % 2 else FLAGS, k % 2 == 0)
        yield _named("XGBRegressor", options, table, SCORES, k % 2 == 1)
    for objective in ("reg:absoluteerror", "reg:quantileerror", "count:poisson"):
        options = {"n_estimators": 4, "objective": objective}
        if objective == "reg:quantileerror":
            options["quantile_alpha"] = 0.3
        yield _named("XGBRegressor", options, "mixed", np.exp(SCORES), False)
    yield _named("XGBRFRegressor", {"n_estimators": 5, "max_depth": 4}, "mixed", SCORES, False)
    for k, options in enumerate(STAGES):
        table = ("mixed", "numbers", "sparse")[k % 3]
        yield _named("GradientBoostingClassifier", options, table, LABELS, k % 2 == 1)
        for loss in ("squared_error", "absolute_error", "huber"):
            yield _named("GradientBoostingRegressor", {**options, "loss": loss}, table, SCORES, k % 2 == 0)
    queries = {"qid": np.repeat(np.arange(N_ROWS // 10), 10)}
    grades = np.digitize(SCORES, [-1, 0, 1])
    yield "XGBRanker", lambda: weald.XGBRanker(n_estimators=4, random_state=7).fit(mixed(), grades, **queries)


def _machines() -> Iterator[Any]:
    kernels: list[dict[str, Any]] = [
        {},
        {"kernel": "linear", "C": 0.5},
        {"kernel": "poly", "degree": 2, "scale": True},
        {"kernel": RBF(0.3) + 0.5 * Polynomial(2)},
    ]
    for k, options in enumerate(kernels):
        table = ("numbers", "mixed", "sparse")[k % 3]
        filled = {} if table != "mixed" else {"scale": True}
        yield _named("SVC", options | filled, table, LABELS, k % 2 == 0)
        yield _named("SVR", options | filled, table, SCORES, k % 2 == 1)
    yield _named("SVC", {"probability": True}, "numbers", LABELS, False)
    yield _named("SVC", {"solver": "landmarks"}, "numbers", FLAGS, False)
    for loss in ("hinge", "squared_hinge"):
        yield _named("LinearSVC", {"loss": loss}, "numbers", LABELS, True)
    yield _named("LinearSVC", {"penalty": "l1", "dual": False}, "sparse", FLAGS, False)
    yield _named("LogisticRegression", {}, "numbers", LABELS, True)
    yield _named("LogisticRegression", {"l1_ratio": 0.5, "scale": True}, "mixed", LABELS, False)
    yield _named("LogisticRegression", {"l1_ratio": 1.0, "multi_class": "ovr"}, "sparse", LABELS, False)
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        yield _named("LinearSVR", {"loss": loss}, "sparse", SCORES, False)
    gaps = np.where(np.random.default_rng(6).random(numbers().shape) < 0.1, np.nan, numbers())
    forest = weald.RandomForestClassifier(n_estimators=5)
    yield "ProximityImputer", lambda: weald.ProximityImputer(forest, random_state=7).fit(gaps, LABELS)
    yield _named("KNeighborsClassifier", {"metric": "mixed"}, "numbers", LABELS, False)
    yield _named("KNeighborsRegressor", {"weights": "distance"}, "sparse", SCORES, False)
    yield "Landmarks", lambda: weald.Landmarks(n_landmarks=20, random_state=7).fit(numbers())


def main() -> int:
    """Print the hashes, or compare them with those of a file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--against", type=Path, help="hashes of another commit")
    options = parser.parse_args()
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, fit in fits():
            found[name] = hashlib.sha256(fit().to_bytes()).hexdigest()
    if options.against is None:
        print(json.dumps(found, indent=1))
        return 0
    before = json.loads(options.against.read_text())
    changed = [name for name in found if before.get(name) != found[name]]
    print(f"{len(found)} fits, {len(changed)} with other bytes", *changed, sep="\n  ")
    return min(len(changed), 1)


if __name__ == "__main__":
    sys.exit(main())
