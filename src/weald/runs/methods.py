"""The methods by the names of the command line, with settings that suit most tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import weald
from weald.errors import ParameterError, nearest
from weald.runs.task import CLASSIFICATION

#: of each method: its estimators for labels and for numbers, and what is set
_METHODS: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "xgboost": (
        "XGBClassifier",
        "XGBRegressor",
        {"n_estimators": 2000, "learning_rate": 0.1, "early_stopping": 0.1, "early_stopping_rounds": 30},
    ),
    "forest": ("RandomForestClassifier", "RandomForestRegressor", {"n_estimators": 200}),
    "extra-trees": ("ExtraTreesClassifier", "ExtraTreesRegressor", {"n_estimators": 200}),
    "balanced-forest": ("BalancedRandomForestClassifier", None, {"n_estimators": 200}),
    "gbdt": (
        "GradientBoostingClassifier",
        "GradientBoostingRegressor",
        {"n_estimators": 500, "n_iter_no_change": 20, "max_bins": 255},
    ),
    "adaboost": ("AdaBoostClassifier", "AdaBoostRegressor", {"n_estimators": 100}),
    "tree": (
        "DecisionTreeClassifier",
        "DecisionTreeRegressor",
        {"max_depth": 8, "min_samples_leaf": 5},
    ),
    "svm": ("SVC", "SVR", {"scale": True}),
    "linear-svm": ("LinearSVC", "LinearSVR", {"scale": True}),
    "knn": ("KNeighborsClassifier", "KNeighborsRegressor", {"n_neighbors": 15, "scale": True}),
    "logistic": ("LogisticRegression", None, {"scale": True}),
    "voting": ("VotingClassifier", "VotingRegressor", {}),
}
METHODS = tuple(_METHODS)
#: what votes
_VOTERS = ("xgboost", "forest", "extra-trees")


def make(
    method: str,
    kind: str,
    *,
    seed: int | None = 0,
    threads: int | None = None,
    settings: Mapping[str, object] | None = None,
) -> Any:
    """The estimator of a method.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    kind : {"classification", "regression"}
        What it is to learn.
    seed : int or None, default=0
        For `random_state`, where there is one.
    threads : int, default=None
        For `n_jobs`, where there is one.
    settings : mapping, default=None
        Parameters by name, over those of the method.
    """
    if method not in _METHODS:
        close = nearest(method, METHODS)
        raise ParameterError(
            f"There is no method {method!r}. "
            + (f"Did you mean {close!r}? " if close else "")
            + f"There are {', '.join(METHODS)}."
        )
    labels, numbers, chosen = _METHODS[method]
    name = labels if kind == CLASSIFICATION else numbers
    if name is None:
        raise ParameterError(f"The method {method!r} learns labels, not numbers. Use xgboost or forest.")
    cls = getattr(weald, name)
    if method == "voting":
        members = [(each, make(each, kind, seed=seed, threads=threads)) for each in _VOTERS]
        options = {"voting": "soft"} if kind == CLASSIFICATION else {}
        return cls(members, **options, **dict(settings or {}))
    known = cls().get_params()
    common = {"random_state": seed, "n_jobs": threads}
    given = {name: value for name, value in common.items() if name in known}
    return cls().set_params(**given, **chosen | dict(settings or {}))


def named(method: str) -> str:
    """The estimators of a method, for labels and for numbers."""
    labels, numbers, _ = _METHODS[method]
    return f"{labels}, {numbers}" if numbers else f"{labels} (labels only)"
