"""Callbacks of boosting under xgboost's names: `weald.callback.EarlyStopping` and its kin."""

from __future__ import annotations

from weald.boosting.callbacks import LearningRateScheduler, TrainingCallback
from weald.boosting.monitors import EvaluationMonitor, TrainingCheckPoint
from weald.boosting.stopping import EarlyStopping

__all__ = [
    "EarlyStopping",
    "EvaluationMonitor",
    "LearningRateScheduler",
    "TrainingCallback",
    "TrainingCheckPoint",
]
