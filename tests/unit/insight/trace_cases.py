"""Random tables and models of every family, small enough to be told again by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import weald
from weald import DecisionTreeClassifier, DecisionTreeRegressor

TREE = {
    "max_depth": [1, 2, 4],
    "min_samples_leaf": [2, 5],
    "min_samples_split": [6],
    "max_leaf_nodes": [3, 7],
    "min_impurity_decrease": [0.01],
    "min_weight_fraction_leaf": [0.05],
    "ccp_alpha": [0.01, 0.03],
    "max_bins": [4, 20],
    "max_features": [1, "sqrt"],
}
PENALTY = {"cat_penalty": [0.0, "auto", 2.0]}
STAGE = {
    "subsample": [0.6],
    "max_depth": [1, 2],
    "max_leaf_nodes": [4],
    "min_samples_leaf": [4],
    "max_features": [1],
    "ccp_alpha": [0.02],
    "max_bins": [5],
    "leaf": ["exact"],
    "cat_smooth": [0.0, 2.0, "rows"],
    "cat_l2": [0.0, 1.0],
    "min_impurity_decrease": [0.02],
    "init": ["zero"],
}
NEWTON = {
    "subsample": [0.6],
    "max_depth": [1, 2, 5],
    "max_leaves": [4],
    "grow_policy": ["lossguide"],
    "gamma": [0.5, 3.0],
    "prune": ["pre"],
    "min_child_weight": [0.0, 3.0],
    "reg_alpha": [0.5],
    "reg_lambda": [0.0, 5.0],
    "tree_method": ["exact", "hist", "approx"],
    "colsample_bytree": [0.6],
    "colsample_bylevel": [0.6],
    "colsample_bynode": [0.6],
    "cat_smooth": [0.0, 2.0, "rows"],
    "cat_l2": [0.0, 1.0],
    "max_cat_to_onehot": [8],
    "max_cat_threshold": [2],
    "max_delta_step": [0.3],
    "num_parallel_tree": [2],
    "max_bin": [6],
    "sampling_method": ["gradient_based"],
}


def random_table(rng: np.random.Generator, n: int, most_levels: int) -> pd.DataFrame:
    """Numbers with ties and gaps, categories with gaps, ranks."""
    columns: dict[str, Any] = {}
    for j in range(rng.integers(1, 4)):
        values = rng.normal(size=n).round(int(rng.integers(0, 3)))
        values[rng.random(n) < 0.15 * rng.integers(0, 2)] = np.nan
        columns[f"x{j}"] = values
    for j in range(rng.integers(0, 3)):
        levels = np.array([f"l{v}" for v in rng.integers(0, rng.integers(2, most_levels), n)], object)
        levels[rng.random(n) < 0.1 * rng.integers(0, 2)] = None
        columns[f"c{j}"] = pd.Categorical(levels)
    if rng.random() < 0.4:
        columns["rank"] = pd.Categorical(rng.integers(0, 4, n), categories=range(4), ordered=True)
    return pd.DataFrame(columns)


def random_target(rng: np.random.Generator, X: pd.DataFrame) -> np.ndarray:
    """Numbers that all columns have a part in."""
    total = rng.normal(size=len(X)) * 0.5
    for name in X:
        column = X[name]
        part = column.cat.codes.to_numpy() % 3 if hasattr(column, "cat") else np.nan_to_num(column.to_numpy())
        total = total + rng.random() * part
    return total


def _some(rng: np.random.Generator, *options: dict[str, list[Any]], **more: list[Any]) -> dict[str, Any]:
    """Some of the parameters, each with one of its values."""
    known = {name: values for each in (*options, more) for name, values in each.items()}
    return {name: v[int(rng.integers(len(v)))] for name, v in known.items() if rng.random() < 0.4}


def _newton(rng: np.random.Generator, **more: list[Any]) -> dict[str, Any]:
    """Some of those of XGBoost's kind, with what others ask for."""
    found = _some(rng, NEWTON, more)
    if rng.random() < 0.25:
        found |= {"booster": "dart", "rate_drop": 0.5}
    if found.get("objective") == "reg:quantileerror":
        found["quantile_alpha"] = 0.3
    return found


