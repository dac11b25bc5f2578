"""The formulas of averaging and voting: arrays, edges and checked arguments."""

import math

import numpy as np
import pytest

from weald import forest_bound, majority_vote_error, variance_of_average
from weald.errors import ParameterError


@pytest.mark.parametrize("n", [1, 2, 3, 6, 25])
def test_the_vote_is_the_sum_of_its_terms(n):
    for p in (0.0, 0.1, 0.5, 0.9, 1.0):
        terms = (math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n // 2 + 1, n + 1))
        assert majority_vote_error(n, p) == pytest.approx(sum(terms), abs=1e-13)


def test_arrays_are_broadcast_and_numbers_stay_numbers():
    found = majority_vote_error([[1], [3]], [0.1, 0.4])
    assert found.shape == (2, 2)
    assert found[1, 1] == pytest.approx(0.352)
    assert type(majority_vote_error(3, 0.4)) is float
    assert variance_of_average(2.0, [0.0, 1.0], 4).tolist() == [0.5, 2.0]
    assert forest_bound([0.5, 1.0], 0.25).tolist() == [0.75, 0.0]
    assert type(forest_bound(0.5, 0.25)) is float


def test_bounds_of_tiny_margins():
    # no warning, and no 0 / 0
    assert forest_bound(1e-200, 0.5) == np.inf
    assert forest_bound(1e-200, 0.0) == 0.0
    assert forest_bound([5e-324, 1e-100], 0.5).tolist() == [np.inf, pytest.approx(5e199)]


def test_opposite_predictions_cancel():
    assert variance_of_average(3.0, -1 / 2, 3) == pytest.approx(0.0, abs=1e-15)
    assert variance_of_average(3.0, -1.0, 1) == 3.0
    assert variance_of_average(3.0, -1.0, 2) == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: majority_vote_error(0, 0.1), r"`n_voters` must be a whole number of at least 1; got 0"),
        (lambda: majority_vote_error(2.5, 0.1), r"`n_voters` must be a whole number.*2\.5"),
        (lambda: majority_vote_error(3, [0.1, 1.5]), r"`error` must be a probability from 0 to 1; got 1\.5"),
        (lambda: majority_vote_error(3, float("nan")), r"`error` must be.*nan"),
        (lambda: majority_vote_error("3", 0.1), r"`n_voters`.*'3'"),
        (lambda: majority_vote_error([], 0.1), r"`n_voters`"),
        (lambda: variance_of_average(-1, 0, 3), r"`variance` must be a finite number of at least 0; got -1"),
        (lambda: variance_of_average(np.inf, 0, 3), r"`variance`.*inf"),
        (lambda: variance_of_average(1, -0.9, 3), r"at least -1 / \(n - 1\) = -0\.5.*got -0\.9"),
        (lambda: variance_of_average(1, 2, 3), r"`correlation` must be a number from -1 to 1; got 2"),
        (lambda: variance_of_average(1, True, 3), r"`correlation`"),
        (lambda: forest_bound(0, 0.5), r"`strength` must be above 0.*got 0"),
        (lambda: forest_bound(1.5, 0.5), r"`strength`.*1\.5"),
        (lambda: forest_bound(0.5, -0.5), r"`correlation` must be a number from 0 to 1; got -0\.5"),
    ],
)
def test_arguments_are_checked(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
