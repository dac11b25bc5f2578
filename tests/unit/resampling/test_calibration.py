"""From shares to probabilities: a simulation whose map is known, and what the likeliest map must keep to."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize
from scipy.special import logsumexp

from weald.errors import ParameterError
from weald.resampling.calibration import ShareMap, fitted_map


def simulated(n_classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Shares, and labels whose probabilities are a known map of them."""
    random = np.random.default_rng(seed)
    shares = random.dirichlet(np.ones(n_classes), 4000)
    p = ShareMap(1.7, tuple(np.linspace(2.0, 0.0, n_classes)), 0.005)(shares)
    return shares, (random.random((4000, 1)) > np.cumsum(p, axis=1)).sum(axis=1)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_known_map_is_found(n_classes: int) -> None:
    shares, labels = simulated(n_classes)
    found = fitted_map(shares, labels, np.bincount(labels), 0.005)
    assert found.power == pytest.approx(1.7, rel=0.1)
    np.testing.assert_allclose(found.offsets, np.linspace(2.0, 0.0, n_classes), atol=0.25)
    # The mean probability of each class is its share, but for the doubt about labels.
    shares_said = found(shares).mean(axis=0)
    np.testing.assert_allclose(shares_said, np.bincount(labels) / len(labels), atol=1e-3)


def test_it_is_the_likeliest() -> None:
    shares, labels = simulated(3)
    n_rows = np.array([9000, 500, 100])
    found = fitted_map(shares, labels, n_rows, 0.01)
    doubt = (1 / (n_rows + 2.0))[labels]
    target = np.repeat(doubt[:, None] / 2, 3, axis=1)
    target[np.arange(len(labels)), labels] = 1 - doubt
    weight = (n_rows / np.bincount(labels))[labels]

    def loss(at: np.ndarray) -> float:
        z = at[0] * np.log(shares + 0.01) + np.array([at[1], at[2], 0.0])
        return float((weight[:, None] * target * (logsumexp(z, axis=1, keepdims=True) - z)).sum())

    best = optimize.minimize(loss, [1.0, 0.0, 0.0]).fun
    assert loss(np.array([found.power, *found.offsets[:2]])) <= best * (1 + 1e-9)


def blended(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two kinds of shares, and labels that depend on both."""
    random = np.random.default_rng(seed)
    shares, plain = random.dirichlet(np.ones(3), (2, 6000))
    p = ShareMap(0.8, (1.5, 0.5, 0.0), 0.01, 1.4, 0.02)(shares, plain)
    return shares, plain, (random.random((6000, 1)) > np.cumsum(p, axis=1)).sum(axis=1)


def test_a_known_map_of_two_models_is_found() -> None:
    shares, plain, labels = blended()
    found = fitted_map(shares, labels, np.bincount(labels), 0.01, (plain, 0.02))
    assert found.power == pytest.approx(0.8, abs=0.1)
    assert found.plain_power == pytest.approx(1.4, abs=0.1)
    np.testing.assert_allclose(found.offsets, (1.5, 0.5, 0.0), atol=0.25)
    assert ShareMap.from_facts(found.facts(), 3) == found
    assert found.blends


def test_a_model_that_tells_nothing_or_the_wrong_way_takes_no_part() -> None:
    shares, plain, labels = blended()
    alone = fitted_map(shares, labels, np.bincount(labels), 0.01)
    assert fitted_map(shares, labels, np.bincount(labels), 0.01, (1 - plain, 0.02)) == alone
    other = fitted_map(1 - shares, labels, np.bincount(labels), 0.01, (plain, 0.02))
    turned = fitted_map(plain, labels, np.bincount(labels), 0.02)
    assert other.power == 0
    assert (other.plain_power, other.plain_floor, other.offsets) == (turned.power, 0.02, turned.offsets)
    assert ShareMap.from_facts(other.facts(), 3) == other
    both = fitted_map(1 - shares, labels, np.bincount(labels), 0.01, (1 - plain, 0.02))
    assert both is None


def test_classes_told_apart_without_a_mistake_leave_the_power_finite() -> None:
    shares = np.repeat([[0.9, 0.1], [0.2, 0.8]], [900, 30], axis=0)
    labels = np.repeat([0, 1], [900, 30])
    found = fitted_map(shares, labels, np.array([900, 30]), 0.01)
    assert np.isfinite(found.power)
    assert found(np.array([[0.9, 0.1], [0.2, 0.8]]))[:, 1] == pytest.approx([1 / 902, 31 / 32], rel=1e-6)


def test_where_nothing_is_told_there_is_none() -> None:
    shares = np.repeat([[0.9, 0.1], [0.2, 0.8]], 20, axis=0)
    assert fitted_map(shares, np.repeat([0, 1], [36, 4]), np.array([36, 4]), 0.01) is None  # too few rows
    assert fitted_map(shares, np.repeat([1, 0], 20), np.array([20, 20]), 0.01) is None  # the wrong way round


@pytest.mark.parametrize(
    "text", ["", "1.0", "1.0 0.1 x 0.0", "nan 0.1 0.0 0.0", "-1.0 0.1 0.0 0.0", "1 0.1 0"]
)
def test_what_a_file_says_is_checked(text: str) -> None:
    with pytest.raises(ParameterError, match="map of shares to probabilities"):
        ShareMap.from_facts({"prior_map": text}, 2)
    for plain in ("1.0", "0.0 0.1", "1.0 inf", "x 1.0"):
        with pytest.raises(ParameterError, match="map of shares to probabilities"):
            ShareMap.from_facts({"prior_map": "1.0 0.1 0.5 0.0", "prior_map_plain": plain}, 2)
    kept = ShareMap(1.25, (0.5, 0.0), 0.01)
    assert ShareMap.from_facts(kept.facts(), 2) == kept
    assert ShareMap.from_facts({}, 2) is None
