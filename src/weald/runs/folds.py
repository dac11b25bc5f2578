"""What comparisons and searches judge methods by: rows drawn, folds of them, a metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from weald.arrays import AnyEstimator, AnyTable, TableLike
from weald.errors import DataError
from weald.runs.task import CLASSIFICATION, Task

#: what methods are compared by: their name, scikit-learn's word for it, and its function
_AREA = ("AUC", "roc_auc", roc_auc_score)
_ACCURACY = ("accuracy", "accuracy", accuracy_score)
_R2 = ("R²", "r2", r2_score)

#: rows that methods are compared on: so many, times labels so many, times columns so many, at least so many
MOST_ROWS, MOST_TREE_ROWS, MOST_CELLS, FEWEST_ROWS = 20_000, 200_000, 2_000_000, 1_000
#: rows to learn from, and rows to test on
Part = tuple[NDArray[np.int64], NDArray[np.int64]]
Metric = tuple[str, str, Callable[..., float]]


def rows_by_size(X: AnyTable, task: Task) -> int:
    """Rows that all methods can be tried on within minutes: fewer of many labels, as boosting has trees for
    each, and of many columns.
    """
    n_labels = len(np.unique(task.y)) if task.kind == CLASSIFICATION else 1
    n_cells = X.nnz if hasattr(X, "nnz") else int(np.prod(np.shape(X)))
    per_row = max(1.0, n_cells / max(1, len(task.y)))
    return int(max(FEWEST_ROWS, min(MOST_ROWS, MOST_TREE_ROWS / n_labels, MOST_CELLS / per_row)))


def drawn_rows(
    task: Task, most: int, seed: int, groups: NDArray[np.generic] | None = None
) -> NDArray[np.int64]:
    """Rows drawn by chance: of labels their shares and at least one each, of groups all rows or none."""
    rng, n = np.random.default_rng(seed), len(task.y)
    if groups is not None:
        _, of = np.unique(groups, return_inverse=True)
        sizes = np.bincount(of)
        order = rng.permutation(len(sizes))
        kept = order[: max(2, int(np.searchsorted(np.cumsum(sizes[order]), most, "right")))]
        return np.flatnonzero(np.isin(of, kept))
    if task.kind != CLASSIFICATION:
        return np.sort(rng.choice(n, most, replace=False))
    key, label = rng.random(n), np.unique(task.y, return_inverse=True)[1]
    order = np.lexsort((key, label))
    sizes = np.bincount(label)
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    wanted = np.maximum(np.round(sizes * (most / n)).astype(np.int64), np.minimum(sizes, 2))
    return np.flatnonzero(rank < wanted[label])


def parts_of(task: Task, folds: int, seed: int, groups: NDArray[Any] | None) -> Iterator[Part]:
    """Folds: labels keep their shares where they can, groups stay whole."""
    labels = task.kind == CLASSIFICATION
    n_rarest = np.unique(task.y, return_counts=True)[1].min() if labels else folds
    if not 2 <= folds <= len(task.y):
        raise DataError(f"{folds} folds of {len(task.y)} rows cannot be made; use 2 to {len(task.y)}.")
    splitter: Any
    if groups is not None:
        splitter = (
            StratifiedGroupKFold(folds, shuffle=True, random_state=seed) if labels else GroupKFold(folds)
        )
    elif labels and n_rarest >= folds:
        splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    else:
        splitter = KFold(folds, shuffle=True, random_state=seed)
    yield from splitter.split(np.zeros(len(task.y)), task.y, groups)


def metric_of(task: Task) -> Metric:
    """What models are compared by: its name, scikit-learn's word for it, its function."""
    if task.kind != CLASSIFICATION:
        return _R2
    return _AREA if len(np.unique(task.y)) == 2 else _ACCURACY


def answer_of(model: AnyEstimator, table: TableLike, metric: Metric) -> NDArray[Any]:
    """What the metric takes of a model."""
    if metric is not _AREA:
        return np.asarray(model.predict(table))
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(table)[:, 1])
    return np.asarray(model.decision_function(table))
