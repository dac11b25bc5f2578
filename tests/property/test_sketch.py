"""The promise of the sketch: ranks within epsilon of the total, for any stream and any tree of merges."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from weald.data.sketch import QuantileSketch

EPSILON = 0.5  # blocks of 128 values: a few thousand rows already reach several levels


def ordered_values(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    values = {
        "sorted": np.sort(rng.normal(size=n)),
        "reversed": np.sort(rng.normal(size=n))[::-1],
        "constant": np.full(n, 3.25),
        "ties": rng.zipf(1.3, n).clip(max=2000).astype(float),
        "random": rng.normal(size=n),
        "zoom in": np.where(np.arange(n) % 2, -1.0, 1.0) / (1 + np.arange(n)),
        "zoom out": np.where(np.arange(n) % 2, -1.0, 1.0) * np.arange(n),
        "extremes": rng.choice([-1.7e308, -5e-324, 0.0, 5e-324, 1.7e308], n) * rng.choice([0.5, 1.0], n),
        "combs": np.tile(np.arange(97.0), n // 97 + 1)[:n] + np.arange(n) * 1e-9,
    }
    return values[kind]


KINDS = [
    "sorted",
    "reversed",
    "constant",
    "ties",
    "random",
    "zoom in",
    "zoom out",
    "extremes",
    "combs",
]


def weights_of(kind: str, n: int, rng: np.random.Generator) -> np.ndarray | None:
    return {
        "none": None,
        "whole": rng.integers(0, 50, n).astype(float),
        "hessians": rng.random(n) * 0.25,
        "spread": 10.0 ** rng.uniform(-12, 12, n),
        "growing": 10.0 ** np.linspace(-12, 12, n),
        "falling": 10.0 ** np.linspace(12, -12, n),
        "one heavy": np.where(np.arange(n) == n // 3, 1e12, 1e-12),
    }[kind]


WEIGHTS = ["none", "whole", "hessians", "spread", "growing", "falling", "one heavy"]


def merged_at_random(parts: list[QuantileSketch], rng: np.random.Generator) -> QuantileSketch:
    """All parts in one, by a random tree of merges."""
    while len(parts) > 1:
        i, j = rng.choice(len(parts), 2, replace=False)
        parts[i].merge(parts[j])
        del parts[j]
    return parts[0]


BITS = 100  # weights in units of 2^-100 are whole: exact sums


def units(weight: float) -> int:
    return int(math.ldexp(weight, BITS))


class Truth:
    """The stream itself, sorted, with exact sums."""

    def __init__(self, values: np.ndarray, weight: np.ndarray | None) -> None:
        weight = np.ones(len(values)) if weight is None else weight
        present = weight > 0
        order = np.argsort(values[present], kind="stable")
        self.values = values[present][order]
        self.sums = [0, *itertools.accumulate(units(w) for w in weight[present][order].tolist())]
        self.total = self.sums[-1]
        whole = bool(np.all(weight == np.floor(weight)))
        #: what the rounding of weights to the units of a sketch may add
        self.rounding = 0 if whole else self.total * len(self.values) >> 50

    def below(self, v: float) -> int:
        return self.sums[int(np.searchsorted(self.values, v, side="left"))]

    def until(self, v: float) -> int:
        return self.sums[int(np.searchsorted(self.values, v, side="right"))]


def assert_within(sketch: QuantileSketch, truth: Truth, epsilon: float = EPSILON) -> None:
    allowed = math.floor(Fraction(epsilon) * truth.total) + truth.rounding
    assert abs(units(sketch.total_weight) - truth.total) <= truth.rounding
    for q in (0.0, 0.01, 0.25, 0.5, 0.77, 0.99, 1.0):
        v = sketch.quantile(q)
        rank = Fraction(q) * truth.total
        assert truth.below(v) - allowed <= rank <= truth.until(v) + allowed
    some = truth.values[:: max(1, len(truth.values) // 60)]
    between = np.nextafter(some, math.inf)
    ends = [truth.values[0] - 1, truth.values[-1] + 1]
    for v in [*some, *between[np.isfinite(between)], *ends, *sketch.cuts(7)]:
        low, high = (units(bound) for bound in sketch.rank_bounds(float(v)))
        assert low - truth.rounding <= truth.until(v) <= high + truth.rounding
        assert high - low <= allowed


@given(
    kind=st.sampled_from(KINDS),
    weights=st.sampled_from(WEIGHTS),
    n=st.integers(1, 6000),
    n_parts=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
)
def test_rank_error_is_bounded_after_any_merge_tree(kind, weights, n, n_parts, seed):
    rng = np.random.default_rng(seed)
    values, weight = ordered_values(kind, n, rng), weights_of(weights, n, rng)
    if weight is not None and not weight.any():
        return
    cuts = np.sort(rng.integers(0, n + 1, n_parts - 1))
    parts = []
    for some in np.split(np.arange(n), cuts):
        sketch = QuantileSketch(EPSILON)
        sketch.add(values[some], None if weight is None else weight[some])
        parts.append(sketch)
    sketch = merged_at_random(parts, rng)
    assert_within(sketch, Truth(values, weight))
    n_levels = math.log2(n * EPSILON / 64 + 1) + 2
    assert sketch.n_entries <= (64 / EPSILON + 2) * n_levels


@given(
    kind=st.sampled_from(KINDS),
    weights=st.sampled_from(WEIGHTS),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_finer_sketch_of_a_stream_in_blocks(kind, weights, seed):
    rng = np.random.default_rng(seed)
    n = 8000
    values, weight = ordered_values(kind, n, rng), weights_of(weights, n, rng)
    sketch = QuantileSketch(0.1)
    for first in range(0, n, 900):
        block = slice(first, first + 900)
        sketch.add(values[block], None if weight is None else weight[block])
    assert_within(sketch, Truth(values, weight), 0.1)


@given(seed=st.integers(0, 2**32 - 1), n_parts=st.integers(2, 20), weighted=st.booleans())
def test_the_same_calls_give_the_same_bits(seed, n_parts, weighted):
    def run() -> tuple:
        rng = np.random.default_rng(seed)
        parts = []
        for _ in range(n_parts):
            parts.append(QuantileSketch(EPSILON))
            n = int(rng.integers(0, 700))
            parts[-1].add(rng.normal(size=n), rng.random(n) if weighted else None)
        sketch = merged_at_random(parts, rng)
        return sketch.total_weight, sketch.n_entries, sketch.cuts(50).tobytes()

    assert run() == run()


@given(
    kind=st.sampled_from(KINDS),
    weights=st.sampled_from(WEIGHTS),
    max_bins=st.integers(2, 40),
    seed=st.integers(0, 2**32 - 1),
)
def test_bins_carry_about_equal_weight(kind, weights, max_bins, seed):
    """Beside its heaviest value no bin has more than twice the mean and the error of its two ends."""
    rng = np.random.default_rng(seed)
    values, weight = ordered_values(kind, 5000, rng), weights_of(weights, 5000, rng)
    epsilon = 0.05
    sketch = QuantileSketch(epsilon)
    sketch.add(values, weight)
    cuts = sketch.cuts(max_bins)
    assert len(cuts) < max_bins
    assert (np.diff(cuts) > 0).all()
    truth = Truth(values, weight)
    allowed = (Fraction(2, max_bins) + 2 * Fraction(epsilon)) * truth.total + truth.rounding
    for low, high in itertools.pairwise([-math.inf, *cuts, math.inf]):
        inside = np.unique(truth.values[(truth.values > low) & (truth.values <= high)])
        heaviest = max((truth.until(v) - truth.below(v) for v in inside), default=0)
        assert truth.until(high) - truth.until(low) - heaviest <= allowed
