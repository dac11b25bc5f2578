"""Functions of our own: their error against extended precision, limits, same bits at every level."""

from __future__ import annotations

import numpy as np
import pytest

from weald import _core, engine

WIDE = np.finfo(np.longdouble).nmant >= 63
RNG = np.random.default_rng(4)
N = 100_000


def in_float(points):
    """Points that float can hold."""
    return points.astype(np.float32).astype(np.float64)


POINTS = {
    "exp": np.r_[RNG.uniform(-708, 709.78, N), RNG.uniform(-1, 1, N), RNG.normal(size=N) * 1e-8, 0.0],
    "sigmoid": np.r_[RNG.uniform(-690, 690, N), RNG.uniform(-40, 40, N), RNG.uniform(-1, 1, N), 0.0],
    "log": np.r_[np.exp(RNG.uniform(-700, 700, N)), RNG.uniform(0.5, 2, N), 1 + RNG.normal(size=N) * 1e-6],
    "log1p": np.r_[
        np.exp(RNG.uniform(-700, 700, N)),
        RNG.uniform(-0.999999, 3, N),
        RNG.normal(size=N) * 1e-3,
        RNG.normal(size=N) * 1e-12,
    ],
    "tanh": np.r_[RNG.uniform(-25, 25, N), RNG.uniform(-1, 1, N), RNG.normal(size=N) * 1e-8, 0.0],
    "tanh_float": in_float(
        np.r_[RNG.uniform(-12, 12, N), RNG.uniform(-1, 1, N), RNG.normal(size=N) * 1e-5, 0.0]
    ),
    "exp2_of_negative": -np.r_[RNG.uniform(0, 960, N), RNG.uniform(0, 2, N), abs(RNG.normal(size=N)) * 1e-8],
    "exp2_of_negative_float": in_float(
        -np.r_[RNG.uniform(0, 100, N), RNG.uniform(0, 2, N), abs(RNG.normal(size=N)) * 1e-5]
    ),
}
EXACT = {
    "exp": np.exp,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "log": np.log,
    "log1p": np.log1p,
    "tanh": np.tanh,
    "tanh_float": np.tanh,
    "exp2_of_negative": np.exp2,
    "exp2_of_negative_float": np.exp2,
}
#: what core/base/mathematics.h and fused.h promise
ULP = {"exp": 1.5, "sigmoid": 3.0, "log": 3.0, "log1p": 4.0} | dict.fromkeys(("tanh", "tanh_float"), 6.0)
ULP |= dict.fromkeys(("exp2_of_negative", "exp2_of_negative_float"), 1.5)


@pytest.fixture
def baseline():
    _core.set_simd(False)
    yield
    _core.set_simd(True)


@pytest.mark.skipif(not WIDE, reason="long double is no wider than double here")
@pytest.mark.parametrize("function", list(POINTS))
def test_errors_stay_within_the_stated_ulps(function):
    points = POINTS[function]
    exact = EXACT[function](points.astype(np.longdouble))
    precision = np.float32 if function.endswith("float") else np.float64
    unit = np.spacing(np.abs(exact.astype(precision)))
    error = np.abs(engine.map_values(function, points) - exact) / unit
    assert error.max() < ULP[function]


@pytest.mark.parametrize("function", list(POINTS))
def test_same_bits_without_vector_instructions_and_at_every_place(function, request):
    # 31: the last values of a block are computed one by one, not as a vector
    points = POINTS[function][:31]
    native = engine.map_values(function, points)
    alone = np.array([engine.map_values(function, points[i : i + 1])[0] for i in range(len(points))])
    many = engine.map_values(function, POINTS[function])
    request.getfixturevalue("baseline")
    assert engine.map_values(function, points).tobytes() == native.tobytes() == alone.tobytes()
    assert engine.map_values(function, POINTS[function]).tobytes() == many.tobytes()


def test_exp_at_and_beyond_its_ends():
    points = np.array([-np.inf, -800.0, -708.01, 709.79, 800.0, np.inf])
    assert engine.map_values("exp", points).tolist() == [0, 0, 0, np.inf, np.inf, np.inf]
    ends = engine.map_values("exp", np.array([-708.0, 0.0, 709.78]))
    assert ends == pytest.approx([np.exp(-708.0), 1.0, np.exp(709.78)], rel=1e-15)
    assert np.isnan(engine.map_values("exp", np.array([np.nan]))[0])


def test_sigmoid_is_flat_and_positive_beyond_its_ends():
    low, high = engine.map_values("sigmoid", np.array([[-np.inf, -1000.0, -690.0], [690.0, 1000.0, np.inf]]))
    assert (low == low[2]).all()
    assert 0 < low[0] < 1e-299
    assert (high == 1).all()
    assert np.isnan(engine.map_values("sigmoid", np.array([np.nan]))[0])
    assert engine.map_values("sigmoid", np.zeros(1))[0] == 0.5


@pytest.mark.parametrize(("function", "end"), [("exp2_of_negative", 1022), ("exp2_of_negative_float", 126)])
def test_powers_of_two_reach_zero(function, end):
    points = np.array([0.0, -1.0, -end, -end - 0.5, -1e6, -np.inf])
    assert engine.map_values(function, points).tolist() == [1, 0.5, 0, 0, 0, 0]
    falling = engine.map_values(function, np.linspace(0, -end, 10_001))
    assert (np.diff(falling) <= 0).all()


@pytest.mark.parametrize(("function", "end"), [("tanh", 22), ("tanh_float", 11)])
def test_tanh_is_odd_and_flat_beyond_its_ends(function, end):
    points = np.array([0.0, end, 100.0, np.inf])
    assert engine.map_values(function, points).tolist() == [0, 1, 1, 1]
    assert engine.map_values(function, -points).tolist() == [0, -1, -1, -1]
    assert np.isnan(engine.map_values(function, np.array([np.nan]))[0])


def test_exact_logarithms():
    assert engine.map_values("log", np.array([1.0]))[0] == 0
    assert engine.map_values("log1p", np.array([0.0, 1e-300])).tolist() == [0, 1e-300]


def test_softmax_in_rows_and_for_gradients_has_the_same_bits(request):
    scores = RNG.normal(size=(1500, 5)) * 4
    by_row = engine.softmax(scores)
    g, h = np.empty((5, 1500)), np.empty((5, 1500))
    nobody = np.full((1, 1500), -1.0)  # no class is the row's: g is p
    engine.fill_gradients("softmax", np.zeros(0), np.ascontiguousarray(scores.T), nobody, g, h, n_threads=1)
    assert np.ascontiguousarray(g.T).tobytes() == by_row.tobytes()
    request.getfixturevalue("baseline")
    assert engine.softmax(scores, n_threads=3).tobytes() == by_row.tobytes()


def test_softmax_of_huge_scores():
    p = engine.softmax(np.array([[1e300, 0.0, -1e300], [-2000.0, -2000.0, -5000.0]]))
    assert p.tolist() == [[1, 0, 0], [0.5, 0.5, 0]]
