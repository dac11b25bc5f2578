"""Truth − prediction of a regression: how they spread, whether they lean or widen."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import stats

from weald.arrays import Floats
from weald.report.finding.classes import floats
from weald.report.finding.data import histogram_of
from weald.report.records import ResidualBin, Residuals
from weald.report.subject import Subject

_BINS, _CELLS, _FEWEST = 10, 28, 8


def residuals_of(subject: Subject) -> Residuals:
    """What the errors look like."""
    truth, said = np.asarray(subject.rows.y, np.float64), np.asarray(subject.said, np.float64)
    away = truth - said
    n = len(away)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.ConstantInputWarning)
        widening = stats.spearmanr(np.abs(away), said)
    x_edges, y_edges = _edges(said), _edges(truth)
    counts = np.histogram2d(
        np.clip(truth, y_edges[0], y_edges[-1]), np.clip(said, x_edges[0], x_edges[-1]), [y_edges, x_edges]
    )[0]
    return Residuals(
        float(away.mean()),
        float(away.std(ddof=1) / np.sqrt(n)),
        floats(np.quantile(away, [0.05, 0.25, 0.5, 0.75, 0.95])),
        histogram_of(away, bins=30),
        _by_prediction(said, away),
        _known(widening.statistic, 0.0),
        _known(widening.pvalue, 1.0),
        floats(x_edges),
        floats(y_edges),
        tuple(tuple(int(each) for each in row) for row in counts.tolist()),
    )


def _edges(values: Floats) -> Floats:
    """Edges between which nearly all values are: the farthest half per cent are in the end cells."""
    low, high = (float(each) for each in np.quantile(values, [0.005, 0.995]))
    if not high > low:
        low, high = float(values.min()), float(values.max())
    if not high > low:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, _CELLS + 1)


def _by_prediction(said: Floats, away: Floats) -> tuple[ResidualBin, ...]:
    """Tenths of the rows by what was predicted."""
    n_bins = max(1, min(_BINS, len(said) // _FEWEST))
    inner = np.unique(np.quantile(said, np.arange(1, n_bins) / n_bins))
    place = np.searchsorted(inner, said, side="right")
    found = []
    for k in range(len(inner) + 1):
        rows = place == k
        if rows.any():
            quantiles = np.quantile(away[rows], [0.1, 0.25, 0.5, 0.75, 0.9])
            found.append(ResidualBin(float(said[rows].mean()), int(rows.sum()), floats(quantiles)))
    return tuple(found)


def _known(value: float, otherwise: float) -> float:
    return float(value) if np.isfinite(value) else otherwise
