"""Helpers of the tests of Newton trees: small tables of codes, trees grown from pairs, equality of trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from support.newton_trees import grow_newton_tree

from weald import engine
from weald.data.codes import Codes, encode
from weald.data.table import NumericColumn, Table

AUTO, HISTOGRAM, ORDER = range(3)


def codes_of(*columns: np.ndarray, max_bins: int | None = None) -> Codes:
    table = Table(
        tuple(NumericColumn(j, values) for j, values in enumerate(columns)), len(columns[0]), named=False
    )
    return encode(table, max_bins=max_bins)


def options(**settings: Any) -> engine.NativeOptions:
    native = engine.NativeOptions()
    native.must_gain = True
    for name, value in settings.items():
        setattr(native, name, value)
    return native


def grow(codes: Codes, pairs: np.ndarray, lambda_: float, *, n_threads: int = 1, **settings: Any):
    return grow_newton_tree(codes, pairs, lambda_, options(**settings), n_threads=n_threads)


def assert_same(a: dict[str, np.ndarray], b: dict[str, np.ndarray], what: str = "") -> None:
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=f"{what} {name}")


def random_problem(seed: int, n_rows: int = 40) -> tuple[list[np.ndarray], np.ndarray]:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 12, n_rows) / 2, np.round(rng.normal(size=n_rows), 1), rng.random(n_rows)]
    for x in columns[:2]:
        x[rng.random(n_rows) < 0.2] = np.nan
    pairs = np.stack([rng.integers(-1000, 1000, n_rows), rng.integers(1, 500, n_rows)], axis=1)
    return columns, pairs
