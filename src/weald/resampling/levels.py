"""Levels of new rows: the majority among neighbours, ranks between two rows; always levels that are there."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Flags, Floats, Integers
from weald.data.table import LevelColumn, Table
from weald.data.target import Labels
from weald.resampling.made import blend

Rows: TypeAlias = NDArray[np.intp]
#: comparisons of neighbours with each other that are made together
_TOGETHER = 1 << 22


def majority_rows(
    indices: NDArray[np.int32], near: Rows, voters: Flags | None, base: Rows, at: Rows, tie: Floats
) -> Rows:
    """For each new row one of the neighbours that have the most frequent level among them (R3).

    Parameters
    ----------
    indices : ndarray of shape (n_rows,)
        The level of every row; -1, missing, counts as a level.
    near : ndarray of shape (n_centres, k)
        The neighbours of the rows that new ones may stand on.
    voters : ndarray of bool of shape (n_centres, k), or None
        Which neighbours vote; a centre without any keeps its own level.
    base : ndarray of shape (n_centres,)
        The centres themselves.
    at : ndarray of shape (n_new,)
        The centre of each new row.
    tie : ndarray of shape (n_new,)
        Draws in (0, 1] that decide between levels that are equally frequent.
    """
    order, n_tied = _winners(indices[near], voters)
    winners = np.take_along_axis(near, order, axis=1)
    winners[n_tied == 0, 0] = base[n_tied == 0]
    if n_tied.max(initial=0) <= 1:
        return winners[:, 0][at]
    many = n_tied[at]
    pick = np.minimum((tie * many).astype(np.intp), np.maximum(many - 1, 0))
    return winners[at, pick]


def _winners(levels: NDArray[np.int32], voters: Flags | None) -> tuple[Integers, Integers]:
    """For each centre its neighbours, first one of each most frequent level; and how many these are."""
    n_centres, k = levels.shape
    order, n_tied = np.empty((n_centres, k), np.int64), np.empty(n_centres, np.int64)
    together = max(1, _TOGETHER // (k * k))
    earlier = np.tri(k, k=-1, dtype=np.bool_)
    for first in range(0, n_centres, together):
        part = slice(first, first + together)
        same = levels[part, :, np.newaxis] == levels[part, np.newaxis, :]
        if voters is not None:
            same &= voters[part, np.newaxis, :] & voters[part, :, np.newaxis]
        votes = same.sum(axis=2)
        winner = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0) & ~(same & earlier).any(axis=2)
        order[part] = np.argsort(~winner, axis=1, kind="stable")
        n_tied[part] = winner.sum(axis=1)
    return order, n_tied


def between_ranks(indices: NDArray[np.int32], base: Rows, other: Rows, step: Floats) -> Rows:
    """For each new row a row whose ordinal level lies between those of two others, in whole ranks (R3).

    Ranks count only levels that some row has. Of a missing level the nearer row decides, as for numbers.

    >>> between_ranks(np.array([0, 2, 5], np.int32), np.array([0]), np.array([2]), np.array([0.4])).tolist()
    [1]
    """
    used, holder = np.unique(indices, return_index=True)
    known = used >= 0
    used, holder = used[known], holder[known]
    rank = np.full(int(indices.max(initial=-1)) + 2, np.nan)
    rank[used] = np.arange(len(used))
    mixed = blend(rank[indices[base]], rank[indices[other]], step)
    gap = np.isnan(mixed)
    nearer = np.where(step > 0.5, other, base)
    if not len(used):
        return nearer
    return np.where(gap, nearer, holder[np.rint(np.where(gap, 0.0, mixed)).astype(np.intp)])


def class_profiles(table: Table, labels: Labels) -> Floats:
    """Rows of levels as points: for each column the shares of the classes among the rows of its level (R7).

    The distance of two points is the value difference metric with q = 2. Missing is a level of its own. One
    axis less per column says the same: of two classes one is enough, times the root of 2.
    """
    n_classes = len(labels.classes)
    out = np.empty((table.n_rows, table.n_columns * (1 if n_classes == 2 else n_classes)))
    width = out.shape[1] // table.n_columns
    for j, column in enumerate(table.columns):
        assert isinstance(column, LevelColumn)
        level = column.indices + 1
        counts = np.zeros((len(column.levels) + 1, n_classes))
        np.add.at(counts, (level, labels.indices), 1.0)
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
        profile = shares if n_classes > 2 else shares[:, :1] * np.sqrt(2.0)
        out[:, j * width : (j + 1) * width] = profile[level]
    return out
