"""Tables and comparisons shared by the tests of forests."""

from __future__ import annotations

from typing import Any

import numpy as np

from weald import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

RNG = np.random.default_rng(0)
N = 150
X = RNG.normal(size=(N, 5))
Y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * RNG.normal(size=N), [-0.5, 0.5])
TWO = (Y > 0).astype(int)
NUMBERS = np.round(X[:, 0] ** 2 + X[:, 1] + 0.2 * RNG.normal(size=N), 3)

CLASSIFIERS = [RandomForestClassifier, ExtraTreesClassifier]
REGRESSORS = [RandomForestRegressor, ExtraTreesRegressor]
ALL = [*CLASSIFIERS, *REGRESSORS]


def named(kind: type) -> str:
    """The id of a class in a parametrised test."""
    return kind.__name__


def assert_same_trees(first: Any, second: Any, *, near: tuple[str, ...] = ()) -> None:
    """Two forests (or fitted models) are equal to the bit; arrays in `near` up to rounding."""
    mine, yours = (getattr(each, "forest_", each).arrays() for each in (first, second))
    assert mine.keys() == yours.keys()
    for name in mine:
        if name in near:
            np.testing.assert_allclose(mine[name], yours[name], rtol=1e-9, atol=1e-12, err_msg=name)
        else:
            np.testing.assert_array_equal(mine[name], yours[name], err_msg=name)


def differ(first: Any, second: Any) -> bool:
    """Whether two fitted models have other splits."""
    mine, yours = first.forest_.threshold, second.forest_.threshold
    return len(mine) != len(yours) or bool((mine != yours).any())
