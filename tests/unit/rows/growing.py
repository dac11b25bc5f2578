"""Helpers of the tests of growth: small tables, native options, equality of trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from weald import engine
from weald.data.table import LevelColumn, NumericColumn, Table
from weald.model.forest import Forest
from weald.rows import memory

AUTO, HISTOGRAM, ORDER = range(3)
GINI, ENTROPY, ERRORS = range(3)


def grow_classification_tree(*arguments: Any) -> Forest:
    return memory.grow_classification_tree(*arguments).forest


def grow_regression_tree(*arguments: Any) -> Forest:
    return memory.grow_regression_tree(*arguments).forest


def options(**settings: Any) -> engine.NativeOptions:
    native = engine.NativeOptions()
    for name, value in settings.items():
        setattr(native, name, value)
    return native


def numeric(*columns: np.ndarray) -> Table:
    return Table(tuple(NumericColumn(j, x) for j, x in enumerate(columns)), len(columns[0]), named=False)


def categories(indices: np.ndarray, n_levels: int) -> Table:
    column = LevelColumn(0, indices.astype(np.int32), tuple(range(n_levels)))
    return Table((column,), len(indices), named=False)


def assert_same(a: dict[str, np.ndarray], b: dict[str, np.ndarray], what: str = "") -> None:
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=f"{what} {name}")


def assert_same_forest(a, b, what: str = "") -> None:
    assert_same(a.arrays(), b.arrays(), what)


def mixed_table(seed: int, n: int, n_levels: int = 6) -> Table:
    """Ties, distinct values, missing values, levels of both kinds."""
    rng = np.random.default_rng(seed)
    ties, distinct = np.round(rng.normal(size=n), 1), rng.random(n)
    ties[rng.random(n) < 0.15] = np.nan
    return Table(
        (
            NumericColumn(0, ties),
            NumericColumn(1, distinct),
            LevelColumn(2, rng.integers(-1, n_levels, n).astype(np.int32), tuple(range(n_levels))),
            LevelColumn(3, rng.integers(-1, 4, n).astype(np.int32), tuple("abcd"), ordered=True),
        ),
        n,
        named=False,
    )
