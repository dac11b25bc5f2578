"""The losses of stagewise boosting: the native slopes and values against their definitions."""

import numpy as np
import pytest

from weald import engine
from weald.boosting.stage.losses import NativeStageLoss, interpolated

RNG = np.random.default_rng(0)
F, Y, LABEL = RNG.normal(size=5000) * 3, RNG.normal(size=5000) * 3, RNG.integers(0, 2, 5000).astype(float)
VALUES = {
    "squared_error": lambda f, y: (y - f) ** 2,
    "absolute_error": lambda f, y: np.abs(y - f),
    "huber": lambda f, y: np.where(np.abs(y - f) <= 1.3, (y - f) ** 2 / 2, 1.3 * (np.abs(y - f) - 0.65)),
    "quantile": lambda f, y: np.where(y >= f, 0.7 * (y - f), 0.3 * (f - y)),
    "binomial": lambda f, y: 2 * (np.logaddexp(0, f) - y * f),
    "exponential": lambda f, y: np.exp(-(2 * y - 1) * f),
}
PARAMETERS = {"huber": [1.3], "quantile": [0.7]}
FACTOR = {"squared_error": 2, "binomial": 2}  # of the value, whose half is what the residual is the slope of


def native(loss, scores, target):
    g, h = np.empty_like(scores), np.ones_like(scores)
    parameters = np.array(PARAMETERS.get(loss, []))
    engine.stage_pass(loss, parameters, scores, target, fill=(g, h), n_threads=2)
    return g, h


@pytest.mark.parametrize("loss", VALUES)
def test_gradients_are_slopes_of_the_values(loss):
    target = LABEL if loss in ("binomial", "exponential") else Y
    g, h = native(loss, F[None, :], target)
    step = 1e-6
    slope = (VALUES[loss](F + step, target) - VALUES[loss](F - step, target)) / (2 * step)
    assert g[0] == pytest.approx(slope / FACTOR.get(loss, 1), rel=1e-5, abs=1e-6)
    if loss in ("binomial", "exponential"):
        around = [native(loss, F[None, :] + each, target)[0][0] for each in (step, -step)]
        assert h[0] == pytest.approx((around[0] - around[1]) / (2 * step), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("weight", [None, np.abs(RNG.normal(size=5000)) * (LABEL + 0.0)])
@pytest.mark.parametrize("loss", VALUES)
def test_loss_sums(loss, weight):
    target = LABEL if loss in ("binomial", "exponential") else Y
    parameters = np.array(PARAMETERS.get(loss, []))
    found = [
        engine.stage_pass(loss, parameters, F[None, :], target, weight=weight, n_threads=n) for n in (1, 2, 5)
    ]
    assert found[0] == found[1] == found[2]
    weights = np.ones(5000) if weight is None else weight
    assert found[0] == pytest.approx((np.sum(weights * VALUES[loss](F, target)), weights.sum()), rel=1e-12)


def test_multinomial():
    scores = RNG.normal(size=(3, 700))
    target = RNG.integers(0, 3, 700).astype(float)
    g, h = native("multinomial", scores, target)
    p = np.exp(scores) / np.exp(scores).sum(axis=0)
    assert g == pytest.approx(p - (target == np.arange(3)[:, None]))
    assert h == pytest.approx(p * (1 - p))
    total, n = engine.stage_pass("multinomial", np.zeros(0), scores, target, n_threads=1)
    assert (total, n) == (pytest.approx(-np.log(p[target.astype(int), np.arange(700)]).sum()), 700)


def test_values_far_out_stay_finite():
    far = np.array([[-800.0, 800.0, -800.0, 800.0]])
    y = np.array([0.0, 0.0, 1.0, 1.0])
    total, _ = engine.stage_pass("binomial", np.zeros(0), far, y, n_threads=1)
    assert total == pytest.approx(3200)
    g, h = native("binomial", far, y)
    assert np.isfinite(g).all()
    assert np.isfinite(h).all()


def test_a_kink_counts_as_below_the_target():
    same = np.array([[1.0]])
    assert native("absolute_error", same, np.array([1.0]))[0][0, 0] == -1.0
    assert native("quantile", same, np.array([1.0]))[0][0, 0] == pytest.approx(-0.7)


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "quantile", "squared_error"])
def test_starts_count_whole_weights_as_repeated_rows(loss):
    y = RNG.normal(size=40)
    times = RNG.integers(0, 4, 40)
    for exact in (False, True):
        weighted = NativeStageLoss(loss, y, times.astype(float), alpha=0.77, exact=exact)
        repeated = NativeStageLoss(loss, np.repeat(y, times), None, alpha=0.77, exact=exact)
        assert weighted.start() == repeated.start()


def test_the_interpolated_quantile_is_numpys():
    y = RNG.normal(size=31)
    for alpha in (0.1, 0.5, 0.9):
        assert interpolated(y, None, alpha) == pytest.approx(np.quantile(y, alpha))


def test_delta_is_the_inverted_quantile_of_sizes():
    y = RNG.normal(size=101)
    loss = NativeStageLoss("huber", y, None, alpha=0.8)
    loss.prepare(np.zeros((1, 101)))
    assert loss.delta == np.quantile(np.abs(y), 0.8, method="inverted_cdf")


def test_the_mean_of_no_rows_is_not_a_number():
    loss = NativeStageLoss("squared_error", Y, None)
    assert np.isnan(loss.mean(F[None, :], Y, np.zeros(5000), n_threads=1))
