"""Which parameters `weald tune` searches, and where; docs/guide/command_line.md has the same table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import loguniform, randint, uniform
from sklearn.model_selection import ParameterSampler

from weald.errors import ParameterError

_FOREST: dict[str, Any] = {
    "max_features": [0.2, 0.33, 0.5, 0.8, "sqrt"],
    "min_samples_leaf": randint(1, 16),
    "max_depth": [None, 8, 16],
}
SPACES: dict[str, dict[str, Any]] = {
    "xgboost": {
        "learning_rate": loguniform(0.02, 0.3),
        "max_depth": randint(2, 11),
        "min_child_weight": loguniform(0.5, 20),
        "subsample": uniform(0.5, 0.5),
        "colsample_bytree": uniform(0.4, 0.6),
        "reg_lambda": loguniform(0.1, 30),
    },
    "forest": _FOREST,
    "extra-trees": _FOREST,
    "balanced-forest": _FOREST,
    "gbdt": {
        "learning_rate": loguniform(0.02, 0.3),
        "max_depth": randint(2, 7),
        "min_samples_leaf": randint(1, 31),
        "subsample": uniform(0.5, 0.5),
    },
    "adaboost": {"learning_rate": loguniform(0.05, 1.5), "n_estimators": randint(50, 401)},
    "tree": {
        "max_depth": randint(2, 15),
        "min_samples_leaf": randint(1, 41),
        "ccp_alpha": loguniform(1e-6, 1e-2),
    },
    "svm": {"C": loguniform(1e-2, 1e3), "gamma": loguniform(1e-4, 10)},
    "linear-svm": {"C": loguniform(1e-3, 100)},
    "knn": {"n_neighbors": randint(1, 61), "weights": ["uniform", "distance"]},
    "logistic": {"C": loguniform(1e-3, 100)},
}
#: digits of drawn numbers: enough, and short to write down
_DIGITS = 4


def drawn_settings(method: str, n: int, seed: int, fixed: Mapping[str, object]) -> list[dict[str, object]]:
    """Settings of a method drawn from its space; those that are fixed stay as they are.

    >>> drawn_settings("logistic", 2, 0, {})
    [{'C': 0.5547}, {'C': 3.767}]
    """
    if method not in SPACES:
        raise ParameterError(
            f"The method {method!r} has nothing to be tuned by itself. Tune one of {', '.join(SPACES)}."
        )
    space = {name: values for name, values in SPACES[method].items() if name not in fixed}
    if not space:
        raise ParameterError(f"All that is tuned of {method!r} is fixed by --set. Leave some of it open.")
    return [
        {name: _plain(value) for name, value in sorted(each.items())}
        for each in ParameterSampler(space, n, random_state=seed)
    ]


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        value = value.item()
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
