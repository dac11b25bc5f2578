"""A random estimator of every kind, with random options that are each valid on their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import weald

Options = Mapping[str, list[Any]]


@dataclass(frozen=True)
class ModelKind:
    """One estimator: what its target is, the options to draw from, and which rules it can be held to."""

    name: str
    #: "labels", "numbers", "grades" (of a ranker) or "none"
    target: str
    options: Options
    make: Callable[..., Any] | None = None
    #: whether tables of ordinary numbers only make sense (distances overflow on others, by nature)
    gentle: bool = False
    weighted: bool = True
    #: whether answers are of the type of a column, as fills are
    typed: bool = False
    #: whether sparse tables are taken
    sparse: bool = True
    #: whether a sparse table gives the model of its dense copy to the byte; machines keep sparse columns
    #: where they are instead of centring them
    sparse_alike: bool = True

    def drawn(self, random: np.random.Generator) -> tuple[Callable[..., Any], dict[str, Any]]:
        """The class, or what stands for it, and parameters: some of the options, others left as they are."""
        chosen = {
            name: values[int(random.integers(len(values)))]
            for name, values in self.options.items()
            if random.random() < 0.4
        }
        if "random_state" in self.options:
            chosen["random_state"] = int(random.integers(1000))
        return self.make or getattr(weald, self.name), chosen


_GROWTH: Options = {
    "max_depth": [1, 2, 5],
    "min_samples_leaf": [2, 0.1],
    "min_samples_split": [3, 0.2],
    "min_weight_fraction_leaf": [0.05],
    "max_features": ["sqrt", 1, 0.5],
    "max_leaf_nodes": [2, 6],
    "min_impurity_decrease": [0.01],
    "ccp_alpha": [0.01],
    "max_bins": [2, 5, 255],
    "random_state": [0],
}
_CLASSES: Options = {
    "criterion": ["gini", "entropy", "misclassification"],
    "class_weight": ["balanced"],
}
_NUMBERS: Options = {"criterion": ["squared_error", "friedman_mse", "absolute_error"]}
_TREE: Options = {"splitter": ["random"], "prune": ["cv", "cv-1se"], "cv": [2]}
_FOREST: Options = {
    "n_estimators": [1, 3, 6],
    "bootstrap": [True, False],
    "leaf_dtype": ["float32", "float64"],
}
_BALANCED: Options = {
    "sampling_strategy": ["all", "not minority", "majority"],
    "correct_prior": [False],
    "random_state": [0],
}
_STAGES: Options = {
    "n_estimators": [1, 4],
    "learning_rate": [0.1, 1.0],
    "subsample": [0.5, 1.0],
    "max_depth": [1, 3],
    "max_leaf_nodes": [4],
    "max_features": ["sqrt", 1],
    "max_bins": [5, 255],
    "random_state": [0],
}
_XGB: Options = {
    "n_estimators": [1, 4],
    "max_depth": [1, 3, 6],
    "learning_rate": [0.1, 1.0],
    "tree_method": ["exact", "hist", "approx"],
    "max_bin": [2, 16, 256],
    "grow_policy": ["depthwise", "lossguide"],
    "max_leaves": [4],
    "subsample": [0.5],
    "colsample_bytree": [0.5],
    "colsample_bynode": [0.5],
    "reg_alpha": [0.5],
    "reg_lambda": [0.0, 5.0],
    "gamma": [0.1],
    "min_child_weight": [0.0, 3.0],
    "max_delta_step": [1.0],
    "num_parallel_tree": [2],
    "booster": ["gbtree", "dart"],
    "base_score": [0.5],
    "random_state": [0],
}
_KERNEL: Options = {
    "C": [0.1, 10.0],
    "kernel": ["linear", "rbf", "poly", "sigmoid", "laplacian"],
    "gamma": ["scale", "auto", 0.5],
    "scale": [True, False],
    "shrinking": [False],
    "max_iter": [200],
}
_LINEAR: Options = {
    "C": [0.1, 10.0],
    "scale": [True, False],
    "fit_intercept": [True, False],
    "max_iter": [300],
    "random_state": [0],
}


_NEIGHBORS: Options = {
    "n_neighbors": [1, 2],
    "weights": ["uniform", "distance"],
    "metric": ["minkowski", "manhattan", "chebyshev", "cosine", "mixed"],
    "p": [1, 1.5, 3],
    "algorithm": ["auto", "brute"],
    "scale": [True, False],
}


def _bagged(base: str) -> Callable[..., Any]:
    def make(**parameters: Any) -> Any:
        member = getattr(weald, f"DecisionTree{base}")(max_depth=3)
        return getattr(weald, f"Bagging{base}")(member, n_estimators=3, **parameters)

    return make


def _easy(**parameters: Any) -> Any:
    return weald.EasyEnsembleClassifier(2, weald.AdaBoostClassifier(n_estimators=2), **parameters)


def _imputer(base: str) -> Callable[..., Any]:
    def make(**parameters: Any) -> Any:
        forest = getattr(weald, f"RandomForest{base}")(n_estimators=5, max_depth=4)
        return weald.ProximityImputer(forest, **parameters)

    return make


def _resampled(**parameters: Any) -> Any:
    sampler = weald.RandomOverSampler(random_state=0)
    return weald.Resampled(weald.DecisionTreeClassifier(max_depth=3), sampler, **parameters)


def _voting(base: str) -> Callable[..., Any]:
    def make(**parameters: Any) -> Any:
        members = [
            ("tree", getattr(weald, f"DecisionTree{base}")(max_depth=2)),
            ("boosted", getattr(weald, f"XGB{base}")(n_estimators=2)),
        ]
        return getattr(weald, f"Voting{base}")(members, **parameters)

    return make


KINDS: tuple[ModelKind, ...] = (
    ModelKind("DecisionTreeClassifier", "labels", {**_GROWTH, **_TREE, **_CLASSES}),
    ModelKind("DecisionTreeRegressor", "numbers", {**_GROWTH, **_TREE, **_NUMBERS}),
    ModelKind("RandomForestClassifier", "labels", {**_GROWTH, **_FOREST, **_CLASSES}),
    ModelKind("RandomForestRegressor", "numbers", {**_GROWTH, **_FOREST, **_NUMBERS}),
    ModelKind("ExtraTreesClassifier", "labels", {**_GROWTH, **_FOREST, **_CLASSES}),
    ModelKind("ExtraTreesRegressor", "numbers", {**_GROWTH, **_FOREST, **_NUMBERS}),
    ModelKind(
        "BaggingClassifier",
        "labels",
        {"bootstrap": [False], "max_samples": [0.5], "max_features": [0.5], "random_state": [0]},
        make=_bagged("Classifier"),
    ),
    ModelKind(
        "BaggingRegressor",
        "numbers",
        {"bootstrap": [False], "max_samples": [0.5], "max_features": [0.5], "random_state": [0]},
        make=_bagged("Regressor"),
    ),
    ModelKind(
        "BalancedRandomForestClassifier",
        "labels",
        {**_GROWTH, **_FOREST, **_CLASSES, **_BALANCED, "replacement": [True, False]},
    ),
    ModelKind(
        "BalancedBaggingClassifier",
        "labels",
        {"n_estimators": [1, 3], "bootstrap": [False], "max_samples": [0.5], **_BALANCED},
    ),
    ModelKind("EasyEnsembleClassifier", "labels", _BALANCED, make=_easy),
    ModelKind("RUSBoostClassifier", "labels", {"n_estimators": [1, 5], "learning_rate": [0.5], **_BALANCED}),
    ModelKind("VotingClassifier", "labels", {"voting": ["hard", "soft"]}, make=_voting("Classifier")),
    ModelKind("VotingRegressor", "numbers", {"weights": [[1.0, 3.0]]}, make=_voting("Regressor")),
    ModelKind(
        "Resampled",
        "labels",
        {"correct_prior": [True, False], "decide": ["resampled", "corrected"]},
        make=_resampled,
    ),
    ModelKind(
        "AdaBoostClassifier",
        "labels",
        {"n_estimators": [1, 5], "learning_rate": [0.5], "random_state": [0]},
    ),
    ModelKind(
        "AdaBoostRegressor",
        "numbers",
        {"n_estimators": [1, 5], "loss": ["linear", "square", "exponential"], "random_state": [0]},
    ),
    ModelKind("GradientBoostingClassifier", "labels", {**_STAGES, "loss": ["log_loss"]}),
    ModelKind(
        "GradientBoostingRegressor",
        "numbers",
        {**_STAGES, "loss": ["squared_error", "absolute_error", "huber", "quantile"]},
    ),
    ModelKind("XGBClassifier", "labels", _XGB),
    ModelKind(
        "XGBRegressor",
        "numbers",
        {**_XGB, "objective": ["reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror"]},
    ),
    ModelKind("XGBRFClassifier", "labels", {"n_estimators": [1, 4], "max_depth": [2], "random_state": [0]}),
    ModelKind("XGBRFRegressor", "numbers", {"n_estimators": [1, 4], "max_depth": [2], "random_state": [0]}),
    ModelKind("XGBRanker", "grades", {**_XGB, "objective": ["rank:ndcg", "rank:pairwise"]}, weighted=False),
    ModelKind("SVC", "labels", {**_KERNEL, "class_weight": ["balanced"]}, gentle=True, sparse_alike=False),
    ModelKind("SVR", "numbers", {**_KERNEL, "epsilon": [0.01, 1.0]}, gentle=True, sparse_alike=False),
    ModelKind(
        "LinearSVC",
        "labels",
        {**_LINEAR, "loss": ["hinge", "squared_hinge"], "class_weight": ["balanced"]},
        gentle=True,
        sparse_alike=False,
    ),
    ModelKind(
        "LinearSVR",
        "numbers",
        {**_LINEAR, "loss": ["epsilon_insensitive"], "epsilon": [0.1]},
        gentle=True,
        sparse_alike=False,
    ),
    ModelKind("KNeighborsClassifier", "labels", _NEIGHBORS, gentle=True, weighted=False, sparse_alike=False),
    ModelKind("KNeighborsRegressor", "numbers", _NEIGHBORS, gentle=True, weighted=False, sparse_alike=False),
    ModelKind(
        "LogisticRegression",
        "labels",
        {
            "C": [0.1, 1.0, 10.0],
            "l1_ratio": [0.0, 0.5, 1.0],
            "scale": [True, False],
            "multi_class": ["multinomial", "ovr"],
            "class_weight": ["balanced"],
        },
        gentle=True,
        sparse_alike=False,
    ),
    ModelKind(
        "Landmarks",
        "none",
        {"n_landmarks": [2, 5], "kernel": ["rbf", "linear"], "scale": [True, False], "random_state": [0]},
        gentle=True,
        sparse_alike=False,
        weighted=False,
    ),
    ModelKind(
        "ProximityImputer",
        "labels",
        {"max_iter": [1, 3], "random_state": [0]},
        make=_imputer("Classifier"),
        weighted=False,
        sparse=False,
        typed=True,
    ),
    ModelKind(
        "ProximityImputer",
        "numbers",
        {"max_iter": [1, 3], "random_state": [0]},
        make=_imputer("Regressor"),
        weighted=False,
        sparse=False,
        typed=True,
    ),
)
