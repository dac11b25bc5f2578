"""weald: supervised learning on tables, the whole classical line on one engine.

Names are imported when first used, so that `import weald` costs little and loads no frame library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from weald import errors

if TYPE_CHECKING:
    from weald import callback, kernels
    from weald.boosting.callbacks import LearningRateScheduler, TrainingCallback
    from weald.boosting.stopping import EarlyStopping
    from weald.boosting.train import cv, train
    from weald.estimators.adaboost_classifier import AdaBoostClassifier
    from weald.estimators.adaboost_regressor import AdaBoostRegressor
    from weald.estimators.bagging import BaggingClassifier, BaggingRegressor
    from weald.estimators.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
    from weald.estimators.gradient_boosting_classifier import GradientBoostingClassifier
    from weald.estimators.gradient_boosting_regressor import GradientBoostingRegressor
    from weald.estimators.landmarks import Landmarks
    from weald.estimators.linear_svc import LinearSVC
    from weald.estimators.linear_svr import LinearSVR
    from weald.estimators.random_forest import RandomForestClassifier, RandomForestRegressor
    from weald.estimators.svc import SVC
    from weald.estimators.svr import SVR
    from weald.estimators.tree import DecisionTreeClassifier, DecisionTreeRegressor
    from weald.estimators.voting import VotingClassifier, VotingRegressor
    from weald.estimators.xgboost_batches import DataIter
    from weald.estimators.xgboost_booster import Booster
    from weald.estimators.xgboost_classifier import XGBClassifier
    from weald.estimators.xgboost_forest import XGBRFClassifier, XGBRFRegressor
    from weald.estimators.xgboost_matrix import DMatrix, ExtMemQuantileDMatrix, QuantileDMatrix
    from weald.estimators.xgboost_model import XGBModel
    from weald.estimators.xgboost_ranker import XGBRanker
    from weald.estimators.xgboost_regressor import XGBRegressor
    from weald.impute.proximity import ProximityImputer
    from weald.io.model_file import load
    from weald.pictures.drawing import plot_tree
    from weald.pictures.graphviz import export_graphviz
    from weald.pictures.margin import plot_margin
    from weald.pictures.text import export_text
    from weald.svm.mercer import MercerReport, check_mercer
    from weald.theory import forest_bound, logit, majority_vote_error, odds, sigmoid, variance_of_average

__version__ = "0.1.0"

__all__ = [
    "SVC",
    "SVR",
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "Booster",
    "DMatrix",
    "DataIter",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "EarlyStopping",
    "ExtMemQuantileDMatrix",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "Landmarks",
    "LearningRateScheduler",
    "LinearSVC",
    "LinearSVR",
    "MercerReport",
    "ProximityImputer",
    "QuantileDMatrix",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "TrainingCallback",
    "VotingClassifier",
    "VotingRegressor",
    "XGBClassifier",
    "XGBModel",
    "XGBRFClassifier",
    "XGBRFRegressor",
    "XGBRanker",
    "XGBRegressor",
    "__version__",
    "callback",
    "check_mercer",
    "cv",
    "errors",
    "export_graphviz",
    "export_text",
    "forest_bound",
    "kernels",
    "load",
    "logit",
    "majority_vote_error",
    "odds",
    "plot_margin",
    "plot_tree",
    "sigmoid",
    "train",
    "variance_of_average",
]

_HOME = {
    "AdaBoostClassifier": "weald.estimators.adaboost_classifier",
    "AdaBoostRegressor": "weald.estimators.adaboost_regressor",
    "BaggingClassifier": "weald.estimators.bagging",
    "BaggingRegressor": "weald.estimators.bagging",
    "Booster": "weald.estimators.xgboost_booster",
    "DMatrix": "weald.estimators.xgboost_matrix",
    "DataIter": "weald.estimators.xgboost_batches",
    "DecisionTreeClassifier": "weald.estimators.tree",
    "DecisionTreeRegressor": "weald.estimators.tree",
    "EarlyStopping": "weald.boosting.stopping",
    "ExtMemQuantileDMatrix": "weald.estimators.xgboost_matrix",
    "ExtraTreesClassifier": "weald.estimators.extra_trees",
    "ExtraTreesRegressor": "weald.estimators.extra_trees",
    "GradientBoostingClassifier": "weald.estimators.gradient_boosting_classifier",
    "GradientBoostingRegressor": "weald.estimators.gradient_boosting_regressor",
    "Landmarks": "weald.estimators.landmarks",
    "LearningRateScheduler": "weald.boosting.callbacks",
    "MercerReport": "weald.svm.mercer",
    "LinearSVC": "weald.estimators.linear_svc",
    "LinearSVR": "weald.estimators.linear_svr",
    "ProximityImputer": "weald.impute.proximity",
    "QuantileDMatrix": "weald.estimators.xgboost_matrix",
    "RandomForestClassifier": "weald.estimators.random_forest",
    "RandomForestRegressor": "weald.estimators.random_forest",
    "SVC": "weald.estimators.svc",
    "SVR": "weald.estimators.svr",
    "TrainingCallback": "weald.boosting.callbacks",
    "VotingClassifier": "weald.estimators.voting",
    "VotingRegressor": "weald.estimators.voting",
    "XGBClassifier": "weald.estimators.xgboost_classifier",
    "XGBModel": "weald.estimators.xgboost_model",
    "XGBRFClassifier": "weald.estimators.xgboost_forest",
    "XGBRFRegressor": "weald.estimators.xgboost_forest",
    "XGBRanker": "weald.estimators.xgboost_ranker",
    "XGBRegressor": "weald.estimators.xgboost_regressor",
    "check_mercer": "weald.svm.mercer",
    "cv": "weald.boosting.train",
    "export_graphviz": "weald.pictures.graphviz",
    "export_text": "weald.pictures.text",
    "forest_bound": "weald.theory",
    "load": "weald.io.model_file",
    "logit": "weald.theory",
    "majority_vote_error": "weald.theory",
    "odds": "weald.theory",
    "plot_margin": "weald.pictures.margin",
    "plot_tree": "weald.pictures.drawing",
    "sigmoid": "weald.theory",
    "train": "weald.boosting.train",
    "variance_of_average": "weald.theory",
}

#: modules of public names
_MODULES = ("callback", "kernels")

#: what xgboost has under these names: name → the way out
_ELSEWHERE = {
    "plot_importance": "Plot `feature_importances_` of the fitted model, with `feature_names_in_`.",
}


def __getattr__(name: str) -> Any:
    """Import a public name on its first use."""
    if name in _MODULES:
        return import_module(f"weald.{name}")
    if name not in _HOME:
        close = errors.nearest(name, __all__)
        hint = f" Did you mean {close!r}?" if close else ""
        hint = f" {_ELSEWHERE[name]}" if name in _ELSEWHERE else hint
        raise AttributeError(f"module 'weald' has no attribute {errors.told(name)}.{hint}", name=name)
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return sorted({*globals(), *__all__})
