"""Fitted estimators of every family made of trees, on one table with categories and missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import weald


def rows(n: int = 90) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """A table, labels of three classes, and numbers."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n).round(2),
            "b": rng.normal(size=n).round(2),
            "town": rng.choice(["Bern", "Basel", "Chur"], n),
        }
    )
    score = X["a"] + (X["town"] == "Bern") + 0.3 * X["b"]
    y = np.array(["u", "v", "w"])[np.digitize(score, [0.0, 1.0])]
    X.loc[::9, "a"] = np.nan
    X.loc[4::11, "town"] = None
    return X, y, score.to_numpy()


X, LABELS, NUMBERS = rows()
#: what is explained: a plain row, one with gaps, one with a category that training did not see
ROWS = [X.iloc[[1]], X.iloc[[0]], X.iloc[[1]].assign(town="Rom", b=np.nan)]


def fitted() -> dict[str, Any]:
    """One estimator of each family, by name."""
    few: dict[str, Any] = {"n_estimators": 5, "random_state": 0}
    labelled = [
        weald.RandomForestClassifier(**few),
        weald.ExtraTreesClassifier(**few),
        weald.BalancedRandomForestClassifier(**few),
        weald.BaggingClassifier(max_features=2, **few),
        weald.BaggingClassifier(weald.XGBClassifier(n_estimators=2), **few),
        weald.BalancedBaggingClassifier(**few),
        weald.EasyEnsembleClassifier(estimator=weald.AdaBoostClassifier(n_estimators=3), **few),
        weald.AdaBoostClassifier(n_estimators=5),
        weald.RUSBoostClassifier(**few),
        weald.GradientBoostingClassifier(n_estimators=4),
        weald.XGBClassifier(n_estimators=4, max_depth=3),
        weald.XGBClassifier(n_estimators=3, booster="dart", rate_drop=0.5, random_state=0),
        weald.XGBRFClassifier(n_estimators=3, random_state=0),
    ]
    numbered = [
        weald.RandomForestRegressor(**few),
        weald.ExtraTreesRegressor(**few),
        weald.BaggingRegressor(**few),
        weald.AdaBoostRegressor(**few),
        weald.GradientBoostingRegressor(n_estimators=4),
        weald.GradientBoostingRegressor(n_estimators=3, estimator=weald.DecisionTreeRegressor(max_depth=2)),
        weald.XGBRegressor(n_estimators=4),
        weald.XGBRFRegressor(n_estimators=3, random_state=0),
    ]
    models = [model.fit(X, LABELS) for model in labelled] + [model.fit(X, NUMBERS) for model in numbered]
    found = {f"{k} {type(model).__name__}": model for k, model in enumerate(models)}
    found["two classes XGBClassifier"] = weald.XGBClassifier(n_estimators=3).fit(X, LABELS == "v")
    found["stopped XGBRegressor"] = weald.XGBRegressor(n_estimators=30, early_stopping_rounds=2).fit(
        X[::2], NUMBERS[::2], eval_set=[(X[1::2], NUMBERS[1::2])]
    )
    found["two numbers XGBRegressor"] = weald.XGBRegressor(n_estimators=3).fit(
        X, np.column_stack([NUMBERS, -NUMBERS])
    )
    found["two labels RandomForestClassifier"] = weald.RandomForestClassifier(**few).fit(
        X, np.column_stack([LABELS, LABELS == "v"])
    )
    found["two numbers RandomForestRegressor"] = weald.RandomForestRegressor(**few).fit(
        X, np.column_stack([NUMBERS, -NUMBERS])
    )
    found["Booster"] = found["10 XGBClassifier"].get_booster()
    return found
