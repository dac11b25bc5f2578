"""The quantile sketch: exact while small, bounded when large, and what it refuses."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import weald
from weald.data.codes import encode
from weald.data.sketch import QuantileSketch
from weald.data.table import NumericColumn, Table
from weald.errors import DataError, ParameterError


def sketch_of(values, weights=None, epsilon=0.1) -> QuantileSketch:
    sketch = QuantileSketch(epsilon)
    sketch.add(values, weights)
    return sketch


def table_cuts(values: np.ndarray, max_bins: int, weight=None) -> np.ndarray:
    table = Table((NumericColumn("x", values),), len(values), named=True)
    return encode(table, max_bins=max_bins, weight=weight).cuts(0)


def answers(sketch: QuantileSketch) -> list:
    points = [sketch.quantile(q) for q in np.linspace(0, 1, 41)]
    return [sketch.total_weight, points, [sketch.rank_bounds(v) for v in points], sketch.cuts(20).tolist()]


# while nothing is pruned


@pytest.mark.parametrize("max_bins", [1, 2, 33, 255, 5000])
@pytest.mark.parametrize("weighted", [False, True])
def test_cuts_of_a_small_stream_are_those_of_a_table(max_bins, weighted):
    rng = np.random.default_rng(0)
    values = np.round(rng.normal(size=600), 2)
    weight = rng.integers(0, 5, 600).astype(float) if weighted else None
    cuts = sketch_of(values, weight).cuts(max_bins)
    np.testing.assert_array_equal(cuts, table_cuts(values, max_bins, weight))


def test_ranks_and_quantiles_of_a_small_stream_are_exact():
    sketch = sketch_of([3.0, 1.0, 2.0, 2.0], [1.0, 4.0, 1.0, 2.0])
    assert sketch.total_weight == 8.0
    assert [sketch.rank_bounds(v) for v in (0.0, 1.0, 1.5, 2.0, 3.0, 9.0)] == [
        (0.0, 0.0),
        (4.0, 4.0),
        (4.0, 4.0),
        (7.0, 7.0),
        (8.0, 8.0),
        (8.0, 8.0),
    ]
    assert [sketch.quantile(q) for q in (0.0, 0.5, 0.51, 0.875, 0.876, 1.0)] == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]


def test_few_distinct_values_stay_exact_however_long_the_stream():
    sketch = QuantileSketch(0.5)  # blocks of 128 values
    rng = np.random.default_rng(1)
    values = rng.integers(0, 100, 50_000).astype(float)
    sketch.add(values)
    for v in range(100):
        exact = float((values <= v).sum())
        assert sketch.rank_bounds(float(v)) == (exact, exact)


# when entries are pruned


def test_long_stream_is_pruned_and_within_its_bound():
    rng = np.random.default_rng(2)
    values = rng.normal(size=200_000)
    sketch = sketch_of(values, epsilon=0.1)
    assert sketch.n_entries < 8000
    ordered = np.sort(values)
    widths = []
    for q in np.linspace(0, 1, 101):
        v = sketch.quantile(q)
        low, high = sketch.rank_bounds(v)
        rank = np.searchsorted(ordered, v, side="right")
        assert low <= rank <= high
        assert abs(rank - q * len(values)) <= 0.1 * len(values)
        widths.append(high - low)
    assert 0 < max(widths) <= 0.1 * len(values)


@pytest.mark.parametrize("epsilon", [0.5, 0.1, 0.02])
def test_memory_is_bounded(epsilon):
    """At most 64 / epsilon + 2 entries per level, and the open block: equation 4."""
    rng = np.random.default_rng(3)
    sketch = QuantileSketch(epsilon)
    n = 0
    for _ in range(40):
        values = rng.normal(size=10_000)
        sketch.add(values, rng.random(10_000) ** 20)
        n += len(values)
        room = 64 / epsilon + 3
        assert sketch.n_entries <= room * (2 + np.log2(n * epsilon / 64 + 1))


def test_merging_with_itself_doubles_until_the_sketch_is_full():
    sketch = QuantileSketch(0.5)
    sketch.add(np.arange(128.0))
    for times in range(1, 33):
        sketch.merge(sketch)
        assert sketch.total_weight == 128 * 2**times
        assert sketch.quantile(0.5) == 63.0
    before = answers(sketch)
    with pytest.raises(DataError, match="at most 2\\^32 blocks"):
        sketch.merge(sketch)
    assert answers(sketch) == before


# what must not show


def test_how_a_stream_is_cut_into_calls_does_not_show():
    rng = np.random.default_rng(4)
    values, weight = rng.normal(size=30_000), rng.integers(0, 9, 30_000).astype(float)
    whole = sketch_of(values, weight)
    parts = QuantileSketch(0.1)
    for some in np.split(np.arange(30_000), np.sort(rng.integers(0, 30_000, 200))):
        parts.add(values[some], weight[some])
    assert answers(parts) == answers(whole)


@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_missing_values_and_weights_of_zero_are_absent(scale):
    rng = np.random.default_rng(5)
    values, weight = rng.normal(size=20_000), rng.integers(0, 3, 20_000) * scale
    values[rng.random(20_000) < 0.2] = np.nan
    kept = ~np.isnan(values) & (weight > 0)
    assert answers(sketch_of(values, weight)) == answers(sketch_of(values[kept], weight[kept]))


def test_zeros_of_both_signs_are_one_value():
    sketch = sketch_of([0.0, -0.0, 1.0])
    assert sketch.rank_bounds(-0.0) == (2.0, 2.0)
    assert sketch.cuts(9).tolist() == [0.5]


def test_the_other_sketch_stays_as_it_is():
    left, right = sketch_of(np.arange(3000.0)), sketch_of(np.arange(2000.0) / 2, np.full(2000, 0.7))
    before = answers(right)
    left.merge(right)
    assert answers(right) == before
    right.add([1e9])
    assert left.quantile(1.0) == 2999.0


def test_merging_with_an_empty_sketch():
    full = sketch_of(np.arange(5000.0), np.full(5000, 1e-300))
    before = answers(full)
    full.merge(QuantileSketch(0.1))
    assert answers(full) == before
    empty = QuantileSketch(0.1)
    empty.merge(full)
    assert answers(empty) == before


# weights that are not whole


def test_weights_of_any_scale():
    rng = np.random.default_rng(6)
    values, weight = rng.normal(size=5000), rng.random(5000)
    plain = sketch_of(values, weight)
    for scale in (2.0**-900, 2.0**-60, 2.0**60, 2.0**900):
        scaled = sketch_of(values, weight * scale)
        assert scaled.total_weight == plain.total_weight * scale
        np.testing.assert_array_equal(scaled.cuts(30), plain.cuts(30))


def test_weights_that_outgrow_their_units():
    """Light values first, then values 1e30 times as heavy: the units become coarser, the bounds stay true."""
    rng = np.random.default_rng(7)
    values = rng.normal(size=9000)
    sketch = QuantileSketch(0.1)
    for block, scale in enumerate((1e-12, 1.0, 1e18)):
        some = slice(3000 * block, 3000 * (block + 1))
        sketch.add(values[some], np.full(3000, 0.7 * scale))
    weight = 0.7 * np.repeat([1e-12, 1.0, 1e18], 3000)
    assert sketch.total_weight == pytest.approx(weight.sum(), rel=1e-12)
    for v in np.linspace(-3, 3, 50):
        low, high = sketch.rank_bounds(v)
        exact = weight[values <= v].sum()
        assert low - 1e-9 * weight.sum() <= exact <= high + 1e-9 * weight.sum()
        assert high - low <= 0.1 * weight.sum()


def test_a_light_value_after_heavy_ones_is_not_lost():
    sketch = sketch_of([1.0], [1e18])
    sketch.add([2.0], [1e-18])
    assert sketch.quantile(1.0) == 2.0
    assert sketch.cuts(2).tolist() == [1.5]


# what is refused


@pytest.mark.parametrize("epsilon", [0.0, -0.1, 0.6, float("nan"), 1e-7])
def test_epsilon_out_of_range(epsilon):
    with pytest.raises(ParameterError, match=r"epsilon of QuantileSketch must be from 1e-6 to 0\.5"):
        QuantileSketch(epsilon)


@pytest.mark.parametrize(
    ("values", "weights", "message"),
    [
        ([1.0, np.inf], None, "row 1 holds inf"),
        ([-np.inf], [0.0], "row 0 holds -inf"),
        ([1.0, 2.0], [1.0, -1.0], "row 1 holds -1.0"),
        ([1.0], [np.nan], "row 0 holds nan"),
        ([1.0], [np.inf], "row 0 holds inf"),
        ([1.0], [1.0, 2.0], "differ in length: 1 and 2"),
        ([[1.0]], None, "one dimension"),
        (["a"], None, "must be numbers"),
        ([1.0, 2.0], [1.7e308, 1.7e308], "more than float64 holds"),
    ],
)
def test_bad_rows_are_named_and_change_nothing(values, weights, message):
    sketch = sketch_of([1.0, 2.0])
    with pytest.raises(DataError, match=message):
        sketch.add(values, weights)
    assert sketch.total_weight == 2.0


def test_questions_without_an_answer():
    sketch = QuantileSketch()
    with pytest.raises(DataError, match="The sketch is empty"):
        sketch.quantile(0.5)
    assert sketch.rank_bounds(1.0) == (0.0, 0.0)
    assert sketch.cuts(10).tolist() == []
    sketch.add([1.0])
    for q in (-0.1, 1.1, float("nan")):
        with pytest.raises(ParameterError, match="from 0 to 1"):
            sketch.quantile(q)
    with pytest.raises(ParameterError, match="got NaN"):
        sketch.rank_bounds(float("nan"))
    with pytest.raises(ParameterError, match="max_bins"):
        sketch.cuts(0)
    with pytest.raises(ParameterError, match=r"merges only with its like; got epsilon 0\.2"):
        sketch.merge(QuantileSketch(0.2))
    with pytest.raises(ParameterError, match="got list"):
        sketch.merge([1.0])


@pytest.mark.parametrize("twin_of", [copy.copy, copy.deepcopy])
def test_a_copy_goes_its_own_way(twin_of):
    sketch = sketch_of([1.0, 2.0, 3.0])
    twin = twin_of(sketch)
    twin.add([4.0, 5.0], weights=[0.5, 0.25])
    assert answers(sketch) == answers(sketch_of([1.0, 2.0, 3.0]))
    assert twin.total_weight == 3.75
    assert repr(twin) == "QuantileSketch(epsilon=0.1)"


def test_it_is_public():
    assert weald.QuantileSketch is QuantileSketch
