"""Accuracy of AdaBoost on every real table: five folds, against scikit-learn's AdaBoost.

    python benchmarks/compare/adaboost_accuracy.py --help

AUC for two classes, accuracy for more, root mean squared error for numbers and counts. Members are trees of
depth 3 in both libraries. weald reads categories and missing values as they are; scikit-learn refuses missing
values, so there they are filled by the median of the column, and categories are their ranks. `accuracy.py`
says when a table counts as not worse.
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

METRICS = {"binary": "AUC", "multiclass": "accuracy", "regression": "RMSE", "counts": "RMSE"}
DEPTH = 3


def weald_boosting(kind: str, rounds: int, threads: int) -> Any:
    """Ours: the table as it is."""
    import weald

    base = getattr(weald, f"DecisionTree{kind}")(max_depth=DEPTH)
    made = getattr(weald, f"AdaBoost{kind}")
    return made(base, n_estimators=rounds, random_state=0, n_jobs=threads)


def sklearn_boosting(kind: str, rounds: int, threads: int) -> Any:
    """scikit-learn's: categories as ranks, missing values as medians."""
    from sklearn import ensemble, tree
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    base = getattr(tree, f"DecisionTree{kind}")(max_depth=DEPTH)
    boosting = getattr(ensemble, f"AdaBoost{kind}")(base, n_estimators=rounds, random_state=0)
    fill = SimpleImputer(strategy="median", keep_empty_features=True)
    return make_pipeline(FunctionTransformer(as_numbers), fill, boosting)


def learn(make: Any, task: Task, effort: Effort, X: Any, y: Any, X_test: Any) -> NDArray[np.float64]:
    """Fit and predict: the share of class 1, of each class, or a number."""
    classes = task.task in ("binary", "multiclass")
    model = make("Classifier" if classes else "Regressor", effort.size, effort.threads).fit(X, y)
    if not classes:
        return np.asarray(model.predict(X_test))
    shares = np.asarray(model.predict_proba(X_test))
    return shares[:, 1] if task.task == "binary" else shares


def summary(found: Sequence[Scores]) -> str:
    """The counts in words."""
    return accuracy.counted(found, "scikit-learn's AdaBoost")


def parameter_rows(rounds: int) -> list[list[str]]:
    """What each library is given."""
    given = f"trees of depth {DEPTH}, n_estimators={rounds}, random_state=0"
    return [
        ["library", "parameters"],
        ["weald", given],
        ["scikit-learn", f"{given}; categories as their ranks, missing values as medians"],
    ]


STUDY = Study(
    name="adaboost-accuracy",
    title="AdaBoost: accuracy on real tables",
    learners={"weald": partial(learn, weald_boosting), "scikit-learn": partial(learn, sklearn_boosting)},
    distributions=("weald", "scikit-learn"),
    metrics=METRICS,
    unit="rounds",
    quick_size=10,
    about="Differences are fold by fold to scikit-learn's AdaBoost, above 0 where weald is better.",
    summary=summary,
    parameters=parameter_rows,
    shows_traits=True,
)

if __name__ == "__main__":
    sys.exit(accuracy.main(STUDY))
