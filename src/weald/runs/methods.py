"""The methods by the names of the command line, with settings that suit most tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import weald
from weald.arrays import AnyTable
from weald.errors import ParameterError, nearest
from weald.runs.task import CLASSIFICATION

#: of each method: its estimators for labels and for numbers, and what is set
_METHODS: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "xgboost": (
        "XGBClassifier",
        "XGBRegressor",
        {
            "n_estimators": 4000,
            "learning_rate": 0.05,
            "subsample": 0.8,
            "colsample_bytree": 0.8,
            "early_stopping": 0.1,
            "early_stopping_rounds": 50,
        },
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


#: rows up to which folds tell how many rounds to boost; of more a share is held out
CV_ROWS = 50_000
#: rows times columns up to which they do: boosting of wide tables is slow, and folds make it five times so
CV_CELLS = 5_000_000
#: trees of a round up to which they do, for the same reason: one for each of more than two labels
CV_TREES = 10
#: rows that every label must have for that
CV_LABEL_ROWS = 10
#: METHODS: columns and rows up to which a Gaussian kernel is the rule
KERNEL_COLUMNS, KERNEL_ROWS = 1_000, 50_000
#: rows times trees up to which boosting takes small steps; beyond, fewer and larger ones, up to so large
MOST_BOOSTED, LARGEST_RATE = 3e9, 0.3
#: what a column costs a tree in rows, what a tree costs at least, and the fewest rounds
COLUMN_ROWS, SMALLEST_TREE, FEWEST_ROUNDS = 25, 5_000, 20
#: fits where folds tell how many rounds to boost: five, and one of all rows
FITS_OF_FOLDS = 6
#: those that boost with a tree for each of more than two labels
_BOOSTERS = frozenset({"xgboost", "gbdt"})
#: settings that only a machine with a kernel has
_OF_KERNELS = frozenset({"kernel", "gamma", "degree", "coef0", "solver"})


@dataclass(frozen=True, slots=True)
class Size:
    """What the settings of a method go by: the training rows, and columns with a column for each category."""

    n_rows: int
    n_columns: int
    #: rows of the rarest label; None for numbers
    n_rarest: int | None = None
    #: trees of a round of boosting: one, or one for each of more than two labels
    n_trees: int = 1

    @classmethod
    def of(cls, X: AnyTable, y: NDArray[np.generic], kind: str) -> Size:
        """That of a table."""
        if kind != CLASSIFICATION:
            return cls(len(y), _expanded(X))
        counts = np.unique(y, return_counts=True)[1]
        return cls(len(y), _expanded(X), int(counts.min()), len(counts) if len(counts) > 2 else 1)


def _expanded(X: AnyTable) -> int:
    """Columns as machines see them."""
    if not hasattr(X, "column_names"):
        return int(np.shape(X)[1]) if len(np.shape(X)) == 2 else 0
    import pyarrow as pa

    found = 0
    for column in X.columns:
        kind = column.type
        categories = (
            pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)
        )
        found += len(column.unique()) if categories else 1
    return found


def machine_for(size: Size | None, settings: Mapping[str, object]) -> tuple[str, str]:
    """Which machine the method svm is for a table of that size, and why (the advice of the guide to SVMs)."""
    if size is None or _OF_KERNELS & set(settings):
        return "svm", "a Gaussian kernel"
    shape = f"{size.n_rows:,} rows and {size.n_columns:,} columns"
    if size.n_columns >= size.n_rows:
        return "linear-svm", f"a linear machine: as many columns as rows or more ({shape})"
    if size.n_columns > KERNEL_COLUMNS:
        return "linear-svm", f"a linear machine: more than {KERNEL_COLUMNS:,} columns ({shape})"
    if size.n_rows > KERNEL_ROWS:
        return "svm", f"a Gaussian kernel on landmarks: more than {KERNEL_ROWS:,} rows ({shape})"
    return "svm", f"a Gaussian kernel: {shape}"


def make(
    method: str,
    kind: str,
    *,
    seed: int | None = 0,
    threads: int | None = None,
    settings: Mapping[str, object] | None = None,
    size: Size | None = None,
    most_boosted: float = MOST_BOOSTED,
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
    size : Size, default=None
        Of the training table: xgboost finds its rounds by folds where it is small, svm is linear where it is
        wide. None for settings that suit any.
    most_boosted : float, default=3e9
        Rows times trees that boosting may look at; of larger tables it takes fewer and larger steps.
    """
    if method not in _METHODS:
        close = nearest(method, METHODS)
        raise ParameterError(
            f"There is no method {method!r}. "
            + (f"Did you mean {close!r}? " if close else "")
            + f"There are {', '.join(METHODS)}."
        )
    if method == "svm":
        method = machine_for(size, settings or {})[0]
    labels, numbers, chosen = _METHODS[method]
    if method in _BOOSTERS and size is not None:
        chosen = chosen | _boosted(method, size, settings or {}, most_boosted)
    name = labels if kind == CLASSIFICATION else numbers
    if name is None:
        raise ParameterError(f"The method {method!r} learns labels, not numbers. Use xgboost or forest.")
    cls = getattr(weald, name)
    if method == "voting":
        common: dict[str, Any] = {"seed": seed, "threads": threads, "most_boosted": most_boosted}
        voted = None if size is None else replace(size, n_rarest=0)  # by folds it would take most of the time
        members = [(each, make(each, kind, size=voted, **common)) for each in _VOTERS]
        options = {"voting": "soft"} if kind == CLASSIFICATION else {}
        return cls(members, **options, **dict(settings or {}))
    known = cls().get_params()
    common = {"random_state": seed, "n_jobs": threads}
    given = {name: value for name, value in common.items() if name in known}
    return cls().set_params(**given, **chosen | dict(settings or {}))


