"""weald: supervised learning on tables, the whole classical line on one engine.

Names are imported when first used, so that `import weald` costs little and loads no frame library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from weald import errors

if TYPE_CHECKING:
    from weald import callback, kernels, report
    from weald.boosting.callbacks import LearningRateScheduler, TrainingCallback
    from weald.boosting.stopping import EarlyStopping
    from weald.data.files.libsvm import read_libsvm
    from weald.data.files.reading import read
    from weald.data.scanning.scan import scan
    from weald.data.sketch import QuantileSketch
    from weald.estimators.adaboost.classifier import AdaBoostClassifier
    from weald.estimators.adaboost.regressor import AdaBoostRegressor
    from weald.estimators.bagging.bagging import BaggingClassifier, BaggingRegressor
    from weald.estimators.balanced.bagging import BalancedBaggingClassifier
    from weald.estimators.balanced.boosting import RUSBoostClassifier
    from weald.estimators.balanced.easy_ensemble import EasyEnsembleClassifier
    from weald.estimators.balanced.forest import BalancedRandomForestClassifier
    from weald.estimators.conformal.conformal import Conformal
    from weald.estimators.forest.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
    from weald.estimators.forest.random_forest import RandomForestClassifier, RandomForestRegressor
    from weald.estimators.gradient_boosting.classifier import GradientBoostingClassifier
    from weald.estimators.gradient_boosting.regressor import GradientBoostingRegressor
    from weald.estimators.impute.proximity import ProximityImputer
    from weald.estimators.logistic.regression import LogisticRegression
    from weald.estimators.neighbors.classifier import KNeighborsClassifier
    from weald.estimators.neighbors.regressor import KNeighborsRegressor
    from weald.estimators.resampling.cleaning import EditedNearestNeighbours, NearMiss, TomekLinks
    from weald.estimators.resampling.combined import SMOTEENN, SMOTETomek
    from weald.estimators.resampling.focused import ADASYN, BorderlineSMOTE
    from weald.estimators.resampling.random_samplers import RandomOverSampler, RandomUnderSampler
    from weald.estimators.resampling.resampled import Resampled
    from weald.estimators.resampling.smote import SMOTE, SMOTEN, SMOTENC
    from weald.estimators.svm.kernel.svc import SVC
    from weald.estimators.svm.kernel.svr import SVR
    from weald.estimators.svm.landmarks.landmarks import Landmarks
    from weald.estimators.svm.linear.svc import LinearSVC
    from weald.estimators.svm.linear.svr import LinearSVR
    from weald.estimators.thresholds.thresholded import Thresholded
    from weald.estimators.tree.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
    from weald.estimators.voting.voting import VotingClassifier, VotingRegressor
    from weald.estimators.xgboost.batches import DataIter
    from weald.estimators.xgboost.classifier import XGBClassifier
    from weald.estimators.xgboost.forest import XGBRFClassifier, XGBRFRegressor
    from weald.estimators.xgboost.model import XGBModel
    from weald.estimators.xgboost.native.booster import Booster
    from weald.estimators.xgboost.native.graphviz import to_graphviz
    from weald.estimators.xgboost.native.matrix import DMatrix
    from weald.estimators.xgboost.native.quantile_matrix import ExtMemQuantileDMatrix, QuantileDMatrix
    from weald.estimators.xgboost.native.train import cv, train
    from weald.estimators.xgboost.ranker import XGBRanker
    from weald.estimators.xgboost.regressor import XGBRegressor
    from weald.insight.changes.counterfactual import counterfactual
    from weald.insight.changes.nearest import nearest_like
    from weald.insight.columns.importance import importance
    from weald.insight.columns.selection import select_columns
    from weald.insight.columns.selector import ColumnSelector
    from weald.insight.dependence.displays import (
        AccumulatedLocalEffectsDisplay,
        FriedmanHDisplay,
        PartialDependenceDisplay,
    )
    from weald.insight.dependence.effects import accumulated_local_effects
    from weald.insight.dependence.interaction import friedman_h
    from weald.insight.dependence.partial import partial_dependence
    from weald.insight.explaining.explain import explain
    from weald.insight.explaining.explanation import Explanation
    from weald.insight.trace import trace
    from weald.io.model_file import load
    from weald.pictures.bands import CalibrationBandDisplay, PrecisionRecallBandDisplay, RocBandDisplay
    from weald.pictures.curves.adaboost import plot_rounds, plot_say
    from weald.pictures.curves.boosting import plot_shrinkage, plot_subsampling
    from weald.pictures.curves.kernel_map import plot_kernel_map
    from weald.pictures.curves.learning import plot_learning_curve
    from weald.pictures.curves.losses import plot_losses
    from weald.pictures.curves.resamples import plot_resamples
    from weald.pictures.curves.similarity import plot_similarity
    from weald.pictures.drawing import plot_tree
    from weald.pictures.ensembles.importance import plot_importance
    from weald.pictures.explanations.bars import plot_bar
    from weald.pictures.explanations.beeswarm import plot_beeswarm
    from weald.pictures.explanations.interactions import plot_interactions
    from weald.pictures.explanations.scatter import plot_shap_scatter
    from weald.pictures.explanations.waterfall import plot_waterfall
    from weald.pictures.graphviz import export_graphviz
    from weald.pictures.margin import plot_margin
    from weald.pictures.text import export_text
    from weald.rows.paged.store import open_store
    from weald.runs.comparing import compare
    from weald.runs.plan import plan
    from weald.svm.kernels.mercer import MercerReport, check_mercer
    from weald.theory import forest_bound, logit, majority_vote_error, odds, sigmoid, variance_of_average
    from weald.uncertainty.bootstrap.bootstrap import bootstrap
    from weald.uncertainty.bootstrap.leave_out import jackknife
    from weald.uncertainty.scores.bands import precision_recall_band, roc_band
    from weald.uncertainty.scores.calibration import calibration_band
    from weald.uncertainty.scores.compare import compare_scores, fold_t_test
    from weald.uncertainty.scores.score_interval import score_interval

__version__ = "0.1.0"

__all__ = [
    "ADASYN",
    "SMOTE",
    "SMOTEENN",
    "SMOTEN",
    "SMOTENC",
    "SVC",
    "SVR",
    "AccumulatedLocalEffectsDisplay",
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "BalancedBaggingClassifier",
    "BalancedRandomForestClassifier",
    "Booster",
    "BorderlineSMOTE",
    "CalibrationBandDisplay",
    "ColumnSelector",
    "Conformal",
    "DMatrix",
    "DataIter",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "EarlyStopping",
    "EasyEnsembleClassifier",
    "EditedNearestNeighbours",
    "Explanation",
    "ExtMemQuantileDMatrix",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "FriedmanHDisplay",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "Landmarks",
    "LearningRateScheduler",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "MercerReport",
    "NearMiss",
    "PartialDependenceDisplay",
    "PrecisionRecallBandDisplay",
    "ProximityImputer",
    "QuantileDMatrix",
    "QuantileSketch",
    "RUSBoostClassifier",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomOverSampler",
    "RandomUnderSampler",
    "Resampled",
    "RocBandDisplay",
    "SMOTETomek",
    "Thresholded",
    "TomekLinks",
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
    "accumulated_local_effects",
    "bootstrap",
    "calibration_band",
    "callback",
    "check_mercer",
    "compare",
    "compare_scores",
    "counterfactual",
    "cv",
    "errors",
    "explain",
    "export_graphviz",
    "export_text",
    "fold_t_test",
    "forest_bound",
    "friedman_h",
    "importance",
    "jackknife",
    "kernels",
    "load",
    "logit",
    "majority_vote_error",
    "nearest_like",
    "odds",
    "open_store",
    "partial_dependence",
    "plan",
    "plot_bar",
    "plot_beeswarm",
    "plot_importance",
    "plot_interactions",
    "plot_kernel_map",
    "plot_learning_curve",
    "plot_losses",
    "plot_margin",
    "plot_resamples",
    "plot_rounds",
    "plot_say",
    "plot_shap_scatter",
    "plot_shrinkage",
    "plot_similarity",
    "plot_subsampling",
    "plot_tree",
    "plot_waterfall",
    "precision_recall_band",
    "read",
    "read_libsvm",
    "report",
    "roc_band",
    "scan",
    "score_interval",
    "select_columns",
    "sigmoid",
    "to_graphviz",
    "trace",
    "train",
    "variance_of_average",
]

_HOME = {
    "ADASYN": "weald.estimators.resampling.focused",
    "SMOTE": "weald.estimators.resampling.smote",
    "SMOTEENN": "weald.estimators.resampling.combined",
    "SMOTEN": "weald.estimators.resampling.smote",
    "SMOTENC": "weald.estimators.resampling.smote",
    "SVC": "weald.estimators.svm.kernel.svc",
    "SVR": "weald.estimators.svm.kernel.svr",
    "AccumulatedLocalEffectsDisplay": "weald.insight.dependence.displays",
    "AdaBoostClassifier": "weald.estimators.adaboost.classifier",
    "AdaBoostRegressor": "weald.estimators.adaboost.regressor",
    "BaggingClassifier": "weald.estimators.bagging.bagging",
    "BaggingRegressor": "weald.estimators.bagging.bagging",
    "BalancedBaggingClassifier": "weald.estimators.balanced.bagging",
    "BalancedRandomForestClassifier": "weald.estimators.balanced.forest",
    "Booster": "weald.estimators.xgboost.native.booster",
    "BorderlineSMOTE": "weald.estimators.resampling.focused",
    "CalibrationBandDisplay": "weald.pictures.bands",
    "ColumnSelector": "weald.insight.columns.selector",
    "Conformal": "weald.estimators.conformal.conformal",
    "DMatrix": "weald.estimators.xgboost.native.matrix",
    "DataIter": "weald.estimators.xgboost.batches",
    "DecisionTreeClassifier": "weald.estimators.tree.decision_tree",
    "DecisionTreeRegressor": "weald.estimators.tree.decision_tree",
    "EarlyStopping": "weald.boosting.stopping",
    "EasyEnsembleClassifier": "weald.estimators.balanced.easy_ensemble",
    "EditedNearestNeighbours": "weald.estimators.resampling.cleaning",
    "Explanation": "weald.insight.explaining.explanation",
    "ExtMemQuantileDMatrix": "weald.estimators.xgboost.native.quantile_matrix",
    "ExtraTreesClassifier": "weald.estimators.forest.extra_trees",
    "ExtraTreesRegressor": "weald.estimators.forest.extra_trees",
    "FriedmanHDisplay": "weald.insight.dependence.displays",
    "GradientBoostingClassifier": "weald.estimators.gradient_boosting.classifier",
    "GradientBoostingRegressor": "weald.estimators.gradient_boosting.regressor",
    "KNeighborsClassifier": "weald.estimators.neighbors.classifier",
    "KNeighborsRegressor": "weald.estimators.neighbors.regressor",
    "Landmarks": "weald.estimators.svm.landmarks.landmarks",
    "LearningRateScheduler": "weald.boosting.callbacks",
    "LinearSVC": "weald.estimators.svm.linear.svc",
    "LinearSVR": "weald.estimators.svm.linear.svr",
    "LogisticRegression": "weald.estimators.logistic.regression",
    "MercerReport": "weald.svm.kernels.mercer",
    "NearMiss": "weald.estimators.resampling.cleaning",
    "PartialDependenceDisplay": "weald.insight.dependence.displays",
    "PrecisionRecallBandDisplay": "weald.pictures.bands",
    "ProximityImputer": "weald.estimators.impute.proximity",
    "QuantileDMatrix": "weald.estimators.xgboost.native.quantile_matrix",
    "QuantileSketch": "weald.data.sketch",
    "RUSBoostClassifier": "weald.estimators.balanced.boosting",
    "RandomForestClassifier": "weald.estimators.forest.random_forest",
    "RandomForestRegressor": "weald.estimators.forest.random_forest",
    "RandomOverSampler": "weald.estimators.resampling.random_samplers",
    "RandomUnderSampler": "weald.estimators.resampling.random_samplers",
    "Resampled": "weald.estimators.resampling.resampled",
    "RocBandDisplay": "weald.pictures.bands",
    "SMOTETomek": "weald.estimators.resampling.combined",
    "Thresholded": "weald.estimators.thresholds.thresholded",
    "TomekLinks": "weald.estimators.resampling.cleaning",
    "TrainingCallback": "weald.boosting.callbacks",
    "VotingClassifier": "weald.estimators.voting.voting",
    "VotingRegressor": "weald.estimators.voting.voting",
    "XGBClassifier": "weald.estimators.xgboost.classifier",
    "XGBModel": "weald.estimators.xgboost.model",
    "XGBRFClassifier": "weald.estimators.xgboost.forest",
    "XGBRFRegressor": "weald.estimators.xgboost.forest",
    "XGBRanker": "weald.estimators.xgboost.ranker",
    "XGBRegressor": "weald.estimators.xgboost.regressor",
    "accumulated_local_effects": "weald.insight.dependence.effects",
    "bootstrap": "weald.uncertainty.bootstrap.bootstrap",
    "calibration_band": "weald.uncertainty.scores.calibration",
    "check_mercer": "weald.svm.kernels.mercer",
    "compare": "weald.runs.comparing",
    "compare_scores": "weald.uncertainty.scores.compare",
    "counterfactual": "weald.insight.changes.counterfactual",
    "cv": "weald.estimators.xgboost.native.train",
    "explain": "weald.insight.explaining.explain",
    "export_graphviz": "weald.pictures.graphviz",
    "export_text": "weald.pictures.text",
    "fold_t_test": "weald.uncertainty.scores.compare",
    "forest_bound": "weald.theory",
    "friedman_h": "weald.insight.dependence.interaction",
    "importance": "weald.insight.columns.importance",
    "jackknife": "weald.uncertainty.bootstrap.leave_out",
    "load": "weald.io.model_file",
    "logit": "weald.theory",
    "majority_vote_error": "weald.theory",
    "nearest_like": "weald.insight.changes.nearest",
    "odds": "weald.theory",
    "partial_dependence": "weald.insight.dependence.partial",
    "plot_bar": "weald.pictures.explanations.bars",
    "plot_beeswarm": "weald.pictures.explanations.beeswarm",
    "plot_importance": "weald.pictures.ensembles.importance",
    "plot_interactions": "weald.pictures.explanations.interactions",
    "plot_kernel_map": "weald.pictures.curves.kernel_map",
    "plot_learning_curve": "weald.pictures.curves.learning",
    "plot_losses": "weald.pictures.curves.losses",
    "plot_margin": "weald.pictures.margin",
    "plot_resamples": "weald.pictures.curves.resamples",
    "plot_rounds": "weald.pictures.curves.adaboost",
    "plot_say": "weald.pictures.curves.adaboost",
    "plot_shap_scatter": "weald.pictures.explanations.scatter",
    "plot_shrinkage": "weald.pictures.curves.boosting",
    "plot_similarity": "weald.pictures.curves.similarity",
    "plot_subsampling": "weald.pictures.curves.boosting",
    "plot_tree": "weald.pictures.drawing",
    "plot_waterfall": "weald.pictures.explanations.waterfall",
    "open_store": "weald.rows.paged.store",
    "plan": "weald.runs.plan",
    "precision_recall_band": "weald.uncertainty.scores.bands",
    "read": "weald.data.files.reading",
    "read_libsvm": "weald.data.files.libsvm",
    "roc_band": "weald.uncertainty.scores.bands",
    "scan": "weald.data.scanning.scan",
    "score_interval": "weald.uncertainty.scores.score_interval",
    "select_columns": "weald.insight.columns.selection",
    "sigmoid": "weald.theory",
    "to_graphviz": "weald.estimators.xgboost.native.graphviz",
    "trace": "weald.insight.trace",
    "train": "weald.estimators.xgboost.native.train",
    "variance_of_average": "weald.theory",
}

#: modules of public names
_MODULES = ("callback", "kernels", "report")


def __getattr__(name: str) -> Any:
    """Import a public name on its first use."""
    if name in _MODULES:
        return import_module(f"weald.{name}")
    if name not in _HOME:
        close = errors.nearest(name, __all__)
        hint = f" Did you mean {close!r}?" if close else ""
        raise AttributeError(f"module 'weald' has no attribute {errors.told(name)}.{hint}", name=name)
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return sorted({*globals(), *__all__})
