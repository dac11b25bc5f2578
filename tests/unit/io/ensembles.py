"""Fitted ensembles of every kind, for tests of model files."""

from __future__ import annotations

import numpy as np
from unit.io.boosters import rows, target

from weald import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    BalancedBaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    EasyEnsembleClassifier,
    RUSBoostClassifier,
    VotingClassifier,
    VotingRegressor,
    XGBClassifier,
    XGBRegressor,
)


def words():
    return np.array(["low", "mid", "high"])[target(3)]


def stump(**params):
    return DecisionTreeClassifier(max_depth=2, **params)


ENSEMBLES = {
    "bagged trees": lambda: BaggingClassifier(n_estimators=4, random_state=0).fit(rows(), words()),
    "trees of some columns": lambda: BaggingClassifier(
        stump(max_features=2, class_weight={"low": 2.0}, categorical_features=["code"]),
        n_estimators=4,
        max_features=0.6,
        bootstrap_features=True,
        random_state=0,
    ).fit(rows(), words()),
    "bagged numbers": lambda: BaggingRegressor(
        DecisionTreeRegressor(criterion="absolute_error", max_depth=3), n_estimators=3, random_state=1
    ).fit(rows(), np.column_stack([target(), -target()])),
    "bagged by position": lambda: BaggingRegressor(
        n_estimators=3, max_features=2, max_samples=0.5, bootstrap=False, random_state=1
    ).fit(np.arange(320.0).reshape(80, 4) % 7, target()),
    "bagged boosters": lambda: BaggingClassifier(
        XGBClassifier(n_estimators=2, max_depth=2), n_estimators=3, max_features=0.7, random_state=0
    ).fit(rows(), words()),
    "bagged pruned trees": lambda: BaggingRegressor(
        DecisionTreeRegressor(prune="cv", cv=3), n_estimators=2, random_state=0
    ).fit(rows(), target()),
    "balanced bags": lambda: BalancedBaggingClassifier(
        stump(), n_estimators=3, max_features=0.6, random_state=0
    ).fit(rows(), words()),
    "easy ensemble": lambda: EasyEnsembleClassifier(
        2, AdaBoostClassifier(n_estimators=2), sampling_strategy="all", replacement=True, random_state=0
    ).fit(rows(), words()),
    "balanced rounds": lambda: RUSBoostClassifier(stump(), n_estimators=3, random_state=0).fit(
        rows(), words()
    ),
    "votes": lambda: VotingClassifier(
        [("a", stump()), ("gone", "drop"), ("b", XGBClassifier(n_estimators=2))], weights=[1, 2, 0.5]
    ).fit(rows(), words()),
    "votes of bags": lambda: VotingClassifier(
        [("bag", BaggingClassifier(stump(), n_estimators=2, random_state=0)), ("tree", stump())],
        voting="soft",
        flatten_transform=False,
    ).fit(rows(), words()),
    "bags of votes": lambda: BaggingRegressor(
        VotingRegressor([("a", DecisionTreeRegressor(max_depth=2)), ("b", XGBRegressor(n_estimators=2))]),
        n_estimators=2,
        random_state=0,
    ).fit(rows(), target()),
    "boosted stumps": lambda: AdaBoostClassifier(n_estimators=4).fit(rows(), words()),
    "boosted samples": lambda: AdaBoostClassifier(
        stump(categorical_features=["code"]),
        n_estimators=4,
        resample="compound",
        worse_than_chance="reset",
        probability="logistic",
        early_stopping=0.2,
        early_stopping_rounds=9,
        random_state=0,
    ).fit(rows(), words()),
    "boosted numbers": lambda: AdaBoostRegressor(
        DecisionTreeRegressor(criterion="absolute_error", max_depth=3), n_estimators=3, loss="square"
    ).fit(rows(), target()),
    "boosted boosters": lambda: AdaBoostRegressor(
        XGBRegressor(n_estimators=2), n_estimators=2, resample="reset", random_state=0
    ).fit(rows(), target()),
    "averages": lambda: VotingRegressor(
        [("a", DecisionTreeRegressor(max_depth=2)), ("b", XGBRegressor(n_estimators=2))]
    ).fit(rows(), target()),
}


def table_of(model):
    """Rows for such an ensemble."""
    if hasattr(model, "feature_names_in_"):
        return rows(30, 5)
    return np.random.default_rng(0).integers(0, 7, (30, 4)).astype(float)


def said(model):
    """All that an ensemble says of its rows."""
    X = table_of(model)
    parts = [model.predict(X)]
    if hasattr(model, "predict_proba"):
        parts.append(model.predict_proba(X))
    if hasattr(model, "transform"):
        parts.append(model.transform(X))
    return parts
