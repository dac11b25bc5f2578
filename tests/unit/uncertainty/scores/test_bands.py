"""Bands as numbers: curves of scikit-learn inside, coverage, weights; bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_curve

import weald
from weald.errors import DataError, ParameterError
from weald.uncertainty.scores.calibration import wilson

RNG = np.random.default_rng(0)
Y = np.where(RNG.random(150) < 0.4, "yes", "no")
SCORES = np.round((Y == "yes") + RNG.normal(size=150), 1)


def test_roc_band_is_around_scikit_learns_curve():
    band = weald.roc_band(SCORES, None, Y, n_resamples=300, random_state=0)
    across, up, _ = roc_curve(Y == "yes", SCORES)
    at = np.array([up[across <= x + 1e-12].max() for x in (0.0,)])
    assert band.estimate[0] == at[0]
    inside = np.setdiff1d(band.x, across)
    places = np.searchsorted(band.x, inside)
    np.testing.assert_allclose(band.estimate[places], np.interp(inside, across, up), atol=1e-12)
    assert (band.low <= band.estimate).all()
    assert (band.estimate <= band.high).all()
    assert band.area.score == pytest.approx(auc(across, up))
    assert band.positive == "yes"
    assert repr(band).startswith("ROC curve of predictions: pointwise 95 % band at 101 points, roc_auc")


def test_precision_recall_band():
    band = weald.precision_recall_band(SCORES, None, Y, n_resamples=300, n_points=2001, random_state=0)
    area = average_precision_score(Y == "yes", SCORES)
    assert band.area.score == pytest.approx(area)
    assert np.mean(band.estimate) == pytest.approx(area, abs=0.01)  # the area under the steps
    precision, recall, _ = precision_recall_curve(Y == "yes", SCORES)
    assert band.estimate[-1] == pytest.approx(precision[recall == 1].max())
    assert (band.low <= band.high).all()


def test_simultaneous_bands_are_wider_and_hold_whole_curves():
    given = {"n_resamples": 400, "n_points": 21, "random_state": 0}
    narrow = weald.roc_band(SCORES, None, Y, **given)
    wide = weald.roc_band(SCORES, None, Y, simultaneous=True, **given)
    middle = slice(3, 15)
    assert (wide.high - wide.low)[middle].mean() > (narrow.high - narrow.low)[middle].mean()
    grid = wide.x
    truth = stats.norm.cdf(1 + stats.norm.ppf(grid))
    held = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = np.arange(200) % 2
        band = weald.roc_band(
            y + rng.normal(size=200), None, y, simultaneous=True, n_points=21, n_resamples=200, random_state=0
        )
        held += bool(((band.low <= truth) & (truth <= band.high))[1:-1].all())
    assert held >= 50


def test_whole_weights_are_repeated_rows():
    weight = RNG.integers(1, 3, 150)
    times = np.repeat(np.arange(150), weight)
    for make in (weald.roc_band, weald.precision_recall_band):
        heavy = make(SCORES, None, Y, sample_weight=weight, n_resamples=20, random_state=0)
        often = make(SCORES[times], None, Y[times], n_resamples=20, random_state=0)
        np.testing.assert_allclose(heavy.estimate, often.estimate)
        assert heavy.area.score == pytest.approx(often.area.score)


def test_threads_do_not_show():
    one, two = (weald.roc_band(SCORES, None, Y, n_resamples=50, random_state=0, n_jobs=n).low for n in (1, 5))
    assert one.tobytes() == two.tobytes()


def test_calibration_band():
    p = RNG.random(2000)
    y = RNG.random(2000) < p
    band = weald.calibration_band(p, None, y, n_bins=8)
    assert len(band.x) == 8
    assert band.n_in_bin.sum() == 2000
    assert np.mean((band.low <= band.x) & (band.x <= band.high)) >= 7 / 8
    uniform = weald.calibration_band(np.minimum(p, 0.35), None, y, n_bins=10, strategy="uniform")
    assert len(uniform.x) == 4  # empty bins are left out
    weighted = weald.calibration_band(p, None, y, n_bins=8, sample_weight=np.full(2000, 3.0))
    np.testing.assert_allclose(weighted.low, band.low)


def test_wilson_is_scipys():
    low, high = wilson(np.array([0.3]), np.array([40.0]), 0.9)
    theirs = stats.binomtest(12, 40).proportion_ci(0.9, "wilson")
    assert (low[0], high[0]) == pytest.approx((theirs.low, theirs.high))


def test_bad_input():
    with pytest.raises(DataError, match="one label only"):
        weald.roc_band(SCORES, None, np.zeros(150, int))
    with pytest.raises(DataError, match="3 labels"):
        weald.roc_band(SCORES, None, np.arange(150) % 3)
    with pytest.raises(DataError, match="needs probabilities"):
        weald.calibration_band(SCORES * 9, None, Y)
    with pytest.raises(ParameterError, match="n_points"):
        weald.roc_band(SCORES, None, Y, n_points=1)
    with pytest.raises(ParameterError, match="strategy"):
        weald.calibration_band(np.full(150, 0.5), None, Y, strategy="equal")
    with pytest.raises(ParameterError, match="confidence"):
        weald.roc_band(SCORES, None, Y, confidence=1)
