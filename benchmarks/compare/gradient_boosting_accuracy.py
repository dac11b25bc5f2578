"""Accuracy of gradient boosting on every real table: five folds, against scikit-learn's HistGradientBoosting.

    python benchmarks/compare/gradient_boosting_accuracy.py --help

AUC for two classes, log loss for more, root mean squared error for numbers and counts. Both have bins and the
same size of trees. weald reads categories and missing values as they are; scikit-learn is told which columns
hold categories, those of more levels than it takes are their ranks. `accuracy.py` says when a table counts as
not worse.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from common import accuracy
from common.accuracy import Effort, Scores, Study
from common.real_tables import Task
from forests_accuracy import as_numbers
from numpy.typing import NDArray

METRICS = {"binary": "AUC", "multiclass": "log loss", "regression": "RMSE", "counts": "RMSE"}
#: categories of a column that scikit-learn takes
MOST_LEVELS = 255
#: what scikit-learn has by default
SIZE: dict[str, Any] = {"max_leaf_nodes": 31, "min_samples_leaf": 20, "max_depth": None}


def weald_booster(task: Task, classes: bool, rounds: int, threads: int, X: Any) -> tuple[Any, Any]:
    """One of ours, and what reads a table for it."""
    import weald

    kind = weald.GradientBoostingClassifier if classes else weald.GradientBoostingRegressor
    return kind(
        n_estimators=rounds, max_bins=255, random_state=0, n_jobs=threads, **SIZE
    ), lambda table: table


def hist_booster(task: Task, classes: bool, rounds: int, threads: int, X: Any) -> tuple[Any, Any]:
    """scikit-learn's, and what reads a table for it: categories as numbers, sparse matrices as dense ones."""
    from sklearn import ensemble

    columns = X.columns if hasattr(X, "dtypes") else ()
    levels = [len(X[name].cat.categories) if X[name].dtype == "category" else 0 for name in columns]
    listed = [0 < n <= MOST_LEVELS for n in levels]

    def numbers(table: Any) -> Any:
        found = as_numbers(table)
        return found.toarray() if hasattr(found, "toarray") else found

    # A column without a value among the training rows is an error there.
    known = ~np.all(np.isnan(numbers(X)), axis=0)
    listed = [each for each, there in zip(listed, known.tolist(), strict=True) if there] if listed else []

    def read(table: Any) -> Any:
        return numbers(table)[:, known]

    name = f"HistGradientBoosting{'Classifier' if classes else 'Regressor'}"
    model = getattr(ensemble, name)(
        max_iter=rounds,
        early_stopping=False,
        random_state=0,
        categorical_features=listed if any(listed) else None,
        **SIZE,
    )
    return model, read


def learn(make: Any, task: Task, effort: Effort, X: Any, y: Any, X_test: Any) -> NDArray[np.float64]:
    """Fit and predict: the share of class 1, of each class, or a number."""
    classes = task.task in ("binary", "multiclass")
    model, read = make(task, classes, effort.size, effort.threads, X)
    model.fit(read(X), y)
    if not classes:
        return np.asarray(model.predict(read(X_test)))
    shares = np.asarray(model.predict_proba(read(X_test)))
    return shares[:, 1] if task.task == "binary" else shares


def summary(found: Sequence[Scores]) -> str:
    """The counts in words."""
    return accuracy.counted(found, "scikit-learn's HistGradientBoosting")


def parameter_rows(rounds: int) -> list[list[str]]:
    """What each library is given."""
    size = ", ".join(f"{key}={value!r}" for key, value in SIZE.items())
    return [
        ["library", "parameters"],
        ["weald", f"n_estimators={rounds}, max_bins=255, {size}"],
        ["scikit-learn", f"max_iter={rounds}, early_stopping=False, {size}; categorical_features"],
    ]


STUDY = Study(
    name="gradient-boosting-accuracy",
    title="Gradient boosting: accuracy on real tables",
    learners={"weald": partial(learn, weald_booster), "scikit-learn": partial(learn, hist_booster)},
    distributions=("weald", "scikit-learn"),
    metrics=METRICS,
    unit="rounds",
    quick_size=10,
    about="Differences are fold by fold to HistGradientBoosting, above 0 where weald is better.",
    summary=summary,
    parameters=parameter_rows,
    shows_traits=True,
)

if __name__ == "__main__":
    sys.exit(accuracy.main(STUDY))
