"""How good predictions are: xgboost's metrics, each with row weights.

Every function takes predictions after the link, (n_rows,) or (n_rows, n_outputs), and gives one number with
xgboost's meaning, its clipping constants included. Areas under curves are in `areas`; the names users write,
in `metric_names`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.boosting.records import BoostTarget
from weald.errors import DataError

#: the smallest probability, or expected count, whose logarithm is taken
SMALLEST = 1e-16
#: what keeps gamma's logarithms and ratios finite
GAMMA_SMALLEST = 1e-6


def rmse(predictions: Floats, target: BoostTarget) -> float:
    """Root of the mean squared error."""
    p, y = _pairs("rmse", predictions, target)
    return float(np.sqrt(_mean(np.square(y - p), target.weight)))


def rmsle(predictions: Floats, target: BoostTarget) -> float:
    """Root of the mean squared error of log(1 + ·); NaN where a prediction is below −1."""
    p, y = _pairs("rmsle", predictions, target)
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(np.sqrt(_mean(np.square(np.log1p(y) - np.log1p(p)), target.weight)))


def mae(predictions: Floats, target: BoostTarget) -> float:
    """Mean absolute error."""
    p, y = _pairs("mae", predictions, target)
    return _mean(np.abs(y - p), target.weight)


def mape(predictions: Floats, target: BoostTarget) -> float:
    """Mean absolute error as a share of the target; infinite where a target is 0."""
    p, y = _pairs("mape", predictions, target)
    with np.errstate(invalid="ignore", divide="ignore"):
        return _mean(np.abs((y - p) / y), target.weight)


def mphe(predictions: Floats, target: BoostTarget, *, slope: float = 1.0) -> float:
    """Mean pseudo-Huber error: squares below the slope, absolute values far above it."""
    p, y = _pairs("mphe", predictions, target)
    return _mean(slope**2 * (np.sqrt(1.0 + np.square((y - p) / slope)) - 1.0), target.weight)


def logloss(predictions: Floats, target: BoostTarget) -> float:
    """Mean negative log-likelihood of a probability; targets may lie between 0 and 1."""
    p, y = _pairs("logloss", predictions, target)
    positive = y == 1.0
    if bool(np.all(positive | (y == 0.0))):  # one logarithm per row, not two
        return _mean(-np.log(np.maximum(np.where(positive, p, 1.0 - p), SMALLEST)), target.weight)
    of_one, of_zero = np.log(np.maximum(p, SMALLEST)), np.log(np.maximum(1.0 - p, SMALLEST))
    return _mean(-(y * of_one + (1.0 - y) * of_zero), target.weight)


def error(predictions: Floats, target: BoostTarget, *, threshold: float = 0.5) -> float:
    """Share of rows on the wrong side of the threshold; a prediction equal to it counts as 0."""
    p, y = _pairs("error", predictions, target)
    return _mean(np.where(p > threshold, 1.0 - y, y), target.weight)


def merror(predictions: Floats, target: BoostTarget) -> float:
    """Share of rows whose likeliest class is the wrong one; of equal classes the first counts."""
    p, label = _classes("merror", predictions, target)
    return _mean((np.argmax(p, axis=1) != label).astype(np.float64), target.weight)


def mlogloss(predictions: Floats, target: BoostTarget) -> float:
    """Mean negative log-likelihood of the row's own class."""
    p, label = _classes("mlogloss", predictions, target)
    return _mean(-np.log(np.maximum(p[np.arange(len(p)), label], SMALLEST)), target.weight)


def poisson_nloglik(predictions: Floats, target: BoostTarget) -> float:
    """Mean negative log-likelihood of counts."""
    from scipy.special import gammaln  # costs as much to import as the rest of weald

    p, y = _pairs("poisson-nloglik", predictions, target)
    p = np.maximum(p, SMALLEST)
    return _mean(gammaln(y + 1.0) + p - y * np.log(p), target.weight)


