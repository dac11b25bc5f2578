"""The boosting libraries behind one door: one `Setting` becomes each library's own parameters.

LightGBM runs through `train` on a Dataset that is constructed under the clock, the others through their
scikit-learn classes, which bin inside `fit`. Every library is told the same regularisation; what has no twin
(least rows of a leaf, LightGBM's smoothing of categories) is given with the rest, so that it is printed.
CatBoost takes part at its own defaults only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Parameters: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """What is asked of every library. Exactly one of `max_leaves` and `max_depth` limits a tree."""

    max_leaves: int = 0
    max_depth: int = 0
    rounds: int = 100
    learning_rate: float = 0.1
    reg_lambda: float = 1.0
    min_child_weight: float = 1.0
    max_bin: int = 255
    tree_method: str | None = "hist"
    task: str = "binary"  # binary, multiclass, regression, counts
    n_classes: int = 2
    categories: bool = False

    def parameters(self) -> Parameters:
        """In xgboost's words, which are ours too."""
        given: Parameters = {"tree_method": self.tree_method} if self.tree_method else {}
        given |= {"n_estimators": self.rounds, "learning_rate": self.learning_rate}
        if self.max_leaves:
            given |= {"grow_policy": "lossguide", "max_leaves": self.max_leaves, "max_depth": 0}
        else:
            given["max_depth"] = self.max_depth
        given |= {"reg_lambda": self.reg_lambda, "min_child_weight": self.min_child_weight}
        if self.tree_method == "hist":
            given["max_bin"] = self.max_bin
        if self.task == "counts":
            given["objective"] = "count:poisson"
        return given


OBJECTIVES = {"binary": "binary", "multiclass": "multiclass", "regression": "regression", "counts": "poisson"}


#: LightGBM's defaults
CATEGORIES: Parameters = {
    "cat_l2": 10,
    "cat_smooth": 10,
    "max_cat_threshold": 32,
    "max_cat_to_onehot": 4,
    "min_data_per_group": 100,
}


def xgboost_parameters(setting: Setting) -> Parameters:
    """Ours, and the word that lets xgboost read categories."""
    return setting.parameters() | ({"enable_categorical": True} if setting.categories else {})


def lightgbm_parameters(setting: Setting, *, quantized: bool = False) -> Parameters:
    """The same in LightGBM's words; a tree of limited depth may be full."""
    given: Parameters = {"objective": OBJECTIVES[setting.task], "num_iterations": setting.rounds}
    given["learning_rate"] = setting.learning_rate
    if setting.max_leaves:
        given["num_leaves"] = setting.max_leaves
    else:
        given |= {"max_depth": setting.max_depth, "num_leaves": 2**setting.max_depth}
    given |= {"lambda_l2": setting.reg_lambda, "min_sum_hessian_in_leaf": setting.min_child_weight}
    given |= {"min_data_in_leaf": 1, "max_bin": setting.max_bin}
    if setting.task == "multiclass":
        # LightGBM's hessian of K classes is K / (K − 1) · p (1 − p), xgboost's and ours 2 p (1 − p): without
        # this its steps would be longer.
        share = setting.n_classes / (2 * (setting.n_classes - 1))
        given |= {"num_class": setting.n_classes, "learning_rate": setting.learning_rate * share}
    if setting.categories:
        given |= CATEGORIES
    if quantized:
        given["use_quantized_grad"] = True
    return given


def estimator(module: Any, task: str) -> Any:
    """The class of a library that speaks xgboost's names."""
    return module.XGBClassifier if task in ("binary", "multiclass") else module.XGBRegressor


def probabilities(model: Any, X: Any) -> NDArray[np.float64]:
    """What the model says: of class 1, of each class, or a number."""
    if not hasattr(model, "predict_proba"):
        return np.asarray(model.predict(X))
    found = np.asarray(model.predict_proba(X))
    return found[:, 1] if found.shape[1] == 2 else found


def weald_fit(task: str, parameters: Parameters, threads: int, X: Any, y: Any) -> Any:
    import weald

    return estimator(weald, task)(**parameters, n_jobs=threads).fit(X, y)


def weald_leaves(model: Any) -> int:
    return len(model.forest_.value)


def xgboost_fit(task: str, parameters: Parameters, threads: int, X: Any, y: Any) -> Any:
    import xgboost

    return estimator(xgboost, task)(**parameters, n_jobs=threads).fit(X, y)


def xgboost_leaves(model: Any) -> int:
    return sum(tree.count("leaf=") for tree in model.get_booster().get_dump())


def lightgbm_fit(task: str, parameters: Parameters, threads: int, X: Any, y: Any) -> Any:
    import lightgbm

    settings = parameters | {"num_threads": threads, "verbosity": -1}
    return lightgbm.train(settings, lightgbm.Dataset(X, y, params=settings))


def lightgbm_leaves(model: Any) -> int:
    return sum(tree["num_leaves"] for tree in model.dump_model()["tree_info"])


def catboost_fit(task: str, parameters: Parameters, threads: int, X: Any, y: Any) -> Any:
    import catboost

    kind = catboost.CatBoostClassifier if task in ("binary", "multiclass") else catboost.CatBoostRegressor
    quiet = {"verbose": False, "allow_writing_files": False}
    names = [name for name in X.columns if X[name].dtype == "category"]
    model = kind(**parameters, **quiet, thread_count=threads, cat_features=names)
    return model.fit(with_strings(X), y)


def catboost_predict(model: Any, X: Any, threads: int) -> NDArray[np.float64]:
    return probabilities(model, with_strings(X))


def with_strings(X: Any) -> Any:
    """Categories as strings, which CatBoost asks for; a missing one is a string too."""
    names = [name for name in X.columns if X[name].dtype == "category"]
    return X.assign(**{name: X[name].astype(object).fillna("(missing)").astype(str) for name in names})


@dataclass(frozen=True)
class Library:
    """How one library is called. `predict` takes (model, X, threads)."""

    distribution: str
    parameters: Callable[..., Parameters]
    fit: Callable[[str, Parameters, int, Any, Any], Any]
    predict: Callable[[Any, Any, int], NDArray[np.float64]]
    leaves: Callable[[Any], int]


def boosted(model: Any, X: Any, threads: int) -> NDArray[np.float64]:
    """Predictions of a class with xgboost's names, which knows its threads."""
    return probabilities(model, X)


WEALD = Library("weald", Setting.parameters, weald_fit, boosted, weald_leaves)
XGBOOST = Library("xgboost", xgboost_parameters, xgboost_fit, boosted, xgboost_leaves)
LIGHTGBM = Library(
    "lightgbm",
    lightgbm_parameters,
    lightgbm_fit,
    lambda model, X, threads: np.asarray(model.predict(X, num_threads=threads)),
    lightgbm_leaves,
)
