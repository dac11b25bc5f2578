"""Prototypes: for each class, what the rows in its midst have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.arrays import TableLike
from weald.data.frames.write import Cells, take_rows, write_cells
from weald.data.levels import missing_rows
from weald.data.table import LevelColumn, Table


def neighbourhoods(
    nearest: sparse.csr_matrix, members: NDArray[np.bool_], n_prototypes: int
) -> list[NDArray[np.intp]]:
    """Groups of rows of one class, the most crowded first; the first row of each is its centre.

    A centre is the member with the most members among its nearest rows; of equal ones that with the larger
    sum of proximities to them, then the first. The rows of a group are left out from then on.
    """
    indptr, indices, shares = nearest.indptr, nearest.indices, nearest.data
    owner = np.repeat(np.arange(len(members)), np.diff(indptr))
    free = members.copy()
    found: list[NDArray[np.intp]] = []
    while len(found) < n_prototypes and free.any():
        counted = free[indices] & free[owner]
        crowd = np.bincount(owner[counted], minlength=len(members))
        closeness = np.bincount(owner[counted], shares[counted], minlength=len(members))
        candidates = np.flatnonzero(free)
        order = np.lexsort((candidates, -closeness[candidates], -crowd[candidates]))
        centre = int(candidates[order[0]])
        if found and crowd[centre] == 0:
            break
        near = indices[indptr[centre] : indptr[centre + 1]]
        group = np.concatenate([[centre], near[free[near]]]).astype(np.intp)
        free[group] = False
        found.append(group)
    return found


def prototype_table(
    X: TableLike, table: Table, order: Sequence[int], groups: list[NDArray[np.intp]]
) -> TableLike:
    """One row per group, in the user's own kind of table: medians of numbers, most frequent levels.

    `table` is X as the model reads it; `order` tells where its columns stand in X.
    """
    centres = take_rows(X, np.array([group[0] for group in groups], np.intp))
    cells: dict[int, Cells] = {}
    for place, column in zip(order, table.columns, strict=True):
        rows: list[int] = []
        values: list[Any] = []
        for i, group in enumerate(groups):
            if isinstance(column, LevelColumn):
                indices = column.indices[group]
                count = np.bincount(indices[indices >= 0], minlength=1)
                middle = column.levels[int(np.argmax(count))] if count.any() else None
            else:
                gone = missing_rows(column)
                known = group if gone is None else group[~gone[group]]
                middle = float(np.median(column.values[known].astype(np.float64))) if len(known) else None
            if middle is not None:
                rows.append(i)
                values.append(middle)
        unit = None if isinstance(column, LevelColumn) else column.unit
        cells[place] = Cells(np.array(rows, np.intp), values, unit)
    found: TableLike = write_cells(centres, cells)
    return found
