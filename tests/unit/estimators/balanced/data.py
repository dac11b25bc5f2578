"""Rows with a rare class."""

import numpy as np
import pandas as pd

from weald import (
    AdaBoostClassifier,
    BalancedBaggingClassifier,
    BalancedRandomForestClassifier,
    DecisionTreeClassifier,
    EasyEnsembleClassifier,
    RUSBoostClassifier,
)

MAKERS = {
    "forest": lambda **more: BalancedRandomForestClassifier(8, random_state=0, **more),
    "bagging": lambda **more: BalancedBaggingClassifier(n_estimators=4, random_state=0, **more),
    "easy": lambda **more: EasyEnsembleClassifier(
        3, AdaBoostClassifier(n_estimators=4), random_state=0, **more
    ),
    "boosting": lambda **more: RUSBoostClassifier(
        DecisionTreeClassifier(max_depth=3), n_estimators=5, random_state=0, **more
    ),
}


def mixed(n=400, seed=0, share=0.06):
    """Numbers, ordered levels, categories and missing values, and labels of which one is rare."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "count": rng.integers(0, 9, n).astype(float),
            "town": pd.Categorical(rng.choice(list("abcd"), n)),
            "grade": pd.Categorical(rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], True),
        }
    )
    strength = table["size"] + (table["town"] == "b") + rng.normal(size=n) / 2
    y = np.where(strength > np.quantile(strength, 1 - share), "rare", "usual")
    table.loc[::11, "count"] = np.nan
    table.loc[3::17, "town"] = None
    return table, y


def three(n=600, seed=1):
    """Numbers with three classes, of which two are rare."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.digitize(X[:, 0] + rng.normal(size=n) / 3, [-1.7, 1.4])
    return X, y
