"""Minima of convex functions of one number."""

import numpy as np
import pytest

from weald.boosting.stage.line_search import minimise


def test_smooth_functions_with_and_without_curvature():
    root = np.array([-3.0, 0.0, 1e-3, 250.0])

    def slopes(x):
        return np.tanh(x - root), 1 / np.cosh(np.clip(x - root, -300, 300)) ** 2

    assert minimise(slopes, 4) == pytest.approx(root, abs=1e-9)
    assert minimise(lambda x: (slopes(x)[0], None), 4) == pytest.approx(root, abs=1e-9)


@pytest.mark.parametrize("most", [np.inf, 1e250])
def test_the_unit_of_places_does_not_matter(most):
    root = np.array([1e-15, -3e-12, 1.0, -1.7e18, 4e-300, 1e200])
    size = np.abs(root)

    def slopes(x):
        return np.tanh((x - root) / size), 1 / np.cosh(np.clip((x - root) / size, -300, 300)) ** 2 / size

    def kinks(x):
        return np.sign(x - root), None

    for found in (
        minimise(slopes, 6, most=most),
        minimise(lambda x: (slopes(x)[0], None), 6, most=most),
        minimise(kinks, 6, most=most),
    ):
        assert found / root == pytest.approx(np.ones(6), rel=1e-12)


def test_differences_that_do_not_count_are_not_looked_for():
    asked = []

    def slopes(x):
        asked.append(x)
        return np.sign(x - 1e-9), None

    assert minimise(slopes, 1, least=1e-6) == pytest.approx([0.0], abs=1e-6)
    assert len(asked) < 10


def test_kinks_are_found():
    kink = np.array([2.5, -7.0])
    assert minimise(lambda x: (np.sign(x - kink), None), 2) == pytest.approx(kink, abs=1e-9)


def test_a_function_that_falls_for_ever_ends_at_the_limit():
    assert minimise(lambda x: (-np.exp(-x), np.exp(-x)), 1, most=16.0).tolist() == [16.0]
    assert minimise(lambda x: (np.exp(x), np.exp(x)), 1, most=16.0).tolist() == [-16.0]


def test_without_a_limit_it_ends_with_float64():
    assert minimise(lambda x: (np.full(2, -1.0) * [1, -1], None), 2).tolist() == [2.0**1022, -(2.0**1022)]


def test_a_flat_function_stays_at_zero():
    assert minimise(lambda x: (np.zeros(3), np.zeros(3)), 3).tolist() == [0.0, 0.0, 0.0]


def test_curvatures_of_no_use_do_no_harm():
    found = minimise(lambda x: (np.sign(x - 3.3) + 0.2 * (x - 3.3), np.full(1, 1e-9)), 1)
    assert found == pytest.approx([3.3], abs=1e-9)
