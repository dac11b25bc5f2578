"""Calibration on held-out rows: five folds that share the kernel rows, one curve per machine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.errors import DataError
from weald.svm.binary_tasks import class_tasks
from weald.svm.calibration import Calibrator, fit_sigmoid, fit_steps
from weald.svm.machines import BinaryTask, Machine

N_FOLDS = 5


def fold_count(labels: NDArray[np.int32], classes: NDArray[np.generic], owner: str) -> int:
    """Five, or fewer where the rarest class has fewer rows."""
    rarest = int(np.bincount(labels).min())
    if rarest < 2:
        name = classes.tolist()[int(np.argmin(np.bincount(labels)))]
        raise DataError(
            f"`probability` of {owner} needs two rows of every class, one to train and one to hold out; the "
            f"label {name!r} has 1. Leave `probability` False, or add rows."
        )
    return min(N_FOLDS, rarest)


def deal(labels: NDArray[np.int32], n_folds: int, seed: int) -> NDArray[np.int32]:
    """The fold of every row: each class is shuffled and dealt out one by one."""
    random = np.random.RandomState(seed)
    fold = np.empty(len(labels), np.int32)
    dealt = 0
    for k in range(int(labels.max()) + 1):
        rows = random.permutation(np.flatnonzero(labels == k))
        fold[rows] = (dealt + np.arange(len(rows))) % n_folds
        dealt += len(rows)
    return fold


def calibrators(
    labels: NDArray[np.int32],
    n_classes: int,
    upper: Floats,
    weight: Floats,
    *,
    multi_class: str,
    method: str,
    n_folds: int,
    seed: int,
    solve: Callable[[BinaryTask], Machine],
    values_at: Callable[[Machine, NDArray[np.int32]], Floats],
) -> tuple[Calibrator, ...]:
    """A curve for each machine, from values of rows that it was not trained on.

    Parameters
    ----------
    labels, upper, weight : ndarray of shape (n_rows,)
        The class, the C and the weight of every row. Curves weigh rows as the machines do, so the
        probabilities are those of the population that the weights describe.
    n_classes : int
        How many classes.
    multi_class : {"ovo", "ovr"}
        Machines of pairs, or of each class against the rest.
    method : {"sigmoid", "isotonic"}
        The kind of curve.
    n_folds, seed : int
        How rows are held out.
    solve, values_at : callable
        What gives the machine of a task, and its values.
    """
    fold = deal(labels, n_folds, seed)
    tasks = class_tasks(labels, n_classes, np.ones(len(labels)), multi_class)
    found = [np.zeros(len(labels)) for _ in tasks]
    for k in range(n_folds):
        inner = class_tasks(labels, n_classes, np.where(fold == k, 0.0, upper), multi_class)
        for values, task, whole in zip(found, inner, tasks, strict=True):
            machine = solve(task)
            held = whole.rows[fold[whole.rows] == k]
            values[held] = values_at(machine, held)
    fit = fit_steps if method == "isotonic" else fit_sigmoid
    return tuple(
        fit(values[whole.rows], whole.target > 0, weight[whole.rows])
        for values, whole in zip(found, tasks, strict=True)
    )