def random_models(rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    """A model of each family with random parameters, and what it learns.

    "numbers", "counts" above 0, "classes" or "two" of them, or "ranks" in queries of five rows.
    """
    some, newton = partial(_some, rng), partial(_newton, rng)
    seed = {"random_state": int(rng.integers(1000))}
    small = {"n_estimators": 2} | seed
    splitter = {"splitter": ["random"]}
    criteria = {"criterion": ["squared_error", "absolute_error"]}
    yield (
        "classes",
        DecisionTreeClassifier(
            **some(TREE, PENALTY, splitter, criterion=["gini", "entropy", "misclassification"]), **seed
        ),
    )
    yield "numbers", DecisionTreeRegressor(**some(TREE, PENALTY, splitter, criteria), **seed)
    yield "counts", DecisionTreeRegressor(criterion="poisson", **some(TREE, PENALTY), **seed)
    yield (
        "classes",
        weald.RandomForestClassifier(
            **some(TREE, PENALTY, class_weight=["balanced", "balanced_subsample"]), **small
        ),
    )
    combined = {"feature_combinations": [2]}
    exact = {name: values for name, values in TREE.items() if name != "max_bins"}
    yield (
        "numbers",
        weald.RandomForestRegressor(**some(exact, PENALTY, criteria, combined), **small),
    )
    yield "classes", weald.ExtraTreesClassifier(**some(TREE, bootstrap=[True]), **small)
    yield "numbers", weald.ExtraTreesRegressor(**some(TREE, bootstrap=[True]), **small)
    bags = {"max_features": [0.6], "max_samples": [0.7]}
    base = DecisionTreeClassifier(**some(TREE, PENALTY))
    yield "classes", weald.BaggingClassifier(base, **some(bags, bootstrap=[False]), **small)
    yield (
        "numbers",
        weald.BaggingRegressor(DecisionTreeRegressor(**some(TREE, PENALTY)), **some(bags), **small),
    )
    base = DecisionTreeClassifier(**({"max_depth": 2} | some(TREE, PENALTY)))
    forms = {"resample": ["compound", "reset"], "learning_rate": [0.5]}
    yield "classes", weald.AdaBoostClassifier(base, **some(forms), **small)
    base = DecisionTreeRegressor(**({"max_depth": 2} | some(TREE, PENALTY)))
    losses = {"loss": ["square", "exponential"], "resample": ["compound"]}
    yield "numbers", weald.AdaBoostRegressor(base, **some(losses), **small)
    yield "classes", weald.GradientBoostingClassifier(**some(STAGE), **small)
    yield "two", weald.GradientBoostingClassifier(loss="exponential", **some(STAGE), **small)
    losses = {"loss": ["absolute_error", "huber", "quantile"]}
    yield "numbers", weald.GradientBoostingRegressor(**some(STAGE, losses), **small)
    objective = ["reg:absoluteerror", "reg:quantileerror", "reg:pseudohubererror"]
    yield "numbers", weald.XGBRegressor(**newton(objective=objective), **small)
    yield "classes", weald.XGBClassifier(**newton(multi_strategy=["multi_output_tree"]), **small)
    objective = ["count:poisson", "reg:gamma", "reg:tweedie"]
    counts = {"objective": "count:poisson"} | newton(objective=objective)
    yield "counts", weald.XGBRegressor(**counts, **small)
    yield "two", weald.XGBClassifier(**newton(), objective="binary:hinge", **small)
    yield "classes", weald.XGBRFClassifier(**some(max_depth=[2, 4]), **small)
    yield "classes", weald.BalancedRandomForestClassifier(**some(max_depth=[2, 4]), **small)
    yield "classes", weald.BalancedBaggingClassifier(**small)
    yield "two", weald.RUSBoostClassifier(**small)
    yield "numbers", weald.XGBRFRegressor(**some(max_depth=[2, 4]), **small)
    yield "ranks", weald.XGBRanker(**newton(objective=["rank:pairwise"], ndcg_exp_gain=[False]), **small)
    yield from _ensembles_of_models(some, small)


def _ensembles_of_models(
    some: Callable[..., dict[str, Any]], small: dict[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Those whose members are models of their own."""
    bags = {"max_features": [0.6], "max_samples": [0.7]}
    base = weald.AdaBoostClassifier(n_estimators=4)
    yield "classes", weald.EasyEnsembleClassifier(estimator=base, **some(sampling_strategy=["all"]), **small)
    base = weald.AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3)
    draws = {"replacement": [True], "sampling_strategy": ["not majority"]}
    yield "two", weald.EasyEnsembleClassifier(estimator=base, **some(draws), **small)
    sampler = weald.RandomOverSampler()
    yield "classes", weald.BalancedBaggingClassifier(sampler=sampler, **some(bags), **small)
    base = weald.GradientBoostingRegressor(n_estimators=2, max_depth=2)
    yield "numbers", weald.BaggingRegressor(base, **some(bags), **small)
    yield "classes", weald.BaggingClassifier(DecisionTreeClassifier(prune="cv"), **some(bags), **small)
    members = [("forest", weald.RandomForestClassifier(**small)), ("boosted", weald.XGBClassifier(**small))]
    yield "classes", weald.VotingClassifier(members, **some(voting=["soft"]))
    members = [
        ("tree", DecisionTreeRegressor(max_depth=3)),
        ("bags", weald.BaggingRegressor(weald.XGBRFRegressor(n_estimators=2, max_depth=2), **small)),
    ]
    yield "numbers", weald.VotingRegressor(members, **some(weights=[[1.0, 3.0]]))


def random_targets(rng: np.random.Generator, X: pd.DataFrame, n_classes: int) -> dict[str, np.ndarray]:
    """What models may learn of a table."""
    f = random_target(rng, X)
    cuts = np.quantile(f, np.linspace(0, 1, n_classes + 1)[1:-1])
    return {
        "numbers": f,
        "counts": np.exp(f - f.max() + 2).round(2) + 0.01,
        "classes": np.digitize(f, cuts),
        "ranks": np.digitize(f, np.quantile(f, [0.3, 0.6])),
        "two": (f > np.median(f)).astype(int),
    }
