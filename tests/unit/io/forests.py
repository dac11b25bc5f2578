"""Fitted forests of every kind, on rows with columns of every kind, for tests of model files."""

from __future__ import annotations

import numpy as np
from unit.io.boosters import rows, target

from weald import (
    BalancedRandomForestClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

FORESTS = {
    "forest, two classes": lambda: RandomForestClassifier(4, random_state=1).fit(
        rows(), np.array(["no", "yes"])[target(2)]
    ),
    "forest, several outputs": lambda: RandomForestClassifier(
        3, class_weight="balanced_subsample", max_samples=0.7, random_state=2
    ).fit(rows(), {"a": target(3), "b": target(2, 1) == 1}),
    "forest, numbers": lambda: RandomForestRegressor(
        4, monotonic_cst={"length": 1}, max_features="log2+1", random_state=3
    ).fit(rows(), target()),
    "balanced forest": lambda: BalancedRandomForestClassifier(
        3, sampling_strategy={"low": 5, "high": 3}, bootstrap=True, random_state=6
    ).fit(rows(), np.array(["low", "mid", "high"])[target(3)]),
    "extra trees, medians": lambda: ExtraTreesRegressor(
        3, criterion="absolute_error", max_depth=4, random_state=4
    ).fit(rows(), target()),
    "extra trees, by position": lambda: ExtraTreesClassifier(3, bootstrap=True, random_state=5).fit(
        np.arange(160.0).reshape(80, 2) % 7 - 1, target(5)
    ),
}
