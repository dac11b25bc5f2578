"""Cells of rows that are alike in other columns: within them a column is permuted for conditional importance.

Trees predict the permuted columns from the others; the rows of a leaf are a cell. A tree never tells the
cells of rows that it was grown on, as it would sort the noise of the column away too: one half of the rows
grows the trees of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from weald.arrays import Floats
from weald.data.levels import missing_rows
from weald.data.rows import take_rows
from weald.data.table import BlockColumns, Column, LevelColumn, Table
from weald.errors import DataError

#: levels of a category that trees tell apart; the rest count as one
_LEVELS = 20


class Cells:
    """For each repeat the cell of every row.

    Parameters
    ----------
    table : Table
        All columns.
    columns : sequence of int
        Those that are permuted.
    given : sequence of int
        Those in which rows of a cell are alike.
    by : {"tree", "proximity"}
        One tree for all repeats, or for each repeat a tree of a forest: two rows then exchange values as
        often as they share a leaf, which is their proximity.
    min_cell : int
        The fewest rows of a leaf.
    n_repeats, seed : int
        How many cells are asked for, and what trees start from.
    """

    def __init__(
        self,
        table: Table,
        columns: Sequence[int],
        given: Sequence[int],
        *,
        by: str,
        min_cell: int,
        n_repeats: int,
        seed: int,
    ) -> None:
        others = [j for j in given if j not in set(columns)]
        self._n_rows = table.n_rows
        self._leaf: NDArray[np.int64] | None = None
        if not others:
            return
        wanted = np.column_stack([_as_numbers(_take(table, [j])[0]) for j in columns])
        known = Table(tuple(_take(table, others)), table.n_rows, table.named)
        half = np.random.default_rng([seed, 1]).permutation(table.n_rows) % 2
        n_trees = n_repeats if by == "proximity" else 1
        self._leaf = np.empty((table.n_rows, n_trees), np.int64)
        for side in (0, 1):
            grow, tell = np.flatnonzero(half == side), np.flatnonzero(half != side)
            model = _grower(by, n_trees, min_cell, seed)
            model.fit(take_rows(known, grow), wanted[grow])
            leaves = np.asarray(model.apply(take_rows(known, tell)), np.int64)
            # Leaves of the two halves are told apart by sign.
            self._leaf[tell] = leaves.reshape(len(tell), -1) if side else ~leaves.reshape(len(tell), -1)

    def order(self, repeat: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """A permutation of the rows within their cells."""
        shuffled = rng.permutation(self._n_rows)
        if self._leaf is None:
            return shuffled
        cell = self._leaf[:, repeat % self._leaf.shape[1]]
        # Both lists go cell by cell; the second in random order within a cell.
        rows = np.argsort(cell, kind="stable")
        donors = shuffled[np.argsort(cell[shuffled], kind="stable")]
        order = np.empty(self._n_rows, np.intp)
        order[rows] = donors
        return order


def _grower(by: str, n_trees: int, min_cell: int, seed: int) -> Any:
    from weald.estimators.forest.random_forest import RandomForestRegressor
    from weald.estimators.tree.decision_tree import DecisionTreeRegressor

    if by == "tree":
        return DecisionTreeRegressor(min_samples_leaf=min_cell, random_state=seed)
    return RandomForestRegressor(n_trees, min_samples_leaf=min_cell, max_features=1.0, random_state=seed)


def _take(table: Table, positions: Sequence[int]) -> list[Column]:
    columns = table.columns
    if isinstance(columns, BlockColumns):
        return columns.take(positions)
    return [columns[j] for j in positions]


def _as_numbers(column: Column) -> Floats:
    """A column as what trees predict: (n_rows, width).

    Numbers by their ranks, in deviations from the middle; levels by a column of 0 and 1 each, so that squared
    errors are Gini's impurity. Missing values stand apart.
    """
    if isinstance(column, LevelColumn) and not column.ordered:
        counts = np.bincount(column.indices + 1, minlength=len(column.levels) + 1)
        frequent = np.argsort(-counts, kind="stable")[:_LEVELS] - 1
        return np.asarray(column.indices[:, None] == frequent[None, :], np.float64)
    if isinstance(column, LevelColumn):
        values, missing = column.indices.astype(np.float64), column.indices < 0
    else:
        values = np.asarray(column.values, np.float64)
        gaps = missing_rows(column)
        missing = np.zeros(len(values), np.bool_) if gaps is None else gaps
    if np.isinf(values[~missing]).any():
        raise DataError(
            f"Column {column.name!r} contains inf. Replace infinite values, or mark them missing."
        )
    ranks = np.zeros(len(values))
    if not missing.all():
        known = rankdata(values[~missing])
        spread = known.std()
        ranks[~missing] = (known - known.mean()) / spread if spread > 0 else 0.0
    return np.column_stack([ranks, missing]) if missing.any() else ranks[:, None]
