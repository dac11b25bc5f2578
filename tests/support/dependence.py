"""A table of every kind of column, models of every family, and curves held against their definition."""

from __future__ import annotations

import numpy as np
import pandas as pd
from reference.dependence import curves, standard_error

import weald

RNG = np.random.default_rng(7)
N = 100
X = pd.DataFrame(
    {
        "size": RNG.normal(size=N),
        "rooms": RNG.integers(0, 6, N),
        "city": RNG.choice(["Bern", "Basel", "Genf", "Chur"], N),
        "state": pd.Categorical(
            RNG.choice(["poor", "fair", "good"], N), ["poor", "fair", "good"], ordered=True
        ),
        "noise": RNG.normal(size=N),
    }
)
X.loc[::9, "size"] = np.nan
X.loc[::11, "city"] = None
Y = (
    2 * np.nan_to_num(X["size"], nan=1.5) * (X["city"] == "Bern")
    + X["rooms"]
    + (X["state"] == "good")
    + 0.3 * X["noise"] * X["rooms"]
).to_numpy()
LABELS = np.array(["low", "middle", "high"])[np.digitize(Y, [1.5, 3.5])]
WEIGHT = RNG.random(N)

REGRESSORS = {
    "tree": weald.DecisionTreeRegressor(max_depth=6),
    "forest": weald.RandomForestRegressor(8, random_state=0),
    "extra trees": weald.ExtraTreesRegressor(5, random_state=0),
    "bagging": weald.BaggingRegressor(n_estimators=4, max_features=0.7, random_state=0),
    "gradient boosting": weald.GradientBoostingRegressor(n_estimators=15, random_state=0),
    "xgboost": weald.XGBRegressor(n_estimators=15, max_depth=4),
    "dart": weald.XGBRegressor(n_estimators=12, max_depth=4, booster="dart", rate_drop=0.3, random_state=0),
    "poisson": weald.XGBRegressor(n_estimators=10, objective="count:poisson"),
    "quantiles": weald.XGBRegressor(
        n_estimators=10, objective="reg:quantileerror", quantile_alpha=[0.2, 0.8]
    ),
    "xgboost forest": weald.XGBRFRegressor(n_estimators=8, random_state=0),
    "median of members": weald.AdaBoostRegressor(n_estimators=3, random_state=0),
    "from another model": weald.GradientBoostingRegressor(
        n_estimators=5, init=weald.DecisionTreeRegressor(max_depth=2), random_state=0
    ),
}
CLASSIFIERS = {
    "tree": weald.DecisionTreeClassifier(max_depth=5),
    "forest": weald.RandomForestClassifier(8, random_state=0),
    "balanced forest": weald.BalancedRandomForestClassifier(6, random_state=0),
    "bagging": weald.BaggingClassifier(n_estimators=4, random_state=0),
    "balanced bagging": weald.BalancedBaggingClassifier(n_estimators=4, random_state=0),
    "gradient boosting": weald.GradientBoostingClassifier(n_estimators=8, random_state=0),
    "xgboost": weald.XGBClassifier(n_estimators=8, max_depth=4),
    "AdaBoost": weald.AdaBoostClassifier(n_estimators=8),
    "AdaBoost, logistic": weald.AdaBoostClassifier(n_estimators=8, probability="logistic"),
    "RUSBoost": weald.RUSBoostClassifier(n_estimators=5, random_state=0),
}


def matrix(values):
    """One column per target."""
    return values.reshape(len(values), -1)


def check(found, predict, weight=None, centred=False):
    """A record against one prediction after another."""
    expected = curves(predict, X, found.columns, found.grid)
    if centred:
        start = (slice(None), slice(None), *(slice(0, 1) for _ in found.columns))
        expected = expected - expected[start]
    weight = np.ones(N) if weight is None else weight
    np.testing.assert_allclose(found.individual, expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.values, np.average(expected, axis=1, weights=weight), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.standard_error, standard_error(expected, weight), rtol=0, atol=1e-9)
