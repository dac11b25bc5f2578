"""Displays of bands: what is drawn, where, and that several share axes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

import weald

X, Y = make_classification(200, flip_y=0.2, random_state=0)
MODEL = LogisticRegression().fit(X[:100], Y[:100])
KINDS = {
    weald.RocBandDisplay: "true positive rate",
    weald.PrecisionRecallBandDisplay: "precision",
    weald.CalibrationBandDisplay: "share of positive rows",
}


@pytest.fixture(autouse=True)
def closed_figures():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_from_estimator_and_predictions_draw_the_same(kind):
    options = {} if kind is weald.CalibrationBandDisplay else {"n_resamples": 50, "random_state": 0}
    by_model = kind.from_estimator(MODEL, X[100:], Y[100:], **options)
    by_shares = kind.from_predictions(Y[100:], MODEL.predict_proba(X[100:])[:, 1], name="shares", **options)
    assert by_model.ax_ is not by_shares.ax_  # each on axes of its own
    assert by_model.ax_.get_ylabel() == KINDS[kind]
    np.testing.assert_allclose(by_model.band.estimate, by_shares.band.estimate)
    assert by_shares.ax_.get_legend().get_texts()[0].get_text().startswith("shares")
    by_model.figure_.canvas.draw()


def test_several_curves_share_axes_in_their_own_colours():
    import matplotlib.pyplot as plt

    _, mine = plt.subplots()
    first = weald.RocBandDisplay.from_estimator(MODEL, X[100:], Y[100:], n_resamples=20, ax=mine)
    band = weald.roc_band(MODEL, X[100:], Y[100:], n_resamples=20, simultaneous=True)
    second = weald.RocBandDisplay(band).plot(mine, name="again")
    assert first.ax_ is second.ax_ is mine
    curves = [line for line in mine.lines if line.get_gid() == "curve"]
    assert len(curves) == 2
    assert curves[0].get_color() != curves[1].get_color()
    words = [text.get_text() for text in mine.get_legend().get_texts()]
    assert words[0].startswith("LogisticRegression\nAUC 0.")
    assert words[1].startswith("again")
    assert "simultaneous" in mine.get_title(loc="left")
