"""Forests told by brute force: every tree asked by itself, every bag drawn again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


def unseen_rows(model: Any, present: np.ndarray | None = None) -> list[np.ndarray]:
    """For each tree the rows whose weight is not 0 and that it did not see."""
    bags = [model.bags_.counts(t, present) for t in range(len(model))]
    counting = np.ones(model.bags_.n_rows, bool) if present is None else present
    return [np.flatnonzero((bag == 0) & counting) for bag in bags]


def unseen_answers(
    model: Any, X: np.ndarray, present: np.ndarray | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """These rows with what the tree, as an estimator, predicts for them."""
    for tree, rows in zip(model.estimators_, unseen_rows(model, present), strict=True):
        yield rows, tree.predict(X[rows])


def vote_counts(model: Any, X: np.ndarray, present: np.ndarray | None = None) -> np.ndarray:
    """Out-of-bag votes by class, counted one by one."""
    votes = np.zeros((len(X), len(model.classes_)), int)
    for rows, said in unseen_answers(model, X, present):
        for row, label in zip(rows.tolist(), said.tolist(), strict=True):
            votes[row, model.classes_.tolist().index(label)] += 1
    return votes
