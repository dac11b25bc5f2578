"""Accuracy of boosting on every real table: five folds, our defaults for all, against the better opponent.

    python benchmarks/compare/boosting_accuracy.py --help

AUC for two classes, log loss for more, root mean squared error for numbers, Poisson deviance for counts. All
three libraries get the same folds, categories and parameters; `accuracy.py` says when a table counts as not
worse. Where two are exactly as good, one table in six would miss that by chance, and more as the same folds
choose the opponent: so the two are also judged by each other.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from common import accuracy
from common.accuracy import Effort, Scores, Study
from common.boosters import LIGHTGBM, WEALD, XGBOOST, Library, Setting
from common.real_tables import Task
from numpy.typing import NDArray

DEFAULTS = Setting(max_depth=6, learning_rate=0.3, tree_method=None, categories=True)
LIBRARIES = {"weald": WEALD, "xgboost": XGBOOST, "LightGBM": LIGHTGBM}
METRICS = {"binary": "AUC", "multiclass": "log loss", "regression": "RMSE", "counts": "deviance"}
OPPONENTS = ("xgboost", "LightGBM")


def learn(library: Library, task: Task, effort: Effort, X: Any, y: Any, X_test: Any) -> NDArray[np.float64]:
    """Fit and predict."""
    setting = replace(DEFAULTS, rounds=effort.size, task=task.task, n_classes=task.n_classes)
    model = library.fit(setting.task, library.parameters(setting), effort.threads, X, y)
    return library.predict(model, X_test, effort.threads)


def summary(found: Sequence[Scores]) -> str:
    """The counts in words, and what the same rule says of the opponents."""
    theirs = [sum(s.against(*pair).not_worse for s in found) for pair in (OPPONENTS, OPPONENTS[::-1])]
    return (
        f"{accuracy.counted(found, 'the better opponent')} By the same rule xgboost is not worse than "
        f"LightGBM on {theirs[0]}, LightGBM not worse than xgboost on {theirs[1]}."
    )


def parameter_rows(rounds: int) -> list[list[str]]:
    """What each library is given, for a table of two classes."""
    setting = replace(DEFAULTS, rounds=rounds)
    lines = [["library", "parameters"]]
    for name, library in LIBRARIES.items():
        given = library.parameters(setting)
        lines.append([name, ", ".join(f"{key}={value!r}" for key, value in given.items())])
    return lines


STUDY = Study(
    name="boosting-accuracy",
    title="Boosting: accuracy on real tables",
    learners={name: partial(learn, library) for name, library in LIBRARIES.items()},
    distributions=tuple(library.distribution for library in LIBRARIES.values()),
    metrics=METRICS,
    unit="rounds",
    quick_size=5,
    about=(
        "Differences are fold by fold to the better of xgboost and LightGBM, above 0 where weald is better."
    ),
    summary=summary,
    parameters=parameter_rows,
    size_of=lambda task, rounds: task.rounds or rounds,
)

if __name__ == "__main__":
    sys.exit(accuracy.main(STUDY))
