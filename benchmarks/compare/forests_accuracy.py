"""Accuracy of forests on every real table: five folds, defaults, against scikit-learn's forest.

    python benchmarks/compare/forests_accuracy.py --help

AUC for two classes, accuracy for more, root mean squared error for numbers, Poisson deviance for counts, by
which both then grow. weald reads categories and missing values as they are; for scikit-learn categories are
their ranks and missing values NaN. `accuracy.py` says when a table counts as not worse.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from common import accuracy
from common.accuracy import Effort, Scores, Study
from common.real_tables import Task
from numpy.typing import NDArray
from scipy import stats

METRICS = {"binary": "AUC", "multiclass": "accuracy", "regression": "RMSE", "counts": "deviance"}

#: a table as one of the libraries reads it
Reader: TypeAlias = Callable[[Any], Any]


def parameters(task: str, effort: Effort) -> dict[str, Any]:
    """What both libraries are given."""
    given: dict[str, Any] = {
        "n_estimators": effort.size,
        "random_state": effort.seed,
        "n_jobs": effort.threads,
    }
    return given | ({"criterion": "poisson"} if task == "counts" else {})


def trees_of(task: Task, trees: int) -> int:
    """How many trees: fewer where scikit-learn takes minutes for them."""
    return min(trees, 10) if task.name == "news20" else trees


def as_numbers(X: Any) -> Any:
    """Categories as their ranks, missing as NaN; a sparse matrix as it is."""
    if not hasattr(X, "dtypes"):
        return X
    columns = []
    for name in X.columns:
        column = X[name]
        if column.dtype == "category":
            codes = column.cat.codes.to_numpy()
            columns.append(np.where(codes < 0, np.nan, codes))
        else:
            columns.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.column_stack(columns)


def as_given(X: Any) -> Any:
    """Any table as it is."""
    return X


def learn(
    module: str, read: Reader, task: Task, effort: Effort, X: Any, y: Any, X_test: Any
) -> NDArray[np.float64]:
    """Fit and predict: the share of class 1, of each class, or a number."""
    from importlib import import_module

    classes = task.task in ("binary", "multiclass")
    kind = getattr(import_module(module), f"RandomForest{'Classifier' if classes else 'Regressor'}")
    model = kind(**parameters(task.task, effort)).fit(read(X), y)
    if not classes:
        return np.asarray(model.predict(read(X_test)))
    shares = np.asarray(model.predict_proba(read(X_test)))
    return shares[:, 1] if task.task == "binary" else shares


def summary(found: Sequence[Scores]) -> str:
    """The counts in words, and those of the tables that scikit-learn cannot read as they are."""
    text = accuracy.counted(found, "scikit-learn's forest")
    rich = [scores for scores in found if scores.traits]
    if not rich:
        return text
    better = sum(scores.ours.mean > 0 for scores in rich)
    surely = sum(scores.ours.errors_above > 1 for scores in rich)
    worse = ", ".join(scores.name for scores in rich if not scores.ours.not_worse)
    return (
        f"{text} Of {len(rich)} tables with categories or missing values {better} are better, {surely} of "
        f"them beyond one standard error; {f'worse beyond it: {worse}' if worse else 'none is worse'}."
        f"{all_together(rich)}"
    )


def all_together(found: Sequence[Scores]) -> str:
    """Whether the differences of some tables, each in standard errors, would come about by chance."""
    errors = [scores.ours.errors_above for scores in found]
    if not any(errors):
        return ""
    chance = stats.wilcoxon(errors, alternative="greater").pvalue
    return (
        f" Taken together these are better by {np.median(errors):.2f} standard errors in the median; signed "
        f"ranks as good come about by chance with a probability of {chance:.2g}."
    )


def parameter_rows(trees: int) -> list[list[str]]:
    """What each library is given, for a table of classes."""
    given = f"n_estimators={trees}, random_state=0, 1, … by fold"
    return [
        ["library", "parameters"],
        ["weald", given],
        ["scikit-learn", f"{given}; categories as their ranks"],
    ]


STUDY = Study(
    name="forests-accuracy",
    title="Forests: accuracy on real tables",
    learners={
        "weald": partial(learn, "weald", as_given),
        "scikit-learn": partial(learn, "sklearn.ensemble", as_numbers),
    },
    distributions=("weald", "scikit-learn"),
    metrics=METRICS,
    unit="trees",
    quick_size=10,
    about="Differences are fold by fold to scikit-learn's forest, above 0 where weald is better.",
    summary=summary,
    parameters=parameter_rows,
    size_of=trees_of,
    shows_traits=True,
)

if __name__ == "__main__":
    sys.exit(accuracy.main(STUDY))
