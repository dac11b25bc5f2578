"""Rows for tests of AdaBoost."""

import numpy as np


def rows(n=400, seed=0, noise=0.5):
    """Numbers and two classes that no stump alone can tell apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] + X[:, 1] ** 2 - 0.8 + noise * rng.normal(size=n) > 0).astype(int)


def mixed(n=300, seed=0):
    """Numbers with gaps, words and flags; three classes in words."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    colour = np.array(["red", "green", "blue", "grey"], object)[rng.integers(0, 4, n)]
    score = size + 2.0 * (colour == "red") - (colour == "blue") + 0.5 * rng.normal(size=n)
    size[rng.random(n) < 0.15] = np.nan
    colour[rng.random(n) < 0.1] = None
    table = {"size": size, "colour": colour, "flag": rng.random(n) < 0.5, "many": rng.integers(0, 900, n)}
    return table, np.array(["low", "mid", "top"])[np.digitize(score, [-0.5, 1.0])]


def curve(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 3))
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=n)