def gamma_nloglik(predictions: Floats, target: BoostTarget) -> float:
    """Mean negative log-likelihood of a gamma distribution with dispersion 1."""
    p, y = _pairs("gamma-nloglik", predictions, target)
    p = np.maximum(p, GAMMA_SMALLEST)
    return _mean(y / p + np.log(p), target.weight)


def gamma_deviance(predictions: Floats, target: BoostTarget) -> float:
    """Mean deviance of a gamma distribution."""
    p, y = _pairs("gamma-deviance", predictions, target)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = (y + GAMMA_SMALLEST) / (p + GAMMA_SMALLEST)
        return 2.0 * _mean(ratio - np.log(ratio) - 1.0, target.weight)


def tweedie_nloglik(predictions: Floats, target: BoostTarget, *, power: float = 1.5) -> float:
    """Mean negative log-likelihood of a Tweedie distribution, up to what the prediction does not change."""
    p, y = _pairs("tweedie-nloglik", predictions, target)
    with np.errstate(invalid="ignore", divide="ignore"):
        loss = p ** (2.0 - power) / (2.0 - power) - y * p ** (1.0 - power) / (1.0 - power)
        return _mean(loss, target.weight)


def quantile(predictions: Floats, target: BoostTarget, *, alphas: Sequence[float]) -> float:
    """Mean pinball loss over rows and quantiles: output j predicts the quantile `alphas[j]`."""
    p = predictions.reshape(len(predictions), -1)
    alpha = np.asarray(alphas, dtype=np.float64)
    y = target.values.reshape(len(p), -1)
    if p.shape[1] != len(alpha) or y.shape[1] != 1:
        raise DataError(
            f"`quantile` needs one target and {len(alpha)} predictions per row, one for each `quantile_alpha`"
            f"; got {y.shape[1]} and {p.shape[1]}."
        )
    above = y - p
    return _mean(np.where(above >= 0.0, alpha * above, (alpha - 1.0) * above), target.weight)


def _pairs(name: str, predictions: Floats, target: BoostTarget) -> tuple[Floats, Floats]:
    """Predictions and target cell by cell: one column for each target."""
    p, y = (a.reshape(-1) if a.size == len(a) else a for a in (predictions, target.values))
    if p.shape != y.shape:
        raise DataError(
            f"`{name}` compares one prediction with each target; the predictions have shape {p.shape} and "
            f"the target {y.shape}. Use 'mlogloss' for several classes, 'quantile' for quantiles."
        )
    return p, y


def _classes(name: str, predictions: Floats, target: BoostTarget) -> tuple[Floats, NDArray[np.int64]]:
    """One probability a class, and the number of each row's class."""
    if predictions.ndim != 2 or target.values.size != len(predictions):
        raise DataError(
            f"`{name}` needs one prediction for each class; the predictions have shape {predictions.shape} "
            f"and the target {target.values.shape}. For two classes use '{name[1:]}'."
        )
    return predictions, target.values.reshape(-1).astype(np.int64)


def _mean(loss: Floats, weight: Floats | None) -> float:
    """The weighted mean over rows, and over columns if there are any; NaN if nothing has weight.

    Sums are NumPy's own, never BLAS's, whose order depends on its threads: early stopping reads these
    numbers.
    """
    if weight is None:
        return float(np.mean(loss)) if loss.size else float("nan")
    n_columns = 1
    if loss.ndim == 2:
        n_columns = loss.shape[1]
        loss = np.sum(loss, axis=1)
    total = float(np.sum(weight))
    if not total > 0.0:
        return float("nan")
    with np.errstate(invalid="ignore"):  # 0 · inf: rows of weight 0 are absent, whatever their loss
        products = loss * weight
    mean = float(np.sum(products)) / total / n_columns
    return mean if np.isfinite(mean) else float(np.sum(products[weight > 0.0])) / total / n_columns
