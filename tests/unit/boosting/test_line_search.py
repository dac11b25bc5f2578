"""Minima of convex functions of one number."""

import numpy as np
import pytest

from weald.boosting.line_search import minimise


def test_smooth_functions_with_and_without_curvature():
    root = np.array([-3.0, 0.0, 1e-3, 250.0])

    def slopes(x):
        return np.tanh(x - root), 1 / np.cosh(np.clip(x - root, -300, 300)) ** 2

    assert minimise(slopes, 4) == pytest.approx(root, abs=1e-9)
    assert minimise(lambda x: (slopes(x)[0], None), 4) == pytest.approx(root, abs=1e-9)


def test_kinks_are_found():
    kink = np.array([2.5, -7.0])
    assert minimise(lambda x: (np.sign(x - kink), None), 2) == pytest.approx(kink, abs=1e-9)


def test_a_function_that_falls_for_ever_ends_at_the_limit():
    assert minimise(lambda x: (-np.exp(-x), np.exp(-x)), 1, most=16.0).tolist() == [16.0]
    assert minimise(lambda x: (np.exp(x), np.exp(x)), 1, most=16.0).tolist() == [-16.0]


def test_a_flat_function_stays_at_zero():
    assert minimise(lambda x: (np.zeros(3), np.zeros(3)), 3).tolist() == [0.0, 0.0, 0.0]


def test_curvatures_of_no_use_do_no_harm():
    found = minimise(lambda x: (np.sign(x - 3.3) + 0.2 * (x - 3.3), np.full(1, 1e-9)), 1)
    assert found == pytest.approx([3.3], abs=1e-9)
