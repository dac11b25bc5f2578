"""The narrow path of Newton trees: how 16 bits round, and that their trees are the wide ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.newton_trees import grow_newton_tree
from unit.boosting.newton.growing import HISTOGRAM, assert_same, codes_of, grow, options, random_problem

from weald.data.codes import Codes

# rounding

N_ROWS, ROW = 9, 4


def rounded(values: list[float], row: int = ROW, **given: int) -> tuple[list[float], list[float]]:
    """What 16 bits make of values, as the gradient and as the hessian of one row among others.

    All others have g = −1 and h = 1, which 16 bits hold, and the first split parts them from the row. With
    λ = 0, n rows and m = n − 1 others, it gains m / n · (1 + g)² if the row's h is 1, m² / h + m if
    its g is m.
    """
    n, m = N_ROWS, N_ROWS - 1
    codes = codes_of((np.arange(n) == row).astype(float))
    found: tuple[list[float], list[float]] = ([], [])
    for value in values:
        for k in (0, 1):
            pairs = np.tile([-1.0, 1.0], (n, 1))
            pairs[row] = (value, 1.0) if k == 0 else (m, value)
            tree = grow_newton_tree(codes, pairs, 0.0, options(max_depth=1), narrow=True, **given)
            (gain,) = tree["gain"].tolist()
            found[k].append(np.sqrt(gain * n / m) - 1 if k == 0 else m * m / (gain - m))
    return found


G_UNIT, H_UNIT = 2.0**-14, 2.0**-15  # of values from 1 to below 2, the largest of their table


def test_values_that_sixteen_bits_hold_are_kept():
    whole = [1.25, 1 + 2.0**-10, 1.5 + 2.0**-13]
    for found in rounded(whole):
        assert found == pytest.approx(whole, abs=G_UNIT / 100)


def test_rounding_is_to_a_neighbour_and_unbiased():
    """Over rounds, the mean error stays within what chance allows, and g and h are rounded apart."""
    value, rounds = 1.3 + 0.3 * H_UNIT, 1500
    drawn = [rounded([value], seed=7, round_=r) for r in range(rounds)]
    for k, unit in enumerate((G_UNIT, H_UNIT)):
        found = np.array([pair[k][0] for pair in drawn]) / unit
        part = value / unit - np.floor(value / unit)
        assert set(np.round(found - np.floor(value / unit), 2)) == {0.0, 1.0}
        assert abs(found.mean() - value / unit) < 4.5 * np.sqrt(part * (1 - part) / rounds)
    together = np.corrcoef([pair[0][0] for pair in drawn], [pair[1][0] for pair in drawn])[0, 1]
    assert abs(together) < 4.5 / np.sqrt(rounds)


def test_rounding_depends_on_seed_round_and_row():
    half = 1 + 100.5 * G_UNIT

    def up(**given: int) -> bool:
        return rounded([half], **given)[0][0] > half

    assert {up(seed=1, round_=2) for _ in range(3)} == {up(seed=1, round_=2)}
    assert {up(seed=s) for s in range(20)} == {False, True}
    assert {up(seed=1, round_=r) for r in range(20)} == {False, True}
    assert {up(seed=1, row=row) for row in range(N_ROWS)} == {False, True}


# trees


def assert_narrow_is_wide(codes: Codes, g: np.ndarray, h: np.ndarray, lambda_: float, **settings: Any):
    pairs = np.stack([g, h], axis=1)
    wide = grow(codes, pairs, lambda_, search=HISTOGRAM, **settings)
    for n_threads in (1, 2, 5):
        native = options(**settings)
        tree = grow_newton_tree(codes, pairs, lambda_, native, narrow=True, n_threads=n_threads)
        assert_same(tree, wide, f"{n_threads} threads")
    return wide


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("settings", [{"max_depth": 6}, {"min_rows_leaf": 20}, {"max_leaves": 9}])
def test_narrow_tree_is_the_wide_one(seed, settings):
    rng = np.random.default_rng(seed)
    columns, _ = random_problem(seed, 3000)
    g, h = rng.integers(-32767, 32768, 3000), rng.integers(0, 65536, 3000)
    g[0], h[0] = 32767, 65535  # so that a unit is 1
    for max_bins in (None, 31):
        tree = assert_narrow_is_wide(codes_of(*columns, max_bins=max_bins), g, h, 1.0, **settings)
        assert len(tree["slot"]) > 10


@pytest.mark.parametrize("side", [1, -1, 0])
def test_extreme_values_do_not_overflow(side):
    """More than 2^16 rows of the largest values in one code: the packed halves are flushed in time."""
    n = 200_001
    rng = np.random.default_rng(3)
    few = (rng.random(n) < 0.1).astype(float)  # one code holds about 180,000 rows
    third = rng.integers(0, 3, n).astype(float)
    third[rng.random(n) < 0.4] = np.nan
    sign = np.where(few + rng.random(n) > 0.9, 1, -1) if side == 0 else np.full(n, side)
    h = np.where(third == 1, 65535, 65000 + 100 * few)
    codes = codes_of(few, third, np.zeros(n))
    tree = assert_narrow_is_wide(codes, 32767 * sign, h, 10.0, max_depth=3)
    assert tree["lanes"].sum(axis=0).tolist() == [32767 * int(sign.sum()), h.sum()]
    assert len(tree["slot"]) > 5
