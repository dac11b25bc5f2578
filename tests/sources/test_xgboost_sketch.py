"""Weighted quantiles as the sources tell of them: candidates, hessian weights, summaries that merge."""

from __future__ import annotations

import numpy as np
import pytest

from weald.data.codes import coarsen, encode
from weald.data.fixed_point import to_units
from weald.data.sketch import QuantileSketch
from weald.data.table import NumericColumn, Table


def codes_of(matrix: np.ndarray, max_bins: int | None = None):
    columns = tuple(NumericColumn(f"x{j}", column) for j, column in enumerate(matrix.T))
    return encode(Table(columns, len(matrix), named=True), max_bins=max_bins)


@pytest.mark.parametrize("n", [10_000, 1_000_000])
def test_candidates_of_approximate_greedy(n):
    """10⁶ rows × 6 columns: at most 198 candidates against 5,999,994."""
    rows = np.arange(n, dtype=np.float64)
    steps = [1, 3, 7, 9, 11, 13]  # prime to n: every column holds every value once
    fine = codes_of(np.column_stack([rows * step % n for step in steps]))
    assert int((fine.n_codes - 1).sum()) == 6 * (n - 1)
    coarse = coarsen(fine, np.ones(n, np.int64), max_bins=33, n_threads=2)
    candidates = sum(len(coarse.cuts(j)) for j in range(6))
    assert 180 <= candidates <= 198


def logistic_hessians(x: np.ndarray) -> np.ndarray:
    p = 1 / (1 + np.exp(-x))
    return p * (1 - p)


def bins_by(x: np.ndarray, hessian: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """(cuts, code of each row) by candidates and by the sketch."""
    coarse = coarsen(codes_of(x[:, None]), to_units(hessian).units, max_bins=33)
    sketch = QuantileSketch(0.001)
    sketch.add(x, hessian)
    cuts = sketch.cuts(33)
    return [(coarse.cuts(0), coarse.column(0)), (cuts, 1 + np.searchsorted(cuts, x))]


def test_bins_of_equal_hessian_weight_are_smaller_where_p_is_near_one_half():
    x = np.random.default_rng(0).uniform(-6, 6, 40_000)
    hessian = logistic_hessians(x)
    for cuts, code in bins_by(x, hessian):
        weight = np.bincount(code, hessian)[1:]
        assert len(weight) == 33
        np.testing.assert_allclose(weight, hessian.sum() / 33, rtol=0.05)
        counts, widths = np.bincount(code)[1:], np.diff(cuts)
        assert 10 * counts[16] < counts[0]  # p = .5 in the middle bin, near 0 and 1 in the outer ones
        assert 10 * counts[16] < counts[32]
        assert 3 * widths[15:17].max() < min(widths[0], widths[-1])


def test_squared_error_gives_equal_counts():
    x = np.random.default_rng(1).normal(size=33_000)
    for _, code in bins_by(x, np.ones(33_000)):
        counts = np.bincount(code)[1:]
        np.testing.assert_allclose(counts, 1000, atol=0.001 * 33_000)


def test_summaries_merge_in_any_order_within_their_error():
    rng = np.random.default_rng(2)
    x, hessian = rng.normal(size=60_000), rng.random(60_000) * 0.25
    epsilon = 0.05
    whole = np.argsort(x)
    rank = np.cumsum(hessian[whole])
    for order in (range(20), reversed(range(20)), rng.permutation(20)):
        sketch = QuantileSketch(epsilon)
        for part in order:
            some = slice(3000 * part, 3000 * (part + 1))
            other = QuantileSketch(epsilon)
            other.add(x[some], hessian[some])
            sketch.merge(other)
        for q in np.linspace(0.01, 0.99, 50):
            at = np.searchsorted(x[whole], sketch.quantile(q))
            assert abs(rank[at] - q * rank[-1]) <= epsilon * rank[-1]