def _boosted(
    method: str, size: Size, settings: Mapping[str, object], most: float = MOST_BOOSTED
) -> dict[str, object]:
    """What suits the size: rounds found by folds, or larger steps."""
    usual: Mapping[str, Any] = {"learning_rate": 0.1} | _METHODS[method][2]
    a_tree = max(SMALLEST_TREE, size.n_rows + COLUMN_ROWS * size.n_columns)
    work = float(a_tree) * size.n_trees * usual["n_estimators"]
    folds = method == "xgboost" and _by_folds(size) and FITS_OF_FOLDS * work <= most
    if folds and "early_stopping" not in settings:
        return {"early_stopping": "cv"}
    if work <= most or {"n_estimators", "learning_rate"} & set(settings):
        return {}
    rate = min(LARGEST_RATE, usual["learning_rate"] * work / most)
    rounds = max(FEWEST_ROUNDS, round(usual["n_estimators"] * most / work))
    return {"learning_rate": round(rate, 3), "n_estimators": rounds}


def boosting_words(
    method: str, size: Size, settings: Mapping[str, object], most: float = MOST_BOOSTED
) -> str:
    """What is worth knowing of larger steps; nothing where they are the usual ones."""
    if method not in _BOOSTERS:
        return ""
    usual: Mapping[str, Any] = {"learning_rate": 0.1} | _METHODS[method][2]
    chosen = _boosted(method, size, settings, most)
    if "n_estimators" not in chosen:
        return ""
    return (
        f"at most {chosen['n_estimators']:,} rounds of {chosen['learning_rate']} instead of "
        f"{usual['n_estimators']:,} of {usual['learning_rate']}, because the table is large (--set "
        f"learning_rate={usual['learning_rate']} for smaller steps)"
    )


def _by_folds(size: Size) -> bool:
    small = size.n_rows <= CV_ROWS and size.n_rows * size.n_columns <= CV_CELLS
    return small and size.n_trees <= CV_TREES and (size.n_rarest is None or size.n_rarest >= CV_LABEL_ROWS)


def named(method: str) -> str:
    """The estimators of a method, for labels and for numbers."""
    labels, numbers, _ = _METHODS[method]
    return f"{labels}, {numbers}" if numbers else f"{labels} (labels only)"
