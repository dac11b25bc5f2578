"""What is no model of trees itself, but stands around one: how to trace that."""

from __future__ import annotations

from weald.estimators.conformal.conformal import Conformal
from weald.estimators.resampling.resampled import Resampled
from weald.estimators.thresholds.thresholded import Thresholded
from weald.estimators.xgboost.native.booster import Booster


def way_out(model: object) -> str:
    """What to call instead, in a sentence; "" where there is nothing to say."""
    if isinstance(model, Booster):
        return (
            "Fit an XGBRegressor, XGBClassifier or XGBRanker with the same parameters: it is the same model."
        )
    if isinstance(model, Thresholded):
        return "The threshold stands around a model: weald.trace(model.estimator_, X, y)."
    if isinstance(model, Conformal):
        return _of_conformal(model)
    if isinstance(model, Resampled):
        return (
            "Its estimator learned from rows that the sampler made: rows, labels = "
            "model.sampler.fit_resample(X, y), then weald.trace(model.estimator_, rows, labels). The sampler "
            "makes the same rows again if its random_state is a whole number."
        )
    if hasattr(model, "steps"):
        return "Of a pipeline trace the last step: weald.trace(model[-1], model[:-1].transform(X), y)."
    for name in ("best_estimator_", "estimator_"):
        if hasattr(model, name):
            return f"Trace the estimator that it was made of: weald.trace(model.{name}, X, y)."
    if hasattr(model, "estimators_"):
        return "Trace one of its `estimators_`, with the rows that it was fitted on."
    return "It has no trees." if hasattr(model, "predict") else ""


def _of_conformal(model: Conformal) -> str:
    """By whether rows were held out of the estimator."""
    if model.method in ("split", "cqr"):
        return (
            "The model in it learned from the rows that do not calibrate: rows = "
            "numpy.setdiff1d(numpy.arange(len(y)), model.calibration_rows_), then "
            "weald.trace(model.estimator_, X[rows], y[rows])."
        )
    return "The model in it learned from all rows: weald.trace(model.estimator_, X, y)."
