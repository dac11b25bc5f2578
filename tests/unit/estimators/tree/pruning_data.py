"""Tables and comparisons for the tests of pruning."""

from __future__ import annotations

import numpy as np
import pandas as pd

from weald import DecisionTreeClassifier, DecisionTreeRegressor

BOTH = [DecisionTreeClassifier, DecisionTreeRegressor]


def table(model: type, seed: int = 0, n_rows: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    signal = X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(size=n_rows)
    return X, signal if model is DecisionTreeRegressor else np.digitize(signal, [-0.7, 0.7])


def mixed(model: type, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Text, missing values and numbers."""
    X, y = table(model, seed)
    rng = np.random.default_rng(seed)
    names = np.array(["ash", "birch", "cedar", "fir", "oak"])
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1].round(1), "tree": rng.choice(names, len(X))})
    frame.loc[rng.random(len(X)) < 0.1, "a"] = np.nan
    frame.loc[rng.random(len(X)) < 0.1, "tree"] = None
    return frame, y


def same(first, second) -> bool:
    mine, yours = first.forest_.arrays(), second.forest_.arrays()
    assert mine.keys() == yours.keys()
    for name in mine:
        np.testing.assert_array_equal(mine[name], yours[name], err_msg=name)
    return True
